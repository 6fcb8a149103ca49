//! Flows that begin before routing has noticed a failure.

use super::Warning;
use pathweave_fabric::LinkId;
use pathweave_fabric::routing::Router;
use pathweave_scenario::{Change, Plan};
use pathweave_traffic::Pattern;
use pathweave_units::Time;

/// A link between switches that goes down before any traffic begins usually models a fabric with one link already failed. Routing
/// still takes its detection delay: flows that begin within it are sent onto the dead link, and their SYNs wait for the first
/// timeout.
pub(super) fn warnings(plan: &Plan, router: &Router) -> Vec<Warning> {
    let (Some(delay), Some(first)) = (router.detection_delay(), first_start(plan)) else {
        return Vec::new();
    };
    let unnoticed = plan.events.iter().find(|event| {
        event.change == Change::Down
            && event.at <= first
            && first < event.at.saturating_add(delay)
            && joins_switches(plan, event.link)
            && !is_back(plan, event.link, event.at, first)
    });
    let Some(event) = unnoticed else {
        return Vec::new();
    };
    let link = plan.fabric.link(event.link);
    let since = if event.at == Time::ZERO {
        "the start".to_owned()
    } else {
        event.at.to_string()
    };
    let name = |node| &plan.fabric.node(node).name;
    let advice = if event.at == Time::ZERO && !is_back(plan, event.link, event.at, Time::MAX) {
        format!(
            "fabric.down = \"{}\" in place of the event, if routing knows of it; or a later start of traffic",
            plan.fabric.link_names().cable(event.link)
        )
    } else {
        "detection_delay = \"0 s\", or a later start of traffic".to_owned()
    };
    vec![Warning {
        key: "routing.detection_delay".to_owned(),
        text: format!(
            "\"{}-{}\" is down from {since} on, and routing notices after {delay}: flows that begin until then are sent onto the dead \
             link, and wait for their first timeout",
            name(link.from),
            name(link.to)
        ),
        advice,
    }]
}

/// When the first flow may start.
fn first_start(plan: &Plan) -> Option<Time> {
    let starts = plan.groups.iter().filter_map(|group| match &group.pattern {
        Pattern::Listed(list) => list.flows.iter().map(|flow| flow.start).min(),
        _ => Some(group.start),
    });
    starts.min()
}

fn joins_switches(plan: &Plan, link: LinkId) -> bool {
    let link = plan.fabric.link(link);
    let is_switch = |node| plan.fabric.node(node).host_index().is_none();
    is_switch(link.from) && is_switch(link.to)
}

/// Whether a link that went down at `down` is up again at `by`.
fn is_back(plan: &Plan, link: LinkId, down: Time, by: Time) -> bool {
    plan.events.iter().any(|event| {
        event.link == link && event.change == Change::Up && down <= event.at && event.at <= by
    })
}
