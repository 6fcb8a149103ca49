//! What the flows of a traffic group have, listed ones included.

use pathweave_control::{Algorithm, Parameters};
use pathweave_scenario::GroupPlan;

/// The controller of a group's flow: a listed one may have its own.
pub fn controller(group: &GroupPlan, listed: Option<u32>) -> (&Algorithm, &Parameters) {
    let own = listed.and_then(|entry| group.listed[entry as usize].controller.as_ref());
    own.map_or(
        (&group.controller, &group.parameters),
        |(controller, parameters)| (controller, parameters),
    )
}

/// Most subflows of a group's flows.
pub fn most_subflows_of(group: &GroupPlan) -> u32 {
    let listed = group.listed.iter().filter_map(|flow| flow.subflows);
    listed.chain([group.subflows]).max().unwrap_or(1)
}
