//! A sweep as the command line writes it: `key=10,20,40`, `key=0.1..0.9:0.1`, `key=10..160:x2`, or TOML.

use super::unfold;
use crate::diagnostics::Problem;
use crate::parse;
use crate::tree::{Key, Node, Place, Table, Value};

const FORMS: &str = "write key=10,20,40, key=0.1..0.9:0.1 for steps, key=10..160:x2 for a factor, or TOML: key={ from = 1, to = 100, count = 5, scale = \"log\" }";

/// The key, at its place, and its list or range.
pub(crate) fn written(text: &str, place: Place) -> Result<(Vec<String>, Place, Node), Problem> {
    let Some((key, spec)) = text.split_once('=') else {
        return Err(Problem::new(place, format!("\"{text}\" sweeps nothing")).help(FORMS));
    };
    let key_place = Place {
        end: key.len(),
        ..place
    };
    let path: Vec<String> = key
        .split('.')
        .map(|step| {
            step.trim_matches(|c: char| c.is_whitespace() || c == '"')
                .to_owned()
        })
        .collect();
    if let Some(problem) = unfold::check(&path, key_place) {
        return Err(problem);
    }
    let spec_place = Place {
        start: key.len() + 1,
        ..place
    };
    let trimmed = spec.trim();
    if trimmed.is_empty() {
        return Err(Problem::new(place, format!("\"{}\" has no values", key.trim())).help(FORMS));
    }
    let read = |text: &str| parse::value(text, spec_place.start, place.source);
    let node = if trimmed.starts_with(['[', '{']) {
        match read(trimmed) {
            Node {
                value: Value::Text(_),
                ..
            } => {
                let message = format!("{trimmed} cannot be read as a list or a table");
                return Err(Problem::new(spec_place, message).help(FORMS));
            }
            node => node,
        }
    } else if let Some((from, rest)) = trimmed.split_once("..") {
        let Some((to, by)) = rest.rsplit_once(':') else {
            let message = format!("the range {trimmed} has no step");
            return Err(Problem::new(spec_place, message).help(FORMS));
        };
        let (rule, by) = match by.trim().strip_prefix('x') {
            Some(factor) => ("factor", factor),
            None => ("step", by),
        };
        let entry = |name: &str, text: &str| {
            let name = name.to_owned();
            let place = spec_place;
            (Key { name, place }, read(text))
        };
        let entries = vec![entry("from", from), entry("to", to), entry(rule, by)];
        Node {
            place: spec_place,
            value: Value::Table(Table {
                entries,
                dotted: false,
            }),
        }
    } else {
        Node {
            place: spec_place,
            value: Value::List(trimmed.split(',').map(read).collect()),
        }
    };
    Ok((path, key_place, put(node, spec_place)))
}

/// The same with one place for all of it.
fn put(mut node: Node, place: Place) -> Node {
    node.place = place;
    match &mut node.value {
        Value::List(list) => list.iter_mut().for_each(|node| node.place = place),
        Value::Table(table) => table
            .entries
            .iter_mut()
            .for_each(|(_, node)| node.place = place),
        _ => {}
    }
    node
}
