//! A first timeout that was forgotten when others were shortened.

use super::Warning;
use pathweave_scenario::Plan;
use pathweave_transport::Handshake;

/// Before the first sample of the RTT a lost packet, a SYN mostly, waits for `initial_rto`, whatever `minimum_rto` is. Where the
/// one is ten times the other, a handful of flows that wait decide means and tails.
pub(super) fn warnings(plan: &Plan) -> Vec<Warning> {
    let mut found: Vec<Warning> = Vec::new();
    for group in &plan.groups {
        let transport = &group.transport;
        let (initial, minimum) = (transport.initial_rto, transport.minimum_rto);
        if transport.handshake == Handshake::SynNeverLost || initial < minimum * 10 {
            continue;
        }
        let warning = Warning {
            key: "transport.initial_rto".to_owned(),
            text: format!(
                "a lost SYN waits for {initial}, where other timeouts take {minimum}: a few such flows decide means and tails"
            ),
            advice: format!("initial_rto = \"{minimum}\""),
        };
        if !found.contains(&warning) {
            found.push(warning);
        }
    }
    found
}
