//! Numbers and quantities with units as exact decimals, so that a range has the values that a person would write.

use crate::text::bytes_text;
use crate::tree::{Node, Place, Value};
use pathweave_units::{Bytes, Rate, Time};
use std::str::FromStr;

/// Most digits behind the point of a number in a range.
const MOST_PLACES: u32 = 12;

/// Numbers in a range are smaller than this, so that sums and products of them are exact.
const LARGEST: i128 = 1_000_000_000_000_000_000;

/// What a quantity measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dimension {
    /// A plain number.
    Number,
    Time,
    Rate,
    Size,
    /// A zero without a unit, which may be any of those with one.
    Zero,
}

impl Dimension {
    /// To follow "is".
    pub fn words(self) -> &'static str {
        match self {
            Dimension::Number => "a number without a unit",
            Dimension::Time => "a time",
            Dimension::Rate => "a rate",
            Dimension::Size => "a size",
            Dimension::Zero => "zero",
        }
    }

    /// The unit of [`Quantity::base`].
    pub fn base_unit(self) -> &'static str {
        match self {
            Dimension::Number | Dimension::Zero => "",
            Dimension::Time => "s",
            Dimension::Rate => "bit/s",
            Dimension::Size => "B",
        }
    }

    /// The dimension of two quantities, if they have one in common.
    pub fn common(self, other: Dimension) -> Option<Dimension> {
        match (self, other) {
            (own, other) if own == other => Some(own),
            (Dimension::Zero, Dimension::Number) | (Dimension::Number, Dimension::Zero) => None,
            (Dimension::Zero, other) => Some(other),
            (own, Dimension::Zero) => Some(own),
            _ => None,
        }
    }
}

/// `amount` / 10^`places`: of a number, or of picoseconds, bits per second or bytes, whose `places` are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quantity {
    pub dimension: Dimension,
    pub amount: i128,
    pub places: u32,
}

impl Quantity {
    /// Without zeros at the end of its decimals.
    pub fn new(dimension: Dimension, mut amount: i128, mut places: u32) -> Quantity {
        while places > 0 && amount % 10 == 0 {
            amount /= 10;
            places -= 1;
        }
        Quantity {
            dimension,
            amount,
            places,
        }
    }

    /// A number, or a text that is a quantity; a minus may stand before either.
    pub fn read(node: &Node) -> Option<Quantity> {
        match &node.value {
            Value::Integer(number) => {
                let amount = i128::from(*number);
                (amount.abs() < LARGEST).then(|| Quantity::new(Dimension::Number, amount, 0))
            }
            Value::Number(number) => number
                .is_finite()
                .then(|| decimal(&number.to_string()))
                .flatten(),
            Value::Text(text) => with_unit(text.trim()),
            _ => None,
        }
    }

    /// In seconds, bits per second or bytes; of a number the number.
    pub fn base(self) -> f64 {
        match self.dimension {
            // Correctly rounded, as the text would be.
            Dimension::Number | Dimension::Zero => self.number_text().parse().unwrap_or(f64::NAN),
            Dimension::Time => self.amount as f64 / 1e12,
            Dimension::Rate | Dimension::Size => self.amount as f64,
        }
    }

    /// As a person writes it: `0.3`, `50 us`.
    pub fn text(self) -> String {
        let amount = u64::try_from(self.amount.unsigned_abs()).unwrap_or(u64::MAX);
        let unsigned = match self.dimension {
            Dimension::Number | Dimension::Zero => return self.number_text(),
            _ if amount == 0 => "0".to_owned(),
            Dimension::Time => Time::from_picos(amount).to_string(),
            Dimension::Rate => Rate::from_bps(amount).to_string(),
            Dimension::Size => {
                // 64 KiB, but 1460 B.
                let (plain, whole) = (
                    bytes_text(Bytes::new(amount)),
                    Bytes::new(amount).to_string(),
                );
                if whole.len() < plain.len() {
                    whole
                } else {
                    plain
                }
            }
        };
        if self.amount < 0 {
            format!("-{unsigned}")
        } else {
            unsigned
        }
    }

    /// The value of a key that stands at `place`.
    pub fn node(self, place: Place) -> Node {
        let value = match self.dimension {
            Dimension::Number => match i64::try_from(self.amount) {
                Ok(whole) if self.places == 0 => Value::Integer(whole),
                _ => Value::Number(self.base()),
            },
            _ => Value::Text(self.text()),
        };
        Node { place, value }
    }

    /// Its amount with this many digits behind the point, which are at least its own.
    pub fn scaled(self, places: u32) -> Option<i128> {
        let power = 10i128.checked_pow(places.checked_sub(self.places)?)?;
        self.amount.checked_mul(power)
    }

    fn number_text(self) -> String {
        if self.places == 0 {
            return self.amount.to_string();
        }
        let power = 10u128.pow(self.places);
        let (whole, rest) = (
            self.amount.unsigned_abs() / power,
            self.amount.unsigned_abs() % power,
        );
        let sign = if self.amount < 0 { "-" } else { "" };
        let width = self.places as usize;
        format!("{sign}{whole}.{rest:0width$}")
    }
}

/// A number as [`f64`] writes it, without an exponent.
fn decimal(text: &str) -> Option<Quantity> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let places = u32::try_from(fraction.len()).ok()?;
    let amount: i128 = format!("{whole}{fraction}").parse().ok()?;
    (places <= MOST_PLACES && amount.abs() < LARGEST)
        .then(|| Quantity::new(Dimension::Number, amount, places))
}

/// A time, a rate or a size; a zero need not have a unit.
fn with_unit(text: &str) -> Option<Quantity> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    let (dimension, amount) = if let Ok(time) = Time::from_str(text) {
        let bare = !text.contains(|c: char| c.is_ascii_alphabetic());
        let dimension = if bare {
            Dimension::Zero
        } else {
            Dimension::Time
        };
        (dimension, time.as_picos())
    } else if let Ok(rate) = Rate::from_str(text) {
        (Dimension::Rate, rate.as_bps())
    } else {
        (Dimension::Size, Bytes::from_str(text).ok()?.get())
    };
    Some(Quantity::new(dimension, sign * i128::from(amount), 0))
}
