//! How a fabric is divided into regions.

use crate::build;
use crate::execution::{Cut, Execution, Turns};
use crate::flows::start_rates;
use crate::regions::reactions::Reactions;
use crate::regions::region::{ByNode, Region, RegionId, window};
use crate::regions::steps::Sides;
use crate::regions::{Regions, TurnsOfNodes};
use pathweave_fabric::routing::{Router, RoutingKind};
use pathweave_network::{Inputs, LinkSetup, Places, Ports, RouteTable};
use pathweave_scenario::{GroupPlan, Plan};
use pathweave_units::Time;
use std::cmp::Reverse;
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
    if !start_rates::windows_outlast_ends(plan, window.unwrap_or(Time::ZERO)) {
        return 1;
    }
    let most = events.sum::<f64>() / WORTHWHILE;
    (most as usize).clamp(1, 255)
}

/// Whether hosts can go first if they are all on one side of a fabric that is one region. The run has to end at one time
/// for all nodes. An agent would see a packet arrive at a host before it has seen what came to the switch meanwhile.
fn suits_hosts_first<P: Ports>(plan: &Plan) -> bool {
    !P::HAVE_AGENTS && plan.stop.is_at_a_time()
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
    let turns = window::<P>(plan, execution.turns).map(|delay| {
        let sides = Sides::of_plan(plan, &links, delay);
        TurnsOfNodes {
            first_side: sides.of_hosts().filter(|_| suits_hosts_first::<P>(plan)),
            sides,
            delay,
            notice: reactions.to_failures,
        }
    });
    let one_side = Sides::one(plan.fabric.nodes.len());
    let sides = turns.as_ref().map_or(&one_side, |turns| &turns.sides);
    let of_node = divide(plan, &links, sides, &execution.cut);
    let is_one = of_node.iter().all(|&region| region == 0);
    let turns = turns.map(|turns| TurnsOfNodes {
        first_side: turns.first_side.filter(|_| is_one),
        ..turns
    });
    let turns = turns.filter(|turns| {
        execution.turns != Turns::AsSuits
            || turns.first_side.is_some()
            || start_rates::windows_outlast_starts(plan, turns.delay)
    });
    let table = RouteTable::default();
    let places = Places::in_regions(&links, &of_node);
    let count = places.len();
    let region_of =
        |node: u32| RegionId(of_node.get(node as usize).map_or(0, |&region| region as u8));
    let all = (0..).zip(places).map(|(number, places)| {
        let turns = turns.as_ref().map(|turns| {
            let of_node = |node| turns.sides.of_node(node);
            let inputs = Inputs::new(&links, &places, (turns.sides.count(), of_node));
            (turns, Arc::new(inputs))
        });
        let windows = turns
            .as_ref()
            .map(|(turns, inputs)| (Arc::clone(inputs), turns.delay));
        let scheduler = build::scheduler(plan, &places, windows);
        let by_node = turns.map(|(turns, inputs)| {
            let sides = turns.sides.clone();
            ByNode::new(
                plan,
                &links,
                &places,
                (inputs, sides),
                execution.prefetching,
            )
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
fn divide(plan: &Plan, links: &[LinkSetup], sides: &Sides, cut: &Cut) -> Vec<u32> {
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
            let hosts: Vec<u32> = plan.fabric.hosts.iter().map(|host| host.0).collect();
            let count = usize::from(*count);
            share_out(&clusters, links, &hosts, (&work, sides), count)
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

/// Gives hosts to regions in their order, which goes by racks and pods, and each switch to the region to which most of
/// its links lead, from the hosts on. If as many lead to several, the one gets it that has least of the switch's side: all
/// regions take a step of one side together.
fn share_out(
    clusters: &Clusters,
    links: &[LinkSetup],
    hosts: &[u32],
    (work, sides): (&[u64], &Sides),
    count: usize,
) -> Vec<u32> {
    let nodes = 0..work.len() as u32;
    let of: Vec<usize> = nodes.map(|node| clusters.of(node) as usize).collect();
    let mut neighbours = vec![Vec::new(); work.len()];
    for link in links {
        neighbours[of[link.from as usize]].push(of[link.to as usize]);
    }
    let mut own_work = vec![[0; Sides::MOST]; work.len()];
    for (node, &cluster) in of.iter().enumerate() {
        own_work[cluster][sides.of_node(node as u32)] += work[node];
    }
    let mut shares = Shares {
        regions: vec![None; work.len()],
        work: vec![[0; Sides::MOST]; count],
        own_work,
    };
    let mut reached: Vec<usize> = Vec::new();
    for (number, &host) in hosts.iter().enumerate() {
        let cluster = of[host as usize];
        if shares.regions[cluster].is_none() {
            shares.give(cluster, number * count / hosts.len());
            reached.push(cluster);
        }
    }
    while !reached.is_empty() {
        let mut next: Vec<usize> = reached
            .iter()
            .flat_map(|&cluster| neighbours[cluster].iter().copied())
            .filter(|&cluster| shares.regions[cluster].is_none())
            .collect();
        next.sort_unstable();
        next.dedup();
        let before = shares.regions.clone();
        for &cluster in &next {
            let mut links = vec![0; count];
            for region in neighbours[cluster]
                .iter()
                .filter_map(|&other| before[other])
            {
                links[region] += 1;
            }
            let side = sides.of_node(cluster as u32);
            let best = (0..count).max_by_key(|&region| {
                (links[region], Reverse((shares.work[region][side], region)))
            });
            shares.give(cluster, best.unwrap_or(0));
        }
        reached = next;
    }
    let region = |&cluster: &usize| shares.regions[cluster].unwrap_or(0) as u32;
    of.iter().map(region).collect()
}

/// What regions have got so far.
struct Shares {
    /// Of each cluster.
    regions: Vec<Option<usize>>,
    /// The work of each region, by side.
    work: Vec<[u64; Sides::MOST]>,
    /// The work of each cluster, by side.
    own_work: Vec<[u64; Sides::MOST]>,
}

impl Shares {
    fn give(&mut self, cluster: usize, region: usize) {
        self.regions[cluster] = Some(region);
        for (work, own) in self.work[region].iter_mut().zip(self.own_work[cluster]) {
            *work += own;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The regions into which a fabric is divided, by node, and the sides of nodes.
    fn divided(fabric: &str, count: u8) -> (Plan, Vec<LinkSetup>, Sides, Vec<u32>) {
        let text = format!(
            r#"
            [fabric]
            {fabric}
            [[traffic]]
            name = "all"
            pattern = "permutation"
            rounds = 1
            size = "1 MB"
            controller = "reno"
            "#
        );
        let scenario = pathweave_scenario::check(&text)
            .unwrap_or_else(|error| panic!("{}", error.render(80, false)));
        let plan = scenario.variants()[0].plan(1);
        let router = Router::new(&plan.fabric, plan.routing.clone(), plan.seed);
        let links = build::links(&plan, &router.expect("a fabric with routes"));
        let sides = Sides::new(plan.fabric.nodes.len(), &links, &plan.fabric.hosts);
        let regions = divide(&plan, &links, &sides, &Cut::Into(count));
        (plan, links, sides, regions)
    }

    /// The cables between regions, by the names of their ends.
    fn cut(plan: &Plan, links: &[LinkSetup], regions: &[u32]) -> Vec<(String, String)> {
        let name = |node: u32| plan.fabric.nodes[node as usize].name.clone();
        links
            .iter()
            .filter(|link| regions[link.from as usize] < regions[link.to as usize])
            .map(|link| (name(link.from), name(link.to)))
            .collect()
    }

    #[test]
    fn regions_of_a_fat_tree_have_equal_work_of_each_side_and_whole_racks() {
        let fabric = "kind = \"fat-tree\"\nk = 4\nrate = \"1 Gbps\"\ndelay = \"1 us\"";
        for count in [2, 4] {
            let (plan, links, sides, regions) = divided(fabric, count);
            let mut work = vec![[0; Sides::MOST]; usize::from(count)];
            for link in &links {
                let region = regions[link.from as usize] as usize;
                work[region][sides.of_node(link.from)] += 1;
            }
            for host in &plan.fabric.hosts {
                let region = regions[host.0 as usize] as usize;
                work[region][sides.of_node(host.0)] += WORK_OF_HOST;
            }
            assert!(work.iter().all(|own| *own == work[0]), "{work:?}");
            // Only cables of core switches lead from one region to another.
            for (one, other) in cut(&plan, &links, &regions) {
                let is_core = |name: &str| name.starts_with("core");
                assert!(is_core(&one) || is_core(&other), "{one}-{other}");
            }
        }
    }

    #[test]
    fn a_dumbbell_is_cut_at_its_bottleneck() {
        let fabric = r#"
            kind = "dumbbell"
            left = 5
            bottleneck_rate = "1 Gbps"
            bottleneck_delay = "1 us"
        "#;
        let (plan, links, _, regions) = divided(fabric, 2);
        let expected = [("A".to_owned(), "B".to_owned())];
        assert_eq!(cut(&plan, &links, &regions), expected);
    }

    #[test]
    fn nodes_without_a_delay_between_them_are_in_one_region() {
        let fabric = r#"
            kind = "dumbbell"
            left = 3
            bottleneck_rate = "1 Gbps"
            bottleneck_delay = "0"
            host_delay = "1 us"
        "#;
        for count in 2..7 {
            let (plan, links, _, regions) = divided(fabric, count);
            let bottleneck = ("A".to_owned(), "B".to_owned());
            assert!(!cut(&plan, &links, &regions).contains(&bottleneck));
        }
    }
}
