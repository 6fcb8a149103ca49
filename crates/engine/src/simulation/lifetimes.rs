//! Flows come and go: traffic asks for them, and they leave their counters behind.

use super::Simulation;
use crate::flow_table::Halves;
use crate::outcome::{RunError, Verdict};
use crate::schedule::alarm::Alarm;
use pathweave_network::Ports;
use pathweave_units::Time;

/// Flows that are gone through between two looks whether the run shall end early.
pub(super) const FLOWS_BETWEEN_LOOKS: u32 = 1 << 12;

/// Flows that are on their way out and that are looked at when a flow starts: more than one, so that they do
/// not become ever more.
const LEAVING_LOOKED_AT: usize = 2;

impl<P: Ports> Simulation<'_, P> {
    /// A flow starts now. Not part of the run loop, which would get slower.
    #[inline(never)]
    pub(super) fn start_flow(&mut self, number: u32, now: Time) {
        if let Some(halves) = self.open_flow(number, now) {
            self.regions[halves.source].start(halves.sending, now);
        }
    }

    /// A flow will start. Its source does it in its turn. Calls come in the order of the times.
    pub(super) fn start_flow_later(&mut self, number: u32, at: Time) {
        if let Some(halves) = self.open_flow(number, at) {
            let alarm = Alarm::Start(halves.sending, halves.first_sending);
            let source = &mut self.regions[halves.source];
            source.scheduler.start_later(alarm, at);
        }
    }

    /// Opens a flow that starts at a time; `None` if it does not start.
    #[inline]
    fn open_flow(&mut self, number: u32, at: Time) -> Option<Halves> {
        if !self.workload.start(number, at) {
            return None;
        }
        // Where switches keep tables, flows leave them with the period of feedback.
        if self.regions.first().network.fmp().is_none() {
            self.release_the_gone(LEAVING_LOOKED_AT);
        }
        let flow = &mut self.workload.flows[number as usize];
        if let Err(refused) = self.flows.check(flow) {
            self.refused = Some(refused);
            self.workload.ended = Some(Verdict::Stopped);
            return None;
        }
        let opening = self.flows.opening(number, flow);
        self.recorder
            .begin_capture(number, flow, &opening, &mut self.regions);
        if flow.size.is_some() && self.heeds_ends && self.regions.has_windows() {
            self.agenda.watch(number);
        }
        let halves = self.flows.open(number, flow, opening, &mut self.regions);
        let routing = self.flows.routing();
        if routing.next_detection() < Time::MAX {
            self.recorder
                .note_begun(number, flow, halves, routing, &mut self.regions, at);
        }
        Some(halves)
    }

    /// Flows of which nothing is left give their counters and places back, if they are among the first `first`
    /// that are leaving.
    pub(super) fn release_the_gone(&mut self, first: usize) {
        let (flows, ended) = (&self.workload.flows, &mut self.recorder.ended);
        self.flows
            .release_the_gone(first, flows, &mut self.regions, ended);
    }

    /// The run is over: what is left of flows is taken over as it is.
    pub(super) fn collect_unfinished(&mut self) -> Result<(), RunError> {
        for number in 0..self.workload.flows.len() as u32 {
            if number % FLOWS_BETWEEN_LOOKS == 0 {
                self.stop_if_cancelled()?;
            }
            let Some(halves) = self.flows.halves(number) else {
                continue;
            };
            let flow = &mut self.workload.flows[number as usize];
            if flow.end.is_none() {
                let senders = &self.regions[halves.source].sending;
                let receivers = &self.regions[halves.destination].receiving;
                let is_consistent = receivers.is_consistent(halves.receiving)
                    && senders.agrees_with(halves.sending, receivers, halves.receiving);
                if !is_consistent {
                    return Err(RunError::Check(format!(
                        "flow {number}: data was not delivered once and in order"
                    )));
                }
                flow.delivered = receivers.delivered(halves.receiving);
                flow.stalled = self.flows.is_stuck(halves, &self.regions);
            }
            let ended = &mut self.recorder.ended;
            self.flows
                .collect(number, flow, halves, &mut self.regions, ended);
        }
        Ok(())
    }
}
