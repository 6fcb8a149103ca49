//! Runs that end before their flows can.

use super::Warning;
use super::arithmetic::{about, uses_group_size, with_headers};
use pathweave_fabric::Fabric;
use pathweave_scenario::{GroupPlan, Plan};
use pathweave_traffic::Pattern;
use pathweave_traffic::size::Size;
use pathweave_units::Time;

/// From this share of flows on that are cut off, completion times are those of a minority.
const MOST_CUT_OFF: f64 = 0.5;
/// Equally likely sizes that stand for a distribution.
const RANKS: u32 = 200;

/// A flow of the mean size that has its host's link to itself takes a time. Where the group has less, flows of that size never end.
pub(super) fn warnings(plan: &Plan) -> Vec<Warning> {
    let (Some(end), None) = (plan.stop.at, &plan.stop.traffic) else {
        return Vec::new();
    };
    let Some(rate) = fastest_host(&plan.fabric) else {
        return Vec::new();
    };
    let groups = plan
        .groups
        .iter()
        .filter(|group| uses_group_size(&group.pattern));
    let found = groups.filter_map(|group| {
        let seconds_per_byte = 8.0 * with_headers(&group.transport) / rate;
        let alone = group.size.mean()? * seconds_per_byte;
        match plan.stop.last_start {
            Some(last) => drained(group, alone, last, end),
            None => cut_off(group, alone, seconds_per_byte, end),
        }
    });
    found.collect()
}

/// With `drain`, the flow that starts last has until the limit.
fn drained(group: &GroupPlan, alone: f64, last: Time, limit: Time) -> Option<Warning> {
    let left = limit.saturating_sub(last);
    if group.stop.is_some() || alone <= left.as_secs_f64() {
        return None;
    }
    let needed = about(alone);
    Some(Warning {
        key: "stop.limit".to_owned(),
        text: format!(
            "a flow of the mean size of \"{}\" takes {needed} with a link to itself, and those that start last have {left}: they \
             cannot finish",
            group.name
        ),
        advice: format!(
            "limit = \"{}\" or later",
            about(last.as_secs_f64() + 10.0 * alone)
        ),
    })
}

fn cut_off(group: &GroupPlan, alone: f64, seconds_per_byte: f64, end: Time) -> Option<Warning> {
    let until = group.stop.map_or(end, |stop| stop.min(end));
    if until <= group.start {
        return None;
    }
    let left = until - group.start;
    let needed = about(alone);
    if alone > left.as_secs_f64() {
        return Some(Warning {
            key: "stop.at".to_owned(),
            text: format!(
                "a flow of the mean size of \"{}\" takes {needed} with a link to itself, and has {left}: flows of that size cannot finish",
                group.name
            ),
            advice: format!("at least {needed} from the group's start on, or smaller flows"),
        });
    }
    let share = share_cut_off(group, seconds_per_byte, left)?;
    (share > MOST_CUT_OFF).then(|| Warning {
        key: "stop.at".to_owned(),
        text: format!(
            "{:.0} % of the flows of \"{}\" or more are under way when the run ends, even with links to themselves: those that finish \
             are the small ones",
            100.0 * share,
            group.name
        ),
        advice: "drain = true with a limit, or a later end".to_owned(),
    })
}

/// The share of flows that arrive at random and are cut off, if each has a link to itself.
fn share_cut_off(group: &GroupPlan, seconds_per_byte: f64, left: Time) -> Option<f64> {
    let Pattern::Poisson(poisson) = &group.pattern else {
        return None;
    };
    if poisson.count.is_some() {
        return None;
    }
    let cut = |bytes: f64| (bytes * seconds_per_byte / left.as_secs_f64()).min(1.0);
    match &group.size {
        Size::Empirical(cdf) => {
            let ranks = (0..RANKS).map(|rank| (f64::from(rank) + 0.5) / f64::from(RANKS));
            let sum: f64 = ranks.map(|rank| cut(cdf.quantile(rank))).sum();
            Some(sum / f64::from(RANKS))
        }
        size => size.mean().map(cut),
    }
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
