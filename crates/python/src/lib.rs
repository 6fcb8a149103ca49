//! The extension module: scenarios, runs and lists for Python. Thin: all logic is in other crates.

mod controllers;
mod ending;
mod fluid;
mod lists;
mod recordings;
mod run;
mod scenario;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::controllers::{
        Ack, OncePerRound, Path, Round, cut_to, cut_within, respond_to_loss, slow_start,
        slow_start_by,
    };
    #[pymodule_export]
    use super::lists::{
        controller_in_file, controllers, distributions, fabrics, operations, patterns, presets,
        results_version, routings, schema, version,
    };
    #[pymodule_export]
    use super::run::{Output, Run};
    #[pymodule_export]
    use super::scenario::{
        Scenario, ScenarioError, Variant, from_resolved, hash_of_resolved, hash_of_settings, load,
        load_text,
    };
}
