//! Who is hit when links go down, and when they have recovered.

use super::Simulation;
use crate::flows::SubflowEnds;
use crate::recovery::{Failure, Hit};
use pathweave_fabric::LinkId;
use pathweave_network::Ports;
use pathweave_scenario::Change;
use pathweave_units::{Bytes, Time};

impl<P: Ports> Simulation<'_, P> {
    /// Notes whom the links that are about to go down will hit.
    pub(super) fn note_failures(&mut self, now: Time) {
        let due = self.plan.events[self.changes_made..].iter();
        let links: Vec<LinkId> = due
            .take_while(|event| event.at <= now)
            .filter(|event| {
                event.change == Change::Down
                    && self.regions.network_of(event.link.0).is_up(event.link.0)
            })
            .map(|event| event.link)
            .collect();
        if links.is_empty() {
            return;
        }
        let mut fails = vec![false; self.plan.fabric.links.len()];
        for link in &links {
            fails[link.0 as usize] = true;
        }
        let failure = self.recoveries.failures.len() as u32;
        for flow in self.workload.under_way().collect::<Vec<u32>>() {
            let Some(halves) = self.workload.flows[flow as usize].halves else {
                continue;
            };
            let hit = self
                .ends(flow, halves)
                .filter(|ends| self.uses_any(ends, &fails));
            let subflows = hit.count() as u32;
            if subflows > 0 {
                let sent = self.regions[halves.source].sending.sent(halves.sending);
                let destination = &mut self.regions[halves.destination];
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
        self.decide_what_to_watch(now);
    }

    /// Whether a subflow uses one of these links, on the way there or back.
    fn uses_any(&self, ends: &SubflowEnds, links: &[bool]) -> bool {
        let mut routes = self.regions[ends.source].laid.all(ends.sending);
        routes.any(|routes| {
            let there = self.regions[ends.source].network.links_of(routes.forward);
            let back = self.regions[ends.destination].network.links_of(routes.back);
            there
                .into_iter()
                .chain(back)
                .any(|link| links[link as usize])
        })
    }
}
