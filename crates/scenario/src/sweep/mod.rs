//! Sweeps: axes whose variants are the values of a key, from a list or a range.
//!
//! `"fabric.queue.mark.k" = [10, 20, 40]` is an axis of three variants that are called 10, 20 and 40. Keys that move
//! together stand in a table `together.<name>`, whose name the axis has.

mod quantity;
mod range;
mod unfold;
mod written;

pub(crate) use written::written;

use crate::diagnostics::Problem;
use crate::file::KEYS;
use crate::names::{self, LONGEST_NAME};
use crate::suggest;
use crate::tree::{Key, Node, Place, Table, Value};
use crate::variants::{Axis, Choice, slug};
use quantity::{Dimension, Quantity};
use std::collections::HashMap;

/// The key under which keys stand that move together.
const TOGETHER: &str = "together";

const SHAPE: &str =
    "write a list such as [10, 20, 40], or a range such as { from = 0.1, to = 0.9, step = 0.1 }";

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

/// What an axis is known by, whatever its values.
fn identity((group, leaves): &Found<'_>) -> String {
    match group {
        Some(group) => format!("{TOGETHER}.{}", group.name),
        None => leaves[0].key.name.clone(),
    }
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

/// The axes below a sweep's table.
fn found<'a>(table: &'a Table, problems: &mut Vec<Problem>) -> Vec<Found<'a>> {
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

/// A swept key and its list or range.
struct Leaf<'a> {
    /// The whole key; its place is that of its end.
    key: Key,
    node: &'a Node,
}

/// An axis without its name: that of its group, if it has one, and its keys.
type Found<'a> = (Option<&'a Key>, Vec<Leaf<'a>>);

/// An axis: its name, where it stands, and its keys.
type Named<'a> = (String, Place, Vec<Leaf<'a>>);

/// The lists and ranges at or below a key at the top of a sweep.
fn leaves<'a>(key: &Key, node: &'a Node, problems: &mut Vec<Problem>) -> Vec<Leaf<'a>> {
    let first = key.name.as_str();
    if matches!(
        first,
        "title" | "seed" | "seeds" | "variants" | "sizes" | "sweep" | "report"
    ) {
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
            .filter(|key| {
                !matches!(
                    *key,
                    "title" | "seed" | "seeds" | "variants" | "sizes" | "sweep" | "report"
                )
            })
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

/// Gives each axis its name: that of the group, the last part of the key, or the whole key where that is not clear.
fn named<'a>(
    found: Vec<Found<'a>>,
    others: &[Axis<'_>],
    problems: &mut Vec<Problem>,
) -> Vec<Named<'a>> {
    let last = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
    let mut taken: HashMap<String, usize> = HashMap::new();
    for (group, leaves) in &found {
        let name = group.map_or_else(|| last(&leaves[0].key.name), |group| group.name.clone());
        *taken.entry(name).or_default() += 1;
    }
    for other in others {
        *taken.entry(other.name.to_owned()).or_default() += 1;
    }
    let mut named: Vec<Named<'a>> = Vec::new();
    for (group, leaves) in found {
        let key = &leaves[0].key;
        let (name, place) = match group {
            Some(group) => (group.name.clone(), group.place),
            None => {
                let short = last(&key.name);
                let clear = taken[&short] == 1 && short.parse::<usize>().is_err();
                (if clear { short } else { key.name.clone() }, key.place)
            }
        };
        if let Some(text) = names::problem("the name of the axis", &name, LONGEST_NAME) {
            problems.push(Problem::with_remedy(place, &text));
        }
        let same = |other: &str| other == name;
        if others.iter().any(|axis| same(axis.name)) || named.iter().any(|(name, ..)| same(name)) {
            problems.push(
                Problem::new(place, format!("there are two axes \"{name}\""))
                    .help("give the group or the axis of variants another name"),
            );
        }
        named.push((name, place, leaves));
    }
    named
}

/// What two axes set, the later one would set alone.
fn check_paths(named: &[Named<'_>], others: &[Axis<'_>], problems: &mut Vec<Problem>) {
    let steps = |key: &str| key.split('.').map(str::to_owned).collect::<Vec<String>>();
    let leaves: Vec<&Leaf<'_>> = named.iter().flat_map(|(.., leaves)| leaves).collect();
    for (place, leaf) in leaves.iter().enumerate() {
        let own = steps(&leaf.key.name);
        let touches = |other: &[String]| own.iter().zip(other).all(|(own, other)| own == other);
        if let Some(other) = leaves[..place]
            .iter()
            .find(|other| touches(&steps(&other.key.name)))
        {
            let message = if other.key.name == leaf.key.name {
                format!("\"{}\" is swept twice", leaf.key.name)
            } else {
                format!(
                    "\"{}\" and \"{}\" set the same",
                    other.key.name, leaf.key.name
                )
            };
            problems.push(
                Problem::new(leaf.key.place, message).help("each value is set by one axis alone"),
            );
        }
        for axis in others {
            let sets = |choice: &&Choice<'_>| {
                let paths = crate::overrides::paths(choice.overrides);
                paths.iter().any(|path| path.starts_with(&own))
            };
            if let Some(choice) = axis.variants.iter().find(sets) {
                let message = format!(
                    "\"{}\" is set by variant \"{}\" of axis \"{}\", too",
                    leaf.key.name, choice.name, axis.name
                );
                problems.push(
                    Problem::new(leaf.key.place, message)
                        .help("the sweep would win silently; leave the key out of one of them"),
                );
            }
        }
    }
}

/// The values of one key: what variants are called, what they set, and whether a range is logarithmic.
struct Values {
    names: Vec<String>,
    nodes: Vec<Node>,
    quantities: Option<Vec<Quantity>>,
    logarithmic: bool,
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

fn values(leaf: &Leaf<'_>, problems: &mut Vec<Problem>) -> Option<Values> {
    match &leaf.node.value {
        Value::List(list) => listed(leaf, list, problems),
        Value::Table(table) => match range::values(table, leaf.node) {
            Ok(found) => Some(Values {
                names: found.values.iter().map(|value| value.text()).collect(),
                nodes: found
                    .values
                    .iter()
                    .map(|value| value.node(leaf.node.place))
                    .collect(),
                quantities: Some(found.values),
                logarithmic: found.logarithmic,
            }),
            Err(problem) => {
                problems.push(problem);
                None
            }
        },
        _ => None,
    }
}

fn listed(leaf: &Leaf<'_>, list: &[Node], problems: &mut Vec<Problem>) -> Option<Values> {
    if list.is_empty() {
        let message = format!("the list of \"{}\" is empty", leaf.key.name);
        problems.push(Problem::new(leaf.node.place, message).help(SHAPE));
        return None;
    }
    let mut names = Vec::new();
    for node in list {
        names.push(match &node.value {
            Value::Text(text) => text.trim().to_owned(),
            Value::Integer(_) | Value::Number(_) | Value::Truth(_) => node.describe(),
            _ => {
                let message = format!("\"{}\" cannot be swept over {}", leaf.key.name, node.describe());
                problems.push(Problem::new(node.place, message).help(
                    "a sweep is over numbers, quantities and names; tables and lists have names of their own in [variants]",
                ));
                return None;
            }
        });
    }
    let quantities: Option<Vec<Quantity>> = list.iter().map(Quantity::read).collect();
    let quantities = quantities.filter(|found| {
        let mut dimensions = found.iter().map(|quantity| quantity.dimension);
        let common = |own: Dimension, other: Dimension| own.common(other);
        dimensions
            .next()
            .is_some_and(|first| dimensions.try_fold(first, common).is_some())
    });
    Some(Values {
        names,
        nodes: list.to_vec(),
        logarithmic: quantities.as_deref().is_some_and(is_logarithmic),
        quantities,
    })
}

/// Smallest ratio of the largest value of a list to its smallest for a logarithmic scale.
const WIDE: f64 = 4.0;

/// Whether listed values are more evenly spread over a logarithmic scale than over a linear one.
fn is_logarithmic(values: &[Quantity]) -> bool {
    let mut values: Vec<f64> = values.iter().map(|value| value.base()).collect();
    values.sort_by(f64::total_cmp);
    let (smallest, largest) = (values[0], values[values.len() - 1]);
    if values.len() < 3 || smallest <= 0.0 || largest < WIDE * smallest {
        return false;
    }
    let unevenness = |gap: fn(f64, f64) -> f64| {
        let gaps = values.windows(2).map(|pair| gap(pair[0], pair[1]));
        let (least, most) = gaps.fold((f64::INFINITY, 0.0_f64), |(least, most), gap| {
            (least.min(gap), most.max(gap))
        });
        most / least
    };
    unevenness(|a, b| libm::log(b / a)) < unevenness(|a, b| b - a)
}
