//! The table of flows.

use super::labels::host_labels;
use crate::flows::flow::{Ending, Flow};
use crate::flows::rows::{TotalsColumns, seconds};
use crate::record::Record;
use crate::table::{Column, Table};
use crate::text_list::TextList;
use pathweave_fabric::Location;
use pathweave_scenario::GroupPlan;

/// A guess at the bytes of a flow's name.
const NAME_BYTES: usize = 16;

pub(super) fn flows(run: &Record<'_>, totals: TotalsColumns) -> Table {
    let flows = &run.traffic.flows;
    let groups = &run.plan.groups;
    // Flows that are not under way in the window have no rate.
    let mut measured = vec![f64::NAN; flows.len()];
    for share in run
        .main_window()
        .iter()
        .flat_map(|window| window.flows.iter())
    {
        measured[share.flow as usize] = share.rate();
    }
    // Sized flows count where they start, others wherever they are under way.
    let endings = flows.column(Flow::ending);
    let in_window = flows.iter().zip(measured.iter().zip(&endings));
    let in_window = in_window.map(|(flow, (rate, &ending))| {
        if flow.size.is_some() {
            run.plan.measure.covers(flow.start) && ending != Ending::Unstarted
        } else {
            !rate.is_nan()
        }
    });
    let in_window = in_window.collect();
    let mut names = TextList::with_capacity(flows.len(), NAME_BYTES * flows.len());
    run.push_flow_names(flows, &mut names);
    let registered = pathweave_control::registry().iter().map(|entry| entry.name);
    let mut controllers: Vec<&str> = registered.collect();
    for (controller, _) in groups.iter().flat_map(GroupPlan::controllers) {
        if !controllers.contains(&controller.name()) {
            controllers.push(controller.name());
        }
    }
    let place_of = |name: &str| {
        let place = controllers.iter().position(|&known| known == name);
        place.unwrap_or(0) as u32
    };
    let of_groups: Vec<u32> = groups
        .iter()
        .map(|group| place_of(group.controller.name()))
        .collect();
    let controller = |flow: &Flow| {
        let group = &groups[flow.group as usize];
        let own = flow
            .listed
            .and_then(|entry| group.listed[entry as usize].controller.as_ref());
        own.map_or(of_groups[flow.group as usize], |(entry, _)| {
            place_of(entry.name())
        })
    };
    let location = |flow: &Flow| run.plan.fabric.location(flow.source, flow.destination);
    let integers = |of: fn(&Flow) -> u64| Column::Integers(flows.column(of));
    let numbers = |of: fn(&Flow) -> f64| Column::Numbers(flows.column(of));
    let fabric = &run.plan.fabric;
    let columns = vec![
        ("id", Column::Integers((0..flows.len() as u64).collect())),
        ("name", Column::texts(names)),
        (
            "group",
            Column::Labels {
                names: groups.iter().map(|group| &group.name).collect(),
                codes: flows.column(|flow| flow.group),
            },
        ),
        (
            "controller",
            Column::Labels {
                names: controllers.iter().collect(),
                codes: flows.column(controller),
            },
        ),
        ("subflows", integers(|flow| u64::from(flow.subflows))),
        (
            "source",
            host_labels(fabric, flows.column(|flow| flow.source)),
        ),
        (
            "destination",
            host_labels(fabric, flows.column(|flow| flow.destination)),
        ),
        (
            "location",
            Column::Labels {
                names: Location::ALL.map(Location::as_str).into_iter().collect(),
                codes: flows.column(|flow| location(flow) as u32),
            },
        ),
        ("job", numbers(|flow| flow.job.map_or(f64::NAN, f64::from))),
        ("start_s", numbers(|flow| flow.start.as_secs_f64())),
        ("end_s", numbers(|flow| seconds(flow.end))),
        (
            "size_bytes",
            numbers(|flow| flow.size.map_or(f64::NAN, |size| size.get() as f64)),
        ),
        ("delivered_bytes", integers(|flow| flow.delivered.get())),
        (
            "end",
            Column::Labels {
                names: Ending::ALL.map(Ending::as_str).into_iter().collect(),
                codes: endings.iter().map(|&ending| ending as u32).collect(),
            },
        ),
        ("in_window", Column::Flags(in_window)),
        ("stalled", Column::Flags(flows.column(|flow| flow.stalled))),
        ("fct_s", numbers(|flow| seconds(flow.completion_time()))),
        ("fct_ideal_s", numbers(|flow| seconds(flow.ideal))),
        ("goodput_bps", Column::Numbers(measured)),
        ("retransmits", Column::Integers(totals.retransmits)),
        ("reinjected", Column::Integers(totals.reinjected)),
        ("timeouts", Column::Integers(totals.timeouts)),
        ("marks", Column::Integers(totals.marks)),
        ("rtt_mean_s", Column::Numbers(totals.rtt_mean)),
        ("rtt_p99_s", Column::Numbers(totals.rtt_p99)),
    ];
    Table {
        name: "flows",
        columns,
    }
}
