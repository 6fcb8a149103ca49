//! Paths that a scenario gives by the names of their nodes.

use crate::{Cables, Fabric, FabricError, LinkId, NodeId, split_number};

/// The links along the named nodes. The two hosts at the ends may be left out. Where several cables lead to a node, its name is
/// followed by the number of one: "B#2".
///
/// # Errors
/// When a name is unknown, two neighbours have no cable or several of which none is chosen, the path passes through a host or a
/// node twice, or it does not lead from source to destination.
pub fn pinned_path<N: AsRef<str>>(
    fabric: &Fabric,
    source: u32,
    destination: u32,
    names: &[N],
) -> Result<Vec<LinkId>, FabricError> {
    let (from, to) = (
        fabric.hosts[source as usize],
        fabric.hosts[destination as usize],
    );
    let mut nodes: Vec<(NodeId, Option<Cables>)> = Vec::with_capacity(names.len() + 2);
    for name in names {
        let (name, cable) = split_number(name.as_ref());
        let node = fabric
            .node_named(name)
            .ok_or_else(|| FabricError(unknown_node(fabric, name)))?;
        nodes.push((node, cable));
    }
    if nodes.first().is_none_or(|first| first.0 != from) {
        nodes.insert(0, (from, None));
    }
    if let Some(Cables::Number(_) | Cables::All) = nodes[0].1 {
        return Err(FabricError(format!(
            "no cable leads to \"{}\", where the path begins",
            fabric.node(from).name
        )));
    }
    if nodes.len() < 2 || nodes.last().is_none_or(|last| last.0 != to) {
        nodes.push((to, None));
    }
    let mut links = Vec::with_capacity(nodes.len() - 1);
    for pair in nodes.windows(2) {
        links.push(link_of_step(fabric, pair[0].0, pair[1].0, pair[1].1)?);
    }
    check_path(fabric, source, destination, &links)?;
    Ok(links)
}

/// The link from one node to the next over the cable that a path names.
fn link_of_step(
    fabric: &Fabric,
    from: NodeId,
    to: NodeId,
    cable: Option<Cables>,
) -> Result<LinkId, FabricError> {
    let links: Vec<LinkId> = fabric.links_between(from, to).collect();
    let name = |node: NodeId| &fabric.node(node).name;
    let (a, b) = (name(from), name(to));
    let numbered = || match links.len() {
        1 => format!("\"{b}\""),
        2 => format!("\"{b}#1\" or \"{b}#2\""),
        count => format!("\"{b}#1\" to \"{b}#{count}\""),
    };
    let refuse = |text: String| Err(FabricError(text));
    match (links.as_slice(), cable) {
        ([], _) => refuse(format!("no cable joins \"{a}\" and \"{b}\"")),
        ([link], None) => Ok(*link),
        (_, None) => refuse(format!(
            "{} cables lead from \"{a}\" to \"{b}\", and \"{b}\" does not say which; write {}",
            links.len(),
            numbered()
        )),
        (_, Some(Cables::All)) => refuse(format!(
            "\"{b}#*\" is not one cable; a path takes {}",
            numbered()
        )),
        (links, Some(Cables::Number(number))) => {
            let place = (number as usize).checked_sub(1);
            match place.and_then(|place| links.get(place)) {
                Some(&link) => Ok(link),
                None => refuse(format!(
                    "no cable from \"{a}\" to \"{b}\" has the number {number}; write {}",
                    numbered()
                )),
            }
        }
    }
}

/// Checks that the links lead from one host to the other, through switches only and without passing
/// a node twice.
pub fn check_path(
    fabric: &Fabric,
    source: u32,
    destination: u32,
    path: &[LinkId],
) -> Result<(), FabricError> {
    let (from, to) = (
        fabric.hosts[source as usize],
        fabric.hosts[destination as usize],
    );
    let name = |node: NodeId| fabric.node(node).name.as_str();
    let refuse = |text: String| Err(FabricError(text));
    if from == to {
        return refuse(format!("\"{}\" cannot send to itself", name(from)));
    }
    let mut at = from;
    let mut passed = vec![from];
    for (index, &id) in path.iter().enumerate() {
        if id.0 as usize >= fabric.links.len() {
            return refuse(format!(
                "the path names link {}, which does not exist",
                id.0
            ));
        }
        let link = fabric.link(id);
        if link.from != at {
            return refuse(format!(
                "the path is broken: after \"{}\" comes a link from \"{}\"",
                name(at),
                name(link.from)
            ));
        }
        at = link.to;
        if passed.contains(&at) {
            return refuse(format!("the path passes \"{}\" twice", name(at)));
        }
        passed.push(at);
        if fabric.node(at).host_index().is_some() && index + 1 < path.len() {
            return refuse(format!(
                "the path passes through host \"{}\"; hosts do not forward",
                name(at)
            ));
        }
    }
    if at != to {
        return refuse(format!(
            "the path ends at \"{}\", not at \"{}\"",
            name(at),
            name(to)
        ));
    }
    Ok(())
}

/// Says that a node is unknown, and names those whose names begin alike, or the first few.
fn unknown_node(fabric: &Fabric, name: &str) -> String {
    const SHOWN: usize = 8;
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let alike = |node: &&str| !stem.is_empty() && node.starts_with(stem);
    let all = || fabric.nodes.iter().map(|node| node.name.as_str());
    let mut shown: Vec<&str> = all().filter(alike).take(SHOWN).collect();
    if shown.is_empty() {
        shown = all().take(SHOWN).collect();
    }
    let more = if shown.len() < fabric.nodes.len() {
        ", ..."
    } else {
        ""
    };
    format!(
        "no node is called \"{name}\"; there are {}{more}",
        shown.join(", ")
    )
}
