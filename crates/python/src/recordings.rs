//! Recordings in formats that the Python package reads for the core.

use pyo3::prelude::*;
use std::path::Path;

/// What stands in a file as comma-separated values, by `pathweave.recordings`.
pub fn as_text(path: &Path) -> Result<String, String> {
    Python::attach(|py| {
        let read = || -> PyResult<String> {
            let module = py.import("pathweave.recordings")?;
            module.call_method1("as_text", (path,))?.extract()
        };
        read().map_err(|error| format!("cannot be read: {}", error.value(py)))
    })
}
