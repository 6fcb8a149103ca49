//! The values of a swept key: of a list or of a range, with their names and numbers.

use super::keys::{Leaf, SHAPE};
use super::quantity::{Dimension, Quantity};
use super::range;
use crate::diagnostics::Problem;
use crate::tree::{Node, Value};

/// The values of one key: what variants are called, what they set, and whether a range is logarithmic.
pub(super) struct Values {
    pub names: Vec<String>,
    pub nodes: Vec<Node>,
    pub quantities: Option<Vec<Quantity>>,
    pub logarithmic: bool,
}

/// What stands at the end of a key; `None` when `problems` says what is wrong with it.
pub(super) fn values(leaf: &Leaf<'_>, problems: &mut Vec<Problem>) -> Option<Values> {
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
