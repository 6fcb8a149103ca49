//! A traffic group: controller, transport, pattern.

use super::scene::ANY_SEED;
use super::subflows::subflows;
use super::{Problems, Scene, controller, listed_flows, load, packet_sizes, pattern, size};
use crate::names::name_problem;
use crate::patterns::{InGroup, LoadCounts, PatternTable, largest};
use crate::plan::{GroupPlan, ListedFlow, on_each_subflow};
use crate::presets::{self, Preset};
use crate::schema::{GroupKeys, GroupTable, TransportTable};
use crate::suggest;
use pathweave_control::{Algorithm, Parameters, Value};
use pathweave_traffic::patterns::Listed;
use pathweave_traffic::{Hosts, Pattern, Program};
use pathweave_transport::{Config, Reinject, Source};
use pathweave_units::Bytes;
use std::collections::HashSet;

/// Plans a group and fills in its table.
pub(super) fn group(
    table: &mut GroupTable,
    index: usize,
    base: &TransportTable,
    scene: &Scene<'_>,
    problems: &mut Problems<'_>,
) -> Option<GroupPlan> {
    let before = problems.found.len();
    let index_text = index.to_string();
    let steps: &[&str] = &["traffic", &index_text];
    let at = |key| [steps, &[key]].concat();
    let keys = &mut table.keys;

    let mut control = match &mut keys.controller {
        Some(table) => controller::controller(table, &at("controller"), problems),
        None => None,
    };
    subflows(keys.subflows, &at("subflows"), problems);
    let mut size = match &mut keys.size {
        Some(table) => size::size(table, &at("size"), problems),
        None => None,
    };
    let mut listed = Vec::new();
    let mut counts = LoadCounts::Payload;
    let mut pattern = match &mut table.pattern {
        PatternTable::Flows(flows) => {
            let planned = listed_flows::listed_flows(flows, keys, steps, scene, problems);
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
                problems.wrong(
                    steps,
                    format!(
                        "group \"{}\" has no controller; add controller = \"...\" here, or in every variant, one of: {}",
                        keys.name,
                        suggest::list(&controller::names())
                    ),
                );
            }
            let other = other.resolving()?;
            counts = other.load_counts();
            match (other.own_size(), &keys.size) {
                (Some(own), None) => size = own.size,
                (Some(own), Some(_)) => problems.wrong_key(&at("size"), own.why_no_other),
                (None, None) => problems.wrong(
                    steps,
                    format!(
                        "group \"{}\" has no size; add size = \"64 KB\" or another, or \"unlimited\"",
                        keys.name
                    ),
                ),
                (None, Some(_)) => {}
            }
            let mut in_group = InGroup::new(steps, size.as_ref(), scene, problems);
            let resolved = other.resolve(&mut in_group);
            let resolved = resolved.filter(|_| !in_group.has_problems());
            let pattern = resolved.map(|(pattern, pairs)| {
                pattern::check_paths(&pairs, keys.subflows, steps, scene, problems);
                pattern
            });
            match &pattern {
                Some(Pattern::Trace(trace)) => size = Some(largest(&trace.graph)),
                Some(Pattern::Goal(goal)) => size = Some(largest(&goal.graph)),
                _ => {}
            }
            pattern
        }
    };
    let name = control.as_ref().map_or("", |(algorithm, parameters)| {
        on_each_subflow(algorithm, parameters)
    });
    let mut config = transport(&mut keys.transport, base, name, steps, scene, problems);
    if let (Some(table), Some(config)) = (&mut keys.packets, &mut config) {
        packet_sizes::packets(table, config, &at("packets"), problems);
    }
    if let Some(config) = &mut config {
        config.source = source(keys, steps, problems);
    }
    if let (LoadCounts::Wire, Some(config)) = (counts, &config) {
        match &mut pattern {
            Some(Pattern::Poisson(poisson)) => load::on_the_wire(&mut poisson.arrivals, config),
            Some(Pattern::Incast(incast)) => {
                let arrivals = incast.arrivals.iter_mut();
                arrivals.for_each(|arrivals| load::on_the_wire(arrivals, config));
            }
            _ => {}
        }
    }
    if let Some((entry, parameters)) = &control {
        for (name, value) in parameters.iter() {
            if let Value::Numbers(numbers) = value
                && numbers.len() != keys.subflows as usize
            {
                problems.wrong(
                    &[steps, &["controller", name]].concat(),
                    format!(
                        "{} has {} values for {name}, and the group {} subflows; give one value, or as many as subflows",
                        entry.name(),
                        numbers.len(),
                        keys.subflows
                    ),
                );
            }
        }
    }
    if let Some(stop) = keys.stop
        && stop.0 <= keys.start.0
    {
        problems.wrong(
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
    if problems.found.len() == before {
        let hosts = hosts(scene);
        let program = Program::new(
            pattern.clone(),
            size.clone(),
            &hosts,
            ANY_SEED,
            index as u64,
            None,
        );
        if let Err(error) = program {
            problems.refused(steps, &by_name(&error.to_string(), scene));
        }
    }
    (problems.found.len() == before).then(|| GroupPlan {
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

/// The largest write: at the lowest rate that there is, 10 Kbps, one comes every 800 s.
const LARGEST_WRITE: Bytes = Bytes::new(1_000_000);

/// At which rate the group's applications write.
fn source(keys: &GroupKeys, steps: &[&str], problems: &mut Problems<'_>) -> Option<Source> {
    let at = |key| [steps, &[key]].concat();
    let Some(rate) = keys.rate else {
        if keys.write.is_some() {
            problems.wrong_key(
                &at("write"),
                "write says how much the application writes at a time; give rate, or remove write",
            );
        }
        return None;
    };
    if keys.packets.is_some() {
        problems.wrong_key(
            &at("rate"),
            "packets of given sizes are cut from data that is there from the start; remove rate or packets",
        );
    }
    let write = keys.write.map(|write| write.0);
    if let Some(write) = write
        && !(Bytes::new(1)..=LARGEST_WRITE).contains(&write)
    {
        let text = format!("write is {write}; give 1 B to {LARGEST_WRITE}");
        problems.wrong(&at("write"), text);
    }
    Some(Source {
        rate: rate.0,
        write,
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

/// The preset that a transport table names, or the default.
pub(super) fn preset(
    table: &TransportTable,
    steps: &[&str],
    problems: &mut Problems<'_>,
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
        problems.wrong(steps, format!("no preset is called \"{name}\"; {accepted}"));
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
    problems: &mut Problems<'_>,
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
            preset(table, &[&own[..], &["preset"]].concat(), problems),
            &TransportTable::default(),
        )
    } else {
        // An unknown one was reported before the groups.
        let named = base.preset.as_deref().and_then(presets::find);
        (named.unwrap_or(&presets::presets()[0]), base)
    };
    // A resolved table has no preset. What it lacks was added to the settings after it was written.
    let mut config = if table.is_complete() {
        Config::textbook()
    } else {
        preset.config(controller, slowest)
    };
    let tables = [(base, vec!["transport"]), (&*table, own)];
    for (table, steps) in &tables {
        if let Err((key, text)) = table.apply(&mut config) {
            problems.wrong(&[&steps[..], &[key]].concat(), text);
            return None;
        }
    }
    if config.reinjection == Reinject::Timer {
        for (table, steps) in &tables {
            if let Err((key, text)) = table.check_timer() {
                problems.wrong(&[&steps[..], &[key]].concat(), text);
                return None;
            }
        }
        // What has no effect is the same in all scenarios.
        let textbook = Config::textbook();
        config.failed_after = textbook.failed_after;
        config.reinject_after = textbook.reinject_after;
    }
    *table = TransportTable::from(&config);
    Some(config)
}

/// Refuses group names that are taken or that paths with dots cannot name.
pub(super) fn check_names(groups: &[GroupTable], problems: &mut Problems<'_>) {
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
            problems.wrong(&steps, text);
        } else if !taken.insert(name) {
            let text = format!("two groups are called \"{name}\"; names must be unique");
            problems.wrong(&steps, text);
        }
    }
}

/// A fabric's switches take part in one scheme, with one set of parameters.
pub(super) fn check_schemes(groups: &[GroupPlan], problems: &mut Problems<'_>) {
    let mut first: Option<(&Algorithm, &Parameters)> = None;
    for (index, group) in groups.iter().enumerate() {
        for (entry, parameters) in group.controllers() {
            if entry.scheme().is_none() {
                continue;
            }
            let (other, same) = *first.get_or_insert((entry, parameters));
            let steps = ["traffic", &index.to_string(), "controller"];
            if other.name() != entry.name() {
                let text = format!(
                    "{} needs the switches to take part, and so does {}; a fabric takes part in one of them: put the other into another variant",
                    entry.name(),
                    other.name()
                );
                problems.wrong(&steps, text);
                return;
            }
            if same != parameters {
                let text = format!(
                    "{} needs the switches to take part, and they have one set of its parameters; give all groups the same",
                    entry.name()
                );
                problems.wrong(&steps, text);
                return;
            }
        }
    }
}
