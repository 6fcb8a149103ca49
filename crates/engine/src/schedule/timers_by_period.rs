//! Timers that are not due at once, by the period in which they are due.
//!
//! A heap of all timers would be deep: each flow has a retransmission timer, and each paced subflow one for its next
//! packet. So timers come into the order of their times only when their period comes, a few at a time.

use crate::schedule::alarm::Alarm;
use crate::schedule::used_places::UsedPlaces;
use pathweave_units::Time;

/// A period keeps room for at most this many timers when they are gone.
const ROOM_KEPT: usize = 64;

/// Timers in no order but that of their periods. A period is `2^SHIFT` ps, and `PERIODS` of them are told apart. `PERIODS`
/// is a power of two.
#[derive(Clone, Debug)]
pub(crate) struct TimersByPeriod<const SHIFT: u32, const PERIODS: usize> {
    /// By the lowest bits of the period's number.
    periods: Box<[Vec<(Time, Alarm)>]>,
    /// Those that have timers.
    filled: UsedPlaces,
    /// Timers that are due before this time have been taken out. Those that are here are due in its period or in one of
    /// those that follow, as many as are told apart.
    taken: Time,
    /// No timer is due before; `Time::MAX` if there is none.
    from: Time,
    count: usize,
}

impl<const SHIFT: u32, const PERIODS: usize> TimersByPeriod<SHIFT, PERIODS> {
    /// A timer that is due less than this after it is set is not too far ahead, if no other timer is here.
    pub const REACH: Time = Time::from_picos((PERIODS as u64 - 1) << SHIFT);

    /// Without any timer.
    pub fn new() -> Self {
        const { assert!(PERIODS.is_power_of_two()) }
        TimersByPeriod {
            periods: vec![Vec::new(); PERIODS].into(),
            filled: UsedPlaces::none(PERIODS),
            taken: Time::ZERO,
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

    /// Adds a timer. Returns false if it is not for here: it is due in the period of `now`, before a time up to which
    /// timers have been taken out, or too far ahead.
    #[inline]
    pub fn add(&mut self, now: Time, at: Time, alarm: Alarm) -> bool {
        if self.count == 0 {
            self.taken = self.taken.max(now);
        }
        let period = Self::period(at);
        if at < self.taken
            || period <= Self::period(now)
            || period - Self::period(self.taken) >= PERIODS as u64
        {
            return false;
        }
        let place = Self::place(period);
        let timers = &mut self.periods[place];
        if timers.is_empty() {
            self.filled.add(place);
            self.from = self.from.min(Self::begin(period).max(self.taken));
        }
        timers.push((at, alarm));
        self.count += 1;
        true
    }

    /// Takes out the timers of the first period that has some.
    #[inline]
    pub fn take_first(&mut self, due: impl FnMut(Time, Alarm)) {
        if self.count > 0 {
            let end = Self::begin(Self::period(self.from) + 1);
            self.take_before(end, due);
        }
    }

    /// Takes out the timers that are due before a time.
    #[inline]
    pub fn take_before(&mut self, before: Time, mut due: impl FnMut(Time, Alarm)) {
        while self.from < before {
            let period = Self::period(self.from);
            let place = Self::place(period);
            let timers = &mut self.periods[place];
            let mut next = 0;
            while let Some(&(at, alarm)) = timers.get(next) {
                if at < before {
                    timers.swap_remove(next);
                    self.count -= 1;
                    due(at, alarm);
                } else {
                    next += 1;
                }
            }
            if timers.is_empty() {
                timers.shrink_to(ROOM_KEPT);
                self.filled.remove(place);
                self.from = self.next_filled(period);
            } else {
                self.from = before;
            }
        }
        self.taken = self.taken.max(before);
    }

    /// When the first period with timers begins after this one, which has none.
    fn next_filled(&self, period: u64) -> Time {
        let place = Self::place(period);
        let Some(found) = self.filled.first_from(place) else {
            return Time::MAX;
        };
        let ahead = found.wrapping_sub(place) % PERIODS;
        Self::begin(period + ahead as u64)
    }

    fn period(at: Time) -> u64 {
        at.as_picos() >> SHIFT
    }

    fn place(period: u64) -> usize {
        period as usize % PERIODS
    }

    /// When a period begins.
    fn begin(period: u64) -> Time {
        Time::from_picos(period << SHIFT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PERIOD: u64 = 1 << 4;
    type Timers = TimersByPeriod<4, 64>;

    /// What happens next.
    #[derive(Clone, Debug)]
    enum Step {
        /// A timer is set that is due after this long.
        Add(u64),
        /// Time passes, and all comes out that is due before.
        Pass(u64),
        /// The first period comes out.
        TakeFirst,
    }

    fn step() -> impl Strategy<Value = Step> {
        let all = 80 * PERIOD;
        prop_oneof![
            4 => (0..all).prop_map(Step::Add),
            2 => (0..4 * PERIOD).prop_map(Step::Pass),
            1 => (0..2 * all).prop_map(Step::Pass),
            1 => Just(Step::TakeFirst),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]
        /// Against a list of all timers.
        #[test]
        fn every_timer_comes_out_once_and_in_time(
            steps in prop::collection::vec(step(), 0..200),
        ) {
            let picos = Time::from_picos;
            let mut timers = Timers::new();
            let (mut now, mut inside) = (Time::ZERO, Vec::new());
            let mut taken_before = Time::ZERO;
            for (number, step) in (0u32..).zip(steps) {
                let mut taken = Vec::new();
                let before = match step {
                    Step::Add(ahead) => {
                        let (at, alarm) = (now + picos(ahead), Alarm::Feedback(number));
                        let was_empty = inside.is_empty();
                        let is_kept = timers.add(now, at, alarm);
                        if is_kept {
                            prop_assert!(at.as_picos() / PERIOD > now.as_picos() / PERIOD);
                            inside.push((at, alarm));
                        } else if was_empty && at >= taken_before {
                            prop_assert!(ahead < PERIOD || ahead >= Timers::REACH.as_picos());
                        }
                        Time::ZERO
                    }
                    Step::Pass(time) => {
                        now += picos(time);
                        timers.take_before(now, |at, alarm| taken.push((at, alarm)));
                        now
                    }
                    Step::TakeFirst => {
                        let first = timers.from().as_picos() / PERIOD;
                        timers.take_first(|at, alarm| taken.push((at, alarm)));
                        match taken.is_empty() {
                            true => Time::ZERO,
                            false => picos((first + 1) * PERIOD),
                        }
                    }
                };
                taken_before = taken_before.max(before);
                let is_due = |&(at, _): &(Time, Alarm)| at < before;
                let mut expected: Vec<_> = inside.iter().copied().filter(is_due).collect();
                inside.retain(|timer| !is_due(timer));
                taken.sort();
                expected.sort();
                prop_assert_eq!(taken, expected);
                prop_assert_eq!(timers.count(), inside.len());
                let first = inside.iter().map(|&(at, _)| at).min();
                match first {
                    // It is known to the period.
                    Some(first) => {
                        prop_assert!(timers.from() <= first);
                        prop_assert!(first - timers.from() < picos(PERIOD));
                    }
                    None => prop_assert_eq!(timers.from(), Time::MAX),
                }
            }
        }
    }
}
