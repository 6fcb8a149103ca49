//! The parameters that traces are played with.

use pathweave_control::{Entry, ParameterKind, Parameters, Value};
use pathweave_random::Stream;

/// What only one value of has a counterpart in the kernel.
const FIXED: &[(&str, &str, &str)] = &[("fcc", "step", "fixed")];

/// FCC halves the window at beta = 1, which an average only reaches with a weight of 1, but for rounding: with a weight
/// above a half floating point reaches it after some rounds, and fixed point does not.
const FCC_LARGEST_FRACTION: f64 = 0.5;

/// The controller's defaults, but for what is fixed in the kernel.
pub fn defaults(entry: &Entry) -> Parameters {
    checked(entry, fixed(entry))
}

/// The defaults, and those with each other `variant` that the controller has.
pub fn variants(entry: &Entry) -> Vec<Parameters> {
    let mut variants = vec![defaults(entry)];
    let variant = entry.parameters.iter().find(|p| p.name == "variant");
    if let Some(ParameterKind::Choice(choices)) = variant.map(|p| &p.kind) {
        for choice in &choices[1..] {
            let mut given = fixed(entry);
            given.push(("variant".to_string(), Value::Text((*choice).to_string())));
            variants.push(checked(entry, given));
        }
    }
    variants
}

/// Any values, and a minimum window in packets.
pub fn any(entry: &Entry, seed: u64) -> (Parameters, u32) {
    let mut random = Stream::new(seed, "settings", 0);
    let mut given = fixed(entry);
    for parameter in entry.parameters {
        if given.iter().all(|(name, _)| name != parameter.name) {
            let mut value = value(&parameter.kind, &mut random);
            if let ("fcc", "eta", Value::Number(eta)) = (entry.name, parameter.name, &mut value)
                && *eta < 1.0
            {
                *eta *= FCC_LARGEST_FRACTION;
            }
            given.push((parameter.name.to_string(), value));
        }
    }
    (checked(entry, given), random.between(1, 4) as u32)
}

/// The defaults with one parameter changed, for each one that is not fixed.
pub fn mutants(entry: &Entry) -> Vec<(&'static str, Parameters)> {
    let fixed = fixed(entry);
    let is_free = |name: &str| fixed.iter().all(|(other, _)| other != name);
    let free = entry.parameters.iter().filter(|p| is_free(p.name));
    free.map(|parameter| {
        let mut given = fixed.clone();
        given.push((parameter.name.to_string(), other(&parameter.kind)));
        (parameter.name, checked(entry, given))
    })
    .collect()
}

/// Another value than the default, not far from it.
fn other(kind: &ParameterKind) -> Value {
    match *kind {
        ParameterKind::Number {
            default,
            minimum,
            maximum,
            integer,
        } => {
            let step = if integer { 1.0 } else { 0.2 * default.max(0.1) };
            let above = default + step;
            Value::Number(if above <= maximum {
                above
            } else {
                (default - step).max(minimum)
            })
        }
        ParameterKind::PerSubflow {
            default, maximum, ..
        } => Value::Number(f64::midpoint(default, maximum)),
        ParameterKind::Choice(choices) => Value::Text(choices[1].to_string()),
        ParameterKind::ChoiceOrNumber { choices, .. }
        | ParameterKind::ChoiceOrPerSubflow { choices, .. }
            if choices.len() > 1 =>
        {
            Value::Text(choices[1].to_string())
        }
        ParameterKind::ChoiceOrNumber {
            minimum, maximum, ..
        }
        | ParameterKind::ChoiceOrPerSubflow {
            minimum, maximum, ..
        } => Value::Number((minimum * maximum).sqrt()),
    }
}

fn fixed(entry: &Entry) -> Vec<(String, Value)> {
    FIXED
        .iter()
        .filter(|(controller, ..)| *controller == entry.name)
        .map(|(_, name, choice)| (name.to_string(), Value::Text(choice.to_string())))
        .collect()
}

fn checked(entry: &Entry, given: Vec<(String, Value)>) -> Parameters {
    entry.parameters(&given).expect("values within the ranges")
}

fn value(kind: &ParameterKind, random: &mut Stream) -> Value {
    match *kind {
        ParameterKind::Number {
            minimum,
            maximum,
            integer,
            ..
        } => {
            let number = within(minimum, maximum, random);
            Value::Number(if integer { number.round() } else { number })
        }
        ParameterKind::Choice(choices) => choice(choices, random),
        ParameterKind::PerSubflow {
            minimum, maximum, ..
        } => match random.below(2) {
            0 => Value::Number(within(minimum, maximum, random)),
            _ => Value::Numbers((0..8).map(|_| within(minimum, maximum, random)).collect()),
        },
        ParameterKind::ChoiceOrNumber {
            choices,
            minimum,
            maximum,
        } => match random.below(2) {
            0 => Value::Number(within(minimum, maximum, random)),
            _ => choice(choices, random),
        },
        ParameterKind::ChoiceOrPerSubflow {
            choices,
            minimum,
            maximum,
        } => match random.below(3) {
            0 => Value::Number(within(minimum, maximum, random)),
            1 => Value::Numbers((0..8).map(|_| within(minimum, maximum, random)).collect()),
            _ => choice(choices, random),
        },
    }
}

fn choice(choices: &[&str], random: &mut Stream) -> Value {
    Value::Text(choices[random.below(choices.len() as u64) as usize].to_string())
}

/// Large ranges are covered by orders of magnitude.
fn within(minimum: f64, maximum: f64, random: &mut Stream) -> f64 {
    let share = random.uniform();
    match random.below(10) {
        0 => minimum,
        1 => maximum,
        _ if minimum > 0.0 => minimum * libm::pow(maximum / minimum, share),
        _ => minimum + (maximum - minimum) * share,
    }
}
