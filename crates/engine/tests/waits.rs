//! The account of what flows wait for, in cases that are worked out by hand.
//!
//! A packet of 1,500 B takes 12 us on each link of 1 Gbps, and each of the two links has 100 us of delay. An ACK has 52 B.

use crate::plans;
use pathweave_engine::{Column, Output};
use std::collections::BTreeMap;

const PACKET: f64 = 12e-6;
/// From one host to the other, for a data packet that waits nowhere.
const WAY: f64 = 2.0 * (PACKET + 100e-6);
const ACK: f64 = 52.0 * 8.0 / 1e9;
const ROUND: f64 = WAY + 2.0 * (ACK + 100e-6);

/// One flow of this many full packets between two hosts.
fn run(packets: u64, more: &str) -> Output {
    run_over(100, packets, more)
}

/// The same where each link has this many microseconds of delay.
fn run_over(delay: u32, packets: u64, more: &str) -> Output {
    run_group(delay, packets, more, "")
}

/// A flow of five packets from an application with these keys.
fn run_from(more: &str, application: &str) -> Output {
    run_group(100, 5, more, application)
}

fn run_group(delay: u32, packets: u64, more: &str, keys: &str) -> Output {
    let size = packets * 1448;
    plans::run(&plans::read(&format!(
        r#"
        jitter = "none"
        [fabric]
        kind = "graph"
        hosts = ["a", "b"]
        switches = ["s"]
        cables = [
            {{ link = "a-s", rate = "1 Gbps", delay = "{delay} us" }},
            {{ link = "s-b", rate = "1 Gbps", delay = "{delay} us" }},
        ]
        {more}
        [[traffic]]
        name = "flow"
        pattern = "flows"
        controller = "reno"
        {keys}
        flows = [{{ from = "a", to = "b", size = "{size} B" }}]
        "#
    )))
}

/// Seconds by what the only flow waited for, and its completion time.
fn waits(output: &Output) -> (BTreeMap<&str, f64>, f64) {
    let table = plans::table(output, "waits");
    let Some(Column::Labels { names, codes }) = table.column("wait") else {
        panic!("no column wait")
    };
    let names = codes.iter().map(|&code| &names[code as usize]);
    let waits = names.zip(table.numbers("waited_s").iter().copied());
    (waits.collect(), plans::of_flows(output, "fct_s")[0])
}

/// Holds to a nanosecond, and for the sum of all.
fn agree(output: &Output, expected: &[(&str, f64)]) {
    let (waits, completion) = waits(output);
    let names: Vec<&str> = waits.keys().copied().collect();
    let mut known: Vec<&str> = expected.iter().map(|(name, _)| *name).collect();
    known.sort_unstable();
    assert_eq!(names, known, "{waits:?}");
    for (name, seconds) in expected {
        assert!((waits[name] - seconds).abs() < 1e-9, "{name}: {waits:?}");
    }
    let sum: f64 = waits.values().sum();
    assert!((sum - completion).abs() < 1e-12, "{waits:?} {completion}");
}

/// The tenth packet of a window finds its host's queue full, and nothing comes that could show it.
#[test]
fn a_lost_tail_waits_for_the_timeout() {
    let settings = r#"
        queue = { limit = 8 }
        [transport]
        preset = "textbook"
        handshake = "none"
        ack_every = 1
    "#;
    let output = run(10, settings);
    // The ACK for the ninth packet comes eight packets after the first one's, and starts the timer.
    let expected = [
        ("network", ROUND + 8.0 * PACKET),
        ("timeout", 0.2),
        ("recovery", WAY),
    ];
    agree(&output, &expected);
}

#[test]
fn a_flow_waits_for_the_receive_window_until_its_last_packet_is_sent() {
    let settings = r#"
        [transport]
        preset = "textbook"
        handshake = "none"
        ack_every = 1
        receive_window = "5792 B"
    "#;
    // Four packets a round.
    let output = run(40, settings);
    let expected = [
        ("receive window", 9.0 * ROUND + 3.0 * PACKET),
        ("network", WAY),
    ];
    agree(&output, &expected);
}

#[test]
fn a_flow_waits_for_the_congestion_window_and_the_handshake() {
    let settings = r#"
        [transport]
        preset = "textbook"
        initial_window = 2
        ack_every = 1
        rtt_from_handshake = false
    "#;
    // Two packets in the first round, and the ACK for the first of them lets the other two go.
    let output = run(4, settings);
    let expected = [
        ("handshake", 4.0 * (ACK + 100e-6)),
        ("window", ROUND),
        ("network", WAY + PACKET),
    ];
    agree(&output, &expected);
}

/// The host's port holds three packets of a flow, and the next one joins when one has left.
#[test]
fn a_flow_waits_for_its_own_port() {
    let settings = r#"
        [transport]
        preset = "textbook"
        ack_every = 1
        initial_window = 10
        host_port = "holds-back"
        [[events]]
        at = "0 s"
        link = "a->s"
        rate = "10 Mbps"
    "#;
    // With RTTs below half a millisecond a port would hold the whole window.
    let output = run_over(1000, 10, settings);
    let (waits, _) = waits(&output);
    let slow_packet = 1.2e-3;
    // Packets 4 to 10 wait for one to leave each; all ten have left after 12 ms.
    assert!(
        (waits["own port"] - 7.0 * slow_packet).abs() < 1e-9,
        "{waits:?}"
    );
    let rest = 3.0 * slow_packet + 1e-3 + PACKET + 1e-3;
    assert!((waits["network"] - rest).abs() < 1e-9, "{waits:?}");
}

/// Its application writes a packet every millisecond, and each is acknowledged before the next.
#[test]
fn a_flow_waits_for_its_application() {
    let settings = r#"
        [transport]
        preset = "textbook"
        handshake = "none"
        ack_every = 1
    "#;
    let output = run_from(settings, "rate = \"11.584 Mbps\"");
    let expected = [
        ("data", 4.0 * (1e-3 - ROUND)),
        ("network", 4.0 * ROUND + WAY),
    ];
    agree(&output, &expected);
}
