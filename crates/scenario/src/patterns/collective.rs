//! Jobs that carry out collective operations.

use super::hosts::{HostsText, all};
use super::placement::{PlacementName, packed, pairs_of, placement};
use super::resolving::{InGroup, OwnSize, ResolvePattern};
use crate::resolve::Pairs;
use crate::text::{BytesText, Either, TimeRangeText};
use pathweave_traffic::collectives::{Operation, Schedule, Shape};
use pathweave_traffic::patterns::{Collective, Slow, Stragglers};
use pathweave_traffic::{Pattern, Placement, Size};
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
    #[serde(default = "all")]
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
    #[serde(default)]
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

/// The order of the transfers of an all-to-all.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ScheduleName {
    /// All begin together.
    AtOnce,
    /// One destination after the other: in round k rank i sends to rank i + k.
    Shifted,
}

impl ResolvePattern for CollectiveTable {
    fn resolve(&mut self, group: &mut InGroup<'_, '_>) -> Option<(Pattern, Pairs)> {
        let operation = operation(self.operation);
        let placement = placement(&self.placement, &self.hosts, group)?;
        let count = match &placement {
            Placement::Packed(Some(hosts)) | Placement::Random(Some(hosts)) => hosts.len(),
            Placement::Packed(None) | Placement::Random(None) => group.scene.fabric.hosts.len(),
            Placement::Listed(lists) => lists.first().map_or(0, Vec::len),
        };
        let ranks = self.group_size.unwrap_or(count as u32);
        let schedule = match (operation, self.schedule) {
            (_, None | Some(ScheduleName::AtOnce)) => Schedule::AtOnce,
            (_, Some(ScheduleName::Shifted)) => Schedule::Shifted,
        };
        if operation != Operation::AllToAll && self.schedule.is_some() {
            group.wrong_key(
                "schedule",
                "schedule is the order of the transfers of an all-to-all; remove it",
            );
        }
        let stragglers = match &self.stragglers {
            Some(table) => Some(stragglers(table, group)?),
            None => None,
        };
        let shape = Shape {
            operation,
            ranks,
            bytes: self.bytes.0,
            chunks: self.chunks.unwrap_or(operation.usual_chunks()),
            schedule,
        };
        let pattern = Collective {
            shape,
            placement,
            jobs: self.jobs,
            iterations: self.iterations,
            compute: self.compute.0,
            stragglers,
        };
        self.group_size = Some(ranks);
        self.chunks = Some(shape.chunks);
        if operation == Operation::AllToAll {
            self.schedule.get_or_insert(ScheduleName::AtOnce);
        }
        let pairs = pairs_of(group, &pattern.placement, || shape.pairs());
        Some((Pattern::Collective(pattern), pairs))
    }

    fn own_size(&self) -> Option<OwnSize> {
        Some(OwnSize {
            size: Some(Size::Fixed(self.bytes.0)),
            why_no_other: "a collective operation has bytes, which say how much its flows send; remove size",
        })
    }
}

fn stragglers(table: &StragglersTable, group: &mut InGroup<'_, '_>) -> Option<Stragglers> {
    let which = match (table.count, &table.hosts) {
        (Some(count), None) => Slow::Ranks(count),
        (None, Some(hosts)) => {
            let at = [group.steps, &["stragglers", "hosts"]].concat();
            let names = group.scene.names;
            let hosts = names.select(hosts, &at, group.problems);
            Slow::Hosts(hosts.unwrap_or_else(|| group.all_hosts()))
        }
        _ => {
            group.wrong_value(
                "stragglers",
                "stragglers are given in one way; give count, a number of ranks of each job, or hosts",
            );
            return None;
        }
    };
    Some(Stragglers {
        which,
        factor: table.factor,
    })
}

fn operation(name: OperationName) -> Operation {
    match name {
        OperationName::RingAllReduce => Operation::RingAllReduce,
        OperationName::TreeAllReduce => Operation::TreeAllReduce,
        OperationName::ReduceScatter => Operation::ReduceScatter,
        OperationName::AllGather => Operation::AllGather,
        OperationName::AllToAll => Operation::AllToAll,
        OperationName::Pipeline => Operation::Pipeline,
    }
}

fn one() -> u64 {
    1
}
