//! Time series.

use super::Simulation;
use crate::outlet::Notice;
use crate::series::{QueueRow, RateRow, RttRow, WindowRow};
use pathweave_network::{Packet, Port};
use pathweave_scenario::Sampling;
use pathweave_transport::{Segment, SubflowIndex};
use pathweave_units::Time;

impl<P: Port> Simulation<'_, P> {
    pub(super) fn sample_rates(&mut self, now: Time) {
        let remainders = std::mem::take(&mut self.series.remainders);
        self.series
            .rates
            .extend(remainders.into_iter().map(|row| RateRow { at: now, ..row }));
        for &number in &self.workload.active {
            let Some(connection) = self.workload.flows[number as usize].connection else {
                continue;
            };
            for (subflow, index) in self.endpoints.subflows(connection).enumerate() {
                let received = self.endpoints.subflow(index).received_bytes;
                let before = &mut self.series.received_before[index.0 as usize];
                let bytes = received - *before;
                *before = received;
                let subflow = subflow as u32;
                self.series.rates.push(RateRow {
                    at: now,
                    flow: number,
                    subflow,
                    bytes,
                });
            }
        }
    }

    pub(super) fn window_row(
        &self,
        index: SubflowIndex,
        flow: u32,
        subflow: u32,
        now: Time,
    ) -> WindowRow {
        let path = self.endpoints.subflow(index).path;
        WindowRow {
            at: now,
            flow,
            subflow,
            window: path.window,
            ssthresh: path.ssthresh,
            smoothed_rtt: path.smoothed_rtt,
        }
    }

    pub(super) fn sample_windows(&mut self, now: Time) {
        for &number in &self.workload.active {
            let Some(connection) = self.workload.flows[number as usize].connection else {
                continue;
            };
            for (subflow, index) in self.endpoints.subflows(connection).enumerate() {
                if self.endpoints.subflow(index).path.state.is_open() {
                    let row = self.window_row(index, number, subflow as u32, now);
                    self.series.windows.push(row);
                }
            }
        }
    }

    pub(super) fn sample_rtts(&mut self, now: Time) {
        for &number in &self.workload.active {
            let Some(connection) = self.workload.flows[number as usize].connection else {
                continue;
            };
            for (subflow, index) in self.endpoints.subflows(connection).enumerate() {
                let path = self.endpoints.subflow(index).path;
                if path.state.is_open() && path.has_rtt() {
                    self.series.rtts.push(RttRow {
                        at: now,
                        flow: number,
                        subflow: subflow as u32,
                        latest: path.latest_rtt,
                        smoothed: path.smoothed_rtt,
                    });
                }
            }
        }
    }

    /// The flow of a subflow, and its number in the flow.
    pub(super) fn owner(&self, index: SubflowIndex) -> (u32, u32) {
        let connection = self.endpoints.connection(index);
        let first = self.endpoints.subflows(connection).next();
        let subflow = index.0 - first.map_or(index.0, |first| first.0);
        (self.flow_of[connection.0 as usize], subflow)
    }

    /// A packet has arrived at its host: captures it, and asks for a look at what it will change.
    /// The packet comes by value, and the look by a notice, so that runs in which nothing is recorded
    /// pay one branch and keep the packet in registers.
    #[cold]
    #[inline(never)]
    pub(super) fn watch(&mut self, packet: Packet<Segment, P::Label>, now: Time) {
        self.notices.push(Notice::Arrived(packet.segment.subflow));
        if !self.captures.is_empty() {
            self.capture_arrival(&packet, now);
        }
    }

    /// A packet of this subflow has arrived at a host: records what it changed.
    pub(super) fn record_changes(&mut self, index: SubflowIndex, now: Time) {
        if self.plan.record.windows == Some(Sampling::OnChange) {
            self.record_window_if_changed(index, now);
        }
        if self.plan.record.rtts == Some(Sampling::OnChange) {
            self.record_rtt_if_sampled(index, now);
        }
        if self.recoveries.any_pending() {
            self.note_recovery(index, now);
        }
    }

    fn record_window_if_changed(&mut self, index: SubflowIndex, now: Time) {
        let place = index.0 as usize;
        let path = self.endpoints.subflow(index).path;
        if path.state.is_open() && path.window != self.series.window_before[place] {
            self.series.window_before[place] = path.window;
            let (flow, subflow) = self.owner(index);
            let row = self.window_row(index, flow, subflow, now);
            self.series.windows.push(row);
        }
    }

    fn record_rtt_if_sampled(&mut self, index: SubflowIndex, now: Time) {
        let place = index.0 as usize;
        let view = self.endpoints.subflow(index);
        let samples = Some(view.rtts.samples());
        // The handshake's sample comes before all others and is not among the counted ones.
        if view.path.has_rtt() && samples != self.series.rtts_before[place] {
            let (flow, subflow) = self.owner(index);
            self.series.rtts.push(RttRow {
                at: now,
                flow,
                subflow,
                latest: view.path.latest_rtt,
                smoothed: view.path.smoothed_rtt,
            });
            self.series.rtts_before[place] = samples;
        }
    }

    pub(super) fn sample_queues(&mut self, now: Time) {
        for &link in &self.plan.record.queue_links {
            let waiting = self.network.waiting(link.0, now);
            self.series.queues.push(QueueRow {
                at: now,
                link: link.0,
                waiting,
            });
        }
    }
}
