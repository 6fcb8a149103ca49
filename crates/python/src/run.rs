//! A run on a thread of its own, and what it gives back.

use crate::ending::WaitedFor;
use numpy::PyArray1;
use pathweave_engine::{Column, Progress, RunError, Table, most_threads, peak_rss_mb};
use pathweave_scenario::{GroupPlan, Plan};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use rustix::time::{ClockId, clock_gettime};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

enum State {
    Prepared(Box<Plan>, usize),
    Running,
    Over(Result<Output, RunError>),
    Taken,
}

struct Finished {
    output: pathweave_engine::Output,
    wall_s: f64,
    cpu_s: f64,
}

/// One variant and seed, to be run once.
#[pyclass(frozen)]
pub struct Run {
    state: Arc<Mutex<State>>,
    progress: Arc<Progress>,
    until_s: Option<f64>,
    waited_for: WaitedFor,
    /// Threads that are worth it.
    #[pyo3(get)]
    most_threads: usize,
}

fn thread_cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Whether controllers of a plan need the interpreter for each acknowledgement.
fn needs_interpreter(plan: &Plan) -> bool {
    let mut controllers = plan.groups.iter().flat_map(GroupPlan::controllers);
    controllers.any(|(controller, _)| controller.one_thread())
}

/// Runs a plan on this many threads; a panic becomes a failed run that says so.
fn simulate(plan: &Plan, progress: &Progress, threads: usize) -> Result<Output, RunError> {
    let alone = || pathweave_engine::run_on_threads(plan, progress, threads);
    let run = || {
        if needs_interpreter(plan) {
            // This thread makes itself known to the interpreter once, rather than for each acknowledgement.
            Python::attach(|py| py.detach(alone))
        } else {
            alone()
        }
    };
    let mut output = Output::measured(|| {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_or_else(|_| {
            Err(RunError::Check(
                "the simulator panicked; its message is above".to_owned(),
            ))
        })
    })?;
    output.0.cpu_s += progress.others_cpu().as_secs_f64();
    Ok(output)
}

impl Run {
    /// A run of this plan that has not started, on up to this many threads.
    pub fn new(plan: Plan, threads: usize) -> Run {
        Run {
            most_threads: most_threads(&plan),
            until_s: plan.stop.at.map(|at| at.as_secs_f64()),
            state: Arc::new(Mutex::new(State::Prepared(Box::new(plan), threads))),
            progress: Arc::new(Progress::default()),
            waited_for: WaitedFor::default(),
        }
    }
}

#[pymethods]
impl Run {
    /// Starts it on a thread of its own and returns at once.
    fn start(&self, py: Python<'_>) -> PyResult<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State::Prepared(plan, threads) = std::mem::replace(&mut *state, State::Running) else {
            return Err(PyRuntimeError::new_err("a run starts once"));
        };
        drop(state);
        let needs_interpreter = needs_interpreter(&plan);
        let (state, progress) = (Arc::clone(&self.state), Arc::clone(&self.progress));
        let thread = std::thread::Builder::new()
            .name("simulation".to_owned())
            .spawn(move || {
                let result = simulate(&plan, &progress, threads);
                *state.lock().unwrap_or_else(PoisonError::into_inner) = State::Over(result);
            })?;
        if needs_interpreter {
            self.waited_for
                .begin(py, Arc::clone(&self.progress), thread)?;
        }
        Ok(())
    }

    /// How far it is.
    fn poll<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let word = match &*state {
            State::Prepared(..) | State::Running => "running",
            State::Over(Ok(_)) | State::Taken => "done",
            State::Over(Err(RunError::Cancelled)) => "cancelled",
            State::Over(Err(_)) => "failed",
        };
        let done = matches!(&*state, State::Over(_) | State::Taken);
        drop(state);
        if done {
            self.waited_for.end(py)?;
        }
        let progress = PyDict::new(py);
        progress.set_item("state", word)?;
        progress.set_item("time_s", self.progress.time().as_secs_f64())?;
        progress.set_item("until_s", self.until_s)?;
        progress.set_item(
            "fraction",
            if done { 1.0 } else { self.progress.fraction() },
        )?;
        progress.set_item("packet_hops", self.progress.packet_hops())?;
        progress.set_item("flows_started", self.progress.flows_started())?;
        progress.set_item("flows_finished", self.progress.flows_finished())?;
        Ok(progress)
    }

    /// What has happened to the flow whose events were asked for, since the last call: a line each.
    fn events(&self) -> Vec<String> {
        let events = self.progress.take_events();
        events.iter().map(ToString::to_string).collect()
    }

    /// Asks it to end soon, without results.
    fn cancel(&self) {
        self.progress.cancel();
    }

    /// Its results, once.
    fn take(&self) -> PyResult<Output> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *state, State::Taken) {
            State::Over(Ok(output)) => Ok(output),
            State::Over(Err(error)) => Err(PyRuntimeError::new_err(error.to_string())),
            other => {
                *state = other;
                Err(PyRuntimeError::new_err("the run has no results to take"))
            }
        }
    }
}

/// What a run gave.
#[pyclass(frozen)]
pub struct Output(Box<Finished>);

impl Output {
    /// Of a run on this thread.
    pub fn measured(
        run: impl FnOnce() -> Result<pathweave_engine::Output, RunError>,
    ) -> Result<Output, RunError> {
        let (wall, cpu) = (Instant::now(), thread_cpu_seconds());
        let output = run()?;
        let (wall_s, cpu_s) = (wall.elapsed().as_secs_f64(), thread_cpu_seconds() - cpu);
        Ok(Output(Box::new(Finished {
            output,
            wall_s,
            cpu_s,
        })))
    }
}

fn column<'py>(py: Python<'py>, column: &Column) -> PyResult<Bound<'py, PyAny>> {
    Ok(match column {
        Column::Integers(values) => PyArray1::from_slice(py, values).into_any(),
        Column::Numbers(values) => PyArray1::from_slice(py, values).into_any(),
        Column::Flags(values) => PyArray1::from_slice(py, values).into_any(),
        Column::Labels { names, codes } => {
            let names: Vec<_> = names.iter().map(|name| PyString::new(py, name)).collect();
            PyList::new(py, codes.iter().map(|&code| &names[code as usize]))?.into_any()
        }
    })
}

/// Tables as dictionaries of columns.
pub fn tables<'py, 'a>(
    py: Python<'py>,
    tables: impl IntoIterator<Item = &'a Table>,
) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    for table in tables {
        let columns = PyDict::new(py);
        for (name, values) in &table.columns {
            columns.set_item(name, column(py, values)?)?;
        }
        result.set_item(table.name, columns)?;
    }
    Ok(result)
}

#[pymethods]
impl Output {
    #[getter]
    fn tables<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let output = &self.0.output;
        tables(py, output.tables.iter().chain(&output.explanations))
    }
    #[getter]
    fn captures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let captures = PyList::empty(py);
        for capture in &self.0.output.captures {
            let item = PyDict::new(py);
            item.set_item("name", &capture.name)?;
            item.set_item("flow", capture.flow)?;
            item.set_item("packets", capture.packets)?;
            item.set_item("pcapng", PyBytes::new(py, &capture.pcapng))?;
            captures.append(item)?;
        }
        Ok(captures)
    }
    #[getter]
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counters = &self.0.output.counters;
        let result = PyDict::new(py);
        result.set_item("ended_s", counters.ended.as_secs_f64())?;
        result.set_item("packet_hops", counters.packet_hops)?;
        result.set_item("dropped", counters.dropped)?;
        result.set_item("lost_to_failures", counters.lost_to_failures)?;
        result.set_item("marked", counters.marked)?;
        result.set_item("flows_started", counters.flows_started)?;
        result.set_item("flows_finished", counters.flows_finished)?;
        result.set_item("flows_stopped", counters.flows_stopped)?;
        result.set_item("delivered_bytes", counters.delivered_bytes)?;
        result.set_item("goodput_share", self.0.output.goodput_share)?;
        Ok(result)
    }
    #[getter]
    fn results_hash(&self) -> &str {
        &self.0.output.hash
    }
    #[getter]
    fn packet_hops(&self) -> u64 {
        self.0.output.counters.packet_hops
    }
    #[getter]
    fn wall_s(&self) -> f64 {
        self.0.wall_s
    }
    #[getter]
    fn cpu_s(&self) -> f64 {
        self.0.cpu_s
    }
    #[getter]
    fn peak_rss_mb(&self) -> f64 {
        peak_rss_mb()
    }
    #[getter]
    fn verdict(&self) -> &'static str {
        self.0.output.verdict.as_str()
    }
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.0.output.notes.clone()
    }
}
