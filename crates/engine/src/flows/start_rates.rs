//! How many flows start and end in a second, as far as the patterns of a plan say.

use crate::build;
use pathweave_fabric::NodeKind;
use pathweave_scenario::{GroupPlan, Plan};
use pathweave_traffic::Pattern;
use pathweave_units::Time;

/// Flows that start in a window where loops are closed, each of which ends it: with more of them too little is left of windows.
const MOST_STARTS: f64 = 2.0;
/// Flows that end in a window and whose ends others wait for: where there are more, all regions have to come to one time so
/// often that one region is faster.
const MOST_ENDS: f64 = 0.1;

/// Whether so few flows start that enough is left of windows of this length, if each start ends one.
pub(crate) fn windows_outlast_starts(plan: &Plan, window: Time) -> bool {
    starts_that_end_windows(plan) * window.as_secs_f64() <= MOST_STARTS
}

/// Whether so few flows end whose ends others wait for that enough is left of windows of this length, if each end ends one.
pub(crate) fn windows_outlast_ends(plan: &Plan, window: Time) -> bool {
    ends_that_are_heeded(plan) * window.as_secs_f64() <= MOST_ENDS
}

/// Flows that start in a second, each of which ends a window, as far as the patterns say. Where no pattern heeds the ends of
/// flows, their starts are known ahead.
fn starts_that_end_windows(plan: &Plan) -> f64 {
    if !plan.groups.iter().any(GroupPlan::heeds_ends) {
        return 0.0;
    }
    let hosts = build::hosts(&plan.fabric);
    let groups = plan.groups.iter().map(|group| match &group.pattern {
        Pattern::Poisson(poisson) => poisson.flows_per_second(&hosts, &group.size).unwrap_or(0.0),
        // Requests start together.
        Pattern::Incast(jobs) => jobs
            .jobs_per_second(hosts.count)
            .ok()
            .flatten()
            .unwrap_or(0.0),
        Pattern::ManyToMany(pattern) if pattern.gap > Time::ZERO => 1.0 / pattern.gap.as_secs_f64(),
        _ => 0.0,
    });
    groups.sum()
}

/// Flows that can end in a second and whose ends others wait for, where patterns say how large flows are, if hosts send as
/// fast as they can.
fn ends_that_are_heeded(plan: &Plan) -> f64 {
    let fabric = &plan.fabric;
    let links = fabric.links.iter();
    let of_hosts =
        links.filter(|link| matches!(fabric.node(link.from).kind, NodeKind::Host { .. }));
    let sent: f64 = of_hosts.map(|link| link.rate.as_bps() as f64 / 8.0).sum();
    let per_host = sent / fabric.hosts.len() as f64;
    let groups = plan.groups.iter().filter(|group| group.heeds_ends());
    let ends = groups.filter_map(|group| {
        let mean = group.size.mean();
        let part = |hosts: &Option<Vec<u32>>| {
            hosts
                .as_ref()
                .map_or(sent, |own| per_host * own.len() as f64)
        };
        match &group.pattern {
            Pattern::Permutation(pattern) => {
                let senders = pattern.flows(fabric.hosts.len() as u32);
                Some(per_host * f64::from(senders) / mean?)
            }
            Pattern::Random(pattern) => Some(part(&pattern.sources) / mean?),
            Pattern::ManyToOne(_) => Some(per_host / mean?),
            Pattern::Incast(jobs) => {
                let mean = (jobs.request.get() as f64 + jobs.response.get() as f64) / 2.0;
                let most = part(&jobs.hosts) / mean;
                let arriving = jobs
                    .jobs_per_second(fabric.hosts.len() as u32)
                    .ok()
                    .flatten();
                let flows = 2.0 * f64::from(jobs.servers);
                Some(arriving.map_or(most, |jobs| most.min(jobs * flows)))
            }
            Pattern::RequestResponse(options) => {
                let mean = (options.request.get() as f64 + options.response.get() as f64) / 2.0;
                Some((part(&options.clients) + part(&options.servers)) / mean)
            }
            // Their flows are as large as each step of a job says, and often wait for computing.
            _ => None,
        }
    });
    ends.sum()
}
