//! When switches that choose routes tell their neighbours of their paths.
//!
//! What goes from one to another without a packet does so at multiples of the feedback period: hosts hear what
//! switches know, flows that are over leave the routing tables, and the run finds that nothing else is to happen.

use super::Simulation;
use crate::alarm::Alarm;
use crate::beat::Beat;
use pathweave_network::Ports;
use pathweave_random::Stream;
use pathweave_units::Time;

impl<P: Ports> Simulation<'_, P> {
    /// Every switch begins at a time of its own within the first period.
    pub(super) fn schedule_feedback(&mut self) {
        let region = self.regions.first_mut();
        let Some(fmp) = region.network.fmp() else {
            return;
        };
        for switch in 0..fmp.switches() {
            let mut stream = Stream::new(self.plan.seed, "feedback", u64::from(switch));
            let at = stream.between(0, fmp.period().as_picos() - 1);
            region
                .scheduler
                .wake(Alarm::Feedback(switch), Time::from_picos(at));
            region.feedback_scheduled += 1;
        }
        self.agenda.beats.feedback = Beat::every(Some(fmp.period()));
    }

    /// A feedback period of the run is over.
    pub(super) fn end_feedback_period(&mut self) {
        self.regions.first_mut().network.change_host_ports();
        self.release_the_gone(usize::MAX);
        let region = self.regions.first();
        let Some(fmp) = region.network.fmp() else {
            return;
        };
        let is_over = region.scheduler.timers() <= region.feedback_scheduled
            && self.agenda.is_over()
            && region.network.in_network() == fmp.in_network();
        self.regions.first_mut().feedback_over = is_over;
        if is_over {
            self.agenda.beats.feedback = Beat::every(None);
        }
    }
}
