//! Packets that are spread over all equal-cost paths, each drawing its own.

use crate::outlet::SubflowRoutes;
use pathweave_network::RouteId;
use pathweave_random::Stream;
use pathweave_transport::{Direction, SubflowIndex};

/// The routes of the subflows whose packets are spread.
#[derive(Debug)]
pub(crate) struct Sprays {
    stream: Stream,
    /// By the subflow's place; empty for subflows that keep to one path.
    routes: Vec<Vec<SubflowRoutes>>,
}

impl Sprays {
    pub fn new(seed: u64) -> Sprays {
        Sprays {
            stream: Stream::new(seed, "spray", 0),
            routes: Vec::new(),
        }
    }

    /// From now on the subflow's packets take these.
    pub fn set(&mut self, SubflowIndex(place): SubflowIndex, routes: Vec<SubflowRoutes>) {
        let place = place as usize;
        if self.routes.len() <= place {
            self.routes.resize(place + 1, Vec::new());
        }
        self.routes[place] = routes;
    }

    /// The routes of a subflow that is done, to be given back.
    pub fn take(&mut self, SubflowIndex(place): SubflowIndex) -> Vec<SubflowRoutes> {
        let routes = self.routes.get_mut(place as usize);
        routes.map(std::mem::take).unwrap_or_default()
    }

    /// All routes of a subflow; none if it keeps to one path.
    pub fn of(&self, SubflowIndex(place): SubflowIndex) -> &[SubflowRoutes] {
        self.routes.get(place as usize).map_or(&[], Vec::as_slice)
    }

    /// Draws the route of a packet.
    #[cold]
    #[inline(never)]
    pub fn draw(&mut self, SubflowIndex(place): SubflowIndex, direction: Direction) -> RouteId {
        let routes = &self.routes[place as usize];
        let drawn = routes[self.stream.below(routes.len() as u64) as usize];
        drawn.towards(direction)
    }
}
