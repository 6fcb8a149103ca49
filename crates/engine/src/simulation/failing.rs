//! Who is hit when links go down, and when they have recovered.

use super::Simulation;
use crate::recovery::{Failure, Hit};
use pathweave_fabric::LinkId;
use pathweave_network::Port;
use pathweave_scenario::Change;
use pathweave_transport::{ReceivingSubflow, SendingSubflow};
use pathweave_units::{Bytes, Time};

impl<P: Port> Simulation<'_, P> {
    /// Notes whom the links that are about to go down will hit.
    pub(super) fn note_failures(&mut self, now: Time) {
        let due = self.plan.events[self.changes_made..].iter();
        let links: Vec<LinkId> = due
            .take_while(|event| event.at <= now)
            .filter(|event| event.change == Change::Down && self.network.is_up(event.link.0))
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
            let subflows = self.sending.subflows(halves.sending);
            let hit = subflows.filter(|&subflow| self.uses_any(subflow, &fails));
            let subflows = hit.count() as u32;
            if subflows > 0 {
                let delivered = self.receiving.delivered(halves.receiving);
                let sent = self.sending.sent(halves.sending);
                self.recoveries.add(Hit {
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
    fn uses_any(&self, SendingSubflow(place): SendingSubflow, links: &[bool]) -> bool {
        let own = self.routes[place as usize].as_ref();
        let sprayed = self.sprays.of(SendingSubflow(place)).iter();
        own.into_iter().chain(sprayed).any(|routes| {
            [routes.forward, routes.back].into_iter().any(|route| {
                let used = self.network.links_of(route);
                used.into_iter().any(|link| links[link as usize])
            })
        })
    }

    /// A packet of this subflow has arrived at its destination: its flow may have recovered.
    pub(super) fn note_recovery(&mut self, subflow: ReceivingSubflow, now: Time) {
        let delivered = self.receiving.delivered(self.receiving.connection(subflow));
        let (flow, _) = self.receiving.owner(subflow);
        self.recoveries.on_delivered(flow, delivered, now);
    }
}
