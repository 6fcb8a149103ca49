//! The tables of flows and subflows.

use super::account::Account;
use super::labels::host_labels;
use super::seconds;
use crate::flows::{Ending, Flow, FlowTotals};
use crate::table::{Column, Table};
use pathweave_units::Time;

pub(super) fn flows(run: &Account<'_>) -> Table {
    let flows = &run.workload.flows;
    let groups = &run.plan.groups;
    // Flows that are not under way in the window have no rate.
    let mut measured = vec![f64::NAN; flows.len()];
    for share in run.main_window().map_or(&[][..], |window| &window.flows) {
        measured[share.flow as usize] = share.rate();
    }
    // Sized flows count where they start, others wherever they are under way.
    let in_window = flows.iter().zip(&measured).map(|(flow, rate)| {
        if flow.size.is_some() {
            run.plan.measure.covers(flow.start) && flow.ending() != Ending::Unstarted
        } else {
            !rate.is_nan()
        }
    });
    let in_window = Column::Flags(in_window.collect());
    let integers = |of: &dyn Fn(&Flow) -> u64| Column::Integers(flows.iter().map(of).collect());
    let numbers = |of: &dyn Fn(&Flow) -> f64| Column::Numbers(flows.iter().map(of).collect());
    let labels = |names: Vec<String>, of: &dyn Fn(&Flow) -> u32| Column::Labels {
        names,
        codes: flows.iter().map(of).collect(),
    };
    let totals = || {
        let rest = std::iter::repeat(FlowTotals::default());
        run.totals.iter().copied().chain(rest).take(flows.len())
    };
    let counted =
        |of: &dyn Fn(&FlowTotals) -> u64| Column::Integers(totals().map(|sum| of(&sum)).collect());
    let timed = |of: &dyn Fn(&FlowTotals) -> Option<Time>| {
        Column::Numbers(totals().map(|sum| seconds(of(&sum))).collect())
    };
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
            Column::texts(flows.iter().map(|flow| run.flow_name(flow))),
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
            host_labels(&run.plan.fabric, flows.iter().map(|flow| flow.source)),
        ),
        (
            "destination",
            host_labels(&run.plan.fabric, flows.iter().map(|flow| flow.destination)),
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
            "end",
            labels(
                Ending::ALL.map(|end| end.as_str().to_owned()).to_vec(),
                &|flow| flow.ending() as u32,
            ),
        ),
        ("in_window", in_window),
        (
            "stalled",
            Column::Flags(flows.iter().map(|flow| flow.stalled).collect()),
        ),
        ("fct_s", numbers(&|flow| seconds(flow.completion_time()))),
        ("fct_ideal_s", numbers(&|flow| seconds(flow.ideal))),
        ("goodput_bps", Column::Numbers(measured.clone())),
        ("retransmits", counted(&|totals| totals.retransmits)),
        ("reinjected", counted(&|totals| totals.reinjected)),
        ("timeouts", counted(&|totals| totals.timeouts)),
        ("marks", counted(&|totals| totals.marks)),
        ("rtt_mean_s", timed(&|totals| totals.rtt_mean)),
        ("rtt_p99_s", timed(&|totals| totals.rtt_p99)),
    ];
    Table {
        name: "flows",
        columns,
    }
}

pub(super) fn subflows(run: &Account<'_>) -> Table {
    let rows = &run.subflow_rows;
    let mut measured = std::collections::BTreeMap::new();
    for share in run.main_window().map_or(&[][..], |window| &window.flows) {
        for (subflow, bytes) in share.received.iter().enumerate() {
            measured.insert((share.flow, subflow as u32), share.rate_of(*bytes));
        }
    }
    let fabric = &run.plan.fabric;
    let path_name = |path: &Vec<pathweave_fabric::LinkId>| {
        if path.is_empty() {
            return "spray".to_owned();
        }
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
