//! A paced subflow that sends without a look at its siblings sends what a look at all of them would send.

use super::tests::Wishes;
use super::*;
use crate::{Config, Handshake, SegmentScheduler};
use pathweave_control::Feedback;
use pathweave_random::Stream;
use pathweave_units::Rate;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Something that is to happen.
#[derive(Clone, Copy, Debug)]
enum Event {
    Packet(Segment, SackBlocks, Arrived),
    Timer(Timer),
}

/// One paced connection, and a network that delays, loses and slows packets at random.
struct Run {
    endpoints: Endpoints,
    network: Stream,
    loss: f64,
    /// By time and number.
    due: BTreeMap<(Time, u64), Event>,
    scheduled: u64,
    /// What each event made the endpoints do.
    done: Vec<String>,
}

fn opening(flow: u32, (subflows, packets): (u32, u64), scheduler: SegmentScheduler) -> Opening {
    let entry = pathweave_control::find("rcp").expect("a controller");
    let config = Config {
        handshake: Handshake::None,
        scheduler,
        ..Config::textbook()
    };
    let size = Bytes::new(packets * u64::from(config.maximum_segment));
    Opening {
        subflows,
        size: Some(size),
        scheme: entry.scheme,
        ..Opening::new(flow, Arc::new(config), (entry.build)(&entry.defaults()))
    }
}

impl Run {
    fn new(
        seed: u64,
        (subflows, packets): (u32, u64),
        scheduler: SegmentScheduler,
        loss: f64,
    ) -> Run {
        let mut endpoints = Endpoints::default();
        let id = endpoints.add(opening(0, (subflows, packets), scheduler));
        let mut run = Run {
            endpoints,
            network: Stream::new(seed, "network", 0),
            loss,
            due: BTreeMap::new(),
            scheduled: 0,
            done: Vec::new(),
        };
        let mut wishes = Wishes::default();
        run.endpoints.start(id, Time::ZERO, &mut wishes);
        run.take(Time::ZERO, wishes);
        run
    }

    fn schedule(&mut self, at: Time, event: Event) {
        self.due.insert((at, self.scheduled), event);
        self.scheduled += 1;
    }

    /// Does what endpoints have asked for.
    fn take(&mut self, now: Time, wishes: Wishes) {
        self.done
            .push(format!("{now} {:?} {:?}", wishes.packets, wishes.timers));
        for (timer, at) in wishes.timers {
            self.schedule(at, Event::Timer(timer));
        }
        for (shape, whole) in wishes.packets {
            if self.network.uniform() < self.loss {
                continue;
            }
            let mut feedback = shape.feedback;
            if let Feedback::Rcp { rate, .. } = &mut feedback {
                *rate = rate.min(1008e6 / (1 << self.network.below(4)) as f32);
            }
            // Whole microseconds, as is the time for a packet at these rates: packets and timers meet at one time.
            let micros = 20 + (30.0 * self.network.uniform()) as u64;
            let arrived = Arrived {
                size: shape.size,
                congestion_experienced: false,
                feedback,
            };
            let event = Event::Packet(whole.segment, whole.blocks, arrived);
            self.schedule(now + Time::from_micros(micros), event);
        }
    }

    /// Handles the first event; `ask_all` makes the sender look at all subflows. Returns false when nothing is left.
    fn step(&mut self, ask_all: bool) -> bool {
        let Some(((now, _), event)) = self.due.pop_first() else {
            return false;
        };
        if ask_all {
            self.endpoints.sending.forget_what_is_blocked();
        }
        let mut wishes = Wishes::default();
        match event {
            Event::Packet(segment, blocks, arrived) => {
                let out = &mut wishes;
                self.endpoints
                    .on_packet(&segment, &blocks, arrived, now, out);
            }
            Event::Timer(timer) => self.endpoints.on_timer(timer, now, &mut wishes),
        }
        self.take(now, wishes);
        true
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_subflow_alone_sends_what_all_together_would(
        seed in any::<u64>(),
        subflows in 1..5u32,
        packets in 1..400u64,
        scheduler in prop::sample::select(vec![SegmentScheduler::RoundRobin, SegmentScheduler::LowestRtt]),
        loss in prop::sample::select(vec![0.0, 0.01, 0.1]),
    ) {
        let run = |ask_all| {
            let mut run = Run::new(seed, (subflows, packets), scheduler, loss);
            let mut events = 0;
            while events < 20_000 && run.step(ask_all) {
                events += 1;
            }
            prop_assert!(run.endpoints.is_consistent(ConnectionId(0)));
            Ok(run.done)
        };
        let (alone, together) = (run(false)?, run(true)?);
        prop_assert_eq!(alone.len(), together.len());
        for (alone, together) in alone.iter().zip(&together) {
            prop_assert_eq!(alone, together);
        }
    }
}

/// A pace timer outlives its connection, whose place another one has got by then.
#[test]
fn the_timer_of_a_connection_that_is_gone_does_nothing() {
    for packets in 1..60 {
        let scheduler = SegmentScheduler::RoundRobin;
        let mut run = Run::new(packets, (2, packets), scheduler, 0.0);
        while !run.endpoints.sending.is_closed(SendingId(0)) {
            assert!(run.step(false));
        }
        let is_timer = |event: &Event| matches!(event, Event::Timer(_));
        run.due.retain(|_, event| is_timer(event));
        run.endpoints.sending.release(SendingId(0));
        let one = opening(1, (1, 10), scheduler);
        let place = run.endpoints.sending.open(one, Default::default());
        assert_eq!(place, SendingId(0));
        run.done.clear();
        while run.step(false) {}
        assert!(run.done.iter().all(|done| done.ends_with("[] []")));
    }
}

/// The network takes 50 us each way; the port on the way allows 12 Mbps to the first packet of a flow, 1 ms for each packet,
/// and this rate to all others. When the packets that carry data leave, in microseconds.
fn departures(later: Rate, until: Time) -> Vec<u64> {
    let mut run = Run::new(1, (1, 100), SegmentScheduler::RoundRobin, 1.0);
    run.due.clear();
    let config = Config {
        handshake: Handshake::None,
        initial_window: 2.0,
        ack_every: 1,
        ..Config::textbook()
    };
    run.endpoints = Endpoints::default();
    let entry = pathweave_control::find("rcp").expect("a controller");
    let id = run.endpoints.add(Opening {
        scheme: entry.scheme,
        ..Opening::new(0, Arc::new(config), (entry.build)(&entry.defaults()))
    });
    let mut wishes = Wishes::default();
    run.endpoints.start(id, Time::ZERO, &mut wishes);
    let mut found = Vec::new();
    let mut now = Time::ZERO;
    loop {
        for (timer, at) in std::mem::take(&mut wishes.timers) {
            run.schedule(at, Event::Timer(timer));
        }
        for (shape, whole) in std::mem::take(&mut wishes.packets) {
            let mut feedback = shape.feedback;
            if shape.size > 1000 {
                found.push(now.as_picos() / 1_000_000);
            }
            if let Feedback::Rcp { rate, .. } = &mut feedback {
                let allowed = if found.len() == 1 {
                    Rate::from_mbps(12)
                } else {
                    later
                };
                *rate = rate.min(allowed.as_bps() as f32);
            }
            let arrived = Arrived {
                size: shape.size,
                congestion_experienced: false,
                feedback,
            };
            let event = Event::Packet(whole.segment, whole.blocks, arrived);
            run.schedule(now + Time::from_micros(50), event);
        }
        let Some(((at, _), event)) = run.due.pop_first().filter(|((at, _), _)| *at < until) else {
            return found;
        };
        now = at;
        match event {
            Event::Packet(segment, blocks, arrived) => {
                let out = &mut wishes;
                run.endpoints
                    .on_packet(&segment, &blocks, arrived, now, out);
            }
            Event::Timer(timer) => run.endpoints.on_timer(timer, now, &mut wishes),
        }
    }
}

/// The first packet's ACK sets 1 ms between packets, and the second's, at the same time, another distance. What has begun as
/// a gap of 1 ms ends with the new one.
#[test]
fn a_new_rate_holds_for_the_gap_that_has_begun() {
    // A packet of 1512 B, RCP's field included.
    let first_four = |distance_us: u64| {
        let later = Rate::from_bps(1512 * 8 * 1_000_000 / distance_us);
        departures(later, Time::from_millis(5))[..4].to_vec()
    };
    assert_eq!(first_four(100), [0, 0, 100, 200]);
    assert_eq!(first_four(2000), [0, 0, 100, 2100]);
}
