//! The extension module: scenarios, runs and lists for Python. Thin: all logic is in other crates.

mod fluid;
mod lists;
mod recordings;
mod run;
mod scenario;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::lists::{
        controllers, fabrics, patterns, presets, results_version, routings, schema, version,
    };
    #[pymodule_export]
    use super::run::{Output, Run};
    #[pymodule_export]
    use super::scenario::{Scenario, ScenarioError, Variant, from_resolved, load, load_text};
}
