//! The scenario file: schema, units, diagnostics with spans, variants, presets; resolves into a
//! [`Plan`].
//!
//! ```
//! let scenario = pathweave_scenario::check(r#"
//!     [fabric]
//!     kind = "dumbbell"
//!     left = 2
//!     bottleneck_rate = "1 Gbps"
//!     bottleneck_delay = "25 us"
//!
//!     [[traffic]]
//!     name = "flows"
//!     pattern = "flows"
//!     size = "10 MB"
//!     controller = "dctcp"
//!     flows = [{ from = "S1", to = "D1" }, { from = "S2", to = "D2", start = "1 ms" }]
//! "#).unwrap();
//! let plan = scenario.variants()[0].plan(scenario.seeds()[0]);
//! assert_eq!(plan.groups[0].listed.len(), 2);
//! ```

#![forbid(unsafe_code)]

mod bursts;
mod checked;
mod controller_file;
mod diagnostics;
mod document;
mod file;
mod given;
mod identity;
mod loading;
mod names;
mod overrides;
mod parse;
mod patterns;
mod plan;
mod presets;
mod read;
mod regular;
mod resolve;
mod results_version;
mod scenario;
mod schema;
mod seeds;
mod sha256;
mod sizes;
mod sources;
mod suggest;
mod sweep;
mod text;
mod tree;
mod variants;

pub use controller_file::{ControllerFile, ControllerForm, ControllerLoader};
pub use diagnostics::{Diagnostics, Mistake};
pub use identity::{hash_of_resolved, hash_of_settings};
pub use plan::{
    Amount, CapturedFlow, Change, GroupPlan, LinkChange, ListedFlow, Measure, Phase, Plan, Record,
    Sampling, Stop, TrafficStop,
};
pub use presets::{Preset, presets};
pub use resolve::Convert;
pub use results_version::RESULTS_VERSION;
pub use scenario::{Scenario, Variant};
pub use schema::{schema, schema_of_types};
pub use sources::{Selection, check};
pub use sweep::{Numbers, Sweep};
