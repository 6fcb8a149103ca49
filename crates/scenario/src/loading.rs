//! A scenario is loaded in three stages: its text is a [`Document`]; each variant of that is checked, which gives
//! [`Checked`]; and a plan is made of that for each seed.

use crate::bursts::{self, Bursts};
use crate::checked::Checked;
use crate::controller_file::ControllerFiles;
use crate::diagnostics::Problem;
use crate::document::{Document, Given};
use crate::identity::without_names;
use crate::resolve::{Convert, Problems, resolve};
use crate::scenario::{Scenario, Variant};
use crate::schema::File;
use crate::seeds::choose_seeds;
use crate::sweep::{self, Swept};
use crate::tree::{Node, Place, Value};
use crate::variants::{self, Combination, combinations};
use crate::{file, given};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// What checking a variant needs beside the variant.
#[derive(Default)]
pub(crate) struct Loading {
    /// Files that a scenario names are looked for here.
    pub folder: Option<PathBuf>,
    pub largest_fabric: Option<u64>,
    pub controllers: ControllerFiles,
    pub other_formats: Option<Convert>,
}

impl Loading {
    /// All variants of a document.
    pub fn load(&self, root: Node, given: &Given<'_>) -> Result<Scenario, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut document = Document::new(root, given, &mut problems);
        let bursts = document.take_bursts(&mut problems);
        let axes = variants::axes(document.variants.as_ref(), &mut problems);
        let swept = sweep::axes(
            document.sweep.as_ref(),
            &document.order,
            &axes,
            &mut problems,
        );
        for set in &document.sets {
            given::refuse_swept(set, &swept, &mut problems);
        }
        let axes = axes.into_iter().chain(swept.iter().map(Swept::axis));
        let place = document.place_of_axes();
        let combinations = combinations(
            axes.collect(),
            place,
            document.count(),
            &given.only,
            &mut problems,
        );
        let common = document.common(&mut problems);
        let seeds = choose_seeds(&common, given.seeds, &mut problems);
        if seeds.is_empty() {
            return Err(unique(problems));
        }
        let settings = self.settings(&common);
        let mut found = ProblemsOfVariants::default();
        let mut loaded = Vec::new();
        let mut matched_bursts = Vec::new();
        for combination in &combinations {
            let mut own = Vec::new();
            let mut tree = document.variant(&combination.overrides, &mut own);
            matched_bursts.append(&mut self.match_burst(
                &mut tree,
                (&document, combination),
                &bursts,
                &mut own,
            ));
            if let Some((file, checked)) = self.check(&tree, &mut own) {
                loaded.push(variant(combination, &tree, file, checked));
            }
            found.add(own, combination);
        }
        problems.append(&mut found.all(combinations.len()));
        if !problems.is_empty() {
            return Err(unique(problems));
        }
        matched_bursts.sort_by(f64::total_cmp);
        matched_bursts.dedup();
        for variant in &mut loaded {
            variant.matched_bursts.clone_from(&matched_bursts);
        }
        let last = loaded.last();
        Ok(Scenario {
            title: last.map_or_else(String::new, |variant| variant.checked.title.clone()),
            seeds,
            settings,
            variants: loaded,
            sweeps: swept.into_iter().map(|swept| swept.sweep).collect(),
        })
    }

    /// A variant with every default written out, if it has no mistakes; they are added to `problems`.
    fn check(&self, tree: &Node, problems: &mut Vec<Problem>) -> Option<(File, Checked)> {
        // A path that leads nowhere leaves the rest worth looking at.
        let mut file = file::file(tree, problems)?;
        let mut found = Problems {
            tree,
            folder: self.folder.as_deref(),
            largest_fabric: self.largest_fabric,
            controllers: &self.controllers,
            other_formats: self.other_formats,
            found: Vec::new(),
        };
        let checked = resolve(&mut file, &mut found);
        problems.append(&mut found.found);
        let checked = checked.filter(|_| problems.is_empty())?;
        Some((file, checked))
    }

    /// Gives a variant the burst of the one that its `burst_of` names. Returns its initial windows.
    fn match_burst(
        &self,
        tree: &mut Node,
        (document, combination): (&Document, &Combination<'_>),
        bursts: &Bursts,
        problems: &mut Vec<Problem>,
    ) -> Vec<f64> {
        let variants = document.variants.as_ref();
        let burst = bursts::reference(combination, bursts, variants, problems);
        let Some((overrides, name, place)) = burst else {
            return Vec::new();
        };
        let theirs = document.variant(&overrides, &mut Vec::new());
        // Its own mistakes are reported when it is checked with the burst.
        let Some((_, mine)) = self.check(tree, &mut Vec::new()) else {
            return Vec::new();
        };
        let Some((_, theirs)) = self.check(&theirs, &mut Vec::new()) else {
            let message = format!("\"{name}\" has a mistake, so that its burst is not known");
            problems.push(Problem::new(place, message));
            return Vec::new();
        };
        bursts::match_burst(tree, &mine.groups, &theirs.groups, &name, place).unwrap_or_else(
            |problem| {
                problems.push(problem);
                Vec::new()
            },
        )
    }

    /// [`Scenario::settings`], from a tree without variants.
    fn settings(&self, common: &Node) -> serde_json::Value {
        // Its mistakes are reported where they matter: in the variants.
        let settings = match self.check(common, &mut Vec::new()) {
            Some((file, _)) => json(&file),
            None => common.json(),
        };
        without_names(&settings)
    }
}

fn variant(combination: &Combination<'_>, tree: &Node, file: File, checked: Checked) -> Variant {
    let label = combination.label();
    Variant {
        axes: combination.names.clone(),
        label: if label.is_empty() {
            file.title.clone()
        } else {
            label
        },
        slug: combination.slug(),
        resolved: json(&file),
        controller_files: file.controller_files(),
        checked: Arc::new(checked),
        timeouts_are_chosen: chooses_timeouts(tree),
        matched_bursts: Vec::new(),
    }
}

fn json(file: &File) -> serde_json::Value {
    serde_json::to_value(file).expect("a scenario has text keys and finite numbers only")
}

/// The mistakes of variants, each once, with the variants that have it.
#[derive(Default)]
struct ProblemsOfVariants(HashMap<(Place, String), (Problem, usize)>);

impl ProblemsOfVariants {
    fn add(&mut self, problems: Vec<Problem>, combination: &Combination<'_>) {
        for mut problem in unique(problems) {
            problem.variant = Some(combination.label());
            let key = (problem.place, problem.message.clone());
            self.0.entry(key).or_insert((problem, 0)).1 += 1;
        }
    }

    /// All of them; those that each of this many variants has are of no variant.
    fn all(self, variants: usize) -> Vec<Problem> {
        let of_variants = |(mut problem, count): (Problem, usize)| {
            problem.variant = match (problem.variant, count) {
                (_, count) if count == variants => None,
                (Some(label), 2..) => Some(format!("{label} and {} more", count - 1)),
                (label, _) => label,
            };
            problem
        };
        self.0.into_values().map(of_variants).collect()
    }
}

/// Whether a variant gives the smallest timeout, for all groups or for one, or names a preset that has it from a paper.
fn chooses_timeouts(tree: &Node) -> bool {
    let chooses = |transport: &Node| {
        let of_hosts = |name: &str| matches!(name, "linux" | "linux-bpf" | "textbook");
        let preset = transport.child("preset").and_then(Node::as_text);
        transport.child("minimum_rto").is_some() || preset.is_some_and(|name| !of_hosts(name))
    };
    let groups = match tree.child("traffic").map(|node| &node.value) {
        Some(Value::List(groups)) => groups.as_slice(),
        _ => &[],
    };
    let of_groups = groups.iter().filter_map(|group| group.child("transport"));
    tree.child("transport")
        .into_iter()
        .chain(of_groups)
        .any(chooses)
}

/// The same mistake once.
fn unique(mut problems: Vec<Problem>) -> Vec<Problem> {
    problems.sort_by(|a, b| (a.place, &a.message).cmp(&(b.place, &b.message)));
    problems.dedup_by(|a, b| a.place == b.place && a.message == b.message);
    problems
}
