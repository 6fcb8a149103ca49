//! Runs that end before their flows can.

use super::{Warning, about, draws_sizes};
use pathweave_fabric::Fabric;
use pathweave_scenario::Plan;

/// A flow of the mean size that has its host's link to itself takes a time. Where the run is shorter, most of what it is asked about
/// never happens in it.
pub(super) fn warnings(plan: &Plan) -> Vec<Warning> {
    let Some(end) = plan.stop.at.filter(|_| plan.stop.is_at_a_time()) else {
        return Vec::new();
    };
    let Some(rate) = fastest_host(&plan.fabric) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for group in &plan.groups {
        let Some(mean) = group.size.mean().filter(|_| draws_sizes(&group.pattern)) else {
            continue;
        };
        let alone = 8.0 * mean * group.transport.wire_per_payload() / rate;
        let left = end.saturating_sub(group.start).as_secs_f64();
        if alone <= left {
            continue;
        }
        let needed = about(alone);
        found.push(Warning {
            key: "stop.at".to_owned(),
            text: format!(
                "a mean flow of \"{}\" takes {needed} with a link to itself, and the run ends {} after the first begins: most flows \
                 do not end",
                group.name,
                end.saturating_sub(group.start)
            ),
            advice: format!("stop.at well after {}, or smaller flows", group.start + needed),
        });
    }
    found
}

/// The rate of the fastest port of a host, in bit/s.
fn fastest_host(fabric: &Fabric) -> Option<f64> {
    let ports = fabric.links.iter();
    let of_hosts = ports.filter(|link| fabric.node(link.from).host_index().is_some());
    of_hosts
        .map(|link| link.rate.as_bps())
        .max()
        .map(|bps| bps as f64)
}
