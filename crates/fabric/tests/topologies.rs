//! Every shape: how many nodes and cables it has, where they are, and what it refuses.

use pathweave_fabric::topology::{
    Delay, Dumbbell, FatTree, Graph, GraphCable, GraphNode, LeafSpine, ParallelPaths, PerLayer,
    Ring, Star, TOPOLOGIES, Topology,
};
use pathweave_fabric::{Fabric, FabricError, Layer, LinkId, Location};
use pathweave_units::{Rate, Time};

const GBPS: Rate = Rate::from_gbps(1);

fn micros(micros: u64) -> Delay {
    Delay::Fixed(Time::from_micros(micros))
}

fn fat_tree(k: u32) -> FatTree {
    FatTree {
        k,
        hosts_per_edge: None,
        rate: PerLayer::same(GBPS),
        delay: PerLayer {
            rack: micros(20),
            aggregation: micros(30),
            core: micros(40),
        },
    }
}

fn layer_cables(fabric: &Fabric) -> Vec<(&str, usize)> {
    let names = fabric.layers.iter().enumerate();
    names
        .map(|(index, name)| {
            let layer = Layer(index as u8);
            let links = fabric.links.iter().filter(|link| link.layer == layer);
            (name.as_str(), links.count() / 2)
        })
        .collect()
}

/// What must hold of every fabric that a builder gives.
fn sound(fabric: &Fabric) {
    assert_eq!(fabric.validate(), Ok(()));
    for (index, &host) in fabric.hosts.iter().enumerate() {
        assert_eq!(fabric.node(host).host_index(), Some(index as u32));
        let name = &fabric.node(host).name;
        assert_eq!(fabric.host_named(name), Some(index as u32));
    }
}

fn refusal(result: Result<Fabric, FabricError>) -> String {
    result.expect_err("should be refused").to_string()
}

#[test]
fn dumbbell() {
    let options = Dumbbell {
        left: 3,
        right: 2,
        host_rate: Rate::from_gbps(10),
        bottleneck_rate: GBPS,
        host_delay: micros(1),
        bottleneck_delay: micros(5),
    };
    let fabric = options.build(1).unwrap();
    sound(&fabric);
    assert_eq!(fabric.nodes.len(), 7);
    assert_eq!(layer_cables(&fabric), [("host", 5), ("bottleneck", 1)]);
    assert_eq!(fabric.host(0).name, "S1");
    assert_eq!(fabric.host(4).name, "D2");
    assert_eq!(fabric.location(0, 2), Location::InnerRack);
    assert_eq!(fabric.location(0, 3), Location::InterRack);
    let bottleneck = fabric
        .link_between(
            fabric.node_named("A").unwrap(),
            fabric.node_named("B").unwrap(),
        )
        .unwrap();
    assert_eq!(fabric.link(bottleneck).rate, GBPS);
    assert_eq!(fabric.link_name(bottleneck), "A->B");
    assert_eq!(fabric.link_name(bottleneck.reverse()), "B->A");
    assert_eq!(fabric.layer_capacity(Layer(0)), Rate::from_gbps(50));
    assert_eq!(fabric.reachability().first_gap(), None);

    let refused = Dumbbell {
        left: 0,
        ..options.clone()
    };
    assert!(refusal(refused.build(1)).starts_with("left is 0"));
    let refused = Dumbbell {
        bottleneck_rate: Rate::ZERO,
        ..options
    };
    assert!(refusal(refused.build(1)).starts_with("bottleneck_rate is zero"));
}

#[test]
fn star() {
    let options = Star {
        senders: 40,
        rate: Rate::from_gbps(10),
        receiver_rate: Some(GBPS),
        delay: micros(2),
    };
    let fabric = options.build(1).unwrap();
    sound(&fabric);
    assert_eq!(fabric.hosts.len(), 41);
    assert_eq!(layer_cables(&fabric), [("host", 40), ("bottleneck", 1)]);
    let receiver = fabric.host_named("D1").unwrap();
    assert_eq!(receiver, 40);
    assert_eq!(fabric.location(0, receiver), Location::InnerRack);
    assert_eq!(fabric.layer_capacity(Layer(1)), GBPS);
}

#[test]
fn parallel_paths() {
    let options = ParallelPaths {
        pairs: 2,
        rates: vec![Rate::from_mbps(300), Rate::from_mbps(600), GBPS],
        delays: vec![micros(1), micros(2), micros(3)],
        host_rate: GBPS,
        host_delay: micros(1),
    };
    let fabric = options.build(1).unwrap();
    sound(&fabric);
    assert_eq!(fabric.nodes.len(), 4 + 6);
    assert_eq!(layer_cables(&fabric), [("host", 12), ("bottleneck", 3)]);
    for host in 0..4 {
        let out = fabric.adjacency().out(fabric.hosts[host]).len();
        assert_eq!(out, 3);
    }
    assert_eq!(fabric.reachability().first_gap(), None);
    let refused = ParallelPaths {
        delays: vec![micros(1)],
        ..options
    };
    assert!(refusal(refused.build(1)).contains("delays has 1 entries and rates has 3"));
}

#[test]
fn ring() {
    let options = Ring {
        rates: [800, 1200, 2000, 1500, 500].map(Rate::from_mbps).to_vec(),
        delays: [40, 41, 42, 43, 44].map(micros).to_vec(),
        host_rate: Rate::from_gbps(10),
        host_delay: micros(1),
        background: vec![0, 0, 4],
    };
    let fabric = options.build(1).unwrap();
    sound(&fabric);
    for (index, delay) in (40..45).enumerate() {
        let ends =
            ["A", "B"].map(|side| fabric.node_named(&format!("{side}{}", index + 1)).unwrap());
        let link = fabric.link_between(ends[0], ends[1]).unwrap();
        assert_eq!(fabric.link(link).delay, Time::from_micros(delay));
    }
    assert_eq!(fabric.hosts.len(), 10 + 8);
    assert_eq!(layer_cables(&fabric), [("host", 28), ("bottleneck", 5)]);
    let joined = |a: &str, b: &str| {
        let (a, b) = (fabric.node_named(a).unwrap(), fabric.node_named(b).unwrap());
        fabric.link_between(a, b).is_some()
    };
    for (host, first, second) in [("S1", "A1", "A2"), ("S5", "A5", "A1"), ("D5", "B5", "B1")] {
        assert!(joined(host, first) && joined(host, second), "{host}");
    }
    assert!(joined("S3b4", "A3") && joined("D3b1", "B3"));
    let index = |name: &str| fabric.host_named(name).unwrap();
    let reach = fabric.reachability();
    assert!(reach.between(index("S1"), index("D1")));
    assert!(
        reach.between(index("S1"), index("D2")),
        "they share bottleneck 2"
    );
    assert!(!reach.between(index("S1"), index("D3")));
    assert!(reach.between(index("S3b1"), index("D2")));
    assert!(!reach.between(index("S3b1"), index("D1")));
    assert_eq!(reach.first_gap(), Some((index("S1"), index("S3"))));
    let refused = Ring {
        rates: vec![GBPS],
        ..options.clone()
    };
    assert!(refusal(refused.build(1)).contains("at least two bottlenecks"));
    let refused = Ring {
        delays: vec![micros(1)],
        ..options
    };
    assert!(refusal(refused.build(1)).contains("delay has 1 entries and rates has 5"));
}

#[test]
fn fat_tree_counts() {
    for k in [2u32, 4, 8, 16] {
        let fabric = fat_tree(k).build(1).unwrap();
        sound(&fabric);
        let (k, half) = (k as usize, k as usize / 2);
        assert_eq!(fabric.hosts.len(), k * half * half);
        assert_eq!(fabric.nodes.len() - fabric.hosts.len(), 5 * half * half);
        let each = k * half * half;
        let layers = [("rack", each), ("aggregation", each), ("core", each)];
        assert_eq!(layer_cables(&fabric), layers);
        assert_eq!(fabric.reachability().first_gap(), None);
        // Every switch has k ports.
        let adjacency = fabric.adjacency();
        for index in 0..fabric.nodes.len() {
            let node = pathweave_fabric::NodeId(index as u32);
            let ports = if fabric.node(node).host_index().is_some() {
                1
            } else {
                k
            };
            assert_eq!(adjacency.out(node).len(), ports);
        }
    }
    // The published k = 8 fabric: 128 hosts, 80 switches.
    let fabric = fat_tree(8).build(1).unwrap();
    assert_eq!((fabric.hosts.len(), fabric.nodes.len()), (128, 208));
    assert_eq!(fabric.location(0, 3), Location::InnerRack);
    assert_eq!(fabric.location(0, 4), Location::InterRack);
    assert_eq!(fabric.location(0, 15), Location::InterRack);
    assert_eq!(fabric.location(0, 16), Location::InterPod);
    assert_eq!(Location::InterPod.to_string(), "inter-pod");
}

#[test]
fn oversubscribed_fat_trees() {
    // 500 hosts and 125 switches at k = 10; 512 hosts, four to one, at k = 8.
    for (k, hosts_per_edge, hosts, switches) in [(10, 10, 500, 125), (8, 16, 512, 80)] {
        let options = FatTree {
            hosts_per_edge: Some(hosts_per_edge),
            ..fat_tree(k)
        };
        let fabric = options.build(1).unwrap();
        sound(&fabric);
        assert_eq!(fabric.hosts.len(), hosts);
        assert_eq!(fabric.nodes.len() - hosts, switches);
    }
}

#[test]
fn fat_tree_refusals() {
    for (k, text) in [(7, "k is 7"), (0, "k is 0"), (1000, "k is 1000")] {
        let refused = refusal(fat_tree(k).build(1));
        assert!(
            refused.starts_with(text) && refused.contains("even"),
            "{refused}"
        );
    }
    let mut options = fat_tree(4);
    options.hosts_per_edge = Some(0);
    assert!(refusal(options.build(1)).starts_with("hosts_per_edge is 0"));
    let mut options = fat_tree(4);
    options.rate.core = Rate::ZERO;
    assert!(refusal(options.build(1)).starts_with("rate.core is zero"));
    let mut options = fat_tree(4);
    options.delay.rack = Delay::Uniform {
        min: Time::from_micros(4),
        max: Time::from_micros(2),
    };
    assert_eq!(
        refusal(options.build(1)),
        "delay.rack runs from 4 us to 2 us; the first must not be above the second"
    );
}

#[test]
fn drawn_delays() {
    let mut options = fat_tree(10);
    let range = Delay::Uniform {
        min: Time::from_micros(20),
        max: Time::from_micros(40),
    };
    options.delay = PerLayer::same(range);
    let fabric = options.build(3).unwrap();
    assert_eq!(fabric, options.build(3).unwrap());
    assert_ne!(fabric, options.build(4).unwrap());
    let delays: Vec<f64> = fabric
        .links
        .iter()
        .map(|link| link.delay.as_secs_f64() * 1e6)
        .collect();
    assert!(delays.iter().all(|delay| (20.0..=40.0).contains(delay)));
    for cable in fabric.links.chunks(2) {
        assert_eq!(cable[0].delay, cable[1].delay);
    }
    // 750 cables, standard deviation 5.8 us: four standard errors are 0.85 us.
    let mean = delays.iter().sum::<f64>() / delays.len() as f64;
    assert!((mean - 30.0).abs() < 0.85, "{mean}");
}

#[test]
fn leaf_spine() {
    let options = LeafSpine {
        leaves: 8,
        spines: 8,
        hosts_per_leaf: 50,
        host_rate: Rate::from_gbps(10),
        uplink_rate: Rate::from_gbps(10),
        host_delay: micros(10),
        uplink_delay: micros(10),
    };
    let fabric = options.build(1).unwrap();
    sound(&fabric);
    assert_eq!(fabric.hosts.len(), 400);
    assert_eq!(layer_cables(&fabric), [("rack", 400), ("uplink", 64)]);
    assert_eq!(fabric.layer_capacity(Layer(1)), Rate::from_gbps(640));
    assert_eq!(fabric.location(0, 49), Location::InnerRack);
    assert_eq!(fabric.location(0, 50), Location::InterRack);
}

fn node(name: &str, host: bool) -> GraphNode {
    GraphNode {
        name: name.to_owned(),
        host,
        rack: None,
        pod: None,
    }
}

fn cable(a: &str, b: &str) -> GraphCable {
    GraphCable {
        a: a.to_owned(),
        b: b.to_owned(),
        rate: GBPS,
        delay: micros(1),
        layer: None,
    }
}

#[test]
fn graph() {
    let options = Graph {
        nodes: vec![
            node("S1", true),
            node("S2", true),
            node("D1", true),
            node("X", false),
            node("Y", false),
        ],
        cables: vec![
            cable("S1", "X"),
            cable("X", "S2"),
            cable("X", "Y"),
            cable("X", "Y"),
            cable("Y", "D1"),
        ],
    };
    let fabric = options.build(1).unwrap();
    sound(&fabric);
    assert_eq!(fabric.layers, ["link"]);
    let names = fabric.link_names();
    let of_all = (0..fabric.links.len() as u32).map(|id| names.link(LinkId(id)));
    assert!(
        of_all.eq((0..fabric.links.len() as u32).map(|id| fabric.link_name(LinkId(id)))),
        "one by one as all together"
    );
    assert_eq!(
        [4, 5, 6, 7].map(|id| names.link(LinkId(id))),
        ["X->Y", "Y->X", "X->Y#2", "Y->X#2"]
    );
    assert_eq!(names.cable(LinkId(7)), "Y-X#2");
    assert_eq!([4, 6].map(|id| names.step(LinkId(id))), ["Y", "Y#2"]);
    assert_eq!(fabric.location(0, 1), Location::InnerRack);
    assert_eq!(fabric.location(0, 2), Location::InterRack);

    let broken = |change: &dyn Fn(&mut Graph)| {
        let mut options = options.clone();
        change(&mut options);
        refusal(options.build(1))
    };
    assert_eq!(
        broken(&|graph| graph.cables[2].b = "Z".to_owned()),
        "cables[2].b is \"Z\", which is not among the nodes"
    );
    assert!(broken(&|graph| graph.nodes.push(node("X", true))).contains("two nodes are called"));
    assert!(broken(&|graph| graph.nodes.push(node("", false))).contains("no name"));
    assert!(broken(&|graph| graph.nodes.push(node("S3", true))).contains("has no cable"));
    assert!(broken(&|graph| graph.cables[3].b = "X".to_owned()).contains("to itself"));
    assert!(broken(&|graph| graph.cables[1].rate = Rate::ZERO).contains("cables[1].rate is zero"));
    assert!(refusal(Graph::default().build(1)).contains("no host"));
}

#[test]
fn topologies_are_listed_by_name() {
    let all = [
        Topology::Star(Star {
            senders: 1,
            rate: GBPS,
            receiver_rate: None,
            delay: micros(1),
        }),
        Topology::FatTree(fat_tree(4)),
        Topology::Graph(Graph::default()),
    ];
    let names: Vec<&str> = all.iter().map(Topology::name).collect();
    assert_eq!(names, ["star", "fat-tree", "graph"]);
    assert_eq!(TOPOLOGIES.len(), 7);
    assert_eq!(all[1].build(1).unwrap(), fat_tree(4).build(1).unwrap());
}

#[test]
fn sizes_are_known_before_a_fabric_is_built() {
    let mut all = Vec::new();
    for n in 1..5 {
        all.push(Topology::Dumbbell(Dumbbell {
            left: n,
            right: 3,
            host_rate: GBPS,
            bottleneck_rate: GBPS,
            host_delay: micros(1),
            bottleneck_delay: micros(5),
        }));
        all.push(Topology::Star(Star {
            senders: n,
            rate: GBPS,
            receiver_rate: None,
            delay: micros(1),
        }));
        for pairs in [1, 7] {
            all.push(Topology::ParallelPaths(ParallelPaths {
                pairs,
                rates: vec![GBPS; n as usize],
                delays: vec![micros(1); n as usize],
                host_rate: GBPS,
                host_delay: micros(1),
            }));
        }
        all.push(Topology::Ring(Ring {
            rates: vec![GBPS; n as usize + 1],
            delays: vec![micros(1); n as usize + 1],
            host_rate: GBPS,
            host_delay: micros(1),
            background: vec![0, n],
        }));
        all.push(Topology::FatTree(fat_tree(2 * n)));
        all.push(Topology::FatTree(FatTree {
            hosts_per_edge: Some(9),
            ..fat_tree(2 * n)
        }));
        all.push(Topology::LeafSpine(LeafSpine {
            leaves: n,
            spines: 2,
            hosts_per_leaf: 3,
            host_rate: GBPS,
            uplink_rate: GBPS,
            host_delay: micros(1),
            uplink_delay: micros(1),
        }));
        let names: Vec<String> = (0..=n).map(|number| format!("n{number}")).collect();
        all.push(Topology::Graph(Graph {
            nodes: names.iter().map(|name| node(name, true)).collect(),
            cables: names
                .windows(2)
                .map(|two| cable(&two[0], &two[1]))
                .collect(),
        }));
    }
    for topology in all {
        let fabric = topology.build(1).unwrap();
        let built = fabric.nodes.len().max(fabric.links.len() / 2) as u64;
        assert_eq!(topology.size(), built, "{topology:?}");
    }
    // Numbers that no fabric could have.
    let huge = Topology::FatTree(FatTree {
        k: u32::MAX,
        hosts_per_edge: Some(u32::MAX),
        ..fat_tree(2)
    });
    assert_eq!(huge.size(), u64::MAX);
}
