//! Switches that notice failures and route around them.

use crate::plans::{self, counted, fixed, flags, of_flows};
use pathweave_engine::{Column, Output, Verdict};
use pathweave_fabric::routing::RoutingKind;
use pathweave_scenario::{Change, Plan};
use pathweave_units::Time;

const DELAY: Time = Time::from_millis(3);

fn ecmp() -> RoutingKind {
    RoutingKind::Ecmp {
        distinct: false,
        detection_delay: DELAY,
    }
}

/// A long flow between the first and the last host of a fat-tree.
fn lone_flow(routing: RoutingKind) -> Plan {
    let pattern = plans::flows(&[(0, 15, Time::ZERO)]);
    let group = plans::group("reno", &[], pattern, fixed(4_000_000));
    let mut plan = plans::plan(
        plans::fat_tree(4),
        plans::queue(50, None),
        vec![group],
        None,
    );
    plan.groups[0].transport.minimum_rto = Time::from_millis(5);
    plan.routing = routing;
    plan
}

/// The nodes on a subflow's path.
fn nodes(output: &Output, subflow: usize) -> Vec<String> {
    let Some(Column::Labels { names, codes }) = plans::table(output, "subflows").column("path")
    else {
        panic!("paths");
    };
    let name = &names[codes[subflow] as usize];
    name.split('-').map(str::to_owned).collect()
}

/// Takes down the cable from the core to the destination's pod, which only routing can avoid.
fn break_second_half(plan: &mut Plan, path: &[String], from: Time, to: Option<Time>) {
    plans::down_between(plan, [&path[3], &path[4]], from, to);
}

#[test]
fn ecmp_goes_around_a_link_that_stays_down() {
    let intact = plans::run(&lone_flow(ecmp()));
    let path = nodes(&intact, 0);
    assert_eq!(path.len(), 7, "{path:?}");
    let mut plan = lone_flow(ecmp());
    let broken = Time::from_millis(8);
    break_second_half(&mut plan, &path, broken, None);
    let output = plans::run(&plan);
    assert_eq!(output.verdict, Verdict::Finished);
    assert_eq!(counted(&output, "delivered_bytes"), [4_000_000]);
    assert_ne!(nodes(&output, 0), path);
    assert!(!nodes(&output, 0).contains(&path[4]) || nodes(&output, 0)[3] != path[3]);
    let recoveries = plans::table(&output, "recoveries");
    assert_eq!(recoveries.numbers("at_s"), [broken.as_secs_f64()]);
    assert_eq!(recoveries.integers("subflows_hit"), [1]);
    // A timeout after at least 5 ms, and by then another path; everything lost comes again in slow start.
    let took = recoveries.numbers("recovery_s")[0];
    assert!((0.005..0.030).contains(&took), "{took}");
}

#[test]
fn before_the_detection_delay_nothing_changes() {
    let path = nodes(&plans::run(&lone_flow(ecmp())), 0);
    let mut plan = lone_flow(ecmp());
    // Back before the switches notice: the flow keeps its path.
    let from = Time::from_millis(8);
    break_second_half(
        &mut plan,
        &path,
        from,
        Some(from + DELAY - Time::from_micros(1)),
    );
    let output = plans::run(&plan);
    assert_eq!(output.verdict, Verdict::Finished);
    assert_eq!(nodes(&output, 0), path);
    assert!(output.counters.lost_to_failures > 0);
}

#[test]
fn a_link_that_comes_back_is_used_again() {
    let intact = plans::run(&lone_flow(ecmp()));
    let path = nodes(&intact, 0);
    let mut plan = lone_flow(ecmp());
    let back = Time::from_millis(20);
    break_second_half(&mut plan, &path, Time::from_millis(8), Some(back));
    let output = plans::run(&plan);
    assert_eq!(output.verdict, Verdict::Finished);
    assert!(of_flows(&output, "end_s")[0] > (back + DELAY).as_secs_f64());
    assert_eq!(nodes(&output, 0), path, "the hash is the same as before");
}

#[test]
fn static_routing_waits_for_the_link() {
    for routing in [RoutingKind::TwoLevel, RoutingKind::Pinned] {
        let mut plan = lone_flow(RoutingKind::TwoLevel);
        let path = nodes(&plans::run(&plan), 0);
        if routing == RoutingKind::Pinned {
            let names: Vec<&str> = path.iter().map(String::as_str).collect();
            plan.groups[0].listed[0].paths = vec![plans::path(&plan.fabric, &names)];
            plan.routing = routing;
        }
        break_second_half(&mut plan, &path, Time::from_millis(8), None);
        let output = plans::run(&plan);
        assert_eq!(output.verdict, Verdict::Stalled);
        assert_eq!(flags(&output, "stalled"), [true]);
        let recovery = plans::table(&output, "recoveries").numbers("recovery_s");
        assert!(recovery[0].is_nan());
    }
}

#[test]
fn distinct_paths_and_sprays_go_around_as_well() {
    for (routing, subflows) in [
        (
            RoutingKind::Ecmp {
                distinct: true,
                detection_delay: DELAY,
            },
            4,
        ),
        (
            RoutingKind::Spray {
                detection_delay: DELAY,
            },
            1,
        ),
    ] {
        let mut plan = lone_flow(routing);
        plan.groups[0].subflows = subflows;
        // No reinjection: only other paths bring back what was lost.
        plan.groups[0].transport.reinject_after = None;
        for core in ["core0.0", "core0.1"] {
            plans::down_between(&mut plan, ["agg3.0", core], Time::from_millis(4), None);
        }
        let output = plans::run(&plan);
        assert_eq!(output.verdict, Verdict::Finished);
        assert_eq!(counted(&output, "delivered_bytes"), [4_000_000]);
        assert!(output.counters.lost_to_failures > 0);
    }
}

#[test]
fn a_scattered_flow_goes_around_as_well() {
    let mut plan = lone_flow(ecmp());
    plan.groups = vec![plans::group(
        "mmptcp",
        &[("volume", 4e6)],
        plans::flows(&[(0, 15, Time::ZERO)]),
        fixed(4_000_000),
    )];
    plan.groups[0].subflows = 3;
    plans::down_between(&mut plan, ["agg3.0", "core0.0"], Time::from_millis(4), None);
    plans::down_between(&mut plan, ["agg3.0", "core0.1"], Time::from_millis(4), None);
    let output = plans::run(&plan);
    assert_eq!(output.verdict, Verdict::Finished);
    assert_eq!(counted(&output, "delivered_bytes"), [4_000_000]);
}

#[test]
fn flows_that_start_after_a_failure_avoid_it() {
    let pattern = plans::flows(&[(0, 15, Time::from_millis(20))]);
    let mut plan = lone_flow(ecmp());
    plan.groups[0].pattern = pattern;
    let path = nodes(&plans::run(&plan), 0);
    break_second_half(&mut plan, &path, Time::from_millis(8), None);
    let output = plans::run(&plan);
    assert_eq!(output.verdict, Verdict::Finished);
    assert_ne!(nodes(&output, 0), path);
    assert_eq!(output.counters.lost_to_failures, 0);
    assert!(
        plans::table(&output, "recoveries")
            .integers("flow")
            .is_empty()
    );
}

#[test]
fn a_host_that_is_cut_off_stalls_its_flows_by_name() {
    let mut plan = lone_flow(ecmp());
    let edge = pathweave_fabric::Fabric::node_named(&plan.fabric, "edge3.1").expect("a switch");
    let at = Time::from_millis(5);
    let touches = |link: &&pathweave_fabric::Link| link.from == edge || link.to == edge;
    let cables: Vec<[String; 2]> = plan
        .fabric
        .links
        .iter()
        .step_by(2)
        .filter(touches)
        .map(|link| [link.from, link.to].map(|node| plan.fabric.node(node).name.clone()))
        .collect();
    for [a, b] in &cables {
        plans::down_between(&mut plan, [a, b], at, None);
    }
    assert!(plan.events.iter().all(|event| event.change == Change::Down));
    let output = plans::run(&plan);
    assert_eq!(output.verdict, Verdict::Stalled);
    assert_eq!(flags(&output, "stalled"), [true]);
    let Some(Column::Labels { names, .. }) = plans::table(&output, "recoveries").column("failed")
    else {
        panic!("what failed");
    };
    assert!(names.iter().eq(["edge3.1"]));
}

/// Flows that begin between a failure at the start of the run and its detection lose their SYNs.
#[test]
fn flows_that_begin_before_routing_notices_are_hit() {
    let plan = plans::read(
        r#"
        jitter = "none"
        [fabric]
        kind = "leaf-spine"
        leaves = 2
        spines = 2
        hosts_per_leaf = 8
        host_rate = "1 Gbps"
        host_delay = "2 us"
        [routing]
        kind = "ecmp"
        detection_delay = "10 ms"
        [transport]
        preset = "textbook"
        [[traffic]]
        name = "early"
        pattern = "permutation"
        hosts = "all"
        rounds = 1
        size = "20 KB"
        controller = "reno"
        start = "1 ms"
        [[traffic]]
        name = "late"
        pattern = "permutation"
        rounds = 1
        size = "20 KB"
        controller = "reno"
        start = "11 ms"
        [[events]]
        at = "0 s"
        link = "leaf0-spine0"
        down = true
        "#,
    );
    let output = plans::run(&plan);
    let late: Vec<bool> = of_flows(&output, "fct_s")
        .iter()
        .map(|fct| *fct > 0.9)
        .collect();
    let (slow, flows) = (late.iter().filter(|&&late| late).count(), late.len());
    assert!(slow > 0 && slow < flows, "{slow} of {flows}");
    let recoveries = plans::table(&output, "recoveries");
    let hit = recoveries.integers("flow");
    assert_eq!(hit.len(), slow, "all that lost a SYN, and no other");
    assert!(hit.iter().all(|&flow| late[flow as usize]));
    assert!(
        recoveries
            .integers("subflows_hit")
            .iter()
            .all(|&hit| hit == 1)
    );
    assert!(recoveries.numbers("at_s").iter().all(|&at| at == 0.0));
    assert!(
        recoveries
            .numbers("recovery_s")
            .iter()
            .all(|took| (1.0..1.1).contains(took)),
        "the timeout of the SYN"
    );
    for threads in [1, 2] {
        let again = pathweave_engine::run_on_threads(&plan, &Default::default(), threads);
        let again = again.expect("sound");
        let again = plans::table(&again, "recoveries");
        assert_eq!(again.integers("flow"), hit);
        assert_eq!(
            again.numbers("recovery_s"),
            recoveries.numbers("recovery_s")
        );
    }
}
