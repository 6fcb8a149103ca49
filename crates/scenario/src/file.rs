//! From the tree of one variant to the types of the file, section by section, so that a mistake in one
//! does not hide those in others.

use crate::diagnostics::Problem;
use crate::read::{field_names, read, read_beside};
use crate::schema::{EventTable, FabricTable, File, GroupTable};
use crate::suggest;
use crate::tree::{Node, Table, Value};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The keys at the top of a file.
pub(crate) const KEYS: &[&str] = &[
    "title",
    "seed",
    "seeds",
    "jitter",
    "fabric",
    "routing",
    "transport",
    "traffic",
    "variants",
    "sweep",
    "stop",
    "measure",
    "record",
    "report",
    "events",
    "sizes",
];

/// Reads a variant, from which variants and sizes have been taken out.
pub(crate) fn file(root: &Node, problems: &mut Vec<Problem>) -> Option<File> {
    let before = problems.len();
    let Value::Table(table) = &root.value else {
        problems.push(Problem::new(root.place, "a scenario is a table"));
        return None;
    };
    for (key, _) in &table.entries {
        if !KEYS.contains(&key.name.as_str()) {
            problems.push(
                Problem::new(key.place, format!("unknown key \"{}\"", key.name))
                    .help(suggest::accepted(&key.name, KEYS)),
            );
        }
    }
    let fabric = required(root, table, "fabric", problems).and_then(|node| {
        let (queues, topology) = beside("fabric", node, problems)?;
        Some(FabricTable { queues, topology })
    });
    let traffic = required(root, table, "traffic", problems).and_then(|node| {
        let Value::List(groups) = &node.value else {
            problems.push(
                Problem::new(node.place, format!("traffic cannot be {}", node.describe()))
                    .help("traffic is a list of groups, each headed by [[traffic]]"),
            );
            return None;
        };
        let groups = groups.iter().map(|node| {
            let (keys, pattern) = beside("traffic", node, problems)?;
            Some(GroupTable { keys, pattern })
        });
        groups.collect::<Vec<_>>().into_iter().collect()
    });
    let title = optional(table, "title", problems);
    let jitter = optional(table, "jitter", problems);
    let routing = optional(table, "routing", problems);
    let transport = optional(table, "transport", problems);
    let stop = optional(table, "stop", problems);
    let measure = optional(table, "measure", problems);
    let record = optional(table, "record", problems);
    let report = optional(table, "report", problems);
    let events = events(table, problems);
    if problems.len() > before {
        return None;
    }
    Some(File {
        title,
        seed: None,
        seeds: None,
        jitter,
        fabric: fabric?,
        routing,
        transport,
        traffic: traffic?,
        stop,
        measure,
        record,
        report,
        events,
        variants: BTreeMap::new(),
        sweep: BTreeMap::new(),
        sizes: BTreeMap::new(),
    })
}

/// Reads the events one by one.
fn events(table: &Table, problems: &mut Vec<Problem>) -> Vec<EventTable> {
    match table.get("events") {
        Some(Node {
            value: Value::List(events),
            ..
        }) => events
            .iter()
            .filter_map(|node| read("events", node, problems))
            .collect(),
        _ => optional(table, "events", problems),
    }
}

fn required<'a>(
    root: &Node,
    table: &'a Table,
    name: &str,
    problems: &mut Vec<Problem>,
) -> Option<&'a Node> {
    let node = table.get(name);
    if node.is_none() {
        let header = if name == "traffic" {
            "[[traffic]]"
        } else {
            "[fabric]"
        };
        problems.push(
            Problem::new(root.place, format!("the scenario has no {name}"))
                .help(format!("add a table {header}")),
        );
    }
    node
}

/// Reads a section that may be left out. What cannot be read has been reported.
fn optional<'a, T: Deserialize<'a> + Default>(
    table: &'a Table,
    name: &str,
    problems: &mut Vec<Problem>,
) -> T {
    table
        .get(name)
        .and_then(|node| read(name, node, problems))
        .unwrap_or_default()
}

/// Reads a table that holds the keys of two types: those of `A`, and the others for `B`.
fn beside<A, B>(key: &str, node: &Node, problems: &mut Vec<Problem>) -> Option<(A, B)>
where
    A: for<'de> Deserialize<'de>,
    B: for<'de> Deserialize<'de>,
{
    let Value::Table(table) = &node.value else {
        problems.push(
            Problem::new(node.place, format!("{key} cannot be {}", node.describe()))
                .help("expected a table"),
        );
        return None;
    };
    let names = field_names::<A>();
    let (mut own, mut others) = (Table::default(), Table::default());
    for entry in &table.entries {
        let side = if names.contains(&entry.0.name.as_str()) {
            &mut own
        } else {
            &mut others
        };
        side.entries.push(entry.clone());
    }
    let part = |table| Node {
        place: node.place,
        value: Value::Table(table),
    };
    let (own, others) = (part(own), part(others));
    let own = read(key, &own, problems);
    let others = read_beside(key, &others, names, problems);
    Some((own?, others?))
}
