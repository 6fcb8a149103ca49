//! Marking thresholds that leave links idle after a cut, keep long queues, or never mark.

use super::Warning;
use super::arithmetic::{bdp, in_packets, packet_times};
use pathweave_network::{Limit, Marking, QueueConfig, Threshold};
use pathweave_scenario::{GroupPlan, Plan};
use pathweave_units::{Rate, Time};

/// A threshold that takes this many base RTTs to drain decides the RTT of all flows by itself. Published values stay below.
const MOST_RTTS: f64 = 5.0;

/// A flow that fills a link and is cut has less than the BDP in flight, unless K is large enough: BDP / (beta - 1) for a
/// cut by 1/beta (XMP paper, equation 1; AMP paper, section 4.2), a seventh of the BDP for a cut in proportion to the marks
/// (DCTCP paper, equation 13). Judged at the slowest marking port, the bottleneck if one port is.
pub(super) fn warnings(plan: &Plan, rtt: Time) -> Vec<Warning> {
    let Some((rate, threshold, queue)) = slowest(plan) else {
        return Vec::new();
    };
    let mut found: Vec<Warning> = Vec::new();
    for group in &plan.groups {
        let Some((divisor, rule)) = rule_of_thumb(group) else {
            continue;
        };
        let name = group.controller_of(None).0.name();
        let packet = group.transport.data_packet;
        let fits = bdp(rate, rtt, packet);
        let k = in_packets(threshold, packet);
        let needed = fits / divisor;
        // Packets of one bundle arrive together: a queue that marks within one cuts without congestion.
        let bundle = f64::from(group.transport.send_bundle.packets(rate));
        let limit = limit_in_packets(&queue, packet);
        let queues_for = about_times(k * packet_times(rate, packet) / rtt.as_secs_f64());
        let (text, advice) = if limit.is_some_and(|limit| k >= limit) {
            (
                format!(
                    "K is {k:.0} packets and the queue's limit is {:.0}: {name} loses packets before any is marked",
                    limit.unwrap_or(0.0)
                ),
                format!("k = {:.0}, or a larger limit", needed.ceil()),
            )
        } else if k < needed {
            (
                format!(
                    "K is {k:.0} packets at {rate}, where the BDP is {fits:.1} packets (base RTT {rtt}): {name} leaves the link \
                     idle after cuts, which takes K of {rule} to avoid"
                ),
                format!("k = {:.0}", needed.ceil()),
            )
        } else if k > MOST_RTTS * fits + bundle {
            (
                format!(
                    "K is {k:.0} packets at {rate}, where the BDP is {fits:.1} packets (base RTT {rtt}): a queue at K takes \
                     {queues_for} base RTTs to drain, and {name} needs only {rule}"
                ),
                format!("k = {:.0}", needed.max(bundle).ceil()),
            )
        } else {
            continue;
        };
        let warning = Warning {
            key: "fabric.queue.mark.k".to_owned(),
            text,
            advice,
        };
        if !found.contains(&warning) {
            found.push(warning);
        }
    }
    found
}

/// What K is at least, as a divisor of the BDP and in words; `None` for controllers without such a rule.
fn rule_of_thumb(group: &GroupPlan) -> Option<(f64, String)> {
    let (algorithm, parameters) = group.controller_of(None);
    match algorithm.name() {
        "xmp" | "bos" | "amp" => {
            let beta = parameters.number("beta");
            Some((beta - 1.0, format!("BDP / (beta - 1) with beta {beta}")))
        }
        "dctcp" | "dcm" => Some((7.0, "BDP / 7".to_owned())),
        _ => None,
    }
}

/// A ratio of times with one digit after the point where it is small.
fn about_times(ratio: f64) -> String {
    if ratio < 10.0 {
        format!("{ratio:.1}")
    } else {
        format!("{ratio:.0}")
    }
}

fn limit_in_packets(queue: &QueueConfig, packet: u16) -> Option<f64> {
    match queue.limit {
        Limit::None => None,
        Limit::Packets(packets) => Some(f64::from(packets)),
        Limit::Bytes(bytes) => Some(in_packets(Threshold::Bytes(bytes), packet)),
    }
}

/// The lowest rate among switches' ports that mark from a threshold on, with that threshold and queue.
fn slowest(plan: &Plan) -> Option<(Rate, Threshold, QueueConfig)> {
    let ports = plan.fabric.links.iter().zip(&plan.queues);
    let marking = ports.filter_map(|(link, queue)| match queue.marking {
        Marking::Step { threshold, .. } if plan.fabric.node(link.from).host_index().is_none() => {
            Some((link.rate, threshold, *queue))
        }
        _ => None,
    });
    marking.min_by_key(|&(rate, ..)| rate)
}
