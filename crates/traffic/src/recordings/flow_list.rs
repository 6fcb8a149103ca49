//! Lists of flows as comma-separated values.
//!
//! The first line names the columns, in any order: `start` (seconds, or a time with its unit), `source` and
//! `destination` (hosts), `bytes` (a number, or a size with its unit), and if wanted `id` (a name for `after`; without
//! it a row's number, from 0) and `after` (ids of rows, with spaces or semicolons between: the flow starts when these
//! have finished, and not before its own `start`). Empty lines and what follows a `#` are passed over. Values may stand
//! in double quotes; no value has a comma.
//!
//! Lists of HPCC and its simulations with ns-3 are read, too: their first line is the number of flows, and each other line is
//! `source destination priority-group port bytes start`, with white space between the values.

use super::Unreadable;
use crate::tasks::{Action, Builder, Graph, Unbuilt};
use pathweave_units::{Bytes, Time};
use std::collections::HashMap;
use std::fmt::Write;

/// A recorded flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its line in the file, from 1.
    pub line: u32,
    /// When it starts at the earliest, from the group's start.
    pub start: Time,
    /// The host that sends.
    pub source: u32,
    /// The host that receives.
    pub destination: u32,
    /// How much, at least a byte.
    pub bytes: Bytes,
    /// The rows, by number, that have to finish first.
    pub after: Vec<u32>,
}

/// The columns that there are.
const COLUMNS: [&str; 6] = ["start", "source", "destination", "bytes", "id", "after"];

/// The columns that there have to be.
const REQUIRED: usize = 4;

/// Rows at most: tasks of a graph are numbered.
const MOST: usize = 100_000_000;

/// Reads a list. `host` finds a host by what stands in `source` and `destination`.
///
/// # Errors
/// With line and column of the first thing that cannot be read.
pub fn parse(
    text: &str,
    mut host: impl FnMut(&str) -> Result<u32, String>,
) -> Result<Vec<Row>, Unreadable> {
    // Spreadsheets put a byte order mark in front.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = (1u32..).zip(text.lines());
    let mut lines = lines.by_ref().filter_map(|(line, text)| {
        let text = text.split('#').next().unwrap_or("").trim();
        (!text.is_empty()).then_some((line, text))
    });
    let Some((line, headings)) = lines.next() else {
        return Err(Unreadable {
            line: 0,
            problem: "there are no flows; the first line names the columns: start,source,destination,bytes"
                .to_owned(),
        });
    };
    if !headings.contains(',') && headings.split_whitespace().all(is_number) {
        return counted(line, headings, lines, host);
    }
    let columns = columns(line, headings)?;
    let mut rows: Vec<Row> = Vec::new();
    let mut ids: HashMap<&str, u32> = HashMap::new();
    let mut waits: Vec<(u32, &str)> = Vec::new();
    for (line, text) in lines {
        let refuse = |column: &str, problem: String| Unreadable {
            line,
            problem: format!("column \"{column}\": {problem}"),
        };
        let mut values = [""; COLUMNS.len()];
        let mut count = 0;
        for (place, value) in text.split(',').enumerate() {
            count = place + 1;
            if let Some(&column) = columns.get(place) {
                values[column] = unquoted(value);
            }
        }
        if count != columns.len() {
            return Err(Unreadable {
                line,
                problem: format!(
                    "there are {count} values for {} columns; give one for each",
                    columns.len()
                ),
            });
        }
        let [start, source, destination, bytes, id, after] = values;
        let row = Row {
            line,
            start: seconds(start).map_err(|problem| refuse("start", problem))?,
            source: host(source).map_err(|problem| refuse("source", problem))?,
            destination: host(destination).map_err(|problem| refuse("destination", problem))?,
            bytes: size(bytes).map_err(|problem| refuse("bytes", problem))?,
            after: Vec::new(),
        };
        if row.source == row.destination {
            let problem = format!("the flow goes from \"{source}\" to itself; name another host");
            return Err(refuse("destination", problem));
        }
        let number = rows.len() as u32;
        if columns.contains(&4) && !id.is_empty() && ids.insert(id, number).is_some() {
            return Err(refuse(
                "id",
                format!("a row before has the id \"{id}\" as well; ids must be different"),
            ));
        }
        waits.push((line, after));
        rows.push(row);
        if rows.len() > MOST {
            return Err(Unreadable {
                line,
                problem: format!("there are more than {MOST} flows; give fewer"),
            });
        }
    }
    if rows.is_empty() {
        return Err(Unreadable {
            line: 0,
            problem: "there are no flows below the names of the columns; give at least one"
                .to_owned(),
        });
    }
    if columns.contains(&5) {
        for (number, (line, after)) in waits.into_iter().enumerate() {
            for id in after.split([' ', ';']).filter(|id| !id.is_empty()) {
                let by_number = || {
                    let row = id.parse::<u32>().ok().filter(|_| !columns.contains(&4));
                    row.filter(|&row| (row as usize) < rows.len())
                };
                let Some(row) = ids.get(id).copied().or_else(by_number) else {
                    return Err(Unreadable {
                        line,
                        problem: format!("column \"after\": no row has the id \"{id}\""),
                    });
                };
                rows[number].after.push(row);
            }
        }
    }
    Ok(rows)
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// What stands in a line of HPCC's lists.
const COUNTED: &str = "source destination priority-group port bytes start";

/// Reads a list of HPCC, below the line with the number of flows.
fn counted<'a>(
    first: u32,
    count: &str,
    lines: impl Iterator<Item = (u32, &'a str)>,
    mut host: impl FnMut(&str) -> Result<u32, String>,
) -> Result<Vec<Row>, Unreadable> {
    let refuse = |line: u32, problem: String| Err(Unreadable { line, problem });
    let Some(count) = count.parse::<usize>().ok().filter(|&count| count <= MOST) else {
        return refuse(
            first,
            format!(
                "\"{count}\" is no number of flows up to {MOST}; the first line is that number alone, or names the columns: start,source,destination,bytes"
            ),
        );
    };
    let mut rows: Vec<Row> = Vec::new();
    for (line, text) in lines {
        let values: Vec<&str> = text.split_whitespace().collect();
        let &[source, destination, group, port, bytes, start] = values.as_slice() else {
            return refuse(
                line,
                format!(
                    "there are {} values where the first line is a number of flows; write six: {COUNTED}",
                    values.len()
                ),
            );
        };
        let wrong = |value: &str, problem: String| Unreadable {
            line,
            problem: format!("\"{value}\": {problem}"),
        };
        for (value, what) in [(group, "priority group"), (port, "port")] {
            if !is_number(value) {
                let problem = format!("no {what}; write {COUNTED}");
                return Err(wrong(value, problem));
            }
        }
        let row = Row {
            line,
            start: seconds(start).map_err(|problem| wrong(start, problem))?,
            source: host(source).map_err(|problem| wrong(source, problem))?,
            destination: host(destination).map_err(|problem| wrong(destination, problem))?,
            bytes: size(bytes).map_err(|problem| wrong(bytes, problem))?,
            after: Vec::new(),
        };
        if row.source == row.destination {
            let problem = "the flow goes from this host to itself; name another".to_owned();
            return Err(wrong(destination, problem));
        }
        if rows.len() == count {
            return refuse(
                line,
                format!(
                    "there are more flows than the {count} that line {first} says; correct the number"
                ),
            );
        }
        rows.push(row);
    }
    if rows.is_empty() || rows.len() < count {
        return refuse(
            first,
            format!(
                "{count} flows are announced, and {} follow; correct the number, or add lines: {COUNTED}",
                rows.len()
            ),
        );
    }
    Ok(rows)
}

/// By place in a line, which of [`COLUMNS`] it is.
fn columns(line: u32, headings: &str) -> Result<Vec<usize>, Unreadable> {
    let refuse = |problem: String| Unreadable { line, problem };
    let mut found: Vec<usize> = Vec::new();
    let separator = [';', '\t']
        .into_iter()
        .find(|&other| headings.contains(other));
    if let Some(separator) = separator.filter(|_| !headings.contains(',')) {
        let name = if separator == ';' {
            "semicolons"
        } else {
            "tabs"
        };
        return Err(refuse(format!(
            "{name} stand between the names of the columns; write commas: {}",
            headings.replace(separator, ",")
        )));
    }
    for heading in headings.split(',').map(unquoted) {
        let Some(column) = COLUMNS.iter().position(|known| *known == heading) else {
            return Err(refuse(format!(
                "no column is called \"{heading}\"; the first line names the columns {}",
                COLUMNS.join(", ")
            )));
        };
        if found.contains(&column) {
            return Err(refuse(format!(
                "two columns are called \"{heading}\"; names must be different"
            )));
        }
        found.push(column);
    }
    match (0..REQUIRED).find(|column| !found.contains(column)) {
        Some(missing) => Err(refuse(format!(
            "there is no column \"{}\"; the first line names the columns, and start, source, destination and bytes are needed",
            COLUMNS[missing]
        ))),
        None => Ok(found),
    }
}

/// A value without spaces around it and, if there are some, without its quotes.
fn unquoted(value: &str) -> &str {
    let value = value.trim();
    let inner = value
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    inner.unwrap_or(value)
}

/// The longest time that there is.
const LONGEST: Time = Time::from_secs(1_000_000);

/// Seconds as a number, or a time with its unit.
fn seconds(text: &str) -> Result<Time, String> {
    let time = match text.parse::<f64>() {
        Ok(seconds) if !(seconds.is_finite() && seconds >= 0.0) => {
            return Err(format!(
                "a flow cannot start at {text} s; give a time from 0 on"
            ));
        }
        Ok(seconds) if seconds > LONGEST.as_secs_f64() => LONGEST + Time::from_secs(1),
        // As it is written where it has no exponent, so that no digit is rounded.
        Ok(seconds) if text.contains(['e', 'E']) => Time::from_secs_f64(seconds),
        Ok(seconds) => match format!("{text} s").parse() {
            Ok(time) => time,
            Err(_) => Time::from_secs_f64(seconds),
        },
        Err(_) => text
            .parse::<Time>()
            .map_err(|error| format!("{error}; or write seconds as a bare number"))?,
    };
    if time > LONGEST {
        return Err(format!("{text} is too long; times go up to \"{LONGEST}\""));
    }
    Ok(time)
}

/// Bytes as a number, or a size with its unit.
fn size(text: &str) -> Result<Bytes, String> {
    let size = match text.parse::<u64>() {
        Ok(bytes) => Bytes::new(bytes),
        Err(_) => text
            .parse::<Bytes>()
            .map_err(|error| format!("{error}; or write bytes as a bare whole number"))?,
    };
    if size == Bytes::ZERO {
        return Err("a flow of 0 B has nothing to send; give at least 1".to_owned());
    }
    Ok(size)
}

/// The rows as a list again, to the picosecond: equal rows give equal texts. `host` names a host.
pub fn written<'a>(rows: &[Row], host: impl Fn(u32) -> &'a str) -> String {
    let waits = rows.iter().any(|row| !row.after.is_empty());
    let mut text = String::with_capacity(32 * rows.len());
    text += "start,source,destination,bytes";
    text += if waits { ",after\n" } else { "\n" };
    for row in rows {
        let (source, destination) = (host(row.source), host(row.destination));
        let (start, bytes) = (row.start.as_picos(), row.bytes.get());
        // A String takes everything.
        let _ = write!(text, "{start} ps,{source},{destination},{bytes}");
        if waits {
            text.push(',');
            let after: Vec<String> = row.after.iter().map(u32::to_string).collect();
            text += &after.join(" ");
        }
        text.push('\n');
    }
    text
}

/// The rows as tasks, whose ranks are hosts.
///
/// # Errors
/// With the line of a row that waits for itself.
pub fn graph(rows: &[Row]) -> Result<Graph, Unreadable> {
    let mut builder = Builder::default();
    for row in rows {
        let action = Action::Send {
            from: row.source,
            to: row.destination,
            bytes: row.bytes,
        };
        let task = builder.task(action, row.after.iter().copied());
        builder.not_before(task, row.start);
    }
    builder.build().map_err(|unbuilt| match unbuilt {
        Unbuilt::Circle(task) => Unreadable {
            line: rows[task as usize].line,
            problem: "column \"after\": the flow waits, directly or not, for itself".to_owned(),
        },
        Unbuilt::TooLarge => Unreadable {
            line: 0,
            problem: crate::TrafficError::from(unbuilt).0,
        },
    })
}
