//! Windows of time that tables cover: what was so at their start is taken from what is at their end.

use crate::capacity::Capacity;
use pathweave_network::LinkStatistics;
use pathweave_scenario::{Phase, Plan};
use pathweave_units::{Bytes, Time};
use std::collections::BTreeMap;

/// The windows of a plan: the main one, then its phases.
pub(crate) fn plan_windows(plan: &Plan) -> Vec<Window> {
    let end = plan.measure.to.unwrap_or(Time::MAX);
    let main = Window::new(None, plan.measure.from, end);
    let phases = plan.measure.phases.iter();
    let named = |phase: &Phase| Window::new(Some(phase.name.clone()), phase.from, phase.to);
    std::iter::once(main).chain(phases.map(named)).collect()
}

/// Flow counters when a window began.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowMark {
    pub delivered: Bytes,
    /// Payload that had arrived on each subflow.
    pub received: Vec<u64>,
}

/// Counters when a window began.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    /// Of the flows that were under way; others began at zero.
    pub flows: BTreeMap<u32, FlowMark>,
    /// Of each link, by its number in the network.
    pub links: Vec<LinkStatistics>,
    /// Bits that each link could have carried so far.
    pub capacity: Vec<f64>,
}

/// What a flow did within a window.
#[derive(Clone, Debug)]
pub(crate) struct FlowShare {
    pub flow: u32,
    /// Payload delivered in order.
    pub delivered: u64,
    /// Payload that arrived on each subflow.
    pub received: Vec<u64>,
    /// The part of the flow's life within the window.
    pub duration: Time,
}

/// What a link did within a window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkShare {
    pub statistics: LinkStatistics,
    pub capacity_bits: f64,
    pub queue_mean: f64,
    /// The 99th percentile of the queue as arrivals found it; of phases it is not known.
    pub queue_p99: f64,
}

/// A window and, once it is over, what happened in it.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// `None` for the one that the main tables cover.
    pub phase: Option<String>,
    pub from: Time,
    /// `Time::MAX` for the end of the run.
    pub to: Time,
    pub marks: Option<Marks>,
    pub flows: Vec<FlowShare>,
    pub links: Vec<LinkShare>,
    pub closed: Option<Time>,
}

impl Window {
    pub fn new(phase: Option<String>, from: Time, to: Time) -> Window {
        Window {
            phase,
            from,
            to,
            marks: None,
            flows: Vec::new(),
            links: Vec::new(),
            closed: None,
        }
    }

    /// When it has to be opened or closed next.
    pub fn next_boundary(&self) -> Time {
        match (&self.marks, self.closed) {
            (_, Some(_)) => Time::MAX,
            (None, None) => self.from,
            (Some(_), None) => self.to,
        }
    }

    /// Whether the main tables cover it.
    pub fn is_main(&self) -> bool {
        self.phase.is_none()
    }

    /// The share of links since the window opened.
    pub fn link_shares(
        &self,
        now: Time,
        statistics: impl Iterator<Item = LinkStatistics>,
        capacities: &[Capacity],
    ) -> Vec<LinkShare> {
        let Some(marks) = &self.marks else {
            return Vec::new();
        };
        let duration = now - self.from;
        statistics
            .zip(capacities)
            .zip(marks.links.iter().zip(&marks.capacity))
            .map(|((statistics, capacity), (before, capacity_before))| {
                let statistics = statistics.since(before);
                LinkShare {
                    statistics,
                    capacity_bits: capacity.bits(now) - capacity_before,
                    queue_mean: statistics.mean_waiting(duration),
                    queue_p99: f64::NAN,
                }
            })
            .collect()
    }
}
