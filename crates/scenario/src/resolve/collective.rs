//! Jobs that carry out collective operations.

use super::{Problems, Scene};
use crate::schema::{
    CollectiveTable, HostsText, OperationName, PlacementName, ScheduleName, StragglersTable,
};
use crate::text::Either;
use pathweave_traffic::Placement;
use pathweave_traffic::collectives::{Operation, Schedule, Shape};
use pathweave_traffic::patterns::{Collective, Slow, Stragglers};

/// The pattern, with the hosts that it may use; writes defaults into the table.
pub(super) fn collective(
    table: &mut CollectiveTable,
    steps: &[&str],
    scene: &Scene<'_>,
    problems: &mut Problems<'_>,
) -> Option<Collective> {
    let before = problems.found.len();
    let at = |key| [steps, &[key]].concat();
    let operation = operation(table.operation);
    let placement = placement(&table.placement, &table.hosts, steps, scene, problems)?;
    let count = match &placement {
        Placement::Packed(Some(hosts)) | Placement::Random(Some(hosts)) => hosts.len(),
        Placement::Packed(None) | Placement::Random(None) => scene.fabric.hosts.len(),
        Placement::Listed(lists) => lists.first().map_or(0, Vec::len),
    };
    let ranks = table.group_size.unwrap_or(count as u32);
    let schedule = match (operation, table.schedule) {
        (_, None | Some(ScheduleName::AtOnce)) => Schedule::AtOnce,
        (_, Some(ScheduleName::Shifted)) => Schedule::Shifted,
    };
    if operation != Operation::AllToAll && table.schedule.is_some() {
        problems.wrong_key(
            &at("schedule"),
            "schedule is the order of the transfers of an all-to-all; remove it",
        );
    }
    let stragglers = match &table.stragglers {
        Some(table) => Some(stragglers(table, &at("stragglers"), scene, problems)?),
        None => None,
    };
    let shape = Shape {
        operation,
        ranks,
        bytes: table.bytes.0,
        chunks: table.chunks.unwrap_or(operation.usual_chunks()),
        schedule,
    };
    let pattern = Collective {
        shape,
        placement,
        jobs: table.jobs,
        iterations: table.iterations,
        compute: table.compute.0,
        stragglers,
    };
    table.group_size = Some(ranks);
    table.chunks = Some(shape.chunks);
    if operation == Operation::AllToAll {
        table.schedule.get_or_insert(ScheduleName::AtOnce);
    }
    (problems.found.len() == before).then_some(pattern)
}

/// Where jobs are.
pub(super) fn placement(
    placement: &Either<PlacementName, Vec<HostsText>>,
    hosts: &HostsText,
    steps: &[&str],
    scene: &Scene<'_>,
    problems: &mut Problems<'_>,
) -> Option<Placement> {
    let before = problems.found.len();
    let at = |key| [steps, &[key]].concat();
    let hosts = scene.names.select(hosts, &at("hosts"), problems);
    let placement = match placement {
        Either::One(PlacementName::Packed) => Placement::Packed(hosts),
        Either::One(PlacementName::Random) => Placement::Random(hosts),
        Either::Many(lists) => {
            if hosts.is_some() {
                problems.wrong_key(
                    &at("hosts"),
                    "placement lists the hosts of each job; remove hosts",
                );
            }
            let mut found = Vec::new();
            for (index, list) in lists.iter().enumerate() {
                let index = index.to_string();
                let steps = [steps, &["placement", &index]].concat();
                let all = || (0..scene.fabric.hosts.len() as u32).collect();
                let list = scene.names.select(list, &steps, problems);
                found.push(list.unwrap_or_else(all));
            }
            if found.is_empty() {
                problems.wrong(
                    &at("placement"),
                    "placement lists no job; list the hosts of each, or write \"packed\" or \"random\"",
                );
            }
            Placement::Listed(found)
        }
    };
    (problems.found.len() == before).then_some(placement)
}

fn stragglers(
    table: &StragglersTable,
    steps: &[&str],
    scene: &Scene<'_>,
    problems: &mut Problems<'_>,
) -> Option<Stragglers> {
    let which = match (table.count, &table.hosts) {
        (Some(count), None) => Slow::Ranks(count),
        (None, Some(hosts)) => {
            let hosts = scene
                .names
                .select(hosts, &[steps, &["hosts"]].concat(), problems);
            Slow::Hosts(hosts.unwrap_or_else(|| (0..scene.fabric.hosts.len() as u32).collect()))
        }
        _ => {
            problems.wrong(
                steps,
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
