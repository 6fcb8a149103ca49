//! Windows of measurement open and close.

use super::Simulation;
use crate::flows::Halves;
use crate::windows::{FlowShares, LinkMark, Marks, Window, link_marks};
use pathweave_fabric::LinkId;
use pathweave_network::Ports;
use pathweave_units::Time;

impl<P: Ports> Simulation<'_, P> {
    pub(super) fn open_windows_at(&mut self, now: Time) {
        for index in 0..self.windows.len() {
            let window = &self.windows[index];
            if window.marks.is_some() || window.from > now {
                continue;
            }
            let mark = |number: u32| {
                let halves = self.workload.flows[number as usize].halves?;
                Some((number, self.received(halves).collect()))
            };
            let marks = Marks {
                flows: self.workload.under_way().filter_map(mark).collect(),
                links: self.link_marks(now).collect(),
                capacity: self
                    .capacities
                    .iter()
                    .map(|capacity| capacity.until(now))
                    .collect(),
            };
            let is_main = window.is_main();
            self.add_boundary(now);
            if is_main {
                let recorded = self.plan.record.queue_links.iter();
                for (&LinkId(link), course) in recorded.zip(&mut self.series.queue_courses) {
                    let network = self.regions.network_of(link);
                    course.before_clearing(&network.complete_histogram(link));
                }
                for region in self.regions.iter_mut() {
                    region.network.clear_histograms();
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
            let mut links = window.link_shares(now, self.link_marks(now), &self.capacities);
            let flows = self.flow_shares(window, now);
            if window.is_main() {
                for (link, share) in (0u32..).zip(&mut links) {
                    share.queue_p99 = {
                        let found = self.regions.network_of(link).histogram(link);
                        f64::from(found.percentile(0.99))
                    };
                }
            }
            let window = &mut self.windows[index];
            window.links = links;
            window.flows = flows;
            window.closed = Some(now);
            self.add_boundary(now);
        }
    }

    /// The counters of all links.
    pub(super) fn link_marks(&self, now: Time) -> impl Iterator<Item = LinkMark> {
        link_marks(
            self.regions.links(),
            |link| self.regions.network_of(link),
            now,
        )
    }

    /// An interval ends now, and another begins. Returns since when boundaries matter to packets to come.
    pub(super) fn add_boundary(&mut self, now: Time) -> Time {
        let since = self.straddling.add_boundary(now);
        for region in self.regions.iter_mut() {
            region.recorder.straddling_until = self.straddling.until();
        }
        since
    }

    /// Payload (bytes) that has arrived for the first time on each subflow of a flow.
    fn received(&self, halves: Halves) -> impl Iterator<Item = f64> {
        let receiving = &self.regions[halves.destination].receiving;
        let subflows = receiving.subflows(halves.receiving);
        subflows.map(|subflow| receiving.subflow(subflow).first_bytes as f64)
    }

    fn flow_shares(&self, window: &Window, now: Time) -> FlowShares {
        let Some(marks) = &window.marks else {
            return FlowShares::default();
        };
        let mut shares = FlowShares::default();
        for (number, flow) in (0u32..).zip(&self.workload.flows) {
            let from = flow.start.max(window.from);
            let to = flow.end.unwrap_or(now).min(now);
            let begun = flow.end.is_some() || self.workload.active.contains(number);
            if !begun || to <= from {
                continue;
            }
            let before = marks.flows.get(&number);
            let lasted = to - from;
            if let Some(halves) = flow.halves {
                shares.push(number, lasted, before, self.received(halves));
            } else {
                let received = self.ended.first_arrivals(number);
                shares.push(number, lasted, before, received);
            }
        }
        shares
    }
}
