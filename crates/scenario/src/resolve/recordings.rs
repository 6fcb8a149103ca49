//! Recorded flows and schedules, from files or written out.

use super::{Problems, Scene, collective};
use crate::regular;
use crate::schema::{GoalTable, TraceTable};
use pathweave_traffic::Size;
use pathweave_traffic::patterns::{Goal, Trace};
use pathweave_traffic::recordings::{Unreadable, flow_list, goal};
use std::sync::Arc;

/// A recording's text, and what messages call it.
struct Recording {
    text: String,
    called: String,
    key: &'static str,
}

/// The text of a file, or the one that is written out.
fn recording(
    file: Option<&str>,
    content: Option<&str>,
    steps: &[&str],
    problems: &mut Problems<'_>,
) -> Option<Recording> {
    match (file, content) {
        (Some(file), None) => {
            let steps = [steps, &["file"]].concat();
            Some(Recording {
                text: text_of(file, &steps, problems)?,
                called: file.to_owned(),
                key: "file",
            })
        }
        (None, Some(content)) => Some(Recording {
            text: content.to_owned(),
            called: "content".to_owned(),
            key: "content",
        }),
        _ => {
            problems.wrong(
                steps,
                "a recording comes from one place; give one of file and content",
            );
            None
        }
    }
}

/// An error in a recording, behind what messages call it.
fn located(called: &str, error: &Unreadable) -> String {
    let separator = if error.line == 0 { ":" } else { "," };
    format!("{called}{separator} {error}")
}

/// What stands in a file of the scenario's folder.
fn text_of(file: &str, steps: &[&str], problems: &mut Problems<'_>) -> Option<String> {
    let Some(folder) = problems.folder else {
        problems.wrong(
            steps,
            "this scenario has no folder, so its files cannot be found; give content instead",
        );
        return None;
    };
    let path = folder.join(file);
    let read = if file.ends_with(".parquet") {
        match problems.other_formats {
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
            problems.wrong(steps, format!("\"{file}\" {problem}"));
            None
        }
    }
}

/// A list of flows. It is written into the table as it was understood.
pub(super) fn trace(
    table: &mut TraceTable,
    steps: &[&str],
    scene: &Scene<'_>,
    problems: &mut Problems<'_>,
) -> Option<Trace> {
    let (file, content) = (table.file.as_deref(), table.content.as_deref());
    let found = recording(file, content, steps, problems)?;
    let hosts = scene.fabric.hosts.len() as u32;
    let host = |text: &str| {
        let number = text.parse().ok().filter(|&number: &u32| number < hosts);
        match (scene.names.host(text), number) {
            (Ok(host), _) => Ok(host),
            (Err(_), Some(number)) => Ok(number),
            (Err(text), None) => Err(text),
        }
    };
    let read = flow_list::parse(&found.text, host).and_then(|rows| {
        let graph = flow_list::graph(&rows)?;
        let name = |host: u32| scene.fabric.host(host).name.as_str();
        Ok((flow_list::written(&rows, name), graph))
    });
    match read {
        Ok((written, graph)) => {
            *table = TraceTable {
                file: None,
                content: Some(written),
            };
            Some(Trace {
                graph: Arc::new(graph),
            })
        }
        Err(error) => {
            let steps = [steps, &[found.key]].concat();
            problems.wrong(&steps, located(&found.called, &error));
            None
        }
    }
}

/// A GOAL schedule. Its text is written into the table.
pub(super) fn goal(
    table: &mut GoalTable,
    steps: &[&str],
    scene: &Scene<'_>,
    problems: &mut Problems<'_>,
) -> Option<Goal> {
    let (file, content) = (table.file.as_deref(), table.content.as_deref());
    let found = recording(file, content, steps, problems);
    let placement = collective::placement(&table.placement, &table.hosts, steps, scene, problems);
    let found = found?;
    match goal::parse(&found.text) {
        Ok(goal) => {
            (table.file, table.content) = (None, Some(found.text));
            Some(Goal {
                graph: Arc::new(goal.graph),
                ranks: goal.ranks,
                placement: placement?,
                jobs: Some(table.jobs),
                iterations: table.iterations,
            })
        }
        Err(error) => {
            let steps = [steps, &[found.key]].concat();
            problems.wrong(&steps, located(&found.called, &error));
            None
        }
    }
}

/// The largest transfer of a graph, as the size that a group's flows have.
pub(super) fn largest(graph: &pathweave_traffic::tasks::Graph) -> Size {
    use pathweave_traffic::tasks::Action;
    let sizes = graph.actions().iter().filter_map(|action| match action {
        Action::Send { bytes, .. } => Some(*bytes),
        Action::Compute { .. } | Action::Join => None,
    });
    Size::Fixed(sizes.max().unwrap_or(pathweave_units::Bytes::new(1)))
}
