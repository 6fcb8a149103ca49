//! A traffic group: controller, transport, pattern.

use super::reach::Pairs;
use super::{Report, Scene, flows, load, size};
use crate::plan::{GroupPlan, ListedFlow};
use crate::presets::{self, Preset};
use crate::schema::{ControllerTable, GroupKeys, GroupTable, PatternTable, TransportTable};
use crate::suggest;
use pathweave_control::{Entry, Parameters};
use pathweave_fabric::routing::RoutingKind;
use pathweave_traffic::patterns::{
    Arrivals, Bursts, Incast, Listed, ManyToMany, ManyToOne, Permutation, Poisson, Random,
};
use pathweave_traffic::{Hosts, Pattern, Program, Size};
use pathweave_transport::Config;
use std::collections::HashSet;

/// Most subflows of a connection.
pub(super) const MOST_SUBFLOWS: u32 = 256;

/// A controller and its parameters.
pub(super) type Control = (&'static Entry, Parameters);

/// Plans a group and fills in its table.
pub(super) fn group(
    table: &mut GroupTable,
    index: usize,
    base: &TransportTable,
    scene: &Scene<'_>,
    report: &mut Report<'_>,
) -> Option<GroupPlan> {
    let before = report.problems.len();
    let index_text = index.to_string();
    let steps: &[&str] = &["traffic", &index_text];
    let at = |key| [steps, &[key]].concat();
    let keys = &mut table.keys;

    let mut control = match &mut keys.controller {
        Some(table) => controller(table, &at("controller"), report),
        None => None,
    };
    subflows(keys.subflows, &at("subflows"), report);
    let mut size = match &mut keys.size {
        Some(table) => size::size(table, &at("size"), report),
        None => None,
    };
    let mut listed = Vec::new();
    let pattern = match &mut table.pattern {
        PatternTable::Flows(flows) => {
            let planned = flows::flows(flows, keys, steps, scene, report);
            if keys.controller.is_none() {
                control = planned.iter().find_map(|(_, flow)| flow.controller.clone());
            }
            if keys.size.is_none() {
                size = planned.iter().find_map(|(flow, _)| flow.size.clone());
            }
            let (flows, settings): (Vec<_>, Vec<ListedFlow>) = planned.into_iter().unzip();
            listed = settings;
            Some(Pattern::Listed(Listed { flows }))
        }
        other => {
            if keys.controller.is_none() {
                report.wrong(
                    steps,
                    format!(
                        "group \"{}\" has no controller; add controller = \"...\" here, or in every variant, one of: {}",
                        keys.name,
                        suggest::list(&controllers())
                    ),
                );
            }
            match (&other, &keys.size) {
                (PatternTable::Incast(incast), None) => {
                    size = Some(Size::Fixed(incast.response.0));
                }
                (PatternTable::Incast(_), Some(_)) => report.wrong_key(
                    &at("size"),
                    "incast jobs have the sizes request and response; remove size",
                ),
                (_, None) => report.wrong(
                    steps,
                    format!(
                        "group \"{}\" has no size; add size = \"64 KB\" or another, or \"unlimited\"",
                        keys.name
                    ),
                ),
                _ => {}
            }
            pattern(other, size.as_ref(), keys.subflows, steps, scene, report)
        }
    };
    let name = control.as_ref().map_or("", |(entry, _)| entry.name);
    let config = transport(&mut keys.transport, base, name, steps, scene, report);
    if let Some(stop) = keys.stop
        && stop.0 <= keys.start.0
    {
        report.wrong(
            &at("stop"),
            format!(
                "the group stops at {}, not after it starts; give a time after {}",
                stop.0, keys.start.0
            ),
        );
    }
    let (Some((entry, parameters)), Some(size), Some(pattern), Some(config)) =
        (control, size, pattern, config)
    else {
        return None;
    };
    if report.problems.len() == before {
        let hosts = hosts(scene);
        let program = Program::new(
            pattern.clone(),
            size.clone(),
            &hosts,
            scene.seed,
            index as u64,
            None,
        );
        if let Err(error) = program {
            report.refused(steps, &by_name(&error.to_string(), scene));
        }
    }
    (report.problems.len() == before).then(|| GroupPlan {
        name: keys.name.clone(),
        pattern,
        size,
        start: keys.start.0,
        stop: keys.stop.map(|stop| stop.0),
        transport: config,
        controller: entry,
        parameters,
        subflows: keys.subflows,
        listed,
    })
}

/// The traffic crate calls hosts by their index: `host 3` becomes `host "h3"`.
fn by_name(text: &str, scene: &Scene<'_>) -> String {
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    for index in 1..words.len() {
        let word = words[index].trim_end_matches([':', ',']);
        if words[index - 1] == "host"
            && let Some(&host) = word
                .parse()
                .ok()
                .and_then(|host: usize| scene.fabric.hosts.get(host))
        {
            let rest = words[index][word.len()..].to_owned();
            words[index] = format!("\"{}\"{rest}", scene.fabric.node(host).name);
        }
    }
    words.join(" ")
}

/// What the traffic crate knows of the fabric.
fn hosts(scene: &Scene<'_>) -> Hosts {
    let hosts = || {
        scene
            .fabric
            .hosts
            .iter()
            .map(|&host| scene.fabric.node(host))
    };
    Hosts {
        count: scene.fabric.hosts.len() as u32,
        rack: hosts().map(|host| host.rack).collect(),
        pod: hosts().map(|host| host.pod).collect(),
    }
}

pub(super) fn subflows(subflows: u32, steps: &[&str], report: &mut Report<'_>) {
    if subflows == 0 || subflows > MOST_SUBFLOWS {
        report.wrong(
            steps,
            format!("a connection cannot have {subflows} subflows; expected 1 to {MOST_SUBFLOWS}"),
        );
    }
}

fn controllers() -> Vec<&'static str> {
    pathweave_control::registry()
        .iter()
        .map(|entry| entry.name)
        .collect()
}

/// Finds a controller, checks its parameters and writes all of them into the table.
pub(super) fn controller(
    table: &mut ControllerTable,
    steps: &[&str],
    report: &mut Report<'_>,
) -> Option<Control> {
    let Some(entry) = pathweave_control::find(&table.name) else {
        report.wrong(
            &[steps, &["name"]].concat(),
            format!(
                "no controller is called \"{}\"; {}",
                table.name,
                suggest::accepted(&table.name, &controllers())
            ),
        );
        return None;
    };
    match entry.parameters(&table.parameters) {
        Ok(parameters) => {
            table.parameters = parameters
                .iter()
                .map(|(name, value)| (name.to_owned(), value.clone()))
                .collect();
            Some((entry, parameters))
        }
        Err(error) => {
            let known: Vec<&str> = entry.parameters.iter().map(|known| known.name).collect();
            let steps = [steps, &[error.name.as_str()]].concat();
            if known.contains(&error.name.as_str()) {
                report.wrong(&steps, &error.message);
            } else {
                let accepted = suggest::accepted(&error.name, &known);
                let text = format!(
                    "{} has no parameter \"{}\"; {accepted}",
                    entry.name, error.name
                );
                report.wrong_key(&steps, text);
            }
            None
        }
    }
}

/// The preset that a transport table names, or the default.
pub(super) fn preset(
    table: &TransportTable,
    steps: &[&str],
    report: &mut Report<'_>,
) -> &'static Preset {
    let default = &presets::presets()[0];
    let Some(name) = &table.preset else {
        return default;
    };
    presets::find(name).unwrap_or_else(|| {
        let names: Vec<&str> = presets::presets()
            .iter()
            .map(|preset| preset.name)
            .collect();
        let accepted = suggest::accepted(name, &names);
        report.wrong(steps, format!("no preset is called \"{name}\"; {accepted}"));
        default
    })
}

/// The group's transport: preset, then `[transport]`, then the group's own table. A group that names
/// a preset itself does not take over what `[transport]` sets. Writes every value into the table.
fn transport(
    table: &mut TransportTable,
    base: &TransportTable,
    controller: &str,
    steps: &[&str],
    scene: &Scene<'_>,
    report: &mut Report<'_>,
) -> Option<Config> {
    let own = [steps, &["transport"]].concat();
    let slowest = scene
        .fabric
        .links
        .iter()
        .map(|link| link.rate)
        .min()
        .unwrap_or_default();
    let (preset, base) = if table.preset.is_some() {
        (
            preset(table, &[&own[..], &["preset"]].concat(), report),
            &TransportTable::default(),
        )
    } else {
        // An unknown one was reported before the groups.
        let named = base.preset.as_deref().and_then(presets::find);
        (named.unwrap_or(&presets::presets()[0]), base)
    };
    let mut config = preset.config(controller, slowest);
    for (table, steps) in [(base, vec!["transport"]), (&*table, own)] {
        if let Err((key, text)) = table.apply(&mut config) {
            let steps = [&steps[..], &[key]].concat();
            report.wrong(&steps, text);
            return None;
        }
    }
    *table = TransportTable::from(&config);
    Some(config)
}

/// The pattern of a group that is not a list of flows.
fn pattern(
    table: &PatternTable,
    size: Option<&Size>,
    subflows: u32,
    steps: &[&str],
    scene: &Scene<'_>,
    report: &mut Report<'_>,
) -> Option<Pattern> {
    let before = report.problems.len();
    let select = |key: &str, hosts, report: &mut Report<'_>| {
        scene.names.select(hosts, &[steps, &[key]].concat(), report)
    };
    let one = |key: &str, name: &str, report: &mut Report<'_>| match scene.names.host(name) {
        Ok(index) => Some(index),
        Err(text) => {
            report.wrong(&[steps, &[key]].concat(), text);
            None
        }
    };
    let all = || (0..scene.fabric.hosts.len() as u32).collect::<Vec<u32>>();
    let mut pairs = Pairs {
        sources: all(),
        destinations: all(),
        different_racks: false,
    };
    let limit = |list: &Option<Vec<u32>>, side: &mut Vec<u32>| {
        if let Some(list) = list {
            side.clone_from(list);
        }
    };
    let pattern = match table {
        PatternTable::Permutation(t) => {
            let hosts = select("hosts", &t.hosts, report);
            limit(&hosts, &mut pairs.sources);
            limit(&hosts, &mut pairs.destinations);
            Pattern::Permutation(Permutation {
                hosts,
                rounds: t.rounds,
            })
        }
        PatternTable::Random(t) => {
            let sources = select("sources", &t.sources, report);
            let destinations = select("destinations", &t.destinations, report);
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
            let hosts = select("hosts", &t.hosts, report);
            limit(&hosts, &mut pairs.sources);
            limit(&hosts, &mut pairs.destinations);
            Pattern::Incast(Incast {
                hosts,
                jobs: t.jobs,
                servers: t.servers,
                request: t.request.0,
                response: t.response.0,
            })
        }
        PatternTable::Poisson(t) => {
            let sources = select("sources", &t.sources, report);
            let destinations = select("destinations", &t.destinations, report);
            limit(&sources, &mut pairs.sources);
            limit(&destinations, &mut pairs.destinations);
            pairs.different_racks = t.different_racks;
            if report.problems.len() > before {
                return None;
            }
            let arrivals = match (t.flows_per_second, t.flows_per_second_per_source, t.load) {
                (Some(rate), None, None) => Arrivals::PerSecond(rate),
                (None, Some(rate), None) => Arrivals::PerSourcePerSecond(rate),
                (None, None, Some(load)) => {
                    load::load(load, t.layer.as_deref(), &pairs, steps, scene, report)?
                }
                _ => {
                    report.wrong(
                        steps,
                        "the rate of arrivals must be given in one way; give one of flows_per_second, flows_per_second_per_source, and load with layer",
                    );
                    return None;
                }
            };
            let positive = |key: &str, rate: Option<f64>, report: &mut Report<'_>| {
                if let Some(rate) = rate
                    && !(rate.is_finite() && rate > 0.0)
                {
                    let text = format!("{key} is {rate}; expected a number above 0");
                    report.wrong(&[steps, &[key]].concat(), text);
                }
            };
            positive("flows_per_second", t.flows_per_second, report);
            positive(
                "flows_per_second_per_source",
                t.flows_per_second_per_source,
                report,
            );
            if t.layer.is_some() && t.load.is_none() {
                report.wrong_key(
                    &[steps, &["layer"]].concat(),
                    "layer says what load is a share of; give load, or remove layer",
                );
            }
            if t.load.is_some() && matches!(size, Some(Size::Unlimited)) {
                report.wrong(
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
            })
        }
        PatternTable::ManyToOne(t) => {
            let sources = select("sources", &t.sources, report);
            let destination = one("destination", &t.destination, report)?;
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
            let sources = select("sources", &t.sources, report);
            let destinations = select("destinations", &t.destinations, report);
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
            let sources = select("sources", &t.sources, report);
            let destination = one("destination", &t.destination, report)?;
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
        PatternTable::Flows(_) => return None, // listed flows are planned elsewhere
    };
    if report.problems.len() > before {
        return None;
    }
    check_paths(&pairs, subflows, steps, scene, report);
    Some(pattern)
}

/// Refuses pairs without a path, and more subflows than there are paths for any pair when they must
/// differ.
fn check_paths(
    pairs: &Pairs,
    subflows: u32,
    steps: &[&str],
    scene: &Scene<'_>,
    report: &mut Report<'_>,
) {
    let name = |host: u32| &scene.fabric.host(host).name;
    if let Some((a, b)) = scene.reach.first_gap(pairs) {
        report.wrong(
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
        RoutingKind::Ecmp { distinct: true } if subflows > 1 => {
            // Neighbours in a rack often have a single path; what no pair can have is a mistake.
            let most = pairs
                .each(scene.fabric)
                .map(|(a, b)| scene.reach.path_count(a, b))
                .max();
            if let Some(most) = most
                && u64::from(subflows) > most
            {
                report.wrong(
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
                report.wrong(
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

/// Refuses group names that are taken or that paths with dots cannot name.
pub(super) fn check_names(groups: &[GroupTable], report: &mut Report<'_>) {
    let mut taken = HashSet::new();
    for (
        index,
        GroupTable {
            keys: GroupKeys { name, .. },
            ..
        },
    ) in groups.iter().enumerate()
    {
        let index = index.to_string();
        let steps = ["traffic", &index, "name"];
        if let Some(text) = name_problem(name) {
            report.wrong(&steps, text);
        } else if !taken.insert(name) {
            let text = format!("two groups are called \"{name}\"; names must be unique");
            report.wrong(&steps, text);
        }
    }
}

/// What is wrong with a name for a group or a flow.
pub(super) fn name_problem(name: &str) -> Option<String> {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ');
    if !name.is_empty() && name.len() <= 64 && name.chars().all(fits) && name.trim() == name {
        return None;
    }
    Some(format!(
        "\"{name}\" is no name for a group or flow; expected 1 to 64 letters, digits, \"-\", \"_\" or spaces between"
    ))
}
