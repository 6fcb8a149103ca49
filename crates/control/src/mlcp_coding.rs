//! What the bits of MLCP's header mean: 16 levels of load and 8 classes of RTT.
//!
//! No code or table of it was found published; this one is a ruling.
//!
//! - Level k stands for loads of k/10 up to (k + 1)/10, and level 15 for all from 150 % on. So levels 0 to 7
//!   are below 80 %, 8 and 9 below 100 %, 10 and more an overload.
//! - A level is taken for the upper end of its range, as VCP takes all low loads for 80 %: the growth that
//!   follows from it is not too fast for any load of the level.
//! - Class k stands for RTTs of t_p 2^(k-1) up to t_p 2^k, class 0 for shorter ones and 7 for all longer
//!   ones. Ports of one fabric know its RTT and do not need the class; it is carried as the header has it.

use pathweave_units::Time;

/// The highest level of load.
pub const HIGHEST_LEVEL: u8 = 15;
/// The lowest level at which windows grow additively: from 80 % on.
pub const HIGH: u8 = 8;
/// The lowest level at which they shrink: from 100 % on.
pub const OVERLOAD: u8 = 10;
/// The class of the longest RTTs.
pub const LONGEST_CLASS: u8 = 7;

/// The level of a load factor.
pub fn level(load: f64) -> u8 {
    // The conversion cuts fractions off, and stops at the ends of its range.
    ((10.0 * load) as u8).min(HIGHEST_LEVEL)
}

/// The load factor that a level stands for.
pub fn load(level: u8) -> f64 {
    (f64::from(level) + 1.0) / 10.0
}

/// The class of an RTT.
pub fn rtt_class(rtt: Time, t_p: Time) -> u8 {
    let longer = |&class: &u8| rtt >= t_p.saturating_mul(1 << class);
    (0..LONGEST_CLASS).take_while(longer).count() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_tenths() {
        for (load, expected) in [
            (0.0, 0),
            (0.099, 0),
            (0.1, 1),
            (0.799, 7),
            (0.8, HIGH),
            (0.999, 9),
            (1.0, OVERLOAD),
            (1.499, 14),
            (1.5, 15),
            (100.0, 15),
            (f64::INFINITY, 15),
        ] {
            assert_eq!(level(load), expected, "{load}");
        }
    }

    #[test]
    fn a_level_stands_for_its_upper_end() {
        for tenths in 0..15 {
            let inside = f64::from(tenths) / 10.0 + 0.05;
            let code = level(inside);
            assert!(load(code) > inside && load(code) < inside + 0.0501);
        }
        assert_eq!(load(7), 0.8);
    }

    #[test]
    fn classes_double() {
        let t_p = Time::from_micros(100);
        for (micros, expected) in [
            (0, 0),
            (99, 0),
            (100, 1),
            (199, 1),
            (200, 2),
            (6399, 6),
            (6400, 7),
            (1_000_000, 7),
        ] {
            assert_eq!(
                rtt_class(Time::from_micros(micros), t_p),
                expected,
                "{micros}"
            );
        }
    }
}
