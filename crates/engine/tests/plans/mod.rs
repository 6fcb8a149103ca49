//! Plans built by hand, for tests that need no scenario file.

#![allow(dead_code)] // each test file uses some of them

use pathweave_control::{Value, find};
use pathweave_fabric::Fabric;
use pathweave_fabric::routing::RoutingKind;
use pathweave_fabric::topology::{Dumbbell, FatTree, PerLayer};
use pathweave_network::{Limit, Marking, MarkingRule, QueueConfig, Threshold};
use pathweave_scenario::{GroupPlan, Measure, Plan, Record, Stop};
use pathweave_traffic::patterns::{Listed, ListedFlow, Permutation};
use pathweave_traffic::{Pattern, Size};
use pathweave_transport::Config;
use pathweave_units::{Rate, Time};

/// A queue of 100 packets that marks above `k`; drop-tail without.
pub fn queue(limit: u32, k: Option<u32>) -> QueueConfig {
    let marking = k.map_or(Marking::None, |k| Marking::Step {
        threshold: Threshold::Packets(f64::from(k)),
        rule: MarkingRule::Above,
    });
    QueueConfig { limit: Limit::Packets(limit), marking, drop_ecn_blind: false }
}

/// A traffic group with a Linux-like transport.
pub fn group(controller: &str, parameters: &[(&str, f64)], pattern: Pattern, size: Size) -> GroupPlan {
    let entry = find(controller).expect("a registered controller");
    let given: Vec<(String, Value)> = parameters
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Value::Number(*value)))
        .collect();
    GroupPlan {
        name: "flows".to_owned(),
        pattern,
        size,
        transport: Config::default(),
        controller: entry,
        parameters: entry.parameters(&given).expect("valid parameters"),
        subflows: 1,
        listed: Vec::new(),
    }
}

/// A plan that runs `groups` on `fabric`, all queues alike, until `stop`.
pub fn plan(fabric: Fabric, queue: QueueConfig, groups: Vec<GroupPlan>, stop: Option<Time>) -> Plan {
    Plan {
        title: "test".to_owned(),
        seed: 1,
        queues: vec![queue; fabric.links.len()],
        fabric,
        routing: RoutingKind::Ecmp { distinct: false },
        groups,
        events: Vec::new(),
        stop: Stop { at: stop, traffic: None },
        measure: Measure::default(),
        record: Record::default(),
        jitter: true,
    }
}

/// `pairs` hosts on each side of one 1 Gbps bottleneck; hosts have ten times that. All delay is the
/// bottleneck's: `delay` one way.
pub fn dumbbell(pairs: u32, delay: Time) -> Fabric {
    let shape = Dumbbell {
        left: pairs,
        right: pairs,
        host_rate: Rate::from_gbps(10),
        bottleneck_rate: Rate::from_gbps(1),
        host_delay: Time::from_nanos(100).into(),
        bottleneck_delay: delay.into(),
    };
    shape.build(1).expect("a dumbbell")
}

/// Unlimited flows from the i-th sender to the i-th receiver of a dumbbell, at these times.
pub fn pairs(starts: &[Time]) -> Pattern {
    let count = starts.len() as u32;
    let flow = |(number, start): (u32, &Time)| ListedFlow {
        source: number,
        destination: count + number,
        size: None,
        start: *start,
        stop: None,
    };
    Pattern::Listed(Listed { flows: (0..).zip(starts).map(flow).collect() })
}

/// A fat-tree of 1 Gbps links with 10 us each.
pub fn fat_tree(k: u32) -> Fabric {
    let rate = Rate::from_gbps(1);
    let delay = Time::from_micros(10).into();
    let shape = FatTree {
        k,
        hosts_per_edge: None,
        rate: PerLayer { rack: rate, aggregation: rate, core: rate },
        delay: PerLayer { rack: delay, aggregation: delay, core: delay },
    };
    shape.build(1).expect("a fat-tree")
}

/// One permutation over all hosts.
pub fn permutation() -> Pattern {
    Pattern::Permutation(Permutation { hosts: None, rounds: Some(1) })
}
