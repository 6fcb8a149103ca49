//! Subflows get new routes when switches have noticed that links went down or came back.

use super::routes::add_subflow_routes;
use super::{FlowTable, SubflowEnds};
use crate::flows::flow::Flow;
use crate::flows::list::FlowList;
use crate::flows::paths::SubflowPaths;
use crate::regions::Regions;
use crate::regions::region::Region;
use pathweave_fabric::LinkId;
use pathweave_network::Ports;
use pathweave_transport::End;
use pathweave_units::Time;

impl FlowTable<'_> {
    /// Switches look for new paths for these flows. What is under way keeps to the old ones. Returns whether any path
    /// may differ.
    pub fn reroute<P: Ports>(
        &mut self,
        active: impl Iterator<Item = u32>,
        flows: &FlowList,
        regions: &mut Regions<P>,
        now: Time,
    ) -> bool {
        let is_up = |link| regions.network_of(link).is_up(link);
        if !self.routing.detect(self.plan, now, is_up) {
            return false;
        }
        let mut paths = std::mem::take(&mut self.room.paths);
        for number in active {
            let flow = &flows[number as usize];
            let Some(halves) = self.halves(number) else {
                continue;
            };
            for ends in halves.ends(number, flow.subflows) {
                self.routing
                    .find(self.plan, number, flow, ends.subflow, &mut paths);
                if !takes(ends, &paths, regions) {
                    self.change_routes(flow, ends, &paths, regions);
                }
            }
        }
        self.room.paths = paths;
        true
    }

    /// What a subflow sends from now on takes other paths. The old routes are given back with the
    /// connection, for packets may still be on them.
    fn change_routes<P: Ports>(
        &mut self,
        flow: &Flow,
        ends: SubflowEnds,
        paths: &SubflowPaths,
        regions: &mut Regions<P>,
    ) {
        let routes = add_subflow_routes(&mut self.path_list, flow, ends, paths, regions);
        let (sending, receiving) = (End::Sending(ends.sending), End::Receiving(ends.receiving));
        regions[ends.source].change_departure(sending, routes.forward, routes.sprayed);
        regions[ends.destination].change_departure(receiving, routes.back, routes.sprayed);
    }
}

/// Whether a subflow's routes are these paths.
fn takes<P: Ports>(ends: SubflowEnds, paths: &SubflowPaths, regions: &Regions<P>) -> bool {
    let (source, destination) = (&regions[ends.source], &regions[ends.destination]);
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
