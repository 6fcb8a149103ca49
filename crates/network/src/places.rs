//! Where ports are kept: region by region and node by node, so that a packet's path can name the next one in a byte.

use crate::setup::LinkSetup;
use std::ops::Range;
use std::sync::Arc;

/// A port's place in its region. The ports of a node are neighbours. Behind them come the inlets, the ends of links
/// that begin in other regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PortId(pub u32);

impl PortId {
    /// A port of another region.
    pub(crate) const ELSEWHERE: PortId = PortId(u32::MAX);
}

/// The places of all links' ports, of which a region has some.
#[derive(Debug)]
struct AllPlaces {
    /// By link.
    ports: Box<[u32]>,
    /// By port.
    links: Box<[u32]>,
    /// By port: the first port of the node at the link's end.
    far: Box<[u32]>,
    /// By link: the number of its port among those of its node.
    steps: Box<[u32]>,
    /// By port: the region of that node, and the inlet there if it is another region than the port's.
    ends: Box<[(u32, PortId)]>,
}

/// The places of a region's ports, and what lies at their links' ends.
#[derive(Clone, Debug)]
pub struct Places {
    all: Arc<AllPlaces>,
    region: u32,
    own: Range<u32>,
    /// The links that end in this region and begin in another.
    inlets: Arc<[u32]>,
}

impl Places {
    /// Places for the ports of these links, all in one region: by the nodes where they begin, and there in the
    /// links' order.
    pub fn new(links: &[LinkSetup]) -> Places {
        let mut whole = Places::in_regions(links, &[]);
        whole.remove(0)
    }

    /// The same, where nodes are in these regions; those that are not listed are in the first. Regions are counted
    /// from zero, without a gap.
    pub fn in_regions(links: &[LinkSetup], region_of: &[u32]) -> Vec<Places> {
        let region = |node: u32| region_of.get(node as usize).copied().unwrap_or(0);
        let count = region_of.iter().max().map_or(1, |&last| last + 1);
        // Nodes in the order of their ports: by region, and there by number.
        let last_node = links.iter().map(|link| link.from.max(link.to)).max();
        let nodes = region_of
            .len()
            .max(last_node.map_or(0, |node| node as usize + 1));
        let mut in_order: Vec<u32> = (0..nodes as u32).collect();
        in_order.sort_by_key(|&node| region(node));
        let mut ports_of = vec![0; nodes];
        for link in links {
            ports_of[link.from as usize] += 1;
        }
        // The first port of each node. Nodes without ports get the place of the next one's: nothing goes on from there.
        let mut first = vec![0; nodes];
        let mut begins = vec![0; count as usize + 1];
        let mut ports_before = 0;
        for node in in_order {
            first[node as usize] = ports_before;
            ports_before += ports_of[node as usize];
            begins[region(node) as usize + 1] = ports_before;
        }
        debug_assert!(begins.is_sorted(), "regions are counted without a gap");
        let mut next = first.clone();
        let (mut ports, mut by_node) = (vec![0; links.len()], vec![0; links.len()]);
        for (link, setup) in (0..).zip(links) {
            let place = &mut next[setup.from as usize];
            ports[link as usize] = *place;
            by_node[*place as usize] = link;
            *place += 1;
        }
        let far = by_node
            .iter()
            .map(|&link| first[links[link as usize].to as usize]);
        let steps = links.iter().zip(&ports);
        let steps = steps.map(|(link, port)| port - first[link.from as usize]);
        let steps = steps.collect();
        let own = |region: u32| begins[region as usize]..begins[region as usize + 1];
        let mut inlets = vec![Vec::new(); count as usize];
        let ends = (0..).zip(&by_node).map(|(port, &link)| {
            let end = region(links[link as usize].to);
            let own = own(end);
            if own.contains(&port) {
                return (end, PortId::ELSEWHERE);
            }
            let inlets = &mut inlets[end as usize];
            inlets.push(link);
            (end, PortId((own.len() + inlets.len() - 1) as u32))
        });
        let ends = ends.collect();
        let all = Arc::new(AllPlaces {
            ports: ports.into(),
            far: far.collect(),
            steps,
            ends,
            links: by_node.into(),
        });
        let place = |(region, inlets): (u32, Vec<u32>)| Places {
            all: Arc::clone(&all),
            region,
            own: own(region),
            inlets: inlets.into(),
        };
        (0..).zip(inlets).map(place).collect()
    }

    /// Number of ports.
    #[inline]
    pub fn count(&self) -> u32 {
        self.own.len() as u32
    }

    /// Number of links in all regions.
    pub fn all_links(&self) -> u32 {
        self.all.links.len() as u32
    }

    /// Whether a link's port is in this region.
    pub fn holds(&self, link: u32) -> bool {
        self.own.contains(&self.all.ports[link as usize])
    }

    /// The port of a link of this region.
    #[inline]
    pub fn port_of(&self, link: u32) -> PortId {
        let port = self.all.ports[link as usize];
        debug_assert!(self.own.contains(&port), "link {link} is in another region");
        PortId(port.wrapping_sub(self.own.start))
    }

    /// The link of a port, or of an inlet.
    #[inline]
    pub fn link_of(&self, PortId(port): PortId) -> u32 {
        if port < self.count() {
            self.all.links[(self.own.start + port) as usize]
        } else {
            self.inlets[(port - self.count()) as usize]
        }
    }

    /// The links by port.
    #[inline]
    pub fn links(&self) -> &[u32] {
        &self.all.links[self.own.start as usize..self.own.end as usize]
    }

    /// The links that end in this region and begin in another: the first is the inlet [`Places::count`].
    pub fn inlets(&self) -> &[u32] {
        &self.inlets
    }

    /// The inlet of a link that begins in another region.
    pub(crate) fn inlet_of(&self, link: u32) -> PortId {
        let (_, inlet) = self.all.ends[self.all.ports[link as usize] as usize];
        inlet
    }

    /// The first port of the node at the end of a port's link, or of an inlet's; [`PortId::ELSEWHERE`] if the node is
    /// in another region.
    pub(crate) fn far(&self, port: PortId) -> PortId {
        let port = self.all.ports[self.link_of(port) as usize];
        if self.all.ends[port as usize].0 == self.region {
            PortId(self.all.far[port as usize] - self.own.start)
        } else {
            PortId::ELSEWHERE
        }
    }

    /// Whether the link of a port ends in another region.
    pub fn leads_out(&self, port: PortId) -> bool {
        self.end(port).0 != self.region
    }

    /// The region in which the link of a port ends, and the inlet there if it is another region.
    #[inline]
    pub(crate) fn end(&self, PortId(port): PortId) -> (u32, PortId) {
        self.all.ends[(self.own.start + port) as usize]
    }

    /// Which of its node's ports a link has, counted from zero.
    #[inline]
    pub(crate) fn step(&self, link: u32) -> u32 {
        self.all.steps[link as usize]
    }

    /// The link that goes on from the end of another by this step.
    pub(crate) fn after(&self, link: u32, step: u32) -> u32 {
        let here = self.all.far[self.all.ports[link as usize] as usize];
        self.all.links[(here + step) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathweave_units::{Rate, Time};

    /// A cable between neighbours of a row of nodes, both ways.
    fn row(nodes: u32) -> Vec<LinkSetup> {
        (1..nodes)
            .flat_map(|node| [(node - 1, node), (node, node - 1)])
            .map(|ends| LinkSetup::plain(ends, Rate::from_gbps(1), Time::ZERO))
            .collect()
    }

    #[test]
    fn regions_have_their_nodes_ports_and_the_ends_of_others_links() {
        let links = row(5);
        let regions = Places::in_regions(&links, &[0, 1, 1, 0, 2]);
        assert_eq!(regions.len(), 3);
        for link in 0..links.len() as u32 {
            let holders: Vec<&Places> =
                regions.iter().filter(|places| places.holds(link)).collect();
            let [places] = holders[..] else {
                panic!("one region has a link's port");
            };
            assert_eq!(places.link_of(places.port_of(link)), link);
            let (region, inlet) = places.end(places.port_of(link));
            let end = &regions[region as usize];
            let is_cut = !std::ptr::eq(end, places);
            assert_eq!(
                places.far(places.port_of(link)) == PortId::ELSEWHERE,
                is_cut
            );
            let inlets = regions
                .iter()
                .filter(|places| places.inlets().contains(&link));
            assert_eq!(inlets.count(), usize::from(is_cut));
            if is_cut {
                assert_eq!(end.inlet_of(link), inlet);
                assert_eq!(end.link_of(inlet), link);
                assert!(inlet.0 >= end.count() && end.far(inlet) != PortId::ELSEWHERE);
            }
        }
        let ports: u32 = regions.iter().map(Places::count).sum();
        assert_eq!(ports, links.len() as u32);
    }

    #[test]
    fn steps_are_the_same_however_nodes_are_divided() {
        let links = row(5);
        let whole = Places::new(&links);
        for places in Places::in_regions(&links, &[1, 0, 2, 0, 1]) {
            for link in (0..8).step_by(2) {
                for next in [link + 2, link + 1].into_iter().filter(|&next| next < 8) {
                    let step = places.step(next);
                    assert_eq!(step, whole.step(next));
                    assert_eq!(places.after(link, step), next);
                }
            }
        }
    }
}
