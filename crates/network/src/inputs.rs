//! Ports and inlets in the order of the nodes to which their links lead.

use crate::places::{Places, PortId};
use crate::setup::LinkSetup;
use std::ops::Range;

/// The links that end at each node of a region, whether they begin there or in another region.
///
/// They are counted from zero, side by side and node by node. Each side begins with a page, and a page has all inputs of a
/// node or none, if they fit into one; so some numbers belong to no input.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// By page and input; [`PortId::ELSEWHERE`] for none.
    ports: Box<[[PortId; Inputs::PAGE]]>,
    /// By port or inlet. Ports whose links end in another region have `u32::MAX`.
    of_ports: Box<[u32]>,
    /// By page: a bit for each input, set if it is the last one of its node.
    last_of_nodes: Box<[u64]>,
    /// By node: its first input, and one past the last one.
    of_nodes: Box<[(u32, u32)]>,
    /// By side: its first page, and one past the last one.
    of_sides: Box<[(u32, u32)]>,
}

impl Inputs {
    /// Inputs that are looked through at a time.
    pub const PAGE: usize = 64;

    /// The inputs of the region that has these places; `sides` are their number, and which one a node is on.
    pub fn new(
        links: &[LinkSetup],
        places: &Places,
        (sides, side): (usize, impl Fn(u32) -> usize),
    ) -> Inputs {
        let all = places.links().iter().chain(places.inlets()).copied();
        let ports = (0..).map(PortId).zip(all);
        let mut inputs: Vec<(u32, PortId)> = ports
            .filter(|&(port, _)| places.far(port) != PortId::ELSEWHERE)
            .map(|(port, link)| (links[link as usize].to, port))
            .collect();
        inputs.sort_unstable();
        inputs.sort_by_key(|&(node, _)| side(node));
        let mut of_ports = vec![u32::MAX; places.links().len() + places.inlets().len()];
        let nodes = links.iter().map(|link| link.from.max(link.to) + 1).max();
        let mut of_nodes = vec![(0, 0); nodes.unwrap_or(0) as usize];
        let mut of_sides = vec![(0, 0); sides];
        let mut by_input = Vec::new();
        for own in inputs.chunk_by(|one, other| side(one.0) == side(other.0)) {
            let first_page = by_input.len() / Inputs::PAGE;
            for of_node in own.chunk_by(|one, other| one.0 == other.0) {
                // If a node's inputs fit into a page, they lie in one.
                let left = Inputs::PAGE - by_input.len() % Inputs::PAGE;
                if of_node.len() > left {
                    by_input.resize(by_input.len() + left % Inputs::PAGE, PortId::ELSEWHERE);
                }
                let first = by_input.len() as u32;
                let end = first + of_node.len() as u32;
                for (input, &(node, port)) in (first..).zip(of_node) {
                    of_ports[port.0 as usize] = input;
                    of_nodes[node as usize] = (first, end);
                    by_input.push(port);
                }
            }
            let pages = by_input.len().div_ceil(Inputs::PAGE);
            by_input.resize(pages * Inputs::PAGE, PortId::ELSEWHERE);
            of_sides[side(own[0].0)] = (first_page as u32, pages as u32);
        }
        let (pages, _) = by_input.as_chunks();
        let mut last_of_nodes = vec![0; pages.len()];
        for &(first, end) in &of_nodes {
            if first < end {
                let last = end as usize - 1;
                last_of_nodes[last / Inputs::PAGE] |= 1 << (last % Inputs::PAGE);
            }
        }
        Inputs {
            ports: pages.into(),
            of_ports: of_ports.into(),
            last_of_nodes: last_of_nodes.into(),
            of_nodes: of_nodes.into(),
            of_sides: of_sides.into(),
        }
    }

    /// Number of inputs, with those numbers that belong to none.
    pub fn count(&self) -> usize {
        self.last_of_nodes.len() * Inputs::PAGE
    }

    /// The ports of a page of inputs, or the inlets.
    #[inline(always)]
    pub fn ports_of_page(&self, page: usize) -> &[PortId; Inputs::PAGE] {
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
        let page = input / Inputs::PAGE;
        let left = self.last_of_nodes[page] >> (input % Inputs::PAGE);
        if left == 0 {
            return self.end_on_later_page(page);
        }
        input + left.trailing_zeros() as usize + 1
    }

    /// One past the last input of a node whose inputs go on after this page.
    #[cold]
    fn end_on_later_page(&self, page: usize) -> usize {
        let mut later = (page + 1..).zip(&self.last_of_nodes[page + 1..]);
        let Some((page, last)) = later.find(|(_, last)| **last != 0) else {
            unreachable!("each node has a last input")
        };
        page * Inputs::PAGE + last.trailing_zeros() as usize + 1
    }

    /// The inputs of a node.
    pub fn of_node(&self, node: u32) -> Range<usize> {
        let (first, end) = self.of_nodes[node as usize];
        first as usize..end as usize
    }

    /// The pages of a side's inputs.
    pub fn pages_of_side(&self, side: usize) -> Range<usize> {
        let (first, end) = self.of_sides[side];
        first as usize..end as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathweave_units::{Rate, Time};

    fn links(ends: impl IntoIterator<Item = (u32, u32)>) -> Vec<LinkSetup> {
        let link = |ends| LinkSetup::plain(ends, Rate::from_gbps(1), Time::from_micros(1));
        ends.into_iter().map(link).collect()
    }

    #[test]
    fn a_node_may_have_more_inputs_than_a_page_holds() {
        // The middle of a star has an input for each leaf, and each leaf has one.
        for leaves in [1, 63, 64, 65, 127, 128, 129, 300] {
            for (middle, sides) in [(0, 1), (leaves, 1), (0, 2), (leaves, 2)] {
                let others = (0..=leaves).filter(|&node| node != middle);
                let links = links(others.flat_map(|leaf| [(leaf, middle), (middle, leaf)]));
                let side = |node| usize::from(sides == 2 && node == middle);
                let inputs = Inputs::new(&links, &Places::new(&links), (sides, side));
                for node in 0..=leaves {
                    let own = inputs.of_node(node);
                    let expected = if node == middle { leaves } else { 1 };
                    assert_eq!(own.len(), expected as usize);
                    for input in own.clone() {
                        assert_eq!(inputs.end_of_node(input), own.end);
                    }
                }
            }
        }
    }

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
        let links = links(ends);
        let one = (1, (|_| 0) as fn(u32) -> usize);
        let two = (2, (|node| usize::from(node < 3)) as fn(u32) -> usize);
        for (regions, (sides, side)) in [
            (&[][..], one),
            (&[0, 1, 0, 1, 0], one),
            (&[], two),
            (&[0, 1, 0, 1, 0], two),
        ] {
            let mut seen = 0;
            for places in Places::in_regions(&links, regions) {
                let inputs = Inputs::new(&links, &places, (sides, side));
                for node in 0..5 {
                    let pages = inputs.pages_of_side(side(node));
                    for input in inputs.of_node(node) {
                        seen += 1;
                        assert!(pages.contains(&(input / Inputs::PAGE)));
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
