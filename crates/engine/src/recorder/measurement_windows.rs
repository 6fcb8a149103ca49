//! Windows of measurement open and close.

use super::{Recorded, Recorder};
use crate::flow_table::Halves;
use crate::measurement::measurement_windows::{
    CountersAtStart, FlowShares, LinkCounters, MeasurementWindow, link_counters,
};
use crate::regions::Regions;
use pathweave_fabric::LinkId;
use pathweave_network::Ports;
use pathweave_units::Time;

impl Recorder<'_> {
    /// Opens the windows that begin now.
    pub fn open_windows<P: Ports>(
        &mut self,
        flows: Recorded<'_>,
        regions: &mut Regions<P>,
        now: Time,
    ) {
        for index in 0..self.windows.len() {
            let window = &self.windows[index];
            if window.at_start.is_some() || window.from > now {
                continue;
            }
            let capacities = self.capacities.iter();
            let received = |(number, halves)| (number, received(halves, regions).collect());
            let at_start = CountersAtStart {
                flows: flows.under_way().map(received).collect(),
                links: all_link_counters(regions, now).collect(),
                capacity: capacities.map(|capacity| capacity.until(now)).collect(),
            };
            let is_main = window.is_main();
            self.add_boundary(regions, now);
            if is_main {
                let recorded = self.plan.record.queue_links.iter();
                for (&LinkId(link), course) in recorded.zip(&mut self.series.queue_courses) {
                    let network = regions.network_of_mut(link);
                    course.before_clearing(&network.complete_histogram(link));
                }
                for region in regions.iter_mut() {
                    region.network.clear_histograms();
                }
            }
            self.windows[index].at_start = Some(at_start);
        }
    }

    /// Closes the windows that end now, or all that are open when the run ends.
    pub fn close_windows<P: Ports>(
        &mut self,
        flows: Recorded<'_>,
        regions: &mut Regions<P>,
        now: Time,
        run_ends: bool,
    ) {
        for index in 0..self.windows.len() {
            let window = &self.windows[index];
            let due = window.to <= now || run_ends;
            if window.at_start.is_none() || window.closed.is_some() || !due {
                continue;
            }
            let counters = all_link_counters(regions, now);
            let mut links = window.link_shares(now, counters, &self.capacities);
            let shares = self.flow_shares(window, flows, regions, now);
            if window.is_main() {
                for (link, share) in (0u32..).zip(&mut links) {
                    let found = regions.network_of_mut(link).histogram(link);
                    share.queue_p99 = f64::from(found.percentile(0.99));
                }
            }
            let window = &mut self.windows[index];
            window.links = links;
            window.flows = shares;
            window.closed = Some(now);
            self.add_boundary(regions, now);
        }
    }

    /// An interval ends now, and another begins. Returns since when boundaries matter to packets to come.
    pub(super) fn add_boundary<P: Ports>(&mut self, regions: &mut Regions<P>, now: Time) -> Time {
        let since = self.straddling.add_boundary(now);
        for region in regions.iter_mut() {
            region.recorder.straddling_until = self.straddling.until();
        }
        since
    }

    fn flow_shares<P: Ports>(
        &self,
        window: &MeasurementWindow,
        flows: Recorded<'_>,
        regions: &Regions<P>,
        now: Time,
    ) -> FlowShares {
        let Some(at_start) = &window.at_start else {
            return FlowShares::default();
        };
        let Recorded { workload, table } = flows;
        let mut shares = FlowShares::with_capacity(workload.flows.len());
        for (number, flow) in (0u32..).zip(&workload.flows) {
            let from = flow.start.max(window.from);
            let to = flow.end.unwrap_or(now).min(now);
            let begun = flow.end.is_some() || workload.active.contains(number);
            if !begun || to <= from {
                continue;
            }
            let before = at_start.flows.get(&number);
            let lasted = to - from;
            if let Some(halves) = table.halves(number) {
                shares.push(number, lasted, before, received(halves, regions));
            } else {
                let received = self.ended.first_arrivals(number);
                shares.push(number, lasted, before, received);
            }
        }
        shares
    }
}

/// Payload (bytes) that has arrived for the first time on each subflow of a flow.
fn received<P: Ports>(halves: Halves, regions: &Regions<P>) -> impl Iterator<Item = f64> {
    let receiving = &regions[halves.destination].receiving;
    let subflows = receiving.subflows(halves.receiving);
    subflows.map(|subflow| receiving.subflow(subflow).first_bytes as f64)
}

/// The counters of all links.
fn all_link_counters<P: Ports>(
    regions: &Regions<P>,
    now: Time,
) -> impl Iterator<Item = LinkCounters> {
    link_counters(regions.links(), |link| regions.network_of(link), now)
}
