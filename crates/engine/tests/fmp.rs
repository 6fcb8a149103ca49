//! Switches that route by feedback, in whole runs.

use crate::plans::{self, counted, fixed, flags};
use pathweave_engine::{Column, Output, Progress, Verdict, run_with_departure_ports};
use pathweave_fabric::routing::{FmpConfig, FmpPrice, RoutingKind};
use pathweave_fabric::topology::{Graph, GraphCable, GraphNode, LeafSpine};
use pathweave_fabric::{Fabric, LinkId};
use pathweave_network::Marking;
use pathweave_scenario::{Change, LinkChange, Plan};
use pathweave_traffic::Size;
use pathweave_units::{Rate, Time};
use std::collections::BTreeSet;

const FMP: RoutingKind = RoutingKind::Fmp(FmpConfig {
    price: FmpPrice::Occupancy,
    feedback_period: Time::from_micros(100),
    silence_timeout: Time::from_micros(300),
    idle_expiry: Time::from_secs(1),
});

const PRICES: [FmpPrice; 4] = [
    FmpPrice::Occupancy,
    FmpPrice::AveragedOccupancy,
    FmpPrice::Marks,
    FmpPrice::Utilisation,
];

/// FMP with another price.
fn fmp_by(price: FmpPrice) -> RoutingKind {
    match FMP {
        RoutingKind::Fmp(config) => RoutingKind::Fmp(FmpConfig { price, ..config }),
        _ => FMP,
    }
}

fn leaf_spine(leaves: u32, spines: u32, hosts_per_leaf: u32) -> Fabric {
    let shape = LeafSpine {
        leaves,
        spines,
        hosts_per_leaf,
        host_rate: Rate::from_gbps(1),
        uplink_rate: Rate::from_gbps(1),
        host_delay: Time::from_micros(1).into(),
        uplink_delay: Time::from_micros(10).into(),
    };
    shape.build(1).expect("a fabric")
}

fn paths(output: &Output) -> Vec<Vec<String>> {
    let Some(Column::Labels { names, codes }) = plans::table(output, "subflows").column("path")
    else {
        panic!("paths");
    };
    let nodes = |code: &u32| {
        names[*code as usize]
            .split('-')
            .map(str::to_owned)
            .collect()
    };
    codes.iter().map(nodes).collect()
}

fn total(output: &Output, column: &str) -> u64 {
    plans::table(output, "fmp").integers(column).iter().sum()
}

#[test]
fn a_connection_s_subflows_use_all_paths_of_an_idle_fat_tree() {
    let pattern = plans::flows(&[(0, 15, Time::ZERO)]);
    let mut group = plans::group("xmp", &[], pattern, fixed(2_000_000));
    group.subflows = 4;
    let queue = plans::queue(100, Some(10));
    let mut plan = plans::plan(plans::fat_tree(4), queue, vec![group], None);
    plan.routing = FMP;
    let output = plans::run(&plan);
    assert_eq!(output.verdict, Verdict::Finished);
    assert_eq!(counted(&output, "delivered_bytes"), [2_000_000]);
    let paths = paths(&output);
    assert!(paths.iter().all(|path| path.len() == 7), "{paths:?}");
    let different: BTreeSet<_> = paths.iter().collect();
    assert_eq!(different.len(), 4);
}

#[test]
fn feedback_takes_its_time_on_the_links() {
    let fabric = leaf_spine(3, 2, 1);
    let group = plans::group(
        "reno",
        &[],
        plans::flows(&[(0, 1, Time::ZERO)]),
        Size::Unlimited,
    );
    let end = Time::from_millis(10);
    let mut plan = plans::plan(fabric, plans::queue(100, None), vec![group], Some(end));
    plan.routing = FMP;
    let output = plans::run(&plan);
    // 100 periods of 6 links up with one line each and 6 links down with two.
    assert_eq!(total(&output, "feedback_packets"), 100 * 12);
    assert_eq!(total(&output, "feedback_bytes"), 100 * (6 * 24 + 6 * 32));
    // Spine 0 to leaf 2 carries nothing else: 32 bytes in every 100 us of a 1 Gbps link.
    let link = plans::link(&plan.fabric, "spine0", "leaf2").0 as usize;
    let used = plans::table(&output, "links").numbers("utilisation")[link];
    assert!(
        plans::within(used, 0.02, 32.0 * 8.0 / 100e-6 / 1e9),
        "{used}"
    );
    assert_eq!(total(&output, "silences"), 0);
}

/// The spines that four short flows take between two leaves while `background` long flows, each from a host of its own,
/// use spine 0. Two long flows fill its links.
fn spines_beside(background: u32, price: FmpPrice) -> Vec<String> {
    let mut fabric = leaf_spine(2, 2, 8);
    let (spines, hosts) = (["spine0", "spine1"], 8);
    for (leaf, spine) in ["leaf0", "leaf1"]
        .iter()
        .flat_map(|leaf| spines.map(|spine| (leaf, spine)))
    {
        for link in [
            plans::link(&fabric, leaf, spine),
            plans::link(&fabric, spine, leaf),
        ] {
            fabric.links[link.0 as usize].rate = Rate::from_gbps(2);
        }
    }
    let starts: Vec<(u32, u32, Time)> = (0..background)
        .map(|host| (host, hosts + host, Time::ZERO))
        .collect();
    let mut long = plans::group("dctcp", &[], plans::flows(&starts), Size::Unlimited);
    for (number, listed) in (0..).zip(&mut long.listed) {
        let (source, destination) = (format!("h{number}"), format!("h{}", hosts + number));
        let nodes = [&*source, "leaf0", "spine0", "leaf1", &*destination];
        listed.paths = vec![plans::path(&fabric, &nodes)];
    }
    let starts: Vec<(u32, u32, Time)> = (4..hosts)
        .map(|host| (host, hosts + host, Time::from_millis(20 + u64::from(host))))
        .collect();
    let mut short = plans::group("reno", &[], plans::flows(&starts), fixed(15_000));
    short.name = "short".to_owned();
    let end = Some(Time::from_millis(40));
    let mut plan = plans::plan(fabric, plans::queue(100, Some(20)), vec![long, short], end);
    plan.routing = fmp_by(price);
    let paths = paths(&plans::run(&plan));
    let (long, short) = paths.split_at(background as usize);
    assert!(long.iter().all(|path| path[2] == "spine0"));
    short.iter().map(|path| path[2].clone()).collect()
}

#[test]
fn new_flows_avoid_what_others_congest() {
    for price in PRICES {
        let spines = spines_beside(3, price);
        assert!(
            spines.iter().all(|spine| spine == "spine1"),
            "{price:?}: {spines:?}"
        );
    }
}

#[test]
fn a_busy_link_without_a_standing_queue_is_avoided_by_some_prices() {
    // The long flow's packets queue at their host's port and use half the capacity of the links over spine 0, where
    // they wait only for feedback.
    for price in PRICES {
        let spines = spines_beside(1, price);
        let all_avoid = spines.iter().all(|spine| spine == "spine1");
        let sees = [FmpPrice::AveragedOccupancy, FmpPrice::Utilisation].contains(&price);
        assert_eq!(all_avoid, sees, "{price:?}: {spines:?}");
    }
}

#[test]
fn works_under_every_controller() {
    for entry in pathweave_control::registry() {
        let pattern = plans::flows(&[(0, 15, Time::ZERO), (4, 11, Time::ZERO)]);
        let mut group = plans::group(entry.name, &[], pattern, fixed(300_000));
        group.subflows = if entry.coupled { 3 } else { 1 };
        let queue = plans::queue(100, Some(10));
        let mut plan = plans::plan(plans::fat_tree(4), queue, vec![group], None);
        plan.routing = FMP;
        let output = plans::run(&plan);
        assert_eq!(output.verdict, Verdict::Finished, "{}", entry.name);
        assert_eq!(counted(&output, "delivered_bytes"), [300_000; 2]);
        assert!(total(&output, "feedback_packets") > 0);
    }
}

/// Two switches with a slow way and a fast way between them; the flow takes the slow one first.
fn two_ways() -> (Plan, &'static str) {
    let node = |name: &str, host| GraphNode {
        name: name.to_owned(),
        host,
        rack: None,
        pod: None,
    };
    let cable = |a: &str, b: &str, delay| GraphCable {
        a: a.to_owned(),
        b: b.to_owned(),
        rate: Rate::from_gbps(1),
        delay: Time::from_micros(delay).into(),
        layer: None,
    };
    let graph = Graph {
        nodes: [
            ("S", true),
            ("D", true),
            ("L", false),
            ("A", false),
            ("B", false),
            ("R", false),
        ]
        .map(|(name, host)| node(name, host))
        .to_vec(),
        cables: vec![
            cable("S", "L", 1),
            cable("L", "A", 10),
            cable("A", "R", 3000),
            cable("L", "B", 10),
            cable("B", "R", 10),
            cable("R", "D", 1),
        ],
    };
    let fabric = graph.build(1).expect("a fabric");
    let group = plans::group("reno", &[], plans::single(), fixed(3_000_000));
    let mut plan = plans::plan(fabric, plans::queue(100, None), vec![group], None);
    plan.routing = FMP;
    let takes_a = |seed: &u64| {
        plan.seed = *seed;
        paths(&plans::run(&plan))[0][2] == "A"
    };
    let seed = (1..20).find(takes_a);
    plan.seed = seed.expect("half of the seeds take the slow way first");
    (plan, "A")
}

#[test]
fn a_route_that_changes_while_packets_are_under_way_reorders_them() {
    let (mut plan, first) = two_ways();
    // The port goes down when 3 ms of packets are behind it: those arrive after what takes the other way.
    plans::down_between(&mut plan, ["L", first], Time::from_millis(40), None);
    let output = plans::run(&plan);
    assert_eq!(output.verdict, Verdict::Finished);
    assert_eq!(counted(&output, "delivered_bytes"), [3_000_000]);
    assert_eq!(paths(&output)[0][2], "B");
    assert_eq!(total(&output, "reroutes"), 1);
    // Few packets were lost at the port, and many more overtaken: retransmitted for nothing.
    let lost = output.counters.lost_to_failures;
    let again = counted(&output, "retransmits")[0];
    assert!(
        lost < 20 && again > 2 * lost,
        "{lost} lost, {again} retransmitted"
    );
    let received: u64 = plans::table(&output, "subflows")
        .integers("received_bytes")
        .iter()
        .sum();
    assert_eq!(received, 3_000_000, "each byte counts once");
    let recovery = plans::table(&output, "recoveries").numbers("recovery_s");
    assert!(recovery[0] < 0.25, "{recovery:?}");
}

#[test]
fn a_switch_that_falls_silent_is_avoided() {
    let (mut plan, first) = two_ways();
    // From 40 ms on, nothing comes from A to L any more: neither ACKs nor feedback.
    let link = plans::link(&plan.fabric, first, "L");
    plan.events.push(LinkChange {
        at: Time::from_millis(40),
        link,
        change: Change::Loss(1.0),
    });
    let output = plans::run(&plan);
    assert_eq!(output.verdict, Verdict::Finished);
    assert_eq!(counted(&output, "delivered_bytes"), [3_000_000]);
    assert_eq!(paths(&output)[0][2], "B");
    assert_eq!(total(&output, "silences"), 1);
}

#[test]
fn a_switch_that_does_not_hear_says_so_and_is_avoided() {
    let (mut plan, first) = two_ways();
    // From 40 ms on, nothing from L comes to A any more, while L hears A as before.
    let link = plans::link(&plan.fabric, "L", first);
    let at = Time::from_millis(40);
    let change = Change::Loss(1.0);
    plan.events.push(LinkChange { at, link, change });
    plan.stop.at = Some(Time::from_secs(5));
    let output = plans::run(&plan);
    assert_eq!(plans::finished(&output), [true]);
    assert_eq!(paths(&output)[0][2], "B");
    // L sent into the link until A had found it silent, three periods later, and said so.
    assert_eq!(total(&output, "silences"), 1);
    assert!(counted(&output, "timeouts")[0] <= 1);
    let end = plans::of_flows(&output, "end_s")[0];
    assert!(end < 1.0, "{end}");
}

#[test]
fn a_failure_behind_the_next_switch_is_told_upstream() {
    let (mut plan, first) = two_ways();
    plans::down_between(&mut plan, [first, "R"], Time::from_millis(40), None);
    let output = plans::run(&plan);
    assert_eq!(output.verdict, Verdict::Finished);
    assert_eq!(counted(&output, "delivered_bytes"), [3_000_000]);
    assert_eq!(paths(&output)[0][2], "B");
    // A tells L that R's hosts are out of reach; R has its other port left.
    assert_eq!(total(&output, "notices"), 1);
    // Between the failure and the notice some packets found A without a port.
    assert!(total(&output, "unroutable") > 0);
}

#[test]
fn a_flow_without_a_way_is_stalled_and_the_run_ends() {
    let (mut plan, _) = two_ways();
    for way in ["A", "B"] {
        plans::down_between(&mut plan, ["L", way], Time::from_millis(30), None);
    }
    let output = plans::run(&plan);
    assert_eq!(output.verdict, Verdict::Stalled);
    assert_eq!(flags(&output, "stalled"), [true]);
    // A way that comes back is found again.
    plans::down_between(
        &mut plan,
        ["L", "B"],
        Time::from_millis(30),
        Some(Time::from_millis(60)),
    );
    let output = plans::run(&plan);
    assert_eq!(output.verdict, Verdict::Finished);
    assert_eq!(counted(&output, "delivered_bytes"), [3_000_000]);
}

#[test]
fn slow_links_are_not_taken_for_dead() {
    // A packet of 1,500 bytes takes 1.2 ms, twelve feedback periods.
    for start in [Time::ZERO, Time::from_millis(5)] {
        let fabric = plans::dumbbell(2, Time::from_micros(10));
        let pairs = plans::pairs(&[Time::ZERO, Time::ZERO]);
        let group = plans::group("reno", &[], pairs, fixed(100_000));
        let mut plan = plans::plan(fabric, plans::queue(20, None), vec![group], None);
        plan.routing = FMP;
        let slow = Change::Rate(Rate::from_mbps(10));
        plan.events = plans::cable(&plan.fabric, start, ["A", "B"], &slow).to_vec();
        let output = plans::run(&plan);
        assert_eq!(output.verdict, Verdict::Finished);
        assert_eq!(total(&output, "silences"), 0);
        assert_eq!(total(&output, "unroutable"), 0);
    }
}

#[test]
fn hosts_with_several_ports_leave_those_that_lead_nowhere() {
    let delays = [20, 20, 20].map(Time::from_micros);
    let broken = [["S1", "A1"], ["A1", "B1"], ["B1", "D1"]];
    for cable in broken {
        for subflows in [1, 2] {
            let mut group = plans::group("lia", &[], plans::single(), fixed(1_000_000));
            group.subflows = subflows;
            group.transport.minimum_rto = Time::from_millis(5);
            let queue = plans::queue(50, None);
            let mut plan = plans::plan(plans::parallel_paths(&delays), queue, vec![group], None);
            plan.routing = FMP;
            // Of the three ways two fail for good, one after the other.
            plans::down_between(&mut plan, cable, Time::from_millis(2), None);
            let second = cable.map(|name| {
                name.replace('1', "2")
                    .replace("S2", "S1")
                    .replace("D2", "D1")
            });
            plans::down_between(
                &mut plan,
                [&second[0], &second[1]],
                Time::from_millis(4),
                None,
            );
            let output = plans::run(&plan);
            assert_eq!(output.verdict, Verdict::Finished, "{cable:?} {subflows}");
            assert_eq!(counted(&output, "delivered_bytes"), [1_000_000]);
            assert!(
                paths(&output).iter().all(|path| path[1] == "A3"),
                "{:?}",
                paths(&output)
            );
        }
    }
}

#[test]
fn the_run_ends_when_only_feedback_is_left() {
    let group = plans::group("reno", &[], plans::single(), fixed(1000));
    let mut plan = plans::plan(
        leaf_spine(2, 2, 1),
        plans::queue(9, None),
        vec![group],
        None,
    );
    plan.routing = FMP;
    let output = plans::run(&plan);
    assert_eq!(output.verdict, Verdict::Finished);
    assert!(output.counters.ended < Time::from_millis(2));
}

#[test]
fn the_same_seed_gives_the_same_bits_and_paths_given_stay() {
    let mut group = plans::group("lia", &[], plans::permutation(), fixed(200_000));
    group.subflows = 2;
    let mut plan = plans::plan(
        plans::fat_tree(4),
        plans::queue(50, None),
        vec![group],
        None,
    );
    plan.routing = FMP;
    assert_eq!(plans::run(&plan).hash, plans::run(&plan).hash);
    let first = plans::run(&plan).hash;
    plan.seed += 1;
    assert_ne!(plans::run(&plan).hash, first);

    let mut plan = plans::two_paths(fixed(500_000));
    plan.routing = FMP;
    let wanted: Vec<&[LinkId]> = plan.groups[0].listed[0]
        .paths
        .iter()
        .map(Vec::as_slice)
        .collect();
    let names: Vec<Vec<String>> = wanted
        .iter()
        .map(|links| {
            let fabric = &plan.fabric;
            let name = |node| fabric.node(node).name.clone();
            let first = name(fabric.link(links[0]).from);
            let rest = links.iter().map(|&link| name(fabric.link(link).to));
            std::iter::once(first).chain(rest).collect()
        })
        .collect();
    assert_eq!(paths(&plans::run(&plan)), names);
}

/// Checks that results are the same as with departure ports, which carry all feedback as packets.
fn is_as_with_packets(plan: &Plan, what: &str) {
    let slow = run_with_departure_ports(plan, &Progress::default()).expect("a run");
    let fast = plans::run(plan);
    assert_eq!(fast.hash, slow.hash, "{what}");
    assert_eq!(fast.counters, slow.counters, "{what}");
}

/// Flows between all pods of a fat-tree, enough to fill some queues.
fn busy(limit: u32, subflows: u32) -> Plan {
    let mut groups = Vec::new();
    for (number, pattern) in [plans::permutation(), plans::flows(&[(3, 12, Time::ZERO)])]
        .into_iter()
        .enumerate()
    {
        let mut group = plans::group("fcc", &[], pattern, fixed(400_000));
        group.name = format!("group {number}");
        group.subflows = subflows;
        groups.push(group);
    }
    let queue = plans::queue(limit, Some(5));
    let end = Some(Time::from_millis(40));
    let mut plan = plans::plan(plans::fat_tree(4), queue, groups, end);
    plan.routing = FMP;
    plan
}

#[test]
fn feedback_without_packets_gives_what_packets_give() {
    for subflows in [1, 4] {
        for limit in [8, 100] {
            for price in PRICES {
                let mut plan = busy(limit, subflows);
                plan.routing = fmp_by(price);
                let what = format!("{subflows} subflows, {limit} packets, {price:?}");
                is_as_with_packets(&plan, &what);
            }
        }
    }
    // Feedback interrupts idle times, which an average counts.
    let mut plan = busy(100, 4);
    for queue in &mut plan.queues {
        queue.marking = Marking::Red {
            from: 0.2,
            to: 3.0,
            probability: 0.5,
            weight: 0.01,
        };
    }
    is_as_with_packets(&plan, "an average queue");
    for price in PRICES {
        // Messages take up to about a seventh of the period to send, and arrive eleven periods later.
        let mut plan = busy(50, 2);
        for link in &mut plan.fabric.links {
            link.delay += Time::from_micros(35);
        }
        plan.routing = RoutingKind::Fmp(FmpConfig {
            price,
            feedback_period: Time::from_micros(4),
            silence_timeout: Time::from_micros(12),
            idle_expiry: Time::from_micros(300),
        });
        is_as_with_packets(&plan, &format!("short periods, {price:?}"));
        // The slow links cannot carry all the feedback.
        let slow = Change::Rate(Rate::from_mbps(30));
        for number in [0, 7, 40] {
            let link = LinkId(number);
            let at = Time::from_micros(700);
            plan.events.push(LinkChange {
                at,
                link,
                change: slow.clone(),
            });
        }
        is_as_with_packets(&plan, &format!("slow links, {price:?}"));
    }
}

#[test]
fn a_change_finds_feedback_as_if_it_had_been_packets() {
    for (number, at) in (0u32..).zip([1, 33, 100, 101, 777, 1234, 4321, 9876]) {
        let changes = [
            Change::Down,
            Change::Loss(0.5),
            Change::Loss(1.0),
            Change::Rate(Rate::from_mbps(100)),
        ];
        for change in changes {
            for link in [number, 40 + number, 95 - number] {
                let mut plan = busy(30, 2);
                plan.stop.at = Some(Time::from_millis(15));
                plan.routing = fmp_by(PRICES[(number + link) as usize % PRICES.len()]);
                let event = LinkChange {
                    at: Time::from_micros(at),
                    link: LinkId(link),
                    change: change.clone(),
                };
                let what = format!("{event:?}");
                plan.events.push(event);
                is_as_with_packets(&plan, &what);
            }
        }
    }
}

#[test]
fn paths_given_and_sprays_meet_feedback_as_if_it_had_been_packets() {
    let mut plan = plans::two_paths(fixed(500_000));
    plan.routing = FMP;
    is_as_with_packets(&plan, "paths given");
    let mut plan = busy(20, 2);
    let pattern = plans::flows(&[(1, 14, Time::ZERO), (6, 2, Time::from_micros(300))]);
    let mut sprayed = plans::group("mmptcp", &[], pattern, fixed(300_000));
    sprayed.name = "sprayed".to_owned();
    sprayed.subflows = 2;
    plan.groups.push(sprayed);
    is_as_with_packets(&plan, "sprays");
}
