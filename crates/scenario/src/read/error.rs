//! Why a value could not be read, in words for a person.

use crate::diagnostics::Problem;
use crate::suggest;
use crate::tree::Place;
use serde::de::{self, Expected, Unexpected};
use std::fmt;

/// Why a value could not be read.
#[derive(Clone, Debug)]
pub(crate) struct ReadError {
    what: What,
    help: Option<String>,
    place: Option<Place>,
    /// The key whose value it is.
    key: Option<String>,
    /// Whether it is an element of a list under that key.
    element: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    Message(String),
    /// A value, described, that cannot stand where it was found.
    Misplaced(String),
}

impl ReadError {
    pub fn new(what: What, help: Option<String>) -> ReadError {
        ReadError {
            what,
            help,
            place: None,
            key: None,
            element: false,
        }
    }

    pub fn misplaced(found: String, expected: &str) -> ReadError {
        ReadError::new(
            What::Misplaced(found),
            Some(format!("expected {}", plain(expected))),
        )
    }

    pub fn at(mut self, place: Place) -> ReadError {
        self.place.get_or_insert(place);
        self
    }

    pub fn under(mut self, key: &str) -> ReadError {
        self.key.get_or_insert_with(|| key.to_owned());
        self
    }

    pub fn in_list(mut self) -> ReadError {
        self.element |= self.key.is_none();
        self
    }

    fn message(&self) -> String {
        match (&self.what, &self.key) {
            (What::Message(message), _) => message.clone(),
            (What::Misplaced(found), Some(key)) if self.element => {
                format!("{key} cannot hold {found}")
            }
            (What::Misplaced(found), Some(key)) => format!("{key} cannot be {found}"),
            (What::Misplaced(found), None) => format!("{found} cannot stand here"),
        }
    }

    pub fn into_problem(self, fallback: Place) -> Problem {
        let problem = Problem::new(self.place.unwrap_or(fallback), self.message());
        match self.help {
            Some(help) => problem.help(help),
            None => problem,
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

impl std::error::Error for ReadError {}

impl de::Error for ReadError {
    fn custom<T: fmt::Display>(text: T) -> ReadError {
        let problem = Problem::with_remedy(Place::default(), &text.to_string());
        ReadError::new(What::Message(problem.message), problem.help)
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> ReadError {
        let found = match found {
            Unexpected::Str(text) => format!("\"{text}\""),
            Unexpected::Bool(truth) => truth.to_string(),
            Unexpected::Unsigned(number) => number.to_string(),
            Unexpected::Signed(number) => number.to_string(),
            Unexpected::Float(number) => number.to_string(),
            Unexpected::Map | Unexpected::StructVariant => "a table".to_owned(),
            Unexpected::Seq => "a list".to_owned(),
            other => other.to_string(),
        };
        ReadError::misplaced(found, &expected.to_string())
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> ReadError {
        ReadError::invalid_type(found, expected)
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> ReadError {
        ReadError::misplaced(format!("a list of {length}"), &expected.to_string())
    }

    fn unknown_variant(found: &str, expected: &'static [&'static str]) -> ReadError {
        let found_text = What::Misplaced(format!("\"{found}\""));
        ReadError::new(found_text, Some(suggest::accepted(found, expected)))
    }

    fn unknown_field(found: &str, expected: &'static [&'static str]) -> ReadError {
        let message = What::Message(format!("unknown key \"{found}\""));
        ReadError::new(message, Some(suggest::accepted(found, expected)))
    }

    fn missing_field(field: &'static str) -> ReadError {
        let message = What::Message(format!("\"{field}\" is missing"));
        ReadError::new(message, Some(format!("add a line {field} = ...")))
    }
}

/// What serde calls Rust types, in words for a person.
fn plain(expected: &str) -> String {
    match expected {
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "usize" => "a whole number from 0 on",
        "i64" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a string" | "string" => "a text in quotes",
        "a sequence" => "a list",
        "a map" => "a table",
        "a tuple of size 2" => "a list of 2 values",
        other if other.starts_with("struct ") => "a table",
        other => return other.to_owned(),
    }
    .to_owned()
}
