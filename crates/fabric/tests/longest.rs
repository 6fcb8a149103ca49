//! The longest round trip against all pairs and all paths, one by one.

use pathweave_fabric::routing::{
    Costs, HostPairs, Router, RoutingKind, ShortestPaths, longest_round_trip,
};
use pathweave_fabric::topology::{Delay, FatTree, PerLayer};
use pathweave_fabric::{Fabric, Link, LinkId};
use pathweave_units::{Bytes, Rate, Time};
use proptest::prelude::*;

fn sum(costs: &[Time], path: &[LinkId]) -> Time {
    path.iter()
        .fold(Time::ZERO, |sum, link| sum + costs[link.0 as usize])
}

fn one_by_one(
    fabric: &Fabric,
    pairs: &HostPairs,
    there: &[Time],
    back: Option<&[Time]>,
) -> Option<Time> {
    let router = Router::new(fabric, RoutingKind::ecmp(false), 1).expect("a router");
    let longest = |from: u32, to: u32, costs: &[Time]| {
        let paths = router.spread(from, to);
        paths.iter().map(|path| sum(costs, path)).max()
    };
    let mut found = None;
    for &source in &pairs.sources {
        for &destination in &pairs.destinations {
            let same_rack = fabric.host(source).rack == fabric.host(destination).rack;
            if source == destination || (pairs.different_racks && same_rack) {
                continue;
            }
            let there = longest(source, destination, there);
            let back = match back {
                Some(back) => longest(destination, source, back),
                None => Some(Time::ZERO),
            };
            if let (Some(there), Some(back)) = (there, back) {
                found = found.max(Some(there + back));
            }
        }
    }
    found
}

/// Switches that are joined at random, and hosts with cables to some of them or to each other.
#[derive(Clone, Debug)]
struct Shape {
    switches: usize,
    between: Vec<(usize, usize)>,
    /// Of each host: its rack, and the switches that it has cables to.
    hosts: Vec<(u32, Vec<usize>)>,
    direct: Option<(usize, usize)>,
}

fn shape() -> impl Strategy<Value = Shape> {
    let host = (0u32..3, prop::collection::vec(0usize..6, 1..3));
    (
        1usize..6,
        prop::collection::vec((0usize..6, 0usize..6), 1..10),
        prop::collection::vec(host, 2..9),
        prop::option::of((0usize..9, 0usize..9)),
    )
        .prop_map(|(switches, between, hosts, direct)| Shape {
            switches,
            between,
            hosts,
            direct,
        })
}

fn build(shape: &Shape) -> Fabric {
    let mut fabric = Fabric::default();
    let layer = fabric.add_layer("link");
    let switches: Vec<_> = (0..shape.switches)
        .map(|number| fabric.add_switch(format!("s{number}"), Some(0), Some(0)))
        .collect();
    let rate = Rate::from_gbps(1);
    for &(a, b) in &shape.between {
        let (a, b) = (a % switches.len(), b % switches.len());
        if a != b {
            fabric.add_cable(switches[a], switches[b], rate, Time::ZERO, layer);
        }
    }
    let mut hosts = Vec::new();
    for (number, (rack, own)) in shape.hosts.iter().enumerate() {
        let host = fabric.add_host(format!("h{number}"), *rack, 0);
        for at in own {
            let switch = switches[at % switches.len()];
            fabric.add_cable(host, switch, rate, Time::ZERO, layer);
        }
        hosts.push(host);
    }
    if let Some((a, b)) = shape.direct {
        let (a, b) = (a % hosts.len(), b % hosts.len());
        if a != b {
            fabric.add_cable(hosts[a], hosts[b], rate, Time::ZERO, layer);
        }
    }
    fabric
}

/// What links cost: nothing at all now and then, or little that differs.
fn link_costs() -> impl Strategy<Value = Vec<u64>> {
    let most = prop_oneof![Just(0u64), Just(1), Just(1000)];
    most.prop_flat_map(|most| prop::collection::vec(0..=most, 100))
}

/// The longest round trip of a fat-tree with k = 32 whose links have these delays in us, by whether acknowledgements choose
/// paths. The links of each way add up to 180 us.
fn of_large_fat_tree([rack, aggregation, core]: [u64; 3]) -> [u64; 2] {
    let micros = |micros| Delay::Fixed(Time::from_micros(micros));
    let options = FatTree {
        k: 32,
        hosts_per_edge: None,
        rate: PerLayer::same(Rate::from_gbps(10)),
        delay: PerLayer {
            rack: micros(rack),
            aggregation: micros(aggregation),
            core: micros(core),
        },
    };
    let fabric = options.build(1).expect("a fat-tree");
    let all: Vec<u32> = (0..fabric.hosts.len() as u32).collect();
    assert_eq!(all.len(), 8192);
    let pairs = HostPairs {
        sources: all.clone(),
        destinations: all,
        different_racks: false,
    };
    let cost = |link: &Link| link.delay + link.rate.time_for(Bytes::new(1500));
    let there: Vec<Time> = fabric.links.iter().map(cost).collect();
    let paths = ShortestPaths::new(&fabric);
    let one_way = Time::from_micros(2 * 90) + Rate::from_gbps(10).time_for(Bytes::new(1500)) * 6;
    [(None, one_way), (Some(there.clone()), one_way * 2)].map(|(back, expected)| {
        let costs = Costs::new(&fabric, there.clone(), back);
        let found = longest_round_trip(&fabric, &paths, &pairs, &costs, None);
        assert_eq!(found.time, Some(expected));
        found.compared
    })
}

#[test]
fn the_work_grows_with_pairs_of_edge_switches() {
    // The farthest host of each of the 512 edge switches with that of each other one, and the farthest two of each
    // with one another. There are 67 million pairs of hosts.
    let all = 512 * 511 + 512 * 2;
    assert_eq!(of_large_fat_tree([20, 30, 40]), [all, all]);
}

#[test]
fn no_pair_is_compared_after_one_that_no_path_could_exceed() {
    // The first host with those of its own pod (one of the same edge switch, and one of each of 15 others), and with one of
    // another pod.
    let in_pod = 1 + 15;
    assert_eq!(of_large_fat_tree([30, 30, 30]), [in_pod + 1; 2]);
    assert_eq!(of_large_fat_tree([10, 40, 40]), [in_pod + 1; 2]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn agrees_with_all_pairs_and_paths_one_by_one(
        shape in shape(),
        there in link_costs(),
        back in prop::option::of(link_costs()),
        known in prop::option::of(0u64..3000),
        sources in prop::collection::btree_set(0u32..9, 1..9),
        destinations in prop::collection::btree_set(0u32..9, 1..9),
        different_racks: bool,
    ) {
        let fabric = build(&shape);
        let hosts = fabric.hosts.len() as u32;
        let here = |set: std::collections::BTreeSet<u32>| -> Vec<u32> {
            set.into_iter().filter(|&host| host < hosts).collect()
        };
        let pairs = HostPairs {
            sources: here(sources),
            destinations: here(destinations),
            different_racks,
        };
        let times = |costs: Vec<u64>| costs.into_iter().take(fabric.links.len()).map(Time::from_picos);
        let there: Vec<Time> = times(there).collect();
        let back: Option<Vec<Time>> = back.map(|back| times(back).collect());
        let costs = Costs::new(&fabric, there.clone(), back.clone());
        let paths = ShortestPaths::new(&fabric);
        let known = known.map(Time::from_picos);
        let own = one_by_one(&fabric, &pairs, &there, back.as_deref());
        let found = longest_round_trip(&fabric, &paths, &pairs, &costs, known);
        prop_assert_eq!(found.time, own.max(known));
    }
}
