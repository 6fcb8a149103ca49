//! When switches that choose routes tell their neighbours about their paths.
//!
//! Whatever spreads without packets does so at multiples of the feedback period: hosts learn what switches know (at
//! once where a link fails), switches read the counters of their ports, finished flows leave the routing tables, and
//! the run finds that nothing else is left to happen.

use super::Simulation;
use crate::schedule::beat::Beat;
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
        let period = fmp.period();
        let first = (0..fmp.switches()).map(|switch| {
            let mut stream = Stream::new(self.plan.seed, "feedback", u64::from(switch));
            Time::from_picos(stream.between(0, period.as_picos() - 1))
        });
        let first: Vec<Time> = first.collect();
        // If feedback needs no packets, the first switch alone keeps the run going.
        let all = region.network.begin_feedback(&first);
        let woken = if all { first.len() } else { 1 };
        region.wake_for_feedback((0..).zip(first).take(woken));
        self.agenda.beats.feedback = Beat::every(Some(period));
    }

    /// Brings feedback up to `now`, because results are about to be read or links to be changed. Everything before
    /// `now` has happened.
    pub(super) fn come_to(&mut self, now: Time) {
        let region = self.regions.first_mut();
        region.network.come_to(now, &mut region.scheduler);
    }

    /// From now on feedback travels as packets.
    pub(super) fn carry_feedback(&mut self, now: Time) {
        self.regions.first_mut().carry_feedback(now);
    }

    /// Adds all feedback to the counters when the run is over.
    pub(super) fn end_feedback(&mut self, now: Time) {
        let region = self.regions.first_mut();
        region.network.end_feedback(now, &mut region.scheduler);
    }

    /// A feedback period of the run is over.
    pub(super) fn end_feedback_period(&mut self, now: Time) {
        let network = &mut self.regions.first_mut().network;
        network.measure_ports(now);
        network.change_host_ports();
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
            // The run ends when the last feedback has arrived.
            self.carry_feedback(now);
            self.agenda.beats.feedback = Beat::every(None);
        }
    }
}
