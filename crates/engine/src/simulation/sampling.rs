//! Time series.

use super::Simulation;
use crate::series::{QueueRow, RateRow, WindowRow};
use pathweave_network::Port;
use pathweave_transport::SubflowIndex;
use pathweave_units::Time;

impl<P: Port> Simulation<'_, P> {
    pub(super) fn sample_rates(&mut self, now: Time) {
        let remainders = std::mem::take(&mut self.series.remainders);
        self.series
            .rates
            .extend(remainders.into_iter().map(|row| RateRow { at: now, ..row }));
        for &number in &self.active {
            let Some(connection) = self.flows[number as usize].connection else {
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
        for &number in &self.active {
            let Some(connection) = self.flows[number as usize].connection else {
                continue;
            };
            for (subflow, index) in self.endpoints.subflows(connection).enumerate() {
                if self.endpoints.subflow(index).path.established {
                    let row = self.window_row(index, number, subflow as u32, now);
                    self.series.windows.push(row);
                }
            }
        }
    }

    pub(super) fn record_window_if_changed(&mut self, index: SubflowIndex, now: Time) {
        let place = index.0 as usize;
        let path = self.endpoints.subflow(index).path;
        if path.established && path.window != self.series.window_before[place] {
            self.series.window_before[place] = path.window;
            let connection = self.endpoints.connection(index);
            let first = self.endpoints.subflows(connection).next();
            let subflow = index.0 - first.map_or(index.0, |first| first.0);
            let flow = self.flow_of[connection.0 as usize];
            let row = self.window_row(index, flow, subflow, now);
            self.series.windows.push(row);
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
