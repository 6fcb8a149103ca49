//! Fluid runs against processor sharing by hand: n flows on a link of capacity C have C/n each.

use crate::plans::{self, dumbbell, flags, group, of_flows, queue, table, within};
use pathweave_engine::{
    Allocation, Allocator, Answer, Column, FluidFlow, Life, Output, Problem, Table, Verdict, flow,
    optimum_in_hindsight,
};
use pathweave_scenario::{Phase, Plan};
use pathweave_traffic::Pattern;
use pathweave_traffic::patterns::Permutation;
use pathweave_units::Time;

/// Every path has the smallest of its links' capacities over the number of paths on them: max-min
/// fair where all paths share one bottleneck.
#[derive(Default)]
struct EvenShares {
    asked: usize,
    limit: Option<usize>,
    /// Flows whose split it calls one of several while others are under way.
    doubtful: Vec<u32>,
}

impl Allocator for EvenShares {
    fn allocate(&mut self, problem: &Problem<'_>) -> Result<Answer, String> {
        self.asked += 1;
        if self.limit.is_some_and(|limit| self.asked > limit) {
            return Ok(Answer::Enough);
        }
        let paths = || problem.flows.iter().flat_map(|flow| &flow.paths);
        let mut crowd = vec![0.0; problem.capacities.len()];
        for link in paths().flat_map(|path| &path.links) {
            crowd[link.0 as usize] += 1.0;
        }
        let share = |link: usize| problem.capacities[link].as_bps() as f64 / crowd[link];
        let rate = |links: &Vec<pathweave_fabric::LinkId>| {
            let shares = links.iter().map(|link| share(link.0 as usize));
            shares.fold(f64::INFINITY, f64::min)
        };
        let unique = |flow: &FluidFlow<'_>| {
            problem.flows.len() == 1 || !self.doubtful.contains(&flow.number)
        };
        Ok(Answer::Rates(Allocation {
            rates: paths().map(|path| rate(&path.links)).collect(),
            split_unique: problem.flows.iter().map(unique).collect(),
        }))
    }
}

/// Payload per second over the 1 Gbps bottleneck, in bits.
fn payload_rate(plan: &Plan) -> f64 {
    let config = &plan.groups[0].transport;
    1e9 * f64::from(config.maximum_segment) / f64::from(config.data_packet)
}

/// Flows of these sizes, one from each sender to its receiver, starting at these times.
fn sized(flows: &[(u64, Time)]) -> Plan {
    let starts: Vec<Time> = flows.iter().map(|(_, start)| *start).collect();
    let mut pattern = plans::pairs(&starts);
    if let Pattern::Listed(list) = &mut pattern {
        for (flow, (bytes, _)) in list.flows.iter_mut().zip(flows) {
            flow.size = Some(plans::fixed(*bytes));
        }
    }
    let group = group("reno", &[], pattern, plans::fixed(1));
    let fabric = dumbbell(flows.len() as u32, Time::from_micros(100));
    let mut plan = plans::plan(fabric, queue(100, None), vec![group], None);
    plan.jitter = false;
    plan
}

fn run(plan: &Plan) -> Output {
    flow(plan, &mut EvenShares::default()).expect("a fluid run")
}

fn ends(output: &Output) -> &[f64] {
    of_flows(output, "end_s")
}

#[test]
fn two_flows_share_a_link_until_the_shorter_is_done() {
    let plan = sized(&[(1_000_000, Time::ZERO), (3_000_000, Time::ZERO)]);
    let output = run(&plan);
    let rate = payload_rate(&plan);
    assert!(within(ends(&output)[0], 1e-9, 16e6 / rate));
    assert!(within(ends(&output)[1], 1e-9, 32e6 / rate));
    assert_eq!(output.verdict, Verdict::Finished);
    assert_eq!(output.counters.delivered_bytes, 4_000_000);
    let links = table(&output, "links");
    assert!(within(links.numbers("utilisation")[0], 1e-6, 1.0));
    let bytes = 4e6 * 1e9 / rate;
    assert!(within(links.integers("bytes")[0] as f64, 1e-6, bytes));
}

#[test]
fn a_later_flow_takes_its_half_from_then_on() {
    let plan = sized(&[(3_000_000, Time::ZERO), (1_000_000, Time::from_millis(10))]);
    let output = run(&plan);
    let rate = payload_rate(&plan);
    let second = 10e-3 + 16e6 / rate;
    let first = second + (24e6 - 10e-3 * rate - 8e6) / rate;
    assert!(within(ends(&output)[1], 1e-9, second));
    assert!(within(ends(&output)[0], 1e-9, first));
}

#[test]
fn a_flow_waits_while_its_link_is_down() {
    let mut plan = sized(&[(1_000_000, Time::ZERO)]);
    let outage = [Time::from_millis(2), Time::from_millis(52)];
    plans::down_between(&mut plan, ["A", "B"], outage[0], Some(outage[1]));
    let output = run(&plan);
    assert!(within(
        ends(&output)[0],
        1e-9,
        50e-3 + 8e6 / payload_rate(&plan)
    ));
}

#[test]
fn a_flow_without_a_live_path_is_named_stalled() {
    let mut plan = sized(&[(1_000_000, Time::ZERO)]);
    plans::down_between(&mut plan, ["A", "B"], Time::from_millis(2), None);
    let output = run(&plan);
    assert_eq!(output.verdict, Verdict::Stalled);
    assert_eq!(flags(&output, "stalled"), [true]);
    let delivered = table(&output, "flows").integers("delivered_bytes")[0];
    assert!(within(
        delivered as f64,
        1e-5,
        2e-3 * payload_rate(&plan) / 8.0
    ));
}

#[test]
fn windows_count_what_falls_into_them() {
    let mut plan = sized(&[(3_000_000, Time::ZERO), (1_000_000, Time::from_millis(10))]);
    plan.measure.from = Time::from_millis(5);
    plan.measure.to = Some(Time::from_millis(15));
    let phase = |name: &str, from, to| Phase {
        name: name.to_owned(),
        from: Time::from_millis(from),
        to: Time::from_millis(to),
    };
    plan.measure.phases = vec![phase("alone", 0, 10), phase("both", 10, 20)];
    let output = run(&plan);
    let rate = payload_rate(&plan);
    let goodput = of_flows(&output, "goodput_bps");
    // Half of the window alone, half of it shared.
    assert!(within(goodput[0], 1e-5, 0.75 * rate));
    assert!(within(goodput[1], 1e-5, 0.5 * rate));
    let phases = table(&output, "phases").numbers("goodput_bps");
    for (ours, expected) in phases.iter().zip([rate, rate / 2.0, rate / 2.0]) {
        assert!(within(*ours, 1e-5, expected), "{phases:?}");
    }
}

#[test]
fn traffic_reacts_to_what_the_rates_finish() {
    let pattern = Pattern::Permutation(Permutation {
        hosts: None,
        rounds: Some(3),
        pairs: None,
    });
    let group = group("reno", &[], pattern, plans::fixed(1_000_000));
    let plan = plans::plan(plans::fat_tree(4), queue(100, None), vec![group], None);
    let mut allocator = EvenShares::default();
    let output = flow(&plan, &mut allocator).expect("a fluid run");
    assert_eq!(output.counters.flows_finished, 3 * 16);
    assert!(allocator.asked > 3);
    // Each host's next flow begins when its last one ends, but for the rounds' common start.
    let starts = of_flows(&output, "start_s");
    assert!(starts.iter().filter(|&&start| start > 1e-3).count() >= 16);
}

#[test]
fn enough_ends_the_run_with_what_there_is() {
    let plan = sized(&[(1_000_000, Time::ZERO), (3_000_000, Time::ZERO)]);
    let mut allocator = EvenShares {
        limit: Some(1),
        ..EvenShares::default()
    };
    let output = flow(&plan, &mut allocator).expect("a fluid run");
    assert_eq!(output.verdict, Verdict::Stopped);
    assert_eq!(plans::finished(&output), [true, false]);
}

/// Lives of flows from the i-th sender to the i-th receiver, in milliseconds.
fn lives(times: &[(u64, u64)]) -> Vec<Life> {
    let count = times.len() as u32;
    let life = |(number, &(start, end)): (u32, &(u64, u64))| Life {
        group: 0,
        source: number,
        destination: count + number,
        start: Time::from_millis(start),
        end: Time::from_millis(end),
    };
    (0..).zip(times).map(life).collect()
}

fn optimum(plan: &Plan, lives: &[Life], limit: usize) -> (Table, usize, usize) {
    let found =
        optimum_in_hindsight(plan, lives, limit, &mut EvenShares::default()).expect("rates");
    (found.tables[0].clone(), found.intervals, found.asked)
}

#[test]
fn rates_along_a_run_are_means_over_each_flows_life() {
    let plan = sized(&[(1, Time::ZERO), (1, Time::ZERO)]);
    let (table, intervals, asked) = optimum(&plan, &lives(&[(0, 30), (10, 20)]), 100);
    let rate = payload_rate(&plan);
    let goodput = table.numbers("goodput_bps");
    assert!(within(goodput[0], 1e-9, rate * (20.0 + 5.0) / 30.0));
    assert!(within(goodput[1], 1e-9, rate / 2.0));
    assert!(within(table.numbers("time_s")[0], 1e-9, 30e-3));
    assert_eq!((intervals, asked), (3, 3));
}

#[test]
fn rates_along_a_run_follow_links_and_windows() {
    let mut plan = sized(&[(1, Time::ZERO)]);
    plan.measure.from = Time::from_millis(10);
    plans::down_between(
        &mut plan,
        ["A", "B"],
        Time::from_millis(15),
        Some(Time::from_millis(20)),
    );
    let (table, ..) = optimum(&plan, &lives(&[(0, 30)]), 100);
    let expected = payload_rate(&plan) * 15.0 / 20.0;
    assert!(within(table.numbers("goodput_bps")[0], 1e-9, expected));
}

#[test]
fn a_split_is_unique_by_flow_and_only_if_it_always_is() {
    let plan = sized(&[(1, Time::ZERO), (1, Time::ZERO)]);
    let mut allocator = EvenShares {
        doubtful: vec![0],
        ..EvenShares::default()
    };
    // The first is alone for the last third of its life.
    let found = optimum_in_hindsight(&plan, &lives(&[(0, 30), (0, 20)]), 10, &mut allocator)
        .expect("rates");
    let Some(Column::Flags(unique)) = found.tables[0].column("split_unique") else {
        panic!("no column of flags");
    };
    assert_eq!(unique, &[false, true]);
}

#[test]
fn many_intervals_are_sampled_evenly_over_time() {
    // One flow all the time, and others that come for 1 ms of every 4.
    let others = (0..200).map(|n| (4 * n, 4 * n + 1));
    let times: Vec<(u64, u64)> = std::iter::once((0, 800)).chain(others).collect();
    let plan = sized(&vec![(1, Time::ZERO); times.len()]);
    let rate = payload_rate(&plan);
    let (whole, intervals, asked) = optimum(&plan, &lives(&times), 1000);
    assert_eq!((intervals, asked), (400, 400));
    assert!(within(whole.numbers("goodput_bps")[0], 1e-9, rate * 0.875));
    // 149 moments, one every 5.37 ms, are not in step with 4 ms.
    let (sampled, intervals, asked) = optimum(&plan, &lives(&times), 149);
    assert_eq!(intervals, 400);
    assert!(asked <= 149);
    let first = sampled.numbers("goodput_bps")[0];
    assert!(within(first, 0.05, rate * 0.875), "{}", first / rate);
    assert!(within(sampled.numbers("time_s")[0], 1e-9, 0.8));
    let Some(Column::Integers(moments)) = sampled.column("moments") else {
        panic!("no column of moments");
    };
    assert_eq!(moments[0], 149);
    // A flow is seen whole or not at all: between its start and its end nothing changes.
    let seen = sampled.numbers("seen");
    assert_eq!(seen.len(), 201);
    assert!(seen[1..].iter().all(|&seen| seen == 0.0 || seen == 1.0));
    assert!(seen[1..].contains(&0.0) && seen[1..].contains(&1.0));
    for (&seen, rate) in seen.iter().zip(sampled.numbers("goodput_bps")) {
        assert_eq!(seen == 0.0, rate.is_nan());
    }
    // Those that are seen stand for all: 0.2 s of flows.
    let time: f64 = sampled.numbers("time_s")[1..].iter().sum();
    assert!(within(time, 0.05, 0.2), "{time}");
}

#[test]
fn an_interval_longer_than_the_moments_are_apart_counts_for_its_own_time() {
    // Shared for 1 ms, and then alone for 10: the moment at 5.5 ms stands for all 11.
    let plan = sized(&[(1, Time::ZERO), (1, Time::ZERO)]);
    let (table, intervals, asked) = optimum(&plan, &lives(&[(0, 11), (0, 1)]), 1);
    assert_eq!((intervals, asked), (2, 1));
    assert!(within(table.numbers("time_s")[0], 1e-9, 11e-3));
    assert!(within(table.numbers("seen")[0], 1e-9, 10.0 / 11.0));
    assert_eq!(table.numbers("seen")[1], 0.0);
    // Of three in 1, 1 and 10 ms two moments, at 3 and 9 ms, see the last.
    let (table, ..) = optimum(&plan, &lives(&[(0, 12), (1, 2)]), 2);
    assert!(within(table.numbers("time_s")[0], 1e-9, 10e-3));
    assert!(within(
        table.numbers("goodput_bps")[0],
        1e-9,
        payload_rate(&plan)
    ));
}

#[test]
fn time_before_the_first_subflow_counts_as_nothing() {
    let mut plan = plans::two_paths(plans::fixed(1));
    plan.groups[0].listed[0].subflow_starts = vec![Time::from_millis(10); 2];
    let life = Life {
        group: 0,
        source: 0,
        destination: 1,
        start: Time::ZERO,
        end: Time::from_millis(20),
    };
    let found =
        optimum_in_hindsight(&plan, &[life], 10, &mut EvenShares::default()).expect("rates");
    let flows = &found.tables[0];
    let rate = payload_rate(&plan); // on each path, for half of the time
    assert!(within(flows.numbers("goodput_bps")[0], 1e-9, rate));
    assert!(within(flows.numbers("seen")[0], 1e-9, 1.0));
}

#[test]
fn a_subflow_counts_from_its_opening() {
    let mut plan = plans::two_paths(plans::fixed(1));
    plan.groups[0].listed[0].subflow_starts = vec![Time::ZERO, Time::from_millis(10)];
    let life = Life {
        group: 0,
        source: 0,
        destination: 1,
        start: Time::ZERO,
        end: Time::from_millis(20),
    };
    let found =
        optimum_in_hindsight(&plan, &[life], 10, &mut EvenShares::default()).expect("rates");
    let subflows = found.tables[1].numbers("goodput_bps");
    let rate = payload_rate(&plan);
    // While the first is alone it has the path's whole rate; the hosts' cables carry both.
    assert!(within(subflows[0], 1e-9, rate));
    assert!(within(subflows[1], 1e-9, rate / 2.0));
}
