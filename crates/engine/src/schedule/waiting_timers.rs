//! Timers that wait outside the schedule's heap.

use crate::schedule::alarm::Alarm;
use crate::schedule::timers_by_period::TimersByPeriod;
use pathweave_units::Time;

/// A timer that is set for a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DueTimer {
    pub at: Time,
    pub alarm: Alarm,
}

/// Periods of 17 us, for 17 ms.
type Soon = TimersByPeriod<24, 1024>;
/// Periods of 9 ms, for 4.4 s.
type Distant = TimersByPeriod<33, 512>;

/// Timers by the periods in which they are due.
#[derive(Clone, Debug)]
pub(crate) struct WaitingTimers {
    /// Those that are due soon, but for retransmission timers. Almost all are those of paced subflows.
    soon: Soon,
    /// Retransmission timers that are due soon.
    retransmissions: Soon,
    /// Timers that lie further ahead, and come to one of these later. Almost all are retransmission timers.
    distant: Distant,
}

impl WaitingTimers {
    /// Without any timer.
    pub fn new() -> WaitingTimers {
        WaitingTimers {
            soon: Soon::new(),
            retransmissions: Soon::new(),
            distant: Distant::new(),
        }
    }

    /// Number of timers.
    pub fn count(&self) -> usize {
        self.soon.count() + self.retransmissions.count() + self.distant.count()
    }

    /// No timer is due before; `Time::MAX` if there is none.
    #[inline(always)]
    pub fn from(&self) -> Time {
        self.soon.from().min(self.no_retransmission_before())
    }

    /// No retransmission timer is due before; `Time::MAX` if there is none.
    #[inline(always)]
    pub fn no_retransmission_before(&self) -> Time {
        self.retransmissions.from().min(self.distant.from())
    }

    /// Adds a timer. Returns false if it has no place here: it is due at once, or too far ahead.
    #[inline(always)]
    pub fn add(&mut self, now: Time, at: Time, alarm: Alarm) -> bool {
        if at - now >= Soon::REACH {
            self.distant.add(now, at, alarm)
        } else if alarm.is_retransmission() {
            self.retransmissions.add(now, at, alarm)
        } else {
            self.soon.add(now, at, alarm)
        }
    }

    /// Takes out the timers that are due before a time, in no order. Distant ones have come near.
    pub fn take_before(&mut self, before: Time, due: &mut Vec<DueTimer>) {
        debug_assert!(self.distant.from() >= before);
        for timers in [&mut self.soon, &mut self.retransmissions] {
            timers.take_before(before, |at, alarm| due.push(DueTimer { at, alarm }));
        }
    }

    /// Takes out the timers of the first period that has some, in no order. If that is one of distant timers, they come near.
    pub fn take_first(&mut self, now: Time, leaving: &mut Vec<DueTimer>) {
        let first = self.from();
        if self.distant.from() == first {
            self.bring_first_near(now, leaving);
            return;
        }
        let timers = match self.soon.from() == first {
            true => &mut self.soon,
            false => &mut self.retransmissions,
        };
        timers.take_first(|at, alarm| leaving.push(DueTimer { at, alarm }));
    }

    /// Distant timers that may be due before a time come near. Those that have no place there leave.
    pub fn bring_near(&mut self, now: Time, before: Time, leaving: &mut Vec<DueTimer>) {
        while self.distant.from() < before {
            self.bring_first_near(now, leaving);
        }
    }

    #[cold]
    #[inline(never)]
    fn bring_first_near(&mut self, now: Time, leaving: &mut Vec<DueTimer>) {
        let WaitingTimers {
            soon,
            retransmissions,
            distant,
        } = self;
        distant.take_first(|at, alarm| {
            let timers = match alarm.is_retransmission() {
                true => &mut *retransmissions,
                false => &mut *soon,
            };
            if !timers.add(now, at, alarm) {
                leaving.push(DueTimer { at, alarm });
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathweave_transport::{Timer, TimerKind};
    use proptest::prelude::*;

    fn alarm(number: u32, is_retransmission: bool) -> Alarm {
        match is_retransmission {
            true => Alarm::Transport(Timer::without_endpoint(number, TimerKind::Retransmission)),
            false => Alarm::Feedback(number),
        }
    }

    proptest! {
        /// In steps, as nodes take them: every timer comes out once, in the step in which it is due, or leaves before. It is
        /// known how long no retransmission timer is due.
        #[test]
        fn timers_come_out_in_their_steps(
            steps in prop::collection::vec(
                (0u64..30_000_000_000, prop::collection::vec((0u64..5_000_000_000_000, any::<bool>()), 0..4)), 1..100,
            ),
        ) {
            let picos = Time::from_picos;
            let (mut waiting, mut now, mut number) = (WaitingTimers::new(), Time::ZERO, 0);
            let mut inside = Vec::new();
            for (length, ahead) in steps {
                for (ahead, is_retransmission) in ahead {
                    let (at, alarm) = (now + picos(ahead), alarm(number, is_retransmission));
                    number += 1;
                    if waiting.add(now, at, alarm) {
                        inside.push((at, alarm));
                    }
                }
                let before = now + picos(length);
                let (mut leaving, mut due) = (Vec::new(), Vec::new());
                waiting.bring_near(now, before, &mut leaving);
                waiting.take_before(before, &mut due);
                prop_assert!(due.iter().all(|timer| timer.at < before));
                prop_assert!(waiting.from() >= before);
                prop_assert!(waiting.no_retransmission_before() >= before);
                for DueTimer { at, alarm } in due.into_iter().chain(leaving) {
                    let place = inside.iter().position(|&timer| timer == (at, alarm));
                    prop_assert!(place.map(|place| inside.swap_remove(place)).is_some());
                }
                prop_assert!(inside.iter().all(|&(at, _)| at >= before));
                let retransmissions = inside.iter().filter(|(_, alarm)| alarm.is_retransmission());
                let first = retransmissions.map(|&(at, _)| at).min().unwrap_or(Time::MAX);
                prop_assert!(waiting.no_retransmission_before() <= first);
                if inside.is_empty() {
                    prop_assert_eq!(waiting.no_retransmission_before(), Time::MAX);
                }
                prop_assert_eq!(waiting.count(), inside.len());
                now = before;
            }
        }
    }
}
