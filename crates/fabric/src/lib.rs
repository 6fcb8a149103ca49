//! Nodes, links, topology builders, path sets and routing.
//!
//! A [`Fabric`] is a graph of hosts and switches. [`topology`] builds the usual shapes, [`routing`]
//! answers which links a subflow takes, and [`ideal`] says how long an empty fabric would need.

#![forbid(unsafe_code)]

mod adjacency;
mod graph;
pub mod ideal;
mod link_names;
pub mod path;
mod reachability;
pub mod routing;
pub mod topology;

pub use adjacency::Adjacency;
pub use graph::{Fabric, FabricError, Layer, Link, LinkId, Location, Node, NodeId, NodeKind};
pub use ideal::{PacketSizes, base_rtt, ideal_fct};
pub use link_names::{Cables, LinkNames, split_number};
pub use reachability::Reachability;
