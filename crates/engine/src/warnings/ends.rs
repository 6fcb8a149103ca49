//! Runs that end before their flows can.

use super::{Warning, about, uses_group_size, with_headers};
use pathweave_fabric::Fabric;
use pathweave_scenario::Plan;

/// A flow of the mean size that has its host's link to itself takes a time. Where the group has less, flows of that size never end.
pub(super) fn warnings(plan: &Plan) -> Vec<Warning> {
    let Some(end) = plan.stop.at.filter(|_| plan.stop.is_at_a_time()) else {
        return Vec::new();
    };
    let Some(rate) = fastest_host(&plan.fabric) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for group in &plan.groups {
        let Some(mean) = group
            .size
            .mean()
            .filter(|_| uses_group_size(&group.pattern))
        else {
            continue;
        };
        let alone = 8.0 * mean * with_headers(&group.transport) / rate;
        let until = group.stop.map_or(end, |stop| stop.min(end));
        if until <= group.start {
            continue;
        }
        let left = until - group.start;
        if alone <= left.as_secs_f64() {
            continue;
        }
        let needed = about(alone);
        found.push(Warning {
            key: "stop.at".to_owned(),
            text: format!(
                "a flow of the mean size of \"{}\" takes {needed} with a link to itself, and has {left}: flows of that size cannot finish",
                group.name
            ),
            advice: format!("at least {needed} from the group's start on, or smaller flows"),
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
