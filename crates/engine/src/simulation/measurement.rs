//! Windows of measurement open and close.

use super::Simulation;
use crate::flows::Flow;
use crate::windows::{FlowShare, Marks, Window, link_marks};
use pathweave_fabric::LinkId;
use pathweave_network::Port;
use pathweave_transport::ReceivingId;
use pathweave_units::Time;

impl<P: Port> Simulation<'_, P> {
    pub(super) fn open_windows_at(&mut self, now: Time) {
        for index in 0..self.windows.len() {
            let window = &self.windows[index];
            if window.marks.is_some() || window.from > now {
                continue;
            }
            let mark = |number: u32| {
                let halves = self.workload.flows[number as usize].halves?;
                Some((number, self.received(halves.receiving)))
            };
            let marks = Marks {
                flows: self.workload.under_way().filter_map(mark).collect(),
                links: link_marks(&self.network, now).collect(),
                capacity: self
                    .capacities
                    .iter()
                    .map(|capacity| capacity.until(now))
                    .collect(),
            };
            self.straddling.add_boundary(now);
            if window.is_main() {
                let recorded = self.plan.record.queue_links.iter();
                for (&LinkId(link), course) in recorded.zip(&mut self.series.queue_courses) {
                    course.before_clearing(self.network.histogram(link));
                }
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
            let mut links =
                window.link_shares(now, link_marks(&self.network, now), &self.capacities);
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
            self.straddling.add_boundary(now);
        }
    }

    /// Payload (bytes) that has arrived for the first time on each subflow of a connection.
    fn received(&self, connection: ReceivingId) -> Vec<f64> {
        let subflows = self.receiving.subflows(connection);
        let first = subflows.map(|subflow| self.receiving.subflow(subflow).first_bytes as f64);
        first.collect()
    }

    pub(super) fn flow_shares(&self, window: &Window, now: Time) -> Vec<FlowShare> {
        let Some(marks) = &window.marks else {
            return Vec::new();
        };
        let ended = self.ended.first_arrivals();
        let share = |(number, flow): (u32, &Flow)| {
            let from = flow.start.max(window.from);
            let to = flow.end.unwrap_or(now).min(now);
            let begun = flow.end.is_some() || self.workload.active.contains(&number);
            if !begun || to <= from {
                return None;
            }
            let before = marks.flows.get(&number);
            let received = match flow.halves {
                Some(halves) => self.received(halves.receiving),
                None => ended.get(&number).cloned().unwrap_or_default(),
            };
            Some(FlowShare::new(number, to - from, before, received))
        };
        (0u32..)
            .zip(&self.workload.flows)
            .filter_map(share)
            .collect()
    }
}
