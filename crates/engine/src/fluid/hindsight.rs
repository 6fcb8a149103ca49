//! The rates that flows could have had in a run that has happened.

use super::fabric::FluidFabric;
use super::paths::{FlowPaths, check_sources};
use super::{Allocation, Allocator, Answer, FluidFlow, FluidPath, Problem};
use crate::build;
use crate::flows::flow::Flow;
use crate::flows::paths::PathList;
use crate::measurement::measurement_windows::{MeasurementWindow, measurement_windows};
use crate::outcome::RunError;
use crate::table::{Column, Table};
use pathweave_fabric::routing::Router;
use pathweave_scenario::Plan;
use pathweave_traffic::FlowStart;
use pathweave_units::Time;
use std::collections::BTreeMap;

/// A flow of a run that has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    /// Index of its traffic group.
    pub group: u32,
    /// Index of the sending host.
    pub source: u32,
    /// Index of the receiving host.
    pub destination: u32,
    /// When it started.
    pub start: Time,
    /// When it ended; the run's end for one that did not.
    pub end: Time,
}

/// What the flows of a run could have had.
#[derive(Clone, Debug)]
pub struct Optimum {
    /// `optimum`: the mean goodput by flow in the measurement window and in each phase, not a number
    /// for one that no moment of a sample saw; `time_s` that the mean stands for, the share of its life
    /// that was asked for (`seen`), and at how many `moments` of a sample. `optimum_subflows`: the mean
    /// goodput by subflow.
    pub tables: Vec<Table>,
    /// Times between two changes, within the windows.
    pub intervals: usize,
    /// How many of them were asked for.
    pub asked: usize,
}

/// Asks for the rates of the flows of a run, given in the order of their numbers, and averages them
/// over its windows.
///
/// If there are more than `limit` intervals between changes, `limit` moments are spread evenly over the
/// time, and the intervals in which they lie are taken. One that is shorter than the moments are apart stands
/// for that time: it is the rarer taken the shorter it is.
///
/// # Errors
/// As a simulation, and when the allocator has none.
pub fn optimum_in_hindsight(
    plan: &Plan,
    lives: &[Life],
    limit: usize,
    allocator: &mut dyn Allocator,
) -> Result<Optimum, RunError> {
    check_sources(plan)?;
    let router = Router::new(&plan.fabric, plan.routing.clone(), plan.seed)
        .map_err(|error| RunError::Plan(error.to_string()))?;
    let flows = flows(plan, lives);
    let mut list = PathList::default();
    let paths: Vec<FlowPaths> = (0..)
        .zip(&flows)
        .map(|(number, flow)| FlowPaths::of(plan, &router, number, flow, &mut list))
        .collect();
    let windows = measurement_windows(plan);
    let intervals = intervals(plan, &windows, &flows, &paths);
    let chosen = choose(&intervals, limit);
    let mut means = Means::new(&windows, &flows);
    let mut fabric = FluidFabric::new(plan);
    let packet = build::full_packet(plan);
    for (index, taken) in chosen.iter().enumerate() {
        let interval = &taken.interval;
        fabric.change(interval.from);
        let here: Vec<u32> = under_way(&flows, interval.from).collect();
        let open = |path: &&FluidPath| path.opened <= interval.from;
        let fluid = |&number: &u32| {
            let flow = &flows[number as usize];
            let (controller, parameters) =
                plan.groups[flow.group as usize].controller_of(flow.listed);
            FluidFlow {
                number,
                source: flow.source,
                destination: flow.destination,
                controller,
                parameters,
                paths: paths[number as usize].paths.iter().filter(open).collect(),
            }
        };
        let problem = Problem {
            now: interval.from,
            done: index as f64 / chosen.len() as f64,
            capacities: &fabric.now,
            packet,
            flows: here.iter().map(fluid).collect(),
        };
        let answer = if problem.flows.iter().any(|flow| !flow.paths.is_empty()) {
            allocator.allocate(&problem).map_err(RunError::Plan)?
        } else {
            // Nobody can have anything.
            Answer::Rates(Allocation {
                rates: Vec::new(),
                split_unique: vec![true; problem.flows.len()],
            })
        };
        let Answer::Rates(allocation) = answer else {
            break;
        };
        let mut rates = allocation.rates.iter();
        for (flow, &split_unique) in problem.flows.iter().zip(&allocation.split_unique) {
            let own = &paths[flow.number as usize];
            let mut payload = vec![0.0; flows[flow.number as usize].subflows as usize];
            for path in &flow.paths {
                payload[path.subflow as usize] += rates.next().unwrap_or(&0.0) * own.payload_share;
            }
            means.add(taken, flow.number, &payload, split_unique);
        }
    }
    Ok(Optimum {
        tables: means.tables(),
        intervals: intervals.len(),
        asked: chosen.len(),
    })
}

/// Flows as a workload would have made them.
fn flows(plan: &Plan, lives: &[Life]) -> Vec<Flow> {
    // A group's tags count up, and those of a list are its entries.
    let mut tags = vec![0u64; plan.groups.len()];
    let flow = |life: &Life| {
        let group = &plan.groups[life.group as usize];
        let tag = tags[life.group as usize];
        tags[life.group as usize] += 1;
        let start = FlowStart {
            tag,
            source: life.source,
            destination: life.destination,
            size: None,
            at: life.start,
            stop: None,
            job: None,
            listed: (!group.listed.is_empty()).then_some(tag as u32),
            established: false,
        };
        Flow {
            end: Some(life.end),
            ..Flow::new(life.group, group, &start)
        }
    };
    lives.iter().map(flow).collect()
}

fn under_way(flows: &[Flow], at: Time) -> impl Iterator<Item = u32> {
    (0..)
        .zip(flows)
        .filter(move |(_, flow)| flow.start <= at && flow.end.is_some_and(|end| at < end))
        .map(|(number, _)| number)
}

/// A time in which nothing changes, and the windows that it lies in.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Interval {
    from: Time,
    to: Time,
    windows: Vec<usize>,
}

impl Interval {
    fn seconds(&self) -> f64 {
        (self.to - self.from).as_secs_f64()
    }
}

/// The intervals between changes that lie in a window and in which a flow is under way.
fn intervals(
    plan: &Plan,
    windows: &[MeasurementWindow],
    flows: &[Flow],
    paths: &[FlowPaths],
) -> Vec<Interval> {
    let last = flows.iter().filter_map(|flow| flow.end).max();
    let last = last.unwrap_or(Time::ZERO);
    // How many more flows are under way from each time on.
    let mut changes: BTreeMap<Time, i64> = BTreeMap::new();
    for flow in flows {
        *changes.entry(flow.start).or_default() += 1;
        *changes.entry(flow.end.unwrap_or(last)).or_default() -= 1;
    }
    let openings = paths
        .iter()
        .flat_map(|own| own.paths.iter().map(|path| path.opened));
    let events = plan.events.iter().map(|event| event.at);
    let boundaries = windows
        .iter()
        .flat_map(|window| [window.from, window.to.min(last)]);
    for time in openings.chain(events).chain(boundaries) {
        changes.entry(time).or_default();
    }
    let mut intervals = Vec::new();
    let mut under_way = 0;
    let mut changes = changes.into_iter().peekable();
    while let Some((from, change)) = changes.next() {
        under_way += change;
        let Some(&(to, _)) = changes.peek().filter(|(to, _)| *to <= last) else {
            break;
        };
        let within =
            |(_, window): &(usize, &MeasurementWindow)| window.from <= from && to <= window.to;
        let inside: Vec<usize> = windows
            .iter()
            .enumerate()
            .filter(within)
            .map(|(index, _)| index)
            .collect();
        if !inside.is_empty() && under_way > 0 {
            intervals.push(Interval {
                from,
                to,
                windows: inside,
            });
        }
    }
    intervals
}

/// An interval to ask for.
struct Taken {
    interval: Interval,
    /// Seconds that it stands for.
    weight: f64,
    /// Moments of a sample that lie in it.
    moments: u64,
}

/// The intervals to ask for.
fn choose(intervals: &[Interval], limit: usize) -> Vec<Taken> {
    if intervals.len() <= limit {
        let whole = |interval: &Interval| Taken {
            interval: interval.clone(),
            weight: interval.seconds(),
            moments: 0,
        };
        return intervals.iter().map(whole).collect();
    }
    let total: f64 = intervals.iter().map(Interval::seconds).sum();
    let step = total / limit as f64;
    let mut chosen = Vec::new();
    let (mut passed, mut moments) = (0.0, 0.0);
    for interval in intervals {
        passed += interval.seconds();
        // The k-th moment is at (k + 1/2) steps.
        let until = (passed / step + 0.5).floor().min(limit as f64);
        if until > moments {
            chosen.push(Taken {
                interval: interval.clone(),
                weight: interval.seconds().max(step),
                moments: (until - moments) as u64,
            });
            moments = until;
        }
    }
    chosen
}

/// Mean rates by window, flow and subflow.
struct Means {
    phases: Vec<String>,
    sums: BTreeMap<(usize, u32), Sum>,
}

/// Of a flow in a window.
struct Sum {
    /// Seconds of its life.
    life: f64,
    /// Seconds of those that were asked for.
    seen: f64,
    /// Seconds that these stand for.
    weight: f64,
    /// Moments of a sample in them.
    moments: u64,
    /// Rate times weight of each subflow.
    rates: Vec<f64>,
    split_unique: bool,
}

impl Means {
    fn new(windows: &[MeasurementWindow], flows: &[Flow]) -> Means {
        let name = |window: &MeasurementWindow| window.phase.clone().unwrap_or_default();
        let mut sums = BTreeMap::new();
        for (window, flow) in
            (0..windows.len()).flat_map(|at| (0..flows.len()).map(move |f| (at, f)))
        {
            let (within, own) = (&windows[window], &flows[flow]);
            let from = own.start.max(within.from);
            let to = own.end.unwrap_or(own.start).min(within.to);
            if from < to {
                let sum = Sum {
                    life: (to - from).as_secs_f64(),
                    seen: 0.0,
                    weight: 0.0,
                    moments: 0,
                    rates: vec![0.0; own.subflows as usize],
                    split_unique: true,
                };
                sums.insert((window, flow as u32), sum);
            }
        }
        Means {
            phases: windows.iter().map(name).collect(),
            sums,
        }
    }

    fn add(&mut self, taken: &Taken, flow: u32, rates: &[f64], split_unique: bool) {
        for &window in &taken.interval.windows {
            let Some(sum) = self.sums.get_mut(&(window, flow)) else {
                continue;
            };
            sum.seen += taken.interval.seconds();
            sum.weight += taken.weight;
            sum.moments += taken.moments;
            sum.split_unique &= split_unique;
            for (sum, rate) in sum.rates.iter_mut().zip(rates) {
                *sum += rate * taken.weight;
            }
        }
    }

    fn tables(&self) -> Vec<Table> {
        let sums = || self.sums.iter();
        let phases = |codes: Vec<u32>| Column::Labels {
            names: self.phases.iter().collect(),
            codes,
        };
        let numbers = |of: fn(&Sum) -> f64| Column::Numbers(self.sums.values().map(of).collect());
        let flows = vec![
            (
                "phase",
                phases(sums().map(|((window, _), _)| *window as u32).collect()),
            ),
            (
                "flow",
                Column::Integers(sums().map(|((_, flow), _)| u64::from(*flow)).collect()),
            ),
            (
                "goodput_bps",
                numbers(|sum| sum.rates.iter().sum::<f64>() / sum.weight),
            ),
            ("time_s", numbers(|sum| sum.weight)),
            ("seen", numbers(|sum| sum.seen / sum.life)),
            (
                "moments",
                Column::Integers(self.sums.values().map(|sum| sum.moments).collect()),
            ),
            (
                "split_unique",
                Column::Flags(self.sums.values().map(|sum| sum.split_unique).collect()),
            ),
        ];
        let (mut codes, mut flow, mut subflow) = (Vec::new(), Vec::new(), Vec::new());
        let mut goodput = Vec::new();
        for ((window, number), sum) in sums() {
            for (index, rate) in sum.rates.iter().enumerate() {
                codes.push(*window as u32);
                flow.push(u64::from(*number));
                subflow.push(index as u64);
                goodput.push(rate / sum.weight);
            }
        }
        let subflows = vec![
            ("phase", phases(codes)),
            ("flow", Column::Integers(flow)),
            ("subflow", Column::Integers(subflow)),
            ("goodput_bps", Column::Numbers(goodput)),
        ];
        vec![
            Table {
                name: "optimum",
                columns: flows,
            },
            Table {
                name: "optimum_subflows",
                columns: subflows,
            },
        ]
    }
}
