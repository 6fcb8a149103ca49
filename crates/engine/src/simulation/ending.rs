//! When a run is over.

use super::Simulation;
use pathweave_fabric::LinkId;
use pathweave_network::Port;
use pathweave_transport::SendingSubflow;
use pathweave_units::Time;

impl<P: Port> Simulation<'_, P> {
    /// Ends the run when all flows are done and none will come, or when none can go on.
    pub(super) fn end_if_nothing_can_happen(&mut self) {
        let carries = |LinkId(link): LinkId| self.network.carries(link);
        self.workload.ended = self.workload.verdict(self.changes_made, carries, |number| {
            let flow = &self.workload.flows[number as usize];
            // Of one that has ended there is news to come.
            flow.end.is_none()
                && flow.halves.is_none_or(|halves| {
                    self.sending
                        .is_stuck(halves.sending, |subflow| self.has_live_path(subflow))
                })
        });
    }

    /// Whether a subflow's links, both ways, all carry something, or switches may still find others.
    pub(super) fn has_live_path(&self, SendingSubflow(place): SendingSubflow) -> bool {
        if self.routing.next_detection() < Time::MAX {
            return true;
        }
        let own = self.routes[place as usize].as_ref();
        let sprayed = self.sprays.of(SendingSubflow(place)).iter();
        own.into_iter().chain(sprayed).any(|routes| {
            [routes.forward, routes.back]
                .into_iter()
                .all(|route| self.network.has_live_path(route))
        })
    }
}
