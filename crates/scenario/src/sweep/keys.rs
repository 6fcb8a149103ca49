//! The keys of a sweep: which of its tables are parts of a key, and which stand together.

use super::range;
use crate::diagnostics::Problem;
use crate::file::KEYS;
use crate::suggest;
use crate::tree::{Key, Node, Table, Value};

/// The key under which keys stand that move together.
const TOGETHER: &str = "together";

/// What a key of a sweep has.
pub(super) const SHAPE: &str =
    "write a list such as [10, 20, 40], or a range such as { from = 0.1, to = 0.9, step = 0.1 }";

/// Keys at the top of a scenario that no variant has for itself.
const SHARED: [&str; 7] = [
    "title", "seed", "seeds", "variants", "sizes", "sweep", "report",
];

/// A swept key and its list or range.
pub(super) struct Leaf<'a> {
    /// The whole key; its place is that of its end.
    pub key: Key,
    pub node: &'a Node,
}

/// An axis without its name: that of its group, if it has one, and its keys.
pub(super) type Found<'a> = (Option<&'a Key>, Vec<Leaf<'a>>);

/// The axes below a sweep's table.
pub(super) fn found<'a>(table: &'a Table, problems: &mut Vec<Problem>) -> Vec<Found<'a>> {
    let mut found = Vec::new();
    for (key, node) in &table.entries {
        if key.name == TOGETHER {
            groups(node, &mut found, problems);
            continue;
        }
        for leaf in leaves(key, node, problems) {
            found.push((None, vec![leaf]));
        }
    }
    found
}

/// What an axis is known by, whatever its values.
pub(super) fn identity((group, leaves): &Found<'_>) -> String {
    match group {
        Some(group) => format!("{TOGETHER}.{}", group.name),
        None => leaves[0].key.name.clone(),
    }
}

/// The lists and ranges at or below a key at the top of a sweep.
fn leaves<'a>(key: &Key, node: &'a Node, problems: &mut Vec<Problem>) -> Vec<Leaf<'a>> {
    let first = key.name.as_str();
    if SHARED.contains(&first) {
        problems.push(
            Problem::new(key.place, format!("a sweep cannot override \"{first}\""))
                .help("all variants share title, seed, seeds, report, variants, sweep and sizes"),
        );
        return Vec::new();
    }
    if !KEYS.contains(&first) {
        let mut accepted: Vec<&str> = KEYS
            .iter()
            .copied()
            .filter(|key| !SHARED.contains(key))
            .collect();
        accepted.push(TOGETHER);
        problems.push(
            Problem::new(key.place, format!("unknown key \"{first}\""))
                .help(suggest::accepted(first, &accepted)),
        );
        return Vec::new();
    }
    let mut found = Vec::new();
    collect(key.clone(), node, &mut found, problems);
    found
}

fn collect<'a>(key: Key, node: &'a Node, found: &mut Vec<Leaf<'a>>, problems: &mut Vec<Problem>) {
    match &node.value {
        Value::List(_) => found.push(Leaf { key, node }),
        Value::Table(table) if range::is_range(table) => found.push(Leaf { key, node }),
        Value::Table(table) if table.entries.is_empty() => problems
            .push(Problem::new(node.place, format!("\"{}\" has no values", key.name)).help(SHAPE)),
        Value::Table(table) => {
            for (step, node) in &table.entries {
                let below = Key {
                    name: format!("{}.{}", key.name, step.name),
                    place: step.place,
                };
                collect(below, node, found, problems);
            }
        }
        _ => {
            let message = format!("\"{}\" cannot be swept over {}", key.name, node.describe());
            problems.push(Problem::new(node.place, message).help(SHAPE));
        }
    }
}

/// The axes whose keys move together.
fn groups<'a>(node: &'a Node, found: &mut Vec<Found<'a>>, problems: &mut Vec<Problem>) {
    const GROUP: &str = "keys that move together stand in a table [sweep.together.<name>], each with a list or a range of the same length";
    let Value::Table(table) = &node.value else {
        problems.push(
            Problem::new(
                node.place,
                format!("together cannot be {}", node.describe()),
            )
            .help(GROUP),
        );
        return;
    };
    for (name, node) in &table.entries {
        let keys = match &node.value {
            Value::Table(keys) if !range::is_range(keys) && !keys.entries.is_empty() => keys,
            _ => {
                let message = format!("the group \"{}\" has no keys", name.name);
                problems.push(Problem::new(name.place, message).help(GROUP));
                continue;
            }
        };
        let keys = keys.entries.iter();
        let leaves: Vec<Leaf<'a>> = keys
            .flat_map(|(key, node)| leaves(key, node, problems))
            .collect();
        if !leaves.is_empty() {
            found.push((Some(name), leaves));
        }
    }
}
