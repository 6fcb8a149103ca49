//! Marking thresholds that leave links idle after a cut.

use super::{Warning, bdp, in_packets};
use pathweave_network::{Marking, Threshold};
use pathweave_scenario::Plan;
use pathweave_units::{Rate, Time};

/// A flow that fills a link and is cut has less than the BDP under way, unless K is large enough: BDP / (beta - 1) for a
/// cut by 1/beta (XMP paper, equation 1), a seventh of the BDP for DCTCP (its paper, equation 13). Judged at the slowest
/// marking port, the bottleneck if one port is.
pub(super) fn warnings(plan: &Plan, rtt: Time) -> Vec<Warning> {
    let Some((rate, threshold)) = slowest(plan) else {
        return Vec::new();
    };
    let mut found: Vec<Warning> = Vec::new();
    for group in &plan.groups {
        let (algorithm, parameters) = group.controller_of(None);
        let name = algorithm.name();
        let (divisor, rule) = match name {
            "xmp" | "bos" => {
                let beta = parameters.number("beta");
                (beta - 1.0, format!("BDP / (beta - 1) with beta {beta}"))
            }
            "dctcp" => (7.0, "BDP / 7".to_owned()),
            _ => continue,
        };
        let packet = group.transport.data_packet;
        let fits = bdp(rate, rtt, packet);
        let k = in_packets(threshold, packet);
        let needed = fits / divisor;
        let warning = Warning {
            key: "fabric.queue.mark.k".to_owned(),
            text: format!(
                "K is {k:.0} packets at {rate}, where the BDP is {fits:.1} packets (base RTT {rtt}): {name} leaves the link \
                 idle after cuts, which takes K of {rule} to avoid"
            ),
            advice: format!("k = {:.0}", needed.ceil()),
        };
        if k < needed && !found.contains(&warning) {
            found.push(warning);
        }
    }
    found
}

/// The lowest rate among switches' ports that mark from a threshold on, and that threshold.
fn slowest(plan: &Plan) -> Option<(Rate, Threshold)> {
    let ports = plan.fabric.links.iter().zip(&plan.queues);
    let marking = ports.filter_map(|(link, queue)| match queue.marking {
        Marking::Step { threshold, .. } if plan.fabric.node(link.from).host_index().is_none() => {
            Some((link.rate, threshold))
        }
        _ => None,
    });
    marking.min_by_key(|&(rate, _)| rate)
}
