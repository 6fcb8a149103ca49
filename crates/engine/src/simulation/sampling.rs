//! Time series.

use super::Simulation;
use crate::extent::{Course, QueueCourse};
use crate::region::{Region, Straddler};
use crate::series::{QueueRow, RttRow};
use crate::windows::link_marks;
use pathweave_fabric::LinkId;
use pathweave_network::Ports;
use pathweave_units::Time;

impl<P: Ports> Simulation<'_, P> {
    pub(super) fn sample_rates(&mut self, now: Time) {
        let since = self.add_boundary(now);
        self.series.rates.begin_rows(now, since);
        for number in self.workload.under_way() {
            let Some(halves) = self.workload.flows[number as usize].halves else {
                continue;
            };
            let Region {
                receiving,
                recorder,
                ..
            } = &mut self.regions[halves.destination];
            for (subflow, index) in receiving.subflows(halves.receiving).enumerate() {
                let received = receiving.subflow(index).first_bytes as f64;
                let bytes = received - std::mem::replace(recorder.received(index), received);
                self.series.rates.add(number, subflow as u32, bytes);
            }
        }
    }

    /// The run is over: the last interval of rates ends, shorter than the others.
    pub(super) fn sample_last_rates(&mut self, now: Time) {
        let interval = self.rate_beat.interval();
        if interval < Time::MAX && now > self.rate_beat.next() - interval {
            self.sample_rates(now);
        }
    }

    /// A flow has ended: what it received since the last sample of rates is kept for the next.
    pub(super) fn keep_remainders(&mut self, number: u32) {
        let Some(halves) = self.workload.flows[number as usize].halves else {
            return;
        };
        let Region {
            receiving,
            recorder,
            ..
        } = &mut self.regions[halves.destination];
        for (subflow, index) in receiving.subflows(halves.receiving).enumerate() {
            let received = receiving.subflow(index).first_bytes as f64;
            let bytes = received - *recorder.received(index);
            self.series
                .rates
                .add_remainder(number, subflow as u32, bytes);
        }
    }

    pub(super) fn sample_windows(&mut self, now: Time) {
        for number in self.workload.under_way() {
            let Some(halves) = self.workload.flows[number as usize].halves else {
                continue;
            };
            let region = &mut self.regions[halves.source];
            for index in region.sending.subflows(halves.sending) {
                let path = region.sending.subflow(index).path;
                if path.state.is_open() {
                    let course = &mut region.recorder.sending(index).course;
                    let course = course.get_or_insert_with(|| Course::begin(now, path.window));
                    let extent = course.end(now, path.window);
                    self.series
                        .windows
                        .push(region.window_row(index, extent, now));
                }
            }
        }
    }

    pub(super) fn sample_rtts(&mut self, now: Time) {
        for number in self.workload.under_way() {
            let Some(halves) = self.workload.flows[number as usize].halves else {
                continue;
            };
            let Region {
                sending, recorder, ..
            } = &mut self.regions[halves.source];
            for (subflow, index) in sending.subflows(halves.sending).enumerate() {
                let path = sending.subflow(index).path;
                if path.state.is_open() && path.has_rtt() {
                    self.series.rtts.push(RttRow {
                        at: now,
                        flow: number,
                        subflow: subflow as u32,
                        latest: path.latest_rtt,
                        extent: recorder.sending(index).samples.take(),
                        smoothed: path.smoothed_rtt,
                    });
                }
            }
        }
    }

    /// Whether packets that arrive from now on are looked at.
    pub(super) fn decide_what_to_watch(&mut self, now: Time) {
        for region in self.regions.iter_mut() {
            region.decide_what_to_watch(now);
        }
    }

    /// A data packet has arrived that may have begun to arrive before an interval ended.
    pub(super) fn divide(&mut self, packet: Straddler) {
        let Straddler { flow, subflow, .. } = packet;
        let parts = self
            .straddling
            .parts(packet.link, packet.size, packet.payload, packet.at);
        for &(boundary, bytes) in parts {
            for window in &mut self.windows {
                window.move_back(boundary, flow, subflow, bytes);
            }
        }
        let moved = self.series.rates.move_back(flow, subflow, parts);
        let destination = self.workload.flows[flow as usize].destination;
        let region = self.regions.of_host(destination);
        *self.regions[region].recorder.received(packet.receiving) += moved;
    }

    pub(super) fn sample_map(&mut self, now: Time) {
        let regions = &self.regions;
        let marks = link_marks(regions.links(), |link| regions.network_of(link), now);
        self.map.add(now, marks, &self.capacities);
    }

    /// The run is over: the last interval of the map ends, shorter than the others.
    pub(super) fn sample_last_map(&mut self, now: Time) {
        if self.map.is_cut_off(now) {
            self.sample_map(now);
        }
        self.series.map = std::mem::take(&mut self.map.rows);
    }

    pub(super) fn sample_queues(&mut self, now: Time) {
        let links = &self.plan.record.queue_links;
        let courses = &mut self.series.queue_courses;
        courses.resize_with(links.len(), QueueCourse::default);
        for (&LinkId(link), course) in links.iter().zip(courses) {
            let network = self.regions.network_of(link);
            let waiting = network.waiting(link, now);
            let waited = network.statistics(link, now).waited;
            let extent = course.end(now, waiting, waited, &network.complete_histogram(link));
            self.series.queues.push(QueueRow {
                at: now,
                link,
                waiting,
                extent,
            });
        }
    }
}
