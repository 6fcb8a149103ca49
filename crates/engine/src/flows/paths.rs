//! Which links the subflows of a run's flows use.

use crate::flows::flow::Flow;
use crate::listed::given;
use pathweave_fabric::LinkId;
use pathweave_fabric::routing::{PathRequest, Router, RoutingKind};
use pathweave_random::mix;
use pathweave_scenario::Plan;

/// A subflow's paths.
#[derive(Clone, Debug, Default)]
pub(crate) struct SubflowPaths {
    /// Of its data; empty when no path leads there.
    pub forward: Vec<LinkId>,
    /// Of its acknowledgements.
    pub back: Vec<LinkId>,
    /// Every packet takes one of these data paths instead; acknowledgements come back on them.
    pub spread: Option<Vec<Vec<LinkId>>>,
    /// The switches choose the paths while packets come; the others are what they might be.
    pub by_switches: bool,
}

impl SubflowPaths {
    /// Asks the routing for the paths of flow `number`'s subflow, which take the place of those that are here.
    pub fn find(&mut self, plan: &Plan, router: &Router, number: u32, flow: &Flow, subflow: u32) {
        let group = &plan.groups[flow.group as usize];
        let listed = flow.listed.map(|entry| &group.listed[entry as usize]);
        let pinned = listed.and_then(|listed| given(&listed.paths, subflow));
        let pinned_back = listed.and_then(|listed| given(&listed.ack_paths, subflow));
        let request = PathRequest {
            source: flow.source,
            destination: flow.destination,
            connection: connection(plan, number, flow),
            subflow,
            pinned,
        };
        router.data_path(&request, &mut self.forward);
        match pinned_back {
            Some(links) => {
                self.back.clear();
                self.back.extend_from_slice(links);
            }
            None => router.ack_path(&request, &self.forward, &mut self.back),
        }
        let scattered = subflow == 0 && group.controller_of(flow.listed).0.scatter().is_some();
        let spray = matches!(router.kind(), RoutingKind::Spray { .. });
        let spread = (spray && pinned.is_none()) || scattered;
        self.spread = spread.then(|| router.spread(flow.source, flow.destination));
        let by_switches = matches!(router.kind(), RoutingKind::Fmp(_)) && pinned.is_none();
        self.by_switches = by_switches && !spread;
    }
}

/// By what the routing tells a flow's connection from others: its number, or where flows between two hosts share a
/// connection, these hosts and the group.
fn connection(plan: &Plan, number: u32, flow: &Flow) -> u64 {
    if !plan.groups[flow.group as usize].pattern.keeps_connections() {
        return u64::from(number);
    }
    let hosts = u64::from(flow.source) << 32 | u64::from(flow.destination);
    // The highest bit keeps it apart from all numbers.
    mix(hosts ^ mix(u64::from(flow.group))) | 1 << 63
}

/// The data paths that tables name, each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathList {
    /// The links of all paths, one path after another.
    links: Vec<LinkId>,
    /// Where each path ends in `links`.
    ends: Vec<u32>,
    /// Where paths are found by a hash of their links. No more than two thirds of it are in use.
    slots: Vec<Slot>,
}

/// Where a path may be found.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// One more than its place; 0 where there is none.
    after: u32,
    hash: u32,
}

/// Slots of a list that has paths, at least.
const FEWEST_SLOTS: usize = 64;

impl PathList {
    /// The place of a subflow's path in the list. Packets that are spread have no path that could be
    /// named: theirs is empty.
    pub fn place(&mut self, paths: &SubflowPaths) -> u32 {
        match paths.spread {
            Some(_) => self.place_of(&[]),
            None => self.place_of(&paths.forward),
        }
    }

    /// The place of these links in the list.
    pub fn place_of(&mut self, named: &[LinkId]) -> u32 {
        if 3 * (self.ends.len() + 1) > 2 * self.slots.len() {
            self.grow();
        }
        let hash = hash(named);
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while let Some(place) = self.slots[slot].after.checked_sub(1) {
            if self.slots[slot].hash == hash && self.path(place as usize) == named {
                return place;
            }
            slot = (slot + 1) & mask;
        }
        self.push(named);
        let after = self.ends.len() as u32;
        self.slots[slot] = Slot { after, hash };
        after - 1
    }

    /// All paths, each as its links.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[LinkId]> {
        (0..self.ends.len()).map(|place| self.path(place))
    }

    /// The paths in the order in which these refer to them first, without those to which none does. The references are
    /// changed to it. No path is looked up any more.
    pub fn renumbered(self, places: &mut [u32]) -> PathList {
        let mut list = PathList {
            links: Vec::with_capacity(self.links.len()),
            ends: Vec::with_capacity(self.ends.len()),
            slots: Vec::new(),
        };
        let mut renumbered = vec![u32::MAX; self.ends.len()];
        for place in places {
            let new = &mut renumbered[*place as usize];
            if *new == u32::MAX {
                *new = list.ends.len() as u32;
                list.push(self.path(*place as usize));
            }
            *place = *new;
        }
        list
    }

    fn push(&mut self, path: &[LinkId]) {
        self.links.extend_from_slice(path);
        self.ends.push(self.links.len() as u32);
    }

    fn path(&self, place: usize) -> &[LinkId] {
        let from = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.links[from as usize..self.ends[place] as usize]
    }

    fn grow(&mut self) {
        let count = (2 * self.slots.len()).max(FEWEST_SLOTS);
        let old = std::mem::replace(&mut self.slots, vec![Slot::default(); count]);
        for taken in old.into_iter().filter(|slot| slot.after > 0) {
            let mut slot = taken.hash as usize & (count - 1);
            while self.slots[slot].after > 0 {
                slot = (slot + 1) & (count - 1);
            }
            self.slots[slot] = taken;
        }
    }
}

/// By which a path is found.
fn hash(path: &[LinkId]) -> u32 {
    // An odd factor with its bits all over the word (from the golden ratio).
    let add =
        |hash: u64, links: u64| (hash.rotate_left(23) ^ links).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let (pairs, rest) = path.as_chunks::<2>();
    let pairs = pairs
        .iter()
        .map(|[one, other]| u64::from(one.0) << 32 | u64::from(other.0));
    let last = rest.iter().map(|link| u64::from(link.0));
    mix(pairs.chain(last).fold(path.len() as u64, add)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_path_is_there_once() {
        let mut list = PathList::default();
        let path = |number: u32| -> Vec<LinkId> {
            (0..number % 7)
                .map(|hop| LinkId(number / 7 * 31 + hop))
                .collect()
        };
        let paths: Vec<Vec<LinkId>> = (0..3000).map(path).collect();
        let places: Vec<u32> = paths.iter().map(|path| list.place_of(path)).collect();
        let again: Vec<u32> = paths.iter().map(|path| list.place_of(path)).collect();
        assert_eq!(places, again);
        let all: Vec<&[LinkId]> = list.iter().collect();
        for (path, &place) in paths.iter().zip(&places) {
            assert_eq!(all[place as usize], path);
        }
        // Paths without links are all the same one.
        assert_eq!(all.len(), 3000 - 3000_usize.div_ceil(7) + 1);
    }

    #[test]
    fn paths_are_numbered_in_the_order_of_their_use() {
        let mut list = PathList::default();
        let path = |link: u32| [LinkId(link), LinkId(link + 1)];
        (0..5).for_each(|link| {
            list.place_of(&path(link));
        });
        let mut places = [4, 1, 4, 0];
        let list = list.renumbered(&mut places);
        assert_eq!(places, [0, 1, 0, 2]);
        assert!(list.iter().eq([path(4), path(1), path(0)]));
    }
}
