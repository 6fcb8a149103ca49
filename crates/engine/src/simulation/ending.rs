//! When a run is over.

use super::Simulation;
use crate::results::Verdict;
use pathweave_network::Port;
use pathweave_scenario::{Amount, Change, TrafficStop};
use pathweave_traffic::Program;
use pathweave_transport::SubflowIndex;

impl<'p, P: Port> Simulation<'p, P> {
    /// The stop condition, if it is one on this group's traffic.
    fn stop_on(&self, group: usize) -> Option<&'p TrafficStop> {
        let stop = self.plan.stop.traffic.as_ref();
        stop.filter(|stop| stop.group == group)
    }

    pub(super) fn check_amounts_started(&mut self, group: usize) {
        let Some(stop) = self.stop_on(group) else {
            return;
        };
        let count = self.counts[group];
        let enough = match stop.amount {
            Amount::Flows(flows) => count.started >= flows,
            Amount::Bytes(bytes) => count.started_bytes >= bytes.get(),
            Amount::Jobs(jobs) => self.programs[group].jobs().len() as u64 >= jobs,
        };
        if stop.drain && enough {
            self.programs.iter_mut().for_each(Program::drain);
        }
    }

    pub(super) fn check_amounts_finished(&mut self, group: usize) {
        let Some(stop) = self.stop_on(group) else {
            return;
        };
        if !stop.drain && self.amount_done() >= 1.0 {
            self.ended = Some(Verdict::Stopped);
        }
        let others_only = |flow: &u32| self.flows[*flow as usize].group as usize != group;
        if stop.drain
            && self.counts[group].started == self.counts[group].finished
            && self.programs[group].next_wake().is_none()
            && self.active.iter().all(others_only)
        {
            self.ended = Some(Verdict::Stopped);
        }
    }

    /// The share of the stop condition on traffic that has come about.
    pub(super) fn amount_done(&self) -> f64 {
        let Some(stop) = &self.plan.stop.traffic else {
            return 0.0;
        };
        let count = self.counts[stop.group];
        match stop.amount {
            Amount::Flows(flows) => count.finished as f64 / flows as f64,
            Amount::Bytes(bytes) => count.finished_bytes as f64 / bytes.get() as f64,
            Amount::Jobs(jobs) => count.finished_jobs as f64 / jobs as f64,
        }
    }

    /// Ends the run when all flows are done and none will come, or when none can go on.
    pub(super) fn end_if_nothing_can_happen(&mut self) {
        let starts_to_come = self.pending > 0
            || self.to_begin > 0
            || self
                .programs
                .iter()
                .any(|program| program.next_wake().is_some());
        if starts_to_come || self.plan.stop.at.is_some() || self.ended.is_some() {
            return;
        }
        if self.active.is_empty() {
            self.ended = Some(Verdict::Finished);
            return;
        }
        let links_may_return = self.plan.events[self.changes_made..]
            .iter()
            .any(|event| event.change == Change::Up);
        if links_may_return {
            return;
        }
        let is_stuck = |number: &u32| {
            self.flows[*number as usize]
                .connection
                .is_none_or(|connection| {
                    self.endpoints
                        .is_stuck(connection, |subflow| self.has_live_path(subflow))
                })
        };
        if self.active.iter().all(is_stuck) {
            self.ended = Some(Verdict::Stalled);
        }
    }

    /// Whether a subflow's links, both ways, are all up.
    pub(super) fn has_live_path(&self, SubflowIndex(place): SubflowIndex) -> bool {
        let own = self.routes[place as usize].as_ref();
        let sprayed = self.sprays.of(SubflowIndex(place)).iter();
        own.into_iter().chain(sprayed).any(|routes| {
            [routes.forward, routes.back].into_iter().all(|route| {
                self.network
                    .routes
                    .links(route)
                    .all(|link| self.network.is_up(link))
            })
        })
    }
}
