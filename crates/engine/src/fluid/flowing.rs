//! Traffic that reacts to rates: a flow ends when its rate has carried its bytes.

use super::fabric::FluidFabric;
use super::paths::{FlowPaths, check_sources};
use super::{Allocator, Answer, FluidFlow, FluidPath, Problem};
use crate::build;
use crate::flows::ideal::ideal;
use crate::flows::paths::PathList;
use crate::flows::rows::{Rtts, SubflowColumns, SubflowRow, TotalsColumns};
use crate::measurement::measurement_windows::{
    CountersAtStart, FlowShares, MeasurementWindow, measurement_windows,
};
use crate::measurement::recovery::Recoveries;
use crate::outcome::{RunError, Verdict};
use crate::record::{Record, Switches};
use crate::schedule::traffic_agenda::{Act, TrafficAgenda, Whose};
use crate::workload::Workload;
use pathweave_fabric::routing::Router;
use pathweave_scenario::Plan;
use pathweave_units::{Bytes, Rate, Time};
use std::collections::BTreeMap;

/// Runs a plan with the allocator's rates in place of packets.
///
/// # Errors
/// As a simulation, and when the allocator has none.
pub(crate) fn flow<'p>(
    plan: &'p Plan,
    allocator: &mut dyn Allocator,
) -> Result<Record<'p>, RunError> {
    Flowing::new(plan)?.run(allocator)
}

/// A flow under way.
struct Active {
    own: FlowPaths,
    /// Payload (bit/s) of each subflow.
    rates: Vec<f64>,
    /// Payload (bits) that each subflow has carried.
    received: Vec<f64>,
    /// When its last bit is through at these rates.
    due: Time,
}

impl Active {
    fn delivered(&self) -> Bytes {
        Bytes::new(bytes(self.received.iter().sum()))
    }
}

struct Flowing<'p> {
    plan: &'p Plan,
    packet: Bytes,
    router: Router,
    workload: Workload<'p>,
    agenda: TrafficAgenda,
    now: Time,
    fabric: FluidFabric<'p>,
    windows: Vec<MeasurementWindow>,
    active: BTreeMap<u32, Active>,
    /// What flows that have ended left behind.
    received: BTreeMap<u32, Vec<f64>>,
    subflow_rows: Vec<SubflowRow>,
    path_list: PathList,
    /// Rates (bit/s, headers included) of the paths in use, with their links.
    loads: Vec<(usize, f64)>,
    /// Something has changed since the allocator was asked.
    changed: bool,
}

impl<'p> Flowing<'p> {
    fn new(plan: &'p Plan) -> Result<Flowing<'p>, RunError> {
        check_sources(plan)?;
        let router = Router::new(&plan.fabric, plan.routing.clone(), plan.seed)
            .map_err(|error| RunError::Plan(error.to_string()))?;
        Ok(Flowing {
            workload: Workload::new(plan, &router).map_err(RunError::Plan)?,
            agenda: TrafficAgenda::default(),
            now: Time::ZERO,
            fabric: FluidFabric::new(plan),
            windows: measurement_windows(plan),
            packet: build::full_packet(plan),
            active: BTreeMap::new(),
            received: BTreeMap::new(),
            subflow_rows: Vec::new(),
            path_list: PathList::default(),
            loads: Vec::new(),
            changed: false,
            router,
            plan,
        })
    }

    fn run(mut self, allocator: &mut dyn Allocator) -> Result<Record<'p>, RunError> {
        self.workload.schedule(&mut self.agenda);
        let verdict = self.run_to_the_end(allocator)?;
        let now = self.now;
        self.close_windows(now, true);
        for number in self.active.keys().copied().collect::<Vec<_>>() {
            let delivered = self.active[&number].delivered();
            let stalled = self.has_no_path(number);
            let flow = &mut self.workload.flows[number as usize];
            (flow.delivered, flow.stalled) = (delivered, stalled);
            self.collect(number);
        }
        let subflows = SubflowColumns::sorted(std::mem::take(&mut self.subflow_rows));
        let flows = self.workload.flows.len();
        Ok(Record {
            plan: self.plan,
            verdict,
            ended: now,
            traffic: self.workload.over(),
            subflows,
            // There are no packets.
            totals: TotalsColumns::of(&[], flows),
            waits: None,
            sender_limits: None,
            paths: self.path_list,
            windows: self.windows,
            series: None,
            recoveries: Recoveries::default(),
            packet_hops: 0,
            links: Vec::new(),
            switches: Switches::default(),
            captures: Vec::new(),
            capture_notes: Vec::new(),
        })
    }

    fn run_to_the_end(&mut self, allocator: &mut dyn Allocator) -> Result<Verdict, RunError> {
        loop {
            if let Some(verdict) = self.workload.ended {
                return Ok(verdict);
            }
            let now = self.now;
            if self.next_outside() > now && self.changed {
                self.changed = false;
                if !self.allocate(allocator)? {
                    return Ok(Verdict::Stopped);
                }
            }
            let due = self.active.values().map(|active| active.due).min();
            let next = self.next_outside().min(due.unwrap_or(Time::MAX));
            if next == Time::MAX {
                let done = self.active.is_empty() && self.workload.pending == 0;
                return Ok(if done {
                    Verdict::Finished
                } else {
                    Verdict::Stalled
                });
            }
            self.carry_until(next);
            self.control(next);
            while self.agenda.concerns_run(next) {
                self.follow_agenda();
            }
            self.finish_what_is_due(next);
            while self.workload.ended.is_none() && self.follow_agenda() {}
            let over = self.active.is_empty() && !self.workload.starts_to_come();
            if over && self.workload.ends_with_flows() && self.workload.ended.is_none() {
                self.workload.ended = Some(Verdict::Finished);
            }
        }
    }

    /// When something next happens that does not depend on the rates.
    fn next_outside(&self) -> Time {
        let window = self
            .windows
            .iter()
            .map(MeasurementWindow::next_boundary)
            .min();
        self.agenda
            .next()
            .min(self.fabric.next_change())
            .min(window.unwrap_or(Time::MAX))
    }

    /// Asks for rates. False when there will be none any more.
    fn allocate(&mut self, allocator: &mut dyn Allocator) -> Result<bool, RunError> {
        let now = self.now;
        self.loads.clear();
        let open = |path: &&FluidPath| path.opened <= now;
        let flows: Vec<FluidFlow<'_>> = self
            .active
            .iter()
            .map(|(&number, active)| {
                let flow = &self.workload.flows[number as usize];
                let group = &self.plan.groups[flow.group as usize];
                let (controller, parameters) = group.controller_of(flow.listed);
                FluidFlow {
                    number,
                    source: flow.source,
                    destination: flow.destination,
                    controller,
                    parameters,
                    paths: active.own.paths.iter().filter(open).collect(),
                }
            })
            .collect();
        let mut rates = Vec::new();
        if flows.iter().any(|flow| !flow.paths.is_empty()) {
            let problem = Problem {
                now,
                done: self.workload.fraction(now),
                capacities: &self.fabric.now,
                packet: self.packet,
                flows,
            };
            match allocator.allocate(&problem).map_err(RunError::Plan)? {
                Answer::Rates(allocation) => rates = allocation.rates,
                Answer::Enough => return Ok(false),
            }
        }
        let mut rates = rates.into_iter();
        for (&number, active) in &mut self.active {
            active.rates.fill(0.0);
            for path in active.own.paths.iter().filter(open) {
                let rate = rates.next().unwrap_or(0.0).max(0.0);
                active.rates[path.subflow as usize] += rate * active.own.payload_share;
                let links = path.links.iter().map(|link| (link.0 as usize, rate));
                self.loads.extend(links);
            }
            let size = self.workload.flows[number as usize].size;
            active.due = size.map_or(Time::MAX, |size| {
                let done: f64 = active.received.iter().sum();
                let left = size.get() as f64 * 8.0 - done;
                after(now, left, active.rates.iter().sum())
            });
        }
        Ok(true)
    }

    /// Everything under way goes on at its rate until then.
    fn carry_until(&mut self, to: Time) {
        let seconds = (to - self.now).as_secs_f64();
        for active in self.active.values_mut() {
            for (received, rate) in active.received.iter_mut().zip(&active.rates) {
                *received += rate * seconds;
            }
        }
        for &(link, rate) in &self.loads {
            self.fabric.carry(link, rate * seconds);
        }
        self.now = to;
    }

    fn control(&mut self, now: Time) {
        self.close_windows(now, false);
        self.open_windows(now);
        self.changed |= self.fabric.change(now);
    }

    fn finish_what_is_due(&mut self, now: Time) {
        let due = |(&number, active): (&u32, &Active)| (active.due <= now).then_some(number);
        for number in self.active.iter().filter_map(due).collect::<Vec<_>>() {
            if self.workload.ended.is_none() {
                let size = self.workload.flows[number as usize].size;
                let delivered = self.active[&number].delivered();
                self.finish(number, size.unwrap_or(delivered));
            }
        }
    }

    fn finish(&mut self, number: u32, delivered: Bytes) {
        self.changed = true;
        self.collect(number);
        self.workload.end(number, delivered, self.now);
        self.workload.hear_end(number, self.now, &mut self.agenda);
    }

    /// Carries out the next entry of the agenda. False if nothing is due.
    fn follow_agenda(&mut self) -> bool {
        let now = self.now;
        let Some(entry) = self.agenda.take_due(now) else {
            return false;
        };
        match entry.act {
            Act::Close => self.workload.close(),
            Act::End => self.workload.ended = Some(Verdict::Stopped),
            Act::StartFlow(number) => self.start(number, now),
            Act::StopFlow(number) => self.stop(number),
            Act::Begin => {
                let group = entry.whose.group();
                self.workload.begin(group, now, &mut self.agenda);
            }
            Act::Stop => {
                for number in self.workload.stop_group(entry.whose.group()) {
                    self.stop(number);
                }
            }
            Act::Wake => {
                let group = entry.whose.group();
                self.workload.wake(group, now, &mut self.agenda);
            }
            Act::OpenPath(_) => self.changed = true,
            Act::Look | Act::Finished(_) | Act::HearStop(..) => {
                unreachable!("rates say what becomes of a flow")
            }
        }
        true
    }

    fn start(&mut self, number: u32, now: Time) {
        if !self.workload.start(number, now) {
            return;
        }
        self.changed = true;
        let flow = &self.workload.flows[number as usize];
        let own = FlowPaths::of(self.plan, &self.router, number, flow, &mut self.path_list);
        for path in own.paths.iter().filter(|path| path.opened > now) {
            let whose = Whose::Group(flow.group);
            self.agenda.add(path.opened, whose, Act::OpenPath(number));
        }
        let ideal = ideal(self.plan, number, flow, &own.ways);
        let subflows = flow.subflows as usize;
        let empty = flow.size == Some(Bytes::ZERO);
        let active = Active {
            own,
            rates: vec![0.0; subflows],
            received: vec![0.0; subflows],
            due: if empty { now } else { Time::MAX },
        };
        self.active.insert(number, active);
        self.workload.flows[number as usize].ideal = ideal;
    }

    fn stop(&mut self, number: u32) {
        self.workload.stop(number);
        if let Some(active) = self.active.get(&number) {
            let delivered = active.delivered();
            self.finish(number, delivered);
        }
    }

    fn has_no_path(&self, number: u32) -> bool {
        let mut paths = self.active[&number].own.paths.iter();
        !paths.any(|path| {
            let mut links = path.links.iter();
            links.all(|link| self.fabric.now[link.0 as usize] > Rate::ZERO)
        })
    }

    /// Turns a flow's subflows into rows.
    fn collect(&mut self, number: u32) {
        let Some(active) = self.active.remove(&number) else {
            return;
        };
        for (subflow, &bits) in (0..).zip(&active.received) {
            let mut paths = active.own.paths.iter();
            let opened = paths
                .find(|path| path.subflow == subflow)
                .map(|path| path.opened)
                .filter(|&opened| opened <= self.now);
            self.subflow_rows.push(SubflowRow {
                flow: number,
                subflow,
                opened,
                received: bytes(bits),
                first: bytes(bits),
                sent_packets: 0,
                retransmits: 0,
                reinjected: 0,
                timeouts: 0,
                marks: 0,
                held: 0,
                rtts: Rtts::default(),
                path: active.own.named[subflow as usize],
            });
        }
        self.received.insert(number, active.received);
    }

    fn open_windows(&mut self, now: Time) {
        for window in &mut self.windows {
            if window.at_start.is_some() || window.from > now {
                continue;
            }
            let mark = |(&number, active): (&u32, &Active)| (number, in_bytes(&active.received));
            window.at_start = Some(CountersAtStart {
                flows: self.active.iter().map(mark).collect(),
                links: self.fabric.counters().collect(),
                capacity: self
                    .fabric
                    .capacities
                    .iter()
                    .map(|c| c.until(now))
                    .collect(),
            });
        }
    }

    fn close_windows(&mut self, now: Time, run_ends: bool) {
        for index in 0..self.windows.len() {
            let window = &self.windows[index];
            let due = window.to <= now || run_ends;
            let Some(at_start) = window
                .at_start
                .as_ref()
                .filter(|_| due && window.closed.is_none())
            else {
                continue;
            };
            let mut flows = FlowShares::default();
            for (number, flow) in (0..).zip(&self.workload.flows) {
                let from = flow.start.max(window.from);
                let to = flow.end.unwrap_or(now).min(now);
                let active = self.active.get(&number).map(|active| &active.received);
                let Some(received) = active.or_else(|| self.received.get(&number)) else {
                    continue;
                };
                if to > from {
                    let before = at_start.flows.get(&number);
                    flows.push(number, to - from, before, in_bytes(received));
                }
            }
            let carried = self.fabric.counters();
            let mut links = window.link_shares(now, carried, &self.fabric.capacities);
            for link in &mut links {
                link.queue_mean = f64::NAN; // there are no queues
            }
            let window = &mut self.windows[index];
            (window.flows, window.links) = (flows, links);
            window.closed = Some(now);
        }
    }
}

fn bytes(bits: f64) -> u64 {
    (bits / 8.0).round() as u64
}

fn in_bytes(bits: &[f64]) -> Vec<f64> {
    bits.iter().map(|&bits| bits / 8.0).collect()
}

/// When this many bits are through; never at a rate of zero.
fn after(now: Time, bits: f64, rate: f64) -> Time {
    let picos = (bits.max(0.0) / rate * 1e12).ceil();
    if picos < (Time::MAX - now).as_picos() as f64 {
        now + Time::from_picos(picos as u64)
    } else {
        Time::MAX
    }
}
