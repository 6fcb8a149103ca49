//! What coupled controllers do when one of a flow's two paths fails, and when it returns.

use crate::plans::{
    self, flows, group, link, mean, parallel_paths, path, plan, queue, table, within,
};
use pathweave_control::{Value, find, registry};
use pathweave_engine::Output;
use pathweave_fabric::routing::RoutingKind;
use pathweave_scenario::{Change, LinkChange, Phase, Plan};
use pathweave_traffic::{Pattern, Size};
use pathweave_transport::EcnUse;
use pathweave_units::Time;

/// The controllers that couple a connection's subflows at its hosts, in all their variants.
fn coupled() -> Vec<(&'static str, Vec<(String, Value)>)> {
    let mut all = Vec::new();
    for entry in registry() {
        if !entry.coupled || entry.scheme.is_some() {
            continue;
        }
        all.push((entry.name, Vec::new()));
        let linux = ("variant".to_owned(), Value::Text("linux".to_owned()));
        if entry.parameters(std::slice::from_ref(&linux)).is_ok() {
            all.push((entry.name, vec![linux]));
        }
    }
    all
}

/// Phases of a run: both paths carry, the other path is dead, it is back.
const BEFORE: usize = 0;
const DEAD: usize = 1;
const AFTER: usize = 2;

/// Payload that a path carries at most, in Mbps.
const PATH: f64 = 1000.0 * 1448.0 / 1500.0;

/// When the second path dies and returns, in milliseconds.
const DIES: u64 = 500;
const RETURNS: u64 = 1700;

/// A flow with a subflow on each of two paths, and one with one subflow on the first path. The second
/// path is dead from [`DIES`] to [`RETURNS`].
fn one_of_two_paths_dies(
    controller: &str,
    parameters: &[(String, Value)],
    delays: [u64; 2],
    seed: u64,
) -> Plan {
    let fabric = parallel_paths(&delays.map(Time::from_micros));
    let pattern = flows(&[(0, 1, Time::ZERO), (0, 1, Time::ZERO)]);
    let mut group = group(controller, &[], pattern, Size::Unlimited);
    let entry = find(controller).expect("a registered controller");
    group.parameters = entry.parameters(parameters).expect("valid parameters");
    group.transport.minimum_rto = Time::from_millis(10);
    // Marks, so that no flow waits for timeouts of its own making.
    group.transport.ecn = EcnUse::On;
    group.transport.ack_every = 1;
    let first = path(&fabric, &["S1", "A1", "B1", "D1"]);
    let second = path(&fabric, &["S1", "A2", "B2", "D1"]);
    group.listed[0].subflows = Some(2);
    // A scattered subflow comes before these two, and has no path of its own.
    if entry.scatter.is_some() {
        group.listed[0].paths.push(first.clone());
    }
    group.listed[0].paths.extend([first.clone(), second]);
    group.listed[1].paths = vec![first];
    let mut plan = plan(
        fabric,
        queue(100, Some(10)),
        vec![group],
        Some(Time::from_secs(3)),
    );
    plan.seed = seed;
    plan.routing = RoutingKind::Pinned;
    let (dies, returns) = (Time::from_millis(DIES), Time::from_millis(RETURNS));
    plans::down_between(&mut plan, ["A2", "B2"], dies, Some(returns));
    shake_and_measure(&mut plan);
    plan
}

/// Without randomness the two flows lock into a phase, in which their windows differ by a packet or two for ever: rare
/// losses on the first path free them. Measures the three phases.
fn shake_and_measure(plan: &mut Plan) {
    let lossy = LinkChange {
        at: Time::ZERO,
        link: link(&plan.fabric, "A1", "B1"),
        change: Change::Loss(0.001),
    };
    plan.events.insert(0, lossy);
    let windows = [(100, DIES), (700, RETURNS), (2400, 3000)];
    let phase = |(from, to)| Phase {
        name: format!("{from}"),
        from: Time::from_millis(from),
        to: Time::from_millis(to),
    };
    plan.measure.phases = windows.map(phase).to_vec();
}

/// Mbps of the first and of the second flow, in a phase.
fn shares(output: &Output, phase: usize) -> [f64; 2] {
    let phases = table(output, "phases");
    let rates = phases.numbers("goodput_bps");
    [rates[2 * phase] / 1e6, rates[2 * phase + 1] / 1e6]
}

/// [`shares`] of each phase, on average over three seeds, of the plans that are made for them.
fn mean_shares(plan: impl Fn(u64) -> Plan) -> [[f64; 2]; 3] {
    let outputs = [1, 2, 3].map(|seed| plans::run(&plan(seed)));
    [BEFORE, DEAD, AFTER].map(|phase| {
        let each = outputs.each_ref().map(|output| shares(output, phase));
        [0, 1].map(|flow| mean(&each.map(|rates| rates[flow])))
    })
}

#[test]
fn the_surviving_path_shares_a_link_as_a_single_path_flow() {
    let mut unfair = Vec::new();
    for (controller, parameters) in coupled() {
        // The paths are alike, the dead one is ten times faster, and ten times slower.
        for delays in [[50, 50], [50, 5], [50, 500]] {
            let plan = |seed| one_of_two_paths_dies(controller, &parameters, delays, seed);
            let [both, one] = mean_shares(plan)[DEAD];
            println!("{controller} {parameters:?} {delays:?}: {both:.0} and {one:.0} Mbps");
            if !within(both, 0.1, one) {
                unfair.push((controller, delays, both, one));
            }
        }
    }
    assert!(unfair.is_empty(), "{unfair:?}");
}

#[test]
fn the_split_returns_with_the_path() {
    let mut apart = Vec::new();
    for (controller, parameters) in coupled() {
        let plan = |seed| one_of_two_paths_dies(controller, &parameters, [50, 50], seed);
        let shares = mean_shares(plan);
        println!(
            "{controller} {parameters:?}: {:?} before, {:?} after",
            shares[BEFORE], shares[AFTER]
        );
        for (before, after) in shares[BEFORE].into_iter().zip(shares[AFTER]) {
            if !within(after, 0.1, before) {
                apart.push((controller, before, after));
            }
        }
    }
    assert!(apart.is_empty(), "{apart:?}");
}

/// Two flows of `mmptcp`, with packets that are scattered over two paths alike until `volume` bytes have been sent. The
/// second path is dead from [`DIES`] to [`RETURNS`], which switches notice within 10 ms. After the volume each flow has
/// one subflow: that of the first flow on the second path, and the other's on the first.
fn scattered_over_two_paths(volume: f64, seed: u64) -> Plan {
    let fabric = parallel_paths(&[Time::from_micros(50), Time::from_micros(50)]);
    let pattern = flows(&[(0, 1, Time::ZERO), (0, 1, Time::ZERO)]);
    let mut group = group("mmptcp", &[("volume", volume)], pattern, Size::Unlimited);
    group.transport.minimum_rto = Time::from_millis(10);
    group.transport.ecn = EcnUse::On;
    group.transport.ack_every = 1;
    group.subflows = 1;
    group.listed[0].paths = vec![path(&fabric, &["S1", "A2", "B2", "D1"])];
    group.listed[1].paths = vec![path(&fabric, &["S1", "A1", "B1", "D1"])];
    let mut plan = plan(
        fabric,
        queue(100, Some(10)),
        vec![group],
        Some(Time::from_secs(3)),
    );
    plan.seed = seed;
    plan.routing = RoutingKind::Ecmp {
        distinct: false,
        detection_delay: Time::from_millis(10),
    };
    let (dies, returns) = (Time::from_millis(DIES), Time::from_millis(RETURNS));
    plans::down_between(&mut plan, ["A2", "B2"], dies, Some(returns));
    shake_and_measure(&mut plan);
    plan
}

#[test]
fn scattered_flows_share_the_path_that_is_left() {
    let shares = mean_shares(|seed| scattered_over_two_paths(1e15, seed));
    println!("{shares:?}");
    for [one, other] in shares {
        assert!(within(one, 0.1, other), "{shares:?}");
    }
    let [before, dead, after] = shares.map(|[one, other]| one + other);
    assert!(within(dead, 0.1, PATH), "{dead} Mbps");
    // Less than twice as much: by duplicate acknowledgements, of packets that were overtaken, no window grows.
    assert!(before > 1.5 * PATH, "{before} Mbps");
    assert!(within(after, 0.1, before), "{before} and {after} Mbps");
}

#[test]
fn scattered_packets_take_over_where_the_only_other_subflow_fails() {
    let shares = mean_shares(|seed| scattered_over_two_paths(100_000.0, seed));
    println!("{shares:?}");
    // A path of its own for each.
    for phase in [BEFORE, AFTER] {
        for share in shares[phase] {
            assert!(within(share, 0.1, PATH), "phase {phase}: {share} Mbps");
        }
    }
    let [failed, other] = shares[DEAD];
    assert!(within(failed, 0.1, other), "{failed} and {other} Mbps");
    assert!(
        within(failed + other, 0.1, PATH),
        "{failed} and {other} Mbps"
    );
}

/// XMP paper, section 5.1: "2-1 and 3-2 show a significant increase" when L3 goes down. The published ring
/// in a hundredth of its time.
#[test]
fn siblings_of_failed_subflows_rise_on_xmps_ring() {
    let scenario = pathweave_scenario::check(include_str!("../../../papers/xmp/fig7.toml"))
        .unwrap_or_else(|error| panic!("{}", error.render(80, false)));
    let mut plan = scenario.variants()[0].plan(1);
    plan.groups.truncate(1);
    if let Pattern::Listed(listed) = &mut plan.groups[0].pattern {
        listed
            .flows
            .iter_mut()
            .for_each(|flow| flow.start = Time::ZERO);
    }
    for event in &mut plan.events {
        event.at = Time::from_secs(1);
    }
    plan.stop.at = Some(Time::from_millis(2500));
    let phase = |from, to| Phase {
        name: format!("{from}"),
        from: Time::from_millis(from),
        to: Time::from_millis(to),
    };
    plan.measure.phases = vec![phase(400, 1000), phase(1700, 2500)];
    let output = plans::run(&plan);
    let rates = table(&output, "phase_subflows").numbers("goodput_bps");
    // Five flows of two subflows in each phase.
    let mbps = |phase: usize, flow: usize, subflow: usize| {
        rates[10 * phase + 2 * (flow - 1) + subflow - 1] / 1e6
    };
    for (flow, failed, sibling) in [(2, 2, 1), (3, 1, 2)] {
        let (before, after) = (mbps(0, flow, sibling), mbps(1, flow, sibling));
        println!("{flow}-{sibling}: {before:.0} before, {after:.0} Mbps after L3 has failed");
        assert_eq!(mbps(1, flow, failed), 0.0);
        assert!(
            after > 1.2 * before,
            "{flow}-{sibling}: {before} and {after} Mbps"
        );
    }
}
