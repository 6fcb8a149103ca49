//! The links that leave each node, in one flat array.

use crate::{Fabric, LinkId, NodeId};

/// The links that leave each node, in the order of their numbers, without those that are down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adjacency {
    /// Where each node's links begin in `links`, and a last entry for the end.
    offsets: Vec<u32>,
    links: Vec<LinkId>,
}

impl Adjacency {
    /// Lists the links of this fabric.
    pub fn new(fabric: &Fabric) -> Adjacency {
        let mut offsets = vec![0u32; fabric.nodes.len() + 1];
        let up = || {
            let links = (0u32..).map(LinkId).zip(&fabric.links);
            links.filter(|&(id, _)| !fabric.is_down(id))
        };
        for (_, link) in up() {
            offsets[link.from.0 as usize + 1] += 1;
        }
        for node in 0..fabric.nodes.len() {
            offsets[node + 1] += offsets[node];
        }
        let mut next = offsets.clone();
        let mut links = vec![LinkId(0); fabric.links.len() - fabric.down.len()];
        for (id, link) in up() {
            let place = &mut next[link.from.0 as usize];
            links[*place as usize] = id;
            *place += 1;
        }
        Adjacency { offsets, links }
    }

    /// The links that leave this node.
    #[inline]
    pub fn out(&self, node: NodeId) -> &[LinkId] {
        let node = node.0 as usize;
        &self.links[self.offsets[node] as usize..self.offsets[node + 1] as usize]
    }
}

impl Fabric {
    /// Lists the links that leave each node.
    pub fn adjacency(&self) -> Adjacency {
        Adjacency::new(self)
    }
}
