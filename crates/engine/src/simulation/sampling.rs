//! Time series.

use super::Simulation;
use crate::extent::{Course, Extent, QueueCourse};
use crate::outlet::{Notice, Straddler};
use crate::series::{QueueRow, RttRow, WindowRow};
use crate::windows::link_marks;
use pathweave_fabric::LinkId;
use pathweave_network::{Packet, Port};
use pathweave_scenario::Sampling;
use pathweave_transport::{End, Kind, Segment, SendingSubflow};
use pathweave_units::Time;

impl<P: Port> Simulation<'_, P> {
    pub(super) fn sample_rates(&mut self, now: Time) {
        let since = self.straddling.add_boundary(now);
        self.series.rates.begin_rows(now, since);
        for number in self.workload.under_way() {
            let Some(halves) = self.workload.flows[number as usize].halves else {
                continue;
            };
            for (subflow, index) in self.receiving.subflows(halves.receiving).enumerate() {
                let received = self.receiving.subflow(index).first_bytes as f64;
                let before = &mut self.series.received_before[index.0 as usize];
                let bytes = received - *before;
                *before = received;
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
        for (subflow, index) in self.receiving.subflows(halves.receiving).enumerate() {
            let received = self.receiving.subflow(index).first_bytes as f64;
            let bytes = received - self.series.received_before[index.0 as usize];
            self.series
                .rates
                .add_remainder(number, subflow as u32, bytes);
        }
    }

    /// A row with the present window, which since the last row was as `extent` says.
    fn window_row(
        &self,
        index: SendingSubflow,
        (flow, subflow): (u32, u32),
        extent: Extent,
        now: Time,
    ) -> WindowRow {
        let path = self.sending.subflow(index).path;
        WindowRow {
            at: now,
            flow,
            subflow,
            window: path.window,
            extent,
            ssthresh: path.ssthresh,
            smoothed_rtt: path.smoothed_rtt,
        }
    }

    pub(super) fn sample_windows(&mut self, now: Time) {
        for number in self.workload.under_way() {
            let Some(halves) = self.workload.flows[number as usize].halves else {
                continue;
            };
            for (subflow, index) in self.sending.subflows(halves.sending).enumerate() {
                let path = self.sending.subflow(index).path;
                if path.state.is_open() {
                    let course = &mut self.series.window_courses[index.0 as usize];
                    let course = course.get_or_insert_with(|| Course::begin(now, path.window));
                    let extent = course.end(now, path.window);
                    let row = self.window_row(index, (number, subflow as u32), extent, now);
                    self.series.windows.push(row);
                }
            }
        }
    }

    pub(super) fn sample_rtts(&mut self, now: Time) {
        for number in self.workload.under_way() {
            let Some(halves) = self.workload.flows[number as usize].halves else {
                continue;
            };
            for (subflow, index) in self.sending.subflows(halves.sending).enumerate() {
                let path = self.sending.subflow(index).path;
                if path.state.is_open() && path.has_rtt() {
                    self.series.rtts.push(RttRow {
                        at: now,
                        flow: number,
                        subflow: subflow as u32,
                        latest: path.latest_rtt,
                        extent: self.series.rtt_samples[index.0 as usize].take(),
                        smoothed: path.smoothed_rtt,
                    });
                }
            }
        }
    }

    /// A packet has arrived at its host over this link: captures it, and asks for a look at what it will change.
    /// The packet comes by value, and the look by a notice, so that runs in which nothing is recorded
    /// pay one branch and keep the packet in registers.
    #[cold]
    #[inline(never)]
    pub(super) fn watch(&mut self, link: u32, packet: Packet<Segment, P::Label>, now: Time) {
        let end = packet.segment.destination();
        if let End::Receiving(subflow) = end
            && packet.segment.kind == Kind::Data
            && self.straddling.is_possible(now)
        {
            self.notices.push(Notice::Straddling(Straddler {
                link,
                size: packet.header.size,
                subflow,
                first_bytes: self.receiving.subflow(subflow).first_bytes,
            }));
        }
        self.notices.push(Notice::Arrived(end));
        if !self.captures.is_empty() {
            self.capture_arrival(&packet, now);
        }
    }

    /// Whether packets that arrive from now on are looked at.
    pub(super) fn decide_what_to_watch(&mut self, now: Time) {
        self.watches_packets = self.records_packets
            || self.recoveries.any_pending()
            || self.straddling.is_possible(now);
    }

    /// A data packet has arrived that may have begun to arrive before an interval ended.
    pub(super) fn divide(&mut self, straddler: Straddler, now: Time) {
        let index = straddler.subflow;
        let payload = self.receiving.subflow(index).first_bytes - straddler.first_bytes;
        if payload == 0 {
            return; // its data had come before
        }
        let (flow, subflow) = self.receiving.owner(index);
        let parts = self
            .straddling
            .parts(straddler.link, straddler.size, payload, now);
        for &(boundary, bytes) in parts {
            for window in &mut self.windows {
                window.move_back(boundary, flow, subflow, bytes);
            }
        }
        let moved = self.series.rates.move_back(flow, subflow, parts);
        self.series.received_before[index.0 as usize] += moved;
    }

    /// A packet has arrived at this end of a subflow: records what it changed there.
    pub(super) fn record_changes(&mut self, end: End, now: Time) {
        match end {
            End::Sending(subflow) => {
                match self.plan.record.windows {
                    Some(Sampling::OnChange) => self.record_window_if_changed(subflow, now),
                    Some(Sampling::Every(_)) => self.follow_window(subflow, now),
                    None => {}
                }
                if self.plan.record.rtts.is_some() {
                    self.record_rtt_if_sampled(subflow, now);
                }
            }
            End::Receiving(subflow) => {
                if self.recoveries.any_pending() {
                    self.note_recovery(subflow, now);
                }
            }
        }
        self.decide_what_to_watch(now);
    }

    fn record_window_if_changed(&mut self, index: SendingSubflow, now: Time) {
        let place = index.0 as usize;
        let path = self.sending.subflow(index).path;
        if path.state.is_open() && path.window != self.series.window_before[place] {
            self.series.window_before[place] = path.window;
            let extent = Extent::constant(path.window);
            let row = self.window_row(index, self.sending.owner(index), extent, now);
            self.series.windows.push(row);
        }
    }

    fn follow_window(&mut self, index: SendingSubflow, now: Time) {
        let path = self.sending.subflow(index).path;
        if path.state.is_open() {
            let course = &mut self.series.window_courses[index.0 as usize];
            match course {
                Some(course) => course.note(now, path.window),
                None => *course = Some(Course::begin(now, path.window)),
            }
        }
    }

    fn record_rtt_if_sampled(&mut self, index: SendingSubflow, now: Time) {
        let place = index.0 as usize;
        let view = self.sending.subflow(index);
        let samples = Some(view.rtts.samples());
        // The handshake's sample comes before all others and is not among the counted ones.
        if view.path.has_rtt() && samples != self.series.rtts_before[place] {
            self.series.rtts_before[place] = samples;
            let rtt = view.path.latest_rtt.as_secs_f64();
            if self.plan.record.rtts != Some(Sampling::OnChange) {
                self.series.rtt_samples[place].add(rtt);
                return;
            }
            let (flow, subflow) = self.sending.owner(index);
            self.series.rtts.push(RttRow {
                at: now,
                flow,
                subflow,
                latest: view.path.latest_rtt,
                extent: Extent::constant(rtt),
                smoothed: view.path.smoothed_rtt,
            });
        }
    }

    pub(super) fn sample_map(&mut self, now: Time) {
        let marks = link_marks(&self.network, now);
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
            let waiting = self.network.waiting(link, now);
            let waited = self.network.statistics(link, now).waited;
            let extent = course.end(now, waiting, waited, self.network.histogram(link));
            self.series.queues.push(QueueRow {
                at: now,
                link,
                waiting,
                extent,
            });
        }
    }
}
