//! Who is hit when links go down, and when they have recovered.

use super::{Recorded, Recorder, decide_what_to_watch};
use crate::flow_table::{Halves, SubflowEnds};
use crate::flows::flow::Flow;
use crate::flows::routing::Routing;
use crate::measurement::recovery::{Failure, Hit};
use crate::regions::Regions;
use pathweave_fabric::LinkId;
use pathweave_network::Ports;
use pathweave_scenario::{Change, LinkChange};
use pathweave_units::{Bytes, Time};

impl Recorder<'_> {
    /// Notes whom the links that these changes are about to take down will hit.
    pub fn note_failures<P: Ports>(
        &mut self,
        due: &[LinkChange],
        flows: Recorded<'_>,
        regions: &mut Regions<P>,
        now: Time,
    ) {
        let is_up = |link: u32| regions.network_of(link).is_up(link);
        let fail = |event: &&LinkChange| event.change == Change::Down && is_up(event.link.0);
        let links: Vec<LinkId> = due.iter().filter(fail).map(|event| event.link).collect();
        if links.is_empty() {
            return;
        }
        let mut fails = vec![false; self.plan.fabric.links.len()];
        for link in &links {
            fails[link.0 as usize] = true;
        }
        let failure = self.recoveries.failures.len() as u32;
        for (flow, halves) in flows.under_way() {
            let ends = halves.ends(flow, flows.workload.flows[flow as usize].subflows);
            let hit = ends.filter(|ends| uses_any(ends, &fails, regions));
            let subflows = hit.count() as u32;
            if subflows > 0 {
                let sent = regions[halves.source].sending.sent(halves.sending);
                let destination = &mut regions[halves.destination];
                let delivered = destination.receiving.delivered(halves.receiving);
                destination.recoveries.add(Hit {
                    failure,
                    flow,
                    subflows,
                    target: sent.max(delivered + Bytes::new(1)),
                    recovered: None,
                });
            }
        }
        self.recoveries.failures.push(Failure { at: now, links });
        decide_what_to_watch(regions, now);
    }
}

impl Recorder<'_> {
    /// Notes failures that hit a flow which begins now, because switches have not noticed them. Not part of the start of other
    /// flows, which are many.
    #[cold]
    #[inline(never)]
    pub fn note_begun<P: Ports>(
        &self,
        number: u32,
        flow: &Flow,
        halves: Halves,
        routing: &Routing,
        regions: &mut Regions<P>,
        now: Time,
    ) {
        if self.recoveries.failures.is_empty() {
            return;
        }
        let ends = halves.ends(number, flow.subflows);
        let dead: Vec<Vec<LinkId>> = ends
            .map(|ends| {
                let is_dead = |link: &LinkId| {
                    routing.takes_for_up(*link) && !regions.network_of(link.0).is_up(link.0)
                };
                let mut links = links_of(&ends, regions);
                links.retain(is_dead);
                links
            })
            .collect();
        let dead = dead.into_iter().map(Vec::into_iter);
        let hits = self.recoveries.hits_at_start(number, dead);
        if hits.is_empty() {
            return;
        }
        let destination = &mut regions[halves.destination];
        for hit in hits {
            destination.recoveries.add(hit);
        }
        destination.decide_what_to_watch(now);
    }
}

/// The links that a subflow may use, on the way there or back.
fn links_of<P: Ports>(ends: &SubflowEnds, regions: &Regions<P>) -> Vec<LinkId> {
    let mut links = Vec::new();
    for routes in regions[ends.source].laid.all(ends.sending) {
        let there = regions[ends.source].network.links_of(routes.forward);
        let back = regions[ends.destination].network.links_of(routes.back);
        links.extend(there.into_iter().chain(back).map(LinkId));
    }
    links
}

/// Whether a subflow uses one of these links, on the way there or back.
fn uses_any<P: Ports>(ends: &SubflowEnds, links: &[bool], regions: &Regions<P>) -> bool {
    let mut routes = regions[ends.source].laid.all(ends.sending);
    routes.any(|routes| {
        let there = regions[ends.source].network.links_of(routes.forward);
        let back = regions[ends.destination].network.links_of(routes.back);
        there
            .into_iter()
            .chain(back)
            .any(|link| links[link as usize])
    })
}
