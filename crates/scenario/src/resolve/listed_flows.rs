//! Flows that are listed one by one.

use super::subflows::{MOST_SUBFLOWS, subflows as check_subflows};
use super::{Problems, Scene, controller, size};
use crate::names::name_problem;
use crate::plan::ListedFlow;
use crate::schema::{FlowTable, FlowsTable, GroupKeys};
use pathweave_fabric::path::pinned_path;
use pathweave_fabric::routing::RoutingKind;
use pathweave_fabric::{LinkId, split_number};
use pathweave_traffic::patterns;
use pathweave_units::Time;
use std::collections::HashSet;

/// What the traffic program and what the transport needs of each flow. Fills in the table.
pub(super) fn listed_flows(
    table: &mut FlowsTable,
    keys: &GroupKeys,
    group: &[&str],
    scene: &Scene<'_>,
    problems: &mut Problems<'_>,
) -> Vec<(patterns::ListedFlow, ListedFlow)> {
    if table.flows.is_empty() {
        problems.wrong(
            &[group, &["flows"]].concat(),
            "the list of flows is empty; add a table such as { from = \"S1\", to = \"D1\", size = \"1 MB\" }",
        );
    }
    if keys.start.0 > Time::ZERO {
        problems.wrong_key(
            &[group, &["start"]].concat(),
            "listed flows have their own start; remove start from the group",
        );
    }
    let mut taken = HashSet::new();
    let mut planned = Vec::new();
    for (index, flow) in table.flows.iter_mut().enumerate() {
        let index_text = index.to_string();
        let steps = [group, &["flows", &index_text]].concat();
        let name = flow
            .name
            .get_or_insert_with(|| format!("flow-{}", index + 1))
            .clone();
        if let Some(text) = name_problem(&name) {
            problems.wrong(&[&steps[..], &["name"]].concat(), text);
        } else if !taken.insert(name.clone()) {
            problems.wrong(
                &[&steps[..], &["name"]].concat(),
                format!("two flows of the group are called \"{name}\"; names must be unique"),
            );
        }
        planned.extend(one(flow, name, keys, &steps, scene, problems));
    }
    planned
}

fn one(
    flow: &mut FlowTable,
    name: String,
    keys: &GroupKeys,
    steps: &[&str],
    scene: &Scene<'_>,
    problems: &mut Problems<'_>,
) -> Option<(patterns::ListedFlow, ListedFlow)> {
    let before = problems.found.len();
    let at = |key| [steps, &[key]].concat();
    let end = |key, host: &str, problems: &mut Problems<'_>| match scene.names.host(host) {
        Ok(host) => Some(host),
        Err(text) => {
            problems.wrong(&at(key), text);
            None
        }
    };
    let source = end("from", &flow.from, problems);
    let destination = end("to", &flow.to, problems);
    if keys.size.is_none() && flow.size.is_none() {
        problems.wrong(
            steps,
            format!(
                "flow \"{name}\" has no size; add size = \"1 MB\" or another, or \"unlimited\", here or to the group"
            ),
        );
    }
    let size = match &mut flow.size {
        Some(table) => size::size(table, &at("size"), problems),
        None => None,
    };
    let controller = match &mut flow.controller {
        Some(table) => controller::controller(table, &at("controller"), problems),
        None => {
            if keys.controller.is_none() {
                problems.wrong(
                    steps,
                    format!(
                        "flow \"{name}\" has no controller; add controller = \"...\" here, to the group, or in every variant"
                    ),
                );
            }
            None
        }
    };
    if let Some(stop) = flow.stop
        && stop.0 <= flow.start.0
    {
        problems.wrong(
            &at("stop"),
            format!(
                "the flow stops at {}, not after it starts; give a time after {}",
                stop.0, flow.start.0
            ),
        );
    }
    let subflows = count(flow, keys, steps, problems);
    let subflow_starts: Vec<Time> = flow.subflow_starts.iter().map(|time| time.0).collect();
    if let Some(early) = subflow_starts.iter().position(|&time| time < flow.start.0) {
        problems.wrong(
            &[&at("subflow_starts")[..], &[&early.to_string()]].concat(),
            format!(
                "subflow {} opens at {}, before its flow; give {} or later",
                early + 1,
                subflow_starts[early],
                flow.start.0
            ),
        );
    }
    let (source, destination) = (source?, destination?);
    if source == destination {
        problems.wrong(
            &at("to"),
            format!(
                "flow \"{name}\" goes from \"{}\" to itself; give two different hosts",
                flow.to
            ),
        );
        return None;
    }
    if !scene.reach.between(source, destination) {
        problems.wrong(
            &at("to"),
            format!(
                "no path leads from \"{}\" to \"{}\"; give hosts that reach each other",
                flow.from, flow.to
            ),
        );
        return None;
    }
    let there = Direction {
        key: "paths",
        names: &flow.paths,
        from: (&flow.from, source),
        to: (&flow.to, destination),
    };
    let back = Direction {
        key: "ack_paths",
        names: &flow.ack_paths,
        from: there.to,
        to: there.from,
    };
    let paths = explicit_paths(&there, subflows, steps, scene, problems);
    let ack_paths = explicit_paths(&back, subflows, steps, scene, problems);
    if flow.paths.is_empty() {
        check_routed(
            flow,
            subflows,
            (source, destination),
            steps,
            scene,
            problems,
        );
    }
    if problems.found.len() > before {
        return None;
    }
    let start = flow.start.0;
    let stop = flow.stop.map(|stop| stop.0);
    let program = patterns::ListedFlow {
        source,
        destination,
        size,
        start,
        stop,
    };
    let settings = ListedFlow {
        name,
        subflows: Some(subflows),
        subflow_starts,
        paths,
        ack_paths,
        controller,
    };
    Some((program, settings))
}

/// The number of subflows: said outright, or by the lists of paths or opening times, or the group's.
fn count(
    flow: &mut FlowTable,
    keys: &GroupKeys,
    steps: &[&str],
    problems: &mut Problems<'_>,
) -> u32 {
    let at = |key| [steps, &[key]].concat();
    let listed = if !flow.subflow_starts.is_empty() {
        Some(flow.subflow_starts.len())
    } else if flow.paths.len() > 1 {
        Some(flow.paths.len())
    } else {
        None
    };
    let implied = listed.map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    let own = flow.subflows.is_some() || implied.is_some();
    let subflows = *flow
        .subflows
        .get_or_insert(implied.unwrap_or(keys.subflows));
    if own {
        check_subflows(subflows, &at("subflows"), problems);
    }
    let fits = |length: usize| length == subflows as usize;
    if !flow.subflow_starts.is_empty() && !fits(flow.subflow_starts.len()) {
        problems.wrong(
            &at("subflow_starts"),
            format!(
                "{} opening times are given for {subflows} subflows; give one for each",
                flow.subflow_starts.len()
            ),
        );
    }
    for (key, what, paths) in [
        ("paths", "paths", &flow.paths),
        ("ack_paths", "paths of acknowledgements", &flow.ack_paths),
    ] {
        if paths.len() > 1 && !fits(paths.len()) {
            problems.wrong(
                &at(key),
                format!(
                    "{} {what} are given for {subflows} subflows; give one for each, or a single one for all",
                    paths.len()
                ),
            );
        }
    }
    if flow.paths.is_empty() && !flow.ack_paths.is_empty() {
        problems.wrong_key(
            &at("ack_paths"),
            "ack_paths are given without paths; add paths, or remove ack_paths",
        );
    }
    subflows
}

/// What a flow's table says of the paths of its data or of its acknowledgements.
struct Direction<'a> {
    /// The key that lists them.
    key: &'static str,
    /// The nodes of each path.
    names: &'a [Vec<String>],
    /// The host where they begin, by name and number.
    from: (&'a str, u32),
    /// The host where they end.
    to: (&'a str, u32),
}

/// The links of a flow's explicit paths, one path a subflow; none when none is given.
fn explicit_paths(
    direction: &Direction<'_>,
    subflows: u32,
    steps: &[&str],
    scene: &Scene<'_>,
    problems: &mut Problems<'_>,
) -> Vec<Vec<LinkId>> {
    let (from, to) = (direction.from, direction.to);
    let mut paths = Vec::new();
    for (index, names) in direction.names.iter().enumerate() {
        let index = index.to_string();
        let at = [steps, &[direction.key, &index]].concat();
        if let Some((position, name)) = names
            .iter()
            .enumerate()
            .find(|(_, name)| scene.names.node(split_number(name).0).is_none())
        {
            let position = position.to_string();
            problems.wrong(
                &[&at[..], &[&position]].concat(),
                scene.names.unknown_node(split_number(name).0),
            );
            continue;
        }
        match pinned_path(scene.fabric, from.1, to.1, names) {
            Ok(path) => match path.iter().find(|&&link| scene.fabric.is_down(link)) {
                None => paths.push(path),
                Some(&link) => problems.wrong(
                    &at,
                    format!(
                        "the path crosses \"{}\", which fabric.down takes out; give another path",
                        scene.fabric.link_names().cable(link)
                    ),
                ),
            },
            Err(error) if error.0.contains(';') => problems.wrong(&at, error.0),
            Err(error) => problems.wrong(
                &at,
                format!(
                    "{error}; a path lists the switches from \"{}\" to \"{}\" in order",
                    from.0, to.0
                ),
            ),
        }
    }
    if paths.len() == 1 && subflows <= MOST_SUBFLOWS {
        paths = vec![paths[0].clone(); subflows as usize];
    }
    paths
}

/// Refuses a flow without explicit paths that the routing has none, or too few, for.
fn check_routed(
    flow: &FlowTable,
    subflows: u32,
    (source, destination): (u32, u32),
    steps: &[&str],
    scene: &Scene<'_>,
    problems: &mut Problems<'_>,
) {
    let available = || scene.reach.path_count(source, destination);
    match scene.routing {
        RoutingKind::Pinned if available() != 1 => problems.wrong(
            steps,
            format!(
                "there are several paths from \"{}\" to \"{}\", and routing is pinned; add paths = [[\"A\", \"B\"]] with the nodes of each subflow's path",
                flow.from, flow.to
            ),
        ),
        RoutingKind::Ecmp { distinct: true, .. }
            if subflows > 1 && u64::from(subflows) > available() =>
        {
            problems.wrong(
                &[steps, &["subflows"]].concat(),
                format!(
                    "{subflows} subflows cannot take different paths; there are {} shortest paths from \"{}\" to \"{}\": give fewer subflows, or routing.distinct = false",
                    available(),
                    flow.from,
                    flow.to
                ),
            );
        }
        _ => {}
    }
}
