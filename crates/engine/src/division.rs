//! How a fabric is divided into regions.

use crate::build;
use crate::execution::{Cut, Execution};
use crate::reactions::Reactions;
use crate::region::{ByNode, Region, RegionId, window};
use crate::regions::{Regions, TurnsOfNodes};
use crate::steps::Sides;
use pathweave_fabric::routing::{Router, RoutingKind};
use pathweave_network::{Inputs, LinkSetup, Places, Ports, RouteTable};
use pathweave_scenario::{GroupPlan, Plan};
use pathweave_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Events that a region should have in a window when all links are busy: fewer do not make up for the exchange at its
/// end.
const WORTHWHILE: f64 = 500.0;

/// The number of threads that are worth it for a plan.
pub fn most_threads(plan: &Plan) -> usize {
    let mut controllers = plan.groups.iter().flat_map(GroupPlan::controllers);
    if controllers.any(|(controller, _)| controller.one_thread()) {
        return 1;
    }
    let links = &plan.fabric.links;
    let delays = links.iter().map(|link| link.delay);
    let window = delays.filter(|&delay| delay > Time::ZERO).min();
    let packet = build::full_packet(plan);
    let events = links.iter().map(|link| {
        let window = window.unwrap_or(Time::ZERO).as_picos();
        window as f64 / link.rate.time_for(packet).as_picos() as f64
    });
    let most = events.sum::<f64>() / WORTHWHILE;
    (most as usize).clamp(1, 255)
}

/// What a host does for the transport, as a multiple of what a port does for the packets that join it.
const WORK_OF_HOST: u64 = 4;

/// The regions of a plan's fabric.
pub(crate) fn regions<P: Ports>(
    plan: &Plan,
    router: &Router,
    reactions: Reactions,
    execution: &Execution,
) -> Regions<P> {
    let links = build::links(plan, router);
    let of_node = divide(plan, &links, &execution.cut);
    let table = RouteTable::default();
    let places = Places::in_regions(&links, &of_node);
    let count = places.len();
    let region_of =
        |node: u32| RegionId(of_node.get(node as usize).map_or(0, |&region| region as u8));
    let turns = window::<P>(plan, execution.turns).map(|delay| TurnsOfNodes {
        sides: Sides::of_plan(plan, &links, delay),
        delay,
        notice: reactions.to_failures,
    });
    let all = (0..).zip(places).map(|(number, places)| {
        let turns = turns.as_ref().map(|turns| {
            let of_node = |node| turns.sides.of_node(node);
            let inputs = Inputs::new(&links, &places, (turns.sides.count(), of_node));
            (turns, Arc::new(inputs))
        });
        let windows = turns.as_ref().map(|(turns, inputs)| (Arc::clone(inputs), turns.delay));
        let scheduler = build::scheduler(plan, &places, windows);
        let by_node = turns.map(|(turns, inputs)| {
            ByNode::new(plan, &links, &places, (inputs, turns.sides.clone()))
        });
        let network = build::region_network(plan, &links, places, table.clone());
        let id = RegionId(number);
        Region::new(plan, (id, count), network, scheduler, by_node, reactions)
    });
    let all = all.collect();
    let ends = |link: &LinkSetup| (region_of(link.from), region_of(link.to));
    let of_link: Box<[(RegionId, RegionId)]> = links.iter().map(ends).collect();
    let cut = of_link
        .iter()
        .zip(&links)
        .filter(|((from, to), _)| from != to);
    let lookahead = cut.map(|(_, link)| link.delay).min();
    let hosts = plan.fabric.hosts.iter();
    Regions::new(
        all,
        hosts.map(|host| region_of(host.0)).collect(),
        of_link,
        (lookahead.unwrap_or(Time::MAX), turns),
    )
}

/// The region of each node; regions are counted from zero, without a gap.
fn divide(plan: &Plan, links: &[LinkSetup], cut: &Cut) -> Vec<u32> {
    let nodes = plan.fabric.nodes.len();
    // What switches of FMP tell each other is all in one place.
    if *cut == Cut::NOWHERE || matches!(plan.routing, RoutingKind::Fmp(_)) {
        return vec![0; nodes];
    }
    let clusters = Clusters::new(nodes, links);
    let wanted = match cut {
        Cut::At(regions) => {
            // A cluster is where its first node is to be.
            let wanted = |node: u32| regions.get(node as usize).copied().unwrap_or(0);
            (0..nodes as u32)
                .map(|node| u32::from(wanted(clusters.of(node))))
                .collect()
        }
        Cut::Into(count) => {
            let mut work: Vec<u64> = vec![0; nodes];
            for link in links {
                work[link.from as usize] += 1;
            }
            for host in &plan.fabric.hosts {
                work[host.0 as usize] += WORK_OF_HOST;
            }
            grow(&clusters, links, &work, u32::from(*count))
        }
    };
    without_gaps(wanted)
}

fn without_gaps(regions: Vec<u32>) -> Vec<u32> {
    let mut used: Vec<u32> = regions.clone();
    used.sort_unstable();
    used.dedup();
    let place = |region: u32| used.binary_search(&region).map_or(0, |place| place as u32);
    regions.into_iter().map(place).collect()
}

/// Nodes that cables without a delay join: they are in one region.
struct Clusters(Vec<u32>);

impl Clusters {
    fn new(nodes: usize, links: &[LinkSetup]) -> Clusters {
        let mut clusters = Clusters((0..nodes as u32).collect());
        for link in links.iter().filter(|link| link.delay == Time::ZERO) {
            let (a, b) = (clusters.of(link.from), clusters.of(link.to));
            clusters.0[a.max(b) as usize] = a.min(b);
        }
        clusters
    }

    /// The first node of a node's cluster.
    fn of(&self, mut node: u32) -> u32 {
        while self.0[node as usize] != node {
            node = self.0[node as usize];
        }
        node
    }
}

/// Lets one region after another grow until it has its share of the work: always by the cluster that has the largest
/// share of its links there already, so that racks and pods stay together.
fn grow(clusters: &Clusters, links: &[LinkSetup], work: &[u64], count: u32) -> Vec<u32> {
    let nodes = work.len();
    let cluster: Vec<u32> = (0..nodes as u32).map(|node| clusters.of(node)).collect();
    let mut neighbours = vec![Vec::new(); nodes];
    let mut own_work = vec![0u64; nodes];
    for (&cluster, work) in cluster.iter().zip(work) {
        own_work[cluster as usize] += work;
    }
    for link in links {
        let (from, to) = (cluster[link.from as usize], cluster[link.to as usize]);
        if from != to {
            neighbours[from as usize].push(to);
        }
    }
    let total: u64 = own_work.iter().sum();
    let mut region = vec![u32::MAX; nodes];
    let mut taken = 0;
    let mut seeds = 0..nodes;
    for number in 0..count {
        let until = total * u64::from(number + 1) / u64::from(count);
        // Links into the growing region, by cluster.
        let mut joined = vec![0u64; nodes];
        let mut edge = BinaryHeap::new();
        while taken < until {
            let next = edge.pop().map(|(_, Reverse(node))| node);
            let is_free =
                |&node: &u32| cluster[node as usize] == node && region[node as usize] == u32::MAX;
            let next = match next {
                Some(node) => Some(node).filter(is_free),
                None => match seeds.find(|&node| is_free(&(node as u32))) {
                    Some(node) => Some(node as u32),
                    None => break,
                },
            };
            let Some(next) = next else {
                continue;
            };
            region[next as usize] = number;
            taken += own_work[next as usize];
            for &other in &neighbours[next as usize] {
                if region[other as usize] == u32::MAX {
                    let links = &mut joined[other as usize];
                    *links += 1;
                    let share = *links * 1_000_000 / neighbours[other as usize].len() as u64;
                    edge.push((share, Reverse(other)));
                }
            }
        }
    }
    let last = count - 1;
    let of = |&cluster: &u32| region[cluster as usize].min(last);
    cluster.iter().map(of).collect()
}
