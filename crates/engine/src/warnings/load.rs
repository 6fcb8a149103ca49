//! Open-loop load that hosts cannot carry.

use super::{Warning, rounded, with_headers};
use pathweave_fabric::Fabric;
use pathweave_scenario::{GroupPlan, Plan};
use pathweave_traffic::Pattern;
use pathweave_traffic::patterns::{Arrivals, Incast, Poisson};
use pathweave_units::{Rate, Time};

/// The part of a group in what is offered to one host, in bit/s on the wire.
struct Offered<'a> {
    group: &'a GroupPlan,
    arrivals: Arrivals,
    /// To each host that sends, and to each that receives.
    each: [f64; 2],
    /// Which these are; `None` stands for all.
    hosts: [Option<&'a [u32]>; 2],
    /// Whether the hosts are those of a part of a permutation, which differ from those of its other parts.
    is_part: bool,
}

/// Poisson flows arrive whether or not earlier ones have ended: where hosts are offered more than their ports carry, backlogs grow
/// for as long as the run lasts, and its length decides every completion time. Headers count, and ACKs do not: they may travel the
/// other way. A group that ends after a number of flows is left out.
pub(super) fn warnings(plan: &Plan) -> Vec<Warning> {
    let offered: Vec<Offered<'_>> = plan
        .groups
        .iter()
        .filter_map(|group| match &group.pattern {
            Pattern::Poisson(poisson) if poisson.count.is_none() => {
                offered(group, poisson, &plan.fabric)
            }
            Pattern::Incast(incast) => offered_by_jobs(group, incast, &plan.fabric),
            _ => None,
        })
        .collect();
    let ports = [true, false].map(|sends| port_rates(&plan.fabric, sends));
    let mut found = Vec::new();
    for (side, verb) in [(0, "is to send"), (1, "is to receive")] {
        let Some((host, total)) = busiest(&offered, side, &ports[side]) else {
            continue;
        };
        let rate = ports[side][host as usize];
        let largest = offered
            .iter()
            .filter(|each| each.takes_part(side, host))
            .max_by(|a, b| a.each[side].total_cmp(&b.each[side]));
        let Some(largest) = largest.filter(|_| total > rate) else {
            continue;
        };
        let about = |bps: f64| Rate::from_bps(rounded(bps) as u64);
        let fits = 1.0 - (total - rate) / largest.each[side];
        let (key, advice) = match largest.arrivals {
            Arrivals::Load { load, .. } => ("load", below("load", load * fits)),
            Arrivals::PerSecond(arrivals) => {
                let key = match largest.group.pattern {
                    Pattern::Incast(_) => "jobs_per_second",
                    _ => "flows_per_second",
                };
                (key, below(key, arrivals * fits))
            }
            Arrivals::PerSourcePerSecond(flows) => (
                "flows_per_second_per_source",
                below("flows_per_second_per_source", flows * fits),
            ),
        };
        found.push(Warning {
            key: format!("traffic.{}.{key}", largest.group.name),
            text: format!(
                "\"{}\" {verb} {} with headers, and has {}: backlogs grow for as long as the run lasts, and decide completion \
                 times",
                plan.fabric.host(host).name,
                about(total),
                about(rate)
            ),
            advice,
        });
    }
    // One key is named once: what senders are offered, receivers mostly are, too.
    found.dedup_by(|second, first| second.key == first.key);
    found
}

/// "load below 0.45"; nothing can be lowered enough where other groups offer too much by themselves.
fn below(key: &str, value: f64) -> String {
    if value > 0.0 {
        format!("{key} below {}", shortened(value))
    } else {
        format!("a lower {key}, and less load from other groups")
    }
}

/// Two digits, rounded down: what is below fits.
fn shortened(value: f64) -> f64 {
    let mut unit = 1.0;
    while value / unit >= 100.0 {
        unit *= 10.0;
    }
    while value / unit < 10.0 {
        unit /= 10.0;
    }
    // Division by a power of ten gives the shortest decimal.
    if unit < 1.0 {
        let scale = (1.0 / unit).round();
        (value * scale).floor() / scale
    } else {
        (value / unit).floor() * unit
    }
}

fn offered<'a>(group: &'a GroupPlan, poisson: &'a Poisson, fabric: &Fabric) -> Option<Offered<'a>> {
    let all = fabric.hosts.len();
    let hosts = [&poisson.sources, &poisson.destinations].map(Option::as_deref);
    let counts = match &poisson.pairs {
        Some(part) => [part.part.len(); 2],
        None => hosts.map(|hosts| hosts.map_or(all, <[u32]>::len)),
    };
    let bits = 8.0 * group.size.mean()?;
    let payload = match poisson.arrivals {
        Arrivals::PerSecond(flows) => flows * bits,
        Arrivals::PerSourcePerSecond(flows) => flows * bits * counts[0] as f64,
        Arrivals::Load { load, capacity } => load * capacity.as_bps() as f64,
    };
    let wire = payload * with_headers(&group.transport);
    Some(Offered {
        group,
        arrivals: poisson.arrivals,
        each: counts.map(|count| wire / count.max(1) as f64),
        hosts,
        is_part: poisson.pairs.is_some(),
    })
}

/// Of jobs each host is as likely the client as any other, and sends and receives alike.
fn offered_by_jobs<'a>(
    group: &'a GroupPlan,
    incast: &'a Incast,
    fabric: &Fabric,
) -> Option<Offered<'a>> {
    let all = fabric.hosts.len();
    let jobs = incast.jobs_per_second(all as u32).ok().flatten()?;
    let hosts = incast.hosts.as_deref();
    let bits = 8.0 * incast.bytes().get() as f64 * with_headers(&group.transport);
    let each = jobs * bits / hosts.map_or(all, <[u32]>::len).max(1) as f64;
    Some(Offered {
        group,
        arrivals: incast.arrivals?,
        each: [each; 2],
        hosts: [hosts; 2],
        is_part: false,
    })
}

impl Offered<'_> {
    fn is_under_way(&self, now: Time) -> bool {
        self.group.start <= now && self.group.stop.is_none_or(|stop| now < stop)
    }

    fn takes_part(&self, side: usize, host: u32) -> bool {
        self.hosts[side].is_none_or(|hosts| hosts.contains(&host))
    }
}

/// The host that is offered the largest share of its ports at a time, and how much that is.
fn busiest(offered: &[Offered<'_>], side: usize, ports: &[f64]) -> Option<(u32, f64)> {
    let starts = offered.iter().map(|each| each.group.start);
    let moments = starts.filter_map(|now| {
        let mut totals = vec![0.0; ports.len()];
        // Of one permutation a host is in one part.
        let mut most_of_parts: f64 = 0.0;
        for each in offered.iter().filter(|each| each.is_under_way(now)) {
            match each.hosts[side] {
                _ if each.is_part => most_of_parts = most_of_parts.max(each.each[side]),
                Some(hosts) => hosts
                    .iter()
                    .for_each(|&host| totals[host as usize] += each.each[side]),
                None => totals
                    .iter_mut()
                    .for_each(|total| *total += each.each[side]),
            }
        }
        let shares = (0..).zip(totals.iter().zip(ports));
        shares
            .filter(|(_, (_, rate))| **rate > 0.0)
            .map(|(host, (total, rate))| (host, total + most_of_parts, *rate))
            .max_by(|(_, a, x), (_, b, y)| (a / x).total_cmp(&(b / y)))
    });
    let (host, total, _) = moments.max_by(|(_, a, x), (_, b, y)| (a / x).total_cmp(&(b / y)))?;
    (total > 0.0).then_some((host, total))
}

/// The rate of each host's ports together, away from it or towards it, in bit/s.
fn port_rates(fabric: &Fabric, away: bool) -> Vec<f64> {
    let mut rates = vec![0.0; fabric.hosts.len()];
    for link in &fabric.links {
        let node = if away { link.from } else { link.to };
        if let Some(host) = fabric.node(node).host_index() {
            rates[host as usize] += link.rate.as_bps() as f64;
        }
    }
    rates
}
