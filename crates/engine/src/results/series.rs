//! The tables of time series.

use super::labels::link_labels;
use crate::measurement::series::{Series, SuspensionRow};
use crate::table::{Column, Table};
use pathweave_scenario::Plan;
use pathweave_units::Time;

/// The series that the plan asks for.
pub(super) fn all(plan: &Plan, series: &Series) -> Vec<Table> {
    let record = &plan.record;
    [
        record.rates.is_some().then(|| rates(plan, series)),
        record.windows.is_some().then(|| windows(series)),
        record.rtts.is_some().then(|| rtts(series)),
        series.suspensions.as_deref().map(suspensions),
        record.queues.is_some().then(|| queues(plan, series)),
        record.map.is_some().then(|| map(plan, series)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The columns that say when a sample was taken, and of which subflow.
fn of_subflows(rows: impl Iterator<Item = (Time, u32, u32)>) -> Vec<(&'static str, Column)> {
    let (mut time, mut flow, mut subflow) = (Vec::new(), Vec::new(), Vec::new());
    for (at, of_flow, of_subflow) in rows {
        time.push(at.as_secs_f64());
        flow.push(u64::from(of_flow));
        subflow.push(u64::from(of_subflow));
    }
    vec![
        ("time_s", Column::Numbers(time)),
        ("flow", Column::Integers(flow)),
        ("subflow", Column::Integers(subflow)),
    ]
}

fn rates(plan: &Plan, series: &Series) -> Table {
    let rows = series.rates.rows();
    let interval = plan.record.rates.unwrap_or(Time::MAX);
    let mut columns = of_subflows(rows.iter().map(|row| (row.at, row.flow, row.subflow)));
    columns.extend([(
        "rate_bps",
        Column::Numbers(
            rows.iter()
                .map(|row| row.bytes * 8.0 / length(interval, row.at).as_secs_f64())
                .collect(),
        ),
    )]);
    Table {
        name: "rates",
        columns,
    }
}

/// How long the interval that ends then has been: the last of a run is shorter than the others.
fn length(interval: Time, end: Time) -> Time {
    let (interval, end) = (interval.as_picos(), end.as_picos());
    Time::from_picos(end - end.saturating_sub(1) / interval * interval)
}

fn windows(series: &Series) -> Table {
    let rows = &series.windows;
    let finite = |value: f64| if value.is_finite() { value } else { f64::NAN };
    let mut columns = of_subflows(rows.iter().map(|row| (row.at, row.flow, row.subflow)));
    columns.extend([
        (
            "window_packets",
            Column::Numbers(rows.iter().map(|row| row.window).collect()),
        ),
        (
            "window_min_packets",
            Column::Numbers(rows.iter().map(|row| row.extent.least).collect()),
        ),
        (
            "window_mean_packets",
            Column::Numbers(rows.iter().map(|row| row.extent.mean).collect()),
        ),
        (
            "window_max_packets",
            Column::Numbers(rows.iter().map(|row| row.extent.most).collect()),
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
    ]);
    Table {
        name: "windows",
        columns,
    }
}

fn rtts(series: &Series) -> Table {
    let rows = &series.rtts;
    let mut columns = of_subflows(rows.iter().map(|row| (row.at, row.flow, row.subflow)));
    columns.extend([
        (
            "rtt_s",
            Column::Numbers(rows.iter().map(|row| row.latest.as_secs_f64()).collect()),
        ),
        (
            "rtt_min_s",
            Column::Numbers(rows.iter().map(|row| row.extent.least).collect()),
        ),
        (
            "rtt_mean_s",
            Column::Numbers(rows.iter().map(|row| row.extent.mean).collect()),
        ),
        (
            "rtt_max_s",
            Column::Numbers(rows.iter().map(|row| row.extent.most).collect()),
        ),
        (
            "smoothed_rtt_s",
            Column::Numbers(rows.iter().map(|row| row.smoothed.as_secs_f64()).collect()),
        ),
    ]);
    Table {
        name: "rtts",
        columns,
    }
}

fn suspensions(rows: &[SuspensionRow]) -> Table {
    let mut columns = of_subflows(rows.iter().map(|row| (row.at, row.flow, row.subflow)));
    columns.push((
        "suspended",
        Column::Flags(rows.iter().map(|row| row.suspended).collect()),
    ));
    Table {
        name: "suspensions",
        columns,
    }
}

fn queues(plan: &Plan, series: &Series) -> Table {
    let rows = &series.queues;
    let columns = vec![
        (
            "time_s",
            Column::Numbers(rows.iter().map(|row| row.at.as_secs_f64()).collect()),
        ),
        (
            "link",
            link_labels(&plan.fabric, rows.iter().map(|row| row.link)),
        ),
        (
            "packets",
            Column::Integers(rows.iter().map(|row| u64::from(row.waiting)).collect()),
        ),
        (
            "packets_min",
            Column::Numbers(rows.iter().map(|row| row.extent.least).collect()),
        ),
        (
            "packets_mean",
            Column::Numbers(rows.iter().map(|row| row.extent.mean).collect()),
        ),
        (
            "packets_max",
            Column::Numbers(rows.iter().map(|row| row.extent.most).collect()),
        ),
    ];
    Table {
        name: "queues",
        columns,
    }
}

fn map(plan: &Plan, series: &Series) -> Table {
    let rows = &series.map;
    let columns = vec![
        (
            "time_s",
            Column::Numbers(rows.iter().map(|row| row.at.as_secs_f64()).collect()),
        ),
        (
            "link",
            link_labels(&plan.fabric, rows.iter().map(|row| row.link)),
        ),
        (
            "utilisation",
            Column::Numbers(rows.iter().map(|row| row.utilisation).collect()),
        ),
        (
            "queue_mean",
            Column::Numbers(rows.iter().map(|row| row.queue_mean).collect()),
        ),
        (
            "marks",
            Column::Integers(rows.iter().map(|row| row.marks).collect()),
        ),
        (
            "drops",
            Column::Integers(rows.iter().map(|row| row.drops).collect()),
        ),
    ];
    Table {
        name: "map",
        columns,
    }
}
