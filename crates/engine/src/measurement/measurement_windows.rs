//! Windows of time that tables cover: what was so at their start is taken from what is at their end.

use crate::measurement::capacity::Capacity;
use pathweave_network::{LinkStatistics, Network, PacketContent, Ports};
use pathweave_scenario::{Phase, Plan};
use pathweave_units::Time;
use std::collections::BTreeMap;

/// The windows of a plan: the main one, then its phases.
pub(crate) fn measurement_windows(plan: &Plan) -> Vec<MeasurementWindow> {
    let end = plan.measure.to.unwrap_or(Time::MAX);
    let main = MeasurementWindow::new(None, plan.measure.from, end);
    let phases = plan.measure.phases.iter();
    let named =
        |phase: &Phase| MeasurementWindow::new(Some(phase.name.clone()), phase.from, phase.to);
    std::iter::once(main).chain(phases.map(named)).collect()
}

/// Counters of a link.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkCounters {
    pub statistics: LinkStatistics,
    /// Bits that it has sent, times picoseconds a second.
    pub sent: u128,
}

/// The counters of this many links, by their number, each in a network.
pub(crate) fn link_counters<'a, S: PacketContent + 'a, P: Ports + 'a>(
    links: u32,
    network_of: impl Fn(u32) -> &'a Network<S, P>,
    now: Time,
) -> impl Iterator<Item = LinkCounters> {
    (0..links).map(move |link| {
        let network = network_of(link);
        LinkCounters {
            statistics: network.statistics(link, now),
            sent: network.sent(link, now),
        }
    })
}

/// Counters when a window began.
#[derive(Clone, Debug, Default)]
pub(crate) struct CountersAtStart {
    /// Payload (bytes) that had arrived for the first time on each subflow, of the flows that were under way; others
    /// began at zero.
    pub flows: BTreeMap<u32, Vec<f64>>,
    /// Of each link, by its number in the network.
    pub links: Vec<LinkCounters>,
    /// Bits that each link could have carried so far, times picoseconds a second.
    pub capacity: Vec<u128>,
}

/// What a flow did within a window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowShare<'a> {
    pub flow: u32,
    /// Payload (bytes) that arrived for the first time, on each subflow.
    pub received: &'a [f64],
    /// The part of the flow's life within the window; never empty.
    pub duration: Time,
}

impl FlowShare<'_> {
    /// Payload (bytes) that arrived for the first time.
    pub fn bytes(&self) -> f64 {
        self.received.iter().sum()
    }

    /// The flow's rate over its time in the window, in bit/s.
    pub fn rate(&self) -> f64 {
        self.rate_of(self.bytes())
    }

    /// The rate that this many bytes make over the flow's time in the window, in bit/s.
    pub fn rate_of(&self, bytes: f64) -> f64 {
        bytes * 8.0 / self.duration.as_secs_f64()
    }
}

/// What flows did within a window, in the order of their numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowShares {
    flows: Vec<FlowPart>,
    /// Payload (bytes) that arrived for the first time, on each subflow of one flow after another.
    received: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
struct FlowPart {
    flow: u32,
    /// Where its subflows end in `received`.
    end: u32,
    duration: Time,
}

impl FlowShares {
    /// With room for this many flows.
    pub fn with_capacity(flows: usize) -> FlowShares {
        FlowShares {
            flows: Vec::with_capacity(flows),
            received: Vec::with_capacity(flows),
        }
    }

    /// Adds a flow, with what it had received on each subflow before the window and at its end.
    pub fn push(
        &mut self,
        flow: u32,
        duration: Time,
        before: Option<&Vec<f64>>,
        received: impl IntoIterator<Item = f64>,
    ) {
        let from = self.received.len();
        self.received.extend(received);
        let before = before.map_or(&[][..], Vec::as_slice);
        for (received, before) in self.received[from..].iter_mut().zip(before) {
            *received -= before;
        }
        self.flows.push(FlowPart {
            flow,
            end: self.received.len() as u32,
            duration,
        });
    }

    /// The shares of all flows.
    pub fn iter(&self) -> impl Iterator<Item = FlowShare<'_>> {
        let mut from = 0;
        self.flows.iter().map(move |part| {
            let end = part.end as usize;
            let received = &self.received[from..end];
            from = end;
            FlowShare {
                flow: part.flow,
                received,
                duration: part.duration,
            }
        })
    }

    /// What a flow received on each subflow; nothing if it has no share.
    pub fn received(&self, flow: u32) -> &[f64] {
        match self.flows.binary_search_by_key(&flow, |part| part.flow) {
            Ok(place) => &self.received[self.subflows(place)],
            Err(_) => &[],
        }
    }

    /// A subflow received this much more, if its flow has a share.
    pub fn add(&mut self, flow: u32, subflow: u32, bytes: f64) {
        if let Ok(place) = self.flows.binary_search_by_key(&flow, |part| part.flow) {
            let subflows = self.subflows(place);
            if let Some(received) = self.received[subflows].get_mut(subflow as usize) {
                *received += bytes;
            }
        }
    }

    /// The places of a flow's subflows, by its own.
    fn subflows(&self, place: usize) -> std::ops::Range<usize> {
        let from = place
            .checked_sub(1)
            .map_or(0, |before| self.flows[before].end);
        from as usize..self.flows[place].end as usize
    }
}

/// What a link did within a window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinkShare {
    pub statistics: LinkStatistics,
    /// What it sent, as a share of what it could have sent; NaN for none.
    pub utilisation: f64,
    pub queue_mean: f64,
    /// The 99th percentile of the queue as arrivals found it; of phases it is not known.
    pub queue_p99: f64,
}

/// A window and, once it is over, what happened in it.
#[derive(Clone, Debug)]
pub(crate) struct MeasurementWindow {
    /// `None` for the one that the main tables cover.
    pub phase: Option<String>,
    pub from: Time,
    /// `Time::MAX` for the end of the run.
    pub to: Time,
    pub at_start: Option<CountersAtStart>,
    pub flows: FlowShares,
    pub links: Vec<LinkShare>,
    pub closed: Option<Time>,
}

impl MeasurementWindow {
    pub fn new(phase: Option<String>, from: Time, to: Time) -> MeasurementWindow {
        MeasurementWindow {
            phase,
            from,
            to,
            at_start: None,
            flows: FlowShares::default(),
            links: Vec::new(),
            closed: None,
        }
    }

    /// When it has to be opened or closed next.
    pub fn next_boundary(&self) -> Time {
        match (&self.at_start, self.closed) {
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
        links: impl Iterator<Item = LinkCounters>,
        capacities: &[Capacity],
    ) -> Vec<LinkShare> {
        let Some(at_start) = &self.at_start else {
            return Vec::new();
        };
        let duration = now - self.from;
        links
            .zip(capacities)
            .zip(at_start.links.iter().zip(&at_start.capacity))
            .map(|((link, capacity), (before, capacity_before))| {
                let statistics = link.statistics.since(&before.statistics);
                let (sent, capacity) = (
                    link.sent - before.sent,
                    capacity.until(now) - capacity_before,
                );
                LinkShare {
                    statistics,
                    utilisation: sent as f64 / capacity as f64,
                    queue_mean: statistics.mean_waiting(duration),
                    queue_p99: f64::NAN,
                }
            })
            .collect()
    }

    /// A packet has arrived, of which this many bytes had come before this boundary: they are of the window that
    /// ended there, and not of the one that began.
    pub fn move_back(&mut self, boundary: Time, flow: u32, subflow: u32, bytes: f64) {
        let place = subflow as usize;
        let begins = self.at_start.is_some() && self.from == boundary;
        let mut moved = 0.0;
        if self.closed == Some(boundary) {
            moved += bytes;
        }
        if begins && self.closed.is_some() {
            moved -= bytes;
        } else if begins && let Some(at_start) = &mut self.at_start {
            let mark = at_start.flows.entry(flow).or_default();
            mark.resize(mark.len().max(place + 1), 0.0);
            mark[place] += bytes;
        }
        if moved != 0.0 {
            self.flows.add(flow, subflow, moved);
        }
    }
}
