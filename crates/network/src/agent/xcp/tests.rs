use super::*;
use crate::AgentSetup;
use pathweave_control::{Scheme, find};
use std::sync::Arc;

/// A 1 Gbps port on a fabric with a base RTT of 100 us: C d = 12,500 bytes.
fn setup(variant: &str) -> LinkSetup {
    let entry = find("xcp").expect("in the registry");
    let given = [("variant".to_owned(), Value::Text(variant.to_owned()))];
    let setup = AgentSetup {
        scheme: Scheme::Xcp,
        parameters: entry.parameters(&given).expect("a variant"),
        base_rtt: Time::from_micros(100),
    };
    LinkSetup {
        agent: Some(Arc::new(setup)),
        ..LinkSetup::plain((0, 1), Rate::from_gbps(1), Time::ZERO)
    }
}

fn agent() -> Xcp<Paper> {
    Xcp::new(&setup("paper"))
}

fn reference() -> Xcp<Reference> {
    Xcp::new(&setup("ns2"))
}

fn field(window: f32, rtt: f32, change: f32) -> Label {
    Label {
        feedback: Feedback::Xcp {
            window,
            rtt,
            change,
        },
        ..Label::default()
    }
}

fn change_of(label: &Label) -> f32 {
    match label.feedback {
        Feedback::Xcp { change, .. } => change,
        _ => f32::NAN,
    }
}

fn waiting(bytes: u32) -> Backlog {
    Backlog {
        packets: bytes.div_ceil(1000),
        bytes,
    }
}

/// A packet of 1000 bytes that comes and leaves at once.
fn pass<V: Variant>(agent: &mut Xcp<V>, at: Time, window: f32, rtt: f32) {
    let mut label = field(window, rtt, f32::INFINITY);
    agent.on_arrival(at, 1000, &mut label, waiting(0));
    agent.on_service(at, 1000, &mut label, waiting(0));
}

fn close(is: f64, expected: f64) -> bool {
    (is - expected).abs() <= 1e-6 * expected.abs()
}

#[test]
fn spare_capacity_becomes_increases() {
    // Five packets of w = 10,000 and rtt = 200 us: sum(rtt s/w) = 5 x 20 us, d = 200 us.
    let mut agent = agent();
    for _ in 0..5 {
        pass(&mut agent, Time::from_micros(10), 10_000.0, 200e-6);
    }
    agent.catch_up(Time::from_micros(100));
    // y = 5000 bytes per 100 us = 5e7; phi = 0.4 x 200e-6 x (1.25e8 - 5e7) = 6000 > 500: no shuffling.
    assert!(close(agent.rtt, 200e-6), "{}", agent.rtt);
    let expected = 6000.0 / (200e-6 * 100e-6);
    assert!(close(agent.xi_p, expected), "{}", agent.xi_p);
    assert_eq!(agent.xi_n, 0.0);
    assert!(close(agent.interval_ends.as_secs_f64(), 300e-6));
    // As many packets again share out all of phi.
    let mut label = field(10_000.0, 200e-6, f32::INFINITY);
    agent.on_service(Time::from_micros(150), 1000, &mut label, waiting(0));
    let change = f64::from(change_of(&label));
    assert!(close(change, 6000.0 / 5.0), "{change}");
}

#[test]
fn a_standing_queue_becomes_decreases() {
    // y = C: 12,500 bytes in 100 us; never less than 10,000 bytes wait.
    let mut agent = agent();
    agent.variant.begin_interval(20_000);
    for i in 0..5 {
        let mut label = field(25_000.0, 100e-6, f32::INFINITY);
        agent.on_arrival(
            Time::from_micros(20 * i),
            2500,
            &mut label,
            waiting(10_000 + 1000 * i as u32),
        );
    }
    agent.catch_up(Time::from_micros(100));
    // phi = -0.226 x 10,000 = -2260; h = 0 as 1250 < 2260.
    assert!(close(agent.xi_n, 2260.0 / (100e-6 * 12_500.0)));
    assert_eq!(agent.xi_p, 0.0);
}

#[test]
fn a_tenth_of_the_traffic_moves_when_all_is_well() {
    // y = C and no queue: phi = 0, h = 1250. Two flows, 2500 bytes per packet: four packets of w = 20,000
    // and one of w = 5000. sum(rtt s/w) = 100 us (4 / 8 + 1 / 2) = 100 us.
    let mut agent = agent();
    for window in [20_000.0, 20_000.0, 5000.0, 20_000.0, 20_000.0] {
        let mut label = field(window, 100e-6, f32::INFINITY);
        agent.on_arrival(Time::from_micros(50), 2500, &mut label, waiting(0));
    }
    agent.catch_up(Time::from_micros(100));
    assert!(close(agent.xi_p, 1250.0 / (100e-6 * 100e-6)));
    assert!(close(agent.xi_n, 1250.0 / (100e-6 * 12_500.0)));
    // The large one loses, 1250 / 8 - 250 a packet; the small one wins 1250 / 2 - 250.
    for (window, expected) in [(20_000.0, -93.75), (5000.0, 375.0)] {
        let mut label = field(window, 100e-6, f32::INFINITY);
        agent.on_service(Time::from_micros(150), 2500, &mut label, waiting(0));
        let change = f64::from(change_of(&label));
        assert!(close(change, expected), "{window}: {change}");
    }
}

#[test]
fn the_mean_rtt_counts_each_flow_once() {
    // Equal rates, rtt 100 us and 300 us: windows in the same proportion, packets alike in number.
    let mut agent = agent();
    for _ in 0..3 {
        pass(&mut agent, Time::from_micros(10), 5000.0, 100e-6);
        pass(&mut agent, Time::from_micros(10), 15_000.0, 300e-6);
    }
    agent.catch_up(Time::from_micros(100));
    assert!(close(agent.rtt, 200e-6), "{}", agent.rtt);
}

#[test]
fn a_field_is_lowered_and_never_raised() {
    let mut agent = agent();
    agent.xi_p = 1e11;
    agent.variant.set_budgets(1e6, 0.0);
    // 1e11 x 1e-8 x 0.1 = 100 bytes.
    for (before, after) in [(f32::INFINITY, 100.0), (101.0, 100.0), (99.0, 99.0)] {
        let mut label = field(10_000.0, 1e-4, before);
        agent.on_service(Time::ZERO, 1000, &mut label, waiting(0));
        assert!((change_of(&label) - after).abs() < 1e-3, "{before}");
    }
    assert_eq!(agent.statistics().feedback, 2);
}

fn check_that_echoes_are_traffic_and_nothing_else<V: Variant>(mut agent: Xcp<V>) {
    let echo = Label {
        is_echo: true,
        ..field(1000.0, 1e-4, 5.0)
    };
    for label in [echo, Label::default()] {
        let mut seen = label;
        agent.on_arrival(Time::ZERO, 60, &mut seen, waiting(0));
        agent.on_service(Time::ZERO, 60, &mut seen, waiting(0));
        assert_eq!(seen, label);
    }
    assert_eq!(
        (agent.arrived, agent.told, agent.weights),
        (120.0, 0.0, 0.0)
    );
    assert_eq!(agent.statistics().feedback, 0);
}

#[test]
fn echoes_and_strangers_are_traffic_and_nothing_else() {
    check_that_echoes_are_traffic_and_nothing_else(agent());
    check_that_echoes_are_traffic_and_nothing_else(reference());
}

#[test]
fn senders_without_an_rtt_are_granted_nothing() {
    let mut agent = agent();
    agent.xi_p = 1e12;
    agent.xi_n = 1e3;
    let mut label = field(10_000.0, 0.0, f32::INFINITY);
    agent.on_service(Time::ZERO, 1000, &mut label, waiting(0));
    assert_eq!(change_of(&label), 0.0);
}

#[test]
fn no_packet_is_granted_more_than_there_is_for_all_since_its_flow_s_last_packet() {
    // As in `spare_capacity_becomes_increases`: 6000 bytes for five packets of w = 10,000.
    let mut agent = agent();
    for _ in 0..5 {
        pass(&mut agent, Time::from_micros(10), 10_000.0, 200e-6);
    }
    // With a window of one packet, as after a timeout, xi_p grants ten times as much for each packet. With ten times the RTT it is
    // a thousand times as much, for a packet that comes after ten intervals.
    for (rtt, most) in [(200e-6, 6000.0), (2e-3, 60_000.0)] {
        let mut label = field(1000.0, rtt, f32::INFINITY);
        agent.on_arrival(Time::from_micros(150), 1000, &mut label, waiting(0));
        agent.on_service(Time::from_micros(150), 1000, &mut label, waiting(0));
        let change = f64::from(change_of(&label));
        assert!(close(change, most), "{change}");
    }
}

#[test]
fn an_idle_port_keeps_its_coefficients_and_its_clock() {
    let mut agent = agent();
    pass(&mut agent, Time::from_micros(10), 10_000.0, 100e-6);
    agent.catch_up(Time::from_micros(100));
    let before = (agent.xi_p, agent.xi_n);
    agent.catch_up(Time::from_secs(100));
    assert_eq!((agent.xi_p, agent.xi_n), before);
    let (now, ends) = (Time::from_secs(100), agent.interval_ends);
    assert!(
        ends > now && ends <= now + Time::from_micros(101),
        "{ends:?}"
    );
}

#[test]
fn the_queue_is_the_smallest_of_the_interval() {
    let mut agent = agent();
    let mut label = field(10_000.0, 100e-6, 0.0);
    agent.on_arrival(Time::from_micros(90), 1000, &mut label, waiting(9000));
    for (bytes, at) in [(5000, 110), (3000, 120), (4000, 130)] {
        agent.on_service(Time::from_micros(at), 1000, &mut label, waiting(bytes));
    }
    assert_eq!(agent.variant.persistent_queue(), 3000);
    // The next interval begins with what waits.
    agent.catch_up(Time::from_micros(200));
    assert_eq!(agent.variant.persistent_queue(), 4000);
}

#[test]
fn a_new_rate_counts_at_once() {
    let mut agent = agent();
    pass(&mut agent, Time::from_micros(10), 10_000.0, 100e-6);
    agent.set_rate(Time::from_micros(50), Rate::from_gbps(2));
    agent.catch_up(Time::from_micros(100));
    // phi = 0.4 x (25,000 - 1000); sum(rtt s/w) = 10 us.
    assert!(close(agent.xi_p, 9600.0 / (100e-6 * 10e-6)));
}

#[test]
fn the_reference_code_waits_fifty_milliseconds_and_grants_a_tenth_more() {
    let mut agent = reference();
    for _ in 0..5 {
        pass(&mut agent, Time::from_millis(49), 10_000.0, 200e-6);
    }
    assert_eq!(agent.xi_p, 1000.0);
    agent.catch_up(Time::from_millis(50));
    // phi = 0.4 x 200e-6 x (1.25e8 - 5000 / 0.05) = 9992.
    assert!(close(agent.xi_p, 1.1 * 9992.0 / (200e-6 * 100e-6)));
    assert!(close(agent.interval_ends.as_secs_f64(), 0.0502));
    // 1.1 x 9992 / 5 for each packet until the budget is used up.
    let mut sum = 0.0;
    for _ in 0..6 {
        let mut label = field(10_000.0, 200e-6, f32::INFINITY);
        agent.on_service(Time::from_millis(50), 1000, &mut label, waiting(0));
        sum += f64::from(change_of(&label));
    }
    assert!(close(sum, 9992.0), "{sum}");
}

#[test]
fn the_state_does_not_depend_on_traffic() {
    let mut paper = agent();
    assert_eq!(paper.statistics().state_bytes, 88);
    pass(&mut paper, Time::from_micros(10), 10_000.0, 100e-6);
    assert_eq!(paper.statistics().state_bytes, 88);
    assert_eq!(reference().statistics().state_bytes, 112);
}
