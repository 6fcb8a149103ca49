//! Subflows get new routes when switches have noticed that links went down or came back.

use super::Simulation;
use crate::outlet::SubflowRoutes;
use crate::paths::SubflowPaths;
use pathweave_fabric::LinkId;
use pathweave_network::Ports;
use pathweave_transport::SubflowIndex;
use pathweave_units::Time;

impl<P: Ports> Simulation<'_, P> {
    /// Switches look for new paths. What is under way keeps to the old ones.
    pub(super) fn reroute(&mut self, now: Time) {
        let network = &self.network;
        if !self
            .routing
            .detect(self.plan, now, |link| network.is_up(link))
        {
            return;
        }
        for number in self.workload.active.iter().copied().collect::<Vec<u32>>() {
            let flow = &self.workload.flows[number as usize];
            let Some(connection) = flow.connection else {
                continue;
            };
            for (subflow, index) in (0..).zip(self.endpoints.subflows(connection)) {
                let flow = &self.workload.flows[number as usize];
                let paths = self.routing.paths(self.plan, number, flow, subflow);
                if !self.takes(index, &paths) {
                    self.change_routes(index, &paths);
                }
            }
        }
        self.end_if_nothing_can_happen();
    }

    /// Whether a subflow's routes are these paths.
    fn takes(&self, SubflowIndex(place): SubflowIndex, paths: &SubflowPaths) -> bool {
        let is = |route, path: &[LinkId]| {
            let links = self.network.links_of(route).into_iter();
            links.map(LinkId).eq(path.iter().copied())
        };
        match &paths.spread {
            Some(spread) => {
                let own = self.sprays.of(SubflowIndex(place));
                own.len() == spread.len()
                    && own
                        .iter()
                        .zip(spread)
                        .all(|(own, path)| is(own.forward, path))
            }
            None => self.routes[place as usize].is_some_and(|own: SubflowRoutes| {
                is(own.forward, &paths.forward) && is(own.back, &paths.back)
            }),
        }
    }

    /// What a subflow sends from now on takes other paths. The old routes are given back with the
    /// connection, for packets may still be on them.
    fn change_routes(&mut self, index: SubflowIndex, paths: &SubflowPaths) {
        let SubflowIndex(place) = index;
        let place = place as usize;
        let Some(old) = self.routes[place].take() else {
            return;
        };
        if self.retired.len() <= place {
            self.retired.resize(place + 1, Vec::new());
        }
        self.retired[place].extend((!old.sprayed).then_some(old));
        self.retired[place].extend(self.sprays.take(index));
        let routes = self.add_subflow_routes(index, paths);
        self.routes[place] = Some(SubflowRoutes {
            captured: old.captured,
            ..routes
        });
        self.path_of[place] = self.path_list.place(paths);
    }

    /// Adds routes for a subflow's paths, and gives the one that stands for them.
    pub(super) fn add_subflow_routes(
        &mut self,
        index: SubflowIndex,
        paths: &SubflowPaths,
    ) -> SubflowRoutes {
        let Some(spread) = &paths.spread else {
            return self.add_routes(&paths.forward, &paths.back, false);
        };
        let all: Vec<SubflowRoutes> = spread
            .iter()
            .map(|path| {
                let back: Vec<LinkId> = path.iter().rev().map(|link| link.reverse()).collect();
                self.add_routes(path, &back, true)
            })
            .collect();
        let first = all.first().copied();
        self.sprays.set(index, all);
        first.unwrap_or_else(|| self.add_routes(&paths.forward, &paths.back, false))
    }

    fn add_routes(&mut self, forward: &[LinkId], back: &[LinkId], sprayed: bool) -> SubflowRoutes {
        let mut add = |path: &[LinkId]| {
            let links: Vec<u32> = path.iter().map(|link| link.0).collect();
            self.network.add_route(&links)
        };
        SubflowRoutes {
            forward: add(forward),
            back: add(back),
            sprayed,
            captured: false,
        }
    }
}
