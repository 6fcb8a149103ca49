//! Controllers whose switches take part, on one bottleneck.

mod plans;

use pathweave_engine::Output;
use pathweave_fabric::topology::Dumbbell;
use pathweave_scenario::Plan;
use pathweave_traffic::Size;
use pathweave_units::{Rate, Time};
use plans::{dumbbell, of_flows, pairs, queue, table, within};
use std::collections::BTreeMap;

const SCHEMES: [&str; 3] = ["rcp", "xcp", "decn"];

/// `flows` flows over 1 Gbps with a base RTT of about 250 us; the last begins after 20 ms.
fn plan(controller: &str, flows: usize) -> Plan {
    let mut starts = vec![Time::ZERO; flows];
    starts[flows - 1] = Time::from_millis(20);
    let mut group = plans::group(controller, &[], pairs(&starts), Size::Unlimited);
    group.transport.ack.every = 1;
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
    for controller in SCHEMES {
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
    for controller in SCHEMES {
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

#[test]
fn two_xcp_flows_converge_in_tens_of_round_trips() {
    let rtt = Time::from_micros(600);
    let shape = Dumbbell {
        left: 2,
        right: 2,
        host_rate: Rate::from_gbps(10),
        bottleneck_rate: Rate::from_gbps(10),
        host_delay: Time::from_micros(100).into(),
        bottleneck_delay: Time::from_micros(100).into(),
    };
    let starts = [Time::ZERO, Time::from_millis(30)];
    let group = plans::group("xcp", &[], pairs(&starts), Size::Unlimited);
    let mut plan = plans::plan(
        shape.build(1).expect("a dumbbell"),
        queue(200, None),
        vec![group],
        Some(Time::from_millis(80)),
    );
    plan.record.rates = Some(rtt);
    let output = run(&plan);
    // Headers leave a little less than 5 Gbps of goodput.
    let share = 5e9 * 1448.0 / 1516.0;
    let start = starts[1].as_secs_f64();
    let rounds = round_trips_to_equal_shares(&output, start, rtt.as_secs_f64(), share);
    let rounds = rounds.expect("equal shares");
    assert!((10..=40).contains(&rounds), "{rounds} round trips");
}
