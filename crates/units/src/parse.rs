//! Exact parsing and display of "number unit" texts, shared by all units.

use alloc::format;
use alloc::string::String;
use core::fmt;

/// Why a text is not a quantity, in words for the person who wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitError {
    message: String,
}

impl UnitError {
    /// What was wrong and what would be accepted.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for UnitError {}

/// One unit symbol and how many base units it stands for.
pub(crate) struct Symbol {
    pub name: &'static str,
    pub factor: u64,
}

impl Symbol {
    fn is_binary(&self) -> bool {
        self.factor > 1 && self.factor.is_power_of_two()
    }

    /// `value` in this unit, if three decimals are enough.
    fn exact(&self, value: u64) -> Option<String> {
        let thousandths = u128::from(value) * 1000;
        let factor = u128::from(self.factor);
        if thousandths % factor != 0 {
            return None;
        }
        let (whole, decimals) = (thousandths / factor / 1000, thousandths / factor % 1000);
        let number = format!("{whole}.{decimals:03}");
        let number = number.trim_end_matches('0').trim_end_matches('.');
        Some(format!("{number} {}", self.name))
    }
}

/// What a quantity is called and which symbols it takes, largest first.
pub(crate) struct Dimension {
    pub what: &'static str,
    pub example: &'static str,
    pub symbols: &'static [Symbol],
}

impl Dimension {
    fn error(&self, text: &str, problem: &str) -> UnitError {
        let mut names = String::new();
        for symbol in self.symbols {
            if !names.is_empty() {
                names.push_str(", ");
            }
            names.push_str(symbol.name);
        }
        UnitError {
            message: format!(
                "\"{text}\" is not a {}: {problem}; write a number and a unit ({names}), for example \"{}\"",
                self.what, self.example
            ),
        }
    }

    /// Parses "number unit" into base units, exactly.
    pub fn parse(&self, text: &str) -> Result<u64, UnitError> {
        let trimmed = text.trim();
        let split = trimmed
            .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_' || c == '-' || c == '+'))
            .unwrap_or(trimmed.len());
        let (number, unit) = (trimmed[..split].trim(), trimmed[split..].trim());
        if number.is_empty() {
            return Err(self.error(text, "it has no number"));
        }
        if number.starts_with('-') {
            return Err(self.error(text, "it is negative"));
        }
        if unit.is_empty() && number.bytes().any(|b| (b'1'..=b'9').contains(&b)) {
            return Err(self.error(text, "it has no unit"));
        }
        let factor = if unit.is_empty() {
            1 // zero needs no unit
        } else {
            match self.symbols.iter().find(|s| s.name == unit) {
                Some(symbol) => symbol.factor,
                None => return Err(self.error(text, &format!("\"{unit}\" is not a unit of it"))),
            }
        };
        let number = number.strip_prefix('+').unwrap_or(number).replace('_', "");
        let (whole, fraction) = match number.split_once('.') {
            Some((whole, fraction)) => (whole, fraction.trim_end_matches('0')),
            None => (number.as_str(), ""),
        };
        let digits_only = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
        if (whole.is_empty() && fraction.is_empty() && !number.contains('0'))
            || !digits_only(whole)
            || !digits_only(fraction)
        {
            return Err(self.error(text, "its number cannot be read"));
        }
        let too_large = || self.error(text, "it is too large");
        if fraction.len() > 18 {
            return Err(self.error(text, "it has too many decimals"));
        }
        let whole: u128 = if whole.is_empty() {
            0
        } else {
            whole.parse().map_err(|_| too_large())?
        };
        let scale = 10u128.pow(fraction.len() as u32);
        let fraction: u128 = if fraction.is_empty() {
            0
        } else {
            fraction.parse().map_err(|_| too_large())?
        };
        let base = whole
            .checked_mul(scale)
            .and_then(|w| w.checked_add(fraction))
            .and_then(|w| w.checked_mul(u128::from(factor)))
            .ok_or_else(too_large)?;
        if base % scale != 0 {
            return Err(self.error(text, "it is finer than this quantity's smallest step"));
        }
        u64::try_from(base / scale).map_err(|_| too_large())
    }

    /// The exact text in the largest unit that needs at most three decimals, and in a binary multiple
    /// where that is shorter: 65,536 bytes are 64 KiB, but 64,000 bytes are 64 KB and not 62.5 KiB.
    pub fn display(&self, value: u64) -> String {
        let decimal = self.in_largest(value, |symbol| !symbol.is_binary());
        let binary = self.in_largest(value, Symbol::is_binary);
        match (decimal, binary) {
            (Some(decimal), Some(binary)) if binary.len() < decimal.len() => binary,
            (Some(decimal), _) => decimal,
            (None, _) => unreachable!("every quantity has a symbol for its base unit"),
        }
    }

    fn in_largest(&self, value: u64, admit: impl Fn(&Symbol) -> bool) -> Option<String> {
        self.symbols
            .iter()
            .filter(|symbol| admit(symbol) && (value >= symbol.factor || symbol.factor == 1))
            .find_map(|symbol| symbol.exact(value))
    }
}
