//! The table of flows that failures hit.

use crate::flows::rows::seconds;
use crate::measurement::recovery::{Failure, Hit, Recoveries};
use crate::table::{Column, Table};
use pathweave_fabric::{Fabric, LinkNames};

pub(super) fn recoveries(fabric: &Fabric, recoveries: &Recoveries) -> Table {
    let hits = &recoveries.hits;
    let link_names = fabric.link_names();
    let failure = |hit: &Hit| &recoveries.failures[hit.failure as usize];
    let integers = |of: &dyn Fn(&Hit) -> u32| {
        Column::Integers(hits.iter().map(|hit| u64::from(of(hit))).collect())
    };
    let columns = vec![
        (
            "at_s",
            Column::Numbers(
                hits.iter()
                    .map(|hit| failure(hit).at.as_secs_f64())
                    .collect(),
            ),
        ),
        (
            "failed",
            Column::Labels {
                names: recoveries
                    .failures
                    .iter()
                    .map(|failure| name(fabric, &link_names, failure))
                    .collect(),
                codes: hits.iter().map(|hit| hit.failure).collect(),
            },
        ),
        ("flow", integers(&|hit| hit.flow)),
        ("subflows_hit", integers(&|hit| hit.subflows)),
        (
            "recovery_s",
            Column::Numbers(
                hits.iter()
                    .map(|hit| {
                        let took = hit.recovered.map(|end| end - failure(hit).at);
                        seconds(took)
                    })
                    .collect(),
            ),
        ),
    ];
    Table {
        name: "recoveries",
        columns,
    }
}

/// The links that failed: a node by its name if all of its links did, else cables and single directions.
fn name(fabric: &Fabric, link_names: &LinkNames<'_>, failure: &Failure) -> String {
    let failed = &failure.links;
    let ends = |node| {
        let touches = |link: &pathweave_fabric::Link| link.from == node || link.to == node;
        let own = fabric.links.iter().filter(|link| touches(link)).count();
        let gone = failed.iter().filter(|&&link| touches(fabric.link(link)));
        own > 2 && gone.count() == own
    };
    let first = fabric.link(failed[0]);
    if let Some(node) = [first.from, first.to].into_iter().find(|&node| ends(node))
        && failed
            .iter()
            .all(|&link| fabric.link(link).from == node || fabric.link(link).to == node)
    {
        return fabric.node(node).name.clone();
    }
    let whole = |link: pathweave_fabric::LinkId| failed.contains(&link.reverse());
    let names = failed
        .iter()
        .filter_map(|&link| match (whole(link), link.0 % 2) {
            (true, 0) => Some(link_names.cable(link)),
            (true, _) => None,
            (false, _) => Some(link_names.link(link)),
        });
    let names: Vec<String> = names.collect();
    match names.as_slice() {
        [one] => one.clone(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
        [] => String::new(),
    }
}
