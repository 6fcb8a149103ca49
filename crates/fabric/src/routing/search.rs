//! Distances, numbers of paths and next hops from all switches to all destinations, breadth first.

use crate::{LinkId, NodeId};

/// Marks a switch that cannot reach a destination.
pub(super) const UNREACHABLE: u16 = u16::MAX;

/// A link to the next switch, and that one's number among the switches.
#[derive(Clone, Copy, Debug)]
pub(super) struct NextHop {
    pub link: LinkId,
    pub switch: u32,
}

/// Where next hops stand among all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hops {
    pub begin: u32,
    pub count: u32,
}

/// What was found last as the next hops of a switch. Most destinations have those of the one before.
#[derive(Clone, Debug)]
struct LastFound {
    /// Which of the switch's neighbours they are, as bits.
    nearer: Box<[u64]>,
    found: Hops,
}

/// The switches next to each switch, with the links there.
pub(super) struct Neighbours {
    hops: Vec<NextHop>,
    /// Where each switch's hops begin, and a last entry for the end.
    offsets: Vec<u32>,
}

impl Neighbours {
    pub fn new<H: Iterator<Item = NextHop>>(
        switches: &[NodeId],
        from: impl Fn(NodeId) -> H,
    ) -> Neighbours {
        let mut hops = Vec::new();
        let mut offsets = vec![0];
        for &node in switches {
            hops.extend(from(node));
            offsets.push(hops.len() as u32);
        }
        Neighbours { hops, offsets }
    }

    fn of(&self, switch: usize) -> &[NextHop] {
        &self.hops[self.offsets[switch] as usize..self.offsets[switch + 1] as usize]
    }

    /// No next hops, for each switch.
    fn nothing_found(&self) -> Vec<LastFound> {
        let counts = self.offsets.windows(2).map(|range| range[1] - range[0]);
        let nothing = counts.map(|count| LastFound {
            nearer: vec![0; count.div_ceil(u64::BITS) as usize].into(),
            found: Hops::default(),
        });
        nothing.collect()
    }
}

/// What is known of each switch's shortest paths to each destination: `destination x switches + switch`.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    /// Links from each switch to the last switch, or [`UNREACHABLE`].
    pub distance: Vec<u16>,
    /// Number of shortest paths from each switch to a host; saturates.
    pub count: Vec<u64>,
    /// Where the next hops are. Destinations share them.
    pub hops: Vec<Hops>,
    pub next: Vec<NextHop>,
}

impl Tables {
    /// Finds the paths to these destinations, each of which is given by its last switches. A switch that is named twice has
    /// twice the paths.
    pub fn new(destinations: &[&[u32]], neighbours: &Neighbours) -> Tables {
        let switches = neighbours.offsets.len() - 1;
        let mut distance = vec![UNREACHABLE; destinations.len() * switches];
        let mut count = vec![0u64; destinations.len() * switches];
        let mut hops = vec![Hops::default(); destinations.len() * switches];
        let mut next: Vec<NextHop> = Vec::new();
        let mut last = neighbours.nothing_found();
        let mut order: Vec<u32> = Vec::with_capacity(switches);
        for (number, at) in destinations.iter().enumerate() {
            let row = number * switches;
            let distance = &mut distance[row..row + switches];
            let count = &mut count[row..row + switches];
            order.clear();
            for &last in *at {
                if distance[last as usize] == UNREACHABLE {
                    distance[last as usize] = 0;
                    order.push(last);
                }
                count[last as usize] += 1;
            }
            // Breadth first. All that are nearer than a switch have been taken before it.
            let mut taken = 0;
            while taken < order.len() {
                let here = order[taken] as usize;
                taken += 1;
                let (own, mut paths) = (distance[here], count[here]);
                let last = &mut last[here];
                let mut others = false;
                let parts = neighbours.of(here).chunks(u64::BITS as usize);
                for (before, part) in last.nearer.iter_mut().zip(parts) {
                    let mut nearer = 0;
                    for (place, hop) in part.iter().enumerate() {
                        let there = hop.switch as usize;
                        if distance[there] < own {
                            nearer |= 1 << place;
                            paths = paths.saturating_add(count[there]);
                        } else if distance[there] == UNREACHABLE {
                            distance[there] = own + 1;
                            order.push(hop.switch);
                        }
                    }
                    others |= std::mem::replace(before, nearer) != nearer;
                }
                if others {
                    let begin = next.len() as u32;
                    let nearer = |hop: &&NextHop| distance[hop.switch as usize] < own;
                    next.extend(neighbours.of(here).iter().filter(nearer));
                    last.found = Hops {
                        begin,
                        count: next.len() as u32 - begin,
                    };
                }
                count[here] = paths;
                hops[row + here] = last.found;
            }
        }
        next.shrink_to_fit();
        Tables {
            distance,
            count,
            hops,
            next,
        }
    }

    /// The next hops of a switch that is not the last before the destination.
    #[inline]
    pub fn next_hops(&self, row: usize) -> &[NextHop] {
        let Hops { begin, count } = self.hops[row];
        &self.next[begin as usize..(begin + count) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tables of leaf switches, which are the destinations, each of which has a link to each spine switch. Leaves have
    /// the first numbers.
    fn of_leaves_and_spines(leaves: u32, spines: u32) -> Tables {
        let nodes: Vec<NodeId> = (0..leaves + spines).map(NodeId).collect();
        let neighbours = Neighbours::new(&nodes, |NodeId(node)| {
            let others = if node < leaves {
                leaves..leaves + spines
            } else {
                0..leaves
            };
            let link = move |other| LinkId(node << 16 | other);
            others.map(move |switch| NextHop {
                link: link(switch),
                switch,
            })
        });
        let last: Vec<u32> = (0..leaves).collect();
        let destinations: Vec<&[u32]> = last.chunks(1).collect();
        Tables::new(&destinations, &neighbours)
    }

    #[test]
    fn leaves_use_all_spines_and_spines_use_one_link() {
        // Neighbours are noted in words of 64.
        for (leaves, spines) in [(2, 1), (8, 4), (3, 63), (3, 64), (3, 65), (130, 3)] {
            let tables = of_leaves_and_spines(leaves, spines);
            let switches = leaves + spines;
            for destination in 0..leaves {
                for switch in 0..switches {
                    let row = (destination * switches + switch) as usize;
                    let (distance, expected) = match switch {
                        _ if switch == destination => (0, 0..0),
                        _ if switch < leaves => (2, leaves..switches),
                        _ => (1, destination..destination + 1),
                    };
                    assert_eq!(tables.distance[row], distance);
                    assert_eq!(tables.count[row], expected.len().max(1) as u64);
                    let next = tables.next_hops(row).iter();
                    assert!(next.clone().map(|hop| hop.switch).eq(expected));
                    assert!(next.clone().all(|hop| hop.link.0 >> 16 == switch));
                }
            }
        }
    }

    #[test]
    fn destinations_share_next_hops() {
        let (leaves, spines) = (64, 32);
        let stored = of_leaves_and_spines(leaves, spines).next.len() as u32;
        // A leaf has the same ones for all other leaves, before and after itself; a spine has one for each leaf.
        assert!(stored <= 2 * leaves * spines + spines * leaves);
    }
}
