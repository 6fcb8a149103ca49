//! Timers that are due long after they are set, by the period in which they are due.
//!
//! Almost all are retransmission timers, of which a short flow sets one: there are as many of them as flows start in
//! the longest timeout. They are put in order only when their period comes, a few at a time.

use crate::alarm::Alarm;
use pathweave_units::Time;

/// A period is 2^34 ps, 17 ms.
const SHIFT: u32 = 34;
/// Periods that are told apart: 4.4 s. Timers beyond are not kept here.
const PERIODS: u64 = 1 << 8;

/// Timers in no order but that of their periods.
#[derive(Clone, Debug)]
pub(crate) struct DistantTimers {
    /// By the lowest bits of the period's number.
    periods: Box<[Vec<(Time, Alarm)>]>,
    /// Timers of periods before this one have been taken out; those that are here are less than [`PERIODS`] further.
    first: u64,
    /// When the first period with a timer begins; `Time::MAX` if there is none.
    from: Time,
    count: usize,
}

impl DistantTimers {
    /// Without any timer.
    pub fn new() -> DistantTimers {
        DistantTimers {
            periods: vec![Vec::new(); PERIODS as usize].into(),
            first: 0,
            from: Time::MAX,
            count: 0,
        }
    }

    /// No timer is due before this time; `Time::MAX` if there is none.
    #[inline(always)]
    pub fn from(&self) -> Time {
        self.from
    }

    /// Number of timers.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Adds a timer. Returns false if it is not for here: it is due in this period or the next one, or too far ahead.
    #[inline]
    pub fn add(&mut self, now: Time, at: Time, alarm: Alarm) -> bool {
        let period = at.as_picos() >> SHIFT;
        let near = (now.as_picos() >> SHIFT) + 2;
        if self.count == 0 {
            self.first = self.first.max(near);
        }
        if period < near.max(self.first) || period - self.first >= PERIODS {
            return false;
        }
        self.periods[(period % PERIODS) as usize].push((at, alarm));
        self.from = self.from.min(begin(period));
        self.count += 1;
        true
    }

    /// Takes out the timers of the first period that has some.
    pub fn take_first(&mut self) -> Vec<(Time, Alarm)> {
        if self.count == 0 {
            return Vec::new();
        }
        let period = self.from.as_picos() >> SHIFT;
        let timers = std::mem::take(&mut self.periods[(period % PERIODS) as usize]);
        self.count -= timers.len();
        self.first = period + 1;
        let mut others = self.first..self.first + PERIODS;
        let next = others.find(|other| !self.periods[(other % PERIODS) as usize].is_empty());
        self.from = next.map_or(Time::MAX, begin);
        timers
    }
}

/// When a period begins.
fn begin(period: u64) -> Time {
    Time::from_picos(period << SHIFT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Every timer that is taken in comes out once, in the order of periods and never late.
        #[test]
        fn all_come_out_in_the_order_of_periods(
            steps in prop::collection::vec((0u64..600 << (SHIFT - 2), any::<bool>()), 0..200),
        ) {
            let mut timers = DistantTimers::new();
            let (mut now, mut inside) = (Time::ZERO, Vec::new());
            let take = |timers: &mut DistantTimers, inside: &mut Vec<(Time, Alarm)>| {
                let from = timers.from();
                let mut taken = timers.take_first();
                let end = from.saturating_add(begin(1));
                let mut expected: Vec<_> =
                    inside.iter().copied().filter(|(at, _)| *at < end).collect();
                inside.retain(|(at, _)| *at >= end);
                taken.sort();
                expected.sort();
                (taken, expected, from)
            };
            for (number, (ahead, passes)) in (0u32..).zip(steps) {
                let at = now + Time::from_picos(ahead);
                let alarm = Alarm::Feedback(number);
                if timers.add(now, at, alarm) {
                    prop_assert!(at >= now + begin(1));
                    inside.push((at, alarm));
                }
                prop_assert_eq!(timers.count(), inside.len());
                // Time passes up to `at`: what is due before comes out.
                while passes && timers.from() <= at {
                    let (taken, expected, from) = take(&mut timers, &mut inside);
                    prop_assert!(taken.iter().all(|(at, _)| *at >= from));
                    prop_assert_eq!(taken, expected);
                }
                if passes {
                    now = at;
                }
            }
            while timers.from() < Time::MAX {
                let (taken, expected, _) = take(&mut timers, &mut inside);
                prop_assert!(!taken.is_empty());
                prop_assert_eq!(taken, expected);
            }
            prop_assert!(inside.is_empty() && timers.count() == 0);
        }
    }
}
