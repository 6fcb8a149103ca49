//! Packets that are spread over all paths, and connections that begin so.

use crate::plans::{self, counted, fixed, table};
use pathweave_engine::{Output, Verdict};
use pathweave_fabric::routing::{FmpConfig, FmpPrice, RoutingKind};
use pathweave_scenario::Plan;
use pathweave_units::Time;

/// One flow over a k = 4 fat-tree, from the first pod to the last: four paths, one through each core.
fn between_pods(controller: &str, subflows: u32, size: u64) -> Plan {
    let mut group = plans::group(
        controller,
        &[],
        plans::flows(&[(0, 15, Time::ZERO)]),
        fixed(size),
    );
    group.subflows = subflows;
    let queue = plans::queue(100, None);
    let mut plan = plans::plan(plans::fat_tree(4), queue, vec![group], None);
    plan.jitter = false;
    plan
}

/// Packets that left each core switch towards the last pod.
fn through_cores(plan: &Plan, output: &Output) -> Vec<u64> {
    let fabric = &plan.fabric;
    let packets = table(output, "links").integers("packets");
    (0..fabric.links.len())
        .filter(|&link| {
            let link = &fabric.links[link];
            let name = |node| fabric.node(node).name.as_str();
            name(link.from).starts_with("core") && name(link.to).starts_with("agg3")
        })
        .map(|link| packets[link])
        .collect()
}

#[test]
fn spray_uses_all_paths_alike() {
    let mut plan = between_pods("reno", 1, 1448 * 4000);
    plan.routing = RoutingKind::Spray {
        detection_delay: Time::ZERO,
    };
    let output = plans::run(&plan);
    assert_eq!(output.verdict, Verdict::Finished);
    let packets = through_cores(&plan, &output);
    assert_eq!(packets.len(), 4);
    let sent: u64 = packets.iter().sum();
    // Four standard deviations of sent / 4 with p = 1/4.
    let mean = sent as f64 / 4.0;
    let allowed = 4.0 * (mean * 0.75).sqrt();
    for count in packets {
        assert!((count as f64 - mean).abs() < allowed, "{count} of {sent}");
    }
}

#[test]
fn a_hash_keeps_to_one_path() {
    let plan = between_pods("reno", 1, 1448 * 400);
    let packets = through_cores(&plan, &plans::run(&plan));
    assert_eq!(packets.iter().filter(|&&count| count > 0).count(), 1);
}

#[test]
fn spray_draws_alike_in_equal_runs() {
    let mut plan = between_pods("reno", 1, 1448 * 400);
    plan.routing = RoutingKind::Spray {
        detection_delay: Time::ZERO,
    };
    let output = plans::run(&plan);
    assert_eq!(output.hash, plans::run(&plan).hash);
    plan.seed += 1;
    assert_ne!(output.hash, plans::run(&plan).hash);
}

#[test]
fn mmptcp_scatters_its_volume_and_then_keeps_to_its_subflows() {
    let packets = 3000;
    let plan = between_pods("mmptcp", 3, 1448 * packets);
    let output = plans::run(&plan);
    assert_eq!(output.verdict, Verdict::Finished);
    let subflows = table(&output, "subflows");
    let sent = subflows.integers("sent_packets");
    assert_eq!(sent.len(), 4, "the scattered subflow and three others");
    // 100,000 bytes are 69 packets; until the others have opened, an RTT later, it goes on: the link
    // carries at most 1 Gbps x (60 us of RTT twice + queue).
    assert!((69..400).contains(&sent[0]), "{sent:?}");
    assert!(sent[1..].iter().all(|&sent| sent > 100), "{sent:?}");
    assert!(sent.iter().sum::<u64>() >= packets);
}

#[test]
fn a_flow_below_the_volume_is_only_scattered() {
    let plan = between_pods("mmptcp", 3, 70_000);
    let output = plans::run(&plan);
    assert_eq!(
        table(&output, "subflows").integers("sent_packets"),
        [49, 0, 0, 0]
    );
    assert_eq!(counted(&output, "timeouts"), [0]);
    let used = through_cores(&plan, &output);
    assert!(
        used.iter().filter(|&&count| count > 0).count() > 1,
        "{used:?}"
    );
}

/// Two paths of 1 Gbps, of 500 and of 5 us: what a packet, and what a thousand, take at least.
#[test]
fn ideal_times_are_those_of_the_paths_that_packets_may_take() {
    let delays = [500, 5].map(Time::from_micros);
    let fmp = RoutingKind::Fmp(FmpConfig {
        price: FmpPrice::Occupancy,
        feedback_period: Time::from_micros(100),
        silence_timeout: Time::from_millis(1),
        idle_expiry: Time::from_millis(1),
    });
    let spray = RoutingKind::Spray {
        detection_delay: Time::ZERO,
    };
    // The nearer path, with the hosts' cables of 10 Gbps and 100 ns.
    let latency = 5e-6 + 2.0 * (1.2e-6 + 100e-9);
    let full = 12e-6;
    for (controller, routing, most) in [
        ("reno", spray, 2.0),
        ("reno", fmp, 1.0),
        ("mmptcp", RoutingKind::ecmp(false), 2.0),
    ] {
        for packets in [1, 1000] {
            for seed in 1..=8 {
                let pattern = plans::flows(&[(0, 1, Time::ZERO)]);
                let group = plans::group(controller, &[], pattern, fixed(1448 * packets));
                let fabric = plans::parallel_paths(&delays);
                let queue = plans::queue(10_000, None);
                let mut plan = plans::plan(fabric, queue, vec![group], None);
                plan.jitter = false;
                plan.routing = routing.clone();
                plan.seed = seed;
                let output = plans::run(&plan);
                let flows = table(&output, "flows");
                let ideal = flows.numbers("fct_ideal_s")[0];
                // A packet takes one path.
                let at_once = f64::min(most, packets as f64);
                let expected = full * packets as f64 / at_once + latency;
                assert!(
                    (ideal - expected).abs() < 1e-9,
                    "{controller} {routing:?}, {packets}: {ideal} s, not {expected}"
                );
                assert!(flows.numbers("fct_s")[0] >= ideal);
            }
        }
    }
}
