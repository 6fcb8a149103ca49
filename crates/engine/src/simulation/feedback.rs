//! When switches that choose routes tell their neighbours of their paths.

use super::Simulation;
use crate::scheduler::Alarm;
use pathweave_network::Ports;
use pathweave_random::Stream;
use pathweave_units::Time;

impl<P: Ports> Simulation<'_, P> {
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
    }

    /// A switch tells its neighbours, and will do so again if anything else is still to happen.
    pub(super) fn send_feedback(&mut self, switch: u32, now: Time) {
        self.feedback_scheduled -= 1;
        self.network.send_feedback(switch, now, &mut self.scheduler);
        let Some(fmp) = self.network.fmp() else {
            return;
        };
        let nothing_else = self.scheduler.timers() <= self.feedback_scheduled
            && self.network.in_network() == fmp.in_network()
            && self.changes_made == self.plan.events.len();
        if !nothing_else {
            let next = now + fmp.period();
            self.scheduler.wake(Alarm::Feedback(switch), next);
            self.feedback_scheduled += 1;
        }
    }
}
