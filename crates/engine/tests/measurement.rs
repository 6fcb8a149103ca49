//! The window of measurement: what tables say of it does not depend on what comes after it.

use crate::plans::{self, fixed, group, queue, table};
use pathweave_engine::{Progress, run_with_departure_ports};
use pathweave_scenario::Plan;
use pathweave_units::Time;

/// A short flow in the first 20 ms, and from 20 ms on two others that fill the queue, until `end`.
fn busy_later(end: Time) -> Plan {
    let later = Time::from_millis(20);
    let early = group(
        "reno",
        &[],
        plans::flows(&[(0, 3, Time::ZERO)]),
        fixed(20_000),
    );
    let late = plans::flows(&[(1, 4, later), (2, 5, later)]);
    let late = group("reno", &[], late, fixed(2_000_000));
    let fabric = plans::dumbbell(3, Time::from_micros(50));
    let mut plan = plans::plan(fabric, queue(100, None), vec![early, late], Some(end));
    plan.measure.to = Some(Time::from_millis(20));
    plan.jitter = false;
    plan
}

#[test]
fn queue_percentiles_end_with_the_window() {
    let short = plans::run(&busy_later(Time::from_millis(20)));
    let plan = busy_later(Time::from_millis(60));
    let outputs = [
        plans::run(&plan),
        run_with_departure_ports(&plan, &Progress::default()).expect("a run"),
    ];
    let expected = table(&short, "links").numbers("queue_p99");
    for output in outputs {
        assert_eq!(table(&output, "links").numbers("queue_p99"), expected);
    }
    // The whole run has longer queues: the comparison could fail.
    let mut whole = busy_later(Time::from_millis(60));
    whole.measure.to = None;
    let longest = |values: &[f64]| values.iter().fold(0.0, |a: f64, b| a.max(*b));
    let found = longest(table(&plans::run(&whole), "links").numbers("queue_p99"));
    assert!(found > longest(expected) + 10.0, "{found} {expected:?}");
}
