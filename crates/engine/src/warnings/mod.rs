//! What can be said of a plan before it runs: settings that are likely to distort its results.

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

use crate::base_rtt::longest_base_rtt;
use pathweave_fabric::routing::Router;
use pathweave_network::Threshold;
use pathweave_scenario::Plan;
use pathweave_traffic::Pattern;
use pathweave_transport::Config;
use pathweave_units::{Rate, Time};

/// A setting that is likely not meant so. The run goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The scenario's key: "fabric.queue.mark.k".
    pub key: String,
    /// What follows from its value, with the numbers that it follows from.
    pub text: String,
    /// A value to try, or another way out.
    pub advice: String,
}

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

/// The number with three digits.
fn rounded(number: f64) -> f64 {
    let (mut digits, mut unit) = (number, 1.0);
    while digits >= 1000.0 {
        digits /= 10.0;
        unit *= 10.0;
    }
    digits.round() * unit
}

/// A time with three digits, of seconds.
fn about(seconds: f64) -> Time {
    Time::from_secs_f64(rounded(seconds * 1e12) / 1e12)
}

/// Bytes of data packets for each byte of their payload.
fn with_headers(transport: &Config) -> f64 {
    let packet = transport.mean_packet();
    packet / (packet - f64::from(transport.overhead()))
}

/// Whether a group's flows have the group's size.
fn uses_group_size(pattern: &Pattern) -> bool {
    matches!(
        pattern,
        Pattern::Permutation(_)
            | Pattern::Random(_)
            | Pattern::Poisson(_)
            | Pattern::ManyToOne(_)
            | Pattern::ManyToMany(_)
            | Pattern::Bursts(_)
    )
}

/// A threshold in packets of this size.
fn in_packets(threshold: Threshold, packet: u16) -> f64 {
    match threshold {
        Threshold::Packets(packets) => packets,
        Threshold::Bytes(bytes) => bytes.get() as f64 / f64::from(packet),
    }
}

/// How long a packet of this size takes on a link, in seconds.
fn packet_times(rate: Rate, packet: u16) -> f64 {
    8.0 * f64::from(packet) / rate.as_bps() as f64
}

/// How many packets of this size a link carries in a round trip.
fn bdp(rate: Rate, rtt: Time, packet: u16) -> f64 {
    rate.as_bps() as f64 * rtt.as_secs_f64() / (8.0 * f64::from(packet))
}
