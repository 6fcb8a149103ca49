//! What a group's plan says of one of its flows: listed flows may have settings of their own.

use pathweave_fabric::LinkId;
use pathweave_scenario::GroupPlan;

/// Subflows of a group's flow. A scattered one comes before those that are asked for.
pub(crate) fn subflow_count(plan: &GroupPlan, listed: Option<u32>) -> u32 {
    let own = listed.and_then(|entry| plan.listed[entry as usize].subflows);
    let scattered = plan.controller_of(listed).0.scatter().is_some();
    own.unwrap_or(plan.subflows) + u32::from(scattered)
}

/// The path that a list from the scenario has for a subflow: one serves all.
pub(crate) fn given(paths: &[Vec<LinkId>], subflow: u32) -> Option<&[LinkId]> {
    let place = (subflow as usize).checked_rem(paths.len())?;
    Some(&paths[place])
}
