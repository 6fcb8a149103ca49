//! What the command line gives beside the file: values of keys, and sweeps.

use crate::diagnostics::Problem;
use crate::file::KEYS;
use crate::sweep::{self, Swept};
use crate::tree::{Node, Place};
use crate::{overrides, parse, suggest};

/// An override of the command line.
pub(crate) struct Override {
    pub path: Vec<String>,
    place: Place,
    value: Node,
}

pub(crate) fn parse_set(text: &str, place: Place, problems: &mut Vec<Problem>) -> Option<Override> {
    let Some((path, value)) = text.split_once('=') else {
        problems.push(
            Problem::new(place, format!("\"{text}\" sets nothing"))
                .help("write key=value, for example traffic.large.subflows=4"),
        );
        return None;
    };
    let key_place = Place {
        end: path.len(),
        ..place
    };
    let mut path: Vec<String> = path.split('.').map(|step| step.trim().to_owned()).collect();
    if path[0] == "sweep" {
        // A key within it may be quoted, as in the file.
        for step in &mut path {
            *step = step.trim_matches('"').to_owned();
        }
    }
    let first = path[0].as_str();
    if matches!(first, "variants" | "sizes") {
        problems.push(
            Problem::new(
                key_place,
                format!("{first} cannot be set on the command line"),
            )
            .help("--only and --size choose among them"),
        );
        return None;
    }
    if !KEYS.contains(&first) {
        problems.push(
            Problem::new(key_place, format!("unknown key \"{first}\""))
                .help(suggest::accepted(first, KEYS)),
        );
        return None;
    }
    let start = key_place.end + 1;
    Some(Override {
        path,
        place: key_place,
        value: parse::value(value, start, place.source),
    })
}

/// Adds the sweeps of the command line, in the place of those of the same keys.
pub(crate) fn add_sweeps(root: &mut Node, sweeps: &[(&str, Place)], problems: &mut Vec<Problem>) {
    for &(text, place) in sweeps {
        let added = sweep::written(text, place).and_then(|(path, place, node)| {
            let path = [vec!["sweep".to_owned()], path].concat();
            overrides::set(root, &path, place, &node)
        });
        if let Err(problem) = added {
            problems.push(problem);
        }
    }
}

/// A value that is set last would make all variants of a sweep the same.
pub(crate) fn refuse_swept(set: &Override, swept: &[Swept], problems: &mut Vec<Problem>) {
    for axis in swept {
        if let Some(key) = axis.sets(&set.path) {
            problems.push(
                Problem::new(set.place, format!("{} is swept, so it cannot be set", key)).help(
                    format!(
                        "--only {}=... chooses values, --sweep {key}=... gives others",
                        axis.sweep.axis
                    ),
                ),
            );
        }
    }
}

pub(crate) fn apply_sets(root: &mut Node, sets: &[Override], problems: &mut Vec<Problem>) {
    for Override { path, place, value } in sets {
        if let Err(problem) = overrides::set(root, path, *place, value) {
            problems.push(problem);
        }
    }
}
