//! A subflow's entries in the routing tables of the switches on its path.

use pathweave_units::Time;
use std::ops::{Deref, DerefMut};

/// A subflow's entry in the routing table of a switch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hop {
    pub switch: u32,
    pub link: u32,
    /// The port's price entry; [`NONE`](super::switch::NONE) on the last link to a host.
    pub entry: u32,
    /// When the last packet arrived.
    pub last: Time,
}

/// The most switches between two hosts of a fat-tree.
const IN_PLACE: usize = 5;

/// The entries, in the order in which they were made. Every packet looks one up at every switch, so the first few are
/// stored inline: a separate allocation would usually not be in the processor's cache.
#[derive(Clone, Debug, Default)]
pub(super) struct Hops {
    count: u32,
    in_place: [Hop; IN_PLACE],
    /// All entries, if they do not fit in place.
    all: Vec<Hop>,
}

impl Hops {
    pub fn push(&mut self, hop: Hop) {
        let count = self.count as usize;
        if count < IN_PLACE {
            self.in_place[count] = hop;
        } else {
            if count == IN_PLACE {
                self.all.clear();
                self.all.extend_from_slice(&self.in_place);
            }
            self.all.push(hop);
        }
        self.count += 1;
    }
}

impl Deref for Hops {
    type Target = [Hop];

    #[inline(always)]
    fn deref(&self) -> &[Hop] {
        let count = self.count as usize;
        self.in_place.get(..count).unwrap_or(&self.all)
    }
}

impl DerefMut for Hops {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Hop] {
        let count = self.count as usize;
        self.in_place.get_mut(..count).unwrap_or(&mut self.all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hops_stay_in_their_order_wherever_they_are() {
        let mut hops = Hops::default();
        for switch in 0..3 * IN_PLACE as u32 {
            let entry = switch + 1;
            hops.push(Hop {
                switch,
                entry,
                ..Hop::default()
            });
            hops[switch as usize / 2].link += 1;
            let found: Vec<u32> = hops.iter().map(|hop| hop.switch).collect();
            assert_eq!(found, (0..=switch).collect::<Vec<u32>>());
        }
        let links: Vec<u32> = hops.iter().map(|hop| hop.link).collect();
        assert_eq!(links[..8], [2, 2, 2, 2, 2, 2, 2, 1]);
        assert!(hops.iter().all(|hop| hop.entry == hop.switch + 1));
    }
}
