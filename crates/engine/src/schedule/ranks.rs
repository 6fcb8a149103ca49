//! Which of several events at one time comes first.

use pathweave_network::{LinkEvent, PortId};
use pathweave_random::{hash, mix};
use pathweave_units::Time;

/// The order of links and timers at equal times: departures, arrivals, timers, and among those by a
/// hash of the seed, the time and who it is.
///
/// The hash has the time in it, so that nobody is favoured throughout a run: in a symmetric fabric
/// packets of two flows meet at the very same instants again and again, and with a fixed order one
/// flow would get every last place in a queue, and the other every mark.
#[derive(Clone, Debug)]
pub(crate) struct Ranks {
    seed: u64,
    /// The link of each port: ranks do not depend on how ports are kept.
    links: Box<[u32]>,
    /// Number of links in the whole fabric.
    all: u32,
}

const ARRIVALS: u64 = 1 << 62;
const TIMERS: u64 = 1 << 63;
/// Bits of the hash; the number of the link below them makes ranks of links unique.
const HASH_SHIFT: u32 = 2;

impl Ranks {
    /// Ranks of a run with this seed, where ports belong to these links of a fabric with `all` links.
    pub fn new(seed: u64, links: Box<[u32]>, all: u32) -> Ranks {
        Ranks {
            seed: mix(seed),
            links,
            all,
        }
    }

    /// The rank of a port's event at a time.
    #[inline]
    pub fn of(&self, at: Time, port: PortId, event: LinkEvent) -> (u64, u32) {
        let link = self.links[port.0 as usize];
        let (class, number) = match event {
            LinkEvent::Departure => (0, link),
            LinkEvent::Arrival => (ARRIVALS, link + self.all),
        };
        let mixed = mix(self.seed ^ at.as_picos() ^ (u64::from(number) << 40));
        (class | (mixed >> HASH_SHIFT), number)
    }

    /// The rank of a timer at a time: after all links. It is named by its kind, a flow (or whatever else it
    /// belongs to) and a subflow: numbers that are never used again.
    pub fn of_timer(&self, at: Time, kind: u64, flow: u32, subflow: u16) -> (u64, u32) {
        let name = (kind << 48) | (u64::from(subflow) << 32) | u64::from(flow);
        let mixed = hash(&[self.seed, at.as_picos(), name]);
        (TIMERS | (mixed >> 1), flow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use LinkEvent::{Arrival, Departure};

    #[test]
    fn departures_come_before_arrivals_and_arrivals_before_timers() {
        let ranks = Ranks::new(3, (0..10).collect(), 10);
        for picos in 0..1000 {
            let at = Time::from_picos(picos * 12_000_000);
            let of = |event| (0..10).map(move |port| (PortId(port), event));
            let departures = of(Departure).map(|(port, event)| ranks.of(at, port, event));
            let arrivals = || of(Arrival).map(|(port, event)| ranks.of(at, port, event));
            let timers = (0..10)
                .map(|id| ranks.of_timer(at, id % 3, id as u32, 1))
                .min();
            assert!(departures.max() < arrivals().min() && arrivals().max() < timers);
        }
    }

    #[test]
    fn no_link_is_favoured_over_time() {
        let ranks = Ranks::new(1, (0..10).collect(), 10);
        let rank = |at, port| ranks.of(at, PortId(port), Arrival);
        let first = (0..10_000u64)
            .map(|packet| Time::from_picos(packet * 12_000_000))
            .filter(|&at| rank(at, 2) < rank(at, 7))
            .count();
        // Four standard deviations of a fair coin tossed 10,000 times.
        assert!((4_800..5_200).contains(&first), "{first}");
    }

    #[test]
    fn ranks_go_by_links_and_not_by_ports() {
        let (straight, turned) = (
            Ranks::new(1, (0..10).collect(), 10),
            Ranks::new(1, (0..10).rev().collect(), 10),
        );
        let at = Time::from_micros(3);
        for port in 0..10 {
            for event in [Departure, Arrival] {
                let rank = turned.of(at, PortId(9 - port), event);
                assert_eq!(straight.of(at, PortId(port), event), rank);
            }
        }
    }
}
