//! Changes of a scenario by keys with dots: sizes, variants and the command line.
//!
//! `"traffic.large.subflows" = 4` sets a key of the element that is called "large"; elements without
//! a name go by their index. A value replaces what was there as a whole, tables included.

use crate::diagnostics::Problem;
use crate::suggest;
use crate::tree::{self, Key, Node, Place, Table, Value};

/// Applies a table of overrides to a scenario.
pub(crate) fn apply(root: &mut Node, overrides: &Table, problems: &mut Vec<Problem>) {
    let count = paths(overrides).len();
    if count > MOST {
        let place = overrides.entries[0].0.place;
        let message = format!("{count} values are overridden here, more than {MOST}");
        problems.push(Problem::new(place, message).help("write another scenario file"));
        return;
    }
    let mut path = Vec::new();
    apply_table(root, overrides, &mut path, problems);
}

/// Values that a variant or a size may override: each is looked for among all keys and elements.
const MOST: usize = 5000;

fn apply_table(
    root: &mut Node,
    overrides: &Table,
    path: &mut Vec<String>,
    problems: &mut Vec<Problem>,
) {
    for (key, node) in &overrides.entries {
        let depth = path.len();
        path.extend(key.name.split('.').map(|step| step.trim().to_owned()));
        match &node.value {
            Value::Table(table) if table.dotted => apply_table(root, table, path, problems),
            _ => {
                if let Err(problem) = set(root, path, key.place, node) {
                    problems.push(problem);
                }
            }
        }
        path.truncate(depth);
    }
}

/// The keys that a table of overrides sets, step by step.
pub(crate) fn paths(overrides: &Table) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (key, node) in &overrides.entries {
        let own: Vec<String> = key
            .name
            .split('.')
            .map(|step| step.trim().to_owned())
            .collect();
        match &node.value {
            Value::Table(table) if table.dotted => {
                let below = paths(table).into_iter();
                found.extend(below.map(|rest| [own.as_slice(), &rest].concat()));
            }
            _ => found.push(own),
        }
    }
    found
}

/// Sets the value at the end of a path, whose text stands at `place`.
pub(crate) fn set(
    root: &mut Node,
    path: &[String],
    place: Place,
    new: &Node,
) -> Result<(), Problem> {
    let Some((step, rest)) = path.split_first() else {
        *root = new.clone();
        return Ok(());
    };
    if step.is_empty() {
        return Err(Problem::new(place, "a name is missing beside a dot")
            .help("write a path such as \"traffic.large.subflows\""));
    }
    match &mut root.value {
        Value::Table(table) => {
            if let Some((key, node)) = table.entries.iter_mut().find(|(key, _)| key.name == *step) {
                if rest.is_empty() {
                    key.place = place;
                } else if let (Value::Text(name), "controller") = (&node.value, step.as_str()) {
                    // A controller given by its name alone has parameters to set all the same.
                    let key = Key {
                        name: "name".to_owned(),
                        place: node.place,
                    };
                    let value = Value::Text(name.clone());
                    let name = Node {
                        place: node.place,
                        value,
                    };
                    let table = Table {
                        entries: vec![(key, name)],
                        dotted: false,
                    };
                    node.value = Value::Table(table);
                }
                return set(node, rest, place, new);
            }
            let empty = Value::Table(Table {
                entries: Vec::new(),
                dotted: true,
            });
            let mut node = Node {
                place,
                value: empty,
            };
            set(&mut node, rest, place, new)?;
            table.set(
                Key {
                    name: step.clone(),
                    place,
                },
                node,
            );
            Ok(())
        }
        Value::List(list) => {
            if let Some(index) = tree::position(list, step) {
                set(&mut list[index], rest, place, new)?;
                keep_name(&mut list[index], step, place);
                return Ok(());
            }
            let names: Vec<&str> = list
                .iter()
                .filter_map(|node| node.as_table()?.get("name")?.as_text())
                .collect();
            let adds = rest.is_empty() && new.as_table().is_some() && names.len() == list.len();
            if !adds {
                let message = format!("there is no \"{step}\" here to override");
                return Err(Problem::new(place, message).help(if names.is_empty() {
                    format!("the list has {} entries, numbered from 0", list.len())
                } else {
                    suggest::accepted(step, &names)
                }));
            }
            let mut node = new.clone();
            keep_name(&mut node, step, place);
            list.push(node);
            Ok(())
        }
        _ => {
            let message = format!("\"{step}\" cannot be set inside {}", root.describe());
            Err(Problem::new(place, message)
                .help("override the whole value, or a key of a table or of a named group or flow"))
        }
    }
}

/// An element that was replaced as a whole is still called what the path called it.
fn keep_name(node: &mut Node, name: &str, place: Place) {
    if let Value::Table(table) = &mut node.value
        && table.get("name").is_none()
        && name.parse::<usize>().is_err()
    {
        let value = Node {
            place,
            value: Value::Text(name.to_owned()),
        };
        table.entries.insert(
            0,
            (
                Key {
                    name: "name".to_owned(),
                    place,
                },
                value,
            ),
        );
    }
}
