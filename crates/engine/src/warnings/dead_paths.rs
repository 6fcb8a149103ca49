//! Flows that begin before routing has noticed a failure.

use super::Warning;
use pathweave_fabric::routing::Router;
use pathweave_scenario::{Change, Plan};
use pathweave_units::Time;

/// A link that goes down before any traffic begins is meant as a fabric with a failed link. Routing still takes its detection delay:
/// flows that begin within it are sent onto the dead link, and their SYNs wait for the first timeout.
pub(super) fn warnings(plan: &Plan, router: &Router) -> Vec<Warning> {
    let Some(delay) = router.detection_delay() else {
        return Vec::new();
    };
    let first = plan.groups.iter().map(|group| group.start).min();
    let before_traffic = plan.events.iter().find(|event| {
        event.change == Change::Down
            && first.is_some_and(|first| event.at <= first && first < event.at + delay)
    });
    let Some(event) = before_traffic else {
        return Vec::new();
    };
    let link = plan.fabric.link(event.link);
    let since = if event.at == Time::ZERO {
        "the start".to_owned()
    } else {
        event.at.to_string()
    };
    let name = |node| &plan.fabric.node(node).name;
    vec![Warning {
        key: "routing.detection_delay".to_owned(),
        text: format!(
            "\"{}-{}\" is down from {since} on, and routing notices after {delay}: flows that begin until then are sent onto the dead \
             link, and wait for their first timeout",
            name(link.from),
            name(link.to)
        ),
        advice: "detection_delay = \"0 s\", or a later start of traffic".to_owned(),
    }]
}
