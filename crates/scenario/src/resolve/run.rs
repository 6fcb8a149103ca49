//! Stop, measurement and recording.

use super::{Problems, Scene, ending, links, map, packets};
use crate::names::{self, LONGEST_NAME};
use crate::plan::{
    Amount, GroupPlan, LinkChange, Measure, Phase, Record, Sampling, Stop, TrafficStop,
};
use crate::schema::{GroupTable, MeasureTable, RecordTable, StopTable};
use crate::suggest;
use crate::text::{Either, MapText, SamplingText};
use pathweave_fabric::LinkId;
use pathweave_units::{Bytes, Time};
use std::collections::BTreeSet;

/// When the run ends; refuses ends that never come. `groups` is `None` when some group has mistakes.
pub(super) fn stop(
    table: &StopTable,
    groups: Option<&[GroupPlan]>,
    tables: &[GroupTable],
    hosts: u32,
    problems: &mut Problems<'_>,
) -> Option<Stop> {
    let before = problems.found.len();
    let at = table.at.map(|at| at.0);
    if at == Some(Time::ZERO) {
        problems.wrong(
            &["stop", "at"],
            "the run ends before it begins; give a time above zero",
        );
    }
    let amounts: Vec<(&str, Amount)> = [
        table.flows.map(|flows| ("flows", Amount::Flows(flows))),
        table.bytes.map(|bytes| ("bytes", Amount::Bytes(bytes.0))),
        table.jobs.map(|jobs| ("jobs", Amount::Jobs(jobs))),
    ]
    .into_iter()
    .flatten()
    .collect();
    let traffic = match (&table.traffic, amounts.as_slice()) {
        (None, []) => {
            if table.drain && at.is_none() {
                problems.wrong_key(
                    &["stop", "drain"],
                    "drain does not say from when on no flow starts; give at, or traffic and one of flows, bytes and jobs, or remove it",
                );
            }
            None
        }
        (None, [(key, _), ..]) => {
            problems.wrong_key(
                &["stop", key],
                format!("stop.{key} does not say of which group; add traffic = \"...\" with a group's name"),
            );
            None
        }
        (Some(name), [(key, amount)]) => {
            let index = tables.iter().position(|group| group.keys.name == *name);
            if index.is_none() {
                let names: Vec<&str> = tables
                    .iter()
                    .map(|group| group.keys.name.as_str())
                    .collect();
                problems.wrong(
                    &["stop", "traffic"],
                    format!(
                        "no traffic group is called \"{name}\"; {}",
                        suggest::accepted(name, &names)
                    ),
                );
            }
            if let (Some(index), Some(groups)) = (index, groups)
                && let Some(text) = unreachable(&groups[index], *amount, hosts)
            {
                problems.wrong(&["stop", key], text);
            }
            index.map(|group| TrafficStop {
                group,
                amount: *amount,
                drain: table.drain,
            })
        }
        (Some(_), _) => {
            problems.wrong(
                &["stop"],
                "a stop by traffic counts one thing; give one of flows, bytes and jobs beside traffic",
            );
            None
        }
    };
    check_limit(table, problems);
    if table.drain
        && at.is_some()
        && table.limit.is_none()
        && let Some(groups) = groups
        && let Some(group) = groups.iter().find(|group| ending::never_ends(group))
    {
        problems.wrong(
            &["stop"],
            format!(
                "the run never ends: group \"{}\" has flows of unlimited size, which drain waits for; give limit, or a stop to the flows",
                group.name
            ),
        );
    }
    // With a stop by traffic the run ends at the latest when nothing is left of that group, and a group that goes on
    // for ever comes to any amount.
    if problems.found.len() == before
        && at.is_none()
        && traffic.is_none()
        && let Some(groups) = groups
    {
        for group in groups {
            if let Some(why) = ending::endless(group) {
                let text = format!(
                    "the run never ends: group \"{}\" goes on for ever ({why}); give stop.at, or stop.traffic with flows, bytes or jobs, or an end to the group",
                    group.name
                );
                if problems.tree.child("stop").is_some() {
                    problems.wrong(&["stop"], text);
                } else {
                    let index = problems.group_index(&group.name);
                    problems.wrong(&["traffic", &index], text);
                }
                break;
            }
        }
    }
    let (at, last_start) = if table.drain {
        (table.limit.map(|limit| limit.0), at)
    } else {
        (at, None)
    };
    (problems.found.len() == before).then_some(Stop {
        at,
        last_start,
        traffic,
    })
}

fn check_limit(table: &StopTable, problems: &mut Problems<'_>) {
    let Some(limit) = table.limit.map(|limit| limit.0) else {
        return;
    };
    let from = table.at.map_or(Time::ZERO, |at| at.0);
    if !table.drain {
        problems.wrong_key(
            &["stop", "limit"],
            "limit is the latest end of a run that drains; add drain = true, or give at alone",
        );
    } else if limit <= from {
        problems.wrong(
            &["stop", "limit"],
            format!("the limit is {limit}, when flows may still start; give a time after {from}"),
        );
    }
}

/// Why a group never reaches this amount.
fn unreachable(group: &GroupPlan, amount: Amount, hosts: u32) -> Option<String> {
    let bound = ending::flows(group, hosts);
    let name = &group.name;
    match amount {
        Amount::Flows(0) | Amount::Jobs(0) | Amount::Bytes(Bytes::ZERO) => {
            Some("the run ends before it begins; give a number above zero".to_owned())
        }
        Amount::Jobs(_)
            if !group.pattern.has_jobs() =>
        {
            Some(format!(
                "group \"{name}\" has no jobs, only incast, request-response, collective, trace and goal have; count flows or bytes"
            ))
        }
        Amount::Jobs(_) => None,
        Amount::Flows(_) | Amount::Bytes(_) if bound == Some(0) => Some(format!(
            "this stop never comes: the flows of group \"{name}\" never finish, their size is unlimited; give stop.at instead"
        )),
        Amount::Flows(flows) if bound.is_some_and(|bound| flows > bound) => Some(format!(
            "this stop never comes: group \"{name}\" has only {} flows; give at most as many",
            bound.unwrap_or(0)
        )),
        Amount::Bytes(bytes) => ending::bytes(group, hosts)
            .filter(|&most| bytes > most)
            .map(|most| {
                format!(
                    "this stop never comes: the flows of group \"{name}\" have at most {most} in total; give at most as much"
                )
            }),
        Amount::Flows(_) => None,
    }
}

/// The windows of time that tables cover.
pub(super) fn measure(
    table: &MeasureTable,
    stop: &StopTable,
    problems: &mut Problems<'_>,
) -> Measure {
    let from = table.from.0;
    let to = table.to.map(|to| to.0);
    let end = stop.end().map(|end| end.0).filter(|&end| end > Time::ZERO);
    if let Some(to) = to
        && to <= from
    {
        problems.wrong(
            &["measure", "to"],
            format!("measurement ends at {to}, not after it begins; give a time after measure.from, {from}"),
        );
    }
    if let Some(end) = end
        && from >= end
    {
        problems.wrong(
            &["measure", "from"],
            format!(
                "measurement begins at {from}, not before the run ends; give a time before {}, {end}"
            , stop.end_key()),
        );
    }
    let mut phases = Vec::new();
    for (name, (from, to)) in &table.phases {
        let (from, to) = (from.0, to.0);
        let steps = ["measure", "phases", name];
        if let Some(text) = names::problem("the name of the phase", name, LONGEST_NAME) {
            problems.wrong_key(&steps, text);
        }
        if to <= from {
            problems.wrong(
                &steps,
                format!("phase \"{name}\" ends at {to}, not after it begins; write [from, to] with from before to"),
            );
        } else if let Some(end) = end
            && from >= end
        {
            problems.wrong(
                &steps,
                format!("phase \"{name}\" begins at {from}, not before the run ends; give a time before {}, {end}", stop.end_key()),
            );
        }
        phases.push(Phase {
            name: name.clone(),
            from,
            to,
        });
    }
    phases.sort_by(|a, b| (a.from, a.to, &a.name).cmp(&(b.from, b.to, &b.name)));
    // What drains is not what is measured: rates and queues would be those of a fabric that empties.
    let to = to.or_else(|| stop.at.filter(|_| stop.drain).map(|at| at.0));
    Measure { from, to, phases }
}

/// Most samples of one series: more are a mistake in the unit.
const MOST_SAMPLES: u64 = 10_000_000;

/// The series to record. Fills in the links of queues. `groups` is `None` when some group has mistakes.
pub(super) fn record(
    table: &mut RecordTable,
    groups: Option<&[GroupPlan]>,
    scene: &Scene<'_>,
    end: Option<Time>,
    events: &[LinkChange],
    problems: &mut Problems<'_>,
) -> Record {
    // A full packet takes 12 ns at 1 Tbps: nothing changes faster.
    let shortest = match end {
        Some(end) => Time::from_picos(end.as_picos() / MOST_SAMPLES).max(Time::from_nanos(10)),
        None => Time::from_nanos(10),
    };
    let long_enough = |key: &str, interval: Option<Time>, problems: &mut Problems<'_>| {
        if interval.is_some_and(|interval| interval < shortest) {
            problems.wrong(
                &["record", key],
                format!("record.{key} has too short an interval; give at least {shortest}"),
            );
        }
    };
    let sampling = |key: &str, text: Option<SamplingText>, problems: &mut Problems<'_>| {
        text.map(|text| match text {
            SamplingText::Every(interval) => {
                long_enough(key, Some(interval), problems);
                Sampling::Every(interval)
            }
            SamplingText::OnChange => Sampling::OnChange,
        })
    };
    let windows = sampling("windows", table.windows, problems);
    let rtts = sampling("rtts", table.rtts, problems);
    let rates = table.rates.map(|interval| interval.0);
    long_enough("rates", rates, problems);
    let queues = table.queues.map(|interval| interval.0);
    long_enough("queues", queues, problems);
    let map = table.map.map(|interval| match interval {
        MapText::Every(interval) => interval,
        MapText::Auto => map::interval(end, events).max(shortest),
    });
    long_enough("map", map, problems);
    table.map = map.map(MapText::Every);
    if table.links.is_some() && queues.is_none() {
        problems.wrong_key(
            &["record", "links"],
            "record.links says whose queues are recorded; give record.queues an interval, or remove it",
        );
    }
    let queue_links = match queues {
        Some(_) => {
            let all = || Either::Many(vec!["all".to_owned()]);
            let chosen = table.links.get_or_insert_with(all);
            record_links(chosen, scene, problems)
        }
        None => Vec::new(),
    };
    Record {
        windows,
        rtts,
        rates,
        queues,
        queue_links,
        suspensions: table.suspensions,
        map,
        packets: packets::packets(table.packets.as_ref(), groups, problems),
        events: None,
    }
}

fn record_links(
    chosen: &Either<String, Vec<String>>,
    scene: &Scene<'_>,
    problems: &mut Problems<'_>,
) -> Vec<LinkId> {
    let fabric = scene.fabric;
    let mut found = BTreeSet::new();
    let single = matches!(chosen, Either::One(_));
    for (index, text) in chosen.as_slice().iter().enumerate() {
        let all = (0..fabric.links.len() as u32).map(LinkId);
        if text == "all" {
            found.extend(all);
        } else if let Some(layer) = fabric.layers.iter().position(|layer| layer == text) {
            found.extend(all.filter(|&link| usize::from(fabric.link(link).layer.0) == layer));
        } else {
            match links::links(text, scene.names) {
                Ok(links) => found.extend(links),
                Err(error) => {
                    let layers: Vec<&str> = fabric.layers.iter().map(String::as_str).collect();
                    let index = index.to_string();
                    let steps = ["record", "links", &index];
                    problems.wrong(
                        if single { &steps[..2] } else { &steps },
                        format!(
                            "{error}; or a layer: {}; or \"all\"",
                            suggest::list(&layers)
                        ),
                    );
                }
            }
        }
    }
    found.into_iter().collect()
}
