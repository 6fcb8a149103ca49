//! A controller of one connection whose methods are in Python.

use super::ack::Ack;
use super::class::Class;
use super::path::{Path, is_window};
use pathweave_control::{
    Change, Controller, Fault, LARGEST_WINDOW, Loss, Parameters, Paths, Seat, SubflowId,
};
use pathweave_units::Time;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};
use std::fmt;
use std::sync::Arc;

/// A controller of one connection, an object of a class in Python.
///
/// The interpreter's lock is held for the length of a call, and never while this thread waits for another one.
pub struct PythonController {
    class: Arc<Class>,
    parameters: Parameters,
    seat: Seat,
    /// The latest time that it has been told.
    now: Time,
    /// The object, once it has been made. It is made for the first call.
    instance: Option<Instance>,
    /// It has failed: nothing is called any more.
    over: bool,
}

impl fmt::Debug for PythonController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PythonController")
            .field(&self.class.shown)
            .field(&self.seat.flow)
            .finish_non_exhaustive()
    }
}

/// An object and what is used again for every call of it.
struct Instance {
    on_ack: Py<PyAny>,
    on_loss: Py<PyAny>,
    on_subflow: Py<PyAny>,
    /// The subflows, and the same as the tuple that methods get.
    paths: Vec<Py<Path>>,
    tuple: Py<PyAny>,
    ack: Py<Ack>,
    numbers: Vec<Py<PyInt>>,
    /// By subflow: the arguments of `on_ack`.
    ack_arguments: Vec<Py<PyTuple>>,
}

impl Instance {
    fn new(
        py: Python<'_>,
        class: &Class,
        parameters: &Parameters,
        subflows: usize,
    ) -> PyResult<Instance> {
        let object = class.object(py, parameters)?;
        let paths: Vec<Py<Path>> = (0..subflows)
            .map(|_| Py::new(py, Path::new()))
            .collect::<PyResult<_>>()?;
        let list = PyTuple::new(py, &paths)?;
        let tuple = class.paths.bind(py).call1((list,))?;
        let ack = Py::new(py, Ack::new())?;
        let numbers: Vec<Py<PyInt>> = (0..subflows)
            .map(|r| r.into_pyobject(py).map(Bound::unbind).map_err(PyErr::from))
            .collect::<PyResult<_>>()?;
        let ack_arguments = numbers
            .iter()
            .map(|r| Ok((&tuple, r, &ack).into_pyobject(py)?.unbind()))
            .collect::<PyResult<_>>()?;
        Ok(Instance {
            on_ack: object.getattr(intern!(py, "on_ack"))?.unbind(),
            on_loss: object.getattr(intern!(py, "on_loss"))?.unbind(),
            on_subflow: object.getattr(intern!(py, "on_subflow"))?.unbind(),
            paths,
            tuple: tuple.unbind(),
            ack,
            numbers,
            ack_arguments,
        })
    }

    fn lend(&self, py: Python<'_>, paths: &Paths<'_>) {
        for (own, path) in self.paths.iter().zip(paths.iter()) {
            own.borrow_mut(py).lend(path);
        }
    }

    /// Writes back what the call has written. When a call has failed nothing of it counts.
    fn take_back(
        &self,
        py: Python<'_>,
        paths: &mut Paths<'_>,
        method: &str,
        failed: bool,
    ) -> Result<(), String> {
        let mut wrong = None;
        for (r, own) in (0..).zip(&self.paths) {
            let mut own = own.borrow_mut(py);
            let line = own.line();
            let Some(written) = own.take_back() else {
                continue;
            };
            if failed {
                continue;
            }
            if !is_window(written.window) {
                wrong.get_or_insert_with(|| {
                    let line = line.map_or_else(String::new, |line| format!(" (set in line {line})"));
                    format!(
                        "{method} left subflow {r} a window of {} packets{line}; a window is at least 1 packet and at most {LARGEST_WINDOW:e}",
                        written.window
                    )
                });
                continue;
            }
            let path = &mut paths[SubflowId(r)];
            path.window = written.window;
            path.ssthresh = written.ssthresh;
            path.may_send = written.may_send;
        }
        wrong.map_or(Ok(()), Err)
    }
}

/// What is called.
enum Call<'a> {
    Ack(&'a pathweave_control::Ack),
    Loss(Loss),
    Subflow(Change),
}

impl PythonController {
    /// A controller for a new connection, from checked parameters.
    pub fn new(class: Arc<Class>, parameters: Parameters, seat: Seat) -> PythonController {
        PythonController {
            class,
            parameters,
            now: seat.start,
            seat,
            instance: None,
            over: false,
        }
    }

    fn call(&mut self, paths: &mut Paths<'_>, r: SubflowId, call: &Call<'_>) {
        if self.over || self.seat.faults.any() {
            return;
        }
        let called = Python::try_attach(|py| self.attached(py, paths, r, call));
        let told = called.unwrap_or_else(|| Err("the interpreter has ended".to_owned()));
        if let Err(message) = told {
            self.over = true;
            self.seat.faults.report(Fault {
                flow: self.seat.flow,
                at: self.now,
                message,
            });
        }
    }

    fn attached(
        &mut self,
        py: Python<'_>,
        paths: &mut Paths<'_>,
        r: SubflowId,
        call: &Call<'_>,
    ) -> Result<(), String> {
        let class = &self.class;
        let instance = match &mut self.instance {
            Some(instance) => instance,
            none => {
                let made = Instance::new(py, class, &self.parameters, paths.len());
                none.insert(made.map_err(|error| class.described(py, &error))?)
            }
        };
        instance.lend(py, paths);
        let place = r.0 as usize;
        let (method, result) = match call {
            Call::Ack(ack) => {
                instance.ack.borrow_mut(py).lend(ack);
                let arguments = instance.ack_arguments[place].bind(py);
                let result = instance.on_ack.bind(py).call1(arguments);
                instance.ack.borrow_mut(py).take_back();
                ("on_ack", result)
            }
            Call::Loss(loss) => {
                let now = self.now.as_picos();
                let number = &instance.numbers[place];
                let arguments = (&instance.tuple, number, class.loss(*loss), now);
                ("on_loss", instance.on_loss.bind(py).call1(arguments))
            }
            Call::Subflow(change) => {
                let number = &instance.numbers[place];
                let arguments = (&instance.tuple, number, class.change(*change));
                ("on_subflow", instance.on_subflow.bind(py).call1(arguments))
            }
        };
        let written = instance.take_back(py, paths, method, result.is_err());
        if let Err(error) = result {
            return Err(class.described(py, &error));
        }
        written.map_err(|text| format!("{}.{text}", class.shown))
    }
}

impl Controller for PythonController {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &pathweave_control::Ack) {
        self.now = ack.now;
        self.call(paths, r, &Call::Ack(ack));
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, now: Time) {
        self.now = now;
        self.call(paths, r, &Call::Loss(loss));
    }

    fn on_subflow(&mut self, paths: &mut Paths<'_>, r: SubflowId, change: Change) {
        self.call(paths, r, &Call::Subflow(change));
    }
}
