//! Loads controllers from files for scenarios.

use super::class::Class;
use super::controller::PythonController;
use pathweave_control::{Ecn, Loaded, LoadedParameter, ParameterKind};
use pathweave_foreign::{Addresses, Declaration, Functions, library, loaded};
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
            ControllerForm::Library => {
                tell(file).map_err(told)?;
                library(file.content, file.shown, file.item)
            }
        }
        .map(Arc::new)
    }
}

/// Says that a shared library is about to be loaded, which executes it; of Python files the package says so itself.
fn tell(file: &ControllerFile<'_>) -> PyResult<()> {
    Python::attach(|py| {
        let loaded = py.import("pathweave.running.loaded")?;
        let content = PyBytes::new(py, file.content);
        loaded.call_method1("tell", (file.path, content))?;
        Ok(())
    })
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
    compiled: Option<Compiled>,
}

/// What `pathweave.controller.compiled.Compiled` has.
#[derive(FromPyObject)]
struct Compiled {
    on_ack: usize,
    on_loss: usize,
    on_subflow: usize,
    state_size: usize,
    subflow_size: usize,
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
    let marks = declared.marks;
    let parameters = declared.parameters.into_iter();
    let parameters: Vec<_> = parameters.map(DeclaredParameter::checked).collect();
    if let Some(compiled) = declared.compiled {
        let declaration = Declaration {
            name: declared.name,
            summary: declared.summary,
            source: declared.source,
            explanation: declared.explanation,
            coupled: declared.coupled,
            marks,
            parameters,
        };
        let addresses = Addresses {
            on_ack: compiled.on_ack,
            on_loss: compiled.on_loss,
            on_subflow: compiled.on_subflow,
        };
        let sizes = (compiled.state_size, compiled.subflow_size);
        let code = Arc::new(declared.class_.unbind());
        // SAFETY: the class has the functions that it gives the addresses of, and `pathweave.controller.compiled` has
        // compiled or checked them: they have the C interface's signatures and live as long as the class.
        let functions = unsafe { Functions::at(addresses, declared.shown, sizes, code) };
        return Ok(functions
            .map(|functions| loaded(declaration, functions))
            .ok_or_else(|| format!("{}: a function has no address", file.shown)));
    }
    let class = Class::new(
        &declared.class_,
        declared.paths,
        declared.describe,
        declared.shown,
    );
    let class = Arc::new(class);
    Ok(Ok(Loaded {
        name: declared.name,
        summary: declared.summary,
        source: declared.source,
        explanation: declared.explanation,
        coupled: declared.coupled,
        ecn: Box::new(move |_| marks.map_or(Ecn::Off, |limit| Ecn::Count { limit })),
        parameters,
        one_thread: true,
        build: Box::new(move |parameters, seat| {
            let class = Arc::clone(&class);
            Box::new(PythonController::new(class, parameters.clone(), seat))
        }),
    }))
}
