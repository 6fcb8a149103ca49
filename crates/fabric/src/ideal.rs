//! How long an empty fabric would need: the yardsticks for round-trip and completion times.

use crate::{Fabric, LinkId};
use pathweave_units::{Bytes, Rate, Time};

/// Sizes of the packets that carry a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketSizes {
    /// Payload of a full data packet (the MSS).
    pub payload: u32,
    /// Header bytes that every data packet has on top of its payload.
    pub header: u32,
}

/// Round-trip time without queues: the packet is stored and forwarded at every hop, and so is the
/// acknowledgement.
///
/// RTT = sum over data links of (delay + data / rate) + sum over ACK links of (delay + ack / rate)
pub fn base_rtt(
    fabric: &Fabric,
    data_path: &[LinkId],
    ack_path: &[LinkId],
    data: Bytes,
    ack: Bytes,
) -> Time {
    one_way(fabric, data_path, data) + one_way(fabric, ack_path, ack)
}

/// Time from the first bit leaving to the last bit arriving, without queues.
pub fn one_way(fabric: &Fabric, path: &[LinkId], bytes: Bytes) -> Time {
    path.iter().fold(Time::ZERO, |total, &id| {
        let link = fabric.link(id);
        total + link.delay + link.rate.time_for(bytes)
    })
}

/// The slowest link of a path, the first of several.
///
/// # Panics
/// When the path is empty.
pub fn bottleneck(fabric: &Fabric, path: &[LinkId]) -> LinkId {
    *path
        .iter()
        .min_by_key(|&&id| fabric.link(id).rate)
        .expect("a path has links")
}

/// The rate that one connection could have, were it alone: the smallest of
/// - the sum of the rates of its paths' slowest links, each link counted once,
/// - the sum of the rates of the sender's ports that its paths use,
/// - the sum of the rates of the last links into the receiver.
///
/// For paths that share links in more intricate ways this is an upper bound.
pub fn ideal_rate<P: AsRef<[LinkId]>>(fabric: &Fabric, paths: &[P]) -> Rate {
    let total = |pick: &dyn Fn(&[LinkId]) -> LinkId| -> u64 {
        let mut sum = 0;
        for (index, path) in paths.iter().enumerate() {
            let link = pick(path.as_ref());
            let earlier = &paths[..index];
            if earlier.iter().all(|other| pick(other.as_ref()) != link) {
                sum += fabric.link(link).rate.as_bps();
            }
        }
        sum
    };
    let slowest = total(&|path| bottleneck(fabric, path));
    let first = total(&|path| path[0]);
    let last = total(&|path| path[path.len() - 1]);
    Rate::from_bps(slowest.min(first).min(last))
}

/// Completion time of a flow that is alone on its paths and sends at full rate from the first moment:
/// what slowdown divides by. No handshake is included, nor the ACK's way back.
///
/// On one path it is exact: full packets follow one another at the rate of the slowest link so far,
/// and the last packet, which may be shorter, follows them link by link. On several paths it is a
/// lower bound: all bytes on the wire at the [`ideal_rate`], and the last packet alone on the path
/// that is quickest for it.
///
/// # Panics
/// When there is no path or an empty one, or the payload is zero.
pub fn ideal_fct<P: AsRef<[LinkId]>>(
    fabric: &Fabric,
    paths: &[P],
    size: Bytes,
    packets: PacketSizes,
) -> Time {
    let payload = u64::from(packets.payload);
    let header = u64::from(packets.header);
    let count = size.get().div_ceil(payload).max(1);
    let full = Bytes::new(payload + header);
    let last = Bytes::new(size.get() - (count - 1) * payload + header);
    if let [path] = paths {
        return one_path_fct(fabric, path.as_ref(), count, full, last);
    }
    let wire = Bytes::new(size.get() + header * count);
    several_paths_fct(fabric, paths, wire, last)
}

/// As [`ideal_fct`], for packets that differ in size: these, in this order.
///
/// # Panics
/// When there is no path or an empty one.
pub fn ideal_fct_of_packets<P: AsRef<[LinkId]>>(
    fabric: &Fabric,
    paths: &[P],
    packets: impl Iterator<Item = Bytes>,
) -> Time {
    if let [path] = paths {
        let path = path.as_ref();
        // When each link has sent everything so far.
        let mut free = vec![Time::ZERO; path.len()];
        let mut arrived = Time::ZERO;
        for packet in packets {
            arrived = Time::ZERO;
            for (&id, free) in path.iter().zip(&mut free) {
                let link = fabric.link(id);
                *free = arrived.max(*free) + link.rate.time_for(packet);
                arrived = *free + link.delay;
            }
        }
        return arrived;
    }
    let (wire, last) = packets.fold((Bytes::ZERO, Bytes::ZERO), |(wire, _), packet| {
        (Bytes::new(wire.get() + packet.get()), packet)
    });
    several_paths_fct(fabric, paths, wire, last)
}

/// All bytes on the wire at the [`ideal_rate`], and the last packet on the quickest path.
fn several_paths_fct<P: AsRef<[LinkId]>>(
    fabric: &Fabric,
    paths: &[P],
    wire: Bytes,
    last: Bytes,
) -> Time {
    let latency = paths.iter().map(|path| {
        let path = path.as_ref();
        let slowest = fabric.link(bottleneck(fabric, path)).rate;
        one_way(fabric, path, last).saturating_sub(slowest.time_for(last))
    });
    let latency = latency.min().expect("a flow has a path");
    ideal_rate(fabric, paths).time_for(wire) + latency
}

/// `count` - 1 full packets and a last one, sent back to back over one path.
fn one_path_fct(fabric: &Fabric, path: &[LinkId], count: u64, full: Bytes, last: Bytes) -> Time {
    // When the first full packet and the last packet have arrived at the next node, and how far
    // apart full packets follow one another there.
    let (mut first_at, mut last_at, mut spacing) = (Time::ZERO, Time::ZERO, Time::ZERO);
    for &id in path {
        let link = fabric.link(id);
        let transmission = link.rate.time_for(full);
        spacing = spacing.max(transmission);
        first_at += transmission;
        if count > 1 {
            let previous_sent = first_at + spacing * (count - 2);
            last_at = last_at.max(previous_sent);
        }
        last_at += link.rate.time_for(last) + link.delay;
        first_at += link.delay;
    }
    last_at
}
