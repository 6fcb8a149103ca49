//! From counters to result tables.

pub(crate) mod hash;

mod agents;
mod buffers;
mod collectives;
mod flows;
mod fmp;
mod jobs;
mod labels;
mod links;
mod phases;
mod recoveries;
mod sender_limits;
mod series;
mod subflows;
mod waits;

use crate::measurement::capture::Capture;
use crate::outcome::Verdict;
use crate::record::Record;
use crate::results::hash::results_hash;
use crate::table::Table;
use crate::text_list::TextList;
use pathweave_units::Time;

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
    /// Flows of which everything was delivered.
    pub flows_finished: u64,
    /// Flows that were stopped before that, and that are not under way.
    pub flows_stopped: u64,
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
    /// The captures of packets.
    pub captures: Vec<Capture>,
    /// A hash of the tables and captures.
    pub hash: String,
    /// Tables that explain the others and count in no hash of results: versions may differ in them that agree in all results.
    pub explanations: Vec<Table>,

    /// Mean over the hosts of what they received per second, as a share of their ports' rate: the
    /// figure that says how full a fabric under permutation traffic was.
    pub goodput_share: f64,
    /// Remarks for the reader: what was unusual.
    pub notes: Vec<String>,
}

impl Output {
    /// The table of this name.
    pub fn table(&self, name: &str) -> Option<&Table> {
        let mut all = self.tables.iter().chain(&self.explanations);
        all.find(|table| table.name == name)
    }
}

/// Builds the results of a run that is over.
pub(crate) fn output(mut record: Record<'_>) -> Output {
    let explanations = explanations(&mut record);
    let mut tables = tables(&mut record);
    let run = &record;
    let fabric = &run.plan.fabric;
    if let Some(series) = &run.series {
        tables.extend(series::all(run.plan, series));
    }
    if let Some((scheme, agents)) = &run.switches.agents {
        tables.push(agents::agents(fabric, *scheme, agents));
    }
    if let Some(buffers) = &run.switches.buffers {
        tables.push(buffers::buffers(fabric, buffers));
    }
    if let Some(switches) = &run.switches.fmp {
        tables.push(fmp::fmp(fabric, switches));
    }
    if !run.recoveries.failures.is_empty() {
        tables.push(recoveries::recoveries(fabric, &run.recoveries));
    }
    Output {
        verdict: run.verdict,
        counters: counters(run),
        hash: results_hash(&tables, &run.captures),
        explanations,
        goodput_share: goodput_share(run),
        notes: notes(run),
        tables,
        captures: record.captures,
    }
}

/// What flows have waited for, where the backend's transport keeps an account of it, and what senders on real hosts were
/// limited by.
fn explanations(record: &mut Record<'_>) -> Vec<Table> {
    let waits = record.waits.take().map(waits::waits);
    let limits = record.sender_limits.take();
    let limits = limits.map(sender_limits::sender_limits);
    waits.into_iter().chain(limits).collect()
}

/// The tables that every backend has.
fn tables(record: &mut Record<'_>) -> Vec<Table> {
    let totals = std::mem::take(&mut record.totals);
    let rows = std::mem::take(&mut record.subflows);
    let run = &*record;
    let mut tables = vec![
        flows::flows(run, totals),
        subflows::subflows(run, rows),
        links::links(run),
        jobs::jobs(run),
    ];
    tables.extend(collectives::collectives(run));
    if run.windows.len() > 1 {
        tables.extend([
            phases::phases(run),
            phases::phase_subflows(run),
            phases::phase_links(run),
        ]);
    }
    tables
}

fn counters(run: &Record<'_>) -> Counters {
    let traffic = &run.traffic;
    let mut counters = Counters {
        ended: run.ended,
        packet_hops: run.packet_hops,
        flows_started: traffic.started,
        flows_finished: traffic.finished,
        flows_stopped: traffic.stopped,
        delivered_bytes: traffic.flows.iter().map(|flow| flow.delivered.get()).sum(),
        ..Counters::default()
    };
    for link in &run.links {
        counters.dropped += link.dropped;
        counters.lost_to_failures += link.lost() - link.dropped;
        counters.marked += link.marked;
    }
    counters
}

fn goodput_share(run: &Record<'_>) -> f64 {
    let Some(window) = run.main_window() else {
        return f64::NAN;
    };
    let fabric = &run.plan.fabric;
    let capacity: f64 = fabric
        .links
        .iter()
        .filter(|link| fabric.node(link.to).host_index().is_some())
        .map(|link| link.rate.as_bps() as f64)
        .sum();
    let received: f64 = window.flows.iter().map(|share| share.bytes()).sum();
    let duration = window.closed.unwrap_or(window.from) - window.from;
    received * 8.0 / (duration.as_secs_f64() * capacity)
}

fn notes(run: &Record<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let stalled = run.traffic.flows.iter().filter(|flow| flow.stalled).count();
    if stalled > 0 {
        let named = run.traffic.flows.iter().filter(|flow| flow.stalled).take(3);
        let mut names = TextList::default();
        run.push_flow_names(named, &mut names);
        let more = if stalled > names.len() { ", ..." } else { "" };
        let names = names.iter().collect::<Vec<_>>().join(", ");
        notes.push(format!("{stalled} flows have no live path: {names}{more}"));
    }
    if run.verdict == Verdict::Stalled {
        notes.push("the run ended because nothing more could happen".to_owned());
    }
    for window in run
        .windows
        .iter()
        .filter(|window| window.at_start.is_none())
    {
        if let Some(phase) = &window.phase {
            notes.push(format!("the run ended before phase \"{phase}\" began"));
        }
    }
    if run.main_window().is_none() {
        notes.push("the run ended before measurement began: tables are empty".to_owned());
    }
    notes.extend(run.capture_notes.iter().cloned());
    notes
}
