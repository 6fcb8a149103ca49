//! Too many subflows for their smallest windows: more packets are under way than a link and its marking threshold hold.

use super::Warning;
use super::arithmetic::{bdp, in_packets};
use super::crowd::Crowd;
use pathweave_network::{Limit, Marking, Threshold};
use pathweave_scenario::Plan;
use pathweave_units::Time;

/// The AMP paper's minimum window syndrome: n subflows keep the queue above K for good when n cwnd_min > BDP + K.
/// Without marks they overflow the queue when n cwnd_min > BDP + limit.
pub(super) fn warnings(plan: &Plan, crowds: &[Crowd], rtt: Time) -> Vec<Warning> {
    let found = crowds.iter().filter_map(|crowd| {
        let group = &plan.groups[crowd.group];
        let config = group.transport_of(None);
        let (algorithm, parameters) = group.controller_of(None);
        let suppresses = algorithm.name() == "amp" && parameters.choice("suppression") == "on";
        if suppresses {
            return None;
        }
        let subflows = crowd.flows * group.subflows;
        let least = config.minimum_window;
        let ways = if group.subflows > 1 {
            "subflows"
        } else {
            "flows"
        };
        let under_way = f64::from(subflows) * least;
        let fits = bdp(crowd.rate, rtt, config.data_packet);
        let marks = "the queue stays above K, and all packets are marked";
        let overflows = "the queue overflows whatever controllers do";
        let (room, name, what) = match (crowd.queue.marking, crowd.queue.limit) {
            (Marking::Step { threshold, .. }, _) => {
                (in_packets(threshold, config.data_packet), "K", marks)
            }
            (_, Limit::Packets(limit)) => (f64::from(limit), "limit", overflows),
            (_, Limit::Bytes(limit)) => {
                let limit = in_packets(Threshold::Bytes(limit), config.data_packet);
                (limit, "limit", overflows)
            }
            (_, Limit::None) => return None,
        };
        (under_way > fits + room).then(|| Warning {
            key: format!("traffic.{}.subflows", group.name),
            text: format!(
                "{subflows} {ways} send to one host, each with a window of at least {least} packet{}: {under_way} \
                 packets, where the BDP is {fits:.1} and {name} is {room:.0}: {what}",
                if least == 1.0 { "" } else { "s" }
            ),
            advice: {
                let most = ((fits + room) / least).floor();
                let or = if group.subflows > 1 {
                    ", or amp, which suspends subflows"
                } else {
                    ""
                };
                format!("at most {most:.0} {ways} to one host at a time{or}")
            },
        })
    });
    found.collect()
}
