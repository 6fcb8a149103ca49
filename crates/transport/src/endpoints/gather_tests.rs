//! Tests of receivers that gather packets: which ACKs they send, and how many marks these echo.

use super::tests::{Whole, Wishes, started};
use super::*;
use crate::output::{PacketShape, TimerKind};
use crate::{Config, Recovery};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn us(micros: u64) -> Time {
    Time::from_micros(micros)
}

fn config(gather: Time) -> Config {
    Config {
        ack_gather: gather,
        ack_at_first: 0,
        initial_window: 200.0,
        ..Config::textbook()
    }
}

/// An ACK: when it left, the number it expects next, the marks it echoes and its blocks.
type Ack = (Time, u32, u8, usize);

/// A receiver, and the data packets of one window for it.
struct Receiver {
    endpoints: Endpoints,
    data: Vec<(PacketShape, Whole)>,
    timers: Vec<(Timer, Time)>,
    acks: Vec<Ack>,
    finished: u32,
}

impl Receiver {
    fn new(packets: u64, config: Config) -> Receiver {
        let (endpoints, _, wishes) = started("dctcp", packets, config);
        Receiver {
            endpoints,
            data: wishes.packets,
            timers: Vec::new(),
            acks: Vec::new(),
            finished: 0,
        }
    }

    fn take(&mut self, now: Time, wishes: Wishes) {
        self.finished += wishes.finished;
        self.timers.extend(wishes.timers);
        for (_, ack) in wishes.packets {
            let blocks = ack.segment.sack_blocks(&ack.blocks).len();
            self.acks.push((now, ack.number, ack.ce_echo, blocks));
        }
    }

    /// Lets timers fire that are due before a time.
    fn until(&mut self, end: Time) {
        loop {
            let due = (0..self.timers.len()).min_by_key(|&place| self.timers[place].1);
            let Some(place) = due.filter(|&place| self.timers[place].1 < end) else {
                return;
            };
            let (timer, at) = self.timers.remove(place);
            let mut wishes = Wishes::default();
            self.endpoints.on_timer(timer, at, &mut wishes);
            self.take(at, wishes);
        }
    }

    /// A data packet arrives.
    fn arrive(&mut self, number: usize, marked: bool, now: Time) {
        self.until(now);
        let (shape, packet) = self.data[number];
        let arrived = Arrived {
            size: shape.size,
            congestion_experienced: marked,
            feedback: shape.feedback,
        };
        let mut wishes = Wishes::default();
        let out = &mut wishes;
        self.endpoints
            .on_packet(&packet, &packet.blocks, arrived, now, out);
        self.take(now, wishes);
    }
}

#[test]
fn one_ack_answers_what_arrives_within_the_time() {
    let mut receiver = Receiver::new(1000, config(us(10)));
    for (number, at) in [100, 102, 104, 106, 110].into_iter().enumerate() {
        receiver.arrive(number, false, us(at));
    }
    assert_eq!(receiver.acks, []);
    receiver.until(us(1000));
    assert_eq!(receiver.acks, [(us(110), 5, 0, 0)]);
    let gathering = receiver.timers.iter();
    let kinds = gathering.filter(|(timer, _)| timer.kind == TimerKind::Gathering);
    assert_eq!(kinds.count(), 0, "one timer for a bundle");
}

#[test]
fn single_packets_are_acknowledged_as_without_gathering() {
    let mut receiver = Receiver::new(1000, config(us(10)));
    for number in 0..3 {
        receiver.arrive(number, false, us(100 + 20 * number as u64));
    }
    receiver.until(us(1000));
    assert_eq!(receiver.acks, [(us(130), 2, 0, 0)], "every second packet");
    receiver.until(Time::from_secs(1));
    let delayed = us(150) + Config::textbook().ack_timeout;
    assert_eq!(receiver.acks[1..], [(delayed, 3, 0, 0)]);
}

#[test]
fn a_young_subflow_acknowledges_single_packets() {
    let config = Config {
        ack_at_first: 16,
        ..config(us(10))
    };
    let mut receiver = Receiver::new(1000, config);
    receiver.arrive(0, false, us(100));
    receiver.arrive(1, false, us(120));
    receiver.arrive(2, false, us(121));
    receiver.until(us(1000));
    assert_eq!(receiver.acks, [(us(110), 1, 0, 0), (us(130), 3, 0, 0)]);
}

#[test]
fn sixty_four_kilobytes_are_acknowledged_without_waiting() {
    let mut receiver = Receiver::new(1000, config(us(1000)));
    for number in 0..100 {
        receiver.arrive(number, false, us(100));
    }
    assert_eq!(receiver.acks, [(us(100), 45, 0, 0), (us(100), 90, 0, 0)]);
    receiver.until(us(2000));
    assert_eq!(receiver.acks[2..], [(us(1100), 100, 0, 0)]);
}

#[test]
fn the_last_segment_and_a_complete_flow_end_a_bundle() {
    let mut receiver = Receiver::new(5, config(us(10)));
    for number in 0..5 {
        receiver.arrive(number, false, us(100));
    }
    assert_eq!(receiver.acks, [(us(100), 5, 0, 0)]);
    assert_eq!(receiver.finished, 1);
}

#[test]
fn a_packet_out_of_order_ends_a_bundle_and_is_acknowledged_by_itself() {
    let mut receiver = Receiver::new(1000, config(us(10)));
    for (number, at) in [(0, 100), (1, 101), (3, 102), (4, 103), (2, 104), (5, 105)] {
        receiver.arrive(number, false, us(at));
    }
    receiver.until(us(1000));
    let expected = [
        (us(102), 2, 0, 0),
        (us(102), 2, 0, 1),
        (us(103), 2, 0, 1),
        // The gap is filled.
        (us(114), 6, 0, 0),
    ];
    assert_eq!(receiver.acks, expected);
}

#[test]
fn a_change_of_the_mark_ends_a_bundle() {
    let mut receiver = Receiver::new(1000, config(us(10)));
    let marks = [false, false, false, true, true, false];
    for (number, marked) in marks.into_iter().enumerate() {
        receiver.arrive(number, marked, us(100 + number as u64));
    }
    receiver.until(us(1000));
    let expected = [(us(103), 3, 0, 0), (us(105), 5, 2, 0), (us(115), 6, 0, 0)];
    assert_eq!(receiver.acks, expected);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Each ACK echoes exactly the marks of the packets that it covers, whenever they arrive. Unless it may span marks, these
    /// packets are all marked or all unmarked.
    #[test]
    fn marks_are_echoed_exactly(
        arrivals in prop::collection::vec((any::<bool>(), 0u64..30), 1..120),
        gather in 0u64..40,
        every in 1u32..5,
        (at_change, spans, young) in (any::<bool>(), any::<bool>(), 0u32..5),
        sack in any::<bool>(),
    ) {
        let config = Config {
            ack_every: every,
            ack_at_first: young,
            ack_at_mark_change: at_change,
            ack_spans_marks: spans,
            recovery: if sack { Recovery::Sack } else { Recovery::NewReno },
            ..config(us(gather))
        };
        let mut receiver = Receiver::new(1000, config);
        let mut now = us(100);
        for (number, &(marked, wait)) in arrivals.iter().enumerate() {
            now += us(wait);
            receiver.arrive(number, marked, now);
        }
        receiver.until(Time::from_secs(1));
        let mut covered = 0;
        for &(_, next, echo, blocks) in &receiver.acks {
            prop_assert!(next as usize > covered && blocks == 0);
            let marks = arrivals[covered..next as usize].iter();
            let marks = marks.filter(|(marked, _)| *marked).count();
            prop_assert_eq!(usize::from(echo), marks);
            prop_assert!(spans || marks == 0 || marks == next as usize - covered);
            covered = next as usize;
        }
        prop_assert_eq!(covered, arrivals.len());
    }
}

/// XMP's echo has two bits: the marks of a longer bundle would be echoed when their packets are long acknowledged.
#[test]
fn a_bundle_ends_when_an_ack_can_echo_no_more_marks() {
    let mut receiver = Receiver::new(1000, config(us(16)));
    receiver.endpoints.receiving.connections[0].echo_limit = 3;
    for number in 0..13 {
        receiver.arrive(number, true, us(100 + number as u64));
    }
    for number in 13..40 {
        receiver.arrive(number, false, us(200 + number as u64));
    }
    receiver.until(us(5000));
    let echoes = |acks: &[Ack]| acks.iter().map(|ack| u32::from(ack.2)).sum::<u32>();
    let (of_marked, others): (Vec<Ack>, Vec<Ack>) =
        receiver.acks.iter().partition(|ack| ack.1 <= 13);
    assert_eq!((echoes(&of_marked), echoes(&others)), (13, 0));
}
