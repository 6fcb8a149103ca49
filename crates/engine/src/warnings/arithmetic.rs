//! What several warnings reckon with.

use pathweave_network::Threshold;
use pathweave_traffic::Pattern;
use pathweave_transport::Config;
use pathweave_units::{Rate, Time};

/// The number with three digits.
pub(super) fn rounded(number: f64) -> f64 {
    let (mut digits, mut unit) = (number, 1.0);
    while digits >= 1000.0 {
        digits /= 10.0;
        unit *= 10.0;
    }
    digits.round() * unit
}

/// A time with three digits, of seconds.
pub(super) fn about(seconds: f64) -> Time {
    Time::from_secs_f64(rounded(seconds * 1e12) / 1e12)
}

/// Bytes of data packets for each byte of their payload.
pub(super) fn with_headers(transport: &Config) -> f64 {
    let packet = transport.mean_packet();
    packet / (packet - f64::from(transport.overhead()))
}

/// Whether a group's flows have the group's size.
pub(super) fn uses_group_size(pattern: &Pattern) -> bool {
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
pub(super) fn in_packets(threshold: Threshold, packet: u16) -> f64 {
    match threshold {
        Threshold::Packets(packets) => packets,
        Threshold::Bytes(bytes) => bytes.get() as f64 / f64::from(packet),
    }
}

/// How long a packet of this size takes on a link, in seconds.
pub(super) fn packet_times(rate: Rate, packet: u16) -> f64 {
    8.0 * f64::from(packet) / rate.as_bps() as f64
}

/// How many packets of this size a link carries in a round trip.
pub(super) fn bdp(rate: Rate, rtt: Time, packet: u16) -> f64 {
    rate.as_bps() as f64 * rtt.as_secs_f64() / (8.0 * f64::from(packet))
}
