//! From one variant's file to what is known of it: fills in every default, and checks what only the whole can tell.

mod controller;
mod down;
mod ending;
mod events;
mod fabric;
mod fmp;
mod graph;
mod group;
mod hosts;
mod limits;
mod links;
mod listed_flows;
pub(crate) mod load;
mod map;
mod packet_sizes;
mod packets;
mod pattern;
mod problems;
mod queues;
mod reach;
mod run;
mod scene;
mod size;
mod subflows;

use crate::checked::Checked;
use crate::names::{self, LONGEST_TITLE};
use crate::plan::GroupPlan;
use crate::schema::{File, Jitter, TransportTable};
pub use problems::Convert;
pub(crate) use problems::Problems;
pub(crate) use queues::PortQueues;
pub(crate) use reach::Pairs;
use scene::ANY_SEED;
pub(crate) use scene::Scene;

use hosts::Names;
use pathweave_transport::HostPort;

/// Checks a variant. Afterwards `file` holds every default written out, so that checking it again gives the same.
/// `None` when there were problems.
pub(crate) fn resolve(file: &mut File, problems: &mut Problems<'_>) -> Option<Checked> {
    let before = problems.found.len();
    if let Some(text) = names::problem("the title", &file.title, LONGEST_TITLE) {
        problems.wrong(&["title"], text);
    }
    let preset = group::preset(&file.transport, &["transport", "preset"], problems);
    let topology = fabric::topology(&mut file.fabric.topology, problems);
    let topology = topology.filter(|topology| fabric::is_small_enough(topology, problems));
    let topology = topology?;
    let mut fabric = match topology.build(ANY_SEED) {
        Ok(fabric) => fabric,
        Err(error) => {
            problems.refused(&["fabric"], &error.to_string());
            return None;
        }
    };
    fabric.down = down::down(
        file.fabric.queues.down.as_ref(),
        &file.routing,
        &fabric,
        problems,
    );
    let shared_buffer = queues::shared_buffer(&mut file.fabric.queues, problems);
    let routing = fabric::routing(&mut file.routing, &fabric, problems);
    let names = Names::new(&fabric);
    let scene = Scene {
        fabric: &fabric,
        names: &names,
        routing: &routing,
        reach: reach::Reach::new(&fabric, &routing),
    };
    let base = file.transport.clone();
    let mut groups = Vec::new();
    for (index, table) in file.traffic.iter_mut().enumerate() {
        if let Some(group) = group::group(table, index, &base, &scene, problems) {
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
        problems,
    );
    group::check_names(&file.traffic, problems);
    let of_links = queues.as_ref().map(|queues| queues.of_links(&fabric));
    if let Some(queues) = &of_links {
        queues::check_that_packets_fit(queues, shared_buffer, &groups, problems);
        fmp::check_price(&routing, &fabric, queues, problems);
    }
    // Groups that are left out must be sound all the same: another variant may take them in.
    let complete = groups.len() == file.traffic.len();
    if complete {
        let mut tables = file.traffic.iter();
        groups.retain(|_| tables.next().is_some_and(|table| table.keys.enabled));
    }
    file.traffic.retain(|table| table.keys.enabled);
    if file.traffic.is_empty() {
        problems.wrong(
            &["traffic"],
            "the scenario has no traffic; add a table [[traffic]] with a name and a pattern, or enable a group",
        );
    }
    if complete {
        group::check_schemes(&groups, problems);
        limits::check_headers(&groups, problems);
        limits::check_sizes(&groups, problems);
        let end = file.stop.end().map(|end| end.0);
        limits::check_arrivals(&groups, end, fabric.hosts.len(), problems);
    }
    // The groups' transports hold every value now.
    file.transport = TransportTable::default();
    let events = events::events(&file.events, &scene, problems);
    events::check_times(&file.events, &file.stop, problems);
    if let Some(queues) = &of_links {
        limits::check_queues(queues, &fabric, &events, &groups, problems);
    }
    let measure = run::measure(&file.measure, &file.stop, problems);
    let planned = complete.then_some(groups.as_slice());
    let end = file.stop.at.map(|at| at.0);
    let record = run::record(&mut file.record, planned, &scene, end, &events, problems);
    let hosts = fabric.hosts.len() as u32;
    let stop = run::stop(&file.stop, planned, &file.traffic, hosts, problems);
    if problems.found.len() > before {
        return None;
    }
    Some(Checked {
        title: file.title.clone(),
        topology,
        down: fabric.down,
        queues: queues?,
        shared_buffer,
        routing,
        groups,
        events,
        stop: stop?,
        measure,
        record,
        jitter: file.jitter == Jitter::Rtt,
    })
}
