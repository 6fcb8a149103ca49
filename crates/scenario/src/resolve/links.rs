//! Links by the names of their nodes.

use super::hosts::Names;
use crate::suggest;
use pathweave_fabric::{Cables, LinkId, NodeId, split_number};

/// The two ends of a cable "A-B". Names may hold hyphens themselves: the hyphen that leaves a known
/// node on both sides counts.
pub(super) fn split_cable<'a>(
    text: &'a str,
    known: &impl Fn(&str) -> bool,
) -> Result<(&'a str, &'a str), String> {
    let mut tried = None;
    for (position, _) in text.match_indices('-') {
        let (a, b) = (text[..position].trim(), text[position + 1..].trim());
        if known(a) && known(b) {
            return Ok((a, b));
        }
        tried = Some((a, b));
    }
    match tried {
        None => Err(format!(
            "\"{text}\" is not a cable; write its two nodes as \"A-B\""
        )),
        Some((a, b)) => {
            let missing = if known(a) { b } else { a };
            Err(format!(
                "no node is called \"{missing}\"; write two of the nodes as \"A-B\""
            ))
        }
    }
}

/// The links that a text names: "A->B", or "A-B" for both directions. Where several cables join the
/// two nodes, a number says which is meant, as in "A-B#2", or "#*" that all are.
pub(super) fn links(text: &str, names: &Names<'_>) -> Result<Vec<LinkId>, String> {
    let (text, cables) = split_number(text.trim());
    let (a, b, both) = match text.split_once("->") {
        Some((a, b)) => (a.trim(), b.trim(), false),
        None => {
            let (a, b) = split_cable(text, &|name| names.node(name).is_some()).map_err(
                |error| match error
                    .split_once('"')
                    .and_then(|(_, rest)| rest.split_once('"'))
                {
                    Some((name, _)) if error.starts_with("no node") => names.unknown_node(name),
                    _ => format!(
                        "\"{text}\" is not a link; write \"A->B\", or \"A-B\" for both directions"
                    ),
                },
            )?;
            (a, b, true)
        }
    };
    let find = |name: &str| names.node(name).ok_or_else(|| names.unknown_node(name));
    let (from, to) = (find(a)?, find(b)?);
    let there: Vec<LinkId> = names.fabric.links_between(from, to).collect();
    let chosen = match (there.as_slice(), cables) {
        ([], _) => {
            return Err(format!(
                "no cable joins \"{a}\" and \"{b}\"; \"{a}\" has cables to {}",
                neighbours(from, names)
            ));
        }
        ([_], None) | (_, Some(Cables::All)) => there,
        (_, None) => {
            return Err(format!(
                "\"{text}\" is ambiguous, because {} cables join \"{a}\" and \"{b}\"; write {}",
                there.len(),
                numbered(text, there.len())
            ));
        }
        (_, Some(Cables::Number(number))) => {
            let place = (number as usize).checked_sub(1);
            match place.and_then(|place| there.get(place)) {
                Some(&link) => vec![link],
                None => {
                    return Err(format!(
                        "no cable between \"{a}\" and \"{b}\" has the number {number}; write {}",
                        numbered(text, there.len())
                    ));
                }
            }
        }
    };
    // Links in the order of their numbers.
    let mut found: Vec<LinkId> = match both {
        true => chosen
            .iter()
            .flat_map(|link| [*link, link.reverse()])
            .collect(),
        false => chosen,
    };
    found.sort_unstable();
    Ok(found)
}

/// The names of the cables between two nodes, and of all of them together.
fn numbered(text: &str, count: usize) -> String {
    match count {
        1 => format!("\"{text}\""),
        2 => format!("\"{text}#1\" or \"{text}#2\", or \"{text}#*\" for both"),
        _ => format!("\"{text}#1\" to \"{text}#{count}\", or \"{text}#*\" for all"),
    }
}

/// All links from and to a node.
pub(super) fn links_of(node: NodeId, names: &Names<'_>) -> Vec<LinkId> {
    let touches = |id: &usize| {
        let link = &names.fabric.links[*id];
        link.from == node || link.to == node
    };
    (0..names.fabric.links.len())
        .filter(touches)
        .map(|id| LinkId(id as u32))
        .collect()
}

/// All links of a layer.
pub(super) fn links_of_layer(name: &str, names: &Names<'_>) -> Result<Vec<LinkId>, String> {
    let fabric = names.fabric;
    let Some(layer) = fabric.layers.iter().position(|layer| layer == name) else {
        let layers: Vec<&str> = fabric.layers.iter().map(String::as_str).collect();
        return Err(format!(
            "this fabric has no layer \"{name}\"; {}",
            suggest::accepted(name, &layers)
        ));
    };
    let all = (0u32..).zip(&fabric.links);
    let own = all.filter(|(_, link)| usize::from(link.layer.0) == layer);
    Ok(own.map(|(id, _)| LinkId(id)).collect())
}

fn neighbours(node: NodeId, names: &Names<'_>) -> String {
    let fabric = names.fabric;
    let links = fabric.links.iter().filter(|link| link.from == node);
    let list: Vec<&str> = links
        .map(|link| fabric.node(link.to).name.as_str())
        .collect();
    suggest::list(&list)
}
