//! Endpoints by themselves, with the packets carried by hand.

use super::*;
use crate::Config;
use crate::GrowthCount;
use crate::Handshake;
use crate::Scatter;
use crate::output::{PacketShape, TimerKind};
use crate::segment::Kind;
use pathweave_control::Feedback;
use pathweave_units::Bytes;
use std::sync::Arc;

/// A segment with its blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Whole {
    pub segment: Segment,
    pub blocks: SackBlocks,
}

impl std::ops::Deref for Whole {
    type Target = Segment;
    fn deref(&self) -> &Segment {
        &self.segment
    }
}

/// Keeps what the endpoints want done.
#[derive(Default)]
pub(super) struct Wishes {
    pub packets: Vec<(PacketShape, Whole)>,
    pub timers: Vec<(Timer, Time)>,
    pub finished: u32,
    pub closed: u32,
}

impl Output for Wishes {
    type Lent<'a> = &'a mut Wishes;

    fn send(&mut self, _: End, shape: PacketShape, segment: Segment, blocks: &SackBlocks) {
        let whole = Whole {
            segment,
            blocks: *blocks,
        };
        self.packets.push((shape, whole));
    }
    fn lend(&mut self) -> &mut Wishes {
        self
    }
    fn wake(&mut self, timer: Timer, at: Time) {
        self.timers.push((timer, at));
    }
    fn finished(&mut self, _: ReceivingId) {
        self.finished += 1;
    }
    fn failed(&mut self, _: SendingId) {}
    fn closed(&mut self, _: SendingId) {
        self.closed += 1;
    }
}

/// Starts a flow of this many full packets, without a handshake.
pub(super) fn started(
    controller: &str,
    packets: u64,
    config: Config,
) -> (Endpoints, ConnectionId, Wishes) {
    started_established(controller, packets, config, false)
}

/// [`started`], on a connection that may be open already.
pub(super) fn started_established(
    controller: &str,
    packets: u64,
    config: Config,
    established: bool,
) -> (Endpoints, ConnectionId, Wishes) {
    let entry = pathweave_control::find(controller).expect("a controller");
    let mut endpoints = Endpoints::default();
    let payload = u64::from(config.maximum_segment);
    let id = endpoints.add(Opening {
        ecn_echo: Some(u8::MAX),
        size: Some(Bytes::new(packets * payload)),
        established,
        ..Opening::new(
            0,
            Arc::new(Config {
                handshake: Handshake::None,
                ..config
            }),
            (entry.build)(&entry.defaults()),
        )
    });
    let mut wishes = Wishes::default();
    endpoints.start(id, Time::ZERO, &mut wishes);
    (endpoints, id, wishes)
}

/// Carries all packets that wait to their hosts, those with these data numbers marked.
pub(super) fn carry(endpoints: &mut Endpoints, now: Time, marked: &[u32], wishes: &mut Wishes) {
    for (shape, segment) in std::mem::take(&mut wishes.packets) {
        let ce = segment.kind == Kind::Data && marked.contains(&segment.data_number);
        let arrived = Arrived {
            size: shape.size,
            congestion_experienced: ce,
            feedback: shape.feedback,
        };
        endpoints.on_packet(&segment, &segment.blocks, arrived, now, wishes);
    }
}

/// Data numbers of the packets that wait.
pub(super) fn numbers_sent(wishes: &Wishes) -> Vec<u32> {
    let packets = wishes.packets.iter();
    packets.map(|(_, data)| data.data_number).collect()
}

#[test]
fn the_mark_on_the_last_packet_is_echoed_before_the_flow_closes() {
    let config = Config {
        ack_every: 8,
        ack_at_first: 0,
        ..Config::textbook()
    };
    let (mut endpoints, id, mut wishes) = started("dctcp", 4, config);
    carry(&mut endpoints, Time::from_micros(100), &[3], &mut wishes);
    // One acknowledgement of the unmarked packets, one of the last.
    assert_eq!(wishes.packets.len(), 2);
    assert_eq!(wishes.packets[0].1.data_number, 3);
    carry(&mut endpoints, Time::from_micros(200), &[], &mut wishes);
    let subflow = endpoints.subflows(id).next().expect("a subflow");
    assert_eq!(endpoints.subflow(subflow).marks, 1);
    assert_eq!((wishes.finished, wishes.closed), (1, 1));
}

#[test]
fn each_acknowledgement_carries_the_field_of_its_data_packet() {
    let config = Config {
        ack_every: 8,
        ack_at_first: 0,
        initial_window: 10.0,
        ..Config::textbook()
    };
    let (mut endpoints, _, mut wishes) = started("reno", 6, config);
    let loads = [3, 7, 1, 15, 4, 9];
    for ((shape, segment), load) in std::mem::take(&mut wishes.packets).into_iter().zip(loads) {
        let arrived = Arrived {
            size: shape.size,
            congestion_experienced: false,
            feedback: Feedback::Mlcp { load, rtt: 2 },
        };
        let now = Time::from_micros(100);
        endpoints.on_packet(&segment, &segment.blocks, arrived, now, &mut wishes);
    }
    let echoed: Vec<Feedback> = wishes
        .packets
        .iter()
        .map(|(shape, segment)| {
            assert!(segment.kind != Kind::Data);
            shape.feedback
        })
        .collect();
    assert_eq!(echoed, loads.map(|load| Feedback::Mlcp { load, rtt: 2 }));
}

#[test]
fn duplicate_acknowledgements_let_packets_go_but_not_the_window_grow() {
    for recovery in [crate::Recovery::Sack, crate::Recovery::NewReno] {
        let config = Config {
            recovery,
            ..Config::textbook()
        };
        let (mut endpoints, id, mut wishes) = started("reno", 100, config);
        assert_eq!(wishes.packets.len(), 10);
        // The first packet is lost; the two after it arrive.
        let first = wishes.packets.remove(0).1;
        endpoints.on_lost(&first);
        wishes.packets.truncate(2);
        carry(&mut endpoints, Time::from_micros(100), &[], &mut wishes);
        assert_eq!(wishes.packets.len(), 2, "both are acknowledged at once");
        carry(&mut endpoints, Time::from_micros(200), &[], &mut wishes);
        assert_eq!(numbers_sent(&wishes), [10, 11], "limited transmit");
        let subflow = endpoints.subflows(id).next().expect("a subflow");
        assert_eq!(endpoints.subflow(subflow).path.window, 10.0, "{recovery:?}");
    }
}

/// The window after everything but the first of 40 packets has arrived, all acknowledgements have been lost, and the first
/// packet, sent again after a timeout, lets one acknowledgement cover all 40.
fn window_after_a_timeout(recovery: crate::Recovery, slow_start_limit: Option<u32>) -> f64 {
    let config = Config {
        recovery,
        slow_start_limit,
        initial_window: 40.0,
        ..Config::textbook()
    };
    let (mut endpoints, id, mut wishes) = started("reno", 100, config);
    let first = wishes.packets.remove(0).1;
    endpoints.on_lost(&first);
    carry(&mut endpoints, Time::from_micros(100), &[], &mut wishes);
    for (_, acknowledgement) in std::mem::take(&mut wishes.packets) {
        endpoints.on_lost(&acknowledgement);
    }
    let due = |(timer, at): &(Timer, Time)| {
        (timer.kind == TimerKind::Retransmission).then_some((*timer, *at))
    };
    let (timer, at) = wishes.timers.iter().find_map(due).expect("a timer");
    endpoints.on_timer(timer, at, &mut wishes);
    assert_eq!(wishes.packets.len(), 1, "the window is one packet");
    for micros in [100, 200] {
        let now = at + Time::from_micros(micros);
        carry(&mut endpoints, now, &[], &mut wishes);
    }
    let subflow = endpoints.subflows(id).next().expect("a subflow");
    let path = endpoints.subflow(subflow).path;
    assert_eq!(path.acked, 40);
    // From now on slow start counts as it did before.
    assert_eq!(path.slow_start_limit, slow_start_limit.unwrap_or(u32::MAX));
    path.window
}

#[test]
fn the_acknowledgement_that_ends_a_timeouts_recovery_counts_for_one_packet_where_slow_start_is_limited()
 {
    for recovery in [crate::Recovery::Sack, crate::Recovery::NewReno] {
        assert_eq!(window_after_a_timeout(recovery, Some(1)), 2.0);
        assert_eq!(window_after_a_timeout(recovery, Some(9)), 2.0);
        // 19 packets up to ssthresh, and 21 in congestion avoidance.
        let all = window_after_a_timeout(recovery, None);
        assert!((all - (20.0 + 21.0 / 20.0)).abs() < 1e-12, "{all}");
    }
}

#[test]
fn the_limit_of_slow_start_is_none_of_congestion_avoidances() {
    let avoided = 10.5 + 5.0 / 10.5;
    for (slow_start_limit, initial_ssthresh, window) in [
        (None, f64::INFINITY, 20.0),
        (Some(2), f64::INFINITY, 14.0),
        (Some(2), 10.0, avoided),
        (None, 10.0, avoided),
    ] {
        let config = Config {
            slow_start_limit,
            initial_ssthresh,
            ack_every: 5,
            ack_at_first: 0,
            ..Config::textbook()
        };
        let (mut endpoints, id, mut wishes) = started("reno", 100, config);
        for micros in [100, 200] {
            let now = Time::from_micros(micros);
            carry(&mut endpoints, now, &[], &mut wishes);
        }
        let subflow = endpoints.subflows(id).next().expect("a subflow");
        let found = endpoints.subflow(subflow).path.window;
        assert!(
            (found - window).abs() < 1e-12,
            "{found} instead of {window}"
        );
    }
}

/// Two acknowledgements of five packets each.
#[test]
fn windows_may_grow_per_acknowledgement_and_in_slow_start_per_packet_all_the_same() {
    let avoided = |packets: f64| {
        let first = 10.0 + packets / 10.0;
        first + packets / first
    };
    for (count, in_slow_start, in_avoidance) in [
        (GrowthCount::Packets, 20.0, avoided(5.0)),
        (GrowthCount::Acks, 12.0, avoided(1.0)),
        (GrowthCount::AcksInAvoidance, 20.0, avoided(1.0)),
    ] {
        for (initial_ssthresh, expected) in [(f64::INFINITY, in_slow_start), (10.0, in_avoidance)] {
            let config = Config {
                count,
                initial_ssthresh,
                ack_every: 5,
                ack_at_first: 0,
                ..Config::textbook()
            };
            let (mut endpoints, id, mut wishes) = started("reno", 100, config);
            for micros in [100, 200] {
                carry(&mut endpoints, Time::from_micros(micros), &[], &mut wishes);
            }
            let subflow = endpoints.subflows(id).next().expect("a subflow");
            let found = endpoints.subflow(subflow).path.window;
            assert!((found - expected).abs() < 1e-12, "{count:?}: {found}");
        }
    }
}

#[test]
fn the_self_check_notices_wrong_counters() {
    // Ten segments have been sent and delivered, and nothing is known to be acknowledged.
    let break_one: [fn(&mut Endpoints); 4] = [
        |ends| ends.receiving.connections[0].delivered = 11,
        |ends| ends.sending.connections[0].data_acked = 11,
        |ends| ends.sending.connections[0].total = 3,
        |ends| ends.receiving.connections[0].total = 3,
    ];
    for break_it in break_one {
        let (mut endpoints, id, mut wishes) = started("reno", 100, Config::textbook());
        carry(&mut endpoints, Time::from_micros(100), &[], &mut wishes);
        assert!(endpoints.is_consistent(id));
        break_it(&mut endpoints);
        assert!(!endpoints.is_consistent(id));
    }
}

/// What is scattered is all data of the flow here, so that its last packet goes out with the one that reaches the volume.
#[test]
fn the_other_subflows_open_with_the_next_event_after_the_volume_has_been_sent() {
    let entry = pathweave_control::find("uncoupled").expect("a controller");
    let config = Config {
        handshake: Handshake::None,
        initial_window: 20.0,
        ..Config::textbook()
    };
    let payload = u64::from(config.maximum_segment);
    let mut endpoints = Endpoints::default();
    let id = endpoints.add(Opening {
        subflows: 2,
        size: Some(Bytes::new(22 * payload)),
        scatter: Some(Scatter {
            volume: Bytes::new(21 * payload),
            duplicate_threshold: 3,
        }),
        ..Opening::new(0, Arc::new(config), (entry.build)(&entry.defaults()))
    });
    let mut wishes = Wishes::default();
    endpoints.start(id, Time::ZERO, &mut wishes);
    assert_eq!(numbers_sent(&wishes), (0..20).collect::<Vec<u32>>());
    // The first twelve are lost. Three acknowledgements tell of eight others, five of which leave room for more.
    let mut micros = 100;
    let mut pass = |endpoints: &mut Endpoints, wishes: &mut Wishes| {
        carry(endpoints, Time::from_micros(micros), &[], wishes);
        micros += 100;
    };
    wishes.packets.drain(..12);
    pass(&mut endpoints, &mut wishes);
    let all = std::mem::take(&mut wishes.packets);
    wishes.packets.push(all[2]);
    pass(&mut endpoints, &mut wishes);
    assert_eq!(numbers_sent(&wishes), [0, 1, 2, 3, 4]);
    let first = std::mem::take(&mut wishes.packets);
    wishes.packets.push(all[7]);
    pass(&mut endpoints, &mut wishes);
    assert_eq!(numbers_sent(&wishes), [5, 6, 7, 8, 9]);
    let second = std::mem::replace(&mut wishes.packets, first);
    // One acknowledgement lets all leave that is left.
    pass(&mut endpoints, &mut wishes);
    let last = wishes.packets.len() - 1;
    wishes.packets.drain(..last);
    pass(&mut endpoints, &mut wishes);
    assert_eq!(numbers_sent(&wishes), [10, 11, 20, 21]);
    let other = endpoints.subflows(id).nth(1).expect("two subflows");
    assert!(!endpoints.subflow(other).is_open);
    wishes.packets.extend(second);
    pass(&mut endpoints, &mut wishes);
    pass(&mut endpoints, &mut wishes);
    assert!(endpoints.subflow(other).is_open);
    assert_eq!(endpoints.delivered(id), Bytes::new(22 * payload));
}

/// All of an answer on an open connection is lost, and nothing has measured an RTT: a probe and the loss that it shows
/// repair it long before the timeout.
#[test]
fn a_probe_repairs_an_answer_that_is_lost_as_a_whole() {
    let config = Config {
        loss_detection: crate::LossDetection::Rack,
        tail_loss_probe: true,
        ..Config::textbook()
    };
    let (mut endpoints, id, mut wishes) = started_established("reno", 10, config, true);
    wishes.packets.clear();
    let mut now = Time::ZERO;
    while wishes.finished == 0 {
        let first = wishes.timers.iter().map(|&(_, at)| at).min();
        if wishes.packets.is_empty() {
            now = first.expect("a timer is set");
            let due = wishes.timers.clone();
            wishes.timers.retain(|&(_, at)| at > now);
            for (timer, _) in due.into_iter().filter(|&(_, at)| at == now) {
                endpoints.on_timer(timer, now, &mut wishes);
            }
        } else {
            now += Time::from_micros(50);
            carry(&mut endpoints, now, &[], &mut wishes);
        }
    }
    assert!(now < Time::from_millis(10), "{now}");
    let subflow = endpoints.subflows(id).next().expect("a subflow");
    let view = endpoints.subflow(subflow);
    assert_eq!((view.timeouts, view.probes), (0, 1));
}
