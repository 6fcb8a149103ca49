//! When a run is over.

use super::Simulation;
use crate::results::Verdict;
use pathweave_network::Port;
use pathweave_scenario::Change;
use pathweave_transport::SubflowIndex;
use pathweave_units::Time;

impl<P: Port> Simulation<'_, P> {
    /// Ends the run when all flows are done and none will come, or when none can go on.
    pub(super) fn end_if_nothing_can_happen(&mut self) {
        if self.workload.starts_to_come()
            || self.plan.stop.at.is_some()
            || self.workload.ended.is_some()
        {
            return;
        }
        if self.workload.active.is_empty() {
            self.workload.ended = Some(Verdict::Finished);
            return;
        }
        let links_may_return = self.plan.events[self.changes_made..]
            .iter()
            .any(|event| event.change == Change::Up);
        if links_may_return {
            return;
        }
        let is_stuck = |number: &u32| {
            self.workload.flows[*number as usize]
                .connection
                .is_none_or(|connection| {
                    self.endpoints
                        .is_stuck(connection, |subflow| self.has_live_path(subflow))
                })
        };
        if self.workload.active.iter().all(is_stuck) {
            self.workload.ended = Some(Verdict::Stalled);
        }
    }

    /// Whether a subflow's links, both ways, are all up, or switches may still find others.
    pub(super) fn has_live_path(&self, SubflowIndex(place): SubflowIndex) -> bool {
        if self.routing.next_detection() < Time::MAX {
            return true;
        }
        let own = self.routes[place as usize].as_ref();
        let sprayed = self.sprays.of(SubflowIndex(place)).iter();
        own.into_iter().chain(sprayed).any(|routes| {
            [routes.forward, routes.back]
                .into_iter()
                .all(|route| self.network.has_live_path(route))
        })
    }
}
