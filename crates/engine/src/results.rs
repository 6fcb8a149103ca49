//! From counters to result tables.

use crate::flows::Flow;
use crate::simulation::Simulation;
use crate::table::{Column, Table, results_hash};
use crate::windows::Window;
use pathweave_network::Port;
use pathweave_units::Time;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A condition of the scenario's `[stop]` held.
    Stopped,
    /// All flows have finished and none would have come.
    Finished,
    /// The flows that are left have no live path, and no link will come back.
    Stalled,
}

impl Verdict {
    /// The word that manifests carry.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Stopped => "stopped",
            Verdict::Finished => "finished",
            Verdict::Stalled => "stalled",
        }
    }
}

/// Sums over a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counters {
    /// Simulated time when it ended.
    pub ended: Time,
    /// Packets that reached the far end of a link.
    pub packet_hops: u64,
    /// Packets dropped at full queues.
    pub dropped: u64,
    /// Packets lost to links that went down.
    pub lost_to_failures: u64,
    /// Packets marked.
    pub marked: u64,
    /// Flows that were asked for.
    pub flows_started: u64,
    /// Flows whose last byte was delivered.
    pub flows_finished: u64,
    /// Payload delivered in order.
    pub delivered_bytes: u64,
}

/// What a run gives back.
#[derive(Clone, Debug)]
pub struct Output {
    /// How it ended.
    pub verdict: Verdict,
    /// Sums.
    pub counters: Counters,
    /// The result tables.
    pub tables: Vec<Table>,
    /// A hash of the tables.
    pub hash: String,
    /// Mean over the hosts of what they received per second, as a share of their ports' rate: the
    /// figure that says how full a fabric under permutation traffic was.
    pub goodput_share: f64,
    /// Remarks for the reader: what was unusual.
    pub notes: Vec<String>,
}

impl Output {
    /// The table of this name.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }
}

fn seconds(time: Option<Time>) -> f64 {
    time.map_or(f64::NAN, Time::as_secs_f64)
}

/// Builds the tables of a run that is over.
pub(crate) fn output<P: Port>(run: &mut Simulation<'_, P>, verdict: Verdict) -> Output {
    let mut tables = vec![flows(run), subflows(run), links(run), jobs(run)];
    if run.windows.len() > 1 {
        tables.extend([phases(run), phase_subflows(run), phase_links(run)]);
    }
    if run.plan.record.rates.is_some() {
        tables.push(rates(run));
    }
    if run.plan.record.windows.is_some() {
        tables.push(windows(run));
    }
    if run.plan.record.queues.is_some() {
        tables.push(queues(run));
    }
    let now = run.scheduler.now();
    let mut counters = Counters {
        ended: now,
        ..Counters::default()
    };
    for rank in 0..run.network.links() {
        let statistics = run.network.statistics(rank, now);
        counters.packet_hops += statistics.delivered;
        counters.dropped += statistics.dropped;
        counters.lost_to_failures += statistics.lost() - statistics.dropped;
        counters.marked += statistics.marked;
    }
    for count in &run.counts {
        counters.flows_started += count.started;
        counters.flows_finished += count.finished;
    }
    counters.delivered_bytes = run.flows.iter().map(|flow| flow.delivered.get()).sum();
    let hash = results_hash(&tables);
    Output {
        verdict,
        counters,
        hash,
        goodput_share: goodput_share(run),
        notes: notes(run, verdict),
        tables,
    }
}

fn goodput_share<P: Port>(run: &Simulation<'_, P>) -> f64 {
    let Some(window) = main_window(run) else {
        return f64::NAN;
    };
    let fabric = &run.plan.fabric;
    let capacity: f64 = fabric
        .links
        .iter()
        .filter(|link| fabric.node(link.to).host_index().is_some())
        .map(|link| link.rate.as_bps() as f64)
        .sum();
    let delivered: f64 = window
        .flows
        .iter()
        .map(|share| share.delivered as f64)
        .sum();
    let duration = window.closed.unwrap_or(window.from) - window.from;
    delivered * 8.0 / (duration.as_secs_f64() * capacity)
}

fn notes<P: Port>(run: &Simulation<'_, P>, verdict: Verdict) -> Vec<String> {
    let mut notes = Vec::new();
    let stalled = run.flows.iter().filter(|flow| flow.stalled).count();
    if stalled > 0 {
        let names: Vec<String> = run
            .flows
            .iter()
            .enumerate()
            .filter(|(_, flow)| flow.stalled)
            .take(3)
            .map(|(number, flow)| flow_name(run, number, flow))
            .collect();
        let more = if stalled > names.len() { ", ..." } else { "" };
        let names = names.join(", ");
        notes.push(format!("{stalled} flows have no live path: {names}{more}"));
    }
    if verdict == Verdict::Stalled {
        notes.push("the run ended because nothing more could happen".to_owned());
    }
    if main_window(run).is_none() {
        notes.push("the run ended before measurement began: tables are empty".to_owned());
    }
    notes
}

fn main_window<'a, P>(run: &'a Simulation<'_, P>) -> Option<&'a Window> {
    run.windows.first().filter(|window| window.closed.is_some())
}

fn flow_name<P>(run: &Simulation<'_, P>, number: usize, flow: &Flow) -> String {
    let group = &run.plan.groups[flow.group as usize];
    match flow.listed {
        Some(entry) if !group.listed[entry as usize].name.is_empty() => {
            group.listed[entry as usize].name.clone()
        }
        _ => format!("{}/{number}", group.name),
    }
}

/// Host and link names as labels.
fn host_labels<P>(run: &Simulation<'_, P>, hosts: impl Iterator<Item = u32>) -> Column {
    let fabric = &run.plan.fabric;
    Column::Labels {
        names: fabric
            .hosts
            .iter()
            .map(|&host| fabric.node(host).name.clone())
            .collect(),
        codes: hosts.collect(),
    }
}

fn link_labels<P>(run: &Simulation<'_, P>, links: impl Iterator<Item = u32>) -> Column {
    let fabric = &run.plan.fabric;
    let ids = (0..fabric.links.len() as u32).map(pathweave_fabric::LinkId);
    Column::Labels {
        names: ids.map(|id| fabric.link_name(id)).collect(),
        codes: links.collect(),
    }
}

fn flows<P: Port>(run: &Simulation<'_, P>) -> Table {
    let flows = &run.flows;
    let groups = &run.plan.groups;
    let mut measured = vec![(0u64, Time::ZERO); flows.len()];
    for share in main_window(run).map_or(&[][..], |window| &window.flows) {
        measured[share.flow as usize] = (share.delivered, share.duration);
    }
    let rate = |(bytes, duration): &(u64, Time)| {
        if *duration == Time::ZERO {
            f64::NAN
        } else {
            *bytes as f64 * 8.0 / duration.as_secs_f64()
        }
    };
    let integers = |of: &dyn Fn(&Flow) -> u64| Column::Integers(flows.iter().map(of).collect());
    let numbers = |of: &dyn Fn(&Flow) -> f64| Column::Numbers(flows.iter().map(of).collect());
    let labels = |names: Vec<String>, of: &dyn Fn(&Flow) -> u32| Column::Labels {
        names,
        codes: flows.iter().map(of).collect(),
    };
    let fct = |flow: &Flow| flow.end.map(|end| end - flow.start);
    let controller_of = |flow: &Flow| -> &'static str {
        let group = &groups[flow.group as usize];
        let own = flow
            .listed
            .and_then(|entry| group.listed[entry as usize].controller.as_ref());
        own.map_or(group.controller.name, |(entry, _)| entry.name)
    };
    let controllers = pathweave_control::registry();
    let controller_code = |flow: &Flow| {
        let name = controller_of(flow);
        controllers
            .iter()
            .position(|entry| entry.name == name)
            .unwrap_or(0) as u32
    };
    let locations = ["inner-rack", "inter-rack", "inter-pod"];
    let location = |flow: &Flow| {
        let location = run.plan.fabric.location(flow.source, flow.destination);
        locations
            .iter()
            .position(|name| *name == location.as_str())
            .unwrap_or(2) as u32
    };
    let columns = vec![
        ("id", Column::Integers((0..flows.len() as u64).collect())),
        (
            "name",
            Column::texts(
                flows
                    .iter()
                    .enumerate()
                    .map(|(n, flow)| flow_name(run, n, flow)),
            ),
        ),
        (
            "group",
            labels(groups.iter().map(|g| g.name.clone()).collect(), &|f| {
                f.group
            }),
        ),
        (
            "controller",
            labels(
                controllers
                    .iter()
                    .map(|entry| entry.name.to_owned())
                    .collect(),
                &controller_code,
            ),
        ),
        ("subflows", integers(&|flow| u64::from(flow.subflows))),
        (
            "source",
            host_labels(run, flows.iter().map(|flow| flow.source)),
        ),
        (
            "destination",
            host_labels(run, flows.iter().map(|flow| flow.destination)),
        ),
        (
            "location",
            labels(locations.map(str::to_owned).to_vec(), &location),
        ),
        ("job", numbers(&|flow| flow.job.map_or(f64::NAN, f64::from))),
        ("start_s", numbers(&|flow| flow.start.as_secs_f64())),
        ("end_s", numbers(&|flow| seconds(flow.end))),
        (
            "size_bytes",
            numbers(&|flow| flow.size.map_or(f64::NAN, |size| size.get() as f64)),
        ),
        ("delivered_bytes", integers(&|flow| flow.delivered.get())),
        (
            "finished",
            Column::Flags(flows.iter().map(|flow| flow.end.is_some()).collect()),
        ),
        (
            "stalled",
            Column::Flags(flows.iter().map(|flow| flow.stalled).collect()),
        ),
        ("fct_s", numbers(&|flow| seconds(fct(flow)))),
        ("fct_ideal_s", numbers(&|flow| seconds(flow.ideal))),
        (
            "goodput_bps",
            Column::Numbers(measured.iter().map(rate).collect()),
        ),
        ("retransmits", integers(&|flow| flow.totals.retransmits)),
        ("reinjected", integers(&|flow| flow.totals.reinjected)),
        ("timeouts", integers(&|flow| flow.totals.timeouts)),
        ("marks", integers(&|flow| flow.totals.marks)),
        ("rtt_mean_s", numbers(&|flow| seconds(flow.totals.rtt_mean))),
        ("rtt_p99_s", numbers(&|flow| seconds(flow.totals.rtt_p99))),
    ];
    Table {
        name: "flows",
        columns,
    }
}

fn subflows<P: Port>(run: &Simulation<'_, P>) -> Table {
    let rows = &run.subflow_rows;
    let mut measured = std::collections::BTreeMap::new();
    for share in main_window(run).map_or(&[][..], |window| &window.flows) {
        for (subflow, bytes) in share.received.iter().enumerate() {
            let rate = *bytes as f64 * 8.0 / share.duration.as_secs_f64();
            measured.insert((share.flow, subflow as u32), rate);
        }
    }
    let fabric = &run.plan.fabric;
    let path_name = |path: &Vec<pathweave_fabric::LinkId>| {
        let first = path
            .first()
            .map(|link| fabric.node(fabric.link(*link).from).name.clone());
        let rest = path
            .iter()
            .map(|link| fabric.node(fabric.link(*link).to).name.clone());
        first.into_iter().chain(rest).collect::<Vec<_>>().join("-")
    };
    let integers = |of: &dyn Fn(&crate::flows::SubflowRow) -> u64| {
        Column::Integers(rows.iter().map(of).collect())
    };
    let numbers = |of: &dyn Fn(&crate::flows::SubflowRow) -> f64| {
        Column::Numbers(rows.iter().map(of).collect())
    };
    let columns = vec![
        ("flow", integers(&|row| u64::from(row.flow))),
        ("subflow", integers(&|row| u64::from(row.subflow))),
        (
            "path",
            Column::Labels {
                names: run.path_list.iter().map(path_name).collect(),
                codes: rows.iter().map(|row| row.path).collect(),
            },
        ),
        ("opened_s", numbers(&|row| seconds(row.opened))),
        ("received_bytes", integers(&|row| row.received)),
        (
            "goodput_bps",
            numbers(&|row| {
                measured
                    .get(&(row.flow, row.subflow))
                    .copied()
                    .unwrap_or(f64::NAN)
            }),
        ),
        ("sent_packets", integers(&|row| row.sent_packets)),
        ("retransmits", integers(&|row| row.retransmits)),
        ("reinjected", integers(&|row| row.reinjected)),
        ("timeouts", integers(&|row| row.timeouts)),
        ("marks", integers(&|row| row.marks)),
        ("rtt_mean_s", numbers(&|row| seconds(row.rtt_mean))),
        ("rtt_p99_s", numbers(&|row| seconds(row.rtt_p99))),
    ];
    Table {
        name: "subflows",
        columns,
    }
}

fn links<P: Port>(run: &mut Simulation<'_, P>) -> Table {
    let links = run.network.links();
    let empty = crate::windows::LinkShare {
        statistics: pathweave_network::LinkStatistics::default(),
        capacity_bits: 0.0,
        queue_mean: f64::NAN,
    };
    let shares: Vec<crate::windows::LinkShare> = (0..links as usize)
        .map(|link| {
            main_window(run)
                .and_then(|window| window.links.get(link))
                .copied()
        })
        .map(|share| share.unwrap_or(empty))
        .collect();
    let p99: Vec<f64> = (0..links)
        .map(|link| f64::from(run.network.histogram(link).percentile(0.99)))
        .collect();
    let fabric = &run.plan.fabric;
    let integers = |of: &dyn Fn(&crate::windows::LinkShare) -> u64| {
        Column::Integers(shares.iter().map(of).collect())
    };
    let columns = vec![
        ("link", link_labels(run, 0..links)),
        (
            "layer",
            Column::Labels {
                names: fabric.layers.clone(),
                codes: fabric
                    .links
                    .iter()
                    .map(|link| u32::from(link.layer.0))
                    .collect(),
            },
        ),
        (
            "capacity_bps",
            Column::Numbers(
                fabric
                    .links
                    .iter()
                    .map(|link| link.rate.as_bps() as f64)
                    .collect(),
            ),
        ),
        ("bytes", integers(&|share| share.statistics.delivered_bytes)),
        ("packets", integers(&|share| share.statistics.delivered)),
        (
            "utilisation",
            Column::Numbers(
                shares
                    .iter()
                    .map(|share| {
                        share.statistics.delivered_bytes as f64 * 8.0 / share.capacity_bits
                    })
                    .collect(),
            ),
        ),
        ("drops", integers(&|share| share.statistics.dropped)),
        (
            "lost_to_failure",
            integers(&|share| share.statistics.lost() - share.statistics.dropped),
        ),
        ("marks", integers(&|share| share.statistics.marked)),
        (
            "queue_mean",
            Column::Numbers(shares.iter().map(|share| share.queue_mean).collect()),
        ),
        ("queue_p99", Column::Numbers(p99)),
    ];
    Table {
        name: "links",
        columns,
    }
}

fn jobs<P: Port>(run: &Simulation<'_, P>) -> Table {
    let mut rows = Vec::new();
    for (group, program) in run.programs.iter().enumerate() {
        for (number, job) in program.jobs().iter().enumerate() {
            rows.push((group as u32, number as u64, job.clone()));
        }
    }
    let duration = |job: &pathweave_traffic::Job| job.end.map(|end| end - job.start);
    let columns = vec![
        (
            "group",
            Column::Labels {
                names: run
                    .plan
                    .groups
                    .iter()
                    .map(|group| group.name.clone())
                    .collect(),
                codes: rows.iter().map(|(group, ..)| *group).collect(),
            },
        ),
        (
            "job",
            Column::Integers(rows.iter().map(|(_, number, _)| *number).collect()),
        ),
        (
            "start_s",
            Column::Numbers(
                rows.iter()
                    .map(|(.., job)| job.start.as_secs_f64())
                    .collect(),
            ),
        ),
        (
            "end_s",
            Column::Numbers(rows.iter().map(|(.., job)| seconds(job.end)).collect()),
        ),
        (
            "jct_s",
            Column::Numbers(
                rows.iter()
                    .map(|(.., job)| seconds(duration(job)))
                    .collect(),
            ),
        ),
        (
            "flows",
            Column::Integers(rows.iter().map(|(.., job)| u64::from(job.flows)).collect()),
        ),
        (
            "bytes",
            Column::Integers(rows.iter().map(|(.., job)| job.bytes.get()).collect()),
        ),
        (
            "finished",
            Column::Flags(rows.iter().map(|(.., job)| job.end.is_some()).collect()),
        ),
    ];
    Table {
        name: "jobs",
        columns,
    }
}

fn closed_phases<'a, P>(run: &'a Simulation<'_, P>) -> Vec<(u32, &'a Window)> {
    let phases = (0..).zip(run.windows.iter().skip(1));
    phases
        .filter(|(_, window)| window.closed.is_some())
        .collect()
}

fn phase_labels<P>(run: &Simulation<'_, P>, codes: Vec<u32>) -> Column {
    let names = run
        .windows
        .iter()
        .skip(1)
        .filter_map(|window| window.phase.clone())
        .collect();
    Column::Labels { names, codes }
}

fn phases<P: Port>(run: &Simulation<'_, P>) -> Table {
    let phases = closed_phases(run);
    let rows: Vec<(u32, &crate::windows::FlowShare)> = phases
        .iter()
        .flat_map(|(phase, window)| window.flows.iter().map(|share| (*phase, share)))
        .collect();
    let rate = |share: &crate::windows::FlowShare| {
        share.delivered as f64 * 8.0 / share.duration.as_secs_f64()
    };
    let columns = vec![
        (
            "phase",
            phase_labels(run, rows.iter().map(|(phase, _)| *phase).collect()),
        ),
        (
            "flow",
            Column::Integers(rows.iter().map(|(_, s)| u64::from(s.flow)).collect()),
        ),
        (
            "goodput_bps",
            Column::Numbers(rows.iter().map(|(_, share)| rate(share)).collect()),
        ),
    ];
    Table {
        name: "phases",
        columns,
    }
}

fn phase_subflows<P: Port>(run: &Simulation<'_, P>) -> Table {
    let mut codes = Vec::new();
    let (mut flow, mut subflow, mut goodput) = (Vec::new(), Vec::new(), Vec::new());
    for (phase, window) in closed_phases(run) {
        for share in &window.flows {
            for (number, bytes) in share.received.iter().enumerate() {
                codes.push(phase);
                flow.push(u64::from(share.flow));
                subflow.push(number as u64);
                goodput.push(*bytes as f64 * 8.0 / share.duration.as_secs_f64());
            }
        }
    }
    let columns = vec![
        ("phase", phase_labels(run, codes)),
        ("flow", Column::Integers(flow)),
        ("subflow", Column::Integers(subflow)),
        ("goodput_bps", Column::Numbers(goodput)),
    ];
    Table {
        name: "phase_subflows",
        columns,
    }
}

fn phase_links<P: Port>(run: &Simulation<'_, P>) -> Table {
    let (mut phase_codes, mut link_codes) = (Vec::new(), Vec::new());
    let (mut utilisation, mut queue) = (Vec::new(), Vec::new());
    for (phase, window) in closed_phases(run) {
        for (link, share) in (0u32..).zip(&window.links) {
            phase_codes.push(phase);
            link_codes.push(link);
            let bits = share.statistics.delivered_bytes as f64 * 8.0;
            utilisation.push(bits / share.capacity_bits);
            queue.push(share.queue_mean);
        }
    }
    let columns = vec![
        ("phase", phase_labels(run, phase_codes)),
        ("link", link_labels(run, link_codes.into_iter())),
        ("utilisation", Column::Numbers(utilisation)),
        ("queue_mean", Column::Numbers(queue)),
    ];
    Table {
        name: "phase_links",
        columns,
    }
}

fn rates<P: Port>(run: &Simulation<'_, P>) -> Table {
    let rows = &run.series.rates;
    let interval = run.plan.record.rates.map_or(f64::NAN, Time::as_secs_f64);
    let columns = vec![
        (
            "time_s",
            Column::Numbers(rows.iter().map(|row| row.at.as_secs_f64()).collect()),
        ),
        (
            "flow",
            Column::Integers(rows.iter().map(|row| u64::from(row.flow)).collect()),
        ),
        (
            "subflow",
            Column::Integers(rows.iter().map(|row| u64::from(row.subflow)).collect()),
        ),
        (
            "rate_bps",
            Column::Numbers(
                rows.iter()
                    .map(|row| row.bytes as f64 * 8.0 / interval)
                    .collect(),
            ),
        ),
    ];
    Table {
        name: "rates",
        columns,
    }
}

fn windows<P: Port>(run: &Simulation<'_, P>) -> Table {
    let rows = &run.series.windows;
    let finite = |value: f64| if value.is_finite() { value } else { f64::NAN };
    let columns = vec![
        (
            "time_s",
            Column::Numbers(rows.iter().map(|row| row.at.as_secs_f64()).collect()),
        ),
        (
            "flow",
            Column::Integers(rows.iter().map(|row| u64::from(row.flow)).collect()),
        ),
        (
            "subflow",
            Column::Integers(rows.iter().map(|row| u64::from(row.subflow)).collect()),
        ),
        (
            "window_packets",
            Column::Numbers(rows.iter().map(|row| row.window).collect()),
        ),
        (
            "ssthresh_packets",
            Column::Numbers(rows.iter().map(|row| finite(row.ssthresh)).collect()),
        ),
        (
            "rtt_s",
            Column::Numbers(
                rows.iter()
                    .map(|row| row.smoothed_rtt.as_secs_f64())
                    .collect(),
            ),
        ),
    ];
    Table {
        name: "windows",
        columns,
    }
}

fn queues<P: Port>(run: &Simulation<'_, P>) -> Table {
    let rows = &run.series.queues;
    let columns = vec![
        (
            "time_s",
            Column::Numbers(rows.iter().map(|row| row.at.as_secs_f64()).collect()),
        ),
        ("link", link_labels(run, rows.iter().map(|row| row.link))),
        (
            "packets",
            Column::Integers(rows.iter().map(|row| u64::from(row.waiting)).collect()),
        ),
    ];
    Table {
        name: "queues",
        columns,
    }
}
