//! The two halves of a connection share nothing but packets.

use super::tests::Wishes;
use super::*;
use crate::ends::ReceivingSubflow;
use crate::output::PacketShape;
use crate::segment::Kind;
use crate::{Config, Handshake};
use pathweave_control::Feedback;
use proptest::prelude::*;
use std::sync::Arc;

fn opening(flow: u32, subflows: u32, packets: u64) -> Opening {
    let entry = pathweave_control::find("uncoupled").expect("a controller");
    let config = Config {
        handshake: Handshake::None,
        ..Config::textbook()
    };
    Opening {
        size: Some(Bytes::new(packets * u64::from(config.maximum_segment))),
        ecn_echo: Some(u8::MAX),
        subflows,
        ..Opening::new(flow, Arc::new(config), (entry.build)(&entry.defaults()))
    }
}

/// One run of a flow between two halves that stand at some places, with losses by a rule. Gives all packets
/// that were seen, apart from where they went, and all timers, apart from their places.
fn packets(shift: (u32, u32), subflows: u32, losses: &[bool]) -> Vec<String> {
    let (mut sending, mut receiving) = (Sending::default(), Receiving::default());
    let mut none = Wishes::default();
    // Others take the first places of either half.
    for other in 0..shift.0 {
        sending.open(opening(1000 + other, 2, 5), ReceivingSubflow(0));
    }
    for other in 0..shift.1 {
        receiving.open(opening(2000 + other, 3, 5).reception());
    }
    let (source, _) = open(&mut sending, &mut receiving, opening(7, subflows, 40));
    let mut seen = Vec::new();
    let mut now = Time::ZERO;
    sending.start(source, now, &mut none);
    let mut wishes = none;
    let mut lost = losses.iter().copied().cycle();
    while wishes.finished == 0 || wishes.closed == 0 {
        now += Time::from_micros(50);
        let packets = std::mem::take(&mut wishes.packets);
        if packets.is_empty() {
            let due = wishes.timers.iter().map(|&(_, at)| at).min();
            now = now.max(due.expect("a timer or a packet"));
        }
        for (shape, segment) in packets {
            seen.push(format!(
                "{:?}",
                (
                    Segment { to: 0, ..*segment },
                    segment.sack_blocks(&segment.blocks)
                )
            ));
            let is_lost = lost.next() == Some(true) && segment.kind == Kind::Data;
            match (segment.destination(), is_lost) {
                (End::Sending(_), true) => sending.on_lost(&segment),
                (End::Receiving(_), true) => receiving.on_lost(&segment),
                (End::Sending(_), false) => {
                    let blocks = &segment.blocks;
                    sending.on_packet(*segment, blocks, arrived(shape), now, &mut wishes);
                }
                (End::Receiving(_), false) => {
                    receiving.on_packet(*segment, arrived(shape), now, &mut wishes);
                }
            }
        }
        let (due, later) = wishes.timers.iter().partition(|&&(_, at)| at <= now);
        wishes.timers = later;
        let due: Vec<(Timer, Time)> = due;
        for (timer, at) in due {
            seen.push(format!("{} {} {:?}", timer.flow, timer.subflow, timer.kind));
            if timer.kind.is_of_receiver() {
                receiving.on_timer(timer, at, &mut wishes);
            } else {
                sending.on_timer(timer, at, &mut wishes);
            }
        }
    }
    seen
}

fn arrived(shape: PacketShape) -> Arrived {
    Arrived {
        size: shape.size,
        congestion_experienced: false,
        feedback: Feedback::None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Wherever the halves stand among others, they exchange the same packets and set the same timers.
    #[test]
    fn places_do_not_matter(
        shift in (0u32..5, 0u32..5),
        subflows in 1u32..4,
        losses in prop::collection::vec(prop::bool::weighted(0.1), 20),
    ) {
        prop_assume!(losses.iter().any(|lost| !lost));
        prop_assert_eq!(packets((0, 0), subflows, &losses), packets(shift, subflows, &losses));
    }
}

/// All that a half does follows from what it is given: with the other half gone, it goes on as before.
#[test]
fn a_half_goes_on_without_the_other() {
    let (mut sending, mut receiving) = (Sending::default(), Receiving::default());
    let (source, destination) = open(&mut sending, &mut receiving, opening(3, 1, 4));
    let mut wishes = Wishes::default();
    sending.start(source, Time::ZERO, &mut wishes);
    let data = std::mem::take(&mut wishes.packets);
    drop(sending);
    for (shape, segment) in &data {
        receiving.on_packet(
            **segment,
            arrived(*shape),
            Time::from_micros(9),
            &mut wishes,
        );
    }
    assert_eq!(
        wishes.finished, 1,
        "the last packet says that it is the last"
    );
    assert!(receiving.is_finished(destination));
    // What comes again is answered again: nobody has said that the source knows.
    let before = wishes.packets.len();
    let (shape, segment) = data[3];
    receiving.on_packet(*segment, arrived(shape), Time::from_micros(10), &mut wishes);
    assert_eq!(wishes.packets.len(), before + 1);
    assert_eq!(wishes.finished, 1);
}

#[test]
fn a_timer_of_a_flow_that_is_done_does_nothing_to_the_next_at_its_place() {
    let config = Config {
        handshake: Handshake::None,
        ack_every: 8,
        ack_at_first: 0,
        ..Config::textbook()
    };
    let mut receiving = Receiving::default();
    let mut wishes = Wishes::default();
    let mut timers = Vec::new();
    for flow in [4, 5] {
        let mut opening = opening(flow, 1, 9);
        opening.config = Arc::new(config.clone());
        let mut sending = Sending::default();
        let (source, destination) = open(&mut sending, &mut receiving, opening);
        let mut sent = Wishes::default();
        sending.start(source, Time::ZERO, &mut sent);
        let (shape, segment) = sent.packets[0];
        receiving.on_packet(*segment, arrived(shape), Time::ZERO, &mut wishes);
        timers.push(wishes.timers.pop().expect("an acknowledgement waits"));
        if flow == 4 {
            receiving.release(destination);
        }
    }
    let [(old, at), (new, also_at)] = timers[..] else {
        panic!("two timers");
    };
    assert_eq!((old.place, at), (new.place, also_at));
    receiving.on_timer(old, at, &mut wishes);
    assert!(wishes.packets.is_empty(), "the timer is of flow 4");
    receiving.on_timer(new, at, &mut wishes);
    assert_eq!(wishes.packets.len(), 1);
}
