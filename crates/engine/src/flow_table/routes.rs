//! The routes of subflows: links that packets take one after another.

use super::{FlowTable, Halves, SubflowEnds};
use crate::flows::flow::Flow;
use crate::flows::paths::{PathList, SubflowPaths};
use crate::regions::Regions;
use crate::regions::region::{SprayName, SubflowRoutes};
use pathweave_fabric::LinkId;
use pathweave_network::Ports;
use pathweave_transport::{End, SendingSubflow};
use pathweave_units::Time;

impl FlowTable<'_> {
    /// Takes note of the path that the switches have chosen for a subflow so far.
    pub(super) fn note_chosen_path<P: Ports>(
        &mut self,
        ends: SubflowEnds,
        regions: &mut Regions<P>,
    ) {
        let region = &mut regions[ends.source];
        if region.network.fmp().is_some()
            && let Some(routes) = region.laid.own(ends.sending)
            && !routes.sprayed
        {
            let links = region.network.links_of(routes.forward);
            let links: Vec<LinkId> = links.into_iter().map(LinkId).collect();
            let path = self.path_list.place_of(&links);
            region.laid.set_path(ends.sending, path);
        }
    }

    /// Whether a flow cannot go on: no subflow has a path that carries anything, or one that switches may find.
    pub fn is_stuck<P: Ports>(&self, halves: Halves, regions: &Regions<P>) -> bool {
        let sending = &regions[halves.source].sending;
        sending.is_stuck(halves.sending, |subflow| {
            self.has_live_path(halves, subflow, regions)
        })
    }

    /// Whether a subflow's links, both ways, all carry something, or switches may still find others.
    fn has_live_path<P: Ports>(
        &self,
        halves: Halves,
        subflow: SendingSubflow,
        regions: &Regions<P>,
    ) -> bool {
        if self.routing.next_detection() < Time::MAX {
            return true;
        }
        let carries = |link| regions.carries(link);
        let (source, destination) = (&regions[halves.source], &regions[halves.destination]);
        source.laid.all(subflow).any(|routes| {
            source.network.has_live_path(routes.forward, carries)
                && destination.network.has_live_path(routes.back, carries)
        })
    }
}

/// Adds routes for a subflow's paths, which it takes from now on, and gives the one that stands for them.
pub(super) fn add_subflow_routes<P: Ports>(
    path_list: &mut PathList,
    flow: &Flow,
    ends: SubflowEnds,
    paths: &SubflowPaths,
    regions: &mut Regions<P>,
) -> SubflowRoutes {
    let mut sprayed = Vec::new();
    if let Some(spread) = &paths.spread {
        sprayed.extend(spread.iter().map(|path| {
            let back: Vec<LinkId> = path.iter().rev().map(|link| link.reverse()).collect();
            add_routes(ends, path, &back, true, regions)
        }));
    }
    let own = match sprayed.first() {
        Some(&first) => {
            spray(ends, &sprayed, regions);
            first
        }
        None if paths.by_switches => add_fmp_routes(flow, ends, regions),
        None => add_routes(ends, &paths.forward, &paths.back, false, regions),
    };
    let path = path_list.place(paths);
    let laid = &mut regions[ends.source].laid;
    laid.lay(ends.sending, own, sprayed, path);
    own
}

/// Routes of a subflow over these links, there and back.
fn add_routes<P: Ports>(
    ends: SubflowEnds,
    forward: &[LinkId],
    back: &[LinkId],
    sprayed: bool,
    regions: &mut Regions<P>,
) -> SubflowRoutes {
    let mut add = |region, path: &[LinkId]| {
        let links = path.iter().map(|link| link.0);
        regions[region].network.add_route(links)
    };
    SubflowRoutes {
        forward: add(ends.source, forward),
        back: add(ends.destination, back),
        sprayed,
    }
}

/// Routes of a subflow, there and back, whose links the switches choose.
fn add_fmp_routes<P: Ports>(
    flow: &Flow,
    ends: SubflowEnds,
    regions: &mut Regions<P>,
) -> SubflowRoutes {
    let (source, destination) = (flow.source, flow.destination);
    let network = &mut regions.first_mut().network;
    let mut add = |hosts| network.add_fmp_route(hosts, u64::from(ends.flow), ends.subflow);
    SubflowRoutes {
        forward: add((source, destination)),
        back: add((destination, source)),
        sprayed: false,
    }
}

/// The packets of a subflow draw from these routes from now on.
fn spray<P: Ports>(ends: SubflowEnds, routes: &[SubflowRoutes], regions: &mut Regions<P>) {
    let name = SprayName {
        flow: ends.flow,
        subflow: ends.subflow,
    };
    let forward = routes.iter().map(|routes| routes.forward).collect();
    regions[ends.source]
        .outgoing
        .sprays
        .set(End::Sending(ends.sending), name, forward);
    let back = routes.iter().map(|routes| routes.back).collect();
    regions[ends.destination]
        .outgoing
        .sprays
        .set(End::Receiving(ends.receiving), name, back);
}
