//! Fluid runs: Python decides the rates.

use numpy::{PyArray1, PyArrayMethods};
use pathweave_control::{Parameters, Value};
use pathweave_engine::{Allocation, Allocator, Answer, FluidFlow, Life, Problem, RunError};
use pathweave_scenario::Plan;
use pathweave_units::Time;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::collections::HashMap;

/// A Python callable that takes a problem as a dictionary and gives rates (bit/s, by path) with flags
/// (by flow) for whether a flow's split is unique, or `None` for enough.
pub struct Asking<'py> {
    callable: Bound<'py, PyAny>,
    /// What it raised.
    raised: Option<PyErr>,
}

impl<'py> Asking<'py> {
    pub fn new(callable: Bound<'py, PyAny>) -> Asking<'py> {
        Asking {
            callable,
            raised: None,
        }
    }

    /// The error to raise for a run that failed.
    pub fn error(self, error: &RunError) -> PyErr {
        let text = match error {
            RunError::Plan(reason) => reason.clone(),
            other => other.to_string(),
        };
        self.raised.unwrap_or_else(|| PyRuntimeError::new_err(text))
    }

    fn ask(&self, problem: &Problem<'_>) -> PyResult<Answer> {
        let given = self
            .callable
            .call1((dictionary(self.callable.py(), problem)?,))?;
        if given.is_none() {
            return Ok(Answer::Enough);
        }
        let (rates, split_unique): (Bound<'_, PyArray1<f64>>, Bound<'_, PyArray1<bool>>) =
            given.extract()?;
        let (rates, split_unique) = (rates.to_vec()?, split_unique.to_vec()?);
        let paths: usize = problem.flows.iter().map(|flow| flow.paths.len()).sum();
        if rates.len() != paths {
            let text = format!("{} rates for {paths} paths", rates.len());
            return Err(PyValueError::new_err(text));
        }
        if split_unique.len() != problem.flows.len() {
            let (flags, flows) = (split_unique.len(), problem.flows.len());
            let text = format!("{flags} flags for {flows} flows");
            return Err(PyValueError::new_err(text));
        }
        Ok(Answer::Rates(Allocation {
            rates,
            split_unique,
        }))
    }
}

impl Allocator for Asking<'_> {
    fn allocate(&mut self, problem: &Problem<'_>) -> Result<Answer, String> {
        self.ask(problem).map_err(|error| {
            let text = error.to_string();
            self.raised = Some(error);
            text
        })
    }
}

fn dictionary<'py>(py: Python<'py>, problem: &Problem<'_>) -> PyResult<Bound<'py, PyDict>> {
    let capacities = problem.capacities.iter().map(|rate| rate.as_bps() as f64);
    let mut controllers: Vec<(&str, &Parameters)> = Vec::new();
    let mut controller_of: Vec<u64> = Vec::new();
    let (mut flow_of, mut subflow, mut rtt) = (Vec::new(), Vec::new(), Vec::new());
    let (mut links, mut first_link) = (Vec::new(), vec![0u64]);
    for (index, flow) in (0u64..).zip(&problem.flows) {
        let same =
            |(_, parameters): &(&str, &Parameters)| std::ptr::eq(*parameters, flow.parameters);
        let place = controllers.iter().position(same).unwrap_or_else(|| {
            controllers.push((flow.controller.name(), flow.parameters));
            controllers.len() - 1
        });
        controller_of.push(place as u64);
        for path in &flow.paths {
            flow_of.push(index);
            subflow.push(u64::from(path.subflow));
            rtt.push(path.rtt.as_secs_f64());
            links.extend(path.links.iter().map(|link| u64::from(link.0)));
            first_link.push(links.len() as u64);
        }
    }
    let listed = PyList::empty(py);
    for (name, parameters) in controllers {
        listed.append((name, values(py, parameters)?))?;
    }
    let numbers = problem.flows.iter().map(|flow| u64::from(flow.number));
    let result = PyDict::new(py);
    result.set_item("time_s", problem.now.as_secs_f64())?;
    result.set_item("done", problem.done)?;
    result.set_item("packet_bytes", problem.packet.get())?;
    result.set_item("capacities_bps", PyArray1::from_iter(py, capacities))?;
    result.set_item("flows", PyArray1::from_iter(py, numbers))?;
    let ends = |of: fn(&FluidFlow<'_>) -> u32| {
        let ends = problem.flows.iter().map(move |flow| u64::from(of(flow)));
        PyArray1::from_iter(py, ends)
    };
    result.set_item("source", ends(|flow| flow.source))?;
    result.set_item("destination", ends(|flow| flow.destination))?;
    result.set_item("controllers", listed)?;
    result.set_item("controller_of", PyArray1::from_vec(py, controller_of))?;
    result.set_item("flow_of", PyArray1::from_vec(py, flow_of))?;
    result.set_item("subflow", PyArray1::from_vec(py, subflow))?;
    result.set_item("rtt_s", PyArray1::from_vec(py, rtt))?;
    result.set_item("first_link", PyArray1::from_vec(py, first_link))?;
    result.set_item("links", PyArray1::from_vec(py, links))?;
    Ok(result)
}

/// The parameters of a controller by their names.
pub fn values<'py>(py: Python<'py>, parameters: &Parameters) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    for (name, value) in parameters.iter() {
        match value {
            Value::Number(number) => result.set_item(name, number)?,
            Value::Numbers(numbers) => result.set_item(name, numbers)?,
            Value::Text(word) => result.set_item(name, word)?,
        }
    }
    Ok(result)
}

/// The flows of a stored run, in the order of their numbers, from columns of its tables.
///
/// Raises `ValueError` for a group or host that the plan has not.
pub fn lives(
    plan: &Plan,
    group: &[String],
    source: &[String],
    destination: &[String],
    start_s: &[f64],
    end_s: &[f64],
) -> PyResult<Vec<Life>> {
    let fabric = &plan.fabric;
    let hosts = fabric.hosts.iter().map(|&host| &*fabric.node(host).name);
    let hosts: HashMap<&str, u32> = hosts.zip(0..).collect();
    let groups = plan.groups.iter().map(|group| &*group.name);
    let groups: HashMap<&str, u32> = groups.zip(0..).collect();
    let found = |places: &HashMap<&str, u32>, kind: &str, name: &String| {
        let unknown = || PyValueError::new_err(format!("the scenario has no {kind} \"{name}\""));
        places.get(&**name).copied().ok_or_else(unknown)
    };
    (0..group.len())
        .map(|row| {
            Ok(Life {
                group: found(&groups, "traffic group", &group[row])?,
                source: found(&hosts, "host", &source[row])?,
                destination: found(&hosts, "host", &destination[row])?,
                start: Time::from_secs_f64(start_s[row]),
                end: Time::from_secs_f64(end_s[row]),
            })
        })
        .collect()
}
