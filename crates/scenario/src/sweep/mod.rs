//! Sweeps: axes whose variants are the values of a key, from a list or a range.
//!
//! `"fabric.queue.mark.k" = [10, 20, 40]` is an axis of three variants that are called 10, 20 and 40. Keys that move
//! together stand in a table `together.<name>`, whose name the axis has.

mod ends;
mod keys;
mod naming;
mod quantity;
mod range;
mod unfold;
mod values;
mod written;

pub(crate) use written::written;

use crate::diagnostics::Problem;
use crate::names::{self, LONGEST_NAME};
use crate::tree::{Key, Node, Table, Value};
use crate::variants::{Axis, Choice, slug};
use keys::{Leaf, found, identity};
use naming::{Named, check_paths, named};
use std::collections::HashMap;
use values::values;

/// An axis of a scenario that is a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// The axis.
    pub axis: String,
    /// The keys that it sets, the one that it goes by first.
    pub keys: Vec<String>,
    /// The names of its variants, in order.
    pub names: Vec<String>,
    /// What the names stand for, where they are numbers or quantities of one kind.
    pub numbers: Option<Numbers>,
}

/// The values of a sweep as numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers {
    /// One for each variant, in base units.
    pub values: Vec<f64>,
    /// Their unit: `s`, `bit/s`, `B`, or empty for plain numbers.
    pub unit: &'static str,
    /// Whether they are spread over a logarithmic scale.
    pub logarithmic: bool,
}

/// One axis, with what its variants override.
pub(crate) struct Swept {
    pub sweep: Sweep,
    paths: Vec<Key>,
    points: Vec<Table>,
}

impl Swept {
    /// As an axis beside those of `[variants]`.
    pub fn axis(&self) -> Axis<'_> {
        let choice = |(name, overrides)| Choice { name, overrides };
        let names = self.sweep.names.iter().map(String::as_str);
        Axis {
            name: &self.sweep.axis,
            swept: true,
            variants: names.zip(&self.points).map(choice).collect(),
        }
    }

    /// The key of this sweep that is set as well, or reached into, by setting `path`.
    pub fn sets(&self, path: &[String]) -> Option<&str> {
        let key = self.paths.iter().find(|key| {
            let own = key.name.split('.');
            own.zip(path).all(|(own, other)| own == other)
        });
        key.map(|key| key.name.as_str())
    }
}

/// Writes the keys of a scenario's sweep in one way.
pub(crate) fn unfold(root: &mut Node, problems: &mut Vec<Problem>) {
    if let Value::Table(table) = &mut root.value
        && let Some((_, node)) = table
            .entries
            .iter_mut()
            .find(|(key, _)| key.name == "sweep")
        && let Value::Table(sweep) = &mut node.value
    {
        *sweep = unfold::unfold(std::mem::take(sweep), problems);
    }
}

/// The axes of a file in its order, each by the key that it begins with or by the name of its group. What sizes and
/// the command line change stays in its place.
pub(crate) fn order(root: &Node) -> Vec<String> {
    let Some(Value::Table(table)) = root.child("sweep").map(|node| &node.value) else {
        return Vec::new();
    };
    let mut found = found(table, &mut Vec::new());
    found.sort_by_key(|(group, leaves)| group.map_or(leaves[0].key.place, |group| group.place));
    found.iter().map(identity).collect()
}

/// The axes of a sweep whose keys have been unfolded, to stand after those of `[variants]`.
pub(crate) fn axes(
    sweep: Option<&Node>,
    order: &[String],
    others: &[Axis<'_>],
    problems: &mut Vec<Problem>,
) -> Vec<Swept> {
    let Some(node) = sweep else {
        return Vec::new();
    };
    let Value::Table(table) = &node.value else {
        problems.push(
            Problem::new(node.place, format!("sweep cannot be {}", node.describe()))
                .help("a sweep is a table of keys, each with a list or a range: \"fabric.queue.mark.k\" = [10, 20, 40]"),
        );
        return Vec::new();
    };
    let mut found = found(table, problems);
    found.sort_by_key(|axis| {
        let own = identity(axis);
        order
            .iter()
            .position(|key| *key == own)
            .unwrap_or(order.len())
    });
    let named = named(found, others, problems);
    check_paths(&named, others, problems);
    let swept = |(name, _, leaves): Named<'_>| axis(name, &leaves, problems);
    named.into_iter().filter_map(swept).collect()
}

fn axis(name: String, leaves: &[Leaf<'_>], problems: &mut Vec<Problem>) -> Option<Swept> {
    let mut read = Vec::new();
    for leaf in leaves {
        read.push(values(leaf, problems)?);
    }
    let (first, first_leaf) = (read.first()?, &leaves[0]);
    let length = first.names.len();
    let mut sound = true;
    for (leaf, values) in leaves.iter().zip(&read) {
        if values.names.len() != length {
            let message = format!(
                "\"{}\" has {} values and \"{}\" has {length}",
                leaf.key.name,
                values.names.len(),
                first_leaf.key.name
            );
            problems.push(
                Problem::new(leaf.node.place, message)
                    .help("keys that move together have a value each for every variant"),
            );
            sound = false;
        }
    }
    let mut slugs: HashMap<String, &str> = HashMap::new();
    for (name, node) in first.names.iter().zip(&first.nodes) {
        if let Some(text) = names::problem("the name of the variant", name, LONGEST_NAME) {
            problems.push(Problem::with_remedy(node.place, &text));
            sound = false;
        }
        if let Some(other) = slugs.insert(slug(name), name) {
            let message = if other == name {
                format!("\"{}\" has {name} twice", first_leaf.key.name)
            } else {
                format!(
                    "{other} and {name} would have the same folder, \"{}\"",
                    slug(name)
                )
            };
            let help = if leaves.len() > 1 {
                "the axis goes by the values of its first key, which differ"
            } else {
                "give each value once"
            };
            problems.push(Problem::new(node.place, message).help(help));
            sound = false;
        }
    }
    if !sound {
        return None;
    }
    let point = |index: usize| {
        let set = leaves.iter().zip(&read);
        let entries = set.map(|(leaf, values)| (leaf.key.clone(), values.nodes[index].clone()));
        Table {
            entries: entries.collect(),
            dotted: false,
        }
    };
    let points = (0..length).map(point).collect();
    let numbers = first.quantities.as_ref().map(|quantities| Numbers {
        values: quantities.iter().map(|quantity| quantity.base()).collect(),
        unit: quantities
            .iter()
            .map(|quantity| quantity.dimension.base_unit())
            .find(|unit| !unit.is_empty())
            .unwrap_or(""),
        logarithmic: first.logarithmic,
    });
    let sweep = Sweep {
        axis: name,
        keys: leaves.iter().map(|leaf| leaf.key.name.clone()).collect(),
        names: first.names.clone(),
        numbers,
    };
    Some(Swept {
        sweep,
        paths: leaves.iter().map(|leaf| leaf.key.clone()).collect(),
        points,
    })
}
