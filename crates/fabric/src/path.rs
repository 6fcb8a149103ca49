//! Paths that a scenario gives by the names of their nodes.

use crate::{Fabric, FabricError, LinkId, NodeId};

/// The links along the named nodes. The two hosts at the ends may be left out. Between two nodes with
/// several cables the first cable is taken.
///
/// # Errors
/// When a name is unknown, two neighbours have no cable, the path passes through a host or a node
/// twice, or it does not lead from source to destination.
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
    let mut nodes: Vec<NodeId> = Vec::with_capacity(names.len() + 2);
    for name in names {
        let name = name.as_ref();
        let node = fabric
            .node_named(name)
            .ok_or_else(|| FabricError(unknown_node(fabric, name)))?;
        nodes.push(node);
    }
    if nodes.first() != Some(&from) {
        nodes.insert(0, from);
    }
    if nodes.len() < 2 || nodes.last() != Some(&to) {
        nodes.push(to);
    }
    let mut links = Vec::with_capacity(nodes.len() - 1);
    for pair in nodes.windows(2) {
        let link = fabric.link_between(pair[0], pair[1]).ok_or_else(|| {
            FabricError(format!(
                "no cable joins \"{}\" and \"{}\"",
                fabric.node(pair[0]).name,
                fabric.node(pair[1]).name
            ))
        })?;
        links.push(link);
    }
    check_path(fabric, source, destination, &links)?;
    Ok(links)
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
