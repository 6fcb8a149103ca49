//! FCC with more flows than its price has room for.

use super::Warning;
use super::arithmetic::bdp;
use super::crowd::Crowd;
use pathweave_control::Value;
use pathweave_network::Marking;
use pathweave_scenario::Plan;
use pathweave_units::Time;

/// In equilibrium each of N flows has a share of marks of N alpha_total / C, C in packets per second (FMPTCP paper,
/// equation 3: beta = alpha). Proportional marking gives such a share up to `high_thresh` only.
pub(super) fn warnings(plan: &Plan, crowds: &[Crowd], rtt: Time) -> Vec<Warning> {
    let found = crowds.iter().filter_map(|crowd| {
        let group = &plan.groups[crowd.group];
        let (algorithm, parameters) = group.controller_of(None);
        let Marking::Linear { probability, .. } = crowd.queue.marking else {
            return None;
        };
        if algorithm.name() != "fcc" {
            return None;
        }
        let in_a_round = bdp(crowd.rate, rtt, group.transport.data_packet);
        let alpha_total = match parameters.value("alpha_total") {
            Some(Value::Number(per_second)) => per_second * rtt.as_secs_f64(),
            _ => 1.0, // 1 / base RTT
        };
        let share = f64::from(crowd.flows) * alpha_total / in_a_round;
        (share >= probability).then(|| Warning {
            key: format!("traffic.{}.controller", group.name),
            text: format!(
                "{} flows of fcc send to one host: in equilibrium {:.0} % of packets are marked, and the queue's marks end \
                 at {:.0} %, so that packets are lost",
                crowd.flows,
                100.0 * share.min(1.0),
                100.0 * probability
            ),
            advice: format!(
                "alpha_total below {:.0} (per second)",
                probability * in_a_round / f64::from(crowd.flows) / rtt.as_secs_f64()
            ),
        })
    });
    found.collect()
}
