//! Flows that meet at the port towards one host, whatever paths they take.

use pathweave_network::QueueConfig;
use pathweave_scenario::{GroupPlan, Plan};
use pathweave_traffic::Pattern;
use pathweave_traffic::size::Size;
use pathweave_units::{Rate, Time};
use std::collections::BTreeMap;

/// Flows of a traffic group that send to one host at a time.
pub(super) struct Crowd {
    /// Index of the group.
    pub group: usize,
    /// How many.
    pub flows: u32,
    /// Rate of all links to the host together.
    pub rate: Rate,
    /// The queue of one of them.
    pub queue: QueueConfig,
}

/// The largest crowd of each group whose pattern says how many flows share a receiver.
pub(super) fn crowds(plan: &Plan) -> Vec<Crowd> {
    let groups = plan.groups.iter().enumerate();
    let found = groups.filter_map(|(group, about)| {
        let (destination, flows) = most_at_one_host(about)?;
        let (rate, queue) = towards(plan, destination)?;
        Some(Crowd {
            group,
            flows,
            rate,
            queue,
        })
    });
    found.collect()
}

/// A receiver, and how many of a group's flows send to it at a time. Patterns that draw receivers have none.
fn most_at_one_host(group: &GroupPlan) -> Option<(u32, u32)> {
    match &group.pattern {
        Pattern::ManyToOne(p) => Some((p.destination, p.concurrency)),
        Pattern::Bursts(p) => Some((p.destination, p.flows)),
        Pattern::Incast(p) => {
            let first = p.hosts.as_ref().and_then(|hosts| hosts.first().copied());
            Some((first.unwrap_or(0), p.servers))
        }
        Pattern::Listed(list) => {
            // It is not known when flows with a size will end.
            let endless = list.flows.iter().filter(|flow| {
                matches!(flow.size.as_ref().unwrap_or(&group.size), Size::Unlimited)
            });
            let mut lives: BTreeMap<u32, Vec<(Time, Option<Time>)>> = BTreeMap::new();
            for flow in endless {
                let stop = flow.stop.or(group.stop);
                let to = lives.entry(flow.destination).or_default();
                to.push((flow.start, stop));
            }
            let most = lives
                .into_iter()
                .map(|(host, lives)| (at_a_time(&lives), host))
                .max_by_key(|&(flows, host)| (flows, std::cmp::Reverse(host)))?;
            Some((most.1, most.0))
        }
        _ => None,
    }
}

/// The most of these lives that overlap.
fn at_a_time(lives: &[(Time, Option<Time>)]) -> u32 {
    let under_way = |now: Time| {
        let is_then = |&&(start, stop): &&(Time, Option<Time>)| {
            start <= now && stop.is_none_or(|stop| now < stop)
        };
        lives.iter().filter(is_then).count() as u32
    };
    let starts = lives.iter().map(|&(start, _)| under_way(start));
    starts.max().unwrap_or(0)
}

/// The rate of all links to a host, and the queue of the first.
fn towards(plan: &Plan, host: u32) -> Option<(Rate, QueueConfig)> {
    let node = *plan.fabric.hosts.get(host as usize)?;
    let links = plan.fabric.links.iter().zip(&plan.queues);
    let mut to_it = links.filter(|(link, _)| link.to == node);
    let (first, &queue) = to_it.next()?;
    let rate = to_it.fold(first.rate.as_bps(), |sum, (link, _)| {
        sum + link.rate.as_bps()
    });
    Some((Rate::from_bps(rate), queue))
}
