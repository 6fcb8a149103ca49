//! DECN at 10 Gbps: shares, queues, many flows, and what its units may not overtake.

use crate::plans::{self, of_flows, pairs, queue, table};
use pathweave_control::Value as Parameter;
use pathweave_engine::Output;
use pathweave_fabric::topology::Dumbbell;
use pathweave_scenario::Plan;
use pathweave_traffic::Size;
use pathweave_transport::Handshake;
use pathweave_units::{Rate, Time};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Flows that start one after another within `spread` over 10 Gbps with a base RTT of twice `delay`,
/// measured from `from` for 100 ms.
fn plan(flows: u32, spread: Time, delay: Time, limit: u32, from: Time, pace: &str) -> Plan {
    let starts: Vec<Time> = (0..u64::from(flows))
        .map(|number| spread * number / u64::from(flows))
        .collect();
    let mut group = plans::group("decn", &[], pairs(&starts), Size::Unlimited);
    let given = [
        ("unit".to_owned(), Parameter::Number(8.0)),
        ("pace".to_owned(), Parameter::Text(pace.to_owned())),
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
    for (flows, pace) in [(4, "stable"), (50, "stable"), (4, "mean"), (50, "mean")] {
        let spread = Time::from_millis(10);
        let output = plans::run(&plan(
            flows,
            spread,
            RTT_100_US,
            200,
            Time::from_millis(50),
            pace,
        ));
        let (utilisation, queue, drops) = bottleneck(&output);
        let jain = fairness(&output);
        assert!(jain > 0.99, "{flows} flows, {pace}: {jain}");
        assert!(queue < 5.0, "{flows} flows, {pace}: {queue}");
        assert!(utilisation > 0.9, "{flows} flows, {pace}: {utilisation}");
        assert_eq!(drops, 0, "{flows} flows, {pace}");
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
    for pace in ["mean", "stable"] {
        let (utilisation, queue, drops) = run(RTT_600_US, pace);
        assert!(utilisation > 0.9, "{pace}: {utilisation}");
        assert!(queue < 5.0, "{pace}: {queue}");
        assert_eq!(drops, 0, "{pace}");
    }
    // Six differences of the same rate are added before the first shows: what is lost stops the flows.
    let (utilisation, ..) = run(RTT_600_US, "paper");
    assert!(utilisation < 0.5, "{utilisation}");
    // Where the feedback is there within a period, that cannot be.
    let (utilisation, _, drops) = run(Time::from_micros(10), "paper");
    assert!(utilisation > 0.9, "{utilisation}");
    assert_eq!(drops, 0);
}

/// Flows over one bottleneck, from their starts to fair shares.
#[derive(Clone, Debug)]
struct Convergence {
    gbps: u64,
    rtt: Time,
    initial_window: u32,
    /// When each flow starts.
    starts: Vec<Time>,
}

/// t_p.
const PERIOD: Time = Time::from_micros(100);

impl Convergence {
    /// Packets of 1500 B that fit on the path.
    fn bdp(&self) -> f64 {
        self.gbps as f64 * 1e9 * self.rtt.as_secs_f64() / 12e3
    }

    fn longer(&self) -> Time {
        self.rtt.max(PERIOD)
    }

    /// Whether the initial windows fit on the path, and each share is three packets per RTT or t_p at least.
    fn is_judged(&self) -> bool {
        let first = self.starts.len() as f64 * f64::from(self.initial_window);
        first <= self.bdp() && self.share() >= 3.0
    }

    /// Packets of a fair share in an RTT or t_p, the longer of the two.
    fn share(&self) -> f64 {
        let flows = self.starts.len() as f64;
        self.gbps as f64 * 1e9 * self.longer().as_secs_f64() / 12e3 / flows
    }

    /// Ports of four BDPs, and of 200 packets at least. It measures from twelve RTTs or t_p after the last flow's first unit
    /// is back: the flow starts within an RTT of its time, and a unit takes three RTTs with an initial window of 1.
    fn plan(&self) -> Plan {
        let flows = self.starts.len() as u32;
        let limit = (4.0 * self.bdp()).max(200.0) as u32;
        let last = self.starts.iter().copied().max().unwrap_or(Time::ZERO);
        let from = last + self.rtt * 4 + self.longer() * 12;
        let delay = self.rtt / 2 - Time::from_nanos(200);
        let mut plan = plan(flows, Time::ZERO, delay, limit, from, "mean");
        for link in &mut plan.fabric.links {
            link.rate = Rate::from_gbps(self.gbps);
        }
        let unit = if self.gbps == 1 { 1.0 } else { 8.0 };
        for group in &mut plan.groups {
            let given = [("unit".to_owned(), Parameter::Number(unit))];
            group.pattern = pairs(&self.starts);
            group.parameters = group.controller.parameters(&given).expect("parameters");
            group.transport.handshake = Handshake::None;
            group.transport.initial_window = f64::from(self.initial_window);
        }
        plan.stop.at = Some(from + self.longer() * 20);
        plan
    }

    /// Largest distance of a flow's goodput from the mean, as a part of it, and packets lost.
    fn run(&self) -> (f64, u64) {
        let output = plans::run(&self.plan());
        let rates = of_flows(&output, "goodput_bps");
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        let apart = rates.iter().map(|rate| (rate / mean - 1.0).abs());
        (apart.fold(0.0, f64::max), bottleneck(&output).2)
    }

    /// Nothing is lost then, and shares differ by a tenth or by a packet in a round trip.
    fn check(&self) -> Result<(), TestCaseError> {
        let (apart, lost) = self.run();
        prop_assert_eq!(lost, 0);
        let near = (1.0 / self.share()).max(0.1);
        prop_assert!(apart <= near, "{} of the fair share", apart);
        Ok(())
    }
}

/// Any start within two RTTs, of this many flows with RTTs from 50 us to this.
fn convergences(flows: u32, longest_rtt_us: u64) -> impl Strategy<Value = Convergence> {
    let starts = prop::collection::vec(0..2000_u64, 1..=flows as usize);
    (
        prop::sample::select(vec![1, 10]),
        50..=longest_rtt_us,
        1..=10_u32,
        starts,
    )
        .prop_map(|(gbps, rtt_us, initial_window, starts)| {
            let rtt = Time::from_micros(rtt_us);
            Convergence {
                gbps,
                rtt,
                initial_window,
                starts: starts.into_iter().map(|part| rtt * part / 1000).collect(),
            }
        })
        .prop_filter("outside of what is judged", Convergence::is_judged)
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases(100))]

    /// Where feedback is there within about a period, as in a data centre.
    #[test]
    fn any_number_of_flows_is_fair_soon_on_short_paths(one in convergences(64, 120)) {
        one.check()?;
    }

    #[test]
    fn some_flows_are_fair_soon_on_long_paths(one in convergences(3, 1000)) {
        one.check()?;
    }
}

/// The same for many flows on paths of several periods, where it does not always hold: the first flows to start are told
/// shares of which those that start within the same RTT know nothing yet, and queues of several BDPs have to be drained.
#[test]
#[ignore = "prints a table"]
fn many_flows_on_long_paths() {
    println!("| rate | base RTT | flows | initial window | furthest from the share | lost |");
    println!("|---|---|---|---|---|---|");
    for gbps in [1, 10] {
        for rtt_us in [300, 600, 1000] {
            for (flows, initial_window) in [(8, 2), (16, 2), (16, 10), (64, 2), (64, 10)] {
                let rtt = Time::from_micros(rtt_us);
                let one = Convergence {
                    gbps,
                    rtt,
                    initial_window,
                    starts: (0..flows).map(|flow| rtt * flow / flows).collect(),
                };
                if one.is_judged() {
                    let (apart, lost) = one.run();
                    let percent = 100.0 * apart;
                    println!(
                        "| {gbps} Gbps | {rtt_us} us | {flows} | {initial_window} | {percent:.0} % | {lost} |"
                    );
                }
            }
        }
    }
}
