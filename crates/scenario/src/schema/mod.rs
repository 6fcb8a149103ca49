//! The scenario file as types: what serde reads, what a resolved scenario is written from, and what
//! the JSON Schema is made of. Doc comments become the schema's descriptions.

mod fabric;
mod queue;
mod run;
mod traffic;
mod transport;

pub(crate) use fabric::*;
pub(crate) use queue::*;
pub(crate) use run::*;
pub(crate) use traffic::*;
pub(crate) use transport::*;

use crate::text::Either;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// A scenario of Pathweave.
#[derive(Clone, Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields, title = "Pathweave scenario")]
pub(crate) struct File {
    /// What reports call it.
    #[schemars(default)]
    pub title: String,
    /// Seed of all random choices, or a list of seeds: one run for each. Default 1.
    #[serde(skip_serializing)]
    #[schemars(default)]
    #[allow(dead_code)] // read from the tree, before the variants
    pub seed: Option<Either<u64, Vec<u64>>>,
    /// Number of seeds to run: `seed`, `seed` + 1, ... Default 1.
    #[serde(skip_serializing)]
    #[schemars(default)]
    #[allow(dead_code)] // read from the tree, before the variants
    pub seeds: Option<u32>,
    /// Whether flow starts get a seeded delay within one base RTT.
    #[schemars(default)]
    pub jitter: Jitter,
    /// Hosts, switches, cables and their queues.
    pub fabric: FabricTable,
    /// How paths are chosen. Default: ecmp.
    #[schemars(default)]
    pub routing: RoutingTable,
    /// The transport of all groups.
    #[schemars(default)]
    pub transport: TransportTable,
    /// Groups of flows.
    pub traffic: Vec<GroupTable>,
    /// When the run ends; without it, when all flows have finished.
    #[schemars(default)]
    pub stop: StopTable,
    /// Which time tables cover.
    #[schemars(default)]
    pub measure: MeasureTable,
    /// Which series are recorded.
    #[schemars(default)]
    pub record: RecordTable,
    /// What a report answers.
    #[schemars(default)]
    pub report: ReportTable,
    /// Changes of links at given times.
    #[schemars(default)]
    pub events: Vec<EventTable>,
    /// Axes of named variants; each variant is a table of overrides by keys with dots, such as
    /// "traffic.large.controller".
    #[serde(skip_serializing)]
    #[schemars(default)]
    #[allow(dead_code)] // read from the tree, for its order
    pub variants: BTreeMap<String, BTreeMap<String, BTreeMap<String, serde_json::Value>>>,
    /// Named sizes; each is a table of overrides. The file itself is the size "quick".
    #[serde(skip_serializing)]
    #[schemars(default)]
    #[allow(dead_code)] // applied to the tree
    pub sizes: BTreeMap<String, BTreeMap<String, serde_json::Value>>,
}

/// The JSON Schema of the scenario file.
pub fn schema() -> String {
    let schema = schemars::schema_for!(File);
    serde_json::to_string_pretty(&schema).expect("a schema is valid JSON")
}
