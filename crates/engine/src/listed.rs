//! What a group's plan says of one of its flows: listed flows may have settings of their own.

use pathweave_control::{Algorithm, Parameters};
use pathweave_fabric::LinkId;
use pathweave_scenario::GroupPlan;

/// The controller of a group's flow: a listed flow may have its own.
pub(crate) fn controller_of(plan: &GroupPlan, listed: Option<u32>) -> (&Algorithm, &Parameters) {
    let own = listed.and_then(|entry| plan.listed[entry as usize].controller.as_ref());
    match own {
        Some((controller, parameters)) => (controller, parameters),
        None => (&plan.controller, &plan.parameters),
    }
}

/// Subflows of a group's flow. A scattered one comes before those that are asked for.
pub(crate) fn subflow_count(plan: &GroupPlan, listed: Option<u32>) -> u32 {
    let own = listed.and_then(|entry| plan.listed[entry as usize].subflows);
    let scattered = controller_of(plan, listed).0.scatter().is_some();
    own.unwrap_or(plan.subflows) + u32::from(scattered)
}

/// The path that a list from the scenario has for a subflow: one serves all.
pub(crate) fn given(paths: &[Vec<LinkId>], subflow: u32) -> Option<&[LinkId]> {
    let place = (subflow as usize).checked_rem(paths.len())?;
    Some(&paths[place])
}
