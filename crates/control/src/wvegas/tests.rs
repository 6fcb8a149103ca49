//! Rounds with given queueing delays, and what follows from them.

use crate::greedy_sender::{GreedySender, near, number};
use crate::{Change, Ecn, Loss, find};
use pathweave_units::Time;
use std::vec::Vec;

const BASE: Time = Time::from_micros(100);

/// Subflows with this base RTT that have nothing in flight from before.
fn wvegas(windows: &[f64]) -> GreedySender {
    with(&[], windows)
}

pub(super) fn with(given: &[(std::string::String, crate::Value)], windows: &[f64]) -> GreedySender {
    let subflows: Vec<_> = windows.iter().map(|&window| (window, 100)).collect();
    let mut connection = GreedySender::new("wvegas", given, &subflows);
    for path in &mut connection.paths {
        path.minimum_rtt = BASE;
    }
    // The first acknowledgement ends the round in which nothing was sent.
    for (r, &window) in windows.iter().enumerate() {
        connection.ack_after(r, BASE);
        connection.paths[r].window = window;
    }
    connection
}

/// The RTT that tells of this many packets in queues: diff = w (rtt - base) / rtt.
fn queued(window: f64, packets: f64) -> Time {
    Time::from_secs_f64(100e-6 * window / (window - packets))
}

/// A round of subflow `r` with this many packets in queues, and the window that it leaves.
fn round(connection: &mut GreedySender, r: usize, packets: f64) -> f64 {
    let rtt = queued(connection.window(r), packets);
    connection.round_after(r, rtt);
    connection.window(r)
}

#[test]
fn the_window_follows_the_packets_in_queues() {
    // Alone it aims at all ten.
    for (packets, window) in [
        (0.0, 41.0),
        (1.9, 41.0),
        (9.9, 41.0),
        (10.1, 39.0),
        (20.0, 39.0),
    ] {
        assert_eq!(round(&mut wvegas(&[40.0]), 0, packets), window, "{packets}");
    }
    // 50 / 125 us is the same number before and after rounding: diff is 10 exactly.
    let mut connection = wvegas(&[50.0]);
    connection.round_after(0, Time::from_micros(125));
    assert_eq!(connection.window(0), 50.0);
}

#[test]
fn alpha_is_a_share_of_the_total() {
    // With p packets in queues the rate is 30 - p or 10 - p in 100 us, the other's 10 or 30. p is
    // the share of 10 packets at p = 6.97 and p = 2.09.
    let aims = |windows: [f64; 2], packets: f64| {
        let mut connection = wvegas(&windows);
        round(&mut connection, 0, packets) - windows[0]
    };
    assert_eq!(aims([30.0, 10.0], 6.9), 1.0);
    assert_eq!(aims([30.0, 10.0], 7.1), -1.0);
    assert_eq!(aims([10.0, 30.0], 2.05), 1.0);
    assert_eq!(aims([10.0, 30.0], 2.12), -1.0);
    // A tenth would be 1: it is 2 at least.
    assert_eq!(aims([10.0, 90.0], 1.9), 1.0);
    assert_eq!(aims([10.0, 90.0], 2.1), -1.0);
}

#[test]
fn only_active_subflows_with_an_rtt_share() {
    // Alone it aims at 10 packets, beside the other at 7.
    let aims = |connection: &mut GreedySender| round(connection, 0, 9.0) - 30.0;
    assert_eq!(aims(&mut wvegas(&[30.0, 10.0])), -1.0);
    let mut connection = wvegas(&[30.0, 10.0]);
    connection.change(1, Change::Closed);
    assert_eq!(aims(&mut connection), 1.0);
    let mut connection = wvegas(&[30.0, 10.0]);
    round(&mut connection, 1, 0.0);
    connection.paths[1].smoothed_rtt = Time::ZERO;
    assert_eq!(aims(&mut connection), 1.0);
    // One that has closed is all that it knows of.
    let mut connection = wvegas(&[30.0, 1.0]);
    connection.change(0, Change::Closed);
    assert_eq!(round(&mut connection, 0, 10.5), 29.0);
}

#[test]
fn failed_subflows_have_no_share_until_they_recover() {
    for change in [Change::Failed, Change::StoodBy] {
        let mut connection = wvegas(&[30.0, 10.0]);
        connection.change(1, change);
        assert_eq!(round(&mut connection, 0, 9.0), 31.0, "10 packets alone");
        connection.change(1, Change::Recovered);
        assert_eq!(round(&mut connection, 0, 10.5), 30.0);
        assert_eq!(round(&mut connection, 0, 9.0), 29.0, "7 beside it");
    }
}

#[test]
fn rates_of_others_are_those_of_their_last_round() {
    let mut connection = wvegas(&[30.0, 10.0]);
    round(&mut connection, 1, 0.0); // 10 in 100 us from now on
    connection.paths[1].window = 1000.0;
    assert_eq!(round(&mut connection, 0, 6.9), 31.0);
    assert_eq!(round(&mut connection, 0, 8.5), 30.0);
    // One that opens again counts with what is known: 30 of 1030.
    connection.change(1, Change::Opened);
    assert_eq!(round(&mut connection, 0, 2.5), 31.0, "alpha is kept");
    assert_eq!(round(&mut connection, 0, 9.0), 30.0);
    assert_eq!(
        round(&mut connection, 0, 2.5),
        29.0,
        "and 2 since that round"
    );
}

#[test]
fn alpha_is_worked_out_where_it_is_reached() {
    let given = [number("initial_alpha", 5.0)];
    // 4.9 packets are too few, though the share of 40 in 2000 asks for 2.
    let mut connection = with(&given, &[40.0, 1960.0]);
    assert_eq!(round(&mut connection, 0, 4.9), 41.0);
    assert_eq!(round(&mut connection, 0, 5.1), 40.0);
    assert_eq!(round(&mut connection, 0, 2.1), 39.0);
}

#[test]
fn the_total_can_be_set() {
    let given = [number("total_alpha", 20.0)];
    assert_eq!(round(&mut with(&given, &[100.0]), 0, 19.9), 101.0);
    assert_eq!(round(&mut with(&given, &[100.0]), 0, 20.1), 99.0);
}

#[test]
fn the_mean_of_the_samples_counts() {
    let mut connection = wvegas(&[4.0]);
    // Mean 200 us: 2 of the 4 packets are in queues, the aim is 10 from then on.
    for micros in [100, 150, 250, 300] {
        connection.ack_after(0, Time::from_micros(micros));
    }
    assert_eq!(connection.window(0), 5.0);
    let given = [number("total_alpha", 1.0)];
    let mut connection = with(&given, &[5.0]);
    for micros in [100, 100, 200, 200, 300] {
        connection.ack_after(0, Time::from_micros(micros));
    }
    // Mean 180 us: 2.2 of 5 packets, more than 2.
    assert_eq!(connection.window(0), 4.0);
}

#[test]
fn rounds_begin_with_new_samples() {
    let mut connection = with(&[number("total_alpha", 1.0)], &[40.0]);
    assert_eq!(round(&mut connection, 0, 20.0), 39.0);
    assert_eq!(round(&mut connection, 0, 1.0), 40.0, "not the mean of both");
}

#[test]
fn two_samples_are_too_few() {
    for (samples, window) in [(2, 4.25), (3, 3.0)] {
        let mut connection = with(&[number("total_alpha", 1.0)], &[4.0]);
        for _ in 0..4 - samples {
            connection.ack(0, 1, 0);
        }
        for _ in 0..samples {
            connection.ack_after(0, Time::from_micros(300));
        }
        assert_eq!(connection.window(0), window);
    }
    // An idle round of slow start: a packet for the last acknowledgement too.
    let mut connection = wvegas(&[2.0]);
    connection.paths[0].ssthresh = 100.0;
    connection.ack_after(0, BASE);
    connection.ack_after(0, BASE);
    assert_eq!(connection.window(0), 4.0);
}

#[test]
fn slow_start_goes_on_while_queues_are_short() {
    let mut connection = wvegas(&[10.0]);
    connection.paths[0].ssthresh = 1000.0;
    connection.round_after(0, queued(19.0, 0.9));
    assert_eq!(connection.window(0), 20.0);
    assert_eq!(connection.ssthresh(0), 1000.0);
}

#[test]
fn slow_start_ends_with_more_than_gamma_packets_in_queues() {
    // 9 acknowledgements add a packet each; then there are 19, 1.1 of them in queues: 19 - 1.1 + 1.
    let mut connection = wvegas(&[10.0]);
    connection.paths[0].ssthresh = 1000.0;
    let rtt = queued(19.0, 1.1);
    connection.round_after(0, rtt);
    assert!(near(connection.window(0), 18.9, 1e-6));
    assert_eq!(connection.ssthresh(0), connection.window(0));
    // A larger gamma lets it go on.
    let mut connection = with(&[number("gamma", 2.0)], &[10.0]);
    connection.paths[0].ssthresh = 1000.0;
    connection.round_after(0, rtt);
    assert_eq!(connection.window(0), 20.0);
}

#[test]
fn exactly_gamma_packets_do_not_end_slow_start() {
    let mut connection = with(&[number("gamma", 10.0)], &[50.0]);
    connection.paths[0].ssthresh = 1000.0;
    for _ in 0..75 {
        // 50 * 25 / 125, with the same numbers before and after rounding.
        connection.unlimited_ack_after(0, Time::from_micros(125));
    }
    assert_eq!(
        (connection.window(0), connection.ssthresh(0)),
        (50.0, 1000.0)
    );
}

#[test]
fn the_end_of_slow_start_never_raises_the_window() {
    let mut connection = with(&[number("gamma", 0.0)], &[10.0]);
    connection.paths[0].ssthresh = 1000.0;
    let rtt = queued(19.0, 0.5);
    connection.round_after(0, rtt);
    assert_eq!(connection.window(0), 19.0);
}

#[test]
fn shrinking_is_not_followed_by_slow_start() {
    let mut connection = wvegas(&[40.0]);
    connection.paths[0].ssthresh = 40.0;
    assert_eq!(round(&mut connection, 0, 20.0), 39.0);
    assert_eq!(connection.ssthresh(0), 39.0);
    connection.ack_after(0, BASE);
    assert_eq!(connection.window(0), 39.0);
    connection.paths[0].ssthresh = 10.0;
    assert_eq!(round(&mut connection, 0, 21.0), 38.0);
    assert_eq!(connection.ssthresh(0), 10.0);
}

#[test]
fn a_doubled_queueing_delay_is_drained() {
    let given = [number("total_alpha", 2.0)];
    let micros = |micros| Time::from_micros(micros);
    let mut connection = with(&given, &[40.0]);
    connection.paths[0].ssthresh = 30.0;
    connection.round_after(0, micros(120)); // q = 20 us
    assert_eq!(connection.window(0), 39.0);
    connection.round_after(0, micros(139));
    assert_eq!(connection.window(0), 38.0);
    connection.round_after(0, micros(140));
    // 37 * 100 / 280, and ssthresh stays for slow start to lead there.
    assert!(near(connection.window(0), 37.0 / 2.8, 1e-9));
    assert_eq!(connection.ssthresh(0), 30.0);
    // q starts again: 150 us are not twice what has not been seen.
    connection.paths[0].window = 40.0;
    connection.round_after(0, micros(150));
    assert_eq!(connection.window(0), 39.0);
    connection.round_after(0, micros(140)); // q = 40 us
    connection.round_after(0, micros(179));
    assert_eq!(connection.window(0), 37.0);
    connection.round_after(0, micros(180));
    assert!(near(connection.window(0), 36.0 / 3.6, 1e-9));
}

#[test]
fn filling_the_own_queue_is_no_reason_to_drain_it() {
    let mut connection = wvegas(&[40.0]);
    for packets in [0.5, 1.5, 4.0, 9.0] {
        let window = connection.window(0);
        assert_eq!(round(&mut connection, 0, packets), window + 1.0);
    }
    let window = connection.window(0);
    assert_eq!(round(&mut connection, 0, 11.0), window - 1.0);
}

#[test]
fn windows_do_not_fall_below_their_minimum() {
    let given = [number("total_alpha", 1.0)];
    let mut connection = with(&given, &[3.0]);
    connection.paths[0].minimum_window = 2.5;
    connection.round_after(0, Time::from_micros(1000));
    assert_eq!(connection.window(0), 2.5);
    // Drained, but not below; and what is below does not stay there.
    let mut connection = with(&given, &[4.0]);
    connection.round_after(0, Time::from_micros(250));
    assert_eq!(connection.window(0), 3.0);
    connection.round_after(0, Time::from_micros(900));
    assert_eq!(connection.window(0), 2.0);
    let mut connection = with(&given, &[4.0]);
    connection.paths[0].minimum_window = 5.0;
    connection.round_after(0, Time::from_micros(1000));
    assert_eq!(connection.window(0), 5.0);
}

#[test]
fn losses_are_those_of_reno_and_start_a_new_round() {
    for (loss, left) in [(Loss::FastRetransmit, 20.0), (Loss::Timeout, 1.0)] {
        let mut connection = with(&[number("initial_alpha", 5.0)], &[40.0, 1960.0]);
        assert_eq!(round(&mut connection, 0, 6.0), 39.0);
        assert_eq!(round(&mut connection, 0, 4.0), 38.0, "alpha is 2");
        for _ in 0..3 {
            connection.ack_after(0, Time::from_millis(1));
        }
        connection.paths[0].window = 40.0;
        connection.loss(0, loss);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (left, 20.0));

        connection.paths[0].window = 40.0;
        let in_flight = connection.paths[0].sent - connection.paths[0].acked;
        for _ in 0..in_flight {
            connection.ack_after(0, queued(40.0, 4.0));
            assert_eq!(
                connection.window(0),
                40.0,
                "what was in flight is not a round yet"
            );
        }
        // Less than 5: alpha has not been reached since.
        connection.ack_after(0, queued(40.0, 4.0));
        assert_eq!(connection.window(0), 41.0);
    }
}

#[test]
fn recovery_neither_samples_nor_grows() {
    let mut connection = wvegas(&[40.0]);
    connection.paths[0].ssthresh = 100.0;
    connection.ack_as(0, 1, 0, true, true);
    assert_eq!(connection.window(0), 40.0);
}

#[test]
fn windows_that_are_not_used_do_not_grow() {
    for (ssthresh, acks) in [(100.0, 1), (1.0, 60), (100.0, 60)] {
        let mut connection = wvegas(&[40.0]);
        connection.paths[0].ssthresh = ssthresh;
        for _ in 0..acks {
            connection.unlimited_ack_after(0, BASE);
        }
        assert_eq!(connection.window(0), 40.0);
    }
}

#[test]
fn marks_mean_nothing() {
    let entry = find("wvegas").unwrap();
    assert_eq!((entry.ecn)(&entry.defaults()), Ecn::Off);
    for (name, value) in [
        ("total_alpha", 10.0),
        ("gamma", 1.0),
        ("initial_alpha", 2.0),
    ] {
        assert_eq!(entry.defaults().number(name), value);
    }
}

/// Packets in the queues of fluid links after 600 rounds: subflow r goes through link `links[r]`,
/// which holds `capacity` packets in 100 us and queues the rest.
fn fluid_queues(capacities: &[f64], links: &[usize]) -> Vec<f64> {
    let mut connection = wvegas(&std::vec![5.0; links.len()]);
    let excess = |connection: &GreedySender, link: usize| {
        let through = |r: &usize| links[*r] == link;
        let sum: f64 = (0..links.len())
            .filter(through)
            .map(|r| connection.window(r))
            .sum();
        f64::max(sum - capacities[link], 0.0)
    };
    for path in &mut connection.paths {
        path.ssthresh = f64::INFINITY;
    }
    for _ in 0..600 {
        for (r, &link) in links.iter().enumerate() {
            let delay = 1.0 + excess(&connection, link) / capacities[link];
            connection.round_after(r, Time::from_secs_f64(100e-6 * delay));
        }
    }
    (0..capacities.len())
        .map(|link| excess(&connection, link))
        .collect()
}

#[test]
fn total_alpha_packets_are_queued_at_equilibrium() {
    let alone = fluid_queues(&[100.0], &[0]);
    assert!((alone[0] - 10.0).abs() <= 1.0, "{alone:?}");
    // Two subflows through one link: 5 packets of each.
    let shared = fluid_queues(&[100.0], &[0, 0]);
    assert!((shared[0] - 10.0).abs() <= 2.0, "{shared:?}");
    // Through links of their own, shared out by the rates: 7.5 and 2.5 packets.
    let two = fluid_queues(&[150.0, 50.0], &[0, 1]);
    assert!(
        (two[0] - 7.5).abs() <= 1.0 && (two[1] - 2.5).abs() <= 1.0,
        "{two:?}"
    );
}
