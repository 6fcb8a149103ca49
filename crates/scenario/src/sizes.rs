//! Named sizes: tables of overrides, of which one applies.

use crate::diagnostics::Problem;
use crate::tree::{Node, Place, Table, Value};
use crate::{overrides, suggest};

/// Applies the overrides of a size. The file itself is "quick" unless it says otherwise.
pub(crate) fn apply_size(
    root: &mut Node,
    size: Option<(&str, Place)>,
    problems: &mut Vec<Problem>,
) {
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
