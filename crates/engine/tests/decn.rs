//! DECN at 10 Gbps: shares, queues, many flows, and what its units may not overtake.

use crate::plans::{self, of_flows, pairs, queue, table};
use pathweave_control::Value;
use pathweave_engine::Output;
use pathweave_fabric::topology::Dumbbell;
use pathweave_scenario::Plan;
use pathweave_traffic::Size;
use pathweave_units::{Rate, Time};

/// Flows that start one after another within `spread` over 10 Gbps with a base RTT of twice `delay`,
/// measured from `from` for 100 ms.
fn plan(flows: u32, spread: Time, delay: Time, limit: u32, from: Time, pace: &str) -> Plan {
    let starts: Vec<Time> = (0..u64::from(flows))
        .map(|number| spread * number / u64::from(flows))
        .collect();
    let mut group = plans::group("decn", &[], pairs(&starts), Size::Unlimited);
    let given = [
        ("unit".to_owned(), Value::Number(8.0)),
        ("pace".to_owned(), Value::Text(pace.to_owned())),
    ];
    group.parameters = group.controller.parameters(&given).expect("parameters");
    group.transport.ack_every = 1;
    group.transport.initial_window = 2.0;
    let shape = Dumbbell {
        left: flows,
        right: flows,
        host_rate: Rate::from_gbps(10),
        bottleneck_rate: Rate::from_gbps(10),
        host_delay: Time::from_nanos(100).into(),
        bottleneck_delay: delay.into(),
    };
    let fabric = shape.build(1).expect("a dumbbell");
    let stop = from + Time::from_millis(100);
    let mut plan = plans::plan(fabric, queue(limit, None), vec![group], Some(stop));
    plan.measure.from = from;
    plan
}

/// Jain's index of the flows' goodputs.
fn fairness(output: &Output) -> f64 {
    let rates = of_flows(output, "goodput_bps");
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    sum * sum / (rates.len() as f64 * squares)
}

/// Utilisation, mean queue in packets and drops of the bottleneck.
fn bottleneck(output: &Output) -> (f64, f64, u64) {
    let links = table(output, "links");
    (
        links.numbers("utilisation")[0],
        links.numbers("queue_mean")[0],
        links.integers("drops")[0],
    )
}

const RTT_100_US: Time = Time::from_micros(48);
const RTT_600_US: Time = Time::from_micros(298);

#[test]
fn shares_are_equal_and_queues_short() {
    for flows in [4, 50] {
        let spread = Time::from_millis(10);
        let output = plans::run(&plan(
            flows,
            spread,
            RTT_100_US,
            200,
            Time::from_millis(50),
            "stable",
        ));
        let (utilisation, queue, drops) = bottleneck(&output);
        let jain = fairness(&output);
        assert!(jain > 0.99, "{flows} flows: {jain}");
        assert!(queue < 5.0, "{flows} flows: {queue}");
        assert!(utilisation > 0.9, "{flows} flows: {utilisation}");
        assert_eq!(drops, 0, "{flows} flows");
    }
}

#[test]
fn five_hundred_flows_lose_nothing() {
    // A packet per RTT is the least: 500 packets are in the network, 83 of them on the wire.
    let mut plan = plan(
        500,
        Time::from_millis(50),
        RTT_100_US,
        1000,
        Time::from_millis(100),
        "stable",
    );
    plan.measure.from = Time::ZERO;
    let output = plans::run(&plan);
    let (utilisation, _, drops) = bottleneck(&output);
    assert_eq!(drops, 0);
    assert!(utilisation > 0.9, "{utilisation}");
    assert!(fairness(&output) > 0.95, "{}", fairness(&output));
}

#[test]
fn differences_measured_before_a_change_must_not_be_added() {
    let run = |delay, pace| {
        let from = Time::from_millis(50);
        let plan = plan(2, Time::from_millis(10), delay, 200, from, pace);
        bottleneck(&plans::run(&plan))
    };
    let (utilisation, queue, drops) = run(RTT_600_US, "stable");
    assert!(utilisation > 0.9, "{utilisation}");
    assert!(queue < 5.0, "{queue}");
    assert_eq!(drops, 0);
    // Six differences of the same rate are added before the first shows: what is lost stops the flows.
    let (utilisation, ..) = run(RTT_600_US, "paper");
    assert!(utilisation < 0.5, "{utilisation}");
    // Where the feedback is there within a period, that cannot be.
    let (utilisation, _, drops) = run(Time::from_micros(10), "paper");
    assert!(utilisation > 0.9, "{utilisation}");
    assert_eq!(drops, 0);
}
