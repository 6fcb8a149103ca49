//! Subflows get new routes when switches have noticed that links went down or came back.

use super::Simulation;
use crate::flows::SubflowEnds;
use crate::paths::SubflowPaths;
use crate::region::{Region, SprayName, SubflowRoutes};
use pathweave_fabric::LinkId;
use pathweave_network::Ports;
use pathweave_transport::End;
use pathweave_units::Time;

impl<P: Ports> Simulation<'_, P> {
    /// Switches look for new paths. What is under way keeps to the old ones.
    pub(super) fn reroute(&mut self, now: Time) {
        let regions = &self.regions;
        let is_up = |link| regions.network_of(link).is_up(link);
        if !self.routing.detect(self.plan, now, is_up) {
            return;
        }
        for number in self.workload.active.iter().collect::<Vec<u32>>() {
            let flow = &self.workload.flows[number as usize];
            let Some(halves) = flow.halves else {
                continue;
            };
            let mut paths = std::mem::take(&mut self.paths);
            for ends in self.ends(number, halves) {
                let flow = &self.workload.flows[number as usize];
                self.routing
                    .find(self.plan, number, flow, ends.subflow, &mut paths);
                if !self.takes(ends, &paths) {
                    self.change_routes(ends, &paths);
                }
            }
            self.paths = paths;
        }
        self.end_if_nothing_can_happen();
    }

    /// Whether a subflow's routes are these paths.
    fn takes(&self, ends: SubflowEnds, paths: &SubflowPaths) -> bool {
        let (source, destination) = (&self.regions[ends.source], &self.regions[ends.destination]);
        let is = |region: &Region<P>, route, path: &[LinkId]| {
            let links = region.network.links_of(route).into_iter();
            links.map(LinkId).eq(path.iter().copied())
        };
        match &paths.spread {
            Some(spread) => {
                let own = source.laid.sprayed(ends.sending);
                own.len() == spread.len()
                    && own
                        .iter()
                        .zip(spread)
                        .all(|(own, path)| is(source, own.forward, path))
            }
            None => source.laid.own(ends.sending).is_some_and(|own| {
                is(source, own.forward, &paths.forward) && is(destination, own.back, &paths.back)
            }),
        }
    }

    /// What a subflow sends from now on takes other paths. The old routes are given back with the
    /// connection, for packets may still be on them.
    fn change_routes(&mut self, ends: SubflowEnds, paths: &SubflowPaths) {
        let routes = self.add_subflow_routes(ends, paths);
        let (sending, receiving) = (End::Sending(ends.sending), End::Receiving(ends.receiving));
        self.regions[ends.source]
            .departures
            .change(sending, routes.forward, routes.sprayed);
        self.regions[ends.destination]
            .departures
            .change(receiving, routes.back, routes.sprayed);
    }

    /// Adds routes for a subflow's paths, which it takes from now on, and gives the one that stands for them.
    pub(super) fn add_subflow_routes(
        &mut self,
        ends: SubflowEnds,
        paths: &SubflowPaths,
    ) -> SubflowRoutes {
        let sprayed: Vec<SubflowRoutes> = paths
            .spread
            .iter()
            .flatten()
            .map(|path| {
                let back: Vec<LinkId> = path.iter().rev().map(|link| link.reverse()).collect();
                self.add_routes(ends, path, &back, true)
            })
            .collect();
        let own = match sprayed.first() {
            Some(&first) => first,
            None if paths.by_switches => self.add_fmp_routes(ends),
            None => self.add_routes(ends, &paths.forward, &paths.back, false),
        };
        if !sprayed.is_empty() {
            self.spray(ends, &sprayed);
        }
        let path = self.path_list.place(paths);
        let laid = &mut self.regions[ends.source].laid;
        laid.lay(ends.sending, own, sprayed, path);
        own
    }

    /// The packets of a subflow draw from these routes from now on.
    fn spray(&mut self, ends: SubflowEnds, routes: &[SubflowRoutes]) {
        let name = SprayName {
            flow: ends.flow,
            subflow: ends.subflow,
        };
        let forward = routes.iter().map(|routes| routes.forward).collect();
        self.regions[ends.source]
            .sprays
            .set(End::Sending(ends.sending), name, forward);
        let back = routes.iter().map(|routes| routes.back).collect();
        self.regions[ends.destination]
            .sprays
            .set(End::Receiving(ends.receiving), name, back);
    }

    fn add_routes(
        &mut self,
        ends: SubflowEnds,
        forward: &[LinkId],
        back: &[LinkId],
        sprayed: bool,
    ) -> SubflowRoutes {
        let links = &mut self.links;
        let mut add = |region, path: &[LinkId]| {
            links.clear();
            links.extend(path.iter().map(|link| link.0));
            self.regions[region].network.add_route(links)
        };
        SubflowRoutes {
            forward: add(ends.source, forward),
            back: add(ends.destination, back),
            sprayed,
        }
    }
}
