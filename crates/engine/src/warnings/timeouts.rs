//! A first timeout that was forgotten when others were shortened.

use super::Warning;
use pathweave_scenario::Plan;
use pathweave_transport::Handshake;
use pathweave_units::Time;

/// Before the first sample of the RTT a lost packet, usually a SYN, waits for `initial_rto`, whatever `minimum_rto` is. If it is ten
/// times longer, a few lost SYNs dominate means and tails. Hosts as they are have a smallest timeout of 200 ms and more: what is
/// below a half of that was shortened.
pub(super) fn warnings(plan: &Plan) -> Vec<Warning> {
    let mut found: Vec<Warning> = Vec::new();
    for group in &plan.groups {
        let transport = &group.transport;
        let (initial, minimum) = (transport.initial_rto, transport.minimum_rto);
        let was_shortened = minimum < Time::from_millis(100);
        if transport.handshake == Handshake::SynNeverLost
            || !was_shortened
            || initial < minimum * 10
        {
            continue;
        }
        let warning = Warning {
            key: "transport.initial_rto".to_owned(),
            text: format!(
                "a lost SYN waits for {initial}, where other timeouts take {minimum}: a few lost SYNs dominate means and tails"
            ),
            advice: format!("initial_rto = \"{minimum}\""),
        };
        if !found.contains(&warning) {
            found.push(warning);
        }
    }
    found
}
