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
    run_group(delay, packets, more, "controller = \"reno\"", "")
}

/// With these keys of the traffic group, and of the flow.
fn run_group(delay: u32, packets: u64, more: &str, keys: &str, flow: &str) -> Output {
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
        {keys}
        flows = [{{ from = "a", to = "b", size = "{size} B"{flow} }}]
        "#
    )))
}

/// One flow of this many full packets over two paths between its hosts, with a subflow on each. The way over `t` has 500 us
/// of delay on each link.
fn run_over_two(packets: u64, more: &str, flow: &str) -> Output {
    let size = packets * 1448;
    plans::run(&plans::read(&format!(
        r#"
        jitter = "none"
        [fabric]
        kind = "graph"
        hosts = ["a", "b"]
        switches = ["s", "t"]
        cables = [
            {{ link = "a-s", rate = "1 Gbps", delay = "100 us" }},
            {{ link = "s-b", rate = "1 Gbps", delay = "100 us" }},
            {{ link = "a-t", rate = "1 Gbps", delay = "500 us" }},
            {{ link = "t-b", rate = "1 Gbps", delay = "500 us" }},
        ]
        {more}
        [[traffic]]
        name = "flow"
        pattern = "flows"
        controller = {{ name = "uncoupled", of = "reno" }}
        flows = [{{ from = "a", to = "b", size = "{size} B", paths = {flow} }}]
        "#
    )))
}

/// The first subflow over `s`, the second one over `t`.
const SHORT_FIRST: &str = r#"[["s"], ["t"]]"#;
const SHORT_LAST: &str = r#"[["t"], ["s"]]"#;
/// [`WAY`] over `t`.
const LONG_WAY: f64 = 2.0 * (PACKET + 500e-6);

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
    let (_, completion) = waits(output);
    agree_until(completion, output, expected);
}

/// The same for a flow that ends, or is cut off, this long after its start.
fn agree_until(completion: f64, output: &Output, expected: &[(&str, f64)]) {
    let (waits, _) = waits(output);
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
    let output = run_group(
        100,
        5,
        settings,
        "controller = \"reno\"\nrate = \"11.584 Mbps\"",
        "",
    );
    let expected = [
        ("data", 4.0 * (1e-3 - ROUND)),
        ("network", 4.0 * ROUND + WAY),
    ];
    agree(&output, &expected);
}

/// Four packets beyond the host's queue. The probe repeats the last of them, which shows that the one before is lost, too.
#[test]
fn a_lost_tail_waits_for_the_probe() {
    let settings = r#"
        queue = { limit = 1 }
        [transport]
        preset = "textbook"
        loss_detection = "rack"
        tail_loss_probe = true
        handshake = "none"
        ack_every = 1
        initial_window = 4
    "#;
    let output = run(4, settings);
    // Two samples, the second of which is longer by a packet.
    let smoothed = ROUND + PACKET / 8.0;
    let expected = [
        ("network", (ROUND + PACKET) + ROUND),
        ("timeout", 2.0 * smoothed + 2e-3),
        ("recovery", WAY),
    ];
    agree(&output, &expected);
}

/// RCP paces the initial window over the round trip of the handshake, and its header takes 12 bytes.
#[test]
fn a_flow_waits_for_the_pace() {
    let settings = r#"
        [transport]
        preset = "textbook"
        ack_every = 1
        initial_window = 10
    "#;
    let output = run_group(100, 5, settings, "controller = \"rcp\"", "");
    let handshake = 4.0 * (ACK + 100e-6);
    let packet = 1512.0 * 8.0 / 1e9;
    let expected = [
        ("handshake", handshake),
        ("pace", 4.0 * handshake / 10.0),
        ("network", 2.0 * (packet + 100e-6)),
    ];
    agree(&output, &expected);
}

/// A buffer that is full with four packets takes whole fragments of 23, as Linux's does: the second one when less than four
/// packets are left of the first. The other subflow does not open in time.
#[test]
fn a_flow_waits_for_the_send_buffer() {
    let settings = r#"
        [transport]
        preset = "textbook"
        handshake = "none"
        scheduler = "queued-bytes"
        send_buffer = "9632 B"
        ack_every = 1
        initial_window = 100
    "#;
    let flow = r#"[["s"], ["t"]], subflow_starts = ["0 s", "1 s"]"#;
    let output = run_over_two(46, settings, flow);
    let expected = [
        ("send window", ROUND + 19.0 * PACKET),
        ("network", 22.0 * PACKET + WAY),
    ];
    agree(&output, &expected);
}

/// Two packets on each path. The first ACK of the short path lets the last two packets go, which are there long before those
/// of the long path.
#[test]
fn subflows_that_wait_for_the_same_are_charged_as_one() {
    let settings = r#"
        [transport]
        preset = "textbook"
        handshake = "none"
        scheduler = "round-robin"
        ack_every = 1
        initial_window = 2
    "#;
    for paths in [SHORT_FIRST, SHORT_LAST] {
        let output = run_over_two(6, settings, paths);
        let expected = [("window", ROUND), ("network", LONG_WAY + PACKET - ROUND)];
        agree(&output, &expected);
    }
}

/// The last two of four packets are lost on the short path, whose timer expires while the long path still carries the first
/// two. The flow waits for those, until they have been acknowledged.
#[test]
fn a_timer_counts_only_where_it_is_of_the_lowest_data() {
    let settings = r#"
        [[events]]
        at = "2.4 ms"
        link = "s->b"
        down = true
        [[events]]
        at = "3 ms"
        link = "s->b"
        up = true
        [transport]
        preset = "textbook"
        scheduler = "round-robin"
        ack_every = 1
        initial_window = 2
        minimum_rto = "1 ms"
    "#;
    let output = run_over_two(4, settings, SHORT_LAST);
    let handshake = 4.0 * (ACK + 500e-6);
    let join = 4.0 * (ACK + 100e-6);
    // The first timeout is three times the RTT of the handshake (RFC 6298). What it sends again is acknowledged after both
    // packets of the long path have arrived, and lets the last one go.
    let expected = [
        ("handshake", handshake),
        ("window", join),
        ("network", 3.0 * join + ROUND),
        ("recovery", WAY),
    ];
    agree(&output, &expected);
}

/// All that one path carries is lost. After two timeouts the other one carries it: the flow is repaired all that time, no
/// matter which of its subflows has the lower number.
#[test]
fn data_sent_again_on_another_subflow_is_a_repair_whatever_their_numbers() {
    let settings = r#"
        [transport]
        preset = "textbook"
        handshake = "none"
        scheduler = "round-robin"
        ack_every = 1
        initial_window = 4
        initial_rto = "200 ms"
        [[events]]
        at = "0 s"
        link = "t->b"
        down = true
    "#;
    // The first of eight packets arrives over the short path, and the second one does not.
    let output = run_over_two(8, settings, SHORT_FIRST);
    let expected = [
        ("network", ROUND),
        ("timeout", 0.6 - ROUND),
        ("recovery", WAY + 3.0 * PACKET),
    ];
    agree(&output, &expected);
    // The first one does not.
    let output = run_over_two(8, settings, SHORT_LAST);
    let expected = [("timeout", 0.6), ("recovery", WAY + 3.0 * PACKET)];
    agree(&output, &expected);
}

/// A packet is lost once or twice, and the acknowledgement of the copy that arrives is lost, too: the sender waits for one more
/// timeout. The ones that brought the data still count, and the last one does not. The run goes on until the sender knows.
#[test]
fn a_timeout_after_the_end_does_not_take_those_before_it_away() {
    for (data_back, acks_down, acks_back, timeouts) in [
        ("100 ms", "150 ms", "250 ms", 0.2),
        ("500 ms", "550 ms", "700 ms", 0.6),
    ] {
        let settings = format!(
            r#"
            [stop]
            at = "2 s"
            [[events]]
            at = "0 s"
            link = "s->b"
            down = true
            [[events]]
            at = "{data_back}"
            link = "s->b"
            up = true
            [[events]]
            at = "{acks_down}"
            link = "s->a"
            down = true
            [[events]]
            at = "{acks_back}"
            link = "s->a"
            up = true
            [transport]
            preset = "textbook"
            handshake = "none"
            initial_rto = "200 ms"
            "#
        );
        let output = run(1, &settings);
        agree(&output, &[("timeout", timeouts), ("recovery", WAY)]);
    }
}

/// A flow that the end of the run cuts off is charged until then.
#[test]
fn a_flow_that_does_not_finish_is_charged_to_the_end() {
    let settings = r#"
        [stop]
        at = "1 ms"
        [transport]
        preset = "textbook"
        handshake = "none"
        ack_every = 1
        receive_window = "5792 B"
    "#;
    let output = run_group(
        100,
        40,
        settings,
        "controller = \"reno\"",
        ", start = \"300 us\"",
    );
    agree_until(700e-6, &output, &[("receive window", 700e-6)]);
    let settings = r#"
        queue = { limit = 8 }
        [stop]
        at = "100 ms"
        [transport]
        preset = "textbook"
        handshake = "none"
        ack_every = 1
    "#;
    // A timer that has not expired is no timeout yet.
    let output = run(10, settings);
    agree_until(0.1, &output, &[("network", 0.1)]);
    // The run ends in the second of two timeouts, and 50 ms after the first.
    let settings = r#"
        [[events]]
        at = "0 s"
        link = "s->b"
        down = true
        [stop]
        at = "250 ms"
        [transport]
        preset = "textbook"
        handshake = "none"
        ack_every = 1
        initial_rto = "200 ms"
    "#;
    let output = run(10, settings);
    let expected = [("timeout", 0.2), ("recovery", 0.05)];
    agree_until(0.25, &output, &expected);
}
