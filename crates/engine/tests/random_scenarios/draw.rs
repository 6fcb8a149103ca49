//! Random choices and the texts of quantities.

use pathweave_random::Stream;
use serde_json::{Map, Value};

/// A stream of choices, named by a seed and an attempt.
pub struct Draw(Stream);

impl Draw {
    pub fn new(seed: u64, attempt: u64) -> Draw {
        Draw(Stream::new(seed, "scenario", attempt))
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.0.uniform() < probability
    }

    /// One of the items, all alike.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.0.below(items.len() as u64) as usize]
    }

    /// A whole number, both ends included.
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        self.0.between(least, most)
    }

    /// Uniform between two numbers.
    pub fn uniform(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * self.0.uniform()
    }

    /// Log-uniform between two positive numbers: every order of magnitude is equally likely.
    pub fn log(&mut self, least: f64, most: f64) -> f64 {
        libm::exp(self.uniform(libm::log(least), libm::log(most)))
    }

    /// A log-uniform whole number.
    pub fn log_integer(&mut self, least: u64, most: u64) -> u64 {
        (self.log(least as f64, most as f64 + 1.0) as u64).clamp(least, most)
    }

    /// Some of the items, at least `least`, in random order.
    pub fn some<T: Clone>(&mut self, items: &[T], least: usize) -> Vec<T> {
        let mut all = items.to_vec();
        self.0.shuffle(&mut all);
        let count = self.between(least.min(items.len()) as u64, items.len() as u64);
        all.truncate(count as usize);
        all
    }

    /// A time near this many seconds, with its unit: sometimes round, sometimes to the picosecond.
    pub fn time(&mut self, seconds: f64) -> Value {
        let picoseconds = (seconds * 1e12) as u64;
        let text = if self.chance(0.1) {
            format!("{picoseconds} ps")
        } else {
            match seconds {
                s if s >= 1.0 => format!("{s:.3} s"),
                s if s >= 1e-3 => format!("{:.3} ms", s * 1e3),
                s if s >= 1e-6 => format!("{:.3} us", s * 1e6),
                s => format!("{:.3} ns", s * 1e9),
            }
        };
        text.into()
    }

    /// A time around this many seconds: from a tenth of it to ten times as long.
    pub fn time_about(&mut self, seconds: f64) -> Value {
        let seconds = seconds * self.log(0.1, 10.0);
        self.time(seconds)
    }

    /// A rate near this many bits per second, with its unit.
    pub fn rate(&mut self, bps: f64) -> Value {
        let bps = bps.clamp(10_000.0, 4e11);
        let text = match bps {
            b if self.chance(0.1) => format!("{} bps", b as u64),
            b if b >= 1e9 => format!("{:.3} Gbps", b / 1e9),
            b if b >= 1e6 => format!("{:.3} Mbps", b / 1e6),
            b => format!("{:.2} Kbps", b / 1e3),
        };
        text.into()
    }

    /// A size near this many bytes, with its unit.
    pub fn bytes(&mut self, bytes: f64) -> Value {
        let text = match bytes {
            b if b >= 1e6 && self.chance(0.3) => format!("{} MB", (b / 1e6) as u64),
            b if b >= 2048.0 && self.chance(0.1) => format!("{} KiB", (b / 1024.0) as u64),
            b if b >= 1000.0 && self.chance(0.3) => format!("{} KB", (b / 1000.0) as u64),
            b => format!("{} B", (b as u64).max(1)),
        };
        text.into()
    }

    /// Three significant digits, as a person would write a number.
    pub fn number(&mut self, least: f64, most: f64) -> f64 {
        let number = if least > 0.0 && most / least > 10.0 {
            self.log(least, most)
        } else {
            self.uniform(least, most)
        };
        let digits = libm::floor(libm::log10(number.abs().max(1e-300)));
        let unit = libm::pow(10.0, digits - 2.0);
        let rounded = libm::round(number / unit) * unit;
        rounded.clamp(least, most)
    }
}

/// A table that is filled key by key.
#[derive(Clone, Default)]
pub struct Table(Map<String, Value>);

impl Table {
    pub fn set(&mut self, key: &str, value: impl Into<Value>) -> &mut Table {
        self.0.insert(key.to_owned(), value.into());
        self
    }

    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// With this probability, sets a key to what is drawn then.
    pub fn maybe(
        &mut self,
        draw: &mut Draw,
        probability: f64,
        key: &str,
        value: impl FnOnce(&mut Draw) -> Value,
    ) -> &mut Table {
        if draw.chance(probability) {
            let value = value(draw);
            self.set(key, value);
        }
        self
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<Table> for Value {
    fn from(table: Table) -> Value {
        Value::Object(table.0)
    }
}

/// A table with one key.
pub fn table(key: &str, value: impl Into<Value>) -> Table {
    let mut table = Table::default();
    table.set(key, value);
    table
}
