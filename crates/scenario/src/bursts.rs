//! Variants that take over another one's settings (`like`), and single paths that begin with as many packets as the subflows of
//! another variant together (`burst_of`).

use crate::diagnostics::Problem;
use crate::overrides;
use crate::plan::GroupPlan;
use crate::suggest;
use crate::tree::{Node, Place, Table, Value};
use crate::variants::Combination;
use std::collections::{HashMap, HashSet};

/// The variants that have `burst_of`: by axis and name, the variant that it names on the same axis, and where it does.
pub(crate) type Bursts = HashMap<(String, String), (String, Place)>;

/// Takes `like` and `burst_of` out of the variants: what is left are overrides. Those of the variant that `like` names come
/// first, so that a variant's own override them.
pub(crate) fn unfold(variants: &mut Node, problems: &mut Vec<Problem>) -> Bursts {
    let mut bursts = Bursts::new();
    let Value::Table(axes) = &mut variants.value else {
        return bursts;
    };
    for (axis, node) in &mut axes.entries {
        if let Value::Table(named) = &mut node.value {
            unfold_axis(&axis.name, named, &mut bursts, problems);
        }
    }
    bursts
}

fn unfold_axis(axis: &str, named: &mut Table, bursts: &mut Bursts, problems: &mut Vec<Problem>) {
    let names: Vec<String> = named.names().map(str::to_owned).collect();
    let mut alike: Vec<(usize, String, Place)> = Vec::new();
    for (index, (variant, node)) in named.entries.iter_mut().enumerate() {
        let Value::Table(table) = &mut node.value else {
            continue;
        };
        for word in ["like", "burst_of"] {
            let Some((_, given)) = table.take(word) else {
                continue;
            };
            match other(word, &variant.name, axis, &given, &names) {
                Ok(name) if word == "like" => alike.push((index, name, given.place)),
                Ok(name) => {
                    let own = (axis.to_owned(), variant.name.clone());
                    bursts.insert(own, (name, given.place));
                }
                Err(problem) => problems.push(problem),
            }
        }
    }
    let with_likes: HashSet<&str> = alike
        .iter()
        .map(|&(index, ..)| names[index].as_str())
        .collect();
    for (index, name, place) in &alike {
        if with_likes.contains(name.as_str()) {
            problems.push(
                Problem::new(*place, format!("\"{name}\" is like another variant itself"))
                    .help("name the variant that has the settings"),
            );
            continue;
        }
        let theirs = match named.get(name).map(|node| &node.value) {
            Some(Value::Table(table)) => table.entries.clone(),
            _ => continue,
        };
        if let Value::Table(own) = &mut named.entries[*index].1.value {
            let entries = std::mem::take(&mut own.entries);
            own.entries = theirs.into_iter().chain(entries).collect();
        }
    }
    for (variant, (name, place)) in bursts.iter().filter(|((on, _), _)| on == axis) {
        if bursts.contains_key(&(variant.0.clone(), name.clone())) {
            problems.push(
                Problem::new(*place, format!("\"{name}\" has burst_of itself"))
                    .help("name the variant with several subflows"),
            );
        }
    }
}

/// The variant of the same axis that `like` or `burst_of` names.
fn other(
    word: &str,
    own: &str,
    axis: &str,
    given: &Node,
    names: &[String],
) -> Result<String, Problem> {
    let Some(name) = given.as_text() else {
        return Err(Problem::new(
            given.place,
            format!("{word} cannot be {}", given.describe()),
        )
        .help(format!(
            "expected the name of another variant on the axis \"{axis}\""
        )));
    };
    if name == own {
        return Err(
            Problem::new(given.place, format!("{word} names the variant itself")).help(format!(
                "expected the name of another variant on the axis \"{axis}\""
            )),
        );
    }
    if !names.iter().any(|known| known == name) {
        let known: Vec<&str> = names
            .iter()
            .map(String::as_str)
            .filter(|n| *n != own)
            .collect();
        return Err(Problem::new(
            given.place,
            format!("axis \"{axis}\" has no variant \"{name}\""),
        )
        .help(suggest::accepted(name, &known)));
    }
    Ok(name.to_owned())
}

/// The overrides of the variant whose burst a combination has, with the same names on other axes, and where that is asked for.
/// A combination has one such variant at most.
pub(crate) fn reference<'a>(
    combination: &Combination<'a>,
    bursts: &Bursts,
    variants: Option<&'a Node>,
    problems: &mut Vec<Problem>,
) -> Option<(Vec<&'a Table>, String, Place)> {
    let mut found = combination
        .names
        .iter()
        .enumerate()
        .filter_map(|(index, own)| Some((index, &own.0, bursts.get(own)?)));
    let (index, axis, (name, place)) = found.next()?;
    if found.next().is_some() {
        problems.push(
            Problem::new(*place, "burst_of is given on two axes")
                .help("give it on one: an initial window follows one variant"),
        );
        return None;
    }
    let axis = variants?.as_table()?.get(axis)?;
    let mut overrides = combination.overrides.clone();
    overrides[index] = axis.as_table()?.get(name)?.as_table()?;
    Some((overrides, name.clone(), *place))
}

/// Gives each group of `tree`, whose plans are `own`, as many initial packets as the subflows of the same group open with in the
/// plans `theirs`. Returns these windows.
pub(crate) fn match_burst(
    tree: &mut Node,
    own: &[GroupPlan],
    theirs: &[GroupPlan],
    name: &str,
    place: Place,
) -> Result<Vec<f64>, Problem> {
    let mut matched = Vec::new();
    for group in own {
        let Some(other) = theirs.iter().find(|other| other.name == group.name) else {
            continue;
        };
        if subflows_of_its_own(other) || subflows_of_its_own(group) {
            return Err(Problem::new(
                place,
                format!(
                    "burst_of cannot follow \"{name}\": flows of group \"{}\" have numbers of subflows of their own",
                    group.name
                ),
            )
            .help("give subflows in the group, or initial_window in this variant"));
        }
        if other.subflows <= 1 {
            continue;
        }
        if group.subflows > 1 {
            return Err(Problem::new(
                place,
                format!(
                    "burst_of is for a single path: group \"{}\" has {} subflows in this variant",
                    group.name, group.subflows
                ),
            )
            .help("set subflows = 1 in this variant, or remove burst_of"));
        }
        let together =
            other.transport.initial_window_of(other.subflows) * f64::from(other.subflows);
        matched.push(together);
        let value = Node {
            place,
            value: Value::Number(together),
        };
        let path = ["traffic", &group.name, "transport", "initial_window"].map(str::to_owned);
        overrides::set(tree, &path, place, &value)?;
    }
    if !matched.is_empty() {
        return Ok(matched);
    }
    Err(Problem::new(
        place,
        format!("\"{name}\" has one subflow in every group: there is no burst to match"),
    )
    .help("name a variant with several subflows, or remove burst_of"))
}

fn subflows_of_its_own(group: &GroupPlan) -> bool {
    let own = |flow: &crate::plan::ListedFlow| {
        flow.subflows
            .is_some_and(|subflows| subflows != group.subflows)
    };
    group.listed.iter().any(own)
}

/// `initial_window` beside `burst_of` in a variant: one of them would be lost.
pub(crate) fn refuse_both(bursts: &Bursts, variants: &Node, problems: &mut Vec<Problem>) {
    for ((axis, variant), (_, place)) in bursts {
        let table = variants
            .child(axis)
            .and_then(|axis| axis.child(variant))
            .and_then(Node::as_table);
        let sets = table.is_some_and(|table| {
            let paths = overrides::paths(table);
            paths
                .iter()
                .any(|path| path.last().is_some_and(|key| key == "initial_window"))
        });
        if sets {
            problems.push(
                Problem::new(
                    *place,
                    "initial_window follows from burst_of, and this variant gives both",
                )
                .help("remove one of them"),
            );
        }
    }
}
