//! Ports and inlets in the order of the nodes to which their links lead.

use crate::network::LinkSetup;
use crate::places::{Places, PortId};
use std::ops::Range;

/// The links that end at each node of a region, whether they begin there or in another region.
///
/// They are counted from zero, node by node.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// By page and input.
    ports: Box<[[PortId; Inputs::PAGE]]>,
    /// By port or inlet. Ports whose links end in another region have `u32::MAX`.
    of_ports: Box<[u32]>,
    /// By input: one past the last input of the node.
    ends: Box<[u32]>,
    /// By node: its first input.
    firsts: Box<[u32]>,
}

impl Inputs {
    /// Inputs that are looked through at a time.
    pub const PAGE: usize = 64;

    /// The inputs of the region that has these places.
    pub fn new(links: &[LinkSetup], places: &Places) -> Inputs {
        let all = places.links().iter().chain(places.inlets()).copied();
        let ports = (0..).map(PortId).zip(all);
        let mut inputs: Vec<(u32, PortId)> = ports
            .filter(|&(port, _)| places.far(port) != PortId::ELSEWHERE)
            .map(|(port, link)| (links[link as usize].to, port))
            .collect();
        inputs.sort_unstable();
        let mut of_ports = vec![u32::MAX; places.links().len() + places.inlets().len()];
        for (input, &(_, port)) in (0..).zip(&inputs) {
            of_ports[port.0 as usize] = input;
        }
        let past = |node: u32| inputs.partition_point(|&(other, _)| other <= node) as u32;
        let nodes = links.iter().map(|link| link.from.max(link.to) + 1).max();
        Inputs {
            ports: inputs
                .chunks(Inputs::PAGE)
                .map(|page| {
                    let mut ports = [PortId::ELSEWHERE; Inputs::PAGE];
                    for (port, &(_, own)) in ports.iter_mut().zip(page) {
                        *port = own;
                    }
                    ports
                })
                .collect(),
            of_ports: of_ports.into(),
            ends: inputs.iter().map(|&(node, _)| past(node)).collect(),
            firsts: (0..nodes.unwrap_or(0))
                .map(|node| node.checked_sub(1).map_or(0, past))
                .collect(),
        }
    }

    /// Number of inputs.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// The ports of a page of inputs, or the inlets.
    #[inline(always)]
    pub(crate) fn ports_of_page(&self, page: usize) -> &[PortId; Inputs::PAGE] {
        &self.ports[page]
    }

    /// The port, or the inlet, of an input.
    #[inline(always)]
    pub fn port(&self, input: usize) -> PortId {
        self.ports.as_flattened()[input]
    }

    /// The input where a port's packets arrive.
    #[inline(always)]
    pub fn of_port(&self, PortId(port): PortId) -> usize {
        self.of_ports[port as usize] as usize
    }

    /// One past the last input of the node that has this one.
    #[inline(always)]
    pub fn end_of_node(&self, input: usize) -> usize {
        self.ends[input] as usize
    }

    /// The inputs of a node.
    pub fn of_node(&self, node: u32) -> Range<usize> {
        let first = self.firsts[node as usize];
        let next = self.firsts.get(node as usize + 1);
        first as usize..next.map_or(self.count(), |&next| next as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::QueueConfig;
    use pathweave_units::{Rate, Time};

    #[test]
    fn every_link_is_an_input_of_the_node_where_it_ends() {
        let ends = [
            (4, 0),
            (0, 4),
            (1, 4),
            (4, 1),
            (4, 3),
            (3, 4),
            (0, 1),
            (1, 0),
        ];
        let links = ends.map(|(from, to)| LinkSetup {
            from,
            to,
            rate: Rate::from_gbps(1),
            delay: Time::from_micros(1),
            queue: QueueConfig::default(),
            agent: None,
            buffer: None,
        });
        for regions in [&[][..], &[0, 1, 0, 1, 0]] {
            let mut seen = 0;
            for places in Places::in_regions(&links, regions) {
                let inputs = Inputs::new(&links, &places);
                seen += inputs.count();
                for node in 0..5 {
                    for input in inputs.of_node(node) {
                        let port = inputs.port(input);
                        assert_eq!(inputs.of_port(port), input);
                        assert_eq!(links[places.link_of(port) as usize].to, node);
                        assert_eq!(inputs.end_of_node(input), inputs.of_node(node).end);
                    }
                }
            }
            assert_eq!(seen, links.len());
        }
    }
}
