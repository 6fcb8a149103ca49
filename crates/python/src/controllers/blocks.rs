//! The parts that controllers share, for those in Python: the same code, so the same bits.

use super::path::Path;
use pathweave_control::{Loss, loss, slow_start as slow_starting};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The loss that a word of `pathweave.controller.Loss` stands for.
fn loss_of(word: &str) -> PyResult<Loss> {
    match word {
        "fast-retransmit" => Ok(Loss::FastRetransmit),
        "timeout" => Ok(Loss::Timeout),
        other => Err(PyValueError::new_err(format!(
            "loss must be \"fast-retransmit\" or \"timeout\", got \"{other}\""
        ))),
    }
}

#[pyfunction]
pub fn slow_start(path: &mut Path, packets: u32) -> PyResult<u32> {
    Ok(slow_starting::grow(path.write()?, packets))
}

#[pyfunction]
pub fn slow_start_by(path: &mut Path, packets: u32, step: f64) -> PyResult<u32> {
    if !(step > 0.0 && step.is_finite()) {
        return Err(PyValueError::new_err(format!(
            "step must be a finite number above 0, got {step}"
        )));
    }
    Ok(slow_starting::grow_by(path.write()?, packets, step))
}

#[pyfunction]
#[pyo3(signature = (path, loss, window = None))]
pub fn respond_to_loss(path: &mut Path, loss: &str, window: Option<f64>) -> PyResult<()> {
    let loss = loss_of(loss)?;
    let path = path.write()?;
    let window = window.unwrap_or(path.window);
    if !window.is_finite() {
        return Err(PyValueError::new_err(format!(
            "window must be a finite number of packets, got {window}"
        )));
    }
    loss::respond_from(path, loss, window);
    Ok(())
}

#[pyfunction]
pub fn cut_to(path: &mut Path, window: f64) -> PyResult<()> {
    let least = path.read()?.minimum_window;
    cut_within(path, window, least)
}

#[pyfunction]
pub fn cut_within(path: &mut Path, window: f64, least: f64) -> PyResult<()> {
    if !(window.is_finite() && least >= 1.0 && least.is_finite()) {
        return Err(PyValueError::new_err(format!(
            "a cut needs a finite window and a least one of at least 1 packet, got {window} and {least}"
        )));
    }
    loss::cut_within(path.write()?, window, least);
    Ok(())
}

/// Tells when a round ends.
#[pyclass(module = "pathweave.controller")]
#[derive(Default)]
pub struct Round(pathweave_control::Round);

#[pymethods]
impl Round {
    #[new]
    #[pyo3(signature = (path = None))]
    fn new(path: Option<&Path>) -> PyResult<Round> {
        Ok(Round(match path {
            None => pathweave_control::Round::STARTING,
            Some(path) => pathweave_control::Round::beginning(path.read()?),
        }))
    }
    fn is_over(&self, path: &Path) -> PyResult<bool> {
        Ok(self.0.is_over(path.read()?))
    }
    fn begin(&mut self, path: &Path) -> PyResult<()> {
        self.0 = pathweave_control::Round::beginning(path.read()?);
        Ok(())
    }
    fn advance(&mut self, path: &Path) -> PyResult<bool> {
        Ok(self.0.advance(path.read()?))
    }
}

/// One cut a round.
#[pyclass(module = "pathweave.controller")]
pub struct OncePerRound(pathweave_control::OncePerRound);

/// Checks the share of a window.
fn share(share: f64) -> PyResult<f64> {
    if (0.0..=1.0).contains(&share) {
        return Ok(share);
    }
    Err(PyValueError::new_err(format!(
        "share must be between 0 and 1, got {share}"
    )))
}

#[pymethods]
impl OncePerRound {
    #[new]
    fn new() -> OncePerRound {
        OncePerRound(pathweave_control::OncePerRound::new())
    }
    fn may_cut(&self, path: &Path) -> PyResult<bool> {
        Ok(self.0.may_cut(path.read()?))
    }
    fn on_mark(&mut self, path: &mut Path, share: f64) -> PyResult<bool> {
        let share = self::share(share)?;
        Ok(self.0.on_mark(path.write()?, share))
    }
    #[pyo3(signature = (path, loss, share = 0.5))]
    fn on_loss(&mut self, path: &mut Path, loss: &str, share: f64) -> PyResult<()> {
        let (loss, share) = (loss_of(loss)?, self::share(share)?);
        self.0.on_loss_of(path.write()?, loss, share);
        Ok(())
    }
}
