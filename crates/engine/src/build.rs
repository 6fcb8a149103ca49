//! From a plan to what a run works on.

use crate::base_rtt::longest_base_rtt;
use crate::schedule::arrival_times::ArrivalTimes;
use crate::schedule::link_schedule::LinkSchedule;
use crate::schedule::ranks::Ranks;
use crate::schedule::scheduler::Scheduler;
use crate::schedule::wheel::Wheel;
use pathweave_control::{Algorithm, Controller, Ecn, MarksAsLosses, Parameters, Scheme, Seat};
use pathweave_fabric::Fabric;
use pathweave_fabric::routing::{Router, RoutingKind};
use pathweave_network::{
    AgentSetup, Fmp, Inputs, LinkSetup, Network, PacketContent, Places, Ports, QueuesCounted,
    RouteTable,
};
use pathweave_random::Stream;
use pathweave_scenario::{GroupPlan, Plan};
use pathweave_traffic::{Hosts, Program};
use pathweave_transport::EcnUse;
use pathweave_units::{Bytes, Time};
use std::sync::Arc;

/// In fabrics with more links the percentiles of queues come from a sample of the packets: looking at every queue
/// that a packet joins costs a tenth of a hop.
const MOST_LINKS_COUNTED: usize = 256;

/// The ports of a plan's links.
pub(crate) fn network<S: PacketContent, P: Ports>(plan: &Plan, router: &Router) -> Network<S, P> {
    let links = links(plan, router);
    let places = Places::new(&links);
    region_network(plan, &links, places, RouteTable::default())
}

/// What a plan's links are when the run begins.
pub(crate) fn links(plan: &Plan, router: &Router) -> Vec<LinkSetup> {
    let links = plan.fabric.links.iter().zip(&plan.queues);
    let agent = agent(plan, router).map(Arc::new);
    links
        .map(|(link, &queue)| LinkSetup {
            from: link.from.0,
            to: link.to.0,
            rate: link.rate,
            delay: link.delay,
            queue,
            agent: agent.clone(),
            buffer: plan
                .shared_buffer
                .filter(|_| plan.fabric.node(link.from).host_index().is_none()),
        })
        .collect()
}

/// The ports of those links that begin in a region.
pub(crate) fn region_network<S: PacketContent, P: Ports>(
    plan: &Plan,
    links: &[LinkSetup],
    places: Places,
    table: RouteTable,
) -> Network<S, P> {
    let counted = match (links.len() > MOST_LINKS_COUNTED, plan.record.queues) {
        (false, _) => QueuesCounted::All,
        (true, None) => QueuesCounted::Sampled,
        (true, Some(_)) => QueuesCounted::SampledAndAll,
    };
    let mut network = Network::in_region(links, places, table, counted, |link| {
        Stream::new(plan.seed, "port", u64::from(link))
    });
    if let RoutingKind::Fmp(config) = &plan.routing {
        network.set_fmp(Fmp::new(
            &plan.fabric,
            *config,
            full_packet(plan),
            plan.seed,
        ));
    }
    network
}

/// The controller whose switches take part, if there is one; scenarios have one such scheme at most.
pub(crate) fn explicit(plan: &Plan) -> Option<(Scheme, &Parameters)> {
    let mut controllers = plan.groups.iter().flat_map(GroupPlan::controllers);
    controllers.find_map(|(entry, parameters)| Some((entry.scheme()?, parameters)))
}

/// The agent of every port.
fn agent(plan: &Plan, router: &Router) -> Option<AgentSetup> {
    explicit(plan).map(|(scheme, parameters)| AgentSetup {
        scheme,
        parameters: parameters.clone(),
        base_rtt: longest_base_rtt(plan, router),
    })
}

/// The largest data packet of all groups.
pub(crate) fn full_packet(plan: &Plan) -> Bytes {
    let sizes = plan.groups.iter().map(|group| group.transport.data_packet);
    sizes
        .max()
        .map_or(Bytes::new(1500), |size| Bytes::new(u64::from(size)))
}

/// A schedule that suits a plan's links, whose ports are kept at these places. Where nodes have their turns in windows,
/// these are the inputs, and how long windows are.
pub(crate) fn scheduler(
    plan: &Plan,
    places: &Places,
    windows: Option<(Arc<Inputs>, Time)>,
) -> Scheduler {
    let full_packet = full_packet(plan);
    let links = &plan.fabric.links;
    let transmissions = || links.iter().map(|link| link.rate.time_for(full_packet));
    let ahead = links.iter().zip(transmissions());
    let longest = ahead.map(|(link, time)| link.delay + time).max();
    let longest = longest.unwrap_or(Time::from_micros(1)) * 2;
    let ports = places.count() as usize + places.inlets().len();
    let numbers = places.links().iter().chain(places.inlets()).copied();
    let ranks = Ranks::new(plan.seed, numbers.collect(), places.all_links());
    let links = match windows {
        Some((inputs, window)) => LinkSchedule::ByInput(ArrivalTimes::new(inputs, window, ranks)),
        None => {
            // The mean time between events when all links are busy.
            let shortest = transmissions().min().unwrap_or(Time::from_micros(1));
            let spacing = shortest / ports.max(1) as u64;
            LinkSchedule::Wheel(Wheel::new(ports as u32, longest, spacing, ranks))
        }
    };
    Scheduler::new(ports, links)
}

/// What traffic needs to know of a fabric.
pub(crate) fn hosts(fabric: &Fabric) -> Hosts {
    let nodes = || fabric.hosts.iter().map(|&host| fabric.node(host));
    Hosts {
        count: fabric.hosts.len() as u32,
        rack: nodes().map(|node| node.rack).collect(),
        pod: nodes().map(|node| node.pod).collect(),
    }
}

/// The traffic groups' programs.
pub(crate) fn programs(plan: &Plan, router: &Router) -> Result<Vec<Program>, String> {
    let hosts = hosts(&plan.fabric);
    let jitter = plan.jitter.then(|| longest_base_rtt(plan, router));
    plan.groups
        .iter()
        .enumerate()
        .map(|(number, group)| {
            let (pattern, size) = (group.pattern.clone(), group.size.clone());
            Program::new(pattern, size, &hosts, plan.seed, number as u64, jitter)
                .map_err(|error| format!("traffic group \"{}\": {error}", group.name))
        })
        .collect()
}

/// A flow's controller. Where packets are ECN-capable though it has no answer to marks, a marked round is a loss to it.
pub(crate) fn controller(
    algorithm: &Algorithm,
    parameters: &Parameters,
    usage: EcnUse,
    seat: impl FnOnce() -> Seat,
) -> Box<dyn Controller> {
    let controller = algorithm.build(parameters, seat);
    match (usage, algorithm.ecn(parameters)) {
        (EcnUse::On, Ecn::Off) => Box::new(MarksAsLosses::new(controller)),
        _ => controller,
    }
}

/// Most marks that one acknowledgement echoes to this controller; `None` without ECN.
pub(crate) fn ecn_echo(
    algorithm: &Algorithm,
    parameters: &Parameters,
    usage: EcnUse,
) -> Option<u8> {
    match (usage, algorithm.ecn(parameters)) {
        (EcnUse::Off, _) | (EcnUse::ByController, Ecn::Off) => None,
        (_, Ecn::Count { limit }) => Some(limit),
        (EcnUse::On, Ecn::Off) => Some(u8::MAX),
    }
}
