//! Links that are down from the start.

use super::hosts::Names;
use super::{Problems, links};
use crate::schema::RoutingTable;
use crate::text::Either;
use pathweave_fabric::{Fabric, LinkId, split_number};
use std::collections::BTreeSet;

/// The links of cables and nodes that are down for the whole run, both directions of each.
pub(super) fn down(
    texts: Option<&Either<String, Vec<String>>>,
    routing: &RoutingTable,
    fabric: &Fabric,
    problems: &mut Problems<'_>,
) -> BTreeSet<LinkId> {
    let Some(texts) = texts else {
        return BTreeSet::new();
    };
    if matches!(routing, RoutingTable::TwoLevel(_)) {
        problems.wrong_key(
            &["fabric", "down"],
            "two-level routing picks a core switch by address and does not know which links are down; take another routing, or remove down",
        );
        return BTreeSet::new();
    }
    let names = Names::new(fabric);
    let single = matches!(texts, Either::One(_));
    let mut down = BTreeSet::new();
    for (place, text) in texts.as_slice().iter().enumerate() {
        match of_text(text, &names) {
            Ok(links) => down.extend(links),
            Err(problem) => {
                let place = place.to_string();
                let steps = ["fabric", "down", &place];
                problems.wrong(if single { &steps[..2] } else { &steps }, problem);
            }
        }
    }
    down
}

fn of_text(text: &str, names: &Names<'_>) -> Result<Vec<LinkId>, String> {
    if let Some(node) = names.node(text) {
        return Ok(links::links_of(node, names));
    }
    if let Some((a, b)) = split_number(text).0.split_once("->") {
        return Err(format!(
            "\"{text}\" is one direction, and routing uses a cable only where both directions are up; write \"{}-{}\"",
            a.trim(),
            b.trim()
        ));
    }
    if !text.contains('-') {
        return Err(names.unknown_node(text));
    }
    links::links(text, names)
}
