//! The ports of switches that lead to other regions.

use pathweave_network::{Inputs, LinkSetup, Places, PortId};
use pathweave_scenario::Plan;
use std::ops::Range;

/// By the end of a switch's inputs: its ports, from the first to the last one that leads to another region. Empty where none
/// does.
#[derive(Debug)]
pub(super) struct PortsOut(Box<[Range<u32>]>);

impl PortsOut {
    /// Of the region with these places and inputs.
    pub fn new(plan: &Plan, links: &[LinkSetup], places: &Places, inputs: &Inputs) -> PortsOut {
        let mut ports_out = Vec::new();
        for (port, &link) in (0u32..).zip(places.links()) {
            let from = links[link as usize].from;
            let is_host = plan.fabric.nodes[from as usize].host_index().is_some();
            if !is_host && places.leads_out(PortId(port)) {
                ports_out.resize(inputs.count() + 1, 0..0);
                let own = &mut ports_out[inputs.of_node(from).end];
                let first = if own.end == 0 { port } else { own.start };
                *own = first..port + 1;
            }
        }
        PortsOut(ports_out.into())
    }

    /// Those of the switch whose inputs end there, if it has some.
    #[inline(always)]
    pub fn of(&self, node_end: usize) -> Option<Range<u32>> {
        let ports = self.0.get(node_end)?;
        (ports.end > 0).then(|| ports.clone())
    }
}
