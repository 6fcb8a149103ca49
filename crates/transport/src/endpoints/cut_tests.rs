//! What a cut is: how windows come into force, what they grow by meanwhile and what losses halve.

use super::tests::{carry, numbers_sent, started, started_established};
use super::*;
use crate::Config;
use crate::output::TimerKind;
use crate::{ReceiveWindow, Recovery, Reduction, SsthreshFrom};
use pathweave_units::Bytes;

/// A flow with 20 packets in flight in congestion avoidance, under Reno that answers marks.
fn twenty_in_flight(config: Config) -> (Endpoints, ConnectionId, super::tests::Wishes) {
    let config = Config {
        initial_window: 20.0,
        initial_ssthresh: 10.0,
        ack_every: 1,
        ..config
    };
    let started = started("dctcp", 1000, config);
    assert_eq!(started.2.packets.len(), 20);
    started
}

fn path(endpoints: &Endpoints, id: ConnectionId) -> pathweave_control::Path {
    let subflow = endpoints.subflows(id).next().expect("a subflow");
    endpoints.subflow(subflow).path.clone()
}

/// Lets the twenty packets arrive one after the other, the first marked, and their acknowledgements come
/// back at once. Returns how many packets left after each.
fn sent_in_the_round(config: Config) -> (Vec<usize>, f64) {
    let (mut endpoints, id, mut wishes) = twenty_in_flight(config);
    let arriving = std::mem::take(&mut wishes.packets);
    let mut sent = Vec::new();
    for (micros, packet) in (100..).zip(arriving) {
        let mut one = super::tests::Wishes::default();
        one.packets.push(packet);
        let now = Time::from_micros(micros);
        carry(&mut endpoints, now, &[0], &mut one); // the data
        carry(&mut endpoints, now, &[], &mut one); // its acknowledgement
        sent.push(one.packets.len());
    }
    let window = path(&endpoints, id).window;
    (sent, window)
}

#[test]
fn at_once_nothing_leaves_until_the_flight_fits() {
    // DCTCP's alpha is 1 in the beginning: the mark halves 20 to 10. Without growth no more than that.
    let config = Config {
        growth_in_cut_round: false,
        ..Config::textbook()
    };
    let (sent, window) = sent_in_the_round(config);
    assert_eq!(window, 10.0);
    assert_eq!(&sent[..10], &[0; 10]);
    assert_eq!(&sent[10..], &[1; 10]);
}

#[test]
fn proportional_rate_reduction_spreads_the_cut_over_the_round() {
    let config = Config {
        reduction: Reduction::Proportional,
        growth_in_cut_round: false,
        ..Config::textbook()
    };
    let (sent, window) = sent_in_the_round(config);
    assert_eq!(window, 10.0);
    assert_eq!(sent[..18], [1, 0].repeat(9));
    assert_eq!(
        sent.iter().sum::<usize>(),
        10,
        "the flight ends at the new window"
    );
}

#[test]
fn growth_in_the_round_of_a_cut_is_a_setting_of_its_own() {
    for reduction in [Reduction::AtOnce, Reduction::Proportional] {
        let config = Config {
            reduction,
            growth_in_cut_round: true,
            ..Config::textbook()
        };
        let (_, window) = sent_in_the_round(config);
        // 19 unmarked acknowledgements at windows of 10 and more.
        assert!((11.7..12.0).contains(&window), "{reduction:?}: {window}");
    }
}

#[test]
fn growth_by_marked_acknowledgements_is_a_setting() {
    for (controller, grows) in [("dctcp", true), ("dcm", true), ("amp", false)] {
        let windows = [false, true].map(|growth_by_marked_acks| {
            let config = Config {
                growth_by_marked_acks,
                initial_window: 20.0,
                initial_ssthresh: 10.0,
                ack_every: 1,
                ..Config::textbook()
            };
            let (mut endpoints, id, mut wishes) = started(controller, 1000, config);
            let all: Vec<_> = (0..20).collect();
            carry(&mut endpoints, Time::from_micros(100), &all, &mut wishes);
            carry(&mut endpoints, Time::from_micros(200), &[], &mut wishes);
            path(&endpoints, id).window
        });
        // Twenty marked acknowledgements: one cut, and a packet a round of growth or none.
        let [without, with] = windows;
        if grows {
            assert_eq!(without, 10.0, "{controller}");
            assert!((11.7..12.0).contains(&with), "{controller}: {with}");
        } else {
            assert_eq!(without, with, "{controller} says itself what marks do");
            assert!(without > 15.0, "{controller}: {without}");
        }
    }
}

#[test]
fn the_window_grows_again_after_the_round_of_the_cut() {
    let config = Config {
        growth_in_cut_round: false,
        ..Config::textbook()
    };
    let (mut endpoints, id, mut wishes) = twenty_in_flight(config);
    carry(&mut endpoints, Time::from_micros(100), &[0], &mut wishes);
    carry(&mut endpoints, Time::from_micros(200), &[], &mut wishes);
    assert_eq!(path(&endpoints, id).window, 10.0);
    // The packets that were sent after the cut.
    carry(&mut endpoints, Time::from_micros(300), &[], &mut wishes);
    carry(&mut endpoints, Time::from_micros(400), &[], &mut wishes);
    assert!(path(&endpoints, id).window > 10.5);
}

#[test]
fn a_loss_halves_the_flight_or_the_window() {
    for (from, expected) in [(SsthreshFrom::Window, 20.0), (SsthreshFrom::Flight, 10.0)] {
        // The window is 40, and the connection's receive window lets 20 packets go.
        let config = Config {
            ssthresh_from: from,
            initial_window: 40.0,
            initial_ssthresh: 10.0,
            receive_window: ReceiveWindow::Connection(Bytes::new(20 * 1448)),
            ack_every: 1,
            ..Config::textbook()
        };
        let (mut endpoints, id, mut wishes) = started("reno", 1000, config);
        assert_eq!(wishes.packets.len(), 20);
        let first = wishes.packets.remove(0).1;
        endpoints.on_lost(&first);
        carry(&mut endpoints, Time::from_micros(100), &[], &mut wishes);
        carry(&mut endpoints, Time::from_micros(200), &[], &mut wishes);
        assert_eq!(path(&endpoints, id).ssthresh, expected, "{from:?}");
    }
}

#[test]
fn a_window_that_the_receiver_blocks_does_not_grow() {
    let config = Config {
        initial_window: 10.0,
        receive_window: ReceiveWindow::Subflow(Bytes::new(16 * 1448)),
        ack_every: 1,
        ..Config::textbook()
    };
    let (mut endpoints, id, mut wishes) = started("reno", 1000, config);
    for micros in 1..20 {
        carry(
            &mut endpoints,
            Time::from_micros(100 * micros),
            &[],
            &mut wishes,
        );
    }
    // In slow start, and not in 2^9 packets.
    let window = path(&endpoints, id).window;
    assert!((16.0..18.0).contains(&window), "{window}");
}

#[test]
fn without_limited_transmit_duplicates_release_nothing_under_sack() {
    for (limited_transmit, expected) in [(true, vec![10, 11]), (false, vec![])] {
        let config = Config {
            limited_transmit,
            recovery: Recovery::Sack,
            ..Config::textbook()
        };
        let (mut endpoints, _, mut wishes) = started("reno", 100, config);
        let first = wishes.packets.remove(0).1;
        endpoints.on_lost(&first);
        let third = wishes.packets.split_off(2);
        carry(&mut endpoints, Time::from_micros(100), &[], &mut wishes);
        carry(&mut endpoints, Time::from_micros(200), &[], &mut wishes);
        assert_eq!(numbers_sent(&wishes), expected);
        // The third duplicate begins recovery: what is in flight counts again, and the lost packet leaves.
        wishes.packets = third;
        wishes.packets.truncate(1);
        carry(&mut endpoints, Time::from_micros(300), &[], &mut wishes);
        carry(&mut endpoints, Time::from_micros(400), &[], &mut wishes);
        assert_eq!(numbers_sent(&wishes), [0]);
    }
}

#[test]
fn smoothed_rtts_are_of_the_first_packet_that_an_acknowledgement_covers() {
    let config = Config {
        initial_window: 2.0,
        ack_at_first: 0,
        ..Config::textbook()
    };
    let (mut endpoints, id, mut wishes) = started("reno", 1000, config);
    carry(&mut endpoints, Time::from_micros(100), &[], &mut wishes);
    carry(&mut endpoints, Time::from_micros(200), &[], &mut wishes);
    assert_eq!(path(&endpoints, id).smoothed_rtt, Time::from_micros(200));
    // Four packets have left at 200 us. The second pair is held back: the acknowledgement of packets 2
    // and 3 comes alone.
    let mut packets = std::mem::take(&mut wishes.packets);
    assert_eq!(packets.len(), 4);
    // As if the second of the pair had left 30 us later.
    packets[1].1.segment.sent = Time::from_micros(230);
    wishes.packets = packets[..2].to_vec();
    carry(&mut endpoints, Time::from_micros(300), &[], &mut wishes);
    carry(&mut endpoints, Time::from_micros(440), &[], &mut wishes);
    let path = path(&endpoints, id);
    // 240 us since the first packet was sent, 210 since the last.
    assert_eq!(path.smoothed_rtt, Time::from_micros(200 + 5));
    assert_eq!(path.latest_rtt, Time::from_micros(210));
    assert_eq!(path.minimum_rtt, Time::from_micros(200));
}

#[test]
fn an_answer_on_an_open_connection_starts_with_the_smallest_timeout() {
    for (established, expected) in [(true, Time::from_millis(200)), (false, Time::from_secs(1))] {
        let (_, _, wishes) = started_established("reno", 10, Config::textbook(), established);
        let timer = wishes
            .timers
            .iter()
            .find_map(|&(timer, at)| (timer.kind == TimerKind::Retransmission).then_some(at));
        assert_eq!(timer, Some(expected));
    }
}

/// Twenty packets are in flight and the first is lost: how many leave with each of the nineteen
/// acknowledgements, retransmissions included.
fn sent_in_recovery(recovery: Recovery) -> (Vec<usize>, u32) {
    let config = Config {
        reduction: Reduction::Proportional,
        growth_in_cut_round: false,
        recovery,
        ..Config::textbook()
    };
    let (mut endpoints, id, mut wishes) = twenty_in_flight(config);
    let mut arriving = std::mem::take(&mut wishes.packets);
    let first = arriving.remove(0).1;
    endpoints.on_lost(&first);
    let mut sent = Vec::new();
    for (micros, packet) in (100..).zip(arriving) {
        let mut one = super::tests::Wishes::default();
        one.packets.push(packet);
        let now = Time::from_micros(micros);
        carry(&mut endpoints, now, &[], &mut one);
        carry(&mut endpoints, now, &[], &mut one);
        sent.push(one.packets.len());
    }
    (sent, path(&endpoints, id).in_flight)
}

#[test]
fn recovery_from_a_loss_sends_in_proportion() {
    for recovery in [Recovery::Sack, Recovery::NewReno] {
        let (sent, in_flight) = sent_in_recovery(recovery);
        // Two by limited transmit. The third duplicate is the loss, and the lost packet leaves at once.
        assert_eq!(sent[..3], [1, 1, 1], "{recovery:?}");
        // Half of what is delivered afterwards, so that the flight ends at half of the window.
        assert!(
            sent[3..].iter().all(|&count| count <= 1),
            "{recovery:?}: {sent:?}"
        );
        assert!(
            (9..=11).contains(&in_flight),
            "{recovery:?}: {in_flight}, {sent:?}"
        );
    }
}

#[test]
fn a_marked_acknowledgement_that_delivers_nothing_blocks_no_window() {
    let config = Config {
        reduction: Reduction::Proportional,
        growth_in_cut_round: false,
        ..Config::textbook()
    };
    let (mut endpoints, id, mut wishes) = twenty_in_flight(config);
    // All arrive, and the acknowledgement of the last overtakes the others, one of which has a mark.
    carry(&mut endpoints, Time::from_micros(100), &[3], &mut wishes);
    wishes.packets.reverse();
    carry(&mut endpoints, Time::from_micros(200), &[], &mut wishes);
    assert!(path(&endpoints, id).in_flight >= 10, "it goes on sending");
    for micros in 3..20 {
        carry(
            &mut endpoints,
            Time::from_micros(100 * micros),
            &[],
            &mut wishes,
        );
    }
    assert!(path(&endpoints, id).window > 10.0);
}
