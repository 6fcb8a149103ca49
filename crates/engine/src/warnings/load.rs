//! Open-loop load that hosts cannot carry.

use super::Warning;
use super::arithmetic::{rounded, with_headers};
use pathweave_fabric::Fabric;
use pathweave_scenario::{GroupPlan, Plan};
use pathweave_traffic::Pattern;
use pathweave_traffic::patterns::{Arrivals, Incast, Poisson};
use pathweave_units::{Rate, Time};
use std::collections::BTreeMap;

/// The part of a group in what is offered to one host, in bit/s on the wire.
pub(super) struct Offered<'a> {
    group: &'a GroupPlan,
    arrivals: Arrivals,
    /// By all flows together, in bit/s on the wire.
    total: f64,
    /// Whether no flow stays in its rack.
    different_racks: bool,
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
    let offered = all_offered(plan);
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
        let (key, advice) = largest.advice(fits);
        found.push(Warning {
            key,
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

/// What open-loop groups without an end offer.
pub(super) fn all_offered(plan: &Plan) -> Vec<Offered<'_>> {
    let offer = |group| offered_by(group, &plan.fabric);
    plan.groups.iter().filter_map(offer).collect()
}

fn offered_by<'a>(group: &'a GroupPlan, fabric: &Fabric) -> Option<Offered<'a>> {
    match &group.pattern {
        Pattern::Poisson(poisson) if poisson.count.is_none() => offered(group, poisson, fabric),
        Pattern::Incast(incast) => offered_by_jobs(group, incast, fabric),
        _ => None,
    }
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
        total: wire,
        different_racks: poisson.different_racks,
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
    let total = jobs * bits;
    let each = total / hosts.map_or(all, <[u32]>::len).max(1) as f64;
    Some(Offered {
        group,
        arrivals: incast.arrivals?,
        total,
        different_racks: false,
        each: [each; 2],
        hosts: [hosts; 2],
        is_part: false,
    })
}

impl Offered<'_> {
    /// By all flows together, in bit/s on the wire.
    pub(super) fn total(&self) -> f64 {
        self.total
    }

    /// When it begins.
    pub(super) fn start(&self) -> Time {
        self.group.start
    }

    /// The key that the load follows from, and what to set if only this share of the load fits.
    pub(super) fn advice(&self, fits: f64) -> (String, String) {
        let (key, value) = match self.arrivals {
            Arrivals::Load { load, .. } => ("load", load),
            Arrivals::PerSecond(arrivals) => match self.group.pattern {
                Pattern::Incast(_) => ("jobs_per_second", arrivals),
                _ => ("flows_per_second", arrivals),
            },
            Arrivals::PerSourcePerSecond(flows) => ("flows_per_second_per_source", flows),
        };
        let key_of_group = format!("traffic.{}.{key}", self.group.name);
        (key_of_group, below(key, value * fits))
    }

    /// The bit/s between each two racks, with one host of each that stands for all.
    pub(super) fn by_racks(&self, fabric: &Fabric) -> Vec<(u32, u32, f64)> {
        let [senders, receivers] = self.hosts.map(|hosts| racks(fabric, hosts));
        let mut pairs = Vec::new();
        for (from_rack, from) in &senders {
            for (to_rack, to) in &receivers {
                let same = from_rack == to_rack;
                let of_one = from.iter().filter(|host| same && to.contains(host)).count();
                let count = from.len() * to.len() - of_one;
                let two = from
                    .iter()
                    .flat_map(|&a| to.iter().map(move |&b| (a, b)))
                    .find(|(a, b)| a != b);
                if let Some((a, b)) = two.filter(|_| !(same && self.different_racks)) {
                    pairs.push((a, b, count as f64));
                }
            }
        }
        let all: f64 = pairs.iter().map(|(.., count)| count).sum();
        let share = |(a, b, count): (u32, u32, f64)| (a, b, self.total * count / all);
        pairs.into_iter().map(share).collect()
    }

    pub(super) fn is_under_way(&self, now: Time) -> bool {
        self.group.start <= now && self.group.stop.is_none_or(|stop| now < stop)
    }

    fn takes_part(&self, side: usize, host: u32) -> bool {
        self.hosts[side].is_none_or(|hosts| hosts.contains(&host))
    }
}

/// Hosts by their racks; `None` stands for all.
fn racks(fabric: &Fabric, hosts: Option<&[u32]>) -> BTreeMap<u32, Vec<u32>> {
    let all: Vec<u32> = (0..fabric.hosts.len() as u32).collect();
    let mut racks: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for &host in hosts.unwrap_or(&all) {
        racks.entry(fabric.host(host).rack).or_default().push(host);
    }
    racks
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
