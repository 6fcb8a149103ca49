//! Packets of different sizes, over a network that loses and reorders them.

use super::tests::Whole;
use super::*;
use crate::Config;
use crate::ends::ReceivingSubflow;
use crate::output::PacketShape;
use crate::segment::Kind;
use crate::{
    Handshake, Joins, PacketKey, PacketMix, ReceiveWindow, Recovery, Reinject, SegmentScheduler,
};
use pathweave_random::Stream;
use pathweave_units::Bytes;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Half of the packets have 60 to 100 bytes, half up to 1500.
fn mix() -> PacketMix {
    PacketMix::new(|probability| match probability {
        low if low < 0.5 => 60.0 + 80.0 * low,
        high => 100.0 + 2800.0 * (high - 0.5),
    })
}

fn config() -> Config {
    Config {
        handshake: Handshake::None,
        packets: Some(mix()),
        minimum_rto: Time::from_millis(2),
        initial_rto: Time::from_millis(3),
        maximum_rto: Time::from_millis(50),
        ..Config::textbook()
    }
}

#[test]
fn four_subflows_may_share_one_initial_window() {
    use crate::InitialWindowPer::{Connection, Subflow};
    for (per, initial_window, subflows, expected) in [
        (Subflow, 10.0, 4, 10.0),
        (Connection, 10.0, 4, 2.5),
        (Connection, 10.0, 1, 10.0),
        (Connection, 2.0, 4, 1.0),
    ] {
        let config = Config {
            initial_window,
            initial_window_per: per,
            ..Config::textbook()
        };
        let mut endpoints = Endpoints::default();
        let id = endpoints.add(opening(config, subflows, PacketKey::default(), None));
        let windows = endpoints
            .subflows(id)
            .map(|subflow| endpoints.subflow(subflow).path.window);
        assert!(windows.eq((0..subflows).map(|_| expected)), "{per:?}");
    }
}

fn opening(config: Config, subflows: u32, key: PacketKey, size: Option<u64>) -> Opening {
    let entry = pathweave_control::find("uncoupled").expect("a controller");
    Opening {
        subflows,
        size: size.map(Bytes::new),
        packet_key: key,
        ..Opening::new(0, Arc::new(config), (entry.build)(&entry.defaults()))
    }
}

/// What is under way, by arrival and order of sending.
struct Network {
    now: Time,
    count: u64,
    random: Stream,
    loss: f64,
    /// The second subflow loses everything from here on.
    dead_from: Time,
    packets: BTreeMap<(Time, u64), (PacketShape, Whole)>,
    timers: BTreeMap<(Time, u64), Timer>,
    lost: Vec<Segment>,
    /// Sizes under which each data number was seen.
    sizes: BTreeMap<u32, Vec<u16>>,
    finished: bool,
}

impl Output for Network {
    type Lent<'a> = &'a mut Network;

    fn lend(&mut self) -> &mut Network {
        self
    }
    fn send(&mut self, from: End, shape: PacketShape, segment: Segment, blocks: &SackBlocks) {
        if segment.kind == Kind::Data {
            let sizes = self.sizes.entry(segment.data_number).or_default();
            sizes.push(shape.size);
        }
        let (End::Sending(SendingSubflow(subflow)) | End::Receiving(ReceivingSubflow(subflow))) =
            from;
        let dead = subflow == 1 && self.now >= self.dead_from;
        if dead || self.random.uniform() < self.loss {
            self.lost.push(segment);
            return;
        }
        self.count += 1;
        let delay = Time::from_micros(self.random.between(50, 150));
        let key = (self.now + delay, self.count);
        let whole = Whole {
            segment,
            blocks: *blocks,
        };
        self.packets.insert(key, (shape, whole));
    }
    fn wake(&mut self, timer: Timer, at: Time) {
        self.count += 1;
        self.timers.insert((at, self.count), timer);
    }
    fn finished(&mut self, _: ReceivingId) {
        self.finished = true;
    }
    fn failed(&mut self, _: SendingId) {}
    fn closed(&mut self, _: SendingId) {}
}

impl Network {
    fn new(seed: u64, loss: f64, dead_from: Time) -> Network {
        Network {
            now: Time::ZERO,
            count: 0,
            random: Stream::new(seed, "test", 0),
            loss,
            dead_from,
            packets: BTreeMap::new(),
            timers: BTreeMap::new(),
            lost: Vec::new(),
            sizes: BTreeMap::new(),
            finished: false,
        }
    }

    /// Lets the next thing happen; false when there is none.
    fn step(&mut self, endpoints: &mut Endpoints) -> bool {
        for segment in std::mem::take(&mut self.lost) {
            endpoints.on_lost(&segment);
        }
        let packet = self.packets.first_key_value().map(|(key, _)| *key);
        let timer = self.timers.first_key_value().map(|(key, _)| *key);
        let Some(key) = packet.into_iter().chain(timer).min() else {
            return false;
        };
        self.now = key.0;
        if let Some((shape, segment)) = self.packets.remove(&key) {
            let arrived = Arrived {
                size: shape.size,
                congestion_experienced: false,
                feedback: shape.feedback,
            };
            endpoints.on_packet(&segment, &segment.blocks, arrived, self.now, self);
        } else if let Some(timer) = self.timers.remove(&key) {
            endpoints.on_timer(timer, self.now, self);
        }
        true
    }
}

/// Payload that lies beyond what the sender knows to be delivered, on the connection and on each
/// subflow.
fn outstanding(endpoints: &Endpoints, id: ConnectionId) -> Vec<u64> {
    let connection = &endpoints.sending.connections[id.0 as usize];
    let sum = |numbers: &mut dyn Iterator<Item = u32>| -> u64 {
        numbers.map(|n| u64::from(connection.payload(n))).sum()
    };
    let mut sums = vec![sum(&mut (connection.data_acked..connection.next_data))];
    for SendingSubflow(place) in endpoints.subflows(id) {
        let board = &endpoints.sending.senders[place as usize].board;
        sums.push(sum(&mut board.outstanding_data()));
    }
    sums
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        rng_seed: RngSeed::Fixed(2018),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn every_byte_arrives_once_and_in_order(
        seed in any::<u64>(),
        size in 1u64..150_000,
        subflows in 1u32..=3,
        loss in 0.0..0.1f64,
        dead_from in 0u64..5_000,
        recovery in prop::sample::select(vec![Recovery::Sack, Recovery::NewReno]),
        window in prop_oneof![
            Just(ReceiveWindow::Unlimited),
            (1448u64..40_000).prop_map(|bytes| ReceiveWindow::Connection(Bytes::new(bytes))),
            (1448u64..40_000).prop_map(|bytes| ReceiveWindow::Subflow(Bytes::new(bytes))),
            Just(ReceiveWindow::Auto),
        ],
        scheduler in prop::sample::select(vec![
            SegmentScheduler::LowestRtt,
            SegmentScheduler::RoundRobin,
            SegmentScheduler::QueuedBytes,
        ]),
        joins in prop::sample::select(vec![Joins::AfterHandshake, Joins::DataAcknowledged]),
        reinjection in prop::sample::select(vec![Reinject::Timeouts, Reinject::Timer]),
    ) {
        let config = Config {
            recovery,
            receive_window: window,
            scheduler,
            joins,
            reinjection,
            ..config()
        };
        let key = PacketKey::new(seed, 7);
        let sizes: Vec<u64> = config.packets_of(key, Bytes::new(size)).map(Bytes::get).collect();
        let mut endpoints = Endpoints::default();
        let id = endpoints.add(opening(config, subflows, key, Some(size)));
        // A connection with siblings loses one of them for good.
        let mut network = Network::new(seed, loss, Time::from_micros(dead_from));
        endpoints.start(id, Time::ZERO, &mut network);
        let mut delivered = Bytes::ZERO;
        while !network.finished {
            prop_assert!(network.step(&mut endpoints), "it hangs");
            prop_assert!(endpoints.is_consistent(id));
            let count = endpoints.receiving.connections[id.0 as usize].delivered as usize;
            let now = endpoints.delivered(id);
            let in_order: u64 = sizes[..count].iter().map(|size| size - 52).sum();
            prop_assert_eq!(now.get(), in_order);
            prop_assert!(now >= delivered);
            delivered = now;
            let outstanding = outstanding(&endpoints, id);
            match window {
                ReceiveWindow::Unlimited | ReceiveWindow::Auto => {}
                ReceiveWindow::Connection(bytes) => prop_assert!(outstanding[0] <= bytes.get()),
                ReceiveWindow::Subflow(bytes) => {
                    prop_assert!(outstanding[1..].iter().all(|&sum| sum <= bytes.get()));
                }
            }
        }
        prop_assert_eq!(delivered.get(), size);
        // Whichever subflow sent it, and however often, a segment had its one size.
        prop_assert_eq!(network.sizes.len(), sizes.len());
        for (sent, &size) in network.sizes.values().zip(&sizes) {
            prop_assert!(sent.iter().all(|&sent| u64::from(sent) == size));
        }
    }

    #[test]
    fn sums_agree(seed in any::<u64>(), flow in any::<u32>(), size in 0u64..300_000) {
        let config = config();
        let key = PacketKey::new(seed, flow);
        let sizes: Vec<u64> = config.packets_of(key, Bytes::new(size)).map(Bytes::get).collect();
        prop_assert_eq!(sizes.iter().map(|size| size - 52).sum::<u64>(), size);
        prop_assert!(sizes.iter().all(|size| *size <= 1500));
        let not_last = &sizes[..sizes.len().saturating_sub(1)];
        prop_assert!(not_last.iter().all(|size| *size >= 60));
        // A longer flow begins with the same packets.
        let longer = config.packets_of(key, Bytes::new(size + 5_000)).map(Bytes::get);
        prop_assert!(longer.zip(not_last).all(|(a, b)| a == *b));
    }
}

#[test]
fn sizes_are_distributed_as_given() {
    let mix = mix();
    // Means of the halves: 80 and 800 bytes.
    assert!((mix.mean() - 440.0).abs() < 0.5, "{}", mix.mean());
    let key = PacketKey::new(1, 0);
    let draws = 100_000;
    let sizes = || (0..draws).map(|number| mix.size(key, number));
    let mean = sizes().map(f64::from).sum::<f64>() / f64::from(draws);
    // The standard error of the mean is 459 / sqrt(100,000) = 1.45.
    assert!((mean - 440.0).abs() < 5.0, "{mean}");
    let small = sizes().filter(|&size| size < 100).count() as f64 / f64::from(draws);
    assert!((small - 0.5).abs() < 0.01, "{small}");
    let of_another = (0..draws).filter(|&n| mix.size(key, n) == mix.size(PacketKey::new(1, 1), n));
    assert!(of_another.count() < draws as usize / 50, "flows differ");
}

#[test]
fn a_receive_window_is_filled_in_bytes() {
    for (window, subflows) in [
        (ReceiveWindow::Connection(Bytes::new(20_000)), 2),
        (ReceiveWindow::Subflow(Bytes::new(20_000)), 1),
    ] {
        let config = Config {
            receive_window: window,
            initial_window: 1e4,
            ..config()
        };
        let mut endpoints = Endpoints::default();
        let id = endpoints.add(opening(config, subflows, PacketKey::new(3, 3), None));
        let mut network = Network::new(1, 0.0, Time::MAX);
        endpoints.start(id, Time::ZERO, &mut network);
        for _ in 0..1000 {
            let connection = &endpoints.sending.connections[id.0 as usize];
            let next = u64::from(connection.payload(connection.next_data));
            let sum = outstanding(&endpoints, id)[0];
            assert!(sum <= 20_000 && sum + next > 20_000, "{sum} + {next}");
            assert!(network.step(&mut endpoints));
        }
    }
}

#[test]
fn a_flow_that_is_stopped_has_what_it_sent() {
    let mut endpoints = Endpoints::default();
    let id = endpoints.add(opening(config(), 1, PacketKey::new(5, 0), None));
    let mut network = Network::new(1, 0.0, Time::MAX);
    endpoints.start(id, Time::ZERO, &mut network);
    for _ in 0..500 {
        assert!(network.step(&mut endpoints));
    }
    endpoints.stop(id, &mut network);
    while !network.finished {
        assert!(network.step(&mut endpoints));
    }
    let payload = |sizes: &Vec<u16>| u64::from(sizes[0]) - 52;
    let sent: u64 = network.sizes.values().map(payload).sum();
    assert_eq!(endpoints.delivered(id), Bytes::new(sent));
}
