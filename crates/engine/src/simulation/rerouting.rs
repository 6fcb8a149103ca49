//! Subflows get new routes when switches have noticed that links went down or came back.

use super::Simulation;
use crate::outlet::SubflowRoutes;
use crate::paths::SubflowPaths;
use crate::spray::SubflowEnds;
use pathweave_fabric::LinkId;
use pathweave_network::Port;
use pathweave_transport::{End, SendingSubflow};
use pathweave_units::Time;

impl<P: Port> Simulation<'_, P> {
    /// Switches look for new paths. What is under way keeps to the old ones.
    pub(super) fn reroute(&mut self, now: Time) {
        let network = &self.network;
        if !self
            .routing
            .detect(self.plan, now, |link| network.is_up(link))
        {
            return;
        }
        for number in self.workload.active.clone() {
            let flow = &self.workload.flows[number as usize];
            let Some(halves) = flow.halves else {
                continue;
            };
            for ends in self.ends(number, halves) {
                let flow = &self.workload.flows[number as usize];
                let paths = self.routing.paths(self.plan, number, flow, ends.subflow);
                if !self.takes(ends.sending, &paths) {
                    self.change_routes(ends, &paths);
                }
            }
        }
        self.end_if_nothing_can_happen();
    }

    /// Whether a subflow's routes are these paths.
    fn takes(&self, SendingSubflow(place): SendingSubflow, paths: &SubflowPaths) -> bool {
        let is = |route, path: &[LinkId]| {
            let links = self.network.links_of(route).into_iter();
            links.map(LinkId).eq(path.iter().copied())
        };
        match &paths.spread {
            Some(spread) => {
                let own = self.sprays.of(SendingSubflow(place));
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
    fn change_routes(&mut self, ends: SubflowEnds, paths: &SubflowPaths) {
        let place = ends.sending.0 as usize;
        let Some(old) = self.routes[place].take() else {
            return;
        };
        if self.retired.len() <= place {
            self.retired.resize(place + 1, Vec::new());
        }
        self.retired[place].extend((!old.sprayed).then_some(old));
        self.retired[place].extend(self.sprays.take(ends.sending));
        let routes = self.add_subflow_routes(ends, paths);
        self.routes[place] = Some(routes);
        let (sending, receiving) = (End::Sending(ends.sending), End::Receiving(ends.receiving));
        self.departures
            .change(sending, routes.forward, routes.sprayed);
        self.departures
            .change(receiving, routes.back, routes.sprayed);
        self.path_of[place] = self.path_list.place(paths);
    }

    /// Adds routes for a subflow's paths, and gives the one that stands for them.
    pub(super) fn add_subflow_routes(
        &mut self,
        ends: SubflowEnds,
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
        self.sprays.set(ends, all);
        first.unwrap_or_else(|| self.add_routes(&paths.forward, &paths.back, false))
    }

    fn add_routes(&mut self, forward: &[LinkId], back: &[LinkId], sprayed: bool) -> SubflowRoutes {
        let mut add = |path: &[LinkId]| self.network.add_route(path.iter().map(|link| link.0));
        SubflowRoutes {
            forward: add(forward),
            back: add(back),
            sprayed,
        }
    }
}
