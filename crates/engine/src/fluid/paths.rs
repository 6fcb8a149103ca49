//! The paths of a flow whose packets are not looked at.

use crate::flows::flow::Flow;
use crate::flows::ideal::Ways;
use crate::flows::paths::{PathList, SubflowPaths};
use crate::outcome::RunError;
use pathweave_fabric::routing::Router;
use pathweave_fabric::{LinkId, base_rtt};
use pathweave_scenario::Plan;
use pathweave_units::{Bytes, Time};

/// A way that a part of a flow takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FluidPath {
    /// The subflow's number in its flow.
    pub subflow: u32,
    /// From when on the subflow is open.
    pub opened: Time,
    /// The links of its data.
    pub links: Vec<LinkId>,
    /// The RTT without queues, of full packets.
    pub rtt: Time,
}

/// All shortest paths between two hosts, as a flow of the first traffic group would find them.
///
/// # Errors
/// As a simulation.
pub fn candidates(plan: &Plan, pairs: &[(u32, u32)]) -> Result<Vec<Vec<FluidPath>>, RunError> {
    check_sources(plan)?;
    let router = Router::new(&plan.fabric, plan.routing.clone(), plan.seed)
        .map_err(|error| RunError::Plan(error.to_string()))?;
    let config = &plan.groups[0].transport;
    let size = Bytes::new(u64::from(config.data_packet));
    let ack = Bytes::new(u64::from(config.ack_packet));
    let path = |(number, links): (u32, Vec<LinkId>)| {
        let back: Vec<LinkId> = links.iter().rev().map(|link| link.reverse()).collect();
        FluidPath {
            subflow: number,
            opened: Time::ZERO,
            rtt: base_rtt(&plan.fabric, &links, &back, size, ack),
            links,
        }
    };
    let between = |&(source, destination): &(u32, u32)| {
        (0..)
            .zip(router.spread(source, destination))
            .map(path)
            .collect()
    };
    Ok(pairs.iter().map(between).collect())
}

/// Refuses what allocations of rates know nothing of.
///
/// # Errors
/// When applications write at a rate of their own.
pub(super) fn check_sources(plan: &Plan) -> Result<(), RunError> {
    let limited = plan
        .groups
        .iter()
        .find(|group| group.transport.source.is_some());
    match limited {
        None => Ok(()),
        Some(group) => Err(RunError::Plan(format!(
            "the flows of group \"{}\" have a rate, and an optimum takes all of their data to be there from the start; leave the group's rate out",
            group.name
        ))),
    }
}

/// A flow's paths, what each subflow's row in the tables names, and how much of a packet is payload.
#[derive(Clone, Debug)]
pub(super) struct FlowPaths {
    pub paths: Vec<FluidPath>,
    /// What the ideal completion time is of.
    pub ways: Ways,
    /// By subflow: a place in the list of paths.
    pub named: Vec<u32>,
    pub payload_share: f64,
}

impl FlowPaths {
    pub fn of(
        plan: &Plan,
        router: &Router,
        number: u32,
        flow: &Flow,
        list: &mut PathList,
    ) -> FlowPaths {
        let group = &plan.groups[flow.group as usize];
        let config = &group.transport;
        let size = Bytes::new(u64::from(config.data_packet));
        let ack = Bytes::new(u64::from(config.ack_packet));
        let starts = flow.listed.map_or(&[][..], |entry| {
            &group.listed[entry as usize].subflow_starts[..]
        });
        let mut own = FlowPaths {
            paths: Vec::new(),
            ways: Ways::default(),
            named: Vec::new(),
            payload_share: 1.0 - f64::from(config.overhead()) / config.mean_packet(),
        };
        let mut found = SubflowPaths::default();
        for subflow in 0..flow.subflows {
            found.find(plan, router, number, flow, subflow);
            let opened = starts.get(subflow as usize).copied().unwrap_or(Time::ZERO);
            own.named.push(list.place(&found));
            let mut add = |links: &[LinkId], back: &[LinkId]| {
                own.paths.push(FluidPath {
                    subflow,
                    opened: opened.max(flow.start),
                    rtt: base_rtt(&plan.fabric, links, back, size, ack),
                    links: links.to_vec(),
                });
            };
            match &found.spread {
                Some(spread) => {
                    for links in spread {
                        let back: Vec<LinkId> = links.iter().rev().map(|l| l.reverse()).collect();
                        add(links, &back);
                    }
                }
                None if found.forward.is_empty() => {}
                None => add(&found.forward, &found.back),
            }
            match &found.spread {
                Some(spread) => own.ways.add_spread(spread),
                None => own.ways.add_path(&found.forward),
            }
        }
        own
    }
}
