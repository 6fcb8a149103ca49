//! TextList into trees: TOML files, values of the command line, resolved scenarios.

use crate::diagnostics::Problem;
use crate::tree::{Key, Node, Place, SourceId, Table, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

/// Syntax errors that are shown; later ones are mostly consequences of the first.
const SHOWN: usize = 3;

/// Reads a TOML document.
pub(crate) fn document(text: &str, source: SourceId) -> Result<Node, Vec<Problem>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        return Err(errors
            .iter()
            .take(SHOWN)
            .map(|error| problem(error, source))
            .collect());
    }
    let reading = Reading { text, source };
    let root = reading
        .table(table.get_ref(), false)
        .map_err(|problem| vec![problem])?;
    let place = Place {
        source,
        start: 0,
        end: 0,
    };
    Ok(Node {
        place,
        value: Value::Table(root),
    })
}

/// Reads one value of the command line that stands from `start` on: TOML, or else a bare text.
pub(crate) fn value(text: &str, start: usize, source: SourceId) -> Node {
    let place = Place {
        source,
        start,
        end: start + text.len(),
    };
    let bare = || Node {
        place,
        value: Value::Text(text.trim().to_owned()),
    };
    // Line breaks or comments would make a second key of what is one value.
    let Ok(parsed) = DeValue::parse(text.trim()) else {
        return bare();
    };
    let reading = Reading { text, source };
    match reading.node(&parsed) {
        Ok(mut node) => {
            put_at(&mut node, place);
            node
        }
        Err(_) => bare(),
    }
}

/// Gives a value and all in it one place.
fn put_at(node: &mut Node, place: Place) {
    node.place = place;
    match &mut node.value {
        Value::List(list) => list.iter_mut().for_each(|node| put_at(node, place)),
        Value::Table(table) => {
            for (key, node) in &mut table.entries {
                key.place = place;
                put_at(node, place);
            }
        }
        _ => {}
    }
}

/// Turns a resolved scenario back into a tree; nothing in it has a place.
pub(crate) fn json(value: &serde_json::Value) -> Node {
    use serde_json::Value as Json;
    let value = match value {
        Json::Null => Value::Text(String::new()), // stands in no resolved scenario
        Json::Bool(truth) => Value::Truth(*truth),
        Json::Number(number) => match number.as_i64() {
            Some(integer) => Value::Integer(integer),
            None => Value::Number(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(list) => Value::List(list.iter().map(json).collect()),
        Json::Object(entries) => {
            let entry = |(name, value): (&String, &Json)| {
                let key = Key {
                    name: name.clone(),
                    place: Place::default(),
                };
                (key, json(value))
            };
            Value::Table(Table {
                entries: entries.iter().map(entry).collect(),
                dotted: false,
            })
        }
    };
    Node {
        place: Place::default(),
        value,
    }
}

struct Reading<'a> {
    text: &'a str,
    source: SourceId,
}

impl Reading<'_> {
    fn place(&self, span: std::ops::Range<usize>) -> Place {
        Place {
            source: self.source,
            start: span.start,
            end: span.end,
        }
    }

    fn table(&self, table: &DeTable<'_>, dotted: bool) -> Result<Table, Problem> {
        let mut entries = Vec::with_capacity(table.len());
        for (name, value) in table.iter() {
            let key = Key {
                name: name.get_ref().to_string(),
                place: self.place(name.span()),
            };
            entries.push((key, self.node(value)?));
        }
        // The parser sorts keys; the order of the text says how variants are shown.
        entries.sort_by_key(|(key, _)| key.place);
        Ok(Table { entries, dotted })
    }

    fn node(&self, value: &Spanned<DeValue<'_>>) -> Result<Node, Problem> {
        let place = self.place(value.span());
        let value = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Boolean(truth) => Value::Truth(*truth),
            DeValue::Datetime(date) => Value::Date(date.to_string()),
            DeValue::Integer(integer) => {
                match i64::from_str_radix(integer.as_str(), integer.radix()) {
                    Ok(integer) => Value::Integer(integer),
                    Err(_) => {
                        return Err(Problem::new(place, "this whole number is too large")
                            .help("whole numbers go up to 9223372036854775807"));
                    }
                }
            }
            DeValue::Float(float) => match float.as_str().parse() {
                Ok(number) => Value::Number(number),
                Err(_) => return Err(Problem::new(place, "this number cannot be read")),
            },
            DeValue::Array(list) => Value::List(
                list.iter()
                    .map(|node| self.node(node))
                    .collect::<Result<_, _>>()?,
            ),
            DeValue::Table(table) => {
                // Tables that are written out begin with a bracket; those that keys with dots bring
                // about have the place of the key.
                let first = self.text.as_bytes().get(place.start);
                let written_out = matches!(first, Some(b'{' | b'['));
                Value::Table(self.table(table, !written_out)?)
            }
        };
        Ok(Node { place, value })
    }
}

fn problem(error: &Error, source: SourceId) -> Problem {
    let span = error.span().unwrap_or(0..0);
    let place = Place {
        source,
        start: span.start,
        end: span.end,
    };
    let message = error.message();
    if message.starts_with("string values must be quoted") {
        return Problem::new(place, "this text is not in quotes")
            .help("write texts, quantities with units included, in quotes: \"1 Gbps\"");
    }
    match message.split_once(", expected ") {
        Some((message, expected)) => {
            Problem::new(place, message).help(format!("expected {expected}"))
        }
        None => Problem::new(place, message),
    }
}
