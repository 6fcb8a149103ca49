//! A scenario with all of its variants, checked.

use crate::checked::Checked;
use crate::identity::{hash_of_resolved, hash_of_settings, without_names};
use crate::plan::Plan;
use crate::sweep::Sweep;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A scenario, every variant of which is known to be sound.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub(crate) title: String,
    pub(crate) seeds: Vec<u64>,
    pub(crate) settings: serde_json::Value,
    pub(crate) variants: Vec<Variant>,
    pub(crate) sweeps: Vec<Sweep>,
}

/// One combination of a scenario's variants.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The name on each axis, in the file's order: (axis, name).
    pub axes: Vec<(String, String)>,
    /// What reports call it.
    pub label: String,
    /// What its folder is called.
    pub slug: String,
    /// The scenario of this variant alone, with every default written out. Reading it again, with
    /// [`Scenario::from_resolved`], gives the same plans.
    pub resolved: serde_json::Value,
    pub(crate) controller_files: BTreeMap<String, Arc<[u8]>>,
    pub(crate) checked: Arc<Checked>,
    pub(crate) timeouts_are_chosen: bool,
    pub(crate) matched_bursts: Vec<f64>,
}

impl Scenario {
    /// What reports call the scenario.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What all variants are variants of: the scenario with its size and the command line's values but without its
    /// variants. Every default is written out where it is a scenario by itself; where only variants complete it, it
    /// is as the file has it. What no result depends on is left out: title, seeds, report and the names of phases.
    pub fn settings(&self) -> &serde_json::Value {
        &self.settings
    }

    /// Identifies the settings that results share: a SHA-256 of [`Scenario::settings`] and of
    /// [`RESULTS_VERSION`](crate::RESULTS_VERSION).
    pub fn settings_hash(&self) -> String {
        hash_of_settings(&self.settings)
    }

    /// The seeds to run.
    pub fn seeds(&self) -> &[u64] {
        &self.seeds
    }

    /// Which axes are sweeps, and over what.
    pub fn sweeps(&self) -> &[Sweep] {
        &self.sweeps
    }

    /// The variants, in the file's order, the first axis changing slowest.
    pub fn variants(&self) -> &[Variant] {
        &self.variants
    }
}

impl Variant {
    /// Identifies the results of this variant with this seed: a SHA-256 of [`Variant::settings_hash`]'s parts and
    /// of the seed.
    pub fn hash(&self, seed: u64) -> String {
        hash_of_resolved(&self.resolved, seed)
    }

    /// Identifies what this variant's results depend on but for the seed: a SHA-256 of the resolved scenario, without
    /// its title, its report and the names of its phases, and of [`RESULTS_VERSION`](crate::RESULTS_VERSION).
    pub fn settings_hash(&self) -> String {
        hash_of_settings(&without_names(&self.resolved))
    }

    /// The files with controllers that it was loaded with, by the names that the scenario has for them.
    pub fn controller_files(&self) -> &BTreeMap<String, Arc<[u8]>> {
        &self.controller_files
    }

    /// What a backend runs.
    pub fn plan(&self, seed: u64) -> Plan {
        Plan {
            timeouts_are_chosen: self.timeouts_are_chosen,
            matched_bursts: self.matched_bursts.clone(),
            ..self.checked.plan(seed)
        }
    }
}
