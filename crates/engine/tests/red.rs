//! RED (Floyd and Jacobson 1993) compared with the step, which the XMP paper's section 2.1 prefers.

use crate::plans::{self, fixed, group, of_flows, queue};
use pathweave_network::{Marking, QueueConfig};
use pathweave_scenario::Plan;
use pathweave_units::Time;

fn red(from: f64, to: f64, probability: f64, weight: f64) -> QueueConfig {
    QueueConfig {
        marking: Marking::Red {
            from,
            to,
            probability,
            weight,
        },
        ..queue(100, None)
    }
}

/// Many DCTCP flows at once over one bottleneck.
fn burst(flows: usize, bytes: u64, queue: QueueConfig) -> Plan {
    let starts = vec![Time::ZERO; flows];
    let flows_of_dctcp = group("dctcp", &[], plans::pairs(&starts), fixed(bytes));
    let fabric = plans::dumbbell(flows as u32, Time::from_micros(50));
    plans::plan(
        fabric,
        queue,
        vec![flows_of_dctcp],
        Some(Time::from_secs(2)),
    )
}

#[test]
fn with_weight_1_and_equal_thresholds_flows_are_those_of_the_step() {
    for k in [5, 20] {
        let step = plans::run(&burst(6, 2_000_000, queue(100, Some(k))));
        let same = red(f64::from(k), f64::from(k), 1.0, 1.0);
        let red = plans::run(&burst(6, 2_000_000, same));
        assert_eq!(of_flows(&red, "fct"), of_flows(&step, "fct"));
    }
}

/// Section 2.1: the average lags behind the queue, so that a burst overflows it before marks appear.
#[test]
fn an_average_comes_too_late_for_a_burst() {
    let step = plans::run(&burst(8, 200_000, queue(100, Some(10))));
    let red = plans::run(&burst(8, 200_000, red(5.0, 15.0, 0.02, 0.002)));
    assert_eq!(step.counters.dropped, 0);
    assert!(red.counters.dropped > 50, "{}", red.counters.dropped);
}
