//! No rate is above the line's, whatever is lost, overtaken or sent twice, and however short the time is.

use crate::plans::{self, of_flows, table};
use pathweave_engine::{Column, Output, Table};
use pathweave_fabric::LinkId;
use pathweave_fabric::routing::RoutingKind;
use pathweave_fabric::topology::Dumbbell;
use pathweave_scenario::{Change, LinkChange, Phase, Plan};
use pathweave_traffic::Pattern;
use pathweave_transport::{Recovery, SegmentScheduler};
use pathweave_units::{Rate, Time};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Rate of every host's own link; the destination's is slower at times.
const LINE: Rate = Rate::from_mbps(100);
/// Rate of the links between the dumbbell's switches; none is faster.
const FASTEST: Rate = Rate::from_mbps(250);
/// No packet has fewer bytes: its headers alone have these.
const SMALLEST: f64 = 40.0;
/// Bytes of the largest packet.
const PACKET: f64 = 1500.0;

#[derive(Clone, Debug)]
struct Case {
    seed: u64,
    /// Packets of a flow take different paths, and overtake each other.
    spray: bool,
    recovery: Recovery,
    scheduler: SegmentScheduler,
    subflows: u32,
    limit: u32,
    /// Probability that a link within the fabric loses a packet.
    loss: f64,
    /// Source, start in microseconds, and size of each flow; all go to one host.
    flows: Vec<(u32, u64, u64)>,
    /// Start in microseconds and length of outages of links within the fabric.
    outages: Vec<(u64, u64)>,
    /// When the link into the destination changes its rate, in microseconds, and to what, in Mbps.
    rates: Vec<(u64, u64)>,
    /// Lengths of the phases in nanoseconds.
    phases: Vec<u64>,
    /// Interval of recorded rates in nanoseconds.
    interval: u64,
    /// When the run ends, in microseconds.
    stop: u64,
}

fn case() -> impl Strategy<Value = Case> {
    let recovery = prop::sample::select(vec![Recovery::Sack, Recovery::NewReno, Recovery::Reno]);
    let scheduler = prop::sample::select(vec![
        SegmentScheduler::RoundRobin,
        SegmentScheduler::LowestRtt,
        SegmentScheduler::QueuedBytes,
    ]);
    let length = prop_oneof![1u64..2_000, 2_000u64..500_000, 500_000u64..20_000_000];
    (
        (any::<u64>(), any::<bool>(), recovery, scheduler, 1u32..=4),
        (3u32..30, prop_oneof![Just(0.0), 0.0..0.05]),
        prop::collection::vec((0u32..3, 0u64..20_000, 1u64..400_000), 1..5),
        (
            prop::collection::vec((0u64..40_000, 100u64..10_000), 0..4),
            prop::collection::vec((0u64..100_000, 10u64..=100), 0..4),
        ),
        prop::collection::vec(length, 1..30),
        prop_oneof![10_000u64..300_000, 300_000u64..3_000_000],
        20_000u64..150_000,
    )
        .prop_map(
            |(first, second, flows, (outages, rates), phases, interval, stop)| Case {
                seed: first.0,
                spray: first.1,
                recovery: first.2,
                scheduler: first.3,
                subflows: first.4,
                limit: second.0,
                loss: second.1,
                flows,
                outages,
                rates,
                phases,
                interval,
                stop,
            },
        )
}

/// Hosts 0 to 2 send to host 3: on a fat-tree, or over a dumbbell's two switches.
fn plan_of(case: &Case) -> Plan {
    let fabric = if case.spray {
        let mut tree = plans::fat_tree(4);
        for link in &mut tree.links {
            link.rate = LINE;
        }
        tree
    } else {
        let shape = Dumbbell {
            left: 3,
            right: 3,
            host_rate: LINE,
            bottleneck_rate: FASTEST,
            host_delay: Time::from_micros(3).into(),
            bottleneck_delay: Time::from_micros(50).into(),
        };
        shape.build(1).expect("a dumbbell")
    };
    let destination = if case.spray { 12 } else { 3 };
    let list: Vec<(u32, u32, Time)> = case
        .flows
        .iter()
        .map(|&(source, start, _)| (source, destination, Time::from_micros(start)))
        .collect();
    let mut group = plans::group("lia", &[], plans::flows(&list), plans::fixed(1));
    if let Pattern::Listed(listed) = &mut group.pattern {
        for (flow, &(_, _, size)) in listed.flows.iter_mut().zip(&case.flows) {
            flow.size = Some(plans::fixed(size));
        }
    }
    group.subflows = case.subflows;
    let transport = &mut group.transport;
    transport.recovery = case.recovery;
    transport.scheduler = case.scheduler;
    transport.join_spread = Time::ZERO;
    transport.minimum_rto = Time::from_millis(2);
    transport.reinject_after = Some(1);
    let within: Vec<_> = (0..)
        .map(LinkId)
        .zip(&fabric.links)
        .filter(|(_, link)| {
            let is_host = |node| fabric.node(node).host_index().is_some();
            !is_host(link.from) && !is_host(link.to)
        })
        .map(|(id, _)| id)
        .collect();
    let mut plan = plans::plan(
        fabric,
        plans::queue(case.limit, None),
        vec![group],
        Some(Time::from_micros(case.stop)),
    );
    if case.spray {
        plan.routing = RoutingKind::Spray {
            detection_delay: Time::from_millis(1),
        };
    }
    plan.seed = case.seed;
    if case.loss > 0.0 {
        plan.events.extend(within.iter().map(|&link| LinkChange {
            at: Time::ZERO,
            link,
            change: Change::Loss(case.loss),
        }));
    }
    let mut free = Time::ZERO;
    for (number, &(start, length)) in case.outages.iter().enumerate() {
        let link = within[number * 7 % within.len()];
        let from = free + Time::from_micros(start);
        free = from + Time::from_micros(length);
        plan.events.extend([
            LinkChange {
                at: from,
                link,
                change: Change::Down,
            },
            LinkChange {
                at: free,
                link,
                change: Change::Up,
            },
        ]);
    }
    let host = plan.fabric.hosts[destination as usize];
    let into_host = plan.fabric.links.iter().position(|link| link.to == host);
    let into_host = LinkId(into_host.expect("a link into the host") as u32);
    plan.events
        .extend(case.rates.iter().map(|&(at, mbps)| LinkChange {
            at: Time::from_micros(at),
            link: into_host,
            change: Change::Rate(Rate::from_mbps(mbps)),
        }));
    plan.events.sort_by_key(|event| event.at);
    let mut from = Time::ZERO;
    let end = Time::from_micros(case.stop);
    let mut lengths = case.phases.clone();
    lengths.push(u64::MAX / 2000);
    for (number, length) in lengths.into_iter().enumerate() {
        let to = from.saturating_add(Time::from_nanos(length)).min(end);
        if to > from {
            plan.measure.phases.push(Phase {
                name: number.to_string(),
                from,
                to,
            });
        }
        from = to;
    }
    plan.record.rates = Some(Time::from_nanos(case.interval));
    plan
}

/// The most that a link can have sent in a time (s), as a share of what it could have: transmissions end at whole
/// picoseconds, so that each may be a picosecond shorter than it should be.
fn most_of_a_link(length: f64) -> f64 {
    let packets = length * FASTEST.as_bps() as f64 / (SMALLEST * 8.0) + 2.0;
    1.0 + 1e-9 + packets * 1e-12 / length
}

/// A little more than a rate, as packets leave at whole picoseconds.
fn at_most(value: f64, limit: f64) -> bool {
    value <= limit * (1.0 + 1e-7)
}

/// The places of a column's values in the list of its labels.
fn codes<'a>(table: &'a Table, column: &str) -> &'a [u32] {
    match table.column(column) {
        Some(Column::Labels { codes, .. }) => codes,
        other => panic!("{column}: {other:?}"),
    }
}

/// Payload (bytes) by flow that the rows of `rates` stand for.
fn recorded(output: &Output, interval: f64, flows: usize) -> Vec<f64> {
    let rates = table(output, "rates");
    let mut bytes = vec![0.0; flows];
    let rows = rates.numbers("time_s").iter().zip(rates.integers("flow"));
    for ((time, flow), rate) in rows.zip(rates.numbers("rate_bps")) {
        // The last interval is shorter.
        let beats = (time / interval - 1e-6).floor();
        bytes[*flow as usize] += rate / 8.0 * (time - beats * interval);
    }
    bytes
}

/// Payload (bytes) by flow that the rows of `phases` stand for.
fn in_phases(output: &Output, plan: &Plan, ended: f64) -> Vec<f64> {
    let (starts, ends) = (of_flows(output, "start_s"), of_flows(output, "end_s"));
    let phases = table(output, "phases");
    let mut bytes = vec![0.0; starts.len()];
    let rows = codes(phases, "phase").iter().zip(phases.integers("flow"));
    for ((code, flow), rate) in rows.zip(phases.numbers("goodput_bps")) {
        let (phase, flow) = (&plan.measure.phases[*code as usize], *flow as usize);
        let from = phase.from.as_secs_f64().max(starts[flow]);
        let end = if ends[flow].is_nan() {
            ended
        } else {
            ends[flow]
        };
        bytes[flow] += rate / 8.0 * (phase.to.as_secs_f64().min(end).min(ended) - from);
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_rate_is_above_the_lines(case in case()) {
        let plan = plan_of(&case);
        let output = plans::run(&plan);
        let line = LINE.as_bps() as f64;
        let ended = output.counters.ended.as_secs_f64();
        for name in ["flows", "subflows", "phases", "phase_subflows"] {
            for rate in table(&output, name).numbers("goodput_bps") {
                prop_assert!(rate.is_nan() || at_most(*rate, line), "{name}: {rate}");
            }
        }
        for share in table(&output, "links").numbers("utilisation") {
            prop_assert!(share.is_nan() || *share <= most_of_a_link(ended), "links: {share}");
        }
        let of_links = table(&output, "phase_links");
        let rows = codes(of_links, "phase").iter().zip(of_links.numbers("utilisation"));
        for (&phase, share) in rows {
            let phase = &plan.measure.phases[phase as usize];
            let length = phase.to.as_secs_f64().min(ended) - phase.from.as_secs_f64();
            let most = most_of_a_link(length);
            prop_assert!(share.is_nan() || *share <= most, "phase_links: {share} in {length} s");
        }
        // All flows go to one host: what arrives there at a time is at most its link's.
        let rates = table(&output, "rates");
        let mut sums = std::collections::BTreeMap::new();
        for (time, rate) in rates.numbers("time_s").iter().zip(rates.numbers("rate_bps")) {
            *sums.entry(time.to_bits()).or_insert(0.0) += rate;
        }
        for sum in sums.values() {
            prop_assert!(at_most(*sum, line), "rates: {sum}");
        }
        // A flow has what its subflows have.
        let mut of_subflows = std::collections::BTreeMap::new();
        let parts = table(&output, "phase_subflows");
        let keys = codes(parts, "phase").iter().zip(parts.integers("flow"));
        for (key, rate) in keys.zip(parts.numbers("goodput_bps")) {
            *of_subflows.entry(key).or_insert(0.0) += rate;
        }
        let whole = table(&output, "phases");
        let keys = codes(whole, "phase").iter().zip(whole.integers("flow"));
        for (key, rate) in keys.zip(whole.numbers("goodput_bps")) {
            prop_assert!((of_subflows[&key] - rate).abs() <= 1e-9 * line);
        }
        // Counts are whole packets: the last may have begun to arrive before.
        let links = table(&output, "links");
        for (bytes, capacity) in links.integers("bytes").iter().zip(links.numbers("capacity_bps")) {
            prop_assert!(*bytes as f64 <= capacity * ended / 8.0 + PACKET);
        }
        let (ends, sizes) = (of_flows(&output, "end_s"), of_flows(&output, "size_bytes"));
        let phases = in_phases(&output, &plan, ended);
        let interval = Time::from_nanos(case.interval).as_secs_f64();
        let recorded = recorded(&output, interval, ends.len());
        let subflows = table(&output, "subflows");
        for flow in 0..ends.len() {
            let of_flow = |name: &str| -> f64 {
                let rows = subflows.integers(name).iter().zip(subflows.integers("flow"));
                rows.filter(|(_, of)| **of == flow as u64).map(|(value, _)| *value as f64).sum()
            };
            let first = if !ends[flow].is_nan() {
                sizes[flow]
            } else if of_flow("reinjected") == 0.0 {
                of_flow("received_bytes")
            } else {
                phases[flow]
            };
            prop_assert!((phases[flow] - first).abs() < 1e-3, "{} of {first}", phases[flow]);
            prop_assert!((recorded[flow] - first).abs() < 1e-3, "{} of {first}", recorded[flow]);
        }
    }
}
