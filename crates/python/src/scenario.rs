//! Scenarios and their variants.

use crate::controllers::Loader;
use crate::fluid::{Asking, lives, values};
use crate::recordings;
use crate::run::{Output, Run, tables};
use pathweave_scenario::{ControllerLoader, Diagnostics, Selection};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

pyo3::create_exception!(
    _core,
    ScenarioError,
    PyValueError,
    "A scenario that cannot be run; its text is ready to be shown."
);

/// The width that messages are wrapped to.
const WIDTH: usize = 80;

/// A scenario with all its variants, checked.
#[pyclass(frozen)]
pub struct Scenario {
    inner: Arc<pathweave_scenario::Scenario>,
    name: String,
    size: String,
}

impl Scenario {
    fn new(inner: pathweave_scenario::Scenario, name: String, size: Option<String>) -> Scenario {
        Scenario {
            inner: Arc::new(inner),
            name,
            size: size.unwrap_or_else(|| "quick".to_owned()),
        }
    }
}

/// The error for a scenario with these mistakes; its attribute `mistakes` has them one by one.
fn refused(py: Python<'_>, diagnostics: &Diagnostics) -> PyErr {
    let error = ScenarioError::new_err(diagnostics.render(WIDTH, false));
    let attach = || {
        let mistakes = PyList::empty(py);
        for mistake in diagnostics.iter() {
            let item = PyDict::new(py);
            item.set_item("file", mistake.file)?;
            item.set_item("line", mistake.line)?;
            item.set_item("column", mistake.column)?;
            item.set_item("message", mistake.message)?;
            item.set_item("help", mistake.help)?;
            mistakes.append(item)?;
        }
        error.value(py).setattr("mistakes", mistakes)
    };
    match attach() {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// Reads and checks a scenario file.
#[pyfunction]
#[pyo3(signature = (path, size, sets, only, seeds, sweeps = Vec::new()))]
pub fn load(
    py: Python<'_>,
    path: PathBuf,
    size: Option<String>,
    sets: Vec<String>,
    only: Vec<String>,
    seeds: Option<u32>,
    sweeps: Vec<String>,
) -> PyResult<Scenario> {
    let stem = path.file_stem().unwrap_or_default();
    let name = stem.to_string_lossy().into_owned();
    let selection = Selection {
        size: size.clone(),
        sets,
        sweeps,
        only,
        seeds,
        other_formats: Some(recordings::as_text),
        loader: Some(Arc::new(Loader)),
        ..Selection::default()
    };
    py.detach(|| pathweave_scenario::Scenario::load_selected(&path, &selection))
        .map(|scenario| Scenario::new(scenario, name, size))
        .map_err(|diagnostics| refused(py, &diagnostics))
}

/// Checks a scenario that is at hand as text. `name` is the scenario's; files that it names are looked
/// for in `folder`.
#[pyfunction]
#[pyo3(signature = (text, name, folder, size, sets, only, seeds, sweeps = Vec::new()))]
#[allow(clippy::too_many_arguments)] // those of `load`, with what takes the place of the path
pub fn load_text(
    py: Python<'_>,
    text: &str,
    name: String,
    folder: PathBuf,
    size: Option<String>,
    sets: Vec<String>,
    only: Vec<String>,
    seeds: Option<u32>,
    sweeps: Vec<String>,
) -> PyResult<Scenario> {
    let selection = Selection {
        size: size.clone(),
        sets,
        sweeps,
        only,
        seeds,
        other_formats: Some(recordings::as_text),
        loader: Some(Arc::new(Loader)),
        ..Selection::default()
    };
    py.detach(|| pathweave_scenario::Scenario::from_text(&name, text, Some(&folder), &selection))
        .map(|scenario| Scenario::new(scenario, name, size))
        .map_err(|diagnostics| refused(py, &diagnostics))
}

/// Reads a variant back from `Variant.resolved`: a scenario with that variant alone. Files with controllers are looked
/// for in `folder`, but for those that `files` has, by the names that the scenario has for them.
#[pyfunction]
#[pyo3(signature = (resolved, folder = None, files = None))]
pub fn from_resolved(
    py: Python<'_>,
    resolved: &str,
    folder: Option<PathBuf>,
    files: Option<BTreeMap<String, Vec<u8>>>,
) -> PyResult<Scenario> {
    let value = serde_json::from_str(resolved)
        .map_err(|error| ScenarioError::new_err(format!("no resolved scenario: {error}")))?;
    let files = files.unwrap_or_default().into_iter();
    let files: BTreeMap<String, Arc<[u8]>> = files
        .map(|(name, content)| (name, content.into()))
        .collect();
    let loader: Option<Arc<dyn ControllerLoader>> = Some(Arc::new(Loader));
    let read = || {
        let folder = folder.as_deref();
        pathweave_scenario::Scenario::from_resolved_with(&value, folder, files, loader)
    };
    py.detach(read)
        .map(|scenario| Scenario {
            name: scenario.title().to_owned(),
            inner: Arc::new(scenario),
            size: "quick".to_owned(),
        })
        .map_err(|errors| ScenarioError::new_err(errors.render(WIDTH, false)))
}

/// `Variant.hash` of the variant that was resolved to this, whether or not the files that it names are there.
#[pyfunction]
pub fn hash_of_resolved(resolved: &str, seed: u64) -> PyResult<String> {
    let value = serde_json::from_str(resolved)
        .map_err(|error| ScenarioError::new_err(format!("no resolved scenario: {error}")))?;
    Ok(pathweave_scenario::hash_of_resolved(&value, seed))
}

/// `Scenario.settings_hash` of these settings.
#[pyfunction]
pub fn hash_of_settings(settings: &str) -> PyResult<String> {
    let value = serde_json::from_str(settings)
        .map_err(|error| ScenarioError::new_err(format!("no settings: {error}")))?;
    Ok(pathweave_scenario::hash_of_settings(&value))
}

#[pymethods]
impl Scenario {
    /// The file's name without its ending.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }
    #[getter]
    fn title(&self) -> &str {
        self.inner.title()
    }
    /// The size in force.
    #[getter]
    fn size(&self) -> &str {
        &self.size
    }
    /// What all variants are variants of, as JSON, without what no result depends on.
    #[getter]
    fn settings(&self) -> String {
        self.inner.settings().to_string()
    }
    /// Identifies the settings, Pathweave's version among them.
    #[getter]
    fn settings_hash(&self) -> String {
        self.inner.settings_hash()
    }
    /// The names on each axis, in the file's order.
    #[getter]
    fn axes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut axes: Vec<(&str, Vec<&str>)> = Vec::new();
        for (axis, name) in self
            .inner
            .variants()
            .iter()
            .flat_map(|variant| &variant.axes)
        {
            match axes.iter_mut().find(|(other, _)| other == axis) {
                Some((_, names)) if names.contains(&name.as_str()) => {}
                Some((_, names)) => names.push(name),
                None => axes.push((axis, vec![name])),
            }
        }
        let result = PyDict::new(py);
        for (axis, names) in axes {
            result.set_item(axis, names)?;
        }
        Ok(result)
    }
    /// The axes that are sweeps, in order: of each its axis, keys, names, values, unit and whether it is logarithmic.
    /// Values and unit are None where the names are no numbers.
    #[getter]
    fn sweeps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let found = PyList::empty(py);
        for sweep in self.inner.sweeps() {
            let item = PyDict::new(py);
            item.set_item("axis", &sweep.axis)?;
            item.set_item("keys", &sweep.keys)?;
            item.set_item("names", &sweep.names)?;
            let numbers = sweep.numbers.as_ref();
            item.set_item("values", numbers.map(|numbers| &numbers.values))?;
            item.set_item("unit", numbers.map(|numbers| numbers.unit))?;
            let logarithmic = numbers.is_some_and(|numbers| numbers.logarithmic);
            item.set_item("logarithmic", logarithmic)?;
            found.append(item)?;
        }
        Ok(found)
    }
    #[getter]
    fn variants(&self) -> Vec<Variant> {
        (0..self.inner.variants().len())
            .map(|index| Variant {
                scenario: Arc::clone(&self.inner),
                index,
            })
            .collect()
    }
    #[getter]
    fn seeds(&self) -> Vec<u64> {
        self.inner.seeds().to_vec()
    }
    /// The names of the traffic groups.
    #[getter]
    fn groups(&self) -> Vec<String> {
        self.inner
            .variants()
            .first()
            .map_or_else(Vec::new, |variant| {
                let groups = variant.resolved["traffic"].as_array();
                let name = |group: &serde_json::Value| group["name"].as_str().map(str::to_owned);
                groups.into_iter().flatten().filter_map(name).collect()
            })
    }
}

/// A path: its RTT in seconds, the numbers of its links.
type Candidate = (f64, Vec<u32>);

/// One variant of a scenario.
#[pyclass(frozen)]
pub struct Variant {
    scenario: Arc<pathweave_scenario::Scenario>,
    index: usize,
}

impl Variant {
    fn inner(&self) -> &pathweave_scenario::Variant {
        &self.scenario.variants()[self.index]
    }
}

#[pymethods]
impl Variant {
    #[getter]
    fn axes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let axes = PyDict::new(py);
        for (axis, name) in &self.inner().axes {
            axes.set_item(axis, name)?;
        }
        Ok(axes)
    }
    #[getter]
    fn label(&self) -> &str {
        &self.inner().label
    }
    #[getter]
    fn slug(&self) -> &str {
        &self.inner().slug
    }
    #[getter]
    fn resolved(&self) -> String {
        self.inner().resolved.to_string()
    }
    /// The contents of the files with controllers that it was loaded with, by the scenario's names for them.
    #[getter]
    fn files<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let files = PyDict::new(py);
        for (name, content) in self.inner().controller_files() {
            files.set_item(name, PyBytes::new(py, content))?;
        }
        Ok(files)
    }
    /// Identifies what its results depend on but for the seed.
    #[getter]
    fn settings_hash(&self) -> String {
        self.inner().settings_hash()
    }
    fn hash(&self, seed: u64) -> String {
        self.inner().hash(seed)
    }
    /// The controllers of its flows with their parameters, some of them more than once.
    fn controllers<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyDict>)>> {
        let plan = self.inner().plan(0); // the same with every seed
        let mut found = Vec::new();
        for group in &plan.groups {
            let common = (&group.controller, &group.parameters);
            let own = group.listed.iter().map(|flow| match &flow.controller {
                Some((controller, parameters)) => (controller, parameters),
                None => common,
            });
            let all = group.listed.is_empty().then_some(common);
            for (controller, parameters) in all.into_iter().chain(own) {
                found.push((controller.name().to_owned(), values(py, parameters)?));
            }
        }
        Ok(found)
    }
    /// Runs it on this thread with rates in place of packets; `allocate` decides them.
    fn flow(&self, seed: u64, allocate: Bound<'_, PyAny>) -> PyResult<Output> {
        let plan = self.inner().plan(seed);
        let mut asking = Asking::new(allocate);
        Output::measured(|| pathweave_engine::flow(&plan, &mut asking))
            .map_err(|error| asking.error(&error))
    }
    /// The rates that the flows of a run of it could have had: tables `optimum` and
    /// `optimum_subflows`, the number of intervals, and of how many `allocate` was asked.
    #[allow(clippy::too_many_arguments)] // columns of a table
    fn along<'py>(
        &self,
        py: Python<'py>,
        seed: u64,
        group: Vec<String>,
        source: Vec<String>,
        destination: Vec<String>,
        start_s: Vec<f64>,
        end_s: Vec<f64>,
        limit: usize,
        allocate: Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyDict>, usize, usize)> {
        let plan = self.inner().plan(seed);
        let lives = lives(&plan, &group, &source, &destination, &start_s, &end_s)?;
        let mut asking = Asking::new(allocate);
        match pathweave_engine::optimum_in_hindsight(&plan, &lives, limit, &mut asking) {
            Ok(optimum) => {
                let tables = tables(py, &optimum.tables)?;
                Ok((tables, optimum.intervals, optimum.asked))
            }
            Err(error) => Err(asking.error(&error)),
        }
    }
    /// Settings that are likely not meant so: of each its key, what follows from it, and what to do.
    fn warnings(&self, py: Python<'_>, seed: u64) -> Vec<(String, String, String)> {
        let found = py.detach(|| pathweave_engine::warnings(&self.inner().plan(seed)));
        found
            .into_iter()
            .map(|warning| (warning.key, warning.text, warning.advice))
            .collect()
    }
    /// All shortest paths between pairs of hosts (indices): for each pair a list of paths, each its
    /// RTT without queues in seconds and the numbers of its links.
    fn candidates(&self, seed: u64, pairs: Vec<(u32, u32)>) -> PyResult<Vec<Vec<Candidate>>> {
        let plan = self.inner().plan(seed);
        let found = pathweave_engine::candidates(&plan, &pairs)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let path = |path: pathweave_engine::FluidPath| {
            let links = path.links.iter().map(|link| link.0).collect();
            (path.rtt.as_secs_f64(), links)
        };
        Ok(found
            .into_iter()
            .map(|paths| paths.into_iter().map(path).collect())
            .collect())
    }
    /// A run that has not started. It takes up to this many threads, as far as they are worth it. `events` is the number
    /// of a flow whose events [`Run`] tells.
    #[pyo3(signature = (seed, threads = 1, events = None))]
    fn prepare(&self, py: Python<'_>, seed: u64, threads: usize, events: Option<u32>) -> Run {
        py.detach(|| {
            let mut plan = self.inner().plan(seed);
            plan.record.events = events;
            Run::new(plan, threads)
        })
    }
}
