//! A subflow as a controller in Python sees it.

use super::ack::Ack;
use pathweave_control::{LARGEST_WINDOW, PathState};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// The congestion state of one subflow, lent to a controller for one call.
///
/// What it holds is a copy: the transport's own is brought up to date when the call is over.
#[pyclass(module = "pathweave.controller")]
pub struct Path {
    path: pathweave_control::Path,
    lent: bool,
    written: bool,
    /// The line that set a window which it cannot keep when the call is over.
    line: Option<u32>,
}

/// Whether a subflow may have this window when a call is over.
pub fn is_window(packets: f64) -> bool {
    (1.0..=LARGEST_WINDOW).contains(&packets)
}

/// The line of Python that is being executed.
fn current_line(py: Python<'_>) -> PyResult<u32> {
    let frame = py.import("sys")?.call_method0("_getframe")?;
    frame.getattr("f_lineno")?.extract()
}

/// A subflow's state by name, as `Path.state` gives it.
fn word(state: PathState) -> &'static str {
    match state {
        PathState::Opening => "opening",
        PathState::Active => "active",
        PathState::Standby => "standby",
        PathState::Failed => "failed",
        _ => "closed",
    }
}

impl Path {
    /// One that nothing is known of, and that has not been lent.
    pub fn new() -> Path {
        Path {
            path: pathweave_control::Path::new(1.0, 1.0, f64::INFINITY),
            lent: false,
            written: false,
            line: None,
        }
    }

    /// Lends what the transport has.
    pub fn lend(&mut self, path: &pathweave_control::Path) {
        self.path.clone_from(path);
        self.lent = true;
        self.written = false;
        self.line = None;
    }

    /// The call is over: what the controller has written, if it has written anything.
    pub fn take_back(&mut self) -> Option<&pathweave_control::Path> {
        self.lent = false;
        self.written.then_some(&self.path)
    }

    /// The line that set a window which is too small or too large.
    pub fn line(&self) -> Option<u32> {
        self.line
    }

    /// What is lent.
    pub fn read(&self) -> PyResult<&pathweave_control::Path> {
        if self.lent {
            return Ok(&self.path);
        }
        Err(PyRuntimeError::new_err(
            "this path was lent for a call that is over; keep numbers, not paths: the next call has the paths as they are then",
        ))
    }

    /// What is lent, to be changed.
    pub fn write(&mut self) -> PyResult<&mut pathweave_control::Path> {
        self.read()?;
        self.written = true;
        Ok(&mut self.path)
    }
}

#[pymethods]
impl Path {
    #[getter]
    fn window(&self) -> PyResult<f64> {
        Ok(self.read()?.window)
    }
    #[setter]
    fn set_window(&mut self, py: Python<'_>, packets: f64) -> PyResult<()> {
        if !packets.is_finite() {
            return Err(PyValueError::new_err(format!(
                "window must be a finite number of packets, got {packets}"
            )));
        }
        self.write()?.window = packets;
        // The call may still bring it within bounds.
        self.line = match is_window(packets) {
            true => None,
            false => current_line(py).ok(),
        };
        Ok(())
    }
    #[getter]
    fn ssthresh(&self) -> PyResult<f64> {
        Ok(self.read()?.ssthresh)
    }
    #[setter]
    fn set_ssthresh(&mut self, packets: f64) -> PyResult<()> {
        if packets.is_nan() || packets < 0.0 {
            return Err(PyValueError::new_err(format!(
                "ssthresh must be a number of packets from 0, or infinite, got {packets}"
            )));
        }
        self.write()?.ssthresh = packets;
        Ok(())
    }
    #[getter]
    fn may_send(&self) -> PyResult<bool> {
        Ok(self.read()?.may_send)
    }
    #[setter]
    fn set_may_send(&mut self, yes: bool) -> PyResult<()> {
        self.write()?.may_send = yes;
        Ok(())
    }
    #[getter]
    fn minimum_window(&self) -> PyResult<f64> {
        Ok(self.read()?.minimum_window)
    }
    #[getter]
    fn smoothed_rtt(&self) -> PyResult<u64> {
        Ok(self.read()?.smoothed_rtt.as_picos())
    }
    #[getter]
    fn minimum_rtt(&self) -> PyResult<u64> {
        Ok(self.read()?.minimum_rtt.as_picos())
    }
    #[getter]
    fn latest_rtt(&self) -> PyResult<u64> {
        Ok(self.read()?.latest_rtt.as_picos())
    }
    #[getter]
    fn sent(&self) -> PyResult<u64> {
        Ok(self.read()?.sent)
    }
    #[getter]
    fn acked(&self) -> PyResult<u64> {
        Ok(self.read()?.acked)
    }
    #[getter]
    fn in_flight(&self) -> PyResult<u32> {
        Ok(self.read()?.in_flight)
    }
    #[getter]
    fn in_recovery(&self) -> PyResult<bool> {
        Ok(self.read()?.in_recovery)
    }
    #[getter]
    fn growth_by_marked_acks(&self) -> PyResult<bool> {
        Ok(self.read()?.growth_by_marked_acks)
    }
    #[getter]
    fn loss_limit(&self) -> PyResult<f64> {
        Ok(self.read()?.loss_limit)
    }
    #[getter]
    fn slow_start_limit(&self) -> PyResult<u32> {
        Ok(self.read()?.slow_start_limit)
    }
    #[getter]
    fn packet_bytes(&self) -> PyResult<u64> {
        Ok(self.read()?.packet.get())
    }
    #[getter]
    fn state(&self) -> PyResult<&'static str> {
        Ok(word(self.read()?.state))
    }
    #[getter]
    fn is_active(&self) -> PyResult<bool> {
        Ok(self.read()?.is_active())
    }
    #[getter]
    fn has_rtt(&self) -> PyResult<bool> {
        Ok(self.read()?.has_rtt())
    }
    #[getter]
    fn rtt_seconds(&self) -> PyResult<f64> {
        Ok(self.read()?.rtt_seconds())
    }
    #[getter]
    fn packets_per_second(&self) -> PyResult<f64> {
        Ok(self.read()?.packets_per_second())
    }
    #[getter]
    fn in_slow_start(&self) -> PyResult<bool> {
        Ok(self.read()?.in_slow_start())
    }
    fn may_grow_by(&self, ack: &Ack) -> PyResult<bool> {
        Ok(self.read()?.may_grow_by(ack.read()?))
    }
    fn __repr__(&self) -> String {
        if self.lent {
            let path = &self.path;
            format!(
                "<Path window={} ssthresh={} {}>",
                path.window,
                path.ssthresh,
                word(path.state)
            )
        } else {
            "<Path of a call that is over>".to_owned()
        }
    }
}
