//! Time series, and the map of links over time.

use super::{Recorded, Recorder};
use crate::flow_table::Halves;
use crate::measurement::extent::{Course, QueueCourse};
use crate::measurement::measurement_windows::link_counters;
use crate::measurement::series::{QueueRow, RttRow};
use crate::regions::Regions;
use crate::regions::region::{Region, Straddler};
use pathweave_fabric::LinkId;
use pathweave_network::Ports;
use pathweave_units::Time;

impl Recorder<'_> {
    /// An interval of rates ends now.
    pub fn sample_rates<P: Ports>(
        &mut self,
        flows: Recorded<'_>,
        regions: &mut Regions<P>,
        now: Time,
    ) {
        let since = self.add_boundary(regions, now);
        self.series.rates.begin_rows(now, since);
        for (number, halves) in flows.under_way() {
            let Region {
                receiving,
                recorder,
                ..
            } = &mut regions[halves.destination];
            for (subflow, index) in receiving.subflows(halves.receiving).enumerate() {
                let received = receiving.subflow(index).first_bytes as f64;
                let bytes = received - std::mem::replace(recorder.received(index), received);
                self.series.rates.add(number, subflow as u32, bytes);
            }
        }
    }

    /// A flow has ended: what it received since the last sample of rates is kept for the next.
    pub fn keep_remainders<P: Ports>(
        &mut self,
        flow: u32,
        halves: Halves,
        regions: &mut Regions<P>,
    ) {
        let Region {
            receiving,
            recorder,
            ..
        } = &mut regions[halves.destination];
        for (subflow, index) in receiving.subflows(halves.receiving).enumerate() {
            let received = receiving.subflow(index).first_bytes as f64;
            let bytes = received - *recorder.received(index);
            self.series.rates.add_remainder(flow, subflow as u32, bytes);
        }
    }

    /// An interval of windows ends now.
    pub fn sample_windows<P: Ports>(
        &mut self,
        flows: Recorded<'_>,
        regions: &mut Regions<P>,
        now: Time,
    ) {
        for (_, halves) in flows.under_way() {
            let region = &mut regions[halves.source];
            for index in region.sending.subflows(halves.sending) {
                let path = region.sending.subflow(index).path;
                if path.state.is_open() {
                    let course = &mut region.recorder.sending(index).course;
                    let course = course.get_or_insert_with(|| Course::begin(now, path.window));
                    let extent = course.end(now, path.window);
                    let row = region.window_row(index, extent, now);
                    self.series.windows.push(row);
                }
            }
        }
    }

    /// An interval of RTTs ends now.
    pub fn sample_rtts<P: Ports>(
        &mut self,
        flows: Recorded<'_>,
        regions: &mut Regions<P>,
        now: Time,
    ) {
        for (number, halves) in flows.under_way() {
            let Region {
                sending, recorder, ..
            } = &mut regions[halves.source];
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

    /// An interval of queues ends now.
    pub fn sample_queues<P: Ports>(&mut self, regions: &mut Regions<P>, now: Time) {
        let links = &self.plan.record.queue_links;
        let courses = &mut self.series.queue_courses;
        courses.resize_with(links.len(), QueueCourse::default);
        for (&LinkId(link), course) in links.iter().zip(courses) {
            let network = regions.network_of_mut(link);
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

    /// An interval of the map ends now.
    pub fn sample_map<P: Ports>(&mut self, regions: &Regions<P>, now: Time) {
        let counters = link_counters(regions.links(), |link| regions.network_of(link), now);
        self.map.add(now, counters, &self.capacities);
    }

    /// Whether something may have happened since the last interval of the map.
    pub fn map_is_behind(&self, now: Time) -> bool {
        self.map.is_behind(now)
    }

    /// A data packet has arrived that may have begun to arrive before an interval ended.
    pub fn divide<P: Ports>(&mut self, packet: Straddler, regions: &mut Regions<P>, host: u32) {
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
        let region = regions.of_host(host);
        *regions[region].recorder.received(packet.receiving) += moved;
    }
}

/// Whether packets that arrive from now on are looked at.
pub(crate) fn decide_what_to_watch<P: Ports>(regions: &mut Regions<P>, now: Time) {
    for region in regions.iter_mut() {
        region.decide_what_to_watch(now);
    }
}
