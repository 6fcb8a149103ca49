//! Recorded flows and schedules.

use super::{HostsText, PlacementName};
use crate::text::Either;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TraceTable {
    /// A file of comma-separated values, or a Parquet file (its name ends with ".parquet"), relative to the scenario's
    /// folder. Columns: start, source, destination, bytes and, if wanted, id and after. Or a list of flows of HPCC. Give this, or
    /// the next.
    #[serde(skip_serializing)]
    pub file: Option<String>,
    /// The flows themselves: lines of comma-separated values, the first one with the names of the columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GoalTable {
    /// A file with a GOAL schedule as text, relative to the scenario's folder. Give this, or the next.
    #[serde(skip_serializing)]
    pub file: Option<String>,
    /// The schedule itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The hosts that jobs get. Default all.
    #[serde(default = "super::all")]
    pub hosts: HostsText,
    /// Jobs at the same time, each with as many hosts as the schedule has ranks.
    #[serde(default = "one")]
    pub jobs: u32,
    /// Which hosts a job gets: the next ones of the list, random ones, or for each job those listed for it.
    #[serde(default = "super::packed")]
    pub placement: Either<PlacementName, Vec<HostsText>>,
    /// How often a job carries the schedule out, one time after the other.
    #[serde(default = "once")]
    pub iterations: u64,
}

fn one() -> u32 {
    1
}

fn once() -> u64 {
    1
}
