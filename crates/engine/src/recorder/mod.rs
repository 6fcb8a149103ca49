//! What a simulation records for its results: windows of measurement, series, the map, recoveries, captures, and the
//! rows of flows that have ended.

mod captures;
mod failures;
mod measurement_windows;
mod sampling;

pub(crate) use sampling::decide_what_to_watch;

use crate::flow_table::{FlowTable, Halves};
use crate::flows::ended::EndedFlows;
use crate::flows::rows::{SubflowColumns, TotalsColumns, WaitColumns};
use crate::measurement::capacity::Capacity;
use crate::measurement::map::LinkMap;
use crate::measurement::measurement_windows::{MeasurementWindow, measurement_windows};
use crate::measurement::recovery::Recoveries;
use crate::measurement::series::Series;
use crate::measurement::straddling::Straddling;
use crate::regions::Regions;
use crate::workload::Workload;
use pathweave_fabric::LinkId;
use pathweave_network::Ports;
use pathweave_scenario::Plan;
use pathweave_units::{Rate, Time};

/// What has been recorded so far.
pub(crate) struct Recorder<'p> {
    plan: &'p Plan,
    windows: Vec<MeasurementWindow>,
    straddling: Straddling<'p>,
    /// What each link could have carried.
    capacities: Vec<Capacity>,
    map: LinkMap,
    series: Series,
    recoveries: Recoveries,
    /// The rows of flows of which nothing is left in regions.
    pub ended: EndedFlows,
}

/// The flows that are recorded.
#[derive(Clone, Copy)]
pub(crate) struct Recorded<'a> {
    workload: &'a Workload<'a>,
    table: &'a FlowTable<'a>,
}

impl<'a> Recorded<'a> {
    /// Those of this traffic, whose halves are in this table.
    pub fn new(workload: &'a Workload<'a>, table: &'a FlowTable<'a>) -> Recorded<'a> {
        Recorded { workload, table }
    }

    /// Flows that have started and not ended, in the order of their numbers, and their halves.
    fn under_way(&self) -> impl Iterator<Item = (u32, Halves)> {
        let numbers = self.workload.under_way();
        numbers.filter_map(|number| Some((number, self.table.halves(number)?)))
    }
}

impl<'p> Recorder<'p> {
    /// Of a run of this plan, with nothing so far.
    pub fn new(plan: &'p Plan) -> Recorder<'p> {
        let links = plan.fabric.links.iter();
        Recorder {
            plan,
            windows: measurement_windows(plan),
            straddling: Straddling::new(plan),
            capacities: links.map(|link| Capacity::new(link.rate)).collect(),
            map: LinkMap::default(),
            series: Series {
                suspensions: plan.record.suspensions.then(Vec::new),
                ..Series::default()
            },
            recoveries: Recoveries::default(),
            ended: EndedFlows::default(),
        }
    }

    /// A link has this rate from now on; zero while it is down.
    pub fn change_capacity(&mut self, LinkId(link): LinkId, now: Time, rate: Rate) {
        self.capacities[link as usize].change(now, rate);
    }

    /// What regions have recorded becomes the run's.
    pub fn collect_from<P: Ports>(&mut self, regions: &mut Regions<P>) {
        for region in regions.iter_mut() {
            self.series.windows.append(&mut region.recorder.window_rows);
            self.series.rtts.append(&mut region.recorder.rtt_rows);
            if let Some(suspensions) = &mut self.series.suspensions {
                suspensions.append(&mut region.recorder.suspension_rows);
            }
            self.recoveries.hits.append(&mut region.recoveries.hits);
        }
        self.recoveries
            .hits
            .sort_by_key(|hit| (hit.failure, hit.flow));
    }

    /// The rows of all subflows, by flow and subflow, the totals of each of the first `flows` flows, and what these have
    /// waited for.
    pub fn rows(&self, flows: u32) -> (SubflowColumns, TotalsColumns, WaitColumns) {
        self.ended.columns(flows)
    }

    /// The run is over: its windows, series and recoveries.
    pub fn into_parts(mut self) -> (Vec<MeasurementWindow>, Series, Recoveries) {
        self.series.put_in_order();
        self.series.map = self.map.rows;
        (self.windows, self.series, self.recoveries)
    }
}
