//! Amounts of data.

use crate::parse::{Dimension, Symbol, UnitError};
use alloc::string::String;
use core::fmt;
use core::ops::{Add, AddAssign};
use core::str::FromStr;

/// An amount of data in whole bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

const DIMENSION: Dimension = Dimension {
    what: "size",
    example: "64 KB",
    symbols: &[
        Symbol {
            name: "TB",
            factor: 1_000_000_000_000,
        },
        Symbol {
            name: "GiB",
            factor: 1 << 30,
        },
        Symbol {
            name: "GB",
            factor: 1_000_000_000,
        },
        Symbol {
            name: "MiB",
            factor: 1 << 20,
        },
        Symbol {
            name: "MB",
            factor: 1_000_000,
        },
        Symbol {
            name: "KiB",
            factor: 1 << 10,
        },
        Symbol {
            name: "KB",
            factor: 1_000,
        },
        Symbol {
            name: "B",
            factor: 1,
        },
    ],
};

impl Bytes {
    /// Nothing.
    pub const ZERO: Bytes = Bytes(0);
    /// More than anything.
    pub const MAX: Bytes = Bytes(u64::MAX);

    /// From whole bytes.
    pub const fn new(bytes: u64) -> Bytes {
        Bytes(bytes)
    }
    /// Whole bytes.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}
impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}

impl FromStr for Bytes {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Bytes, UnitError> {
        DIMENSION.parse(text).map(Bytes)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text: String = DIMENSION.display(self.0);
        f.pad(&text)
    }
}
