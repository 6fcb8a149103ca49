//! The plan's time, which passes while the machine works.

use pathweave_units::Time;
use std::time::{Duration, Instant};

/// Tells the plan's time since the run began. Stretched by N it passes N times more slowly than the
/// machine's: a link then carries an N-th of its rate and takes N times its delay, while products of
/// rates and delays, queues and thresholds stay what they are.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
    stretch: u32,
}

impl Clock {
    /// A clock that shows zero at `start`.
    pub fn new(start: Instant, stretch: u32) -> Clock {
        Clock { start, stretch }
    }

    /// The plan's time now; zero before the start.
    #[inline]
    pub fn now(&self) -> Time {
        self.at(Instant::now())
    }

    /// The plan's time at a moment.
    #[inline]
    pub fn at(&self, moment: Instant) -> Time {
        plan_time(moment.saturating_duration_since(self.start), self.stretch)
    }

    /// How long the machine takes from one of the plan's times to another.
    pub fn between(&self, from: Time, to: Time) -> Duration {
        machine_time(to.saturating_sub(from), self.stretch)
    }

    /// What the machine took, in the plan's time.
    pub fn plan_time(&self, machine: Duration) -> Time {
        plan_time(machine, self.stretch)
    }
}

/// What the machine takes for a stretch of the plan's time.
fn machine_time(plan: Time, stretch: u32) -> Duration {
    let nanos = u128::from(plan.as_picos()) * u128::from(stretch) / 1000;
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// The plan's time that passes while the machine takes so long.
#[inline]
pub fn plan_time(machine: Duration, stretch: u32) -> Time {
    let nanos = machine.as_nanos() as u64; // 584 years
    Time::from_picos(nanos.saturating_mul(1000) / u64::from(stretch))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against the definition: N machine seconds to one of the plan's.
        #[test]
        fn time_there_and_back_is_the_same(nanos in 0u64..1 << 50, stretch in 1u32..1000) {
            let plan = plan_time(Duration::from_nanos(nanos), stretch);
            prop_assert_eq!(plan.as_picos(), (u128::from(nanos) * 1000 / u128::from(stretch)) as u64);
            let back = machine_time(plan, stretch).as_nanos() as u64;
            prop_assert!(nanos - back <= 1, "{nanos} became {back}");
        }
    }

    #[test]
    fn a_stretched_clock_is_slower() {
        let start = Instant::now();
        let clock = Clock::new(start, 10);
        assert_eq!(
            clock.at(start + Duration::from_millis(30)),
            Time::from_millis(3)
        );
        assert_eq!(
            clock.between(Time::from_millis(1), Time::from_millis(4)),
            Duration::from_millis(30)
        );
        assert_eq!(
            clock.between(Time::from_millis(4), Time::from_millis(1)),
            Duration::ZERO
        );
        // Before the start nothing has passed.
        let later = Clock::new(start + Duration::from_secs(1), 1);
        assert_eq!(later.at(start), Time::ZERO);
    }
}
