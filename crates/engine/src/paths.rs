//! Which links the subflows of a run's flows use.

use crate::flows::Flow;
use crate::workload::controller_of;
use pathweave_fabric::LinkId;
use pathweave_fabric::routing::{PathRequest, Router, RoutingKind};
use pathweave_random::mix;
use pathweave_scenario::Plan;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Most paths have no more links.
const USUAL_LINKS: usize = 8;

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
    /// Asks the routing for the paths of flow `number`'s subflow.
    pub fn of(
        plan: &Plan,
        router: &Router,
        number: u32,
        flow: &Flow,
        subflow: u32,
    ) -> SubflowPaths {
        let group = &plan.groups[flow.group as usize];
        let listed = flow.listed.map(|entry| &group.listed[entry as usize]);
        let pinned = listed.and_then(|listed| given(&listed.paths, subflow));
        let pinned_back = listed.and_then(|listed| given(&listed.ack_paths, subflow));
        let request = PathRequest {
            source: flow.source,
            destination: flow.destination,
            connection: u64::from(number),
            subflow,
            pinned,
        };
        let mut paths = SubflowPaths {
            forward: Vec::with_capacity(USUAL_LINKS),
            back: Vec::with_capacity(USUAL_LINKS),
            ..SubflowPaths::default()
        };
        router.data_path(&request, &mut paths.forward);
        match pinned_back {
            Some(links) => paths.back.extend_from_slice(links),
            None => router.ack_path(&request, &paths.forward, &mut paths.back),
        }
        let scattered = subflow == 0 && controller_of(group, flow.listed).0.scatter.is_some();
        let spray = matches!(router.kind(), RoutingKind::Spray { .. });
        if (spray && pinned.is_none()) || scattered {
            paths.spread = Some(router.spread(flow.source, flow.destination));
        } else if matches!(router.kind(), RoutingKind::Fmp(_)) && pinned.is_none() {
            paths.by_switches = true;
        }
        paths
    }
}

/// The path that a list from the scenario has for a subflow: one serves all.
pub(crate) fn given(paths: &[Vec<LinkId>], subflow: u32) -> Option<&[LinkId]> {
    let place = (subflow as usize).checked_rem(paths.len())?;
    Some(&paths[place])
}

/// The data paths that tables name, each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathList {
    pub paths: Vec<Vec<LinkId>>,
    /// Only looked up, never walked through, so that its order cannot reach any result.
    places: HashMap<Vec<LinkId>, u32, BuildHasherDefault<LinksHasher>>,
}

/// Hashes lists of links, which are no secret and need no keyed hash.
#[derive(Clone, Debug, Default)]
struct LinksHasher(u64);

impl Hasher for LinksHasher {
    fn finish(&self) -> u64 {
        mix(self.0)
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(u32::from(byte));
        }
    }
    fn write_usize(&mut self, count: usize) {
        self.write_u32(count as u32);
    }
    fn write_u32(&mut self, link: u32) {
        // An odd factor with its bits all over the word (from the golden ratio).
        self.0 = (self.0.rotate_left(23) ^ u64::from(link)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl PathList {
    /// The place of a subflow's path in the list. Packets that are spread have no path that could be
    /// named: theirs is empty.
    pub fn place(&mut self, paths: &SubflowPaths) -> u32 {
        match paths.spread {
            Some(_) => self.place_of(&[]),
            None => self.place_of(&paths.forward),
        }
    }

    /// Numbers the paths in the order in which these refer to them first, and forgets those to which none does. No
    /// path is added any more.
    pub fn renumber<'a>(&mut self, places: impl Iterator<Item = &'a mut u32>) {
        let mut old = std::mem::take(self).paths;
        let mut renumbered = vec![u32::MAX; old.len()];
        for place in places {
            let path = *place as usize;
            if renumbered[path] == u32::MAX {
                renumbered[path] = self.paths.len() as u32;
                self.paths.push(std::mem::take(&mut old[path]));
            }
            *place = renumbered[path];
        }
    }

    /// The place of these links in the list.
    pub fn place_of(&mut self, named: &[LinkId]) -> u32 {
        if let Some(&place) = self.places.get(named) {
            return place;
        }
        let place = self.paths.len() as u32;
        self.places.insert(named.to_vec(), place);
        self.paths.push(named.to_vec());
        place
    }
}
