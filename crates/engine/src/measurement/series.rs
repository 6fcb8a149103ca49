//! Time series: rates, windows, round-trip times and queues as they were.

use crate::measurement::extent::{Extent, QueueCourse};
use crate::measurement::map::MapRow;
use crate::measurement::rates::Rates;
use pathweave_units::Time;

/// A subflow's congestion state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowRow {
    pub at: Time,
    pub flow: u32,
    pub subflow: u32,
    pub window: f64,
    /// The window since the last row; the window itself where rows come whenever it changes.
    pub extent: Extent,
    pub ssthresh: f64,
    pub smoothed_rtt: Time,
}

/// A subflow's round-trip times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RttRow {
    pub at: Time,
    pub flow: u32,
    pub subflow: u32,
    pub latest: Time,
    /// The samples since the last row, in seconds; the sample itself where each has a row.
    pub extent: Extent,
    pub smoothed: Time,
}

/// A controller has suspended or resumed a subflow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SuspensionRow {
    pub at: Time,
    pub flow: u32,
    pub subflow: u32,
    /// Whether it takes no new data from now on.
    pub suspended: bool,
}

/// A port's queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueRow {
    pub at: Time,
    pub link: u32,
    pub waiting: u32,
    /// The queue since the last row.
    pub extent: Extent,
}

/// Everything recorded over time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    pub rates: Rates,
    pub windows: Vec<WindowRow>,
    pub rtts: Vec<RttRow>,
    /// `None` if they are not recorded.
    pub suspensions: Option<Vec<SuspensionRow>>,
    pub queues: Vec<QueueRow>,
    /// What each link did; the simulation moves it here when the run ends.
    pub map: Vec<MapRow>,
    /// The queue of each link that is recorded, in their order.
    pub queue_courses: Vec<QueueCourse>,
}

impl Series {
    /// Puts the rows in the order of time, flow and subflow, whatever the order in which they came.
    pub fn put_in_order(&mut self) {
        self.rates.put_in_order();
        self.windows
            .sort_by_key(|row| (row.at, row.flow, row.subflow));
        self.rtts.sort_by_key(|row| (row.at, row.flow, row.subflow));
        if let Some(suspensions) = &mut self.suspensions {
            suspensions.sort_by_key(|row| (row.at, row.flow, row.subflow));
        }
    }
}
