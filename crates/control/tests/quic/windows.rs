//! Windows in bytes, and what else a path may send.

use super::stack::Stack;
use super::{MS, ZERO, lose_one, one_path, times};
use pathweave_control::controllers::{Rcp, Reno, Uncoupled};
use pathweave_control::{Ack, Acknowledged, Connection, Ecn, Feedback, Start, registry};
use pathweave_units::{Bytes, Rate};

#[test]
fn what_was_not_sent_cannot_be_acknowledged() {
    let mut stack = one_path(&Reno::default());
    let now = stack.now;
    for _ in 0..5 {
        stack
            .connection
            .on_packet_acked(ZERO, Bytes::new(1000), now);
        stack.connection.on_packet_gone(ZERO, Bytes::new(1000));
    }
    stack.connection.on_window_limited(ZERO);
    stack.connection.on_ack(
        ZERO,
        &Acknowledged {
            now,
            rtt: Some(MS),
            ..Acknowledged::default()
        },
    );
    assert_eq!(stack.window(0), 10.0);
    assert_eq!(stack.connection.in_flight(ZERO), Some(Bytes::ZERO));
}

#[test]
fn another_packet_size_keeps_the_window_in_bytes() {
    for entry in registry().iter().filter(|entry| entry.scheme.is_none()) {
        let connection =
            Connection::new((entry.build)(&entry.defaults()), Ecn::Off, Start::default());
        let mut stack = Stack::new(connection);
        stack.open(0, times(10));
        for _ in 0..3 {
            stack.round(0);
        }
        lose_one(&mut stack);
        stack.round(0);
        let bytes = |stack: &Stack| (1000.0 * stack.window(0), 1000.0 * stack.ssthresh(0));
        let (window, ssthresh) = bytes(&stack);
        stack.set_packet_size(0, 1250);
        let rescaled = (1250.0 * stack.window(0), 1250.0 * stack.ssthresh(0));
        assert!(
            (rescaled.0 - window).abs() < 1e-6 * window,
            "{}",
            entry.name
        );
        assert!(
            (rescaled.1 - ssthresh).abs() < 1e-6 * ssthresh,
            "{}",
            entry.name
        );
        // Growth goes on from there: at most a packet or so a round in congestion avoidance.
        stack.drain(0);
        stack.round(0);
        let after = 1250.0 * stack.window(0);
        assert!(
            after >= 0.8 * window && after < window + 5.0 * 1250.0,
            "{}: {after} of {window}",
            entry.name
        );
    }
    // The window does not fall below the minimum in packets.
    let mut stack = one_path(&Reno::default());
    stack.set_packet_size(0, 9000);
    assert_eq!(stack.window(0), 2.0);
    stack.set_packet_size(0, 0);
    assert_eq!(stack.window(0), 2.0, "there are no packets without bytes");
}

#[test]
fn pacing_is_the_controllers_or_a_little_faster_than_the_window() {
    let mut stack = one_path(&Reno::default());
    assert_eq!(stack.connection.pacing_rate(ZERO), None, "no RTT yet");
    stack.round(0);
    // 20 packets of 8,000 bits in 10 ms: 16 Mbps, and twice that in slow start.
    assert_eq!(stack.window(0), 20.0);
    assert_eq!(
        stack.connection.pacing_rate(ZERO),
        Some(Rate::from_mbps(32))
    );
    let now = stack.now;
    stack.connection.on_loss(ZERO, now, false, now);
    assert_eq!(
        stack.connection.pacing_rate(ZERO),
        Some(Rate::from_mbps(10))
    );
    // RCP paces at what switches say.
    let mut stack = one_path(&Rcp::default());
    stack.round(0);
    let sent = stack.now;
    stack
        .connection
        .on_packet_sent(ZERO, Bytes::new(1000), sent);
    stack
        .connection
        .on_packet_acked(ZERO, Bytes::new(1000), sent);
    let feedback = Feedback::Rcp {
        rate: 5e6,
        rtt: 0.01,
    };
    let told = Acknowledged {
        now: sent,
        feedback,
        ..Acknowledged::default()
    };
    stack.connection.on_ack(ZERO, &told);
    assert_eq!(stack.connection.pacing_rate(ZERO), Some(Rate::from_mbps(5)));
    assert!(matches!(
        stack.connection.header(ZERO, sent),
        Feedback::Rcp { .. }
    ));
}

#[test]
fn a_silent_path_starts_again_with_the_initial_window() {
    let mut stack = one_path(&Uncoupled::default());
    for _ in 0..3 {
        stack.round(0);
    }
    stack.drain(0);
    let (window, ssthresh) = (stack.window(0), stack.ssthresh(0));
    assert!(window > 70.0);
    // The last packet left 10 ms ago. A probe timeout is at least 36 ms: the RTT, 1 ms, and 25 ms that the peer may wait.
    let mut soon = stack.clone();
    soon.now = soon.now.saturating_add(times(20));
    soon.send(0, true);
    assert_eq!(soon.window(0), window);
    stack.now = stack.now.saturating_add(times(100));
    let mut kept = stack.clone();
    stack.send(0, true);
    assert_eq!((stack.window(0), stack.ssthresh(0)), (10.0, ssthresh));
    // What is still in flight keeps the clock going.
    kept.now = stack.now;
    let mut busy = soon;
    busy.now = busy.now.saturating_add(times(100));
    busy.send(0, true);
    assert_eq!(busy.window(0), window);
    // And a transport may do without.
    let start = Start {
        after_idle: false,
        ..Start::default()
    };
    let mut never = Stack::new(Connection::of(&Reno::default(), start).unwrap());
    never.open(0, times(10));
    for _ in 0..3 {
        never.round(0);
    }
    never.drain(0);
    let window = never.window(0);
    never.now = never.now.saturating_add(times(10_000));
    never.send(0, true);
    assert_eq!(never.window(0), window);
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    let mut stack = one_path(&Reno::default());
    for _ in 0..50 {
        stack.send(0, true);
        stack.acknowledge(0, 0);
    }
    assert_eq!(stack.window(0), 10.0);
    // Unless pacing is what keeps it from being used.
    for _ in 0..5 {
        stack.send(0, true);
        stack.connection.on_window_limited(ZERO);
        stack.acknowledge(0, 0);
    }
    assert_eq!(stack.window(0), 15.0);
    stack.round(0);
    assert_eq!(stack.window(0), 30.0);
}

#[test]
fn many_small_packets_open_the_window_as_their_bytes_do() {
    let mut stack = one_path(&Reno::default());
    let (now, small) = (stack.now, Bytes::new(50));
    for _ in 0..200 {
        stack.connection.on_packet_sent(ZERO, small, now);
    }
    for _ in 0..200 {
        stack.connection.on_packet_acked(ZERO, small, now);
    }
    stack.connection.on_window_limited(ZERO);
    stack.connection.on_ack(
        ZERO,
        &Acknowledged {
            now,
            rtt: Some(MS),
            ..Acknowledged::default()
        },
    );
    // 10,000 bytes.
    assert!(stack.window(0) <= 20.0, "{}", stack.window(0));
}

#[test]
fn an_acknowledgement_is_of_one_packet_on_a_full_window_unless_it_says_otherwise() {
    let ack = Ack::default();
    assert_eq!((ack.packets, ack.ce, ack.rtt), (1, 0, None));
    assert!(ack.lets_window_grow() && ack.feedback == Feedback::None);
}
