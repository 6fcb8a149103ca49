//! Collective operations.

use super::HostsText;
use crate::text::{BytesText, Either, TimeRangeText};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CollectiveTable {
    /// What the ranks of a job do in an iteration.
    pub operation: OperationName,
    /// The larger of a rank's buffers, as NCCL's tests count it; in a pipeline one micro-batch's activations.
    pub bytes: BytesText,
    /// The hosts that jobs get. Default all.
    #[serde(default = "super::all")]
    pub hosts: HostsText,
    /// Ranks of a job. Default: as many as hosts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_size: Option<u32>,
    /// Jobs at the same time. Default: as many as there are hosts for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u32>,
    /// Which hosts a job gets: the next ones of the list, random ones, or for each job those listed for it.
    #[serde(default = "packed")]
    pub placement: Either<PlacementName, Vec<HostsText>>,
    /// Iterations of each job, one after the other.
    #[serde(default = "one")]
    pub iterations: u64,
    /// How long a rank computes before it communicates: a time, or a range from which it is drawn for each rank and
    /// iteration.
    #[serde(default = "nothing")]
    pub compute: TimeRangeText,
    /// Ranks that compute for longer. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stragglers: Option<StragglersTable>,
    /// Parts into which each transfer is cut; in a pipeline the number of micro-batches. Default: 8 for
    /// tree-all-reduce, 4 for a pipeline, else 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunks: Option<u32>,
    /// Of all-to-all: whether all transfers begin together or in rounds. Default: at-once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<ScheduleName>,
}

/// Ranks that compute for longer.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StragglersTable {
    /// How many ranks of each job, drawn once. Give this, or the next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// On which hosts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts: Option<HostsText>,
    /// How many times as long as the others they compute, from 1 to 1000.
    pub factor: f64,
}

/// A collective operation.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OperationName {
    /// The sum of all buffers for every rank, on a ring.
    RingAllReduce,
    /// The same by two binary trees.
    TreeAllReduce,
    /// The sum of one piece of all buffers for every rank, on a ring.
    ReduceScatter,
    /// The pieces of all ranks for every rank, on a ring.
    AllGather,
    /// A piece from every rank to every other one.
    AllToAll,
    /// Activations forward and gradients backward between the stages of a pipeline.
    Pipeline,
}

/// How jobs are placed.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PlacementName {
    /// Each job gets the next hosts of the list.
    Packed,
    /// Each job gets hosts at random.
    Random,
}

/// The order of the transfers of an all-to-all.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ScheduleName {
    /// All begin together.
    AtOnce,
    /// One destination after the other: in round k rank i sends to rank i + k.
    Shifted,
}

pub(super) fn packed() -> Either<PlacementName, Vec<HostsText>> {
    Either::One(PlacementName::Packed)
}

fn one() -> u64 {
    1
}

fn nothing() -> TimeRangeText {
    TimeRangeText::default()
}
