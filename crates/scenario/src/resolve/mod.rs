//! From one variant's file to a plan: fills in every default, checks what only the whole can tell,
//! and builds what backends run.

mod collective;
mod controller;
mod down;
mod ending;
mod events;
mod fabric;
mod flows;
mod fmp;
mod graph;
mod group;
mod hosts;
mod limits;
mod links;
mod load;
mod map;
mod packet_sizes;
mod packets;
mod pattern;
mod queues;
mod reach;
mod recordings;
mod report;
mod run;
mod scene;
mod size;
mod subflows;

use crate::names::{self, LONGEST_TITLE};
use crate::plan::{GroupPlan, Plan};
use crate::schema::{File, Jitter, TransportTable};
pub use report::Convert;
pub(crate) use report::Report;
pub(crate) use scene::Scene;

use hosts::Names;
use pathweave_transport::HostPort;

/// Makes a plan for one seed. Afterwards `file` holds every default written out, so that making the
/// plan again from it alone gives the same. `None` when there were problems.
pub(crate) fn resolve(file: &mut File, report: &mut Report<'_>, seed: u64) -> Option<Plan> {
    let before = report.problems.len();
    if let Some(text) = names::problem("the title", &file.title, LONGEST_TITLE) {
        report.wrong(&["title"], text);
    }
    let preset = group::preset(&file.transport, &["transport", "preset"], report);
    let topology = fabric::topology(&mut file.fabric.topology, report);
    let topology = topology.filter(|topology| fabric::is_small_enough(topology, report));
    let fabric = topology.and_then(|topology| match topology.build(seed) {
        Ok(fabric) => Some(fabric),
        Err(error) => {
            report.refused(&["fabric"], &error.to_string());
            None
        }
    });
    let mut fabric = fabric?;
    fabric.down = down::down(
        file.fabric.queues.down.as_ref(),
        &file.routing,
        &fabric,
        report,
    );
    let shared_buffer = queues::shared_buffer(&mut file.fabric.queues, report);
    let routing = fabric::routing(&mut file.routing, &fabric, report);
    let names = Names::new(&fabric);
    let scene = Scene {
        fabric: &fabric,
        names: &names,
        routing: &routing,
        reach: reach::Reach::new(&fabric, &routing),
        seed,
    };
    let base = file.transport.clone();
    let mut groups = Vec::new();
    for (index, table) in file.traffic.iter_mut().enumerate() {
        if let Some(group) = group::group(table, index, &base, &scene, report) {
            groups.push(group);
        }
    }
    let hold_back = |group: &GroupPlan| group.transport.host_port == HostPort::HoldsBack;
    // A group that is left out has no hosts.
    let tables = file.traffic.iter();
    let hosts_hold_back = groups
        .iter()
        .zip(tables)
        .any(|(group, table)| table.keys.enabled && hold_back(group));
    let queues = queues::queues(
        &mut file.fabric.queues,
        &fabric,
        preset,
        hosts_hold_back,
        report,
    );
    group::check_names(&file.traffic, report);
    if let Some(queues) = &queues {
        queues::check_that_packets_fit(queues, shared_buffer, &groups, report);
        fmp::check_price(&routing, &fabric, queues, report);
    }
    // Groups that are left out must be sound all the same: another variant may take them in.
    let complete = groups.len() == file.traffic.len();
    if complete {
        let mut tables = file.traffic.iter();
        groups.retain(|_| tables.next().is_some_and(|table| table.keys.enabled));
    }
    file.traffic.retain(|table| table.keys.enabled);
    if file.traffic.is_empty() {
        report.wrong(
            &["traffic"],
            "the scenario has no traffic; add a table [[traffic]] with a name and a pattern, or enable a group",
        );
    }
    if complete {
        group::check_schemes(&groups, report);
        limits::check_headers(&groups, report);
        limits::check_sizes(&groups, report);
        let end = file.stop.end().map(|end| end.0);
        limits::check_arrivals(&groups, end, fabric.hosts.len(), report);
    }
    // The groups' transports hold every value now.
    file.transport = TransportTable::default();
    let events = events::events(&file.events, &scene, report);
    events::check_times(&file.events, &file.stop, report);
    if let Some(queues) = &queues {
        limits::check_queues(queues, &fabric, &events, &groups, report);
    }
    let measure = run::measure(&file.measure, &file.stop, report);
    let planned = complete.then_some(groups.as_slice());
    let end = file.stop.at.map(|at| at.0);
    let record = run::record(&mut file.record, planned, &scene, end, &events, report);
    let hosts = fabric.hosts.len() as u32;
    let stop = run::stop(&file.stop, planned, &file.traffic, hosts, report);
    if report.problems.len() > before {
        return None;
    }
    Some(Plan {
        title: file.title.clone(),
        seed,
        queues: queues?,
        shared_buffer,
        fabric,
        routing,
        groups,
        events,
        stop: stop?,
        measure,
        record,
        jitter: file.jitter == Jitter::Rtt,
        timeouts_are_chosen: true,
        matched_bursts: Vec::new(),
    })
}
