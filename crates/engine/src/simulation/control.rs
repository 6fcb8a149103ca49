//! What is due at given times: changes of links, windows of measurement, samples.

use super::Simulation;
use crate::recorder::{Recorded, decide_what_to_watch};
use pathweave_fabric::LinkId;
use pathweave_network::Ports;
use pathweave_scenario::Change;
use pathweave_units::{Rate, Time};

impl<P: Ports> Simulation<'_, P> {
    pub(super) fn control(&mut self, now: Time) {
        self.come_to(now);
        self.close_windows(now, false);
        self.agenda.pass_boundaries(now);
        let flows = Recorded::new(&self.workload, &self.flows);
        self.recorder.open_windows(flows, &mut self.regions, now);
        let due = self.agenda.changes_due(now);
        self.recorder
            .note_failures(due, flows, &mut self.regions, now);
        for event in due {
            self.agenda.make_change();
            self.change_link(event.link, &event.change, now);
        }
        if self.flows.routing().next_detection() <= now {
            self.reroute(now);
        }
        if self.agenda.beats.feedback.is_due(now) {
            self.end_feedback_period(now);
        }
        let (flows, regions) = (
            Recorded::new(&self.workload, &self.flows),
            &mut self.regions,
        );
        let (recorder, beats) = (&mut self.recorder, &mut self.agenda.beats);
        if beats.rates.is_due(now) {
            recorder.sample_rates(flows, regions, now);
        }
        decide_what_to_watch(regions, now);
        if beats.windows.is_due(now) {
            recorder.sample_windows(flows, regions, now);
        }
        if beats.rtts.is_due(now) {
            recorder.sample_rtts(flows, regions, now);
        }
        if beats.queues.is_due(now) {
            recorder.sample_queues(regions, now);
        }
        if beats.map.is_due(now) {
            recorder.sample_map(regions, now);
        }
    }

    /// Closes the windows that end now, or all that are open when the run ends.
    pub(super) fn close_windows(&mut self, now: Time, run_ends: bool) {
        self.recorder.close_windows(
            Recorded::new(&self.workload, &self.flows),
            &mut self.regions,
            now,
            run_ends,
        );
    }

    /// The run is over: intervals under way end, shorter than the others.
    pub(super) fn sample_last(&mut self, now: Time) {
        let (flows, regions) = (
            Recorded::new(&self.workload, &self.flows),
            &mut self.regions,
        );
        let beats = &self.agenda.beats;
        let interval = beats.rates.interval();
        if interval < Time::MAX && now > beats.rates.next() - interval {
            self.recorder.sample_rates(flows, regions, now);
        }
        if beats.map.interval() < Time::MAX && self.recorder.map_is_behind(now) {
            self.recorder.sample_map(regions, now);
        }
    }

    /// Links that are down for the whole run carry nothing from the start. Routing knows, so it is no failure.
    pub(super) fn take_down(&mut self) {
        for &link in &self.plan.fabric.down {
            self.recorder.change_capacity(link, Time::ZERO, Rate::ZERO);
            self.regions.fail(link.0, Time::ZERO);
        }
    }

    fn change_link(&mut self, link: LinkId, change: &Change, now: Time) {
        let LinkId(number) = link;
        self.carry_feedback(now);
        let is_of_host = self.is_of_host(link);
        match change {
            Change::Rate(rate) => {
                let region = self.regions.of_link_mut(number);
                let before = region.network.rate(number);
                region
                    .network
                    .set_rate(number, now, *rate, &mut region.scheduler);
                if is_of_host {
                    region.change_host_port(number, now, |leaves| {
                        let left = u128::from((leaves - now).as_picos());
                        let left = left * u128::from(before.as_bps()) / u128::from(rate.as_bps());
                        now + Time::from_picos(left as u64)
                    });
                }
                if region.network.is_up(number) {
                    self.recorder.change_capacity(link, now, *rate);
                }
            }
            Change::Loss(probability) => {
                self.regions
                    .of_link_mut(number)
                    .network
                    .set_loss(number, *probability);
                self.end_if_nothing_can_happen(now);
            }
            Change::Down => {
                self.recorder.change_capacity(link, now, Rate::ZERO);
                self.regions.fail(number, now);
                if is_of_host {
                    let region = self.regions.of_link_mut(number);
                    region.change_host_port(number, now, |_| now);
                }
                self.flows.on_change(link, now);
            }
            Change::Up => {
                let network = &mut self.regions.of_link_mut(number).network;
                network.restore(number, now);
                let rate = network.rate(number);
                self.recorder.change_capacity(link, now, rate);
                self.flows.on_change(link, now);
                self.end_if_nothing_can_happen(now);
            }
        }
    }

    /// Whether a link begins at a host.
    fn is_of_host(&self, link: LinkId) -> bool {
        let fabric = &self.plan.fabric;
        let from = fabric.links[link.0 as usize].from;
        fabric.node(from).host_index().is_some()
    }

    /// Switches look for new paths.
    fn reroute(&mut self, now: Time) {
        let workload = &self.workload;
        let active = workload.active.iter();
        if self
            .flows
            .reroute(active, &workload.flows, &mut self.regions, now)
        {
            self.end_if_nothing_can_happen(now);
        }
    }
}
