//! A fabric given as a list of nodes and cables.

use super::{Delay, check_rate, delay_stream};
use crate::{Fabric, FabricError, NodeId};
use pathweave_units::Rate;
use std::collections::BTreeMap;

/// One node of a [`Graph`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphNode {
    /// Unique name.
    pub name: String,
    /// Whether it sends and receives; otherwise it forwards.
    pub host: bool,
    /// Its rack, for tables by location. Hosts without one stand in the rack of the first switch
    /// that they have a cable to.
    pub rack: Option<u32>,
    /// Its pod; 0 when left out.
    pub pod: Option<u32>,
}

/// One cable of a [`Graph`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphCable {
    /// Name of the node at one end.
    pub a: String,
    /// Name of the node at the other end.
    pub b: String,
    /// Rate of each direction.
    pub rate: Rate,
    /// One-way delay.
    pub delay: Delay,
    /// Layer that tables count it under; "link" when left out.
    pub layer: Option<String>,
}

/// Nodes and cables one by one. Hosts are numbered in the order of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// The nodes.
    pub nodes: Vec<GraphNode>,
    /// The cables; several between the same two nodes are allowed.
    pub cables: Vec<GraphCable>,
}

impl Graph {
    /// Builds the fabric; see [`super::Topology::build`].
    pub fn build(&self, seed: u64) -> Result<Fabric, FabricError> {
        let mut delays = delay_stream(seed);
        let mut fabric = Fabric::default();
        let mut numbers: BTreeMap<&str, NodeId> = BTreeMap::new();
        // Racks that the list names come first; a switch without one gets the next free number.
        let mut next_rack = self
            .nodes
            .iter()
            .filter_map(|node| node.rack)
            .max()
            .map_or(0, |rack| rack.saturating_add(1));
        let mut unplaced = Vec::new();
        for node in &self.nodes {
            let pod = node.pod.unwrap_or(0);
            let id = if node.host {
                let id = fabric.add_host(node.name.clone(), node.rack.unwrap_or(0), pod);
                if node.rack.is_none() {
                    unplaced.push(id);
                }
                id
            } else {
                let rack = node.rack.unwrap_or_else(|| {
                    next_rack += 1;
                    next_rack - 1
                });
                fabric.add_switch(node.name.clone(), Some(rack), Some(pod))
            };
            if numbers.insert(&node.name, id).is_some() {
                return Err(FabricError(format!(
                    "two nodes are called \"{}\"; names must be unique",
                    node.name
                )));
            }
        }
        for (index, cable) in self.cables.iter().enumerate() {
            let find = |end: &str, name: &str| {
                numbers.get(name).copied().ok_or_else(|| {
                    FabricError(format!(
                        "cables[{index}].{end} is \"{name}\", which is not among the nodes"
                    ))
                })
            };
            let (a, b) = (find("a", &cable.a)?, find("b", &cable.b)?);
            check_rate(&format!("cables[{index}].rate"), cable.rate)?;
            cable.delay.check(&format!("cables[{index}].delay"))?;
            let layer = cable.layer.as_deref().unwrap_or("link");
            if fabric.layers.len() == 256 && !fabric.layers.iter().any(|name| name == layer) {
                return Err(FabricError(
                    "the cables name more than 256 layers".to_owned(),
                ));
            }
            let layer = fabric.add_layer(layer);
            fabric.add_cable(a, b, cable.rate, cable.delay.draw(&mut delays), layer);
        }
        place(&mut fabric, &unplaced);
        fabric.validate()?;
        Ok(fabric)
    }
}

/// Puts each of these hosts into the rack of the first switch that it has a cable to.
fn place(fabric: &mut Fabric, hosts: &[NodeId]) {
    let adjacency = fabric.adjacency();
    for &host in hosts {
        let switch = adjacency
            .out(host)
            .iter()
            .map(|&link| fabric.link(link).to)
            .find(|&node| fabric.node(node).host_index().is_none());
        if let Some(switch) = switch {
            fabric.nodes[host.0 as usize].rack = fabric.node(switch).rack;
        }
    }
}
