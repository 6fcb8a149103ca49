//! When switches that choose routes tell their neighbours of their paths.
//!
//! What goes from one to another without a packet does so at multiples of the feedback period: hosts hear what
//! switches know, flows that are over leave the routing tables, and the run finds that nothing else is to happen.

use super::Simulation;
use crate::scheduler::Alarm;
use crate::series::Beat;
use pathweave_network::Port;
use pathweave_random::Stream;
use pathweave_units::Time;

impl<P: Port> Simulation<'_, P> {
    /// Every switch begins at a time of its own within the first period.
    pub(super) fn schedule_feedback(&mut self) {
        let Some(fmp) = self.network.fmp() else {
            return;
        };
        for switch in 0..fmp.switches() {
            let mut stream = Stream::new(self.plan.seed, "feedback", u64::from(switch));
            let at = stream.between(0, fmp.period().as_picos() - 1);
            self.scheduler
                .wake(Alarm::Feedback(switch), Time::from_picos(at));
            self.feedback_scheduled += 1;
        }
        self.feedback_beat = Beat::every(Some(fmp.period()));
    }

    /// A feedback period of the run is over.
    pub(super) fn end_feedback_period(&mut self) {
        self.network.change_host_ports();
        self.release_the_gone(usize::MAX);
        let Some(fmp) = self.network.fmp() else {
            return;
        };
        self.feedback_over = self.scheduler.timers() <= self.feedback_scheduled
            && self.agenda.is_empty()
            && self.network.in_network() == fmp.in_network()
            && self.changes_made == self.plan.events.len();
        if self.feedback_over {
            self.feedback_beat = Beat::every(None);
        }
    }

    /// A switch tells its neighbours, and will do so again if anything else is still to happen as far as the run
    /// has found.
    pub(super) fn send_feedback(&mut self, switch: u32, now: Time) {
        self.feedback_scheduled -= 1;
        self.network.send_feedback(switch, now, &mut self.scheduler);
        let Some(fmp) = self.network.fmp() else {
            return;
        };
        if !self.feedback_over {
            let next = now + fmp.period();
            self.scheduler.wake(Alarm::Feedback(switch), next);
            self.feedback_scheduled += 1;
        }
    }
}
