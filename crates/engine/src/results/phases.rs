//! The tables of phases: windows of measurement besides the main one.

use super::labels::link_labels;
use crate::measurement::measurement_windows::{FlowShare, MeasurementWindow};
use crate::record::Record;
use crate::table::{Column, Table};

pub(super) fn closed_phases<'a>(run: &'a Record<'_>) -> Vec<(u32, &'a MeasurementWindow)> {
    let phases = (0..).zip(run.windows.iter().skip(1));
    phases
        .filter(|(_, window)| window.closed.is_some())
        .collect()
}

pub(super) fn phase_labels(run: &Record<'_>, codes: Vec<u32>) -> Column {
    let names = run
        .windows
        .iter()
        .skip(1)
        .filter_map(|window| window.phase.as_deref())
        .collect();
    Column::Labels { names, codes }
}

pub(super) fn phases(run: &Record<'_>) -> Table {
    let phases = closed_phases(run);
    let rows: Vec<(u32, FlowShare<'_>)> = phases
        .iter()
        .flat_map(|(phase, window)| window.flows.iter().map(|share| (*phase, share)))
        .collect();
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
            Column::Numbers(rows.iter().map(|(_, share)| share.rate()).collect()),
        ),
    ];
    Table {
        name: "phases",
        columns,
    }
}

pub(super) fn phase_subflows(run: &Record<'_>) -> Table {
    let mut codes = Vec::new();
    let (mut flow, mut subflow, mut goodput) = (Vec::new(), Vec::new(), Vec::new());
    for (phase, window) in closed_phases(run) {
        for share in window.flows.iter() {
            for (number, bytes) in share.received.iter().enumerate() {
                codes.push(phase);
                flow.push(u64::from(share.flow));
                subflow.push(number as u64);
                goodput.push(share.rate_of(*bytes));
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

pub(super) fn phase_links(run: &Record<'_>) -> Table {
    let (mut phase_codes, mut link_codes) = (Vec::new(), Vec::new());
    let (mut utilisation, mut queue) = (Vec::new(), Vec::new());
    for (phase, window) in closed_phases(run) {
        for (link, share) in (0u32..).zip(&window.links) {
            phase_codes.push(phase);
            link_codes.push(link);
            utilisation.push(share.utilisation);
            queue.push(share.queue_mean);
        }
    }
    let columns = vec![
        ("phase", phase_labels(run, phase_codes)),
        (
            "link",
            link_labels(&run.plan.fabric, link_codes.into_iter()),
        ),
        ("utilisation", Column::Numbers(utilisation)),
        ("queue_mean", Column::Numbers(queue)),
    ];
    Table {
        name: "phase_links",
        columns,
    }
}
