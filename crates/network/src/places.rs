//! Where ports are kept: node by node, so that a packet's path can name the next one in a byte.

use crate::network::LinkSetup;

/// A port's place. The ports of a node are neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PortId(pub u32);

/// The place of each link's port, and what lies at the link's end.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// By link.
    ports: Box<[PortId]>,
    /// By port.
    links: Box<[u32]>,
    /// By port: the first port of the node at the link's end.
    far: Box<[PortId]>,
}

impl Places {
    /// Places for the ports of these links: by the nodes where they begin, and there in the links' order.
    pub fn new(links: &[LinkSetup]) -> Places {
        let mut by_node: Vec<u32> = (0..links.len() as u32).collect();
        by_node.sort_by_key(|&link| links[link as usize].from);
        let mut ports = vec![PortId(0); links.len()];
        for (place, &link) in (0..).zip(&by_node) {
            ports[link as usize] = PortId(place);
        }
        let far = by_node.iter().map(|&link| {
            let node = links[link as usize].to;
            // Nodes without ports get the place of the next one's: nothing goes on from there.
            PortId(by_node.partition_point(|&other| links[other as usize].from < node) as u32)
        });
        Places {
            ports: ports.into(),
            far: far.collect(),
            links: by_node.into(),
        }
    }

    /// Number of ports.
    pub fn count(&self) -> u32 {
        self.links.len() as u32
    }

    /// The port of a link.
    #[inline]
    pub fn port_of(&self, link: u32) -> PortId {
        self.ports[link as usize]
    }

    /// The link of a port.
    #[inline]
    pub fn link_of(&self, port: PortId) -> u32 {
        self.links[port.0 as usize]
    }

    /// The links of all ports, in the order of the ports.
    pub fn links(&self) -> &[u32] {
        &self.links
    }

    /// The first port of the node at the end of a port's link.
    #[inline]
    pub(crate) fn far(&self, port: PortId) -> PortId {
        self.far[port.0 as usize]
    }
}
