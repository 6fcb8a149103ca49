//! Link and sending rates.

use crate::parse::{Dimension, Symbol, UnitError};
use crate::{Bytes, Time};
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

/// A rate in whole bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

const DIMENSION: Dimension = Dimension {
    what: "rate",
    example: "1 Gbps",
    symbols: &[
        Symbol {
            name: "Tbps",
            factor: 1_000_000_000_000,
        },
        Symbol {
            name: "Gbps",
            factor: 1_000_000_000,
        },
        Symbol {
            name: "Mbps",
            factor: 1_000_000,
        },
        Symbol {
            name: "Kbps",
            factor: 1_000,
        },
        Symbol {
            name: "kbps",
            factor: 1_000,
        },
        Symbol {
            name: "bps",
            factor: 1,
        },
    ],
};

impl Rate {
    /// No rate at all.
    pub const ZERO: Rate = Rate(0);

    /// From whole bits per second.
    pub const fn from_bps(bps: u64) -> Rate {
        Rate(bps)
    }
    /// From whole megabits per second.
    pub const fn from_mbps(mbps: u64) -> Rate {
        Rate(mbps * 1_000_000)
    }
    /// From whole gigabits per second.
    pub const fn from_gbps(gbps: u64) -> Rate {
        Rate(gbps * 1_000_000_000)
    }
    /// Whole bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }
    /// How long `bytes` take at this rate, rounded down to the picosecond.
    ///
    /// # Panics
    /// When the rate is zero.
    pub fn time_for(self, bytes: Bytes) -> Time {
        let picos = u128::from(bytes.get()) * 8_000_000_000_000 / u128::from(self.0);
        Time::from_picos(u64::try_from(picos).unwrap_or(u64::MAX))
    }
}

impl FromStr for Rate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Rate, UnitError> {
        DIMENSION.parse(text).map(Rate)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: String = DIMENSION.display(self.0);
        f.pad(&text)
    }
}
