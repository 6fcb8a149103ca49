//! What is due at given times: changes of links, windows of measurement, samples.

use super::Simulation;
use crate::beat::Beat;
use crate::windows::Window;
use pathweave_fabric::LinkId;
use pathweave_network::Ports;
use pathweave_scenario::Change;
use pathweave_units::{Rate, Time};

impl<P: Ports> Simulation<'_, P> {
    pub(super) fn next_control(&self) -> Time {
        let change = self
            .plan
            .events
            .get(self.changes_made)
            .map_or(Time::MAX, |event| event.at);
        let window = self
            .windows
            .iter()
            .map(Window::next_boundary)
            .min()
            .unwrap_or(Time::MAX);
        let beats = [
            &self.rate_beat,
            &self.window_beat,
            &self.rtt_beat,
            &self.queue_beat,
            &self.feedback_beat,
        ]
        .map(Beat::next);
        beats
            .into_iter()
            .fold(change.min(window), Time::min)
            .min(self.routing.next_detection())
            .min(self.map.next())
    }

    pub(super) fn control(&mut self, now: Time) {
        self.close_windows_at(now, false);
        self.open_windows_at(now);
        self.note_failures(now);
        while let Some(event) = self.plan.events.get(self.changes_made)
            && event.at <= now
        {
            self.changes_made += 1;
            self.change_link(event.link, &event.change, now);
        }
        if self.routing.next_detection() <= now {
            self.reroute(now);
        }
        if self.feedback_beat.is_due(now) {
            self.end_feedback_period();
        }
        if self.rate_beat.is_due(now) {
            self.sample_rates(now);
        }
        self.decide_what_to_watch(now);
        if self.window_beat.is_due(now) {
            self.sample_windows(now);
        }
        if self.rtt_beat.is_due(now) {
            self.sample_rtts(now);
        }
        if self.queue_beat.is_due(now) {
            self.sample_queues(now);
        }
        if self.map.is_due(now) {
            self.sample_map(now);
        }
    }

    pub(super) fn change_link(&mut self, link: LinkId, change: &Change, now: Time) {
        let LinkId(number) = link;
        match change {
            Change::Rate(rate) => {
                let region = self.regions.of_link_mut(number);
                region
                    .network
                    .set_rate(number, now, *rate, &mut region.scheduler);
                if region.network.is_up(number) {
                    self.capacities[number as usize].change(now, *rate);
                }
            }
            Change::Loss(probability) => {
                self.regions
                    .of_link_mut(number)
                    .network
                    .set_loss(number, *probability);
                self.end_if_nothing_can_happen();
            }
            Change::Down => {
                self.capacities[number as usize].change(now, Rate::ZERO);
                self.regions.fail(number, now);
                self.routing.on_change(link, now);
            }
            Change::Up => {
                let network = &mut self.regions.of_link_mut(number).network;
                network.restore(number, now);
                let rate = network.rate(number);
                self.capacities[number as usize].change(now, rate);
                self.routing.on_change(link, now);
                self.end_if_nothing_can_happen();
            }
        }
    }
}
