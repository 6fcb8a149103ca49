//! The scenario file as types: what serde reads, what a resolved scenario is written from, and what
//! the JSON Schema is made of. Doc comments become the schema's descriptions.

mod controller;
mod fabric;
mod plain;
mod queue;
mod run;
mod traffic;
mod transport;

pub(crate) use controller::*;
pub(crate) use fabric::*;
pub(crate) use queue::*;
pub(crate) use run::*;
pub(crate) use traffic::*;
pub(crate) use transport::*;

use crate::text::Either;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

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
    /// Axes whose variants are the values of a key: keys with dots, each with a list or a range. Keys that move together
    /// stand in a table `together.<name>`.
    #[serde(skip_serializing)]
    #[schemars(default)]
    #[allow(dead_code)] // read from the tree, for its order
    pub sweep: BTreeMap<String, serde_json::Value>,
    /// Named sizes; each is a table of overrides. The file itself is the size "quick".
    #[serde(skip_serializing)]
    #[schemars(default)]
    #[allow(dead_code)] // applied to the tree
    pub sizes: BTreeMap<String, BTreeMap<String, serde_json::Value>>,
}

impl File {
    /// The files with controllers that it was loaded with, by the names that it has for them.
    pub fn controller_files(&self) -> BTreeMap<String, Arc<[u8]>> {
        let tables = self.traffic.iter().flat_map(GroupTable::controllers);
        tables.filter_map(ControllerTable::file).collect()
    }
}

/// The JSON Schema of the scenario file.
pub fn schema() -> String {
    let mut schema = schema_of_types();
    plain::plain(&mut schema);
    schema["$defs"]["Controller"] = controller::controller_schema();
    describe_overrides(&mut schema);
    add_examples(&mut schema);
    serde_json::to_string_pretty(&schema).expect("a schema is valid JSON")
}

/// The same as the types give it, alternatives one beside another: for tests that walk over all of them.
#[doc(hidden)]
pub fn schema_of_types() -> Value {
    schemars::schema_for!(File).to_value()
}

/// Which keys variants and sizes can override.
fn describe_overrides(schema: &mut Value) {
    let keys: Vec<String> = schema["properties"]
        .as_object()
        .map(|properties| properties.keys().cloned().collect())
        .unwrap_or_default();
    let names = |without: &[&str]| {
        let kept = keys.iter().filter(|key| !without.contains(&key.as_str()));
        let kept: Vec<&str> = kept.map(String::as_str).collect();
        json!({ "pattern": format!(r"^\s*({})\s*(\..*)?$", kept.join("|")) })
    };
    let axis = &mut schema["properties"]["variants"]["additionalProperties"];
    axis["minProperties"] = json!(1);
    let overridden = names(&["title", "seed", "seeds", "variants", "sweep", "sizes"]);
    let overridden = overridden["pattern"].as_str().unwrap_or_default();
    axis["additionalProperties"]["propertyNames"] =
        json!({ "pattern": format!("{overridden}|^(like|burst_of)$") });
    axis["additionalProperties"]["properties"] = json!({
        "like": {
            "description": "Another variant of this axis, whose overrides come first.",
            "type": "string",
        },
        "burst_of": {
            "description": "A variant of this axis with several subflows: the initial window of this single path is that of its subflows together.",
            "type": "string",
        },
    });
    let swept = names(&[
        "title", "seed", "seeds", "variants", "sweep", "sizes", "report",
    ]);
    let group = json!({ "$ref": "#/$defs/SweptKeys" });
    let sweep = &mut schema["properties"]["sweep"];
    sweep["additionalProperties"] = json!({ "$ref": "#/$defs/SweptKey" });
    sweep["properties"] = json!({
        "together": {
            "description": "Axes by name; each has keys that move together.",
            "type": "object",
            "additionalProperties": group,
        },
    });
    let pattern = swept["pattern"].as_str().unwrap_or_default();
    sweep["propertyNames"] = json!({ "pattern": format!(r"{pattern}|^\s*together\s*(\..*)?$") });
    let size = &mut schema["properties"]["sizes"]["additionalProperties"];
    size["propertyNames"] = names(&["sizes"]);
    schema["$defs"]["SweptKeys"] = json!({
        "type": "object",
        "minProperties": 1,
        "propertyNames": swept,
        "additionalProperties": { "$ref": "#/$defs/SweptKey" },
    });
    schema["$defs"]["SweptKey"] = swept_key();
}

/// The values of a swept key: a list, a range, or further keys below it, which may be called as those of a range are.
fn swept_key() -> Value {
    let end =
        json!({ "type": ["number", "string", "array", "object"], "examples": [0.1, "10 us"] });
    json!({
        "description": "A list of values, a range with both ends included, or a table of further parts of the key.",
        "type": ["array", "object"],
        "items": { "type": ["number", "string", "boolean"] },
        "minItems": 1,
        "minProperties": 1,
        "properties": {
            "from": end,
            "to": end,
            "step": end,
            "count": { "type": ["integer", "array", "object"], "minimum": 2 },
            "factor": { "type": ["number", "array", "object"], "exclusiveMinimum": 0 },
            "scale": { "type": ["string", "array", "object"], "pattern": "^(linear|log)$" },
        },
        "if": {
            "required": ["from"],
            "properties": { "from": { "type": ["number", "string"] } },
        },
        "then": { "required": ["to"] },
        "additionalProperties": { "$ref": "#/$defs/SweptKey" },
    })
}

/// What tables look like, for editors to offer.
fn add_examples(schema: &mut Value) {
    let examples = [
        ("title", json!(["Two controllers on a leaf-spine fabric"])),
        ("seed", json!([1, [1, 2, 3]])),
        ("seeds", json!([5])),
        (
            "fabric",
            json!([
                { "kind": "fat-tree", "k": 4, "rate": "1 Gbps", "delay": "20 us",
                  "queue": { "limit": 100, "mark": { "kind": "step", "k": 10 } } },
                { "kind": "dumbbell", "left": 2, "bottleneck_rate": "1 Gbps", "bottleneck_delay": "50 us" },
            ]),
        ),
        ("routing", json!([{ "kind": "ecmp", "distinct": true }])),
        (
            "transport",
            json!([{ "preset": "xmp-2013", "minimum_rto": "10 ms" }]),
        ),
        (
            "traffic",
            json!([[{
                "name": "large", "pattern": "permutation", "size": "1 MB", "subflows": 4,
                "controller": { "name": "xmp", "beta": 4 },
            }]]),
        ),
        (
            "stop",
            json!([{ "at": "100 ms" }, { "traffic": "large", "flows": 1000 }]),
        ),
        (
            "measure",
            json!([{ "from": "10 ms", "phases": { "alone": ["10 ms", "20 ms"] } }]),
        ),
        (
            "record",
            json!([{ "rates": "1 ms", "queues": "100 us", "links": ["A->B"] }]),
        ),
        (
            "events",
            json!([[{ "at": "5 ms", "link": "leaf0-spine0", "down": true }]]),
        ),
        (
            "variants",
            json!([{ "scheme": {
                "DCTCP": { "traffic.large.controller": "dctcp" },
                "XMP-4": { "traffic.large.controller": "xmp", "traffic.large.subflows": 4 },
            } }]),
        ),
        (
            "sweep",
            json!([{
                "fabric.queue.mark.k": [10, 20, 40],
                "traffic.web.load": { "from": 0.1, "to": 0.9, "step": 0.1 },
            }]),
        ),
        ("sizes", json!([{ "paper": { "stop.at": "2 s" } }])),
    ];
    for (key, values) in examples {
        schema["properties"][key]["examples"] = values;
    }
}
