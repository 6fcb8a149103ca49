//! A fabric given as a list of nodes and cables.

use super::hosts::expand;
use super::{Problems, links};
use crate::schema::{CableTable, GraphNodeTable, GraphTable};
use crate::text::Either;
use pathweave_fabric::split_number;
use pathweave_fabric::topology::{Graph, GraphCable, GraphNode};
use std::collections::{HashMap, HashSet};

/// Writes out ranges and defaults, and gives the builder.
pub(super) fn graph(table: &mut GraphTable, problems: &mut Problems<'_>) -> Option<Graph> {
    let before = problems.found.len();
    let mut graph = Graph::default();
    // Where each name stands: the list and the index in it.
    let mut places: HashMap<String, (&str, usize)> = HashMap::new();
    for (key, host, list) in [
        ("hosts", true, &mut table.hosts),
        ("switches", false, &mut table.switches),
    ] {
        let mut tables = Vec::new();
        for (index, node) in list.iter().enumerate() {
            let table = match node {
                Either::One(name) => GraphNodeTable {
                    name: name.clone(),
                    rack: None,
                    pod: None,
                },
                Either::Many(table) => table.clone(),
            };
            let steps = ["fabric", key, &index.to_string()];
            let names = match expand(&table.name) {
                Ok(names) => names,
                Err(text) => {
                    problems.wrong(&steps, text);
                    continue;
                }
            };
            for name in names {
                if split_number(&name).1.is_some() {
                    problems.wrong(
                        &steps,
                        format!(
                            "\"{name}\" ends like the number of a cable, as in \"A-B#2\"; choose a name without \"#\""
                        ),
                    );
                    break;
                }
                if places.insert(name.clone(), (key, index)).is_some() {
                    problems.wrong(
                        &steps,
                        format!("two nodes are called \"{name}\"; names must be unique"),
                    );
                    break;
                }
                tables.push(GraphNodeTable { name, ..table });
            }
        }
        let node = |table: &GraphNodeTable| GraphNode {
            name: table.name.clone(),
            host,
            rack: table.rack,
            pod: table.pod,
        };
        graph.nodes.extend(tables.iter().map(node));
        *list = tables.into_iter().map(Either::Many).collect();
    }
    if problems.found.len() > before {
        return None;
    }
    let mut cabled = HashSet::new();
    let known = |name: &str| places.contains_key(name);
    for (index, cable) in table.cables.iter_mut().enumerate() {
        let index = index.to_string();
        let steps = ["fabric", "cables", &index, "link"];
        let mut own = match cable {
            Either::One(link) => CableTable {
                link: link.clone(),
                rate: None,
                delay: None,
                layer: None,
            },
            Either::Many(own) => own.clone(),
        };
        let (a, b) = match links::split_cable(&own.link, &known) {
            Ok((a, b)) => (a.to_owned(), b.to_owned()),
            Err(text) => {
                problems.wrong(&steps, text);
                continue;
            }
        };
        cabled.extend([a.clone(), b.clone()]);
        let (Some(rate), Some(delay)) = (own.rate.or(table.rate), own.delay.or(table.delay)) else {
            let text = format!(
                "cable \"{}\" has no rate or no delay; give fabric.rate and fabric.delay for all, or every cable its own",
                own.link
            );
            problems.wrong(&steps[..3], text);
            break; // the others lack it, too
        };
        own.rate = Some(rate);
        own.delay = Some(delay);
        let layer = Some(own.layer.get_or_insert_with(|| "link".to_owned()).clone());
        *cable = Either::Many(own);
        graph.cables.push(GraphCable {
            a,
            b,
            rate: rate.0,
            delay: delay.0,
            layer,
        });
    }
    table.rate = None;
    table.delay = None;
    if problems.found.len() > before {
        return None;
    }
    for node in graph
        .nodes
        .iter()
        .filter(|node| node.host && !cabled.contains(&node.name))
    {
        let (key, index) = places[&node.name];
        let text = format!(
            "host \"{}\" has no cable; add one to fabric.cables",
            node.name
        );
        problems.wrong(&["fabric", key, &index.to_string()], text);
    }
    (problems.found.len() == before).then_some(graph)
}
