//! A scenario's text as a tree, with the size and the values of the command line.

use crate::bursts::{self, Bursts};
use crate::diagnostics::Problem;
use crate::given::{Override, add_sweeps, apply_sets, parse_set};
use crate::sizes::apply_size;
use crate::tree::{Node, Place, Table, Value};
use crate::variants::Only;
use crate::{overrides, sweep};

/// What the command line gives beside the file, each with its place.
#[derive(Default)]
pub(crate) struct Given<'a> {
    pub size: Option<(&'a str, Place)>,
    pub sets: Vec<(&'a str, Place)>,
    pub sweeps: Vec<(&'a str, Place)>,
    pub only: Vec<Only<'a>>,
    pub seeds: Option<(u32, Place)>,
}

/// A scenario before its variants are made.
pub(crate) struct Document {
    /// What variants are variants of.
    root: Node,
    pub variants: Option<Node>,
    pub sweep: Option<Node>,
    /// The order of sweeps in the file.
    pub order: Vec<String>,
    /// Values of the command line, applied last.
    pub sets: Vec<Override>,
}

impl Document {
    /// From the tree of a file.
    pub fn new(mut root: Node, given: &Given<'_>, problems: &mut Vec<Problem>) -> Document {
        sweep::unfold(&mut root, problems);
        let order = sweep::order(&root);
        apply_size(&mut root, given.size, problems);
        let sets = given.sets.iter();
        let sets: Vec<Override> = sets
            .filter_map(|&(text, place)| parse_set(text, place, problems))
            .collect();
        let (of_sweep, sets): (Vec<Override>, Vec<Override>) =
            sets.into_iter().partition(|set| set.path[0] == "sweep");
        apply_sets(&mut root, &of_sweep, problems);
        add_sweeps(&mut root, &given.sweeps, problems);
        // Once more: what sizes and the command line brought in.
        sweep::unfold(&mut root, problems);
        let mut take = |name: &str| match &mut root.value {
            Value::Table(table) => table.take(name).map(|(_, node)| node),
            _ => None,
        };
        let (variants, sweep) = (take("variants"), take("sweep"));
        Document {
            root,
            variants,
            sweep,
            order,
            sets,
        }
    }

    /// Which variants have the burst of another.
    pub fn take_bursts(&mut self, problems: &mut Vec<Problem>) -> Bursts {
        let Some(variants) = &mut self.variants else {
            return Bursts::new();
        };
        let found = bursts::unfold(variants, problems);
        bursts::refuse_both(&found, variants, problems);
        found
    }

    /// Where the axes stand.
    pub fn place_of_axes(&self) -> Place {
        let axes = self.sweep.as_ref().or(self.variants.as_ref());
        axes.map(|node| node.place).unwrap_or_default()
    }

    /// How many values all variants have.
    pub fn count(&self) -> u64 {
        self.root.count()
    }

    /// What all variants have in common.
    pub fn common(&self, problems: &mut Vec<Problem>) -> Node {
        self.variant(&[], problems)
    }

    /// The tree of the variant with these overrides.
    pub fn variant(&self, overrides: &[&Table], problems: &mut Vec<Problem>) -> Node {
        let mut tree = self.root.clone();
        for table in overrides {
            overrides::apply(&mut tree, table, problems);
        }
        apply_sets(&mut tree, &self.sets, problems);
        tree
    }
}
