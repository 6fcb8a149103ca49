//! From counters to result tables.

mod account;
mod agents;
pub(crate) mod buffers;
mod flows;
mod fmp;
mod jobs;
mod labels;
mod links;
mod phases;
mod recoveries;
mod series;
mod subflows;

pub(crate) use account::Account;

use crate::capture::Capture;
use crate::live::FabricRecord;
use crate::outcome::Verdict;
use crate::recovery::Recoveries;
use crate::results_hash::results_hash;
use crate::rows::{SubflowColumns, TotalsColumns};
use crate::series::Series;
use crate::simulation::Simulation;
use crate::table::Table;
use crate::texts::Texts;
use pathweave_network::Ports;
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

/// Builds the tables of a simulation that is over.
pub(crate) fn output<P: Ports>(run: &mut Simulation<'_, P>, verdict: Verdict) -> Output {
    let now = run.regions.now();
    let (mut rows, totals) = run.ended.columns(run.workload.flows.len() as u32);
    let path_list = std::mem::take(&mut run.path_list).renumbered(&mut rows.path);
    run.series.put_in_order();
    let (fabric, handled_before) = (&run.plan.fabric, run.handled_before);
    let agents = crate::build::explicit(run.plan)
        .map(|(scheme, _)| agents::agents(fabric, &mut run.regions, scheme, handled_before));
    let account = Account {
        plan: run.plan,
        workload: &run.workload,
        path_list: &path_list,
        windows: &run.windows,
    };
    let mut tables = tables(&account, rows, totals);
    tables.extend(series::all(run.plan, &run.series));
    tables.extend(agents);
    if run.plan.shared_buffer.is_some() {
        tables.push(buffers::buffers(&run.plan.fabric, |node| {
            // A switch's memory is in the region that has the switch.
            let mut regions = run.regions.iter();
            regions.find_map(|region| region.network.shared_buffer(node))
        }));
    }
    if let Some(fmp) = run.regions.first().network.fmp() {
        tables.push(fmp::fmp(&run.plan.fabric, fmp));
    }
    if !run.recoveries.failures.is_empty() {
        tables.push(recoveries::recoveries(&run.plan.fabric, &run.recoveries));
    }
    let mut counters = counters(&account, now);
    let mut notes = notes(&account, verdict);
    let goodput_share = goodput_share(&account);
    for link in 0..run.regions.links() {
        let statistics = run.regions.network_of(link).statistics(link, now);
        counters.packet_hops += statistics.delivered;
        counters.dropped += statistics.dropped;
        counters.lost_to_failures += statistics.lost() - statistics.dropped;
        counters.marked += statistics.marked;
    }
    let (captures, missing) = run.finish_captures();
    notes.extend(missing);
    Output {
        verdict,
        counters,
        hash: results_hash(&tables, &captures),
        goodput_share,
        notes,
        tables,
        captures,
    }
}

/// Builds the tables of a fluid run that is over.
pub(crate) fn fluid_output(
    account: &Account<'_>,
    rows: SubflowColumns,
    verdict: Verdict,
    ended: Time,
) -> Output {
    // There are no packets to count.
    let totals = TotalsColumns::of(&[], account.workload.flows.len());
    let tables = tables(account, rows, totals);
    Output {
        verdict,
        counters: counters(account, ended),
        hash: results_hash(&tables, &[]),
        goodput_share: goodput_share(account),
        notes: notes(account, verdict),
        tables,
        captures: Vec::new(),
    }
}

/// Builds the tables of a run on real hosts that is over.
pub(crate) fn live_output(
    account: &Account<'_>,
    (rows, totals): (SubflowColumns, TotalsColumns),
    series: &Series,
    recoveries: &Recoveries,
    record: FabricRecord,
    verdict: Verdict,
    ended: Time,
) -> Output {
    let plan = account.plan;
    let mut tables = tables(account, rows, totals);
    tables.extend(series::all(plan, series));
    tables.extend(record.tables);
    if !recoveries.failures.is_empty() {
        tables.push(recoveries::recoveries(&plan.fabric, recoveries));
    }
    let mut counters = counters(account, ended);
    counters.packet_hops = record.packet_hops;
    for statistics in &record.totals {
        counters.dropped += statistics.dropped;
        counters.lost_to_failures += statistics.lost() - statistics.dropped;
        counters.marked += statistics.marked;
    }
    Output {
        verdict,
        counters,
        hash: results_hash(&tables, &[]),
        goodput_share: goodput_share(account),
        notes: notes(account, verdict),
        tables,
        captures: Vec::new(),
    }
}

/// The tables that every backend has.
fn tables(account: &Account<'_>, rows: SubflowColumns, totals: TotalsColumns) -> Vec<Table> {
    let mut tables = vec![
        flows::flows(account, totals),
        subflows::subflows(account, rows),
        links::links(account),
        jobs::jobs(account),
    ];
    if account.windows.len() > 1 {
        tables.extend([
            phases::phases(account),
            phases::phase_subflows(account),
            phases::phase_links(account),
        ]);
    }
    tables
}

/// What is known of the flows; no packet is counted yet.
fn counters(account: &Account<'_>, ended: Time) -> Counters {
    let workload = account.workload;
    let (flows_started, flows_finished) = workload.started_and_finished();
    Counters {
        ended,
        flows_started,
        flows_finished,
        flows_stopped: workload.stopped(),
        delivered_bytes: workload.flows.iter().map(|flow| flow.delivered.get()).sum(),
        ..Counters::default()
    }
}

fn goodput_share(run: &Account<'_>) -> f64 {
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

fn notes(run: &Account<'_>, verdict: Verdict) -> Vec<String> {
    let mut notes = Vec::new();
    let stalled = run
        .workload
        .flows
        .iter()
        .filter(|flow| flow.stalled)
        .count();
    if stalled > 0 {
        let named = run
            .workload
            .flows
            .iter()
            .filter(|flow| flow.stalled)
            .take(3);
        let mut names = Texts::default();
        named.for_each(|flow| run.push_flow_name(flow, &mut names));
        let more = if stalled > names.len() { ", ..." } else { "" };
        let names = names.iter().collect::<Vec<_>>().join(", ");
        notes.push(format!("{stalled} flows have no live path: {names}{more}"));
    }
    if verdict == Verdict::Stalled {
        notes.push("the run ended because nothing more could happen".to_owned());
    }
    for window in run.windows.iter().filter(|window| window.marks.is_none()) {
        if let Some(phase) = &window.phase {
            notes.push(format!("the run ended before phase \"{phase}\" began"));
        }
    }
    if run.main_window().is_none() {
        notes.push("the run ended before measurement began: tables are empty".to_owned());
    }
    notes
}
