//! What the core knows: controllers, routings, fabrics, patterns, operations, distributions, presets, the schema.

use crate::controllers::Loader;
use crate::scenario::ScenarioError;
use pathweave_control::{Parameter, ParameterKind, WordList, registry};
use pathweave_scenario::{ControllerFile, ControllerForm, ControllerLoader};
use pathweave_traffic::CDFS;
use pathweave_traffic::collectives::OPERATIONS;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;

/// The version of the package.
#[pyfunction]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The version of results.
#[pyfunction]
pub fn results_version() -> &'static str {
    pathweave_scenario::RESULTS_VERSION
}

/// The scenario file's JSON Schema, as text.
#[pyfunction]
pub fn schema() -> String {
    pathweave_scenario::schema()
}

fn entries<'py>(py: Python<'py>, list: &[(&str, &str)]) -> PyResult<Bound<'py, PyList>> {
    let result = PyList::empty(py);
    for (name, help) in list {
        let entry = PyDict::new(py);
        entry.set_item("name", name)?;
        entry.set_item("help", help)?;
        result.append(entry)?;
    }
    Ok(result)
}

/// Routings by name, with help.
#[pyfunction]
pub fn routings(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    entries(py, pathweave_fabric::routing::ROUTINGS)
}

/// Kinds of fabric by name, with help.
#[pyfunction]
pub fn fabrics(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    entries(py, pathweave_fabric::topology::TOPOLOGIES)
}

/// Traffic patterns by name, with help.
#[pyfunction]
pub fn patterns(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    entries(py, pathweave_traffic::PATTERNS)
}

/// Presets of the transport by name, with help.
#[pyfunction]
pub fn presets(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list: Vec<(&str, &str)> = pathweave_scenario::presets()
        .iter()
        .map(|preset| (preset.name, preset.help))
        .collect();
    entries(py, &list)
}

/// Collective operations by name, with help.
#[pyfunction]
pub fn operations(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list: Vec<(&str, &str)> = OPERATIONS
        .iter()
        .map(|&(name, _, help)| (name, help))
        .collect();
    entries(py, &list)
}

/// Distributions of sizes by name, with help and source.
#[pyfunction]
pub fn distributions(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let result = PyList::empty(py);
    for (name, help, points) in CDFS {
        let comment = points.lines().map_while(|line| line.strip_prefix("# "));
        let entry = PyDict::new(py);
        entry.set_item("name", name)?;
        entry.set_item("help", help)?;
        entry.set_item("source", comment.collect::<Vec<_>>().join(" "))?;
        result.append(entry)?;
    }
    Ok(result)
}

/// A parameter's default and range, as texts.
fn default_and_range<Words: WordList>(kind: &ParameterKind<Words>) -> (String, String) {
    let list = |choices: &Words| choices.words().collect::<Vec<_>>().join(", ");
    let first = |choices: &Words| choices.words().next().unwrap_or_default().to_owned();
    match kind {
        ParameterKind::Number {
            default,
            minimum,
            maximum,
            integer,
        } => {
            let kind = if *integer { "whole numbers " } else { "" };
            let range = match (minimum.is_finite(), maximum.is_finite()) {
                (true, true) => format!("{kind}{minimum} to {maximum}"),
                (true, false) => format!("{kind}from {minimum}"),
                (false, true) => format!("{kind}to {maximum}"),
                (false, false) => format!("{kind}any"),
            };
            (default.to_string(), range)
        }
        ParameterKind::Choice(choices) => (first(choices), list(choices)),
        ParameterKind::PerSubflow {
            default,
            minimum,
            maximum,
        } => (
            default.to_string(),
            format!("{minimum} to {maximum}, or a list of them, one for each subflow"),
        ),
        ParameterKind::ChoiceOrNumber {
            choices,
            minimum,
            maximum,
        } => (
            first(choices),
            format!("{}, or {minimum} to {maximum}", list(choices)),
        ),
        ParameterKind::ChoiceOrPerSubflow {
            choices,
            minimum,
            maximum,
        } => (
            first(choices),
            format!(
                "{}, or {minimum} to {maximum}, or a list of them, one for each subflow",
                list(choices)
            ),
        ),
    }
}

/// Parameters with their defaults and ranges.
fn described<'py, Text, Words>(
    py: Python<'py>,
    parameters: &[Parameter<Text, Words>],
) -> PyResult<Bound<'py, PyList>>
where
    Text: AsRef<str>,
    Words: WordList,
{
    let result = PyList::empty(py);
    for parameter in parameters {
        let (default, range) = default_and_range(&parameter.kind);
        let item = PyDict::new(py);
        item.set_item("name", parameter.name.as_ref())?;
        item.set_item("default", default)?;
        item.set_item("range", range)?;
        item.set_item("help", parameter.help.as_ref())?;
        result.append(item)?;
    }
    Ok(result)
}

/// Controllers with their parameters.
#[pyfunction]
pub fn controllers(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let result = PyList::empty(py);
    for entry in registry() {
        let item = PyDict::new(py);
        item.set_item("name", entry.name)?;
        item.set_item("summary", entry.summary)?;
        item.set_item("source", entry.source)?;
        item.set_item("coupled", entry.coupled)?;
        item.set_item("explanation", entry.explanation())?;
        item.set_item("parameters", described(py, entry.parameters)?)?;
        result.append(item)?;
    }
    Ok(result)
}

/// The controller in a file, as [`controllers`] has those of Pathweave's own. `form` is "python" or "library"; `item` is
/// what the controller is called in the file.
#[pyfunction]
#[pyo3(signature = (form, path, shown, item = None))]
pub fn controller_in_file<'py>(
    py: Python<'py>,
    form: &str,
    path: PathBuf,
    shown: &str,
    item: Option<&str>,
) -> PyResult<Bound<'py, PyDict>> {
    let form = ControllerForm::of_key(form).ok_or_else(|| {
        ScenarioError::new_err(format!("form must be python or library, got {form}"))
    })?;
    let content = std::fs::read(&path)?;
    let file = ControllerFile {
        form,
        path: &path,
        shown,
        content: &content,
        item,
    };
    let loaded = Loader.load(&file).map_err(ScenarioError::new_err)?;
    let result = PyDict::new(py);
    result.set_item("name", &loaded.name)?;
    result.set_item("summary", &loaded.summary)?;
    result.set_item("source", &loaded.source)?;
    result.set_item("coupled", loaded.coupled)?;
    result.set_item("explanation", &loaded.explanation)?;
    result.set_item("parameters", described(py, &loaded.parameters)?)?;
    Ok(result)
}
