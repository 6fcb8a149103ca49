//! An acknowledgement as a controller in Python sees it.

use pathweave_control::Feedback;
use pathweave_units::Time;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// What one acknowledgement tells, lent to a controller for one call.
#[pyclass(module = "pathweave.controller")]
pub struct Ack {
    ack: pathweave_control::Ack,
    lent: bool,
}

impl Ack {
    /// One that has not been lent.
    pub fn new() -> Ack {
        Ack {
            ack: pathweave_control::Ack {
                now: Time::ZERO,
                packets: 0,
                ce: 0,
                rtt: None,
                recovery: false,
                window_limited: false,
                feedback: Feedback::None,
            },
            lent: false,
        }
    }

    /// Lends an acknowledgement.
    pub fn lend(&mut self, ack: &pathweave_control::Ack) {
        self.ack = *ack;
        self.lent = true;
    }

    /// The call is over.
    pub fn take_back(&mut self) {
        self.lent = false;
    }

    /// What is lent.
    pub fn read(&self) -> PyResult<&pathweave_control::Ack> {
        if self.lent {
            return Ok(&self.ack);
        }
        Err(PyRuntimeError::new_err(
            "this acknowledgement was lent for a call that is over; keep numbers, not acknowledgements",
        ))
    }
}

#[pymethods]
impl Ack {
    #[getter]
    fn now(&self) -> PyResult<u64> {
        Ok(self.read()?.now.as_picos())
    }
    #[getter]
    fn packets(&self) -> PyResult<u32> {
        Ok(self.read()?.packets)
    }
    #[getter]
    fn ce(&self) -> PyResult<u32> {
        Ok(self.read()?.ce)
    }
    #[getter]
    fn rtt(&self) -> PyResult<Option<u64>> {
        Ok(self.read()?.rtt.map(Time::as_picos))
    }
    #[getter]
    fn recovery(&self) -> PyResult<bool> {
        Ok(self.read()?.recovery)
    }
    #[getter]
    fn window_limited(&self) -> PyResult<bool> {
        Ok(self.read()?.window_limited)
    }
    #[getter]
    fn lets_window_grow(&self) -> PyResult<bool> {
        Ok(self.read()?.lets_window_grow())
    }
    fn __repr__(&self) -> String {
        if self.lent {
            let ack = &self.ack;
            format!(
                "<Ack now={} packets={} ce={}>",
                ack.now, ack.packets, ack.ce
            )
        } else {
            "<Ack of a call that is over>".to_owned()
        }
    }
}
