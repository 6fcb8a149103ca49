//! How long an empty fabric would need: the yardsticks for round-trip and completion times.

use crate::{Fabric, LinkId};
use pathweave_units::{Bytes, Rate, Time};
use std::collections::BTreeSet;

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

/// The rate that one connection could have, were it alone and its packets on at most `at_once` of its paths at a
/// time: the smallest of
/// - the sum of the rates of its paths' slowest links, each link counted once, the fastest `at_once` of them,
/// - the sum of the rates of the sender's ports that its paths use,
/// - the sum of the rates of the last links into the receiver.
///
/// For paths that share links in more intricate ways this is an upper bound.
pub fn ideal_rate<P: AsRef<[LinkId]>>(fabric: &Fabric, paths: &[P], at_once: usize) -> Rate {
    let rates = |pick: &dyn Fn(&[LinkId]) -> LinkId| -> Vec<u64> {
        let mut links: Vec<LinkId> = paths.iter().map(|path| pick(path.as_ref())).collect();
        links.sort_unstable();
        links.dedup();
        let rates = links.into_iter().map(|link| fabric.link(link).rate);
        rates.map(Rate::as_bps).collect()
    };
    let mut slowest = rates(&|path| bottleneck(fabric, path));
    slowest.sort_unstable_by_key(|&rate| std::cmp::Reverse(rate));
    let slowest: u64 = slowest.into_iter().take(at_once).sum();
    let first: u64 = rates(&|path| path[0]).into_iter().sum();
    let last: u64 = rates(&|path| path[path.len() - 1]).into_iter().sum();
    Rate::from_bps(slowest.min(first).min(last))
}

/// Completion time of a flow that is alone on its paths and sends at full rate from the first moment:
/// what slowdown divides by. No handshake is included, nor the ACK's way back. The flow's packets are on at most
/// `at_once` of the paths at a time, and on as many as it has packets: where that is less than there are, they are paths
/// to choose from.
///
/// On one path it is exact: full packets follow one another at the rate of the slowest link so far,
/// and the last packet, which may be shorter, follows them link by link. Where the flow takes one of several paths
/// it is that of the best. On several paths at once it is a
/// lower bound: all bytes on the wire at the [`ideal_rate`], and the last packet alone on the path
/// that is quickest for it.
///
/// # Panics
/// When there is no path or an empty one, when `at_once` is zero, or the payload is.
pub fn ideal_fct<P: AsRef<[LinkId]>>(
    fabric: &Fabric,
    paths: &[P],
    at_once: usize,
    size: Bytes,
    packets: PacketSizes,
) -> Time {
    assert!(at_once > 0, "a flow takes at least one path");
    let payload = u64::from(packets.payload);
    let header = u64::from(packets.header);
    let count = size.get().div_ceil(payload).max(1);
    let full = Bytes::new(payload + header);
    let last = Bytes::new(size.get() - (count - 1) * payload + header);
    let at_once = at_once.min(usize::try_from(count).unwrap_or(usize::MAX));
    if let [path] = paths {
        let hops = path.as_ref().iter().map(|&link| hop(fabric, link));
        return one_path_fct(hops, count, full, last);
    }
    if at_once == 1 {
        let profiles = profiles(fabric, paths);
        let each = profiles
            .iter()
            .map(|profile| one_path_fct(profile.iter().copied(), count, full, last));
        return each.min().expect("a flow has a path");
    }
    let wire = Bytes::new(size.get() + header * count);
    several_paths_fct(fabric, paths, at_once, wire, last)
}

/// As [`ideal_fct`], for packets that differ in size: these, in this order.
///
/// # Panics
/// When there is no path or an empty one, or `at_once` is zero.
pub fn ideal_fct_of_packets<P: AsRef<[LinkId]>>(
    fabric: &Fabric,
    paths: &[P],
    at_once: usize,
    packets: impl Iterator<Item = Bytes>,
) -> Time {
    assert!(at_once > 0, "a flow takes at least one path");
    let mut packets = packets;
    let first: Vec<Bytes> = packets.by_ref().take(at_once).collect();
    let at_once = first.len().max(1);
    let packets = first.into_iter().chain(packets);
    if at_once == 1 || paths.len() == 1 {
        // Of each path: when each link has sent everything so far, and when the latest packet arrived.
        let mut progress: Vec<(Vec<(Hop, Time)>, Time)> = profiles(fabric, paths)
            .into_iter()
            .map(|hops| {
                let hops = hops.into_iter().map(|hop| (hop, Time::ZERO));
                (hops.collect(), Time::ZERO)
            })
            .collect();
        for packet in packets {
            for (hops, arrived) in &mut progress {
                *arrived = Time::ZERO;
                for (hop, free) in hops {
                    *free = (*arrived).max(*free) + hop.rate.time_for(packet);
                    *arrived = *free + hop.delay;
                }
            }
        }
        let times = progress.into_iter().map(|(_, arrived)| arrived);
        return times.min().expect("a flow has a path");
    }
    let (wire, last) = packets.fold((Bytes::ZERO, Bytes::ZERO), |(wire, _), packet| {
        (Bytes::new(wire.get() + packet.get()), packet)
    });
    several_paths_fct(fabric, paths, at_once, wire, last)
}

/// All bytes on the wire at the [`ideal_rate`], and the last packet on the quickest path.
fn several_paths_fct<P: AsRef<[LinkId]>>(
    fabric: &Fabric,
    paths: &[P],
    at_once: usize,
    wire: Bytes,
    last: Bytes,
) -> Time {
    let latency = paths.iter().map(|path| {
        let path = path.as_ref();
        let slowest = fabric.link(bottleneck(fabric, path)).rate;
        one_way(fabric, path, last).saturating_sub(slowest.time_for(last))
    });
    let latency = latency.min().expect("a flow has a path");
    ideal_rate(fabric, paths, at_once).time_for(wire) + latency
}

/// What a path's links add to a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Hop {
    rate: Rate,
    delay: Time,
}

fn hop(fabric: &Fabric, link: LinkId) -> Hop {
    let link = fabric.link(link);
    Hop {
        rate: link.rate,
        delay: link.delay,
    }
}

/// The links of each path. Paths on which all packets take the same time are there once: in a symmetrical fabric all
/// are.
fn profiles<P: AsRef<[LinkId]>>(fabric: &Fabric, paths: &[P]) -> BTreeSet<Vec<Hop>> {
    let links = paths.iter().map(|path| path.as_ref().iter());
    let hops = links.map(|links| links.map(|&link| hop(fabric, link)));
    hops.map(Iterator::collect).collect()
}

/// `count` - 1 full packets and a last one, sent back to back over one path.
fn one_path_fct(path: impl Iterator<Item = Hop>, count: u64, full: Bytes, last: Bytes) -> Time {
    // When the first full packet and the last packet have arrived at the next node, and how far
    // apart full packets follow one another there.
    let (mut first_at, mut last_at, mut spacing) = (Time::ZERO, Time::ZERO, Time::ZERO);
    // Neighbours often have the same rate.
    let mut rate = None;
    let (mut transmission, mut last_transmission) = (Time::ZERO, Time::ZERO);
    for hop in path {
        if rate != Some(hop.rate) {
            rate = Some(hop.rate);
            transmission = hop.rate.time_for(full);
            last_transmission = hop.rate.time_for(last);
        }
        spacing = spacing.max(transmission);
        first_at += transmission;
        if count > 1 {
            let previous_sent = first_at + spacing * (count - 2);
            last_at = last_at.max(previous_sent);
        }
        last_at += last_transmission + hop.delay;
        first_at += hop.delay;
    }
    last_at
}
