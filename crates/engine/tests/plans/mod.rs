//! Plans built by hand, for tests that need no scenario file, and ways to read results.

use pathweave_control::{Algorithm, Value, find};
use pathweave_engine::{Column, Output, Progress, Table};
use pathweave_fabric::routing::RoutingKind;
use pathweave_fabric::topology::{Dumbbell, FatTree, ParallelPaths, PerLayer};
use pathweave_fabric::{Fabric, LinkId};
use pathweave_network::{Limit, Marking, MarkingRule, QueueConfig, Threshold};
use pathweave_scenario::{Change, GroupPlan, LinkChange, ListedFlow, Measure, Plan, Record, Stop};
use pathweave_traffic::patterns::{Listed, ListedFlow as Listing, Permutation};
use pathweave_traffic::{Pattern, Size};
use pathweave_transport::Config;
use pathweave_units::{Bytes, Rate, Time};

/// A plan from the text of a scenario.
pub fn read(text: &str) -> Plan {
    let scenario = pathweave_scenario::check(text)
        .unwrap_or_else(|error| panic!("{}", error.render(80, false)));
    scenario.variants()[0].plan(1)
}

/// A queue of `limit` packets that marks above `k`; drop-tail without.
pub fn queue(limit: u32, k: Option<u32>) -> QueueConfig {
    let marking = k.map_or(Marking::None, |k| Marking::Step {
        threshold: Threshold::Packets(f64::from(k)),
        rule: MarkingRule::Above,
    });
    QueueConfig {
        limit: Limit::Packets(limit),
        marking,
        drop_ecn_blind: false,
    }
}

/// A Linux-like transport that delays acknowledgements from the first packet on: theory is about
/// one policy, not two.
pub fn transport() -> Config {
    Config {
        ack_at_first: 0,
        ..Config::textbook()
    }
}

/// A traffic group with a Linux-like transport.
pub fn group(
    controller: &str,
    parameters: &[(&str, f64)],
    pattern: Pattern,
    size: Size,
) -> GroupPlan {
    let entry = find(controller).expect("a registered controller");
    let given: Vec<(String, Value)> = parameters
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Value::Number(*value)))
        .collect();
    let listed = match &pattern {
        Pattern::Listed(list) => vec![ListedFlow::default(); list.flows.len()],
        _ => Vec::new(),
    };
    GroupPlan {
        name: "flows".to_owned(),
        pattern,
        size,
        start: Time::ZERO,
        stop: None,
        transport: transport(),
        controller: Algorithm::Registered(entry),
        parameters: entry.parameters(&given).expect("valid parameters"),
        subflows: 1,
        listed,
    }
}

/// A plan that runs `groups` on `fabric`, all queues alike, until `stop`.
pub fn plan(
    fabric: Fabric,
    queue: QueueConfig,
    groups: Vec<GroupPlan>,
    stop: Option<Time>,
) -> Plan {
    Plan {
        title: "test".to_owned(),
        seed: 1,
        queues: vec![queue; fabric.links.len()],
        fabric,
        shared_buffer: None,
        routing: RoutingKind::ecmp(false),
        groups,
        events: Vec::new(),
        stop: Stop {
            at: stop,
            ..Stop::default()
        },
        measure: Measure::default(),
        record: Record::default(),
        jitter: true,
        timeouts_are_chosen: true,
        matched_bursts: Vec::new(),
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

/// One pair of hosts with as many paths as there are `delays`, each with a 1 Gbps bottleneck; the
/// hosts' cables have ten times that.
pub fn parallel_paths(delays: &[Time]) -> Fabric {
    let shape = ParallelPaths {
        pairs: 1,
        rates: vec![Rate::from_gbps(1); delays.len()],
        delays: delays.iter().map(|&delay| delay.into()).collect(),
        host_rate: Rate::from_gbps(10),
        host_delay: Time::from_nanos(100).into(),
    };
    shape.build(1).expect("parallel paths")
}

/// A fat-tree of 1 Gbps links with 10 us each.
pub fn fat_tree(k: u32) -> Fabric {
    let rate = Rate::from_gbps(1);
    let delay = Time::from_micros(10).into();
    let shape = FatTree {
        k,
        hosts_per_edge: None,
        rate: PerLayer {
            rack: rate,
            aggregation: rate,
            core: rate,
        },
        delay: PerLayer {
            rack: delay,
            aggregation: delay,
            core: delay,
        },
    };
    shape.build(1).expect("a fat-tree")
}

/// The links from node to node of a path, by the nodes' names.
pub fn path(fabric: &Fabric, nodes: &[&str]) -> Vec<LinkId> {
    nodes
        .windows(2)
        .map(|ends| link(fabric, ends[0], ends[1]))
        .collect()
}

/// The link from one node to another, by their names.
pub fn link(fabric: &Fabric, from: &str, to: &str) -> LinkId {
    let joins = |link: &pathweave_fabric::Link| {
        fabric.node(link.from).name == from && fabric.node(link.to).name == to
    };
    let place = fabric.links.iter().position(joins);
    LinkId(place.expect("the two nodes are neighbours") as u32)
}

/// Both directions of the cable between two nodes change at one time.
pub fn cable(fabric: &Fabric, at: Time, ends: [&str; 2], change: &Change) -> [LinkChange; 2] {
    let there = link(fabric, ends[0], ends[1]);
    [there, there.reverse()].map(|link| LinkChange {
        at,
        link,
        change: change.clone(),
    })
}

/// One permutation over all hosts.
pub fn permutation() -> Pattern {
    Pattern::Permutation(Permutation {
        hosts: None,
        rounds: Some(1),
        pairs: None,
    })
}

/// One flow from the first host to the second at time zero.
pub fn single() -> Pattern {
    flows(&[(0, 1, Time::ZERO)])
}

/// Flows from host to host at these times.
pub fn flows(list: &[(u32, u32, Time)]) -> Pattern {
    let flow = |&(source, destination, start): &(u32, u32, Time)| Listing {
        source,
        destination,
        size: None,
        start,
        stop: None,
    };
    Pattern::Listed(Listed {
        flows: list.iter().map(flow).collect(),
    })
}

/// Flows from the i-th sender to the i-th receiver of a dumbbell, at these times.
pub fn pairs(starts: &[Time]) -> Pattern {
    let count = starts.len() as u32;
    let list: Vec<(u32, u32, Time)> = (0..)
        .zip(starts)
        .map(|(number, &start)| (number, count + number, start))
        .collect();
    flows(&list)
}

/// This many bytes.
pub fn fixed(bytes: u64) -> Size {
    Size::Fixed(Bytes::new(bytes))
}

/// Runs a plan that must not fail.
pub fn run(plan: &Plan) -> Output {
    pathweave_engine::run(plan, &Progress::default()).expect("a run without defects")
}

/// A table that every run has.
pub fn table<'a>(output: &'a Output, name: &str) -> &'a Table {
    output.table(name).expect("the table")
}

/// A column of numbers of the flows table.
pub fn of_flows<'a>(output: &'a Output, column: &str) -> &'a [f64] {
    table(output, "flows").numbers(column)
}

/// A column of counts of the flows table.
pub fn counted<'a>(output: &'a Output, column: &str) -> &'a [u64] {
    table(output, "flows").integers(column)
}

/// A yes-or-no column of the flows table.
pub fn flags<'a>(output: &'a Output, column: &str) -> &'a [bool] {
    flags_of(table(output, "flows"), column)
}

/// A yes-or-no column of a table.
pub fn flags_of<'a>(table: &'a Table, column: &str) -> &'a [bool] {
    match table.column(column) {
        Some(Column::Flags(values)) => values,
        _ => panic!("no flags {column}"),
    }
}

/// How each flow ended: a text column of the flows table.
pub fn endings(output: &Output) -> Vec<&str> {
    match table(output, "flows").column("end") {
        Some(Column::Labels { names, codes }) => {
            let name = |&code: &u32| &names[code as usize];
            codes.iter().map(name).collect()
        }
        _ => panic!("no column end"),
    }
}

/// Whether each flow has finished.
pub fn finished(output: &Output) -> Vec<bool> {
    let endings = endings(output).into_iter();
    endings.map(|end| end == "finished").collect()
}

/// Mean over values.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Whether two numbers differ by at most this share of the second.
pub fn within(value: f64, share: f64, expected: f64) -> bool {
    (value - expected).abs() <= share * expected.abs()
}

/// Takes a cable down and, with `to`, up again.
pub fn down_between(plan: &mut Plan, ends: [&str; 2], from: Time, to: Option<Time>) {
    let fabric = &plan.fabric;
    let mut events = cable(fabric, from, ends, &Change::Down).to_vec();
    if let Some(to) = to {
        events.extend(cable(fabric, to, ends, &Change::Up));
    }
    plan.events.extend(events);
    plan.events.sort_by_key(|event| event.at);
}

/// One flow with a subflow on each of two paths, pinned.
pub fn two_paths(size: Size) -> Plan {
    let fabric = parallel_paths(&[Time::from_micros(50), Time::from_micros(50)]);
    let mut group = group("lia", &[], single(), size);
    group.subflows = 2;
    group.listed[0].paths = vec![
        path(&fabric, &["S1", "A1", "B1", "D1"]),
        path(&fabric, &["S1", "A2", "B2", "D1"]),
    ];
    group.transport.minimum_rto = Time::from_millis(10);
    let mut plan = plan(fabric, queue(50, None), vec![group], None);
    plan.routing = RoutingKind::Pinned;
    plan
}

/// One flow of this size over a dumbbell with 100 us of delay, at time zero exactly.
pub fn lone_flow(size: Size, queue: QueueConfig) -> Plan {
    let group = group("reno", &[], single(), size);
    let fabric = dumbbell(1, Time::from_micros(100));
    let mut plan = plan(fabric, queue, vec![group], None);
    plan.jitter = false;
    plan
}
