//! The list of controllers: names, parameters, defaults, ranges, sources.

use crate::{Controller, Scheme};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{self, Write};
use pathweave_units::Bytes;

/// What a controller does with congestion marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// Its packets are not ECN-capable.
    Off,
    /// Its packets are ECN-capable and the receiver echoes the exact number of marks, at most
    /// `limit` in one acknowledgement; what exceeds it waits for the next.
    Count {
        /// Marks that one acknowledgement can echo.
        limit: u8,
    },
}

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
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterKind {
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
    Choice(&'static [&'static str]),
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
        choices: &'static [&'static str],
        /// Smallest accepted number.
        minimum: f64,
        /// Largest accepted number.
        maximum: f64,
    },
}

/// A parameter of a controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Key in the scenario.
    pub name: &'static str,
    /// What it accepts and its default.
    pub kind: ParameterKind,
    /// What it does, with its unit, in one sentence.
    pub help: &'static str,
}

/// A controller that scenarios can name.
pub struct Entry {
    /// Key in the scenario.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Paper section or RFC.
    pub source: &'static str,
    /// The controller's own file: the documentation at its top is what [`Entry::explanation`] gives.
    pub file: &'static str,
    /// Whether it takes the subflows of a connection together: it is made for several, and what it does on one may
    /// depend on the others. Nearly all such controllers couple windows. EWTCP and WUTCP do not: they count the
    /// subflows, or have a weight for each. Without it each subflow runs by itself, as if it were the only one.
    pub coupled: bool,
    /// For a connection that begins by scattering the packets of its first subflow over all paths:
    /// after how many bytes, given its parameters, the other subflows open.
    pub scatter: Option<fn(&Parameters) -> Bytes>,
    /// The scheme that switches take part in for it, if any.
    pub scheme: Option<Scheme>,
    /// What it does with marks, given its parameters.
    pub ecn: fn(&Parameters) -> Ecn,
    /// What can be set.
    pub parameters: &'static [Parameter],
    /// Builds one for a new connection, from checked parameters.
    pub build: fn(&Parameters) -> Box<dyn Controller>,
}

/// Values for every parameter of one controller, checked against their ranges.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    values: Vec<(&'static str, Value)>,
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
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.values.iter().map(|(name, value)| (*name, value))
    }
}

impl ParameterKind {
    /// The value when none is given.
    pub fn default_value(&self) -> Value {
        match *self {
            ParameterKind::Number { default, .. } | ParameterKind::PerSubflow { default, .. } => {
                Value::Number(default)
            }
            ParameterKind::Choice(choices) | ParameterKind::ChoiceOrNumber { choices, .. } => {
                Value::Text(choices[0].to_string())
            }
        }
    }

    /// Whether it takes the value.
    pub fn accepts(&self, value: &Value) -> bool {
        match (*self, value) {
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
                (minimum..=maximum).contains(number)
                    && (!integer || libm::trunc(*number) == *number)
            }
            (
                ParameterKind::Choice(choices) | ParameterKind::ChoiceOrNumber { choices, .. },
                Value::Text(text),
            ) => choices.contains(&text.as_str()),
            (
                ParameterKind::PerSubflow {
                    minimum, maximum, ..
                }
                | ParameterKind::ChoiceOrNumber {
                    minimum, maximum, ..
                },
                Value::Number(number),
            ) => (minimum..=maximum).contains(number),
            (
                ParameterKind::PerSubflow {
                    minimum, maximum, ..
                },
                Value::Numbers(numbers),
            ) => {
                let mut each = numbers.iter();
                !numbers.is_empty() && each.all(|number| (minimum..=maximum).contains(number))
            }
            _ => false,
        }
    }
}

impl fmt::Display for ParameterKind {
    /// What it takes, to follow "takes": `an integer from 2 to 1024`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            ParameterKind::Number {
                minimum,
                maximum,
                integer,
                ..
            } => {
                let kind = if integer { "an integer" } else { "a number" };
                write!(f, "{kind} from {minimum} to {maximum}")
            }
            ParameterKind::Choice(choices) => {
                f.write_str("one of ")?;
                write_list(f, choices.iter().copied())
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
                write_list(f, choices.iter().copied())?;
                write!(f, " or a number from {minimum} to {maximum}")
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

impl Entry {
    /// Checks the given values and fills in the defaults.
    pub fn parameters(&self, given: &[(String, Value)]) -> Result<Parameters, ParameterError> {
        let mut parameters = self.defaults();
        for (i, (name, value)) in given.iter().enumerate() {
            let refuse = |message: String| ParameterError {
                name: name.clone(),
                message,
            };
            let Some(position) = self.parameters.iter().position(|p| p.name == name) else {
                return Err(refuse(self.unknown(name)));
            };
            if given[..i].iter().any(|(earlier, _)| earlier == name) {
                return Err(refuse(format!("\"{name}\" is given twice")));
            }
            let kind = self.parameters[position].kind;
            if !kind.accepts(value) {
                return Err(refuse(format!(
                    "{} cannot have {name} = {value}: {name} takes {kind}",
                    self.name
                )));
            }
            parameters.values[position].1 = value.clone();
        }
        Ok(parameters)
    }

    /// Formulas, rulings and deviations: the documentation at the top of the controller's file.
    pub fn explanation(&self) -> String {
        let lines = self.file.lines().map_while(|line| line.strip_prefix("//!"));
        let mut text = String::new();
        for line in lines {
            text.push_str(line.strip_prefix(' ').unwrap_or(line));
            text.push('\n');
        }
        text
    }

    /// The default of every parameter.
    pub fn defaults(&self) -> Parameters {
        let values = self.parameters.iter();
        Parameters {
            values: values.map(|p| (p.name, p.kind.default_value())).collect(),
        }
    }

    fn unknown(&self, name: &str) -> String {
        let mut message = format!("{} has no parameter \"{name}\"; it has ", self.name);
        let written = if self.parameters.is_empty() {
            message.write_str("none")
        } else {
            write_list(&mut message, self.parameters.iter().map(|p| p.name))
        };
        written.expect("writing to a String does not fail");
        message
    }
}

/// Every controller, in the order in which lists show them.
pub fn registry() -> &'static [Entry] {
    static REGISTRY: &[Entry] = &[
        crate::reno::ENTRY,
        crate::cubic::ENTRY,
        crate::dctcp::ENTRY,
        crate::bos::ENTRY,
        crate::uncoupled::ENTRY,
        crate::xmp::ENTRY,
        crate::lia::ENTRY,
        crate::olia::ENTRY,
        crate::balia::ENTRY,
        crate::wvegas::ENTRY,
        crate::ewtcp::ENTRY,
        crate::semicoupled::ENTRY,
        crate::eutcp::ENTRY,
        crate::wutcp::ENTRY,
        crate::dcm::ENTRY,
        crate::amp::ENTRY,
        crate::fcc::ENTRY,
        crate::mmptcp::ENTRY,
        crate::rcp::ENTRY,
        crate::xcp::ENTRY,
        crate::vcp::ENTRY,
        crate::mlcp::ENTRY,
        crate::decn::ENTRY,
    ];
    REGISTRY
}

/// The controller of this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    registry().iter().find(|entry| entry.name == name)
}

#[cfg(test)]
mod tests {
    use super::{Entry, ParameterError, ParameterKind, Value, find, registry};
    use crate::connection::{number, text};
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    fn entry(name: &str) -> &'static Entry {
        find(name).expect("the controller is in the registry")
    }

    fn refused(controller: &str, given: &[(String, Value)]) -> ParameterError {
        entry(controller)
            .parameters(given)
            .expect_err("the parameters are refused")
    }

    #[test]
    fn names_are_unique_and_found() {
        for (i, entry) in registry().iter().enumerate() {
            assert_eq!(find(entry.name).unwrap().name, entry.name);
            assert!(registry()[..i].iter().all(|other| other.name != entry.name));
            assert!(!entry.summary.is_empty() && !entry.source.is_empty());
        }
        assert!(find("renoo").is_none());
    }

    #[test]
    fn every_default_is_accepted() {
        for entry in registry() {
            let defaults = entry.defaults();
            assert_eq!(defaults.iter().count(), entry.parameters.len());
            for (parameter, (name, value)) in entry.parameters.iter().zip(defaults.iter()) {
                assert_eq!(parameter.name, name);
                assert!(parameter.kind.accepts(value), "{} of {}", name, entry.name);
                assert!(!parameter.help.is_empty());
            }
            let given: Vec<_> = defaults
                .iter()
                .map(|(name, value)| (name.to_string(), value.clone()))
                .collect();
            assert_eq!(entry.parameters(&given).unwrap(), defaults);
            assert_eq!(entry.parameters(&[]).unwrap(), defaults);
        }
    }

    #[test]
    fn given_values_replace_defaults() {
        let parameters = entry("xmp")
            .parameters(&[text("variant", "kernel")])
            .unwrap();
        assert_eq!(parameters.choice("variant"), "kernel");
        assert_eq!(parameters.number("beta"), 4.0);
        let parameters = entry("xmp").parameters(&[number("beta", 6.0)]).unwrap();
        assert_eq!(parameters.choice("variant"), "paper");
        assert_eq!(parameters.number("beta"), 6.0);
    }

    #[test]
    fn unknown_names_are_refused_with_the_known_ones() {
        let error = refused("xmp", &[number("betta", 4.0)]);
        assert_eq!(error.name, "betta");
        let message = r#"xmp has no parameter "betta"; it has "beta", "variant""#;
        assert_eq!(error.to_string(), message);
        let error = refused("reno", &[number("beta", 4.0)]);
        assert_eq!(
            error.message,
            r#"reno has no parameter "beta"; it has none"#
        );
    }

    #[test]
    fn values_out_of_range_are_refused_with_the_range() {
        let error = refused("xmp", &[text("variant", "paper"), number("beta", 1.0)]);
        assert_eq!(error.name, "beta");
        let message = "xmp cannot have beta = 1: beta takes an integer from 2 to 1024";
        assert_eq!(error.message, message);
        for wrong in [1025.0, 2.5, -4.0, f64::INFINITY, f64::NAN] {
            refused("xmp", &[number("beta", wrong)]);
        }
        let message = "dctcp cannot have g = 1.5: g takes a number from 0 to 1";
        assert_eq!(refused("dctcp", &[number("g", 1.5)]).message, message);
        for right in [0.0, 0.3, 1.0] {
            assert!(entry("dctcp").parameters(&[number("g", right)]).is_ok());
        }
    }

    #[test]
    fn values_of_the_wrong_kind_are_refused_with_the_kind() {
        let message = r#"xmp cannot have beta = "4": beta takes an integer from 2 to 1024"#;
        assert_eq!(refused("xmp", &[text("beta", "4")]).message, message);
        let message = r#"xmp cannot have variant = 1: variant takes one of "paper", "kernel""#;
        assert_eq!(refused("xmp", &[number("variant", 1.0)]).message, message);
        let message = r#"xmp cannot have variant = "code": variant takes one of "paper", "kernel""#;
        assert_eq!(refused("xmp", &[text("variant", "code")]).message, message);
    }

    #[test]
    fn lists_are_refused_as_they_are_written() {
        let message = "eutcp cannot have gamma = [1, 0.5, 1.1]: \
                       gamma takes a number from 1 to 1.9, or a list with one for each subflow";
        let list = Value::Numbers([1.0, 0.5, 1.1].into());
        let given = [("gamma".to_string(), list)];
        assert_eq!(refused("eutcp", &given).message, message);
        let empty = [("gamma".to_string(), Value::Numbers(Vec::new()))];
        refused("eutcp", &empty);
        refused("xmp", &[("beta".to_string(), Value::Numbers([4.0].into()))]);
        let message = "wutcp cannot have omega = 2: \
                       omega takes \"1/m\", \"1/m^2\", \"1/sqrt(m)\" or a number from 0.00001 to 1";
        assert_eq!(refused("wutcp", &[number("omega", 2.0)]).message, message);
    }

    #[test]
    fn the_explanation_is_the_head_of_the_file() {
        let entry = Entry {
            file: "//! Title\n//!\n//! - a line\n\n//! not this\nfn code() {}\n",
            ..*entry("reno")
        };
        assert_eq!(entry.explanation(), "Title\n\n- a line\n");
    }

    #[test]
    fn explanations_are_clean_text() {
        for entry in registry() {
            let explanation = entry.explanation();
            assert!(explanation.lines().count() > 3, "{}", entry.name);
            let escaped = explanation.lines().find(|line| line.contains('\\'));
            assert_eq!(escaped, None, "{}", entry.name);
        }
    }

    #[test]
    fn a_parameter_is_given_once() {
        let error = refused("xmp", &[number("beta", 4.0), number("beta", 4.0)]);
        assert_eq!(error.message, r#""beta" is given twice"#);
    }

    #[test]
    #[should_panic(expected = "no numeric parameter named variant")]
    fn asking_a_choice_for_its_number_is_a_mistake() {
        entry("xmp").defaults().number("variant");
    }

    #[test]
    #[should_panic(expected = "no choice named beta")]
    fn asking_a_number_for_its_choice_is_a_mistake() {
        entry("xmp").defaults().choice("beta");
    }

    #[test]
    fn the_first_choice_is_the_default() {
        let kind = ParameterKind::Choice(&["a", "b"]);
        assert_eq!(kind.default_value(), Value::Text("a".to_string()));
    }
}
