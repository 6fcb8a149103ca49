//! The scenario file: schema, units, diagnostics with spans, variants, presets; resolves into a
//! [`Plan`].

#![forbid(unsafe_code)]

mod plan;

pub use plan::{
    Amount, Change, GroupPlan, LinkChange, ListedFlow, Measure, Phase, Plan, Record, Sampling, Stop,
    TrafficStop,
};
