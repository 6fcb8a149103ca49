//! Controllers whose switches take part, on one bottleneck.

use crate::plans::{self, dumbbell, of_flows, pairs, queue, table, within};
use pathweave_control::Value;
use pathweave_engine::Output;
use pathweave_fabric::topology::Dumbbell;
use pathweave_scenario::Plan;
use pathweave_traffic::Size;
use pathweave_units::{Rate, Time};
use std::collections::BTreeMap;

/// Those that come to equal shares at once, and those that take many rounds.
const FAST: [&str; 3] = ["rcp", "xcp", "decn"];
const SLOW: [&str; 2] = ["vcp", "mlcp"];

/// `flows` flows over 1 Gbps with a base RTT of about 250 us; the last begins after 20 ms.
fn plan(controller: &str, flows: usize) -> Plan {
    let mut starts = vec![Time::ZERO; flows];
    starts[flows - 1] = Time::from_millis(20);
    let mut group = plans::group(controller, &[], pairs(&starts), Size::Unlimited);
    group.transport.ack_every = 1;
    let fabric = dumbbell(flows as u32, Time::from_micros(100));
    let mut plan = plans::plan(
        fabric,
        queue(200, None),
        vec![group],
        Some(Time::from_millis(200)),
    );
    plan.measure.from = Time::from_millis(100);
    plan
}

fn run(plan: &Plan) -> Output {
    plans::run(plan)
}

#[test]
fn a_lone_flow_fills_the_link() {
    for controller in FAST.into_iter().chain(SLOW) {
        let mut plan = plan(controller, 1);
        plan.groups[0].pattern = pairs(&[Time::ZERO]);
        let output = run(&plan);
        let utilisation = table(&output, "links").numbers("utilisation")[0];
        let queue = table(&output, "links").numbers("queue_mean")[0];
        assert!(
            utilisation > 0.9,
            "{controller}: {utilisation}, queue {queue}"
        );
        assert!(queue < 10.0, "{controller}: {utilisation}, queue {queue}");
        assert_eq!(
            table(&output, "links").integers("drops")[0],
            0,
            "{controller}"
        );
    }
}

#[test]
fn flows_come_to_equal_shares() {
    for controller in FAST {
        for flows in [2, 4] {
            let output = run(&plan(controller, flows));
            let rates = of_flows(&output, "goodput_bps");
            let mean = plans::mean(rates);
            assert!(
                rates.iter().all(|&rate| within(rate, 0.05, mean)),
                "{controller}: {rates:?}"
            );
            let utilisation = table(&output, "links").numbers("utilisation")[0];
            assert!(
                utilisation > 0.9,
                "{controller}, {flows} flows: {utilisation}"
            );
        }
    }
}

/// Round trips from the second flow's start until both flows stay within 10 % of half the link for ten,
/// in bins of one.
fn round_trips_to_equal_shares(output: &Output, start: f64, rtt: f64, share: f64) -> Option<usize> {
    let rates = table(output, "rates");
    let times = rates.numbers("time_s");
    let mut bins = BTreeMap::<u64, Vec<f64>>::new();
    for (&time, &rate) in times.iter().zip(rates.numbers("rate_bps")) {
        if time > start + rtt / 2.0 {
            let bin = ((time - start) / rtt).round() as u64;
            bins.entry(bin).or_default().push(rate);
        }
    }
    let fair: Vec<bool> = bins
        .values()
        .map(|rates| rates.len() == 2 && rates.iter().all(|&rate| within(rate, 0.1, share)))
        .collect();
    fair.windows(10)
        .position(|ten| ten.iter().all(|&fair| fair))
}

/// Round trips until a second flow shares a dumbbell of links alike, of delay `delay`, with a first one.
fn second_flow_s_round_trips(variant: &str, rate: Rate, delay: Time, start: Time) -> usize {
    let rtt = delay * 6;
    let shape = Dumbbell {
        left: 2,
        right: 2,
        host_rate: rate,
        bottleneck_rate: rate,
        host_delay: delay.into(),
        bottleneck_delay: delay.into(),
    };
    let pattern = pairs(&[Time::ZERO, start]);
    let mut group = plans::group("xcp", &[], pattern, Size::Unlimited);
    let variant = ("variant".to_owned(), Value::Text(variant.to_owned()));
    let parameters = group.controller.parameters(&[variant]);
    group.parameters = parameters.expect("a variant");
    // Headers leave a little less than half the rate of goodput.
    let payload = f64::from(group.transport.data_packet - group.transport.overhead());
    let share =
        rate.as_bps() as f64 / 2.0 * payload / (f64::from(group.transport.data_packet) + 16.0);
    let mut plan = plans::plan(
        shape.build(1).expect("a dumbbell"),
        queue(200, None),
        vec![group],
        Some(start + rtt * 80),
    );
    plan.record.rates = Some(rtt);
    let rounds =
        round_trips_to_equal_shares(&run(&plan), start.as_secs_f64(), rtt.as_secs_f64(), share);
    rounds.expect("equal shares")
}

#[test]
fn two_xcp_flows_converge_in_tens_of_round_trips() {
    let (rate, delay) = (Rate::from_gbps(10), Time::from_micros(100));
    let rounds = second_flow_s_round_trips("paper", rate, delay, Time::from_millis(30));
    assert!((10..=40).contains(&rounds), "{rounds} round trips");
}

/// ns-2 2.35 takes 32 round trips on the same dumbbell (validation/ns2), ten of them for the 50 ms that
/// its sender's port first waits.
#[test]
fn xcp_converges_as_fast_as_ns_2_s() {
    let (rate, delay) = (Rate::from_gbps(1), Time::from_millis(1));
    let start = Time::from_millis(1002);
    let reference = second_flow_s_round_trips("ns2", rate, delay, start);
    assert!((25..=37).contains(&reference), "{reference} round trips");
    let paper = second_flow_s_round_trips("paper", rate, delay, start);
    assert!((17..=25).contains(&paper), "{paper} round trips");
}

/// The same over 1 Gbps with a base RTT of about 650 us, long after the last has begun.
fn long_plan(controller: &str, flows: usize) -> Plan {
    let mut plan = plan(controller, flows);
    plan.fabric = dumbbell(flows as u32, Time::from_micros(300));
    plan.measure.from = Time::from_millis(500);
    plan.stop.at = Some(Time::from_millis(1500));
    plan
}

#[test]
fn flows_that_hear_of_loads_come_to_nearly_equal_shares() {
    for controller in SLOW {
        for flows in [2, 4] {
            let output = run(&long_plan(controller, flows));
            let rates = of_flows(&output, "goodput_bps");
            let mean = plans::mean(rates);
            let links = table(&output, "links");
            let utilisation = links.numbers("utilisation")[0];
            let queue = links.numbers("queue_mean")[0];
            let drops = links.integers("drops")[0];
            assert!(
                rates.iter().all(|&rate| within(rate, 0.05, mean)),
                "{controller}: {rates:?}"
            );
            assert!(
                utilisation > 0.9 && queue < 5.0 && drops == 0,
                "{controller}, {flows} flows: {utilisation}, queue {queue}, {drops} drops"
            );
        }
    }
}
