//! Which hosts a group's flows join, and whether and on how many paths they can.

use pathweave_fabric::routing::{Router, RoutingKind};
use pathweave_fabric::{Fabric, Reachability};
use std::cell::OnceCell;

/// Pairs of hosts that are looked at one by one; larger groups are checked by these many.
const MOST_PAIRS: usize = 1_000_000;

/// The pairs of hosts between which a group sends.
pub(crate) struct Pairs {
    pub sources: Vec<u32>,
    pub destinations: Vec<u32>,
    pub different_racks: bool,
    /// These and no others, where they are known one by one.
    pub only: Option<Vec<(u32, u32)>>,
}

impl Pairs {
    /// All pairs of different hosts, the first [`MOST_PAIRS`].
    pub fn each(&self, fabric: &Fabric) -> impl Iterator<Item = (u32, u32)> {
        let only = self.only.as_deref();
        let apart = move |a: u32, b: u32| {
            a != b && !(self.different_racks && fabric.host(a).rack == fabric.host(b).rack)
        };
        let sources = if only.is_some() {
            &[]
        } else {
            &self.sources[..]
        };
        let all = sources
            .iter()
            .flat_map(|&a| self.destinations.iter().map(move |&b| (a, b)));
        let only = only.unwrap_or_default().iter().copied();
        only.chain(all)
            .take(MOST_PAIRS)
            .filter(move |&(a, b)| apart(a, b))
    }
}

/// Answers questions about paths, building what it needs when first asked.
pub(crate) struct Reach<'a> {
    fabric: &'a Fabric,
    kind: &'a RoutingKind,
    reachability: Reachability,
    complete: bool,
    router: OnceCell<Option<Router>>,
}

impl<'a> Reach<'a> {
    pub fn new(fabric: &'a Fabric, kind: &'a RoutingKind) -> Reach<'a> {
        let reachability = fabric.reachability();
        let hosts = fabric.hosts.len() as u32;
        // Looking for a gap may take the square of the hosts: only small fabrics are searched.
        let complete =
            reachability.all_share_a_part() || hosts < 3000 && reachability.first_gap().is_none();
        Reach {
            fabric,
            kind,
            reachability,
            complete,
            router: OnceCell::new(),
        }
    }

    /// Whether a path leads from each host to each other one.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Whether a path leads from one host to another.
    pub fn between(&self, a: u32, b: u32) -> bool {
        self.complete || self.reachability.between(a, b)
    }

    /// The first pair that no path joins.
    pub fn first_gap(&self, pairs: &Pairs) -> Option<(u32, u32)> {
        if self.complete {
            return None;
        }
        pairs
            .each(self.fabric)
            .find(|&(a, b)| !self.reachability.between(a, b))
    }

    /// Number of different shortest paths between two hosts under the scenario's routing.
    pub fn path_count(&self, a: u32, b: u32) -> u64 {
        let router = self
            .router
            .get_or_init(|| Router::new(self.fabric, self.kind.clone(), 0).ok());
        router.as_ref().map_or(0, |router| router.path_count(a, b))
    }
}
