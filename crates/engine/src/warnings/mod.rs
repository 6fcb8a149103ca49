//! What can be said of a plan before it runs: settings that are likely to distort its results.

mod arithmetic;
mod crowd;
mod dead_paths;
mod ends;
mod fcc;
mod first_burst;
mod layers;
mod load;
mod marking;
mod minimum_windows;
mod packets;
mod timeouts;
mod warning;

pub use warning::Warning;

use crate::base_rtt::longest_base_rtt;
use pathweave_fabric::routing::Router;
use pathweave_scenario::Plan;

/// The warnings about a plan. A plan whose routing cannot be built has none: running it says why.
pub fn warnings(plan: &Plan) -> Vec<Warning> {
    let Ok(router) = Router::new(&plan.fabric, plan.routing.clone(), plan.seed) else {
        return Vec::new();
    };
    let rtt = longest_base_rtt(plan, &router);
    let crowds = crowd::crowds(plan);
    let mut found = marking::warnings(plan, rtt);
    found.extend(minimum_windows::warnings(plan, &crowds, rtt));
    found.extend(fcc::warnings(plan, &crowds, rtt));
    let by_hosts = load::warnings(plan);
    // What hosts cannot send does not reach the layers above them.
    if by_hosts.is_empty() {
        found.extend(layers::warnings(plan));
    }
    found.extend(by_hosts);
    found.extend(timeouts::warnings(plan, rtt));
    found.extend(packets::warnings(plan));
    found.extend(first_burst::warnings(plan));
    found.extend(dead_paths::warnings(plan, &router));
    found.extend(ends::warnings(plan));
    found
}
