//! What has to fit the types that a run counts in: packets with their headers, flows, waiting times.

use super::Problems;
use crate::plan::{Change, GroupPlan, LinkChange};
use pathweave_control::Scheme;
use pathweave_fabric::{Fabric, LinkId};
use pathweave_network::{Limit, QueueConfig};
use pathweave_traffic::Pattern;
use pathweave_traffic::patterns::Arrivals;
use pathweave_units::{Bytes, Rate, Time};

/// A full queue has to be sent within this time: times are added up to a few times as much.
const LONGEST_QUEUE: Time = Time::from_secs(4_000_000);

/// Flows that one group may be expected to start: more are a mistake in the unit.
const MOST_ARRIVALS: f64 = 1e9;

/// Refuses packets that are too long with the header of a scheme that switches take part in.
pub(super) fn check_headers(groups: &[GroupPlan], problems: &mut Problems<'_>) {
    for group in groups {
        let size = group.transport.data_packet;
        let headers = group.controllers().map(|(entry, _)| {
            let header = entry.scheme().map_or(0, Scheme::header_bytes);
            (header, entry.name())
        });
        let Some((header, name)) = headers.max() else {
            continue;
        };
        if size.checked_add(header).is_none() {
            let most = u16::MAX - header;
            let text = format!(
                "a data packet of {size} B and the header of {name}, {header} B, are more than the {} B that a packet can have; give a data_packet of at most {most} B",
                u16::MAX
            );
            let index = problems.group_index(&group.name);
            problems.wrong(&["traffic", &index, "controller"], text);
        }
    }
}

/// Refuses flows that have more packets than there are numbers for.
pub(super) fn check_sizes(groups: &[GroupPlan], problems: &mut Problems<'_>) {
    for group in groups {
        let most = group.transport.largest_flow();
        let mut refuse = |size: Option<Bytes>, keys: &[&str]| {
            if let Some(size) = size.filter(|&size| size > most) {
                let megabytes = Bytes::new(most.get() / 1_000_000 * 1_000_000);
                let text = format!(
                    "a flow of {size} has more packets than can be numbered; give at most {megabytes}, or larger packets"
                );
                let index = problems.group_index(&group.name);
                problems.wrong(&[&["traffic", &index], keys].concat(), text);
            }
        };
        match &group.pattern {
            Pattern::Incast(incast) => {
                refuse(Some(incast.request), &["request"]);
                refuse(Some(incast.response), &["response"]);
            }
            Pattern::RequestResponse(exchanges) => {
                refuse(Some(exchanges.request), &["request"]);
                refuse(Some(exchanges.response), &["response"]);
            }
            Pattern::Listed(list) => {
                for (index, flow) in list.flows.iter().enumerate() {
                    let own = flow.size.as_ref();
                    let keys = ["flows", &index.to_string(), "size"];
                    let keys = if own.is_some() { &keys[..] } else { &keys[2..] };
                    refuse(own.unwrap_or(&group.size).largest(), keys);
                }
            }
            Pattern::Collective(_) => refuse(group.size.largest(), &["bytes"]),
            Pattern::Trace(_) | Pattern::Goal(_) => refuse(group.size.largest(), &[]),
            _ => refuse(group.size.largest(), &["size"]),
        }
    }
}

/// Refuses arrivals of more flows than a run can hold.
pub(super) fn check_arrivals(
    groups: &[GroupPlan],
    end: Option<Time>,
    hosts: usize,
    problems: &mut Problems<'_>,
) {
    for group in groups {
        let (per_second, key, count) = match &group.pattern {
            Pattern::Poisson(poisson) => {
                let sources = poisson.senders(hosts as u32);
                let (per_second, key) = match poisson.arrivals {
                    Arrivals::PerSecond(rate) => (rate, "flows_per_second"),
                    Arrivals::PerSourcePerSecond(rate) => {
                        (rate * f64::from(sources), "flows_per_second_per_source")
                    }
                    Arrivals::Load { load, capacity } => {
                        let Some(mean) = group.size.mean() else {
                            continue;
                        };
                        (load * capacity.as_bps() as f64 / (8.0 * mean), "load")
                    }
                };
                (per_second, key, poisson.count)
            }
            Pattern::Incast(incast) => {
                let Ok(Some(jobs)) = incast.jobs_per_second(hosts as u32) else {
                    continue;
                };
                let key = match incast.arrivals {
                    Some(Arrivals::Load { .. }) => "load",
                    _ => "jobs_per_second",
                };
                (jobs * 2.0 * f64::from(incast.servers), key, None)
            }
            _ => continue,
        };
        let stops = [group.stop, end].into_iter().flatten().min();
        let lasts = stops.map(|stop| stop.as_secs_f64() - group.start.as_secs_f64());
        let by_time = lasts.map(|seconds| per_second * seconds.max(0.0));
        let by_count = count.map(|count| count as f64);
        let expected = [by_time, by_count].into_iter().flatten().reduce(f64::min);
        if let Some(expected) = expected.filter(|&expected| expected > MOST_ARRIVALS) {
            let index = problems.group_index(&group.name);
            problems.wrong(
                &["traffic", &index, key],
                format!(
                    "about {expected:.1e} flows would arrive, {per_second:.1e} a second; give a rate or a time with at most {MOST_ARRIVALS:.0e}"
                ),
            );
        }
    }
}

/// Refuses queues that would take months to be sent.
pub(super) fn check_queues(
    queues: &[QueueConfig],
    fabric: &Fabric,
    events: &[LinkChange],
    groups: &[GroupPlan],
    problems: &mut Problems<'_>,
) {
    let Some(longest) = groups.iter().map(|group| group.transport.data_packet).max() else {
        return;
    };
    let mut slowest: Vec<Rate> = fabric.links.iter().map(|link| link.rate).collect();
    for event in events {
        if let Change::Rate(rate) = event.change {
            let slowest = &mut slowest[event.link.0 as usize];
            *slowest = rate.min(*slowest);
        }
    }
    for ((link, queue), rate) in (0u32..).map(LinkId).zip(queues).zip(slowest) {
        let Limit::Packets(packets) = queue.limit else {
            continue;
        };
        let bytes = Bytes::new(u64::from(packets) * u64::from(longest));
        let takes = rate.time_for(bytes);
        if takes > LONGEST_QUEUE {
            let most =
                LONGEST_QUEUE.as_picos() / rate.time_for(Bytes::new(longest.into())).as_picos();
            let text = format!(
                "a full queue of {packets} packets of {longest} B would take {takes} to leave link {} at {rate}; give at most {most} packets, or a limit in bytes",
                fabric.link_name(link)
            );
            problems.wrong(&["fabric", "queue", "limit"], text);
            return;
        }
    }
}
