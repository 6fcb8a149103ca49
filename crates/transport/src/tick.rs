//! The tick of a host's timers.

use pathweave_units::Time;

/// When a host's timers fire: not at the time that was asked for but at a tick, and at a coarser one the longer they wait.
///
/// Linux counts in jiffies. It rounds a wait up to whole ones, and its timer wheel fires no timer early: one set for J
/// jiffies fires at the end of the jiffy J + 1. From 63 jiffies on the wheel has steps of 8, from 504 on of 64, and so on
/// (kernel/time/timer.c, `calc_index`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tick {
    /// Zero where timers fire on time.
    length: Time,
    /// How long before the time zero of the simulation a tick was that is the first of all levels of the wheel.
    phase: Time,
}

/// Each level of the wheel is this power of two coarser than the one before.
const LEVEL_SHIFT: u32 = 3;
/// Waits of so many jiffies are the first that go to the second level.
const FIRST_LEVEL: u64 = 63;
/// Ticks after which the levels that matter, those up to 131 s at 250 jiffies a second, are in step again.
const LEVELS_IN_STEP: u64 = 512;

impl Tick {
    /// A tick of this length. One was at `phase` before the time zero.
    pub fn new(length: Time, phase: Time) -> Tick {
        let phases = Tick::phases(length).as_picos().max(1);
        let phase = Time::from_picos(phase.as_picos() % phases);
        Tick { length, phase }
    }

    /// The phases that differ are below this.
    pub fn phases(length: Time) -> Time {
        length.saturating_mul(LEVELS_IN_STEP)
    }

    /// When a timer fires that is set now for a wait.
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

    /// A time as the host's clock of milliseconds has it, which time stamps are made of.
    pub(crate) fn milliseconds(&self, time: Time) -> u64 {
        time.saturating_add(self.phase).as_picos() / Time::from_millis(1).as_picos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JIFFY: Time = Time::from_millis(4);

    /// How long a timer of this wait takes when it is set this long after a tick.
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
        // RFC 8985's timer at an RTT near zero: 4 to 8 ms at 250 jiffies a second.
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
