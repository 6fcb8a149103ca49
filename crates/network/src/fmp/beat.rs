//! The times at which a switch tells its neighbours its prices.

use pathweave_units::Time;

/// A switch's schedule: `first`, then every `period`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beat {
    first: Time,
    period: Time,
    /// The last result of `next`.
    next: Time,
}

impl Beat {
    pub fn new(first: Time, period: Time) -> Beat {
        Beat {
            first,
            period,
            next: first,
        }
    }

    #[inline(always)]
    pub fn first(&self) -> Time {
        self.first
    }

    #[inline(always)]
    pub fn period(&self) -> Time {
        self.period
    }

    /// The first scheduled time at or after `now`, which must not decrease between calls.
    #[inline(always)]
    pub fn next(&mut self, now: Time) -> Time {
        if self.next < now {
            self.next += self.period;
            if self.next < now {
                self.next = self.at(self.count_before(now));
            }
        }
        self.next
    }

    /// The time with this number, counted from zero.
    pub fn at(&self, telling: u64) -> Time {
        self.first + self.period * telling
    }

    /// Number of scheduled times before `time`.
    pub fn count_before(&self, time: Time) -> u64 {
        match time <= self.first {
            true => 0,
            false => {
                let since = (time - self.first).as_picos() - 1;
                since / self.period.as_picos() + 1
            }
        }
    }

    /// The number of a scheduled time.
    pub fn number(&self, told: Time) -> u64 {
        (told - self.first).as_picos() / self.period.as_picos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_counted_and_found() {
        let picos = Time::from_picos;
        let mut beat = Beat::new(picos(7), picos(10));
        let times: Vec<Time> = (0..20).map(|number| beat.at(number)).collect();
        for now in 0..150 {
            let before = times.iter().filter(|&&time| time < picos(now)).count();
            assert_eq!(beat.count_before(picos(now)), before as u64);
            // Calls are sparse, so `next` sometimes has to skip times.
            if now % 7 == 0 && now % 5 != 0 {
                assert_eq!(beat.next(picos(now)), times[before]);
            }
        }
        for (number, &time) in (0..).zip(&times) {
            assert_eq!(beat.number(time), number);
        }
    }
}
