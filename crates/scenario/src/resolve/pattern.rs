//! Patterns that are not a list of flows.

use super::reach::Pairs;
use super::{Problems, Scene, collective, load, recordings};
use crate::schema::{HostsText, LoadCounts, PairsTable, PatternTable};
use crate::text::{Either, TimeRangeText};
use pathweave_fabric::routing::RoutingKind;
use pathweave_traffic::patterns::{
    Arrivals, Bursts, Incast, ManyToMany, ManyToOne, Permutation, PermutationPart, Poisson, Random,
    RequestResponse,
};
use pathweave_traffic::{Pattern, Placement, Size};

/// The pattern of a group that is not a list of flows.
pub(super) fn pattern(
    table: &mut PatternTable,
    size: Option<&Size>,
    subflows: u32,
    steps: &[&str],
    scene: &Scene<'_>,
    problems: &mut Problems<'_>,
) -> Option<Pattern> {
    let before = problems.found.len();
    let select = |key: &str, hosts, problems: &mut Problems<'_>| {
        scene
            .names
            .select(hosts, &[steps, &[key]].concat(), problems)
    };
    let one = |key: &str, name: &str, problems: &mut Problems<'_>| match scene.names.host(name) {
        Ok(index) => Some(index),
        Err(text) => {
            problems.wrong(&[steps, &[key]].concat(), text);
            None
        }
    };
    let all = || (0..scene.fabric.hosts.len() as u32).collect::<Vec<u32>>();
    let mut pairs = Pairs {
        sources: all(),
        destinations: all(),
        different_racks: false,
        only: None,
    };
    let limit = |list: &Option<Vec<u32>>, side: &mut Vec<u32>| {
        if let Some(list) = list {
            side.clone_from(list);
        }
    };
    let pattern = match table {
        PatternTable::Permutation(t) => {
            let permutation = Permutation {
                hosts: select("hosts", &t.hosts, problems),
                rounds: t.rounds,
                pairs: t.pairs.as_ref().map(|t| part(t, steps, scene, problems)),
            };
            if t.pairs.is_some() {
                refuse_beside_pairs("hosts", &t.hosts, steps, problems);
            }
            limit(permutation.hosts(), &mut pairs.sources);
            limit(permutation.hosts(), &mut pairs.destinations);
            Pattern::Permutation(permutation)
        }
        PatternTable::Random(t) => {
            let sources = select("sources", &t.sources, problems);
            let destinations = select("destinations", &t.destinations, problems);
            limit(&sources, &mut pairs.sources);
            limit(&destinations, &mut pairs.destinations);
            pairs.different_racks = t.different_racks;
            Pattern::Random(Random {
                sources,
                destinations,
                max_inbound: t.max_inbound,
                different_racks: t.different_racks,
                flows_per_host: t.flows_per_host,
            })
        }
        PatternTable::Incast(t) => {
            let hosts = select("hosts", &t.hosts, problems);
            limit(&hosts, &mut pairs.sources);
            limit(&hosts, &mut pairs.destinations);
            if problems.found.len() > before {
                return None;
            }
            let arrivals = match (t.jobs, t.jobs_per_second, t.load) {
                (_, None, None) => None,
                (None, Some(rate), None) => Some(Arrivals::PerSecond(rate)),
                (None, None, Some(load)) => {
                    let layer = t.layer.as_deref();
                    Some(load::load(load, layer, &pairs, steps, scene, problems)?)
                }
                _ => {
                    problems.wrong(
                        steps,
                        "jobs follow each other or arrive at a rate; give one of jobs, jobs_per_second, and load with layer",
                    );
                    return None;
                }
            };
            positive("jobs_per_second", t.jobs_per_second, steps, problems);
            check_beside_load(t.load, t.layer.is_some(), t.load_counts, steps, problems);
            let jobs = match arrivals {
                None => *t.jobs.get_or_insert(8),
                Some(_) => 1,
            };
            Pattern::Incast(Incast {
                hosts,
                jobs,
                arrivals,
                servers: t.servers,
                request: t.request.0,
                response: t.response.0,
            })
        }
        PatternTable::Poisson(t) => {
            let sources = select("sources", &t.sources, problems);
            let destinations = select("destinations", &t.destinations, problems);
            let shared = t.pairs.as_ref().map(|t| part(t, steps, scene, problems));
            match &shared {
                Some(part) => {
                    for (key, hosts) in [("sources", &t.sources), ("destinations", &t.destinations)]
                    {
                        refuse_beside_pairs(key, hosts, steps, problems);
                    }
                    if t.different_racks {
                        problems.wrong_key(
                            &[steps, &["different_racks"]].concat(),
                            "pairs are those of a permutation, also within racks; remove different_racks",
                        );
                    }
                    limit(&part.hosts, &mut pairs.sources);
                    limit(&part.hosts, &mut pairs.destinations);
                }
                None => {
                    limit(&sources, &mut pairs.sources);
                    limit(&destinations, &mut pairs.destinations);
                    pairs.different_racks = t.different_racks;
                }
            }
            if problems.found.len() > before {
                return None;
            }
            let arrivals = match (t.flows_per_second, t.flows_per_second_per_source, t.load) {
                (Some(rate), None, None) => Arrivals::PerSecond(rate),
                (None, Some(rate), None) => Arrivals::PerSourcePerSecond(rate),
                (None, None, Some(load)) => {
                    load::load(load, t.layer.as_deref(), &pairs, steps, scene, problems)?
                }
                _ => {
                    problems.wrong(
                        steps,
                        "the rate of arrivals must be given in one way; give one of flows_per_second, flows_per_second_per_source, and load with layer",
                    );
                    return None;
                }
            };
            positive("flows_per_second", t.flows_per_second, steps, problems);
            positive(
                "flows_per_second_per_source",
                t.flows_per_second_per_source,
                steps,
                problems,
            );
            check_beside_load(t.load, t.layer.is_some(), t.load_counts, steps, problems);
            if t.load.is_some() && matches!(size, Some(Size::Unlimited)) {
                problems.wrong(
                    &[steps, &["load"]].concat(),
                    "flows of unlimited size offer no definite load; give the flows a size, or flows_per_second",
                );
            }
            let (different_racks, count) = (t.different_racks, t.count);
            Pattern::Poisson(Poisson {
                arrivals,
                sources,
                destinations,
                different_racks,
                count,
                pairs: shared,
            })
        }
        PatternTable::ManyToOne(t) => {
            let sources = select("sources", &t.sources, problems);
            let destination = one("destination", &t.destination, problems)?;
            limit(&sources, &mut pairs.sources);
            pairs.destinations = vec![destination];
            let (concurrency, gap, count) = (t.concurrency, t.gap.0, t.count);
            Pattern::ManyToOne(ManyToOne {
                destination,
                sources,
                concurrency,
                gap,
                count,
            })
        }
        PatternTable::ManyToMany(t) => {
            let sources = select("sources", &t.sources, problems);
            let destinations = select("destinations", &t.destinations, problems);
            limit(&sources, &mut pairs.sources);
            limit(&destinations, &mut pairs.destinations);
            Pattern::ManyToMany(ManyToMany {
                sources,
                destinations,
                count: t.count,
                gap: t.gap.0,
            })
        }
        PatternTable::Bursts(t) => {
            let sources = select("sources", &t.sources, problems);
            let destination = one("destination", &t.destination, problems)?;
            limit(&sources, &mut pairs.sources);
            pairs.destinations = vec![destination];
            Pattern::Bursts(Bursts {
                destination,
                sources,
                flows: t.flows,
                spacing: t.spacing.0,
                period: t.period.0,
                bursts: t.bursts,
            })
        }
        PatternTable::Collective(t) => {
            let pattern = collective::collective(t, steps, scene, problems)?;
            let hosts = pattern.placement.hosts();
            limit(&hosts, &mut pairs.sources);
            limit(&hosts, &mut pairs.destinations);
            if let Placement::Listed(teams) = &pattern.placement
                && !scene.reach.is_complete()
            {
                pairs.only = pattern.shape.pairs().map(|ranks| on_hosts(&ranks, teams));
            }
            Pattern::Collective(pattern)
        }
        PatternTable::RequestResponse(t) => {
            let clients = select("clients", &t.clients, problems);
            let servers = select("servers", &t.servers, problems);
            limit(&clients, &mut pairs.sources);
            limit(&servers, &mut pairs.destinations);
            let range = |text: TimeRangeText| text.0.0..=text.0.1;
            Pattern::RequestResponse(RequestResponse {
                clients,
                servers,
                outstanding: t.outstanding,
                request: t.request.0,
                response: t.response.0,
                service_time: range(t.service_time),
                think_time: range(t.think_time),
                count: t.count,
            })
        }
        PatternTable::Trace(t) => {
            let pattern = recordings::trace(t, steps, scene, problems)?;
            (pairs.sources, pairs.destinations) = pattern.hosts();
            Pattern::Trace(pattern)
        }
        PatternTable::Goal(t) => {
            let pattern = recordings::goal(t, steps, scene, problems)?;
            let hosts = pattern.placement.hosts();
            limit(&hosts, &mut pairs.sources);
            limit(&hosts, &mut pairs.destinations);
            if let Placement::Listed(teams) = &pattern.placement
                && !scene.reach.is_complete()
            {
                pairs.only = Some(on_hosts(&pattern.graph.pairs(), teams));
            }
            Pattern::Goal(pattern)
        }
        PatternTable::Flows(_) => return None, // listed flows are planned elsewhere
    };
    if problems.found.len() > before {
        return None;
    }
    check_paths(&pairs, subflows, steps, scene, problems);
    Some(pattern)
}

/// Refuses a rate that is none.
fn positive(key: &str, rate: Option<f64>, steps: &[&str], problems: &mut Problems<'_>) {
    if let Some(rate) = rate
        && !(rate.is_finite() && rate > 0.0)
    {
        let text = format!("{key} is {rate}; expected a number above 0");
        problems.wrong(&[steps, &[key]].concat(), text);
    }
}

/// Refuses what only has a meaning beside a load.
fn check_beside_load(
    load: Option<f64>,
    has_layer: bool,
    counts: LoadCounts,
    steps: &[&str],
    problems: &mut Problems<'_>,
) {
    if has_layer && load.is_none() {
        problems.wrong_key(
            &[steps, &["layer"]].concat(),
            "layer says what load is a share of; give load, or remove layer",
        );
    }
    if counts == LoadCounts::Wire && load.is_none() {
        problems.wrong_key(
            &[steps, &["load_counts"]].concat(),
            "load_counts says what load counts; give load, or remove load_counts",
        );
    }
}

/// The pairs of hosts that these pairs of ranks are, in each team.
fn on_hosts(ranks: &[(u32, u32)], teams: &[Vec<u32>]) -> Vec<(u32, u32)> {
    let host = |team: &[u32], rank: u32| team.get(rank as usize).copied();
    let of_team = |team: &[u32]| {
        let pairs = ranks.iter();
        pairs
            .filter_map(|&(from, to)| Some((host(team, from)?, host(team, to)?)))
            .collect::<Vec<_>>()
    };
    teams.iter().flat_map(|team| of_team(team)).collect()
}

/// A part of a permutation that groups share.
fn part(
    table: &PairsTable,
    steps: &[&str],
    scene: &Scene<'_>,
    problems: &mut Problems<'_>,
) -> PermutationPart {
    let at = [steps, &["pairs", "permutation"]].concat();
    let (first, after) = table.part;
    PermutationPart {
        hosts: scene.names.select(&table.permutation, &at, problems),
        part: first..after,
    }
}

/// Refuses a choice of hosts next to `pairs`, which makes one already.
fn refuse_beside_pairs(key: &str, hosts: &HostsText, steps: &[&str], problems: &mut Problems<'_>) {
    if !matches!(hosts, Either::One(name) if name == "all") {
        let text = format!("pairs says who sends to whom; remove {key}");
        problems.wrong_key(&[steps, &[key]].concat(), text);
    }
}

/// Refuses pairs without a path, and more subflows than there are paths for any pair when they must
/// differ.
fn check_paths(
    pairs: &Pairs,
    subflows: u32,
    steps: &[&str],
    scene: &Scene<'_>,
    problems: &mut Problems<'_>,
) {
    let name = |host: u32| &scene.fabric.host(host).name;
    if let Some((a, b)) = scene.reach.first_gap(pairs) {
        problems.wrong(
            steps,
            format!(
                "no path leads from \"{}\" to \"{}\"; the pattern sends between all of its hosts, so limit them to hosts that reach each other",
                name(a),
                name(b)
            ),
        );
        return;
    }
    match scene.routing {
        RoutingKind::Ecmp { distinct: true, .. } if subflows > 1 => {
            // Neighbours in a rack often have a single path; what no pair can have is a mistake.
            let paths = |(a, b): (u32, u32)| scene.reach.path_count(a, b);
            let mut each = pairs.each(scene.fabric);
            if each.any(|pair| paths(pair) >= u64::from(subflows)) {
                return;
            }
            let most = pairs
                .each(scene.fabric)
                .map(|(a, b)| scene.reach.path_count(a, b))
                .max();
            if let Some(most) = most
                && u64::from(subflows) > most
            {
                problems.wrong(
                    &[steps, &["subflows"]].concat(),
                    format!(
                        "{subflows} subflows cannot take different paths; no two hosts have more than {most} shortest paths between them: give fewer subflows, or routing.distinct = false"
                    ),
                );
            }
        }
        RoutingKind::Pinned => {
            let ambiguous = pairs
                .each(scene.fabric)
                .find(|&(a, b)| scene.reach.path_count(a, b) != 1);
            if let Some((a, b)) = ambiguous {
                problems.wrong(
                    &[steps, &["pattern"]].concat(),
                    format!(
                        "pinned routing does not know the path from \"{}\" to \"{}\": there are several; list the flows with their paths, or use another routing",
                        name(a),
                        name(b)
                    ),
                );
            }
        }
        _ => {}
    }
}
