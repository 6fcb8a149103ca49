//! The fabric as a graph: hosts and switches, and the directed links between them.

use pathweave_units::{Rate, Time};
use std::collections::BTreeSet;
use std::fmt;

/// A node's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// A directed link's number. A cable is two links with numbers 2i and 2i + 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

impl LinkId {
    /// The other direction of the same cable.
    pub fn reverse(self) -> LinkId {
        LinkId(self.0 ^ 1)
    }
}

/// A layer's number, an index into [`Fabric::layers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Layer(pub u8);

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// Sends and receives.
    Host {
        /// Its number among the hosts.
        index: u32,
    },
    /// Forwards.
    Switch,
}

/// A host or a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Unique name, as scenarios and results show it.
    pub name: String,
    /// Host or switch.
    pub kind: NodeKind,
    /// Where it stands, for tables by location: hosts in one rack share it, and so on.
    /// [`Node::NOWHERE`] for switches above the racks.
    pub rack: u32,
    /// The pod of its rack; [`Node::NOWHERE`] for switches above the pods.
    pub pod: u32,
}

impl Node {
    /// The rack or pod of a switch that belongs to none.
    pub const NOWHERE: u32 = u32::MAX;

    /// Its number among the hosts, if it is one.
    pub fn host_index(&self) -> Option<u32> {
        match self.kind {
            NodeKind::Host { index } => Some(index),
            NodeKind::Switch => None,
        }
    }
}

/// How far apart two hosts stand, for tables by location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Location {
    /// In one rack.
    InnerRack,
    /// In different racks of one pod.
    InterRack,
    /// In different pods.
    InterPod,
}

impl Location {
    /// All locations, from near to far.
    pub const ALL: [Location; 3] = [Location::InnerRack, Location::InterRack, Location::InterPod];

    /// The name in results: "inner-rack", "inter-rack" or "inter-pod".
    pub fn as_str(self) -> &'static str {
        match self {
            Location::InnerRack => "inner-rack",
            Location::InterRack => "inter-rack",
            Location::InterPod => "inter-pod",
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One direction of a cable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The node that sends on it.
    pub from: NodeId,
    /// The node that receives from it.
    pub to: NodeId,
    /// Its rate.
    pub rate: Rate,
    /// Its propagation delay, one way.
    pub delay: Time,
    /// Its layer.
    pub layer: Layer,
}

/// A topology.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fabric {
    /// All nodes.
    pub nodes: Vec<Node>,
    /// All directed links; a cable's two directions stand next to each other.
    pub links: Vec<Link>,
    /// The hosts, in the order of their index.
    pub hosts: Vec<NodeId>,
    /// Names of the layers, for tables: "rack", "aggregation", "core", ...
    pub layers: Vec<String>,
    /// Links that carry nothing and that routing does not use, both directions of each cable.
    pub down: BTreeSet<LinkId>,
}

impl Fabric {
    /// The layer of this name, which is added when it is new.
    ///
    /// # Panics
    /// When there are 256 layers already.
    pub fn add_layer(&mut self, name: &str) -> Layer {
        let index = match self.layers.iter().position(|layer| layer == name) {
            Some(index) => index,
            None => {
                self.layers.push(name.to_owned());
                self.layers.len() - 1
            }
        };
        Layer(u8::try_from(index).expect("a fabric has at most 256 layers"))
    }

    /// Adds a host; hosts are numbered in the order in which they are added.
    pub fn add_host(&mut self, name: impl Into<String>, rack: u32, pod: u32) -> NodeId {
        let index = self.hosts.len() as u32;
        let id = self.add_node(name.into(), NodeKind::Host { index }, rack, pod);
        self.hosts.push(id);
        id
    }

    /// Adds a switch; one above the racks or pods belongs to none.
    pub fn add_switch(
        &mut self,
        name: impl Into<String>,
        rack: Option<u32>,
        pod: Option<u32>,
    ) -> NodeId {
        let rack = rack.unwrap_or(Node::NOWHERE);
        let pod = pod.unwrap_or(Node::NOWHERE);
        self.add_node(name.into(), NodeKind::Switch, rack, pod)
    }

    fn add_node(&mut self, name: String, kind: NodeKind, rack: u32, pod: u32) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(Node {
            name,
            kind,
            rack,
            pod,
        });
        id
    }

    /// Adds a cable and gives its link from `a` to `b`; the next number is the link from `b` to `a`.
    pub fn add_cable(
        &mut self,
        a: NodeId,
        b: NodeId,
        rate: Rate,
        delay: Time,
        layer: Layer,
    ) -> LinkId {
        let id = LinkId(self.links.len() as u32);
        for (from, to) in [(a, b), (b, a)] {
            self.links.push(Link {
                from,
                to,
                rate,
                delay,
                layer,
            });
        }
        id
    }

    /// The node of this number.
    #[inline]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// The link of this number.
    #[inline]
    pub fn link(&self, id: LinkId) -> &Link {
        &self.links[id.0 as usize]
    }

    /// Whether a link carries nothing.
    #[inline]
    pub fn is_down(&self, id: LinkId) -> bool {
        !self.down.is_empty() && self.down.contains(&id)
    }

    /// The host of this index.
    #[inline]
    pub fn host(&self, index: u32) -> &Node {
        self.node(self.hosts[index as usize])
    }

    /// The node of this name. Searches all nodes.
    pub fn node_named(&self, name: &str) -> Option<NodeId> {
        let index = self.nodes.iter().position(|node| node.name == name)?;
        Some(NodeId(index as u32))
    }

    /// The index of the host of this name. Searches all nodes.
    pub fn host_named(&self, name: &str) -> Option<u32> {
        self.node(self.node_named(name)?).host_index()
    }

    /// The first link from one node to another, if a cable joins them. Searches all links.
    pub fn link_between(&self, from: NodeId, to: NodeId) -> Option<LinkId> {
        self.links_between(from, to).next()
    }

    /// The links from one node to another, one for each cable that joins them, in the order of their numbers. Searches all links.
    pub fn links_between(&self, from: NodeId, to: NodeId) -> impl Iterator<Item = LinkId> {
        let links = (0u32..).zip(&self.links);
        let joins = move |(_, link): &(u32, &Link)| link.from == from && link.to == to;
        links.filter(joins).map(|(id, _)| LinkId(id))
    }

    /// How far apart two hosts stand, given their indexes.
    pub fn location(&self, a: u32, b: u32) -> Location {
        let (a, b) = (self.host(a), self.host(b));
        if a.pod != b.pod {
            Location::InterPod
        } else if a.rack != b.rack {
            Location::InterRack
        } else {
            Location::InnerRack
        }
    }

    /// The sum of the rates of a layer's cables in one direction: what a load of the layer is a share
    /// of, since a flow that crosses it loads one direction of a cable on its way up and the other
    /// direction of another on its way down.
    pub fn layer_capacity(&self, layer: Layer) -> Rate {
        let cables = self.links.iter().step_by(2);
        let rates = cables.filter(|link| link.layer == layer);
        Rate::from_bps(rates.map(|link| link.rate.as_bps()).sum())
    }

    /// Checks what every fabric must satisfy, however it was built: at least one host, unique names
    /// that are not empty, hosts with a cable, links in pairs between two existing nodes, rates above
    /// zero. Whether all hosts reach each other is another question: [`Fabric::reachability`].
    pub fn validate(&self) -> Result<(), FabricError> {
        let refuse = |text: String| Err(FabricError(text));
        if self.hosts.is_empty() {
            return refuse("the fabric has no host".to_owned());
        }
        let mut names = BTreeSet::new();
        for node in &self.nodes {
            if node.name.is_empty() {
                return refuse("a node has no name".to_owned());
            }
            if !names.insert(node.name.as_str()) {
                return refuse(format!(
                    "two nodes are called \"{}\"; names must be unique",
                    node.name
                ));
            }
        }
        if self.links.len() % 2 == 1 {
            return refuse("a link has no opposite direction".to_owned());
        }
        let mut cabled = vec![false; self.nodes.len()];
        for (index, link) in self.links.iter().enumerate() {
            let reverse = &self.links[index ^ 1];
            let exists = |node: NodeId| (node.0 as usize) < self.nodes.len();
            if !exists(link.from) || !exists(link.to) {
                return refuse(format!("link {index} ends at a node that does not exist"));
            }
            let name = || self.link_name(LinkId(index as u32));
            if (link.from, link.to) != (reverse.to, reverse.from) {
                return refuse(format!("link {} is not followed by its reverse", name()));
            }
            if link.from == link.to {
                let node = &self.node(link.from).name;
                return refuse(format!("a cable joins \"{node}\" to itself"));
            }
            if link.rate == Rate::ZERO {
                return refuse(format!("link {} has a rate of zero", name()));
            }
            if usize::from(link.layer.0) >= self.layers.len() {
                return refuse(format!("link {} is in a layer that does not exist", name()));
            }
            cabled[link.from.0 as usize] = true;
        }
        for &host in &self.hosts {
            if !cabled[host.0 as usize] {
                let name = &self.node(host).name;
                return refuse(format!("host \"{name}\" has no cable"));
            }
        }
        Ok(())
    }
}

/// Why a topology or a path cannot be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FabricError(pub String);

impl fmt::Display for FabricError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FabricError {}
