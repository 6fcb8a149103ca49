//! Failures under every kind of routing: what completes, what stalls, and what it takes.

use crate::plans::{self, counted, fixed, flags};
use pathweave_engine::{Column, Output, Verdict};
use pathweave_fabric::routing::{FmpConfig, FmpPrice, PathRequest, Router, RoutingKind};
use pathweave_fabric::{Fabric, LinkId, NodeId};
use pathweave_scenario::{Change, LinkChange, ListedFlow, Plan};
use pathweave_transport::Recovery;
use pathweave_units::Time;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const DETECTION: Time = Time::from_millis(2);

fn routings() -> Vec<RoutingKind> {
    vec![
        RoutingKind::Ecmp {
            distinct: false,
            detection_delay: DETECTION,
        },
        RoutingKind::Ecmp {
            distinct: true,
            detection_delay: DETECTION,
        },
        RoutingKind::Spray {
            detection_delay: DETECTION,
        },
        RoutingKind::TwoLevel,
        RoutingKind::Pinned,
        RoutingKind::Fmp(FmpConfig {
            price: FmpPrice::Occupancy,
            feedback_period: Time::from_micros(100),
            silence_timeout: Time::from_micros(300),
            idle_expiry: Time::from_secs(1),
        }),
    ]
}

/// A flow of four subflows from every `spacing`-th host of a fat-tree with k = 4 to the host five places
/// further, in another rack.
fn plan(routing: RoutingKind, controller: &str, bytes: u64, spacing: u32) -> Plan {
    let fabric = plans::fat_tree(4);
    let hosts = fabric.hosts.len() as u32;
    let pairs: Vec<(u32, u32)> = (0..hosts)
        .step_by(spacing as usize)
        .map(|host| (host, (host + 5) % hosts))
        .collect();
    let list: Vec<(u32, u32, Time)> = pairs.iter().map(|&(a, b)| (a, b, Time::ZERO)).collect();
    let mut group = plans::group(controller, &[], plans::flows(&list), fixed(bytes));
    group.subflows = 4;
    group.transport.minimum_rto = Time::from_millis(3);
    group.transport.initial_rto = Time::from_millis(5);
    group.transport.maximum_rto = Time::from_millis(50);
    if routing == RoutingKind::Pinned {
        let router = Router::new(
            &fabric,
            RoutingKind::Spray {
                detection_delay: DETECTION,
            },
            1,
        );
        let router = router.expect("a router");
        group.listed = pairs
            .iter()
            .map(|&(a, b)| {
                let all = router.spread(a, b);
                let paths = (0..4)
                    .map(|subflow| all[subflow % all.len()].clone())
                    .collect();
                ListedFlow {
                    paths,
                    ..ListedFlow::default()
                }
            })
            .collect();
    }
    let queue = plans::queue(60, Some(15));
    let mut plan = plans::plan(fabric, queue, vec![group], None);
    plan.routing = routing;
    plan
}

/// The cables that a failure takes down.
fn cables(fabric: &Fabric, what: &str) -> Vec<[String; 2]> {
    let name = |node: NodeId| fabric.node(node).name.clone();
    match what.split_once("--") {
        Some((a, b)) => vec![[a.to_owned(), b.to_owned()]],
        None => fabric
            .links
            .iter()
            .step_by(2)
            .map(|link| [name(link.from), name(link.to)])
            .filter(|ends| ends.contains(&what.to_owned()))
            .collect(),
    }
}

fn fail(plan: &mut Plan, what: &str, from: Time, to: Option<Time>) {
    for [a, b] in cables(&plan.fabric.clone(), what) {
        plans::down_between(plan, [&a, &b], from, to);
    }
}

/// A cable to a core switch, an aggregation switch, a core switch, an edge switch's uplink.
const FAILURES: [&str; 4] = ["agg1.0--core0.1", "agg2.1", "core1.0", "edge0.1--agg0.0"];

fn recoveries(output: &Output) -> Vec<f64> {
    plans::table(output, "recoveries")
        .numbers("recovery_s")
        .to_vec()
}

#[test]
fn every_flow_survives_every_failure_that_ends() {
    for routing in routings() {
        let mut reinjected = 0;
        for what in FAILURES {
            let mut plan = plan(routing.clone(), "xmp", 2_000_000, 1);
            let from = Time::from_millis(6);
            fail(&mut plan, what, from, Some(Time::from_millis(60)));
            let output = plans::run(&plan);
            let name = format!("{} {what}", routing.name());
            assert_eq!(output.verdict, Verdict::Finished, "{name}");
            assert!(
                counted(&output, "delivered_bytes")
                    .iter()
                    .all(|&b| b == 2_000_000),
                "{name}"
            );
            // What failed mattered: at least half of the flows were under way, a tenth of them on it.
            let ends = plans::of_flows(&output, "end_s").iter();
            let active = ends.filter(|&&end| end > from.as_secs_f64()).count();
            let took = recoveries(&output);
            assert!(active >= 8, "{name}: {active} active");
            assert!(took.len() >= 2, "{name}: {} hit", took.len());
            // The time to recover is known, and no longer than the failure and some timeouts.
            assert!(
                took.iter().all(|&took| took > 0.0 && took < 0.2),
                "{name}: {took:?}"
            );
            reinjected += counted(&output, "reinjected").iter().sum::<u64>();
        }
        // Where switches find other ways within a timeout or two, little has to move to siblings.
        let is_static = matches!(routing, RoutingKind::TwoLevel | RoutingKind::Pinned);
        assert!(
            !is_static || reinjected > 100,
            "{}: {reinjected}",
            routing.name()
        );
    }
}

#[test]
fn siblings_carry_what_a_failure_for_good_leaves() {
    for routing in routings() {
        for what in FAILURES {
            let mut plan = plan(routing.clone(), "xmp", 1_000_000, 1);
            fail(&mut plan, what, Time::from_millis(4), None);
            let mut down = vec![false; plan.fabric.links.len()];
            for event in &plan.events {
                down[event.link.0 as usize] = true;
            }
            let output = plans::run(&plan);
            let name = format!("{} {what}", routing.name());
            // Under two-level data and acknowledgements choose their aggregation switches apart: with one of
            // the two gone, each of four subflows may miss it on one way or the other.
            let mut left = 0;
            for (flow, finished) in (0u32..).zip(plans::finished(&output)) {
                let remains = path_remains(&plan, &down, flow, flow, (flow + 5) % 16);
                assert!(finished || !remains, "{name} {flow}");
                left += u32::from(remains);
            }
            assert!(left >= 12, "{name}: {left}");
            let is_static = routing == RoutingKind::TwoLevel;
            assert!(left == 16 || is_static, "{name}: {left}");
            let verdict = if plans::finished(&output).contains(&false) {
                Verdict::Stalled
            } else {
                Verdict::Finished
            };
            assert_eq!(output.verdict, verdict, "{name}");
        }
    }
}

#[test]
fn without_reinjection_static_paths_keep_what_they_hold() {
    for routing in [RoutingKind::TwoLevel, RoutingKind::Pinned] {
        for what in FAILURES {
            let mut plan = plan(routing.clone(), "xmp", 1_000_000, 1);
            plan.groups[0].transport.reinject_after = None;
            fail(&mut plan, what, Time::from_millis(4), None);
            let output = plans::run(&plan);
            let name = format!("{} {what}", routing.name());
            assert_eq!(output.verdict, Verdict::Stalled, "{name}");
            assert!(
                counted(&output, "reinjected")
                    .iter()
                    .all(|&packets| packets == 0)
            );
            assert!(plans::finished(&output).contains(&false), "{name}");
        }
    }
}

#[test]
fn hosts_that_are_cut_off_stall_by_name_and_the_others_finish() {
    for routing in routings() {
        let mut plan = plan(routing.clone(), "xmp", 1_000_000, 1);
        // Hosts 4 and 5 hang on edge1.0.
        fail(&mut plan, "edge1.0", Time::from_millis(4), None);
        let output = plans::run(&plan);
        assert_eq!(output.verdict, Verdict::Stalled, "{}", routing.name());
        let cut_off = [4, 5];
        for (number, &finished) in plans::finished(&output).iter().enumerate() {
            let touched = cut_off.contains(&number) || cut_off.contains(&((number + 5) % 16));
            assert_eq!(finished, !touched, "{} {number}", routing.name());
            assert_eq!(flags(&output, "stalled")[number], touched);
        }
        let note = output
            .notes
            .iter()
            .find(|note| note.contains("no live path"));
        let note = note.expect("a note");
        assert!(
            note.starts_with("4 flows") && note.contains("flows/4"),
            "{note}"
        );
    }
}

#[test]
fn feedback_routing_recovers_before_ecmp() {
    // FMP's switches turn elsewhere within microseconds, and only what was in the dead port is missing; ECMP's
    // wait for the detection delay, of 2 ms.
    let took = |routing: RoutingKind| {
        let mut all = Vec::new();
        for what in FAILURES {
            let mut plan = plan(routing.clone(), "xmp", 2_000_000, 1);
            fail(&mut plan, what, Time::from_millis(6), None);
            all.extend(recoveries(&plans::run(&plan)));
        }
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let [ecmp, .., fmp] = &routings()[..] else {
        panic!("six kinds");
    };
    let (ecmp, fmp) = (took(ecmp.clone()), took(fmp.clone()));
    assert!(fmp < ecmp, "{fmp} {ecmp}");
}

#[derive(Clone, Debug)]
struct Schedule {
    seed: u64,
    routing: usize,
    controller: &'static str,
    recovery: Recovery,
    bytes: u64,
    /// What, from when in microseconds, and for how long; for good without.
    outages: Vec<(usize, u64, Option<u64>)>,
}

fn schedules() -> impl Strategy<Value = Schedule> {
    let controllers = vec![
        "xmp",
        "lia",
        "olia",
        "amp",
        "fcc",
        "dcm",
        "eutcp",
        "uncoupled",
    ];
    let outage = (
        0usize..52,
        1500u64..6000,
        prop::option::weighted(0.6, 1u64..9000),
    );
    (
        any::<u64>(),
        0..routings().len(),
        prop::sample::select(controllers),
        prop::sample::select(vec![Recovery::Sack, Recovery::NewReno]),
        200_000u64..500_000,
        prop::collection::vec(outage, 1..7),
    )
        .prop_map(
            |(seed, routing, controller, recovery, bytes, outages)| Schedule {
                seed,
                routing,
                controller,
                recovery,
                bytes,
                outages,
            },
        )
}

/// Everything that can fail by itself: the 32 cables between switches, and the 20 switches.
fn targets(fabric: &Fabric) -> Vec<String> {
    let is_switch = |node: NodeId| fabric.node(node).host_index().is_none();
    let name = |node: NodeId| fabric.node(node).name.clone();
    let cables = fabric.links.iter().step_by(2);
    let between = cables.filter(|link| is_switch(link.from) && is_switch(link.to));
    let mut all: Vec<String> = between
        .map(|link| format!("{}--{}", name(link.from), name(link.to)))
        .collect();
    let nodes = (0..fabric.nodes.len() as u32).map(NodeId);
    all.extend(nodes.filter(|&node| is_switch(node)).map(name));
    all
}

/// Adds the outages: a cable carries packets when nothing that takes it down is down. Gives the cables that
/// stay down, by their first link.
fn add_outages(plan: &mut Plan, schedule: &Schedule) -> Vec<bool> {
    let fabric = plan.fabric.clone();
    let targets = targets(&fabric);
    let mut down_for_good = vec![false; fabric.links.len()];
    for place in (0..fabric.links.len()).step_by(2) {
        let link = LinkId(place as u32);
        let ends = [fabric.link(link).from, fabric.link(link).to];
        let ends = ends.map(|node| fabric.node(node).name.clone());
        let mut spans: Vec<(u64, u64)> = schedule
            .outages
            .iter()
            .filter(|(what, ..)| cables(&fabric, &targets[*what]).contains(&ends))
            .map(|&(_, from, length)| (from, length.map_or(u64::MAX, |length| from + length)))
            .collect();
        spans.sort_unstable();
        let mut merged: Vec<(u64, u64)> = Vec::new();
        for (from, to) in spans {
            match merged.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => merged.push((from, to)),
            }
        }
        for (from, to) in merged {
            let mut at = |micros: u64, change: Change| {
                plan.events
                    .extend([link, link.reverse()].map(|link| LinkChange {
                        at: Time::from_micros(micros),
                        link,
                        change: change.clone(),
                    }));
            };
            at(from, Change::Down);
            if to == u64::MAX {
                down_for_good[place] = true;
                down_for_good[place + 1] = true;
            } else {
                at(to, Change::Up);
            }
        }
    }
    plan.events.sort_by_key(|event| event.at);
    down_for_good
}

/// Hops of every node to a host over the links that are up; hosts do not forward.
fn distances(fabric: &Fabric, host: u32, down: &[bool]) -> Vec<u32> {
    let mut distance = vec![u32::MAX; fabric.nodes.len()];
    let target = fabric.hosts[host as usize];
    distance[target.0 as usize] = 0;
    let mut open = std::collections::VecDeque::from([target]);
    while let Some(node) = open.pop_front() {
        if node != target && fabric.node(node).host_index().is_some() {
            continue;
        }
        for (place, link) in fabric.links.iter().enumerate() {
            let from = link.from.0 as usize;
            if link.to == node && !down[place] && distance[from] == u32::MAX {
                distance[from] = distance[node.0 as usize] + 1;
                open.push_back(link.from);
            }
        }
    }
    distance
}

/// Whether a path is left by which packets of this kind of routing can come from one host to another.
fn path_remains(plan: &Plan, down: &[bool], flow: u32, source: u32, destination: u32) -> bool {
    let fabric = &plan.fabric;
    match &plan.routing {
        RoutingKind::Ecmp { .. } | RoutingKind::Spray { .. } => {
            let reached = |a: u32, b: u32| {
                let from = fabric.hosts[a as usize].0 as usize;
                distances(fabric, b, down)[from] < u32::MAX
            };
            reached(source, destination)
        }
        RoutingKind::Fmp(_) => {
            // Along shortest paths of the intact fabric only.
            let leads = |a: u32, b: u32| {
                let intact = distances(fabric, b, &vec![false; down.len()]);
                let mut open = vec![fabric.hosts[a as usize]];
                while let Some(node) = open.pop() {
                    if node == fabric.hosts[b as usize] {
                        return true;
                    }
                    for (place, link) in fabric.links.iter().enumerate() {
                        let nearer = intact[link.to.0 as usize] < intact[node.0 as usize];
                        if link.from == node && !down[place] && nearer {
                            open.push(link.to);
                        }
                    }
                }
                false
            };
            leads(source, destination) && leads(destination, source)
        }
        RoutingKind::TwoLevel | RoutingKind::Pinned => {
            let router = Router::new(fabric, plan.routing.clone(), plan.seed).expect("a router");
            (0..4u32).any(|subflow| {
                let listed = &plan.groups[0].listed[flow as usize].paths;
                let request = PathRequest {
                    source,
                    destination,
                    connection: u64::from(flow),
                    subflow,
                    pinned: listed.get(subflow as usize).map(Vec::as_slice),
                };
                let (mut there, mut back) = (Vec::new(), Vec::new());
                router.data_path(&request, &mut there);
                router.ack_path(&request, &there, &mut back);
                there.iter().chain(&back).all(|link| !down[link.0 as usize])
            })
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        rng_seed: RngSeed::Fixed(8684),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn flows_finish_wherever_a_path_remains(schedule in schedules()) {
        let routing = routings()[schedule.routing].clone();
        let mut plan = plan(routing, schedule.controller, schedule.bytes, 2);
        plan.seed = schedule.seed;
        plan.groups[0].transport.recovery = schedule.recovery;
        let down = add_outages(&mut plan, &schedule);
        let output = plans::run(&plan);
        let finished = plans::finished(&output);
        let stalled = flags(&output, "stalled");
        let mut cut_off = 0;
        for flow in 0..8u32 {
            let (source, destination) = (2 * flow, (2 * flow + 5) % 16);
            let remains = path_remains(&plan, &down, flow, source, destination);
            let place = flow as usize;
            prop_assert!(finished[place] || !remains, "flow {} has a path", flow);
            prop_assert_eq!(stalled[place], !finished[place]);
            if finished[place] {
                prop_assert_eq!(counted(&output, "delivered_bytes")[place], schedule.bytes);
            } else {
                cut_off += 1;
            }
        }
        let verdict = if cut_off > 0 { Verdict::Stalled } else { Verdict::Finished };
        prop_assert_eq!(output.verdict, verdict);
        // A hit flow that finished has recovered.
        if let Some(hit) = output.table("recoveries") {
            let flows = hit.integers("flow").iter();
            for (flow, took) in flows.zip(hit.numbers("recovery_s")) {
                prop_assert!(!finished[*flow as usize] || took.is_finite());
            }
        }
    }
}

#[test]
fn parallel_cables_have_names_of_their_own() {
    let plan = plans::read(
        r#"
        [fabric]
        kind = "graph"
        hosts = ["S", "D"]
        switches = ["A", "B"]
        rate = "1 Gbps"
        delay = "10 us"
        cables = ["S-A", "A-B", "B-A", "A-B", "B-D"]
        [[traffic]]
        name = "t"
        pattern = "flows"
        size = "1 MB"
        controller = "reno"
        flows = [{ from = "S", to = "D", paths = [["A", "B#1"], ["A", "B#3"]] }]
        [[events]]
        at = "2 ms"
        link = "A-B#3"
        down = true
        [[events]]
        at = "3 ms"
        link = "A-B#*"
        down = true
        [[events]]
        at = "4 ms"
        link = "A-B#*"
        up = true
        "#,
    );
    let output = plans::run(&plan);
    let texts = |table: &str, column: &str| -> Vec<String> {
        let Some(Column::Labels { names, codes }) = plans::table(&output, table).column(column)
        else {
            panic!("{table}.{column}");
        };
        let text = |&code: &u32| names[code as usize].to_owned();
        codes.iter().map(text).collect()
    };
    assert_eq!(
        texts("links", "link"),
        [
            "S->A", "A->S", "A->B", "B->A", "B->A#2", "A->B#2", "A->B#3", "B->A#3", "B->D", "D->B"
        ]
    );
    assert_eq!(texts("subflows", "path"), ["S-A-B-D", "S-A-B#3-D"]);
    assert_eq!(texts("recoveries", "failed"), ["A-B#3", "A-B and 1 more"]);
}
