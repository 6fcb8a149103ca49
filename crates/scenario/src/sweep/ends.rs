//! Between the ends of a range: by steps, at equal distances or ratios, by a factor.

use super::quantity::{Dimension, Quantity};
use crate::diagnostics::Problem;
use crate::tree::{Node, Table, Value};
use crate::variants::MOST;

pub(super) const FORMS: &str =
    "a range is { from, to, step }, { from, to, count } or { from, to, factor }";

/// Digits that are kept of values, or of the distance between them, where they are rounded.
const DIGITS: u32 = 3;

/// Digits behind those of the ends that values may need without being rounded.
const MOST_EXTRA: u32 = 6;

/// Digits that a value with a point keeps without being rounded.
const MOST_DIGITS: u32 = 6;

/// Where a range begins and ends, in one dimension.
pub(super) struct Ends {
    pub from: Quantity,
    pub to: Quantity,
    /// Both are written as whole numbers, and so are all values.
    whole: bool,
}

impl Ends {
    pub fn read(table: &Table, node: &Node) -> Result<Ends, Problem> {
        let end = |name: &str| {
            let Some(end) = table.get(name) else {
                let message = format!("the range has no \"{name}\"");
                return Err(Problem::new(node.place, message).help(FORMS));
            };
            let quantity = Quantity::read(end).ok_or_else(|| no_quantity(name, end))?;
            if quantity.amount < 0 && quantity.dimension != Dimension::Number {
                return Err(Problem::new(
                    end.place,
                    format!("{name} cannot be {}", end.describe()),
                )
                .help("a quantity with a unit cannot be negative"));
            }
            Ok((quantity, end))
        };
        let ((from, first), (to, last)) = (end("from")?, end("to")?);
        let Some(dimension) = from.dimension.common(to.dimension) else {
            let message = format!(
                "from is {} and to is {}",
                from.dimension.words(),
                to.dimension.words()
            );
            return Err(Problem::new(last.place, message)
                .help("both ends of a range have the same kind of unit, or none"));
        };
        let whole = [first, last]
            .iter()
            .all(|node| matches!(node.value, Value::Integer(_)));
        let ends = Ends {
            from: Quantity { dimension, ..from },
            to: Quantity { dimension, ..to },
            whole,
        };
        if ends.from == ends.to {
            let message = format!("the range begins and ends at {}", ends.from.text());
            return Err(Problem::new(last.place, message)
                .help(format!("write a list for a single value: [{}]", quoted(to))));
        }
        Ok(ends)
    }

    fn rises(&self) -> bool {
        self.to.base() > self.from.base()
    }

    /// Whether values may have digits behind the point: whole numbers and base units have none.
    fn has_parts(&self) -> bool {
        self.from.dimension == Dimension::Number && !self.whole
    }

    fn words(&self) -> String {
        format!("from {} to {}", self.from.text(), self.to.text())
    }

    pub fn check_positive(&self, table: &Table) -> Result<(), Problem> {
        for (name, end) in [("from", self.from), ("to", self.to)] {
            if end.amount <= 0 {
                let place = table.get(name).map(|node| node.place).unwrap_or_default();
                let message = format!("a logarithmic range cannot have {name} = {}", quoted(end));
                return Err(Problem::new(place, message).help("give values above 0"));
            }
        }
        Ok(())
    }

    pub fn by_step(&self, rule: &Node) -> Result<Vec<Quantity>, Problem> {
        let Some(step) = Quantity::read(rule) else {
            return Err(no_quantity("step", rule));
        };
        let dimension = self.from.dimension;
        if step.dimension.common(dimension).is_none() {
            let message = format!(
                "the step is {} and from is {}",
                step.dimension.words(),
                dimension.words()
            );
            return Err(Problem::new(rule.place, message)
                .help("step has the same kind of unit as from and to"));
        }
        if step.amount == 0 {
            return Err(Problem::new(rule.place, "a step cannot be 0")
                .help("give the distance from one value to the next"));
        }
        if (step.amount > 0) != self.rises() {
            let other = Quantity {
                amount: -step.amount,
                dimension,
                ..step
            };
            let message = format!("a step of {} does not lead {}", step.text(), self.words());
            return Err(
                Problem::new(rule.place, message).help(format!("write step = {}", quoted(other)))
            );
        }
        let places = self.from.places.max(self.to.places).max(step.places);
        let scaled =
            |quantity: Quantity| quantity.scaled(places).ok_or_else(|| too_many_digits(rule));
        let (from, to) = (scaled(self.from)?, scaled(self.to)?);
        let (written, step) = (step.text(), scaled(step)?);
        let steps = (to - from) / step;
        if steps >= MOST as i128 {
            return Err(too_many(rule, steps + 1));
        }
        let at = |place: i128| Quantity::new(dimension, from + place * step, places);
        if (to - from) % step != 0 {
            let message = format!(
                "steps of {written} from {} do not end at {}",
                self.from.text(),
                self.to.text()
            );
            return Err(Problem::new(rule.place, message).help(format!(
                "both ends are included: write to = {} or to = {}",
                quoted(at(steps)),
                quoted(at(steps + 1))
            )));
        }
        Ok((0..=steps).map(at).collect())
    }

    pub fn by_count(
        &self,
        rule: &Node,
        spread: fn(&Ends, u32) -> Option<Vec<Quantity>>,
    ) -> Result<Vec<Quantity>, Problem> {
        let count = match rule.value {
            Value::Integer(count) => count,
            _ => {
                return Err(Problem::new(
                    rule.place,
                    format!("count cannot be {}", rule.describe()),
                )
                .help("expected a whole number, at least 2"));
            }
        };
        if count > MOST as i64 {
            return Err(too_many(rule, i128::from(count)));
        }
        match u32::try_from(count) {
            Ok(count @ 2..) => spread(self, count).ok_or_else(|| too_many_digits(rule)),
            _ => Err(
                Problem::new(rule.place, format!("count must be at least 2, got {count}"))
                    .help("both ends are included; a single value is written as a list"),
            ),
        }
    }

    /// Equal distances: exact where few digits are enough, and rounded to [`DIGITS`] of the distance elsewhere.
    pub fn evenly(&self, count: u32) -> Option<Vec<Quantity>> {
        let places = self.from.places.max(self.to.places);
        let (from, to) = (self.from.scaled(places)?, self.to.scaled(places)?);
        let steps = i128::from(count - 1);
        let has_parts = self.has_parts();
        let most_extra = if has_parts { MOST_EXTRA } else { 0 };
        let exact = (0..=most_extra).find(|&extra| (to - from) * 10i128.pow(extra) % steps == 0);
        // The distance has its first digit at this power of ten, of what the amounts count.
        let millionths = (to - from).abs().checked_mul(1_000_000)? / steps;
        let first = millionths.max(1).ilog10() as i32 - 6;
        let last = first - (DIGITS as i32 - 1);
        let (extra, quantum) = match exact {
            Some(extra) => (extra, 1),
            None if last < 0 && has_parts => (last.unsigned_abs(), 1),
            None if last <= 0 || self.whole => (0, 1),
            None => (0, 10i128.pow(last.unsigned_abs())),
        };
        let power = 10i128.pow(extra);
        let at = |place: i128| {
            let amount = match place {
                0 => from * power,
                _ if place == steps => to * power,
                _ => {
                    let beyond = (to - from).checked_mul(power * place)?;
                    let exact = from.checked_mul(power * steps)?.checked_add(beyond)?;
                    rounded(exact, steps * quantum)? * quantum
                }
            };
            Some(Quantity::new(self.from.dimension, amount, places + extra))
        };
        (0..=steps).map(at).collect()
    }

    /// Equal ratios, rounded to [`DIGITS`] of the values, or more where they are close to each other.
    pub fn evenly_in_logarithms(&self, count: u32) -> Option<Vec<Quantity>> {
        let (from, ratio) = (self.from, self.to.base() / self.from.base());
        let at = |place: u32| {
            let power = f64::from(place) / f64::from(count - 1);
            amount_of(from) * libm::pow(ratio, power)
        };
        let mut values = vec![from];
        for place in 1..count - 1 {
            values.push(self.nearest(at(place), at(place) - at(place - 1))?);
        }
        values.push(self.to);
        Some(values)
    }

    /// From value to value by a factor, as far as `to`; rounded where that has many digits.
    pub fn by_factor(&self, rule: &Node) -> Result<Vec<Quantity>, Problem> {
        let factor = Quantity::read(rule)
            .filter(|factor| factor.dimension == Dimension::Number)
            .ok_or_else(|| {
                Problem::new(rule.place, format!("factor cannot be {}", rule.describe()))
                    .help("expected a number such as 2: each value is the one before times it")
            })?;
        let by = factor.base();
        if by <= 0.0 || by == 1.0 || (by > 1.0) != self.rises() {
            let message = format!(
                "a factor of {} does not lead {}",
                factor.text(),
                self.words()
            );
            let help = if self.rises() {
                "give a factor above 1, for example 2"
            } else {
                "give a factor between 0 and 1, for example 0.5"
            };
            return Err(Problem::new(rule.place, message).help(help));
        }
        let end = amount_of(self.to);
        let beyond = |value: f64| {
            let over = if by > 1.0 { value / end } else { end / value };
            over > 1.0 + 1e-9
        };
        let mut exact = Some(self.from);
        let mut before = amount_of(self.from);
        let mut values = vec![self.from];
        loop {
            let value = before * by;
            exact = exact.and_then(|exact| product(exact, factor));
            if beyond(value) {
                break;
            }
            if values.len() >= MOST {
                return Err(Problem::new(
                    rule.place,
                    format!("the range has more than {MOST} values"),
                )
                .help("give a factor that is farther from 1"));
            }
            let short = exact.filter(|exact| {
                let digits = exact.amount.unsigned_abs().max(1).ilog10() + 1;
                exact.places == 0 || (self.has_parts() && digits <= MOST_DIGITS)
            });
            let next = match short {
                Some(exact) => exact,
                None => self
                    .nearest(value, value - before)
                    .ok_or_else(|| too_many_digits(rule))?,
            };
            values.push(next);
            before = value;
        }
        if values.len() < 2 {
            let message = format!(
                "a factor of {} leads from {} beyond {}",
                factor.text(),
                self.from.text(),
                self.to.text()
            );
            return Err(Problem::new(rule.place, message).help("give one that is nearer to 1"));
        }
        Ok(values)
    }

    /// The value with [`DIGITS`] digits. If this rounding would move it by more than an eightieth of its distance to the value
    /// before, that distance has [`DIGITS`] digits instead; `amount` counts what amounts without places do.
    fn nearest(&self, amount: f64, distance: f64) -> Option<Quantity> {
        let first = |value: f64| libm::floor(libm::log10(libm::fabs(value))) as i32;
        let few = first(amount) - (DIGITS as i32 - 1);
        let is_near = libm::pow(10.0, f64::from(few)) <= libm::fabs(distance) / 40.0;
        let last = if is_near {
            few
        } else {
            first(distance) - (DIGITS as i32 - 1)
        };
        let has_parts = self.has_parts();
        let quantity = |amount: f64, places: u32| {
            let whole = libm::round(amount);
            (whole.abs() < 1e30).then(|| Quantity::new(self.from.dimension, whole as i128, places))
        };
        match last {
            ..0 if has_parts && last >= -18 => {
                let places = last.unsigned_abs();
                let power = 10i128.pow(places) as f64;
                quantity(amount * power, places)
            }
            ..0 if has_parts => None,
            ..=0 => quantity(amount, 0),
            _ if self.whole => quantity(amount, 0),
            _ => {
                let quantum = 10i128.checked_pow(last.unsigned_abs())?;
                let many = quantity(amount / quantum as f64, 0)?;
                let amount = many.amount.checked_mul(quantum)?;
                Some(Quantity { amount, ..many })
            }
        }
    }
}

/// What the amount counts, its places applied.
fn amount_of(quantity: Quantity) -> f64 {
    match quantity.dimension {
        Dimension::Number => quantity.base(),
        _ => quantity.amount as f64,
    }
}

/// The exact product, as long as its digits fit.
fn product(value: Quantity, factor: Quantity) -> Option<Quantity> {
    let amount = value.amount.checked_mul(factor.amount)?;
    let found = Quantity::new(value.dimension, amount, value.places + factor.places);
    (found.places <= 18).then_some(found)
}

/// The nearest whole number to a fraction, halves away from zero.
fn rounded(amount: i128, divisor: i128) -> Option<i128> {
    let half = divisor / 2 * amount.signum();
    Some(amount.checked_add(half)? / divisor)
}

/// A value as a scenario writes it.
fn quoted(quantity: Quantity) -> String {
    match quantity.dimension {
        Dimension::Number => quantity.text(),
        _ => format!("\"{}\"", quantity.text()),
    }
}

fn no_quantity(name: &str, node: &Node) -> Problem {
    Problem::new(node.place, format!("{name} cannot be {}", node.describe()))
        .help("expected a number, or a time, a rate or a size with its unit, for example \"10 us\"")
}

fn too_many(rule: &Node, count: i128) -> Problem {
    Problem::new(rule.place, format!("the range has {count} values"))
        .help(format!("a scenario has at most {MOST} variants"))
}

fn too_many_digits(rule: &Node) -> Problem {
    Problem::new(rule.place, "the values of this range have too many digits")
        .help("give rounder ends, or a list")
}
