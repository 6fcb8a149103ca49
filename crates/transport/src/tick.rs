//! The tick of an operating system's timers.

use pathweave_units::Time;

/// Rounds expiry times of timers as Linux's timer wheel does.
///
/// A wait is rounded up to J jiffies. The wheel never fires early, so the timer expires J to J + 1 jiffies after it was set.
/// From 63 jiffies on the wheel's resolution is 8 jiffies, from 504 on 64, and so on (kernel/time/timer.c, `calc_index`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tick {
    /// Length of a jiffy; zero if timers are exact.
    length: Time,
    /// Time between the last jiffy that is a multiple of [`LEVELS_IN_STEP`] and the start of the run.
    phase: Time,
}

/// Binary logarithm of the ratio between the resolutions of two levels of the wheel.
const LEVEL_SHIFT: u32 = 3;
/// Shortest wait on the second level, in jiffies.
const FIRST_LEVEL: u64 = 63;
/// Period of the wheel's first four levels in jiffies. They cover waits of up to 129 s at 250 Hz.
const LEVELS_IN_STEP: u64 = 512;

impl Tick {
    /// Ticks of this length, one of them at `phase` before the start of the run.
    pub fn new(length: Time, phase: Time) -> Tick {
        let phases = Tick::phases(length).as_picos().max(1);
        let phase = Time::from_picos(phase.as_picos() % phases);
        Tick { length, phase }
    }

    /// Phases repeat after this time.
    pub fn phases(length: Time) -> Time {
        length.saturating_mul(LEVELS_IN_STEP)
    }

    /// Expiry time of a timer that is set now.
    #[inline]
    pub(crate) fn due(&self, now: Time, wait: Time) -> Time {
        if self.length == Time::ZERO {
            return now.saturating_add(wait);
        }
        let length = self.length.as_picos();
        let jiffies = wait.as_picos().div_ceil(length).max(1);
        let mut shift = 0;
        while jiffies >= FIRST_LEVEL << shift && shift < 8 * LEVEL_SHIFT {
            shift += LEVEL_SHIFT;
        }
        let expires = now.saturating_add(self.phase).as_picos() / length + jiffies;
        let fires = ((expires >> shift) + 1) << shift;
        Time::from_picos(fires.saturating_mul(length)).saturating_sub(self.phase)
    }

    /// The value of the millisecond clock behind TCP time stamps.
    pub(crate) fn milliseconds(&self, time: Time) -> u64 {
        time.saturating_add(self.phase).as_picos() / Time::from_millis(1).as_picos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JIFFY: Time = Time::from_millis(4);

    /// Actual duration of a wait that starts this long after a tick.
    fn takes(wait: Time, after_tick: Time) -> Time {
        let tick = Tick::new(JIFFY, Time::ZERO);
        let now = JIFFY * 512 + after_tick;
        tick.due(now, wait) - now
    }

    #[test]
    fn without_a_tick_timers_are_exact() {
        let wait = Time::from_micros(123);
        assert_eq!(
            Tick::default().due(Time::from_secs(1), wait),
            Time::from_secs(1) + wait
        );
    }

    #[test]
    fn a_short_wait_takes_one_to_two_ticks() {
        // A tail loss probe with a very short RTT: 4 to 8 ms at 250 Hz.
        let wait = Time::from_micros(2100);
        assert_eq!(takes(wait, Time::ZERO), Time::from_millis(8));
        assert_eq!(
            takes(wait, Time::from_micros(3999)),
            Time::from_micros(4001)
        );
    }

    #[test]
    fn two_hundred_milliseconds_and_an_rtt_take_204_to_208() {
        let wait = Time::from_micros(200_500);
        assert_eq!(takes(wait, Time::ZERO), Time::from_millis(208));
        assert_eq!(
            takes(wait, Time::from_micros(3999)),
            Time::from_micros(204_001)
        );
    }

    #[test]
    fn a_second_is_rounded_to_steps_of_32_ms() {
        for micros in (0..32_000).step_by(997) {
            let taken = takes(Time::from_secs(1), Time::from_micros(micros));
            let early = Time::from_secs(1);
            assert!(taken > early && taken <= early + JIFFY * 9, "{taken}");
            let fires = Time::from_micros(micros) + taken;
            assert_eq!(fires.as_picos() % (JIFFY * 8).as_picos(), 0, "{fires}");
        }
    }

    #[test]
    fn no_phase_is_too_long() {
        let tick = Tick::new(JIFFY, Time::MAX);
        let now = Time::from_secs(1);
        let due = tick.due(now, Time::from_millis(10));
        assert!(due > now + Time::from_millis(10) && due <= now + Time::from_millis(16));
    }
}
