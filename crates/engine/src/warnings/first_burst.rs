//! Flows that fit into the initial windows of their subflows.

use super::Warning;
use super::arithmetic::uses_group_size;
use pathweave_scenario::Plan;
use pathweave_traffic::Size;

/// Each subflow opens with an initial window of its own. Flows that fit into them together, and not into one, gain a round trip or
/// more over a single path by that alone, whatever the controller does.
pub(super) fn warnings(plan: &Plan) -> Vec<Warning> {
    let mut found = Vec::new();
    for group in &plan.groups {
        let (transport, subflows) = (&group.transport, group.subflows);
        let Some(median) = median(&group.size).filter(|_| uses_group_size(&group.pattern)) else {
            continue;
        };
        let of_one = transport.initial_window_of(1);
        let together = transport.initial_window_of(subflows) * f64::from(subflows);
        let needed = (median / f64::from(transport.maximum_segment)).ceil();
        let is_matched = plan.matched_bursts.contains(&together);
        if needed <= of_one || needed > together || is_matched {
            continue;
        }
        found.push(Warning {
            key: format!("traffic.{}.subflows", group.name),
            text: format!(
                "the median flow has {needed} packets, and {subflows} subflows open with {together} together, a single path with \
                 {of_one}: initial windows decide how these flows compare with those of a single path"
            ),
            advice: format!(
                "initial_window_per = \"connection\", or a single path with initial_window = {together}, which burst_of gives it"
            ),
        });
    }
    found
}

/// The median size in bytes; `None` for flows without end.
fn median(size: &Size) -> Option<f64> {
    match size {
        Size::Fixed(size) => Some(size.get() as f64),
        Size::Uniform { min, max } => Some((min.get() as f64 + max.get() as f64) / 2.0),
        Size::Empirical(cdf) => Some(cdf.quantile(0.5)),
        // A Pareto distribution is drawn for its tail, whatever its median.
        Size::Pareto { .. } | Size::Unlimited => None,
    }
}
