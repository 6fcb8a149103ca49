//! Recorded flows and schedules, from files or written out.

use super::resolving::InGroup;
use crate::regular;
use pathweave_traffic::Size;
use pathweave_traffic::recordings::Unreadable;
use pathweave_traffic::tasks::{Action, Graph};
use pathweave_units::Bytes;

/// Why a group of recorded flows has no size.
pub(super) const SIZES_OF_ITS_OWN: &str = "recorded flows have sizes of their own; remove size";

/// A recording's text, and what messages call it.
pub(super) struct Recording {
    pub text: String,
    pub called: String,
    pub key: &'static str,
}

/// The text of a file, or the one that is written out.
pub(super) fn recording(
    file: Option<&str>,
    content: Option<&str>,
    group: &mut InGroup<'_, '_>,
) -> Option<Recording> {
    match (file, content) {
        (Some(file), None) => Some(Recording {
            text: text_of(file, group)?,
            called: file.to_owned(),
            key: "file",
        }),
        (None, Some(content)) => Some(Recording {
            text: content.to_owned(),
            called: "content".to_owned(),
            key: "content",
        }),
        _ => {
            group.wrong("a recording comes from one place; give one of file and content");
            None
        }
    }
}

/// An error in a recording, behind what messages call it.
pub(super) fn located(called: &str, error: &Unreadable) -> String {
    let separator = if error.line == 0 { ":" } else { "," };
    format!("{called}{separator} {error}")
}

/// What stands in a file of the scenario's folder.
fn text_of(file: &str, group: &mut InGroup<'_, '_>) -> Option<String> {
    let Some(folder) = group.problems.folder else {
        group.wrong_value(
            "file",
            "this scenario has no folder, so its files cannot be found; give content instead",
        );
        return None;
    };
    let path = folder.join(file);
    let read = if file.ends_with(".parquet") {
        match group.problems.other_formats {
            Some(convert) => convert(&path),
            None => Err(
                "Parquet files are read by the Python package only; give comma-separated values"
                    .to_owned(),
            ),
        }
    } else {
        regular::read_text(&path, regular::RECORDING).map_err(regular::with_place)
    };
    match read {
        Ok(text) => Some(text),
        Err(problem) => {
            group.wrong_value("file", format!("\"{file}\" {problem}"));
            None
        }
    }
}

/// The largest transfer of a graph, as the size that a group's flows have.
pub(crate) fn largest(graph: &Graph) -> Size {
    let sizes = graph.actions().iter().filter_map(|action| match action {
        Action::Send { bytes, .. } => Some(*bytes),
        Action::Compute { .. } | Action::Join => None,
    });
    Size::Fixed(sizes.max().unwrap_or(Bytes::new(1)))
}
