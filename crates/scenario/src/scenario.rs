//! A scenario with all of its variants, checked.

use crate::controller_file::{ControllerFiles, ControllerLoader, without_folders};
use crate::diagnostics::{Diagnostics, Problem, Source};
use crate::file;
use crate::given::{Override, add_sweeps, apply_sets, parse_set, refuse_swept};
use crate::plan::Plan;
use crate::resolve::{Convert, Report, resolve};
use crate::results_version::RESULTS_VERSION;
use crate::schema::{ControllerTable, File, GroupTable};
use crate::sha256::sha256;
use crate::suggest;
use crate::sweep::{self, Sweep};
use crate::text::Either;
use crate::tree::{Node, Place, SourceId, Table, Value};
use crate::variants::{self, Only, combinations};
use crate::{bursts, overrides, parse, regular};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A scenario, every variant of which is known to be sound.
#[derive(Clone, Debug)]
pub struct Scenario {
    title: String,
    seeds: Vec<u64>,
    settings: serde_json::Value,
    variants: Vec<Variant>,
    sweeps: Vec<Sweep>,
}

/// What of a scenario is wanted, beyond the file.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// The size; `None` is "quick".
    pub size: Option<String>,
    /// Overrides `key=value`, applied last.
    pub sets: Vec<String>,
    /// Sweeps `key=values`, beside those of the file or in their place.
    pub sweeps: Vec<String>,
    /// Choices `axis=name`.
    pub only: Vec<String>,
    /// Number of seeds, instead of the file's.
    pub seeds: Option<u32>,
    /// Refuses fabrics with more cables or nodes than this before they are built. It bounds the time and memory that
    /// a text from anywhere can cost; `None` for those of a user, who may want to wait.
    pub largest_fabric: Option<u64>,
    /// What loads controllers from files; without it a scenario can only have those of the registry.
    pub loader: Option<Arc<dyn ControllerLoader>>,
    /// Makes comma-separated values of files in formats that this crate does not read (Parquet); `None` refuses them.
    pub other_formats: Option<Convert>,
}

/// One combination of a scenario's variants.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The name on each axis, in the file's order: (axis, name).
    pub axes: Vec<(String, String)>,
    /// What reports call it.
    pub label: String,
    /// What its folder is called.
    pub slug: String,
    /// The scenario of this variant alone, with every default written out. Reading it again, with
    /// [`Scenario::from_resolved`], gives the same plans.
    pub resolved: serde_json::Value,
    file: File,
    timeouts_are_chosen: bool,
    matched_bursts: Vec<f64>,
}

/// Most seeds of one scenario.
const MOST_SEEDS: u32 = 100_000;

impl Scenario {
    /// Reads and checks a scenario file.
    ///
    /// # Errors
    /// Everything that is wrong with it, in all variants.
    pub fn load(
        path: &Path,
        size: Option<&str>,
        sets: &[String],
        only: &[String],
        seeds: Option<u32>,
    ) -> Result<Scenario, Diagnostics> {
        let selection = Selection {
            size: size.map(str::to_owned),
            sets: sets.to_vec(),
            only: only.to_vec(),
            seeds,
            ..Selection::default()
        };
        Scenario::load_selected(path, &selection)
    }

    /// Reads and checks a scenario file, of which this is wanted.
    ///
    /// # Errors
    /// Everything that is wrong with it, in all variants.
    pub fn load_selected(path: &Path, selection: &Selection) -> Result<Scenario, Diagnostics> {
        let name = path.display().to_string();
        let text = match regular::read(path, regular::SCENARIO) {
            Ok(bytes) => text(bytes, &name)?,
            Err(problem) => {
                let problem = Problem::new(Place::default(), format!("{name} {problem}"));
                return Err(Diagnostics::new(
                    vec![Source {
                        name,
                        text: String::new(),
                    }],
                    vec![problem],
                ));
            }
        };
        Scenario::from_text(&name, &text, path.parent(), selection)
    }

    /// Checks a scenario that is at hand as text. `name` stands for the file in messages; files that
    /// it names are looked for in `folder`.
    ///
    /// # Errors
    /// Everything that is wrong with it, in all variants.
    pub fn from_text(
        name: &str,
        text: &str,
        folder: Option<&Path>,
        selection: &Selection,
    ) -> Result<Scenario, Diagnostics> {
        let mut sources = vec![Source {
            name: name.to_owned(),
            text: text.to_owned(),
        }];
        let mut add = |name: &str, text: &str| {
            sources.push(Source {
                name: name.to_owned(),
                text: text.to_owned(),
            });
            Place {
                source: SourceId(sources.len() - 1),
                start: 0,
                end: text.len(),
            }
        };
        let size = selection
            .size
            .as_deref()
            .map(|size| (size, add("--size", size)));
        let sets: Vec<(&str, Place)> = selection
            .sets
            .iter()
            .map(|set| (set.as_str(), add("--set", set)))
            .collect();
        let sweeps: Vec<(&str, Place)> = selection
            .sweeps
            .iter()
            .map(|sweep| (sweep.as_str(), add("--sweep", sweep)))
            .collect();
        let only: Vec<Only<'_>> = selection
            .only
            .iter()
            .map(|text| Only {
                text,
                place: add("--only", text),
            })
            .collect();
        let seeds = selection
            .seeds
            .map(|seeds| (seeds, add("--seeds", &seeds.to_string())));
        let loaded = parse::document(text, SourceId(0)).and_then(|root| {
            Loading {
                folder: folder.map(Path::to_owned),
                largest_fabric: selection.largest_fabric,
                controllers: ControllerFiles::new(
                    folder,
                    BTreeMap::new(),
                    selection.loader.clone(),
                ),
                other_formats: selection.other_formats,
            }
            .load(root, size, &sets, &sweeps, &only, seeds)
        });
        loaded.map_err(|problems| Diagnostics::new(sources, problems))
    }

    /// Reads a variant back from [`Variant::resolved`].
    ///
    /// # Errors
    /// When it is no resolved scenario, or one of another version.
    pub fn from_resolved(resolved: &serde_json::Value) -> Result<Scenario, Diagnostics> {
        Scenario::from_resolved_with(resolved, None, BTreeMap::new(), None)
    }

    /// The same where controllers may be in files: their contents are in `contents`, by the names that the scenario has for
    /// the files, or are looked for in `folder`, the one of the scenario that was resolved. They must be what they were
    /// then.
    ///
    /// # Errors
    /// As [`Scenario::from_resolved`], and when a file with a controller is gone or has changed.
    pub fn from_resolved_with(
        resolved: &serde_json::Value,
        folder: Option<&Path>,
        contents: BTreeMap<String, Arc<[u8]>>,
        loader: Option<Arc<dyn ControllerLoader>>,
    ) -> Result<Scenario, Diagnostics> {
        let root = parse::json(resolved);
        let loading = Loading {
            folder: None,
            largest_fabric: None,
            controllers: ControllerFiles::new(folder, contents, loader),
            other_formats: None,
        };
        let loaded = loading.load(root, None, &[], &[], &[], None);
        loaded.map_err(|problems| {
            let source = Source {
                name: "resolved scenario".to_owned(),
                text: String::new(),
            };
            Diagnostics::new(vec![source], problems)
        })
    }

    /// What reports call the scenario.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What all variants are variants of: the scenario with its size and the command line's values but without its
    /// variants. Every default is written out where it is a scenario by itself; where only variants complete it, it
    /// is as the file has it. What no result depends on is left out: title, seeds, report and the names of phases.
    pub fn settings(&self) -> &serde_json::Value {
        &self.settings
    }

    /// Identifies the settings that results share: a SHA-256 of [`Scenario::settings`] and of
    /// [`RESULTS_VERSION`].
    pub fn settings_hash(&self) -> String {
        sha256(&[&*canonical(&self.settings), RESULTS_VERSION])
    }

    /// The seeds to run.
    pub fn seeds(&self) -> &[u64] {
        &self.seeds
    }

    /// Which axes are sweeps, and over what.
    pub fn sweeps(&self) -> &[Sweep] {
        &self.sweeps
    }

    /// The variants, in the file's order, the first axis changing slowest.
    pub fn variants(&self) -> &[Variant] {
        &self.variants
    }
}

/// Reads a scenario from any text, for its mistakes only.
///
/// # Errors
/// Everything that is wrong with it.
pub fn check(text: &str) -> Result<Scenario, Diagnostics> {
    Scenario::from_text("scenario.toml", text, None, &Selection::default())
}

impl Variant {
    /// Identifies the results of this variant with this seed: a SHA-256 of [`Variant::settings_hash`]'s parts and
    /// of the seed.
    pub fn hash(&self, seed: u64) -> String {
        hash_of_resolved(&self.resolved, seed)
    }

    /// Identifies what this variant's results depend on but for the seed: a SHA-256 of the resolved scenario, without
    /// its title, its report and the names of its phases, and of [`RESULTS_VERSION`].
    pub fn settings_hash(&self) -> String {
        let settings = canonical(&without_names(&self.resolved));
        sha256(&[&*settings, RESULTS_VERSION])
    }

    /// The files with controllers that it was loaded with, by the names that the scenario has for them.
    pub fn controller_files(&self) -> BTreeMap<String, Arc<[u8]>> {
        let groups = self.file.traffic.iter();
        let tables = groups.flat_map(GroupTable::controllers);
        let files = tables.filter_map(ControllerTable::file);
        files.collect()
    }

    /// What a backend runs.
    ///
    /// # Panics
    /// Never for a variant that comes from a [`Scenario`]: loading has made the same plan already.
    pub fn plan(&self, seed: u64) -> Plan {
        let tree = Node {
            place: Place::default(),
            value: Value::Table(Table::default()),
        };
        // Controllers from files are there already.
        let controllers = ControllerFiles::default();
        let mut report = Report {
            tree: &tree,
            folder: None,
            largest_fabric: None,
            controllers: &controllers,
            other_formats: None,
            problems: Vec::new(),
        };
        let plan = resolve(&mut self.file.clone(), &mut report, seed);
        Plan {
            timeouts_are_chosen: self.timeouts_are_chosen,
            matched_bursts: self.matched_bursts.clone(),
            ..plan.expect("the variant was checked when it was loaded")
        }
    }
}

/// [`Variant::hash`] of the variant that was resolved to this, whether or not the files that it names are there.
pub fn hash_of_resolved(resolved: &serde_json::Value, seed: u64) -> String {
    let settings = canonical(&without_names(resolved));
    sha256(&[&*settings, RESULTS_VERSION, &seed.to_string()])
}

/// A scenario as JSON without what no result depends on: its title, its seeds, what its report answers, the folders of
/// controllers' files, whose hashes stay, and the names of its phases, of which the times stay, in order.
fn without_names(scenario: &serde_json::Value) -> serde_json::Value {
    use serde_json::Value as Json;
    let mut scenario = scenario.clone();
    let Json::Object(keys) = &mut scenario else {
        return scenario;
    };
    for name in ["title", "report", "seed", "seeds"] {
        keys.remove(name);
    }
    if let Some(Json::Object(measure)) = keys.get_mut("measure")
        && let Some(Json::Object(phases)) = measure.get_mut("phases")
    {
        let mut times: Vec<Json> = phases.values().cloned().collect();
        times.sort_by_key(ToString::to_string);
        measure.insert("phases".to_owned(), Json::Array(times));
    }
    without_folders(keys);
    scenario
}

/// JSON with sorted keys and no spaces.
fn canonical(value: &serde_json::Value) -> String {
    use serde_json::Value as Json;
    match value {
        Json::Object(entries) => {
            let mut keys: Vec<&String> = entries.keys().collect();
            keys.sort();
            let entry = |key: &String| {
                let name = Json::String(key.clone());
                format!("{name}:{}", canonical(&entries[key]))
            };
            let entries: Vec<String> = keys.into_iter().map(entry).collect();
            format!("{{{}}}", entries.join(","))
        }
        Json::Array(list) => {
            let list: Vec<String> = list.iter().map(canonical).collect();
            format!("[{}]", list.join(","))
        }
        other => other.to_string(),
    }
}

/// The text of a file, or where it is not UTF-8.
fn text(bytes: Vec<u8>, name: &str) -> Result<String, Diagnostics> {
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
        let place = Place {
            source: SourceId(0),
            start: valid,
            end: valid,
        };
        // The file's name is said here as well: where nothing is text no line of it is shown.
        let message = format!("{name} is not text in UTF-8 (byte {})", valid + 1);
        let problem = Problem::new(place, message).help("a scenario is a TOML file");
        Diagnostics::new(
            vec![Source {
                name: name.to_owned(),
                text,
            }],
            vec![problem],
        )
    })
}

struct Loading {
    folder: Option<PathBuf>,
    largest_fabric: Option<u64>,
    controllers: ControllerFiles,
    other_formats: Option<Convert>,
}

impl Loading {
    fn load(
        &self,
        mut root: Node,
        size: Option<(&str, Place)>,
        sets: &[(&str, Place)],
        sweeps: &[(&str, Place)],
        only: &[Only<'_>],
        seeds: Option<(u32, Place)>,
    ) -> Result<Scenario, Vec<Problem>> {
        let mut problems = Vec::new();
        sweep::unfold(&mut root, &mut problems);
        let order = sweep::order(&root);
        apply_size(&mut root, size, &mut problems);
        let sets: Vec<Override> = sets
            .iter()
            .filter_map(|&(text, place)| parse_set(text, place, &mut problems))
            .collect();
        let (of_sweep, sets): (Vec<Override>, Vec<Override>) =
            sets.into_iter().partition(|set| set.path[0] == "sweep");
        apply_sets(&mut root, &of_sweep, &mut problems);
        add_sweeps(&mut root, sweeps, &mut problems);
        // Once more: what sizes and the command line brought in.
        sweep::unfold(&mut root, &mut problems);
        let mut take = |name: &str| match &mut root.value {
            Value::Table(table) => table.take(name).map(|(_, node)| node),
            _ => None,
        };
        let (mut variants, sweep) = (take("variants"), take("sweep"));
        let bursts = match &mut variants {
            Some(variants) => bursts::unfold(variants, &mut problems),
            None => bursts::Bursts::new(),
        };
        if let Some(variants) = &variants {
            bursts::refuse_both(&bursts, variants, &mut problems);
        }
        let axes = variants::axes(variants.as_ref(), &mut problems);
        let swept = sweep::axes(sweep.as_ref(), &order, &axes, &mut problems);
        for set in &sets {
            refuse_swept(set, &swept, &mut problems);
        }
        let place = [&sweep, &variants].into_iter().flatten().next();
        let place = place.map(|node| node.place).unwrap_or_default();
        let axes = axes.into_iter().chain(swept.iter().map(sweep::Swept::axis));
        let combinations = combinations(axes.collect(), place, only, &mut problems);
        let mut common = root.clone();
        apply_sets(&mut common, &sets, &mut problems);
        let seeds = choose_seeds(&common, seeds, &mut problems);
        let Some(&first_seed) = seeds.first() else {
            return Err(unique(problems));
        };

        let settings = self.settings(&common, first_seed);
        let mut found: HashMap<(Place, String), (Problem, usize)> = HashMap::new();
        let mut loaded: Vec<Variant> = Vec::new();
        let mut matched_bursts = Vec::new();
        let mut title = String::new();
        for combination in &combinations {
            let mut tree = root.clone();
            let mut own = Vec::new();
            for table in &combination.overrides {
                overrides::apply(&mut tree, table, &mut own);
            }
            apply_sets(&mut tree, &sets, &mut own);
            let burst = bursts::reference(combination, &bursts, variants.as_ref(), &mut own);
            if let Some((overrides, name, place)) = burst {
                let mut theirs = root.clone();
                for table in overrides {
                    overrides::apply(&mut theirs, table, &mut Vec::new());
                }
                apply_sets(&mut theirs, &sets, &mut Vec::new());
                let plans = (self.plan(&tree, first_seed), self.plan(&theirs, first_seed));
                match plans {
                    (Some(mine), Some(theirs)) => {
                        match bursts::match_burst(&mut tree, &mine, &theirs, &name, place) {
                            Ok(mut windows) => matched_bursts.append(&mut windows),
                            Err(problem) => own.push(problem),
                        }
                    }
                    // Its own mistakes are reported below.
                    (None, _) => {}
                    (_, None) => own.push(Problem::new(
                        place,
                        format!("\"{name}\" has a mistake, so that its burst is not known"),
                    )),
                }
            }
            // A path that leads nowhere leaves the rest worth looking at.
            let file = file::file(&tree, &mut own);
            let resolved = file.and_then(|mut file| {
                let folder = self.folder.as_deref();
                let mut report = Report {
                    tree: &tree,
                    folder,
                    largest_fabric: self.largest_fabric,
                    controllers: &self.controllers,
                    other_formats: self.other_formats,
                    problems: Vec::new(),
                };
                let plan = resolve(&mut file, &mut report, first_seed);
                own.append(&mut report.problems);
                plan.map(|_| file)
            });
            if let (Some(file), true) = (resolved, own.is_empty()) {
                title.clone_from(&file.title);
                let resolved = serde_json::to_value(&file)
                    .expect("a scenario has text keys and finite numbers only");
                let label = combination.label();
                loaded.push(Variant {
                    axes: combination.names.clone(),
                    label: if label.is_empty() {
                        file.title.clone()
                    } else {
                        label
                    },
                    slug: combination.slug(),
                    resolved,
                    file,
                    timeouts_are_chosen: chooses_timeouts(&tree),
                    matched_bursts: Vec::new(),
                });
            }
            for mut problem in unique(own) {
                problem.variant = Some(combination.label());
                let key = (problem.place, problem.message.clone());
                found.entry(key).or_insert((problem, 0)).1 += 1;
            }
        }
        for (mut problem, count) in found.into_values() {
            problem.variant = match (problem.variant, count) {
                (_, count) if count == combinations.len() => None,
                (Some(label), 2..) => Some(format!("{label} and {} more", count - 1)),
                (label, _) => label,
            };
            problems.push(problem);
        }
        if problems.is_empty() {
            matched_bursts.sort_by(f64::total_cmp);
            matched_bursts.dedup();
            for variant in &mut loaded {
                variant.matched_bursts.clone_from(&matched_bursts);
            }
            return Ok(Scenario {
                title,
                seeds,
                settings,
                variants: loaded,
                sweeps: swept.into_iter().map(|swept| swept.sweep).collect(),
            });
        }
        Err(unique(problems))
    }

    /// The plan of a tree, if it has no mistakes.
    fn plan(&self, tree: &Node, seed: u64) -> Option<Plan> {
        let mut report = Report {
            tree,
            folder: self.folder.as_deref(),
            largest_fabric: self.largest_fabric,
            controllers: &self.controllers,
            other_formats: self.other_formats,
            problems: Vec::new(),
        };
        let mut file = file::file(tree, &mut Vec::new())?;
        let plan = resolve(&mut file, &mut report, seed)?;
        report.problems.is_empty().then_some(plan)
    }

    /// [`Scenario::settings`], from a tree without variants.
    fn settings(&self, common: &Node, seed: u64) -> serde_json::Value {
        let mut report = Report {
            tree: common,
            folder: self.folder.as_deref(),
            largest_fabric: self.largest_fabric,
            controllers: &self.controllers,
            other_formats: self.other_formats,
            problems: Vec::new(),
        };
        // Its mistakes are reported where they matter: in the variants.
        let resolved = file::file(common, &mut Vec::new()).and_then(|mut file| {
            resolve(&mut file, &mut report, seed)?;
            report.problems.is_empty().then_some(file)
        });
        let settings = match resolved {
            Some(file) => serde_json::to_value(&file)
                .expect("a scenario has text keys and finite numbers only"),
            None => common.json(),
        };
        without_names(&settings)
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

/// Applies the overrides of a size. The file itself is "quick" unless it says otherwise.
fn apply_size(root: &mut Node, size: Option<(&str, Place)>, problems: &mut Vec<Problem>) {
    let Value::Table(table) = &mut root.value else {
        return;
    };
    let sizes = table.take("sizes").map(|(_, node)| node);
    let sizes = match &sizes {
        None => &Table::default(),
        Some(Node {
            value: Value::Table(sizes),
            ..
        }) => sizes,
        Some(node) => {
            problems.push(
                Problem::new(node.place, format!("sizes cannot be {}", node.describe()))
                    .help("sizes are written [sizes.<name>], for example [sizes.paper]"),
            );
            return;
        }
    };
    for (key, node) in &sizes.entries {
        let Value::Table(overrides) = &node.value else {
            problems.push(
                Problem::new(
                    node.place,
                    format!("{} cannot be {}", key.name, node.describe()),
                )
                .help("a size is a table of overrides"),
            );
            continue;
        };
        for (key, _) in &overrides.entries {
            if key
                .name
                .split('.')
                .next()
                .is_some_and(|first| first.trim() == "sizes")
            {
                problems.push(
                    Problem::new(key.place, "a size cannot override sizes")
                        .help("override any other key"),
                );
            }
        }
    }
    let name = size.map_or("quick", |(name, _)| name);
    match (sizes.get(name), size) {
        (
            Some(Node {
                value: Value::Table(table),
                ..
            }),
            _,
        ) => {
            overrides::apply(root, table, problems);
        }
        (None, Some((name, place))) if name != "quick" => {
            let mut names: Vec<&str> = sizes.names().collect();
            if !names.contains(&"quick") {
                names.insert(0, "quick");
            }
            problems.push(
                Problem::new(place, format!("this scenario has no size \"{name}\""))
                    .help(suggest::accepted(name, &names)),
            );
        }
        _ => {}
    }
}

/// The seeds to run; none when they are wrong.
fn choose_seeds(
    root: &Node,
    wanted: Option<(u32, Place)>,
    problems: &mut Vec<Problem>,
) -> Vec<u64> {
    let seed = root.child("seed");
    let given: Either<u64, Vec<u64>> = match seed {
        None => Either::One(1),
        Some(node) => match crate::read::read("seed", node, problems) {
            Some(seeds) => seeds,
            None => return Vec::new(),
        },
    };
    let place = root.place_of(&["seed"]);
    let in_file: Option<(u32, Place)> = match root.child("seeds") {
        None => None,
        Some(node) => match crate::read::read("seeds", node, problems) {
            Some(count) => Some((count, node.place)),
            None => return Vec::new(),
        },
    };
    let seeds = given.as_slice();
    if seeds.is_empty() {
        problems
            .push(Problem::new(place, "the list of seeds is empty").help("give at least one seed"));
        return Vec::new();
    }
    let mut listed_seeds = HashSet::new();
    for (index, seed) in seeds.iter().enumerate() {
        if !listed_seeds.insert(*seed) {
            let place = root.place_of(&["seed", &index.to_string()]);
            problems.push(
                Problem::new(place, format!("the seed {seed} is listed twice"))
                    .help("the same seed gives the same run; list each once"),
            );
            return Vec::new();
        }
    }
    if let (Some((_, place)), Either::Many(_)) = (in_file, &given) {
        problems.push(
            Problem::new(place, "seeds counts from a single seed, but seed is a list")
                .help("give a list of seeds, or one seed and their number"),
        );
        return Vec::new();
    }
    let listed = u32::try_from(seeds.len()).unwrap_or(u32::MAX);
    let (count, count_place) = wanted.or(in_file).unwrap_or((listed, place));
    if count == 0 || count > MOST_SEEDS {
        problems.push(
            Problem::new(count_place, format!("{count} seeds cannot be run"))
                .help(format!("expected 1 to {MOST_SEEDS}")),
        );
        return Vec::new();
    }
    // Beyond a list the seeds count on from its last, past those that it has.
    let last = seeds[seeds.len() - 1];
    let further = (1..)
        .map(|step| last.wrapping_add(step))
        .filter(|seed| !listed_seeds.contains(seed));
    seeds
        .iter()
        .copied()
        .chain(further)
        .take(count as usize)
        .collect()
}
