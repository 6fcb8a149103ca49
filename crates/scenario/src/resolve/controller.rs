//! A controller and its parameters.

use super::Problems;
use crate::schema::{ControllerFileTable, ControllerOrigin, ControllerTable};
use crate::suggest;
use pathweave_control::{Algorithm, Parameters};

/// A controller and its parameters.
pub(super) type Control = (Algorithm, Parameters);

/// The names of the registry.
pub(super) fn names() -> Vec<&'static str> {
    pathweave_control::registry()
        .iter()
        .map(|entry| entry.name)
        .collect()
}

/// Finds or loads a controller, checks its parameters and writes all of them into the table.
pub(super) fn controller(
    table: &mut ControllerTable,
    steps: &[&str],
    problems: &mut Problems<'_>,
) -> Option<Control> {
    let algorithm = match &mut table.origin {
        ControllerOrigin::Registry(name) => of_registry(name, steps, problems)?,
        ControllerOrigin::File(file) => of_file(file, steps, problems)?,
    };
    match algorithm.parameters(&table.parameters) {
        Ok(parameters) => {
            table.parameters = parameters
                .iter()
                .map(|(name, value)| (name.to_owned(), value.clone()))
                .collect();
            Some((algorithm, parameters))
        }
        Err(error) => {
            let known = algorithm.parameter_names();
            let steps = [steps, &[error.name.as_str()]].concat();
            if known.contains(&error.name.as_str()) {
                problems.wrong(&steps, &error.message);
            } else {
                let accepted = suggest::accepted(&error.name, &known);
                let text = format!(
                    "{} has no parameter \"{}\"; {accepted}",
                    algorithm.name(),
                    error.name
                );
                problems.wrong_key(&steps, text);
            }
            None
        }
    }
}

fn of_registry(name: &str, steps: &[&str], problems: &mut Problems<'_>) -> Option<Algorithm> {
    let found = Algorithm::find(name);
    if found.is_none() {
        let key = if name.contains(".py") {
            Some("python")
        } else if name.contains(".so") {
            Some("library")
        } else {
            None
        };
        let accepted = match key {
            Some(key) => {
                format!("a controller in a file is written controller = {{ {key} = \"{name}\" }}")
            }
            None => suggest::accepted(name, &names()),
        };
        problems.wrong(
            &[steps, &["name"]].concat(),
            format!("no controller is called \"{name}\"; {accepted}"),
        );
    }
    found
}

/// Loads a controller unless it is there already, and writes the hash of its file into the table.
fn of_file(
    table: &mut ControllerFileTable,
    steps: &[&str],
    problems: &mut Problems<'_>,
) -> Option<Algorithm> {
    if table.loaded.is_none() {
        let key = [steps, &[table.form.key()]].concat();
        let loaded = match problems.controllers.load(table.form, &table.text) {
            Ok(found) => found,
            Err(text) => {
                problems.wrong(&key, text);
                return None;
            }
        };
        if let Some(wanted) = &table.sha256
            && *wanted != loaded.sha256
        {
            problems.wrong(
                &[steps, &["sha256"]].concat(),
                format!(
                    "\"{}\" is not the file that was meant: its SHA-256 is {}; the scenario asks for {wanted}: give it that file, or remove sha256 to take the one that is there",
                    table.text, loaded.sha256
                ),
            );
            return None;
        }
        table.sha256 = Some(loaded.sha256.clone());
        table.loaded = Some(loaded);
    }
    table.loaded.as_ref().map(|file| file.loaded.clone())
}
