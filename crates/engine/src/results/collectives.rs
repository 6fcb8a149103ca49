//! The table of the iterations of collective operations.

use crate::flows::rows::seconds;
use crate::record::Record;
use crate::table::{Column, Table};
use pathweave_traffic::patterns::Collective;
use pathweave_traffic::{Iteration, Job, Pattern};

/// One iteration of a job.
struct Row<'a> {
    group: u32,
    pattern: &'a Collective,
    job: &'a Job,
    iteration: &'a Iteration,
}

impl Row<'_> {
    /// Seconds from the first transfer's start to the end of the last one.
    fn completion(&self) -> f64 {
        seconds(self.job.end.map(|end| end - self.job.start))
    }

    /// What busy links carried: NCCL's bus bandwidth, in bit/s.
    fn bus_rate(&self) -> f64 {
        let shape = &self.pattern.shape;
        let factor = shape.operation.bus_factor(shape.ranks, shape.chunks);
        factor * shape.bytes.get() as f64 * 8.0 / self.completion()
    }
}

/// The table; `None` where no group has collective operations.
pub(super) fn collectives(run: &Record<'_>) -> Option<Table> {
    let mut rows = Vec::new();
    let mut any = false;
    for (group, plan) in run.plan.groups.iter().enumerate() {
        let Pattern::Collective(pattern) = &plan.pattern else {
            continue;
        };
        any = true;
        let jobs = run.traffic.jobs[group].iter();
        for (job, iteration) in jobs.zip(&run.traffic.iterations[group]) {
            rows.push(Row {
                group: group as u32,
                pattern,
                job,
                iteration,
            });
        }
    }
    if !any {
        return None;
    }
    let integers = |value: fn(&Row<'_>) -> u64| Column::Integers(rows.iter().map(value).collect());
    let numbers = |value: fn(&Row<'_>) -> f64| Column::Numbers(rows.iter().map(value).collect());
    let groups = run.plan.groups.iter();
    let operation = |group: &pathweave_scenario::GroupPlan| match &group.pattern {
        Pattern::Collective(pattern) => pattern.shape.operation.name(),
        _ => "",
    };
    let columns = vec![
        (
            "group",
            Column::Labels {
                names: groups.clone().map(|group| group.name.as_str()).collect(),
                codes: rows.iter().map(|row| row.group).collect(),
            },
        ),
        (
            "operation",
            Column::Labels {
                names: groups.map(operation).collect(),
                codes: rows.iter().map(|row| row.group).collect(),
            },
        ),
        ("job", integers(|row| u64::from(row.iteration.job))),
        ("team", integers(|row| u64::from(row.iteration.team))),
        ("iteration", integers(|row| row.iteration.number)),
        ("ranks", integers(|row| u64::from(row.pattern.shape.ranks))),
        ("bytes", integers(|row| row.pattern.shape.bytes.get())),
        ("began_s", numbers(|row| row.iteration.began.as_secs_f64())),
        ("start_s", numbers(|row| row.job.start.as_secs_f64())),
        ("end_s", numbers(|row| seconds(row.job.end))),
        ("collective_s", numbers(|row| row.completion())),
        (
            "iteration_s",
            numbers(|row| {
                let iteration = row.iteration;
                seconds(iteration.ended.map(|end| end - iteration.began))
            }),
        ),
        ("bus_bps", numbers(|row| row.bus_rate())),
        (
            "finished",
            Column::Flags(rows.iter().map(|row| row.job.end.is_some()).collect()),
        ),
        (
            "in_window",
            Column::Flags(
                rows.iter()
                    .map(|row| run.plan.measure.covers(row.job.start))
                    .collect(),
            ),
        ),
    ];
    Some(Table {
        name: "collectives",
        columns,
    })
}
