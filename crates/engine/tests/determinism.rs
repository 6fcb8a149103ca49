//! The same plan gives the same bits; another seed does not; watching changes nothing.

use crate::plans;
use pathweave_engine::{Progress, RunError, run};
use pathweave_scenario::{CapturedFlow, Change, LinkChange, Measure, Phase, Plan, Sampling};
use pathweave_traffic::Size;
use pathweave_units::{Bytes, Rate, Time};

/// Small, but with most of what a run can have: coupled subflows, marks, drops, a rate change, an
/// outage, finished and unfinished flows.
fn busy_plan() -> Plan {
    let size = Size::Uniform {
        min: Bytes::new(1000),
        max: Bytes::new(1_000_000),
    };
    let mut groups = Vec::new();
    for (controller, subflows) in [("xmp", 4), ("cubic", 1), ("dctcp", 1)] {
        let mut group = plans::group(controller, &[], plans::permutation(), size.clone());
        group.name = controller.to_owned();
        group.subflows = subflows;
        group.transport.minimum_rto = Time::from_millis(1);
        groups.push(group);
    }
    let fabric = plans::fat_tree(4);
    let queue = plans::queue(30, Some(10));
    let mut plan = plans::plan(fabric, queue, groups, Some(Time::from_millis(25)));
    let first = pathweave_fabric::LinkId(5);
    let second = pathweave_fabric::LinkId(40);
    let changes = [
        (2, first, Change::Rate(Rate::from_mbps(300))),
        (3, second, Change::Down),
        (6, first, Change::Rate(Rate::from_gbps(2))),
        (8, second, Change::Up),
    ];
    plan.events = changes
        .into_iter()
        .map(|(at, link, change)| LinkChange {
            at: Time::from_millis(at),
            link,
            change,
        })
        .collect();
    plan
}

#[test]
fn the_same_plan_gives_the_same_bits() {
    let (first, second) = (plans::run(&busy_plan()), plans::run(&busy_plan()));
    assert_eq!(first.hash, second.hash);
    assert_eq!(first.counters, second.counters);
    assert!(first.counters.lost_to_failures > 0 && first.counters.marked > 0);
    assert!(first.counters.dropped > 0 && first.counters.flows_finished > 10);
}

#[test]
fn another_seed_gives_other_results() {
    let mut plan = busy_plan();
    let first = plans::run(&plan);
    plan.seed = 2;
    assert_ne!(first.hash, plans::run(&plan).hash);
}

#[test]
fn recording_changes_nothing() {
    let mut plan = busy_plan();
    let plain = plans::run(&plan);
    plan.record.windows = Some(Sampling::OnChange);
    plan.record.rtts = Some(Sampling::OnChange);
    plan.record.rates = Some(Time::from_micros(130));
    plan.record.suspensions = true;
    plan.record.queues = Some(Time::from_nanos(7_700));
    plan.record.queue_links = (0..96).map(pathweave_fabric::LinkId).collect();
    plan.record.packets = (0..3)
        .map(|group| CapturedFlow {
            name: group.to_string(),
            group,
            number: 5,
        })
        .collect();
    let (from, to) = (Time::from_millis(1), Time::from_millis(4));
    let phases = vec![Phase {
        name: "early".to_owned(),
        from,
        to,
    }];
    plan.measure = Measure {
        phases,
        ..Measure::default()
    };
    let watched = plans::run(&plan);
    for name in ["flows", "subflows", "links", "jobs"] {
        let columns = |output| format!("{:?}", plans::table(output, name).columns);
        assert_eq!(columns(&plain), columns(&watched), "{name}");
    }
    for name in ["windows", "rtts", "rates", "queues", "phases"] {
        assert!(
            !plans::table(&watched, name).columns[0].1.is_empty(),
            "{name}"
        );
    }
    assert!(watched.captures.iter().all(|capture| capture.packets > 10));
    assert_eq!(watched.captures.len(), 3);
}

/// The sampled rates add up to what arrived, and copies that came on a second subflow do not count.
#[test]
fn rates_add_up_to_what_arrived() {
    let mut plan = busy_plan();
    let interval = Time::from_micros(100);
    plan.record.rates = Some(interval);
    // The last interval is shorter.
    plan.stop.at = Some(Time::from_micros(24_930));
    let output = plans::run(&plan);
    let flows = plans::table(&output, "flows");
    let mut sampled = vec![0.0; flows.numbers("end_s").len()];
    let rates = plans::table(&output, "rates");
    let times = rates.numbers("time_s").iter().zip(rates.integers("flow"));
    for ((time, &flow), rate) in times.zip(rates.numbers("rate_bps")) {
        let length = if *time > 0.0249 { 30e-6 } else { 100e-6 };
        sampled[flow as usize] += rate / 8.0 * length;
    }
    let (mut received, mut copies) = (vec![0; sampled.len()], vec![0; sampled.len()]);
    let subflows = plans::table(&output, "subflows");
    let counts = subflows.integers("received_bytes").iter();
    let rows = counts.zip(subflows.integers("reinjected"));
    for (&flow, (bytes, reinjected)) in subflows.integers("flow").iter().zip(rows) {
        received[flow as usize] += bytes;
        copies[flow as usize] += reinjected;
    }
    let delivered = flows.integers("delivered_bytes");
    for (flow, sampled) in sampled.into_iter().enumerate() {
        let expected = if flows.numbers("end_s")[flow].is_finite() {
            delivered[flow]
        } else if copies[flow] == 0 {
            received[flow]
        } else {
            assert!(sampled > delivered[flow] as f64 * 0.999_999, "{flow}");
            assert!(sampled < received[flow] as f64 * 1.000_001, "{flow}");
            continue;
        };
        let exact = plans::within(sampled, 1e-9, expected as f64);
        assert!(exact, "{flow}: {sampled} of {expected}");
    }
}

#[test]
fn a_cancelled_run_gives_no_results() {
    let progress = Progress::default();
    progress.cancel();
    assert_eq!(
        run(&busy_plan(), &progress).err(),
        Some(RunError::Cancelled)
    );
}

/// Results must not change unnoticed, nor with the build's profile or the platform. Whoever changes
/// this value changes results: say so in CHANGELOG.md, under "Results".
#[test]
fn results_are_what_they_were() {
    assert_eq!(
        plans::run(&busy_plan()).hash,
        "c9564c9848bc2afa9d120e35a127b20f"
    );
}
