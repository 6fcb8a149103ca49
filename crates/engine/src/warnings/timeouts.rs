//! Retransmission timeouts that do not fit the round-trip time.

use super::Warning;
use super::arithmetic::{about, packet_times};
use pathweave_network::Limit;
use pathweave_scenario::Plan;
use pathweave_transport::{Config, Handshake};
use pathweave_units::Time;

/// From this many base RTTs on one timeout outweighs all else that happens to a flow.
const LONG: u64 = 1000;
/// A timeout of this many base RTTs has room for queues, and costs little.
const SHORT: f64 = 10.0;

/// Before the first sample of the RTT a lost packet, usually a SYN, waits for `initial_rto`, whatever `minimum_rto` is. If it is ten
/// times longer, a few lost SYNs dominate means and tails. Hosts as they are have a smallest timeout of 200 ms and more: what is
/// below a half of that was shortened.
pub(super) fn warnings(plan: &Plan, rtt: Time) -> Vec<Warning> {
    let mut found: Vec<Warning> = Vec::new();
    for group in &plan.groups {
        let transport = &group.transport;
        for warning in [
            forgotten(transport),
            long(transport, rtt).filter(|_| !plan.timeouts_are_chosen),
            minimum_below_rtt(transport, rtt),
            initial_below_rtt(plan, transport, rtt),
        ]
        .into_iter()
        .flatten()
        {
            if !found.contains(&warning) {
                found.push(warning);
            }
        }
    }
    found
}

/// A first timeout that was forgotten when others were shortened.
fn forgotten(transport: &Config) -> Option<Warning> {
    let (initial, minimum) = (transport.initial_rto, transport.minimum_rto);
    let was_shortened = minimum < Time::from_millis(100);
    if transport.handshake == Handshake::SynNeverLost || !was_shortened || initial < minimum * 10 {
        return None;
    }
    Some(Warning {
        key: "transport.initial_rto".to_owned(),
        text: format!(
            "a lost SYN waits for {initial}, where other timeouts take {minimum}: a few lost SYNs dominate means and tails"
        ),
        advice: format!("initial_rto = \"{minimum}\""),
    })
}

/// The default of hosts as they are, in a fabric that may be far faster than what it was made for.
fn long(transport: &Config, rtt: Time) -> Option<Warning> {
    let minimum = transport.minimum_rto;
    if rtt == Time::ZERO || minimum < rtt.saturating_mul(LONG) {
        return None;
    }
    Some(Warning {
        key: "transport.minimum_rto".to_owned(),
        text: format!(
            "a timeout takes {minimum}, {:.0} times the base RTT of {}: the few flows that time out dominate means and tails",
            minimum.as_secs_f64() / rtt.as_secs_f64(),
            about(rtt.as_secs_f64())
        ),
        advice: format!(
            "minimum_rto = \"{}\" and an initial_rto like it, or minimum_rto = \"{minimum}\" if the hosts that you model keep it",
            rounded_up(SHORT * rtt.as_secs_f64())
        ),
    })
}

fn minimum_below_rtt(transport: &Config, rtt: Time) -> Option<Warning> {
    let minimum = transport.minimum_rto;
    (minimum < rtt && transport.rto_floor == pathweave_transport::RtoFloor::Rto).then(|| Warning {
        key: "transport.minimum_rto".to_owned(),
        text: format!(
            "timeouts may take as little as {minimum}, and the base RTT is {}: a queue that grows quickly times out packets that \
             are not lost",
            about(rtt.as_secs_f64())
        ),
        advice: format!("minimum_rto = \"{}\"", rounded_up(SHORT * rtt.as_secs_f64())),
    })
}

/// The first timeout knows no RTT: where a SYN waits in a full queue for longer, it is sent again for nothing.
fn initial_below_rtt(plan: &Plan, transport: &Config, rtt: Time) -> Option<Warning> {
    let longest = rtt.saturating_add(longest_queue(plan, transport));
    let initial = transport.initial_rto;
    if transport.handshake != Handshake::Syn || initial >= longest {
        return None;
    }
    Some(Warning {
        key: "transport.initial_rto".to_owned(),
        text: format!(
            "the first timeout takes {initial}, and a round trip with one full queue {}: SYNs that only wait are sent again",
            about(longest.as_secs_f64())
        ),
        advice: format!("initial_rto = \"{}\"", rounded_up(longest.as_secs_f64())),
    })
}

/// How long the fullest queue of a switch takes to drain.
fn longest_queue(plan: &Plan, transport: &Config) -> Time {
    let ports = plan.fabric.links.iter().zip(&plan.queues);
    let of_switches = ports.filter(|(link, _)| plan.fabric.node(link.from).host_index().is_none());
    let drains = of_switches.map(|(link, queue)| match queue.limit {
        Limit::None => 0.0,
        Limit::Packets(packets) => {
            f64::from(packets) * packet_times(link.rate, transport.data_packet)
        }
        Limit::Bytes(bytes) => link.rate.time_for(bytes).as_secs_f64(),
    });
    Time::from_secs_f64(drains.fold(0.0, f64::max))
}

/// The next 1, 2 or 5 times a power of ten, in seconds.
fn rounded_up(seconds: f64) -> Time {
    let mut unit = 1e-9;
    loop {
        for step in [1.0, 2.0, 5.0] {
            if step * unit >= seconds * 0.999 {
                return about(step * unit);
            }
        }
        unit *= 10.0;
    }
}
