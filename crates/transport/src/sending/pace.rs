//! When a paced subflow may send its next packet.

use pathweave_units::{Bytes, Rate, Time};

/// The last packet of a paced subflow, from which the next one keeps its distance.
///
/// A controller may change the rate between two packets. The distance follows the rate that holds when it is asked for,
/// not the one that held when the last packet left: after a long gap at a low rate, a higher one would otherwise take
/// effect only when that gap is over.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pace {
    /// When the last packet left, or would have left if its time had not come late.
    left: Time,
    /// Its size.
    size: Bytes,
    /// The rate that [`Pace::next`] is of.
    rate: Option<Rate>,
    /// When the next packet may leave at that rate.
    next: Time,
}

impl Pace {
    /// When the next packet may leave at this rate; at once without one.
    #[inline(always)]
    pub fn next(&self, rate: Option<Rate>) -> Time {
        match rate {
            None => Time::ZERO,
            Some(_) if self.rate == rate => self.next,
            Some(rate) => self.left.saturating_add(rate.time_for(self.size)),
        }
    }

    /// A packet of this size leaves.
    #[inline(always)]
    pub fn note_sent(&mut self, size: Bytes, rate: Rate, now: Time) {
        self.left = self.next(Some(rate)).max(now);
        self.size = size;
        self.rate = Some(rate);
        self.next = self.left.saturating_add(rate.time_for(size));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: Bytes = Bytes::new(1500);

    #[test]
    fn packets_keep_the_distance_of_the_rate() {
        let rate = Rate::from_mbps(100);
        let mut pace = Pace::default();
        assert_eq!(pace.next(Some(rate)), Time::ZERO);
        pace.note_sent(PACKET, rate, Time::from_micros(7));
        assert_eq!(pace.next(Some(rate)), Time::from_micros(127));
        // The next one leaves late, and the one after it keeps its distance from there.
        pace.note_sent(PACKET, rate, Time::from_micros(130));
        assert_eq!(pace.next(Some(rate)), Time::from_micros(250));
    }

    #[test]
    fn a_new_rate_holds_for_the_gap_that_has_begun() {
        let mut pace = Pace::default();
        pace.note_sent(PACKET, Rate::from_mbps(100), Time::ZERO);
        assert_eq!(pace.next(Some(Rate::from_mbps(200))), Time::from_micros(60));
        assert_eq!(pace.next(Some(Rate::from_mbps(50))), Time::from_micros(240));
        assert_eq!(pace.next(None), Time::ZERO);
    }
}
