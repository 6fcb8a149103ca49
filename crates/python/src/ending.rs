//! Runs that need the interpreter end before it does.

use pathweave_engine::Progress;
use pyo3::intern;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// What the interpreter calls when it ends: it cancels a run, and waits for its thread.
///
/// A thread that asks for an interpreter that is ending would be stopped wherever it is.
#[pyclass(frozen)]
struct Ending {
    progress: Arc<Progress>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[pymethods]
impl Ending {
    fn __call__(&self, py: Python<'_>) {
        self.progress.cancel();
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(thread) = thread.take() {
            // It has caught its panics.
            let _ = py.detach(|| thread.join());
        }
    }
}

/// A thread that the interpreter waits for when it ends, until it is told not to.
#[derive(Default)]
pub struct WaitedFor(Mutex<Option<Py<Ending>>>);

impl WaitedFor {
    /// From now on the interpreter ends no sooner than this thread, which carries out the run with this progress.
    pub fn begin(
        &self,
        py: Python<'_>,
        progress: Arc<Progress>,
        thread: JoinHandle<()>,
    ) -> PyResult<()> {
        let thread = Mutex::new(Some(thread));
        let ending = Py::new(py, Ending { progress, thread })?;
        let register = py.import("atexit")?.getattr(intern!(py, "register"))?;
        register.call1((&ending,))?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(ending);
        Ok(())
    }

    /// The thread is over.
    pub fn end(&self, py: Python<'_>) -> PyResult<()> {
        let ending = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(ending) = ending {
            let unregister = py.import("atexit")?.getattr(intern!(py, "unregister"))?;
            unregister.call1((ending,))?;
        }
        Ok(())
    }
}
