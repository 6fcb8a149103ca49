//! Which hosts can reach which. Hosts do not forward, so this is not transitive: a host with ports in
//! two otherwise separate parts reaches both, but joins nothing.

use crate::{Adjacency, Fabric, NodeId};

/// For every host the connected parts of switches that it has a port to, and the hosts that it has a
/// cable to directly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reachability {
    /// Where each host's parts begin in `parts`, and a last entry for the end.
    offsets: Vec<u32>,
    /// Sorted for each host.
    parts: Vec<u32>,
    /// Pairs of host indexes joined by a cable, sorted, both ways round.
    neighbours: Vec<(u32, u32)>,
}

impl Reachability {
    /// Examines this fabric.
    pub fn new(fabric: &Fabric) -> Reachability {
        let adjacency = Adjacency::new(fabric);
        let part = connected_parts(fabric, &adjacency);
        let mut offsets = vec![0];
        let mut parts = Vec::new();
        let mut neighbours = Vec::new();
        for (index, &host) in fabric.hosts.iter().enumerate() {
            let begin = parts.len();
            for &link in adjacency.out(host) {
                let to = fabric.link(link).to;
                match fabric.node(to).host_index() {
                    Some(other) => neighbours.push((index as u32, other)),
                    None => parts.push(part[to.0 as usize]),
                }
            }
            parts[begin..].sort_unstable();
            offsets.push(parts.len() as u32);
        }
        neighbours.sort_unstable();
        Reachability {
            offsets,
            parts,
            neighbours,
        }
    }

    fn parts_of(&self, host: u32) -> &[u32] {
        let host = host as usize;
        &self.parts[self.offsets[host] as usize..self.offsets[host + 1] as usize]
    }

    /// Whether a path leads from one host to another host, given their indexes.
    pub fn between(&self, a: u32, b: u32) -> bool {
        let (first, second) = (self.parts_of(a), self.parts_of(b));
        a != b
            && (first.iter().any(|part| second.binary_search(part).is_ok())
                || self.neighbours.binary_search(&(a, b)).is_ok())
    }

    /// Whether all hosts have a port to the same part, so that each reaches all others. Nearly all fabrics are like that,
    /// and finding out takes time in proportion to the hosts.
    pub fn all_share_a_part(&self) -> bool {
        let hosts = self.offsets.len() as u32 - 1;
        hosts > 0
            && self
                .parts_of(0)
                .iter()
                .any(|part| (1..hosts).all(|host| self.parts_of(host).binary_search(part).is_ok()))
    }

    /// The first pair of hosts between which no path leads, if there is one. Patterns that pick
    /// random pairs need that there is none.
    pub fn first_gap(&self) -> Option<(u32, u32)> {
        let hosts = self.offsets.len() as u32 - 1;
        if self.all_share_a_part() {
            return None;
        }
        (0..hosts)
            .flat_map(|a| (a + 1..hosts).map(move |b| (a, b)))
            .find(|&(a, b)| !self.between(a, b))
    }
}

/// The number of the connected part that each switch belongs to; hosts keep `u32::MAX`.
fn connected_parts(fabric: &Fabric, adjacency: &Adjacency) -> Vec<u32> {
    let mut part = vec![u32::MAX; fabric.nodes.len()];
    let mut count = 0;
    let mut open = Vec::new();
    for start in 0..fabric.nodes.len() {
        if part[start] != u32::MAX || fabric.nodes[start].host_index().is_some() {
            continue;
        }
        part[start] = count;
        open.push(NodeId(start as u32));
        while let Some(node) = open.pop() {
            for &link in adjacency.out(node) {
                let to = fabric.link(link).to;
                let seen = part[to.0 as usize] != u32::MAX;
                if !seen && fabric.node(to).host_index().is_none() {
                    part[to.0 as usize] = count;
                    open.push(to);
                }
            }
        }
        count += 1;
    }
    part
}

impl Fabric {
    /// Finds out which hosts can reach which.
    pub fn reachability(&self) -> Reachability {
        Reachability::new(self)
    }
}
