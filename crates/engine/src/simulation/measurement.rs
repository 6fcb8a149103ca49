//! Windows of measurement open and close.

use super::Simulation;
use crate::flows::Flow;
use crate::windows::{FlowMark, FlowShare, Marks, Window};
use pathweave_network::Port;
use pathweave_units::{Bytes, Time};

impl<P: Port> Simulation<'_, P> {
    pub(super) fn open_windows_at(&mut self, now: Time) {
        for index in 0..self.windows.len() {
            let window = &self.windows[index];
            if window.marks.is_some() || window.from > now {
                continue;
            }
            let mark = |number: &u32| {
                let connection = self.workload.flows[*number as usize].connection?;
                let received = self
                    .endpoints
                    .subflows(connection)
                    .map(|subflow| self.endpoints.subflow(subflow).received_bytes)
                    .collect();
                let delivered = self.endpoints.delivered(connection);
                Some((
                    *number,
                    FlowMark {
                        delivered,
                        received,
                    },
                ))
            };
            let links = 0..self.network.links();
            let marks = Marks {
                flows: self.workload.active.iter().filter_map(mark).collect(),
                links: links
                    .map(|link| self.network.statistics(link, now))
                    .collect(),
                capacity: self
                    .capacities
                    .iter()
                    .map(|capacity| capacity.bits(now))
                    .collect(),
            };
            if window.is_main() {
                for link in 0..self.network.links() {
                    self.network.histogram(link).clear();
                }
            }
            self.windows[index].marks = Some(marks);
        }
    }

    /// Closes the windows that end now, or all that are open when the run ends.
    pub(super) fn close_windows_at(&mut self, now: Time, run_ends: bool) {
        for index in 0..self.windows.len() {
            let window = &self.windows[index];
            let due = window.to <= now || run_ends;
            if window.marks.is_none() || window.closed.is_some() || !due {
                continue;
            }
            let statistics =
                (0..self.network.links()).map(|link| self.network.statistics(link, now));
            let mut links = window.link_shares(now, statistics, &self.capacities);
            let flows = self.flow_shares(window, now);
            if window.is_main() {
                for (link, share) in (0u32..).zip(&mut links) {
                    share.queue_p99 = f64::from(self.network.histogram(link).percentile(0.99));
                }
            }
            let window = &mut self.windows[index];
            window.links = links;
            window.flows = flows;
            window.closed = Some(now);
        }
    }

    pub(super) fn flow_shares(&self, window: &Window, now: Time) -> Vec<FlowShare> {
        let Some(marks) = &window.marks else {
            return Vec::new();
        };
        let ended = self.ended.received();
        let share = |(number, flow): (u32, &Flow)| {
            let from = flow.start.max(window.from);
            let to = flow.end.unwrap_or(now).min(now);
            let begun = flow.end.is_some() || self.workload.active.contains(&number);
            if !begun || to <= from {
                return None;
            }
            let before = marks.flows.get(&number);
            let (delivered, received): (Bytes, Vec<u64>) = match flow.connection {
                Some(connection) => (
                    self.endpoints.delivered(connection),
                    self.endpoints
                        .subflows(connection)
                        .map(|subflow| self.endpoints.subflow(subflow).received_bytes)
                        .collect(),
                ),
                None => {
                    let received = ended.get(&number).cloned().unwrap_or_default();
                    (flow.delivered, received)
                }
            };
            let received_before = |subflow: usize| {
                before
                    .and_then(|mark| mark.received.get(subflow))
                    .copied()
                    .unwrap_or(0)
            };
            Some(FlowShare {
                flow: number,
                delivered: delivered.get() - before.map_or(0, |mark| mark.delivered.get()),
                received: received
                    .iter()
                    .enumerate()
                    .map(|(subflow, bytes)| bytes - received_before(subflow))
                    .collect(),
                duration: to - from,
            })
        };
        (0u32..)
            .zip(&self.workload.flows)
            .filter_map(share)
            .collect()
    }
}
