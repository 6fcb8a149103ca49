//! Time and durations.

use crate::parse::{Dimension, Symbol, UnitError};
use alloc::string::String;
use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};
use core::str::FromStr;

/// An instant since the start of a run, or a duration, in whole picoseconds.
///
/// Picoseconds make the transmission of one byte a whole number at every common link rate
/// (80 ps at 100 Gbps), and 64 bits of them last for 213 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

const DIMENSION: Dimension = Dimension {
    what: "time",
    example: "20 us",
    symbols: &[
        Symbol {
            name: "s",
            factor: 1_000_000_000_000,
        },
        Symbol {
            name: "ms",
            factor: 1_000_000_000,
        },
        Symbol {
            name: "us",
            factor: 1_000_000,
        },
        Symbol {
            name: "ns",
            factor: 1_000,
        },
        Symbol {
            name: "ps",
            factor: 1,
        },
    ],
};

impl Time {
    /// The start of a run; the empty duration.
    pub const ZERO: Time = Time(0);
    /// Later than everything: "never".
    pub const MAX: Time = Time(u64::MAX);

    /// From whole picoseconds.
    pub const fn from_picos(picos: u64) -> Time {
        Time(picos)
    }
    /// From whole nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Time {
        Time(nanos * 1_000)
    }
    /// From whole microseconds.
    pub const fn from_micros(micros: u64) -> Time {
        Time(micros * 1_000_000)
    }
    /// From whole milliseconds.
    pub const fn from_millis(millis: u64) -> Time {
        Time(millis * 1_000_000_000)
    }
    /// From whole seconds.
    pub const fn from_secs(secs: u64) -> Time {
        Time(secs * 1_000_000_000_000)
    }
    /// From seconds, rounded to the nearest picosecond; negative and NaN give zero.
    pub fn from_secs_f64(secs: f64) -> Time {
        let picos = secs * 1e12;
        let whole = picos as u64; // saturates, and NaN gives zero
        let up = picos - whole as f64 >= 0.5;
        Time(whole.saturating_add(u64::from(up)))
    }
    /// Whole picoseconds.
    pub const fn as_picos(self) -> u64 {
        self.0
    }
    /// Seconds, as the nearest floating-point number.
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        // 1e-12 is not a floating-point number: with a product 25 ms would not be 0.025.
        self.0 as f64 / 1e12
    }
    /// The difference, or zero when `earlier` is later.
    pub const fn saturating_sub(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }
    /// The sum, or [`Time::MAX`].
    pub const fn saturating_add(self, other: Time) -> Time {
        Time(self.0.saturating_add(other.0))
    }
    /// The product, or [`Time::MAX`].
    pub const fn saturating_mul(self, factor: u64) -> Time {
        Time(self.0.saturating_mul(factor))
    }
}

impl Add for Time {
    type Output = Time;
    #[inline]
    fn add(self, other: Time) -> Time {
        Time(self.0 + other.0)
    }
}
impl AddAssign for Time {
    #[inline]
    fn add_assign(&mut self, other: Time) {
        self.0 += other.0;
    }
}
impl Sub for Time {
    type Output = Time;
    #[inline]
    fn sub(self, other: Time) -> Time {
        Time(self.0 - other.0)
    }
}
impl SubAssign for Time {
    #[inline]
    fn sub_assign(&mut self, other: Time) {
        self.0 -= other.0;
    }
}
impl Mul<u64> for Time {
    type Output = Time;
    fn mul(self, factor: u64) -> Time {
        Time(self.0 * factor)
    }
}
impl Div<u64> for Time {
    type Output = Time;
    fn div(self, divisor: u64) -> Time {
        Time(self.0 / divisor)
    }
}

impl FromStr for Time {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Time, UnitError> {
        DIMENSION.parse(text).map(Time)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: String = DIMENSION.display(self.0);
        f.pad(&text)
    }
}
