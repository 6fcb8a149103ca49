//! When a run is over.

use super::Simulation;
use crate::flows::Halves;
use pathweave_fabric::LinkId;
use pathweave_network::Ports;
use pathweave_transport::SendingSubflow;
use pathweave_units::Time;

impl<P: Ports> Simulation<'_, P> {
    /// Ends the run when all flows are done and none will come, or when none can go on.
    pub(super) fn end_if_nothing_can_happen(&mut self) {
        let carries = |LinkId(link): LinkId| self.regions.carries(link);
        self.workload.ended = self.workload.verdict(self.changes_made, carries, |number| {
            let flow = &self.workload.flows[number as usize];
            // Of one that has ended there is news to come.
            flow.end.is_none() && flow.halves.is_none_or(|halves| self.is_stuck(halves))
        });
    }

    /// Whether a flow cannot go on: no subflow has a path that carries anything, or one that switches may find.
    pub(super) fn is_stuck(&self, halves: Halves) -> bool {
        let sending = &self.regions[halves.source].sending;
        sending.is_stuck(halves.sending, |subflow| {
            self.has_live_path(halves, subflow)
        })
    }

    /// Whether a subflow's links, both ways, all carry something, or switches may still find others.
    fn has_live_path(&self, halves: Halves, subflow: SendingSubflow) -> bool {
        if self.routing.next_detection() < Time::MAX {
            return true;
        }
        let carries = |link| self.regions.carries(link);
        let (source, destination) = (
            &self.regions[halves.source],
            &self.regions[halves.destination],
        );
        source.laid.all(subflow).any(|routes| {
            source.network.has_live_path(routes.forward, carries)
                && destination.network.has_live_path(routes.back, carries)
        })
    }
}
