//! What the core knows: controllers, routings, fabrics, patterns, presets, the schema.

use pathweave_control::{Parameter, ParameterKind, registry};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

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

/// A parameter's default and range, as texts.
fn default_and_range(parameter: &Parameter) -> (String, String) {
    match parameter.kind {
        ParameterKind::Number {
            default,
            minimum,
            maximum,
            integer,
        } => {
            let kind = if integer { "whole numbers " } else { "" };
            let range = match (minimum.is_finite(), maximum.is_finite()) {
                (true, true) => format!("{kind}{minimum} to {maximum}"),
                (true, false) => format!("{kind}from {minimum}"),
                (false, true) => format!("{kind}to {maximum}"),
                (false, false) => format!("{kind}any"),
            };
            (default.to_string(), range)
        }
        ParameterKind::Choice(choices) => (
            choices.first().copied().unwrap_or_default().to_owned(),
            choices.join(", "),
        ),
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
            choices.first().copied().unwrap_or_default().to_owned(),
            format!("{}, or {minimum} to {maximum}", choices.join(", ")),
        ),
    }
}

/// Controllers with their parameters.
#[pyfunction]
pub fn controllers(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let result = PyList::empty(py);
    for entry in registry() {
        let parameters = PyList::empty(py);
        for parameter in entry.parameters {
            let (default, range) = default_and_range(parameter);
            let item = PyDict::new(py);
            item.set_item("name", parameter.name)?;
            item.set_item("default", default)?;
            item.set_item("range", range)?;
            item.set_item("help", parameter.help)?;
            parameters.append(item)?;
        }
        let item = PyDict::new(py);
        item.set_item("name", entry.name)?;
        item.set_item("summary", entry.summary)?;
        item.set_item("source", entry.source)?;
        item.set_item("coupled", entry.coupled)?;
        item.set_item("explanation", entry.explanation())?;
        item.set_item("parameters", parameters)?;
        result.append(item)?;
    }
    Ok(result)
}
