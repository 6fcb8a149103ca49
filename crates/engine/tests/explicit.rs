//! Controllers whose switches take part, on one bottleneck.

mod plans;

use pathweave_engine::Output;
use pathweave_scenario::Plan;
use pathweave_traffic::Size;
use pathweave_units::Time;
use plans::{dumbbell, of_flows, pairs, queue, table, within};

const SCHEMES: [&str; 1] = ["rcp"];

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
