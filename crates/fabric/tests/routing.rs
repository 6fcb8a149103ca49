//! Routing: paths that exist, counts against theory and against an exhaustive search, balance.

use pathweave_fabric::path::{check_path, pinned_path};
use pathweave_fabric::routing::{
    FmpConfig, FmpPrice, PathRequest, ROUTINGS, Router, RoutingKind, ShortestPaths, flow_hash,
};
use pathweave_fabric::topology::{
    Delay, Dumbbell, FatTree, LeafSpine, ParallelPaths, PerLayer, Ring,
};
use pathweave_fabric::{Fabric, LinkId, NodeId};
use pathweave_random::Stream;
use pathweave_units::{Rate, Time};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const ECMP: RoutingKind = RoutingKind::ecmp(false);
const DISTINCT: RoutingKind = RoutingKind::ecmp(true);
const SPRAY: RoutingKind = RoutingKind::Spray {
    detection_delay: Time::ZERO,
};
const FMP: RoutingKind = RoutingKind::Fmp(FmpConfig {
    price: FmpPrice::Occupancy,
    feedback_period: Time::from_micros(100),
    silence_timeout: Time::from_micros(300),
    idle_expiry: Time::from_secs(1),
});

fn micros(micros: u64) -> Delay {
    Delay::Fixed(Time::from_micros(micros))
}

fn fat_tree(k: u32) -> Fabric {
    let options = FatTree {
        k,
        hosts_per_edge: None,
        rate: PerLayer::same(Rate::from_gbps(1)),
        delay: PerLayer::same(micros(10)),
    };
    options.build(1).unwrap()
}

fn dumbbell() -> Fabric {
    let options = Dumbbell {
        left: 2,
        right: 2,
        host_rate: Rate::from_gbps(1),
        bottleneck_rate: Rate::from_gbps(1),
        host_delay: micros(1),
        bottleneck_delay: micros(1),
    };
    options.build(1).unwrap()
}

fn ring() -> Fabric {
    let options = Ring {
        rates: vec![Rate::from_gbps(1); 5],
        delays: vec![micros(40); 5],
        host_rate: Rate::from_gbps(10),
        host_delay: micros(1),
        background: vec![1; 5],
    };
    options.build(1).unwrap()
}

fn request<'a>(source: u32, destination: u32, connection: u64, subflow: u32) -> PathRequest<'a> {
    PathRequest {
        source,
        destination,
        connection,
        subflow,
        pinned: None,
    }
}

fn data_path(router: &Router, request: &PathRequest<'_>) -> Vec<LinkId> {
    let mut path = vec![LinkId(9); 3];
    router.data_path(request, &mut path);
    path
}

fn ack_path(router: &Router, request: &PathRequest<'_>) -> Vec<LinkId> {
    let data = data_path(router, request);
    let mut path = vec![LinkId(9); 3];
    router.ack_path(request, &data, &mut path);
    path
}

/// The switch in the middle of a six-hop path: a fat-tree's core.
fn core(fabric: &Fabric, path: &[LinkId]) -> NodeId {
    assert_eq!(path.len(), 6);
    fabric.link(path[2]).to
}

#[test]
fn fat_tree_path_counts() {
    for k in [4u32, 8, 16] {
        let fabric = fat_tree(k);
        let half = k / 2;
        for kind in [ECMP, DISTINCT, RoutingKind::TwoLevel, RoutingKind::Pinned] {
            let router = Router::new(&fabric, kind, 1).unwrap();
            let last = fabric.hosts.len() as u32 - 1;
            assert_eq!(router.path_count(0, 1), 1);
            assert_eq!(router.path_count(0, half), u64::from(half));
            assert_eq!(router.path_count(0, last), u64::from(half * half));
        }
    }
}

#[test]
fn paths_lead_from_source_to_destination() {
    let fabric = fat_tree(8);
    for kind in [ECMP, DISTINCT, RoutingKind::TwoLevel] {
        let router = Router::new(&fabric, kind, 5).unwrap();
        for source in (0..128).step_by(7) {
            for destination in (0..128).filter(|&host| host != source) {
                let request = request(source, destination, 77, 2);
                let data = data_path(&router, &request);
                let ack = ack_path(&router, &request);
                assert_eq!(check_path(&fabric, source, destination, &data), Ok(()));
                assert_eq!(check_path(&fabric, destination, source, &ack), Ok(()));
                let hops = match fabric.location(source, destination).as_str() {
                    "inner-rack" => 2,
                    "inter-rack" => 4,
                    _ => 6,
                };
                assert_eq!((data.len(), ack.len()), (hops, hops));
            }
        }
    }
}

#[test]
fn distinct_and_two_level_use_every_path_before_one_twice() {
    let fabric = fat_tree(8);
    for kind in [DISTINCT, RoutingKind::TwoLevel] {
        let router = Router::new(&fabric, kind, 5).unwrap();
        for (destination, count) in [(127, 16), (9, 4), (1, 1)] {
            for connection in 0..50 {
                let path =
                    |subflow| data_path(&router, &request(0, destination, connection, subflow));
                let paths: BTreeSet<_> = (0..count).map(path).collect();
                assert_eq!(paths.len(), count as usize);
                assert_eq!(path(count), path(0), "they wrap around");
            }
        }
    }
}

#[test]
fn two_level_siblings_take_different_cores_both_ways() {
    let fabric = fat_tree(8);
    let router = Router::new(&fabric, RoutingKind::TwoLevel, 5).unwrap();
    let mut mirrored = 0;
    for connection in 0..200 {
        let requests = (0..4).map(|subflow| request(3, 100, connection, subflow));
        let data: Vec<_> = requests.clone().map(|r| data_path(&router, &r)).collect();
        let acks: Vec<_> = requests.map(|r| ack_path(&router, &r)).collect();
        let cores = |paths: &[Vec<LinkId>]| -> BTreeSet<NodeId> {
            paths.iter().map(|path| core(&fabric, path)).collect()
        };
        assert_eq!(cores(&data).len(), 4);
        assert_eq!(cores(&acks).len(), 4);
        mirrored += data
            .iter()
            .zip(&acks)
            .filter(|(data, ack)| core(&fabric, data) == core(&fabric, ack))
            .count();
    }
    // ACKs follow the source's address, which picks its own core: one in sixteen is the same.
    assert!((20..80).contains(&mirrored), "{mirrored}");
}

#[test]
fn two_level_refuses_other_fabrics() {
    for fabric in [dumbbell(), ring()] {
        let error = Router::new(&fabric, RoutingKind::TwoLevel, 1).unwrap_err();
        assert!(error.to_string().contains("fat-trees only"), "{error}");
    }
    let leaf_spine = LeafSpine {
        leaves: 4,
        spines: 4,
        hosts_per_leaf: 2,
        host_rate: Rate::from_gbps(1),
        uplink_rate: Rate::from_gbps(1),
        host_delay: micros(1),
        uplink_delay: micros(1),
    };
    let fabric = leaf_spine.build(1).unwrap();
    assert!(Router::new(&fabric, RoutingKind::TwoLevel, 1).is_err());
    // A fat-tree with one core cable moved is none.
    let mut fabric = fat_tree(4);
    let core = fabric.node_named("core0.0").unwrap();
    let other = fabric.node_named("core1.1").unwrap();
    let moved = fabric
        .links
        .iter()
        .position(|link| link.to == core)
        .unwrap();
    fabric.links[moved].to = other;
    fabric.links[moved ^ 1].from = other;
    assert!(Router::new(&fabric, RoutingKind::TwoLevel, 1).is_err());
}

#[test]
fn choices_are_balanced() {
    // Connections between many pairs of hosts over 16 cores: chi-square with 15 degrees of freedom
    // stays below 37.7 with probability 0.999.
    let fabric = fat_tree(8);
    for kind in [ECMP, DISTINCT, RoutingKind::TwoLevel] {
        let router = Router::new(&fabric, kind.clone(), 11).unwrap();
        for acks in [false, true] {
            for subflow in [0, 3] {
                let mut counts: BTreeMap<NodeId, u32> = BTreeMap::new();
                for connection in 0..16_000u64 {
                    let (source, destination) = (connection % 16, 112 + connection / 16 % 16);
                    let request = request(source as u32, destination as u32, connection, subflow);
                    let path = if acks {
                        ack_path(&router, &request)
                    } else {
                        data_path(&router, &request)
                    };
                    *counts.entry(core(&fabric, &path)).or_default() += 1;
                }
                let chi_square: f64 = counts
                    .values()
                    .map(|&count| (f64::from(count) - 1e3) * (f64::from(count) - 1e3) / 1e3)
                    .sum();
                assert_eq!(counts.len(), 16);
                assert!(chi_square < 37.7, "{kind:?} {acks} {subflow}: {chi_square}");
            }
        }
    }
}

#[test]
fn hashes_of_different_switches_are_independent() {
    // Were the switches' hashes the same, the aggregation switch would always continue as the edge
    // switch did, and only a diagonal of the cores would be used.
    let fabric = fat_tree(8);
    let router = Router::new(&fabric, ECMP, 2).unwrap();
    let mut used = BTreeSet::new();
    for connection in 0..2_000 {
        let path = data_path(&router, &request(0, 127, connection, 0));
        used.insert((path[1], path[2]));
    }
    assert_eq!(used.len(), 16);
}

#[test]
fn routing_depends_on_the_seed_only() {
    let fabric = fat_tree(4);
    for kind in [ECMP, DISTINCT, RoutingKind::TwoLevel] {
        let all = |seed| -> Vec<Vec<LinkId>> {
            let router = Router::new(&fabric, kind.clone(), seed).unwrap();
            (0..64)
                .map(|connection| data_path(&router, &request(0, 15, connection, 0)))
                .collect()
        };
        assert_eq!(all(1), all(1));
        assert_ne!(all(1), all(2));
    }
}

#[test]
fn hop_by_hop_choice_follows_the_same_path() {
    let fabric = fat_tree(4);
    let router = Router::new(&fabric, ECMP, 3).unwrap();
    let tables = router.shortest_paths().unwrap();
    for connection in 0..100 {
        let path = data_path(&router, &request(1, 14, connection, 0));
        let flow = flow_hash(3, 1, 14, connection, 0);
        let mut at = fabric.hosts[1];
        for &link in &path {
            assert_eq!(tables.choose(at, 14, flow), Some(link));
            at = fabric.link(link).to;
        }
        assert_eq!(tables.choose(at, 14, flow), None);
    }
}

#[test]
fn multihomed_hosts_choose_among_their_ports() {
    let options = ParallelPaths {
        pairs: 1,
        rates: vec![Rate::from_gbps(1); 4],
        delays: vec![micros(1); 4],
        host_rate: Rate::from_gbps(1),
        host_delay: micros(1),
    };
    let fabric = options.build(1).unwrap();
    let router = Router::new(&fabric, ECMP, 1).unwrap();
    assert_eq!(router.path_count(0, 1), 4);
    let mut counts: BTreeMap<LinkId, u32> = BTreeMap::new();
    for connection in 0..4_000 {
        let path = data_path(&router, &request(0, 1, connection, 0));
        assert_eq!(check_path(&fabric, 0, 1, &path), Ok(()));
        *counts.entry(path[0]).or_default() += 1;
    }
    // Standard deviation of each count: 27.
    assert!(
        counts.values().all(|count| count.abs_diff(1_000) < 110),
        "{counts:?}"
    );
}

#[test]
fn ring_flows_have_their_two_paths() {
    let fabric = ring();
    let router = Router::new(&fabric, DISTINCT, 1).unwrap();
    for flow in 0..5 {
        assert_eq!(router.path_count(flow, 5 + flow), 2);
        let paths: BTreeSet<_> = (0..2)
            .map(|subflow| data_path(&router, &request(flow, 5 + flow, 0, subflow)))
            .collect();
        assert_eq!(paths.len(), 2);
    }
    // S1 and D3 share no bottleneck.
    assert_eq!(router.path_count(0, 7), 0);
    assert!(data_path(&router, &request(0, 7, 0, 0)).is_empty());
}

#[test]
fn pinned_paths() {
    let fabric = ring();
    let router = Router::new(&fabric, RoutingKind::Pinned, 1).unwrap();
    let path = pinned_path(&fabric, 0, 5, &["A2", "B2"]).unwrap();
    assert_eq!(
        path,
        pinned_path(&fabric, 0, 5, &["S1", "A2", "B2", "D1"]).unwrap()
    );
    let pinned = PathRequest {
        pinned: Some(&path),
        ..request(0, 5, 0, 0)
    };
    assert_eq!(data_path(&router, &pinned), path);
    let back: Vec<LinkId> = path.iter().rev().map(|link| link.reverse()).collect();
    assert_eq!(ack_path(&router, &pinned), back);
    // Under other routing a given path is taken as well.
    let other = Router::new(&fabric, ECMP, 1).unwrap();
    assert_eq!(data_path(&other, &pinned), path);
    assert_eq!(ack_path(&other, &pinned), back);
    // Without a path, an only one is taken, and one of several is not guessed.
    let background = fabric.host_named("S3b1").unwrap();
    let to = fabric.host_named("D3b1").unwrap();
    assert_eq!(data_path(&router, &request(background, to, 0, 0)).len(), 3);
    assert!(data_path(&router, &request(0, 5, 0, 0)).is_empty());
}

#[test]
fn pinned_path_errors() {
    let fabric = ring();
    let refusal = |source, destination, names: &[&str]| {
        pinned_path(&fabric, source, destination, names)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        refusal(0, 5, &["A7", "B1"]),
        "no node is called \"A7\"; there are A1, A2, A3, A4, A5, ..."
    );
    assert_eq!(
        refusal(0, 5, &["A1", "B2"]),
        "no cable joins \"A1\" and \"B2\""
    );
    assert_eq!(refusal(0, 5, &["A1"]), "no cable joins \"A1\" and \"D1\"");
    assert_eq!(refusal(0, 5, &[]), "no cable joins \"S1\" and \"D1\"");
    assert_eq!(
        refusal(0, 5, &["A1", "S5", "A5", "B5", "D5", "B1"]),
        "the path passes through host \"S5\"; hosts do not forward"
    );
    assert_eq!(
        refusal(0, 5, &["A1", "B1", "A1", "B1"]),
        "the path passes \"A1\" twice"
    );
    assert_eq!(refusal(0, 0, &["A1"]), "\"S1\" cannot send to itself");
    assert!(check_path(&fabric, 0, 5, &[]).is_err());
    assert!(check_path(&fabric, 0, 5, &[LinkId(100_000)]).is_err());
}

#[test]
fn routings_are_listed_by_name() {
    let names: Vec<&str> = ROUTINGS.iter().map(|&(name, _)| name).collect();
    assert_eq!(names, ["ecmp", "two-level", "spray", "pinned", "fmp"]);
    let kinds = [ECMP, RoutingKind::TwoLevel, SPRAY, RoutingKind::Pinned, FMP];
    assert_eq!(kinds.map(|kind| kind.name()).as_slice(), names);
}

/// A random connected or unconnected graph with a few multihomed hosts.
fn random_fabric(seed: u64, switches: u64, cables: u64, hosts: u64) -> Fabric {
    let mut stream = Stream::new(seed, "test", 0);
    let mut fabric = Fabric::default();
    let layer = fabric.add_layer("link");
    let rate = Rate::from_gbps(1);
    for number in 0..switches {
        fabric.add_switch(format!("w{number}"), Some(0), Some(0));
    }
    for number in 0..hosts {
        fabric.add_host(format!("h{number}"), 0, 0);
    }
    for _ in 0..cables {
        let a = NodeId(stream.below(switches) as u32);
        let b = NodeId(stream.below(switches) as u32);
        if a != b {
            fabric.add_cable(a, b, rate, Time::ZERO, layer);
        }
    }
    for host in fabric.hosts.clone() {
        for _ in 0..=stream.below(2) {
            let switch = NodeId(stream.below(switches) as u32);
            fabric.add_cable(host, switch, rate, Time::ZERO, layer);
        }
    }
    if hosts > 1 && stream.below(4) == 0 {
        fabric.add_cable(fabric.hosts[0], fabric.hosts[1], rate, Time::ZERO, layer);
    }
    fabric
}

/// All shortest paths, found by trying everything breadth first.
fn all_shortest(fabric: &Fabric, from: NodeId, to: NodeId) -> BTreeSet<Vec<LinkId>> {
    let adjacency = fabric.adjacency();
    let mut paths = vec![Vec::<LinkId>::new()];
    for _ in 0..fabric.nodes.len() {
        let mut longer = Vec::new();
        for path in &paths {
            let at = path.last().map_or(from, |&link| fabric.link(link).to);
            if at != from && fabric.node(at).host_index().is_some() {
                continue;
            }
            for &link in adjacency.out(at) {
                let next = fabric.link(link).to;
                let passed = |&link: &LinkId| fabric.link(link).from == next;
                if !path.iter().any(passed) && next != from {
                    let mut path = path.clone();
                    path.push(link);
                    longer.push(path);
                }
            }
        }
        let arrived = |path: &&Vec<LinkId>| fabric.link(path[path.len() - 1]).to == to;
        let found: BTreeSet<_> = longer.iter().filter(arrived).cloned().collect();
        if !found.is_empty() {
            return found;
        }
        paths = longer;
    }
    BTreeSet::new()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    /// Ranked paths are exactly the shortest paths that an exhaustive search finds, and hashed ones
    /// are among them.
    #[test]
    fn shortest_paths_agree_with_exhaustive_search(
        seed: u64,
        switches in 1u64..7,
        cables in 0u64..12,
        hosts in 2u64..6,
    ) {
        let fabric = random_fabric(seed, switches, cables, hosts);
        let tables = ShortestPaths::new(&fabric);
        let reach = fabric.reachability();
        for source in 0..hosts as u32 {
            for destination in (0..hosts as u32).filter(|&host| host != source) {
                let (from, to) = (fabric.hosts[source as usize], fabric.hosts[destination as usize]);
                let expected = all_shortest(&fabric, from, to);
                let count = tables.path_count(source, destination);
                prop_assert_eq!(count, expected.len() as u64);
                prop_assert_eq!(reach.between(source, destination), count > 0);
                let mut ranked = BTreeSet::new();
                for rank in 0..count {
                    let mut path = Vec::new();
                    tables.ranked(source, destination, rank, &mut path);
                    prop_assert_eq!(check_path(&fabric, source, destination, &path), Ok(()));
                    prop_assert_eq!(tables.hops(source, destination), Some(path.len() as u32));
                    ranked.insert(path);
                }
                prop_assert_eq!(&ranked, &expected);
                let spray = Router::new(&fabric, SPRAY, seed).unwrap();
                let spread = spray.spread(source, destination);
                prop_assert_eq!(spread.len() as u64, count);
                prop_assert_eq!(&BTreeSet::from_iter(spread), &expected);
                let mut past = Vec::new();
                tables.ranked(source, destination, count, &mut past);
                prop_assert!(past.is_empty());
                for flow in 0..8u64 {
                    let mut path = Vec::new();
                    tables.hashed(source, destination, flow.wrapping_mul(0x9e37_79b9_7f4a_7c15), &mut path);
                    prop_assert!(count == 0 && path.is_empty() || expected.contains(&path));
                }
            }
        }
    }

    /// Without a cable the tables are those of a fabric that never had it.
    #[test]
    fn unusable_links_are_avoided(seed: u64, connection: u64) {
        let fabric = fat_tree(4);
        let dead = LinkId(Stream::new(seed, "dead", 0).below(fabric.links.len() as u64) as u32);
        let tables = ShortestPaths::over(&fabric, |link| link != dead);
        for (source, destination) in [(0, 15), (0, 2), (3, 9)] {
            let mut path = Vec::new();
            tables.hashed(source, destination, flow_hash(seed, source, destination, connection, 0), &mut path);
            prop_assert!(!path.contains(&dead) && !path.contains(&dead.reverse()));
            prop_assert_eq!(path.is_empty(), tables.path_count(source, destination) == 0);
        }
    }
}
