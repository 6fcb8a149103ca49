//! Loads controllers from files for scenarios.

use super::class::Class;
use super::controller::PythonController;
use pathweave_control::{Ecn, Loaded, LoadedParameter, ParameterKind};
use pathweave_scenario::{ControllerFile, ControllerForm, ControllerLoader};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;

/// Loads classes from Python files, and controllers from shared libraries.
#[derive(Debug)]
pub struct Loader;

impl ControllerLoader for Loader {
    fn load(&self, file: &ControllerFile<'_>) -> Result<Arc<Loaded>, String> {
        match file.form {
            ControllerForm::Python => Python::attach(|py| python(py, file)).map_err(told)?,
            ControllerForm::Library => Err("not yet".to_owned()),
        }
        .map(Arc::new)
    }
}

fn told(error: PyErr) -> String {
    Python::attach(|py| error.value(py).to_string())
}

/// What `pathweave.controller.loading.Declared` has.
#[derive(FromPyObject)]
struct Declared<'py> {
    class_: Bound<'py, PyAny>,
    paths: Bound<'py, PyAny>,
    describe: Bound<'py, PyAny>,
    shown: String,
    name: String,
    summary: String,
    source: String,
    explanation: String,
    coupled: bool,
    marks: Option<u8>,
    parameters: Vec<DeclaredParameter>,
}

/// What `pathweave.controller.parameter.Parameter` has.
#[derive(FromPyObject)]
struct DeclaredParameter {
    name: String,
    help: String,
    default: f64,
    minimum: f64,
    maximum: f64,
    integer: bool,
    choices: Vec<String>,
}

impl DeclaredParameter {
    fn checked(self) -> LoadedParameter {
        let kind = if self.choices.is_empty() {
            ParameterKind::Number {
                default: self.default,
                minimum: self.minimum,
                maximum: self.maximum,
                integer: self.integer,
            }
        } else {
            ParameterKind::Choice(self.choices)
        };
        LoadedParameter {
            name: self.name,
            kind,
            help: self.help,
        }
    }
}

/// A class in a Python file; mistakes in the file are exceptions with a text to show.
fn python(py: Python<'_>, file: &ControllerFile<'_>) -> PyResult<Result<Loaded, String>> {
    let loading = py.import("pathweave.controller.loading")?;
    let content = PyBytes::new(py, file.content);
    let declared: Declared<'_> = loading
        .call_method1("load", (file.path, file.shown, content, file.item))?
        .extract()?;
    let class = Class::new(
        &declared.class_,
        declared.paths,
        declared.describe,
        declared.shown,
    );
    let class = Arc::new(class);
    let marks = declared.marks;
    let parameters = declared.parameters.into_iter();
    Ok(Ok(Loaded {
        name: declared.name,
        summary: declared.summary,
        source: declared.source,
        explanation: declared.explanation,
        coupled: declared.coupled,
        ecn: Box::new(move |_| marks.map_or(Ecn::Off, |limit| Ecn::Count { limit })),
        parameters: parameters.map(DeclaredParameter::checked).collect(),
        one_thread: true,
        build: Box::new(move |parameters, seat| {
            let class = Arc::clone(&class);
            Box::new(PythonController::new(class, parameters.clone(), seat))
        }),
    }))
}
