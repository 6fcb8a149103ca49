//! Which of several events at one time comes first.

use pathweave_random::{hash, mix};
use pathweave_units::Time;

/// The order of links and timers at equal times: departures, arrivals, timers, and among those by a
/// hash of the seed, the time and who it is.
///
/// The hash has the time in it, so that nobody is favoured throughout a run: in a symmetric fabric
/// packets of two flows meet at the very same instants again and again, and with a fixed order one
/// flow would get every last place in a queue, and the other every mark.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranks {
    seed: u64,
    /// Slots below this are departures of links, those above arrivals.
    links: u32,
}

const ARRIVALS: u64 = 1 << 62;
const TIMERS: u64 = 1 << 63;
/// Bits of the hash; the number of the slot below them makes ranks of links unique.
const HASH_SHIFT: u32 = 2;

impl Ranks {
    pub fn new(seed: u64, links: u32) -> Ranks {
        Ranks {
            seed: mix(seed),
            links,
        }
    }

    /// The rank of a link's slot at a time.
    #[inline]
    pub fn of(&self, at: Time, slot: u32) -> (u64, u32) {
        let class = if slot < self.links { 0 } else { ARRIVALS };
        let mixed = mix(self.seed ^ at.as_picos() ^ (u64::from(slot) << 40));
        (class | (mixed >> HASH_SHIFT), slot)
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

    #[test]
    fn departures_come_before_arrivals_and_arrivals_before_timers() {
        let ranks = Ranks::new(3, 10);
        for picos in 0..1000 {
            let at = Time::from_picos(picos * 12_000_000);
            let departures = (0..10).map(|slot| ranks.of(at, slot)).max();
            let first_arrival = (10..20).map(|slot| ranks.of(at, slot)).min();
            let last_arrival = (10..20).map(|slot| ranks.of(at, slot)).max();
            let timers = (0..10)
                .map(|id| ranks.of_timer(at, id % 3, id as u32, 1))
                .min();
            assert!(departures < first_arrival && last_arrival < timers);
        }
    }

    #[test]
    fn no_link_is_favoured_over_time() {
        let ranks = Ranks::new(1, 10);
        let first = (0..10_000u64)
            .map(|packet| Time::from_picos(packet * 12_000_000))
            .filter(|&at| ranks.of(at, 12) < ranks.of(at, 17))
            .count();
        // Four standard deviations of a fair coin tossed 10,000 times.
        assert!((4_800..5_200).contains(&first), "{first}");
    }
}
