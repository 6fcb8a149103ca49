//! The table of jobs.

use crate::flows::rows::seconds;
use crate::record::Record;
use crate::table::{Column, Table};
use pathweave_traffic::Job;

pub(super) fn jobs(run: &Record<'_>) -> Table {
    let mut rows = Vec::new();
    for (group, jobs) in run.traffic.jobs.iter().enumerate() {
        for (number, job) in jobs.iter().enumerate() {
            rows.push((group as u32, number as u64, job.clone()));
        }
    }
    let duration = |job: &Job| job.end.map(|end| end - job.start);
    let columns = vec![
        (
            "group",
            Column::Labels {
                names: run
                    .plan
                    .groups
                    .iter()
                    .map(|group| group.name.as_str())
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
        (
            "in_window",
            Column::Flags(
                rows.iter()
                    .map(|(.., job)| run.plan.measure.covers(job.start))
                    .collect(),
            ),
        ),
    ];
    Table {
        name: "jobs",
        columns,
    }
}
