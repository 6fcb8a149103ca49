//! What a scenario can set of a controller: parameters, what they accept, and checked values.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{self, Write};

/// A parameter's value as a scenario gives it.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// One of a parameter's named choices.
    Text(String),
    /// A number for each subflow.
    Numbers(Vec<f64>),
}

/// What a parameter accepts.
///
/// `Words` is how a list of words is kept: by the program itself for the controllers of the registry, by itself for those
/// that are loaded while it runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterKind<Words = &'static [&'static str]> {
    /// A number within [minimum, maximum].
    Number {
        /// Value when none is given.
        default: f64,
        /// Smallest accepted value.
        minimum: f64,
        /// Largest accepted value.
        maximum: f64,
        /// Whether fractions are refused.
        integer: bool,
    },
    /// One of a few words; the first is the default.
    Choice(Words),
    /// A number within [minimum, maximum], or a list of them with one for each subflow.
    PerSubflow {
        /// Value for all subflows when none is given.
        default: f64,
        /// Smallest accepted value.
        minimum: f64,
        /// Largest accepted value.
        maximum: f64,
    },
    /// One of a few words, or a number within [minimum, maximum]; the first word is the default.
    ChoiceOrNumber {
        /// The words.
        choices: Words,
        /// Smallest accepted number.
        minimum: f64,
        /// Largest accepted number.
        maximum: f64,
    },
    /// As `ChoiceOrNumber`, or a list of numbers with one for each subflow.
    ChoiceOrPerSubflow {
        /// The words.
        choices: Words,
        /// Smallest accepted number.
        minimum: f64,
        /// Largest accepted number.
        maximum: f64,
    },
}

/// A parameter of a controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter<Text = &'static str, Words = &'static [&'static str]> {
    /// Key in the scenario.
    pub name: Text,
    /// What it accepts and its default.
    pub kind: ParameterKind<Words>,
    /// What it does, with its unit, in one sentence.
    pub help: Text,
}

/// A parameter of a controller that was loaded while the program runs.
pub type LoadedParameter = Parameter<String, Vec<String>>;

/// A list of words.
pub trait WordList {
    /// The words, in order.
    fn words(&self) -> impl Iterator<Item = &str>;
}

impl WordList for &'static [&'static str] {
    fn words(&self) -> impl Iterator<Item = &str> {
        self.iter().copied()
    }
}

impl WordList for Vec<String> {
    fn words(&self) -> impl Iterator<Item = &str> {
        self.iter().map(String::as_str)
    }
}

/// Values for every parameter of one controller, checked against their ranges.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    values: Vec<(Cow<'static, str>, Value)>,
}

/// Why a parameter was refused.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterError {
    /// The parameter's name as it was given.
    pub name: String,
    /// What was wrong and what would be accepted.
    pub message: String,
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for ParameterError {}

impl Parameters {
    /// The value of a numeric parameter.
    ///
    /// # Panics
    /// When the controller's entry has no numeric parameter of this name: a mistake in its file.
    pub fn number(&self, name: &str) -> f64 {
        match self.value(name) {
            Some(Value::Number(number)) => *number,
            _ => panic!("no numeric parameter named {name}"),
        }
    }

    /// The values of a parameter that subflows may have each for itself: one for all, or one each.
    ///
    /// # Panics
    /// When the controller's entry has no such parameter of this name: a mistake in its file.
    pub fn per_subflow(&self, name: &str) -> &[f64] {
        match self.value(name) {
            Some(Value::Number(number)) => core::slice::from_ref(number),
            Some(Value::Numbers(numbers)) => numbers,
            _ => panic!("no parameter named {name} that subflows have each for itself"),
        }
    }

    /// A parameter's value, if there is a parameter of this name.
    pub fn value(&self, name: &str) -> Option<&Value> {
        let mut values = self.values.iter();
        values.find(|(n, _)| *n == name).map(|(_, value)| value)
    }

    /// The value of a choice.
    ///
    /// # Panics
    /// When the controller's entry has no choice of this name: a mistake in its file.
    pub fn choice(&self, name: &str) -> &str {
        match self.value(name) {
            Some(Value::Text(text)) => text,
            _ => panic!("no choice named {name}"),
        }
    }

    /// All values, in the entry's order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.values.iter().map(|(name, value)| (&**name, value))
    }

    /// The default of each of these parameters.
    pub(crate) fn defaults<Text, Words>(known: &[Parameter<Text, Words>]) -> Parameters
    where
        Text: Clone + Into<Cow<'static, str>>,
        Words: WordList,
    {
        let values = known.iter().map(|parameter| {
            (
                parameter.name.clone().into(),
                parameter.kind.default_value(),
            )
        });
        Parameters {
            values: values.collect(),
        }
    }

    /// Checks what is given for the parameters of a controller, and fills in the defaults.
    pub(crate) fn checked<Text, Words>(
        controller: &str,
        known: &[Parameter<Text, Words>],
        given: &[(String, Value)],
    ) -> Result<Parameters, ParameterError>
    where
        Text: Clone + Into<Cow<'static, str>> + AsRef<str>,
        Words: WordList,
    {
        let mut parameters = Parameters::defaults(known);
        for (i, (name, value)) in given.iter().enumerate() {
            let refuse = |message: String| ParameterError {
                name: name.clone(),
                message,
            };
            let place = known.iter().position(|known| known.name.as_ref() == name);
            let Some(place) = place else {
                let names = known.iter().map(|known| known.name.as_ref());
                return Err(refuse(unknown(controller, name, names)));
            };
            if given[..i].iter().any(|(earlier, _)| earlier == name) {
                return Err(refuse(format!("\"{name}\" is given twice")));
            }
            let kind = &known[place].kind;
            if !kind.accepts(value) {
                return Err(refuse(format!(
                    "{controller} cannot have {name} = {value}: {name} takes {kind}"
                )));
            }
            parameters.values[place].1 = value.clone();
        }
        Ok(parameters)
    }
}

fn unknown<'a>(controller: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let mut message = format!("{controller} has no parameter \"{name}\"; it has ");
    let mut known = known.peekable();
    let written = if known.peek().is_none() {
        message.write_str("none")
    } else {
        write_list(&mut message, known)
    };
    written.expect("writing to a String does not fail");
    message
}

impl<Words: WordList> ParameterKind<Words> {
    /// The value when none is given.
    pub fn default_value(&self) -> Value {
        match self {
            ParameterKind::Number { default, .. } | ParameterKind::PerSubflow { default, .. } => {
                Value::Number(*default)
            }
            ParameterKind::Choice(choices)
            | ParameterKind::ChoiceOrNumber { choices, .. }
            | ParameterKind::ChoiceOrPerSubflow { choices, .. } => {
                let first = choices.words().next();
                Value::Text(first.expect("a choice has a word").to_string())
            }
        }
    }

    /// Whether it takes the value.
    pub fn accepts(&self, value: &Value) -> bool {
        match (self, value) {
            (
                ParameterKind::Number {
                    minimum,
                    maximum,
                    integer,
                    ..
                },
                Value::Number(number),
            ) => {
                // NaN is in no range.
                (minimum..=maximum).contains(&number)
                    && (!integer || libm::trunc(*number) == *number)
            }
            (
                ParameterKind::Choice(choices)
                | ParameterKind::ChoiceOrNumber { choices, .. }
                | ParameterKind::ChoiceOrPerSubflow { choices, .. },
                Value::Text(text),
            ) => choices.words().any(|word| word == text),
            (
                ParameterKind::PerSubflow {
                    minimum, maximum, ..
                }
                | ParameterKind::ChoiceOrNumber {
                    minimum, maximum, ..
                }
                | ParameterKind::ChoiceOrPerSubflow {
                    minimum, maximum, ..
                },
                Value::Number(number),
            ) => (minimum..=maximum).contains(&number),
            (
                ParameterKind::PerSubflow {
                    minimum, maximum, ..
                }
                | ParameterKind::ChoiceOrPerSubflow {
                    minimum, maximum, ..
                },
                Value::Numbers(numbers),
            ) => {
                let mut each = numbers.iter();
                !numbers.is_empty() && each.all(|number| (minimum..=maximum).contains(&number))
            }
            _ => false,
        }
    }
}

impl<Words: WordList> fmt::Display for ParameterKind<Words> {
    /// What it takes, to follow "takes": `an integer from 2 to 1024`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParameterKind::Number {
                minimum,
                maximum,
                integer,
                ..
            } => {
                let kind = if *integer { "an integer" } else { "a number" };
                write!(f, "{kind} from {minimum} to {maximum}")
            }
            ParameterKind::Choice(choices) => {
                f.write_str("one of ")?;
                write_list(f, choices.words())
            }
            ParameterKind::PerSubflow {
                minimum, maximum, ..
            } => write!(
                f,
                "a number from {minimum} to {maximum}, or a list with one for each subflow"
            ),
            ParameterKind::ChoiceOrNumber {
                choices,
                minimum,
                maximum,
            } => {
                write_list(f, choices.words())?;
                write!(f, " or a number from {minimum} to {maximum}")
            }
            ParameterKind::ChoiceOrPerSubflow {
                choices,
                minimum,
                maximum,
            } => {
                write_list(f, choices.words())?;
                write!(
                    f,
                    ", a number from {minimum} to {maximum}, or a list with one for each subflow"
                )
            }
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => write!(f, "{number}"),
            Value::Text(text) => write!(f, "\"{text}\""),
            Value::Numbers(numbers) => {
                f.write_char('[')?;
                for (i, number) in numbers.iter().enumerate() {
                    let comma = if i == 0 { "" } else { ", " };
                    write!(f, "{comma}{number}")?;
                }
                f.write_char(']')
            }
        }
    }
}

fn write_list<'a>(f: &mut impl fmt::Write, names: impl Iterator<Item = &'a str>) -> fmt::Result {
    for (i, name) in names.enumerate() {
        let comma = if i == 0 { "" } else { ", " };
        write!(f, "{comma}\"{name}\"")?;
    }
    Ok(())
}
