//! Checks what ports add to prices against the times at which packets arrive and leave.

use crate::agent::{NoAgent, PacketLabel};
use crate::fmp::Fmp;
use crate::network::{Arrival, Network};
use crate::packet::{Header, Plain};
use crate::places::PortId;
use crate::port::{DeparturePorts, FifoPorts, LinkEvent, LinkEvents, Ports};
use crate::queue::{Limit, Marking, MarkingRule, QueueConfig, Threshold};
use crate::setup::LinkSetup;
use crate::setup::QueuesCounted;
use pathweave_control::Feedback;
use pathweave_fabric::Fabric;
use pathweave_fabric::routing::{FmpConfig, FmpPrice};
use pathweave_fabric::topology::LeafSpine;
use pathweave_random::Stream;
use pathweave_units::{Bytes, Rate, Time};
use std::collections::BTreeSet;

const PERIOD: Time = Time::from_micros(100);
const PERIODS: u64 = 60;
const LIMIT: u32 = 40;
const MARK_ABOVE: usize = 3;
const DELAY: Time = Time::from_micros(7);

/// A packet's passage through a port.
struct Passed {
    arrived: Time,
    begun: Time,
    departed: Time,
    is_marked: bool,
}

/// Passes packets of these sizes, arriving at these times, through a FIFO port.
fn pass(arrivals: &[(Time, u16)], picos_a_byte: u64) -> Vec<Passed> {
    let mut all: Vec<Passed> = Vec::new();
    for &(arrived, size) in arrivals {
        let free = all.last().map_or(Time::ZERO, |last| last.departed);
        let begun = arrived.max(free);
        let waiting = all.iter().filter(|packet| packet.begun > arrived).count();
        all.push(Passed {
            arrived,
            begun,
            departed: begun + Time::from_picos(picos_a_byte * u64::from(size)),
            is_marked: waiting > MARK_ABOVE,
        });
    }
    all
}

/// The expected share between two times, for a port that these packets pass.
fn share(price: FmpPrice, packets: &[Passed], (from, to): (Time, Time)) -> f64 {
    let within = |begin: Time, end: Time| end.min(to).saturating_sub(begin.max(from)).as_secs_f64();
    let period = (to - from).as_secs_f64();
    let came = || {
        packets
            .iter()
            .filter(|packet| (from..to).contains(&packet.arrived))
    };
    match price {
        FmpPrice::Occupancy => f64::NAN,
        FmpPrice::AveragedOccupancy => {
            let waits = packets
                .iter()
                .map(|packet| within(packet.arrived, packet.begun));
            waits.sum::<f64>() / period / f64::from(LIMIT)
        }
        FmpPrice::Marks => {
            let marked = came().filter(|packet| packet.is_marked).count();
            marked as f64 / came().count().max(1) as f64
        }
        FmpPrice::Utilisation => {
            let sending = packets
                .iter()
                .map(|packet| within(packet.begun, packet.departed));
            sending.sum::<f64>() / period
        }
    }
}

#[derive(Default)]
struct Due(BTreeSet<(Time, LinkEvent, PortId)>);

impl LinkEvents for Due {
    fn schedule(&mut self, port: PortId, event: LinkEvent, at: Time) {
        assert!(self.0.insert((at, event, port)));
    }
    fn cancel(&mut self, port: PortId, event: LinkEvent, at: Time) {
        assert!(self.0.remove(&(at, event, port)));
    }
}

/// Two leaves with two hosts each and one spine. Host links are ten times as fast as the leaves' uplinks.
fn fabric() -> Fabric {
    let shape = LeafSpine {
        leaves: 2,
        spines: 1,
        hosts_per_leaf: 2,
        host_rate: Rate::from_gbps(10),
        uplink_rate: Rate::from_gbps(1),
        host_delay: DELAY.into(),
        uplink_delay: DELAY.into(),
    };
    shape.build(1).expect("a fabric")
}

/// Bursts of packets from one host, with pauses in between.
fn packets() -> Vec<(Time, u16)> {
    let mut stream = Stream::new(1, "packets to measure", 0);
    let mut packets = Vec::new();
    let mut now = Time::ZERO;
    while now < PERIOD * (PERIODS - 5) {
        let rest = [20, 90, 400][stream.below(3) as usize];
        now += Time::from_nanos(stream.between(1, rest * 1000));
        for _ in 0..stream.between(1, 14) {
            now += Time::from_nanos(stream.between(0, 3000));
            packets.push((now, stream.between(40, 1500) as u16));
        }
    }
    packets
}

/// What the leaf's port to the spine adds to prices at the end of each period.
fn measure<P: Ports>(price: FmpPrice, packets: &[(Time, u16)]) -> Vec<f64> {
    let fabric = fabric();
    let queue = QueueConfig {
        limit: Limit::Packets(LIMIT),
        marking: Marking::Step {
            threshold: Threshold::Packets(MARK_ABOVE as f64),
            rule: MarkingRule::Above,
        },
        drop_ecn_blind: false,
    };
    let links = fabric.links.iter().map(|link| LinkSetup {
        queue,
        ..LinkSetup::plain((link.from.0, link.to.0), link.rate, link.delay)
    });
    let links: Vec<LinkSetup> = links.collect();
    let stream = |link| Stream::new(1, "port", u64::from(link));
    let mut network: Network<Plain<u32>, P> = Network::new(&links, QueuesCounted::All, stream);
    let config = FmpConfig {
        price,
        feedback_period: PERIOD,
        silence_timeout: PERIOD * 3,
        idle_expiry: Time::from_secs(1),
    };
    network.set_fmp(Fmp::new(&fabric, config, Bytes::new(1500), 1));
    // Feedback would mix with the packets, so it starts after the last period.
    let later = PERIOD * (PERIODS + 1);
    network.begin_feedback(&[later; 3]);
    let route = network.add_fmp_route((0, 2), 1, 0);
    let node = |name| fabric.node_named(name).expect("a node");
    let uplink = fabric.link_between(node("leaf0"), node("spine0"));
    let uplink = uplink.expect("a link").0;

    let mut due = Due::default();
    let mut measured = Vec::new();
    let mut packets = packets.iter().peekable();
    for period in 1..=PERIODS {
        let end = PERIOD * period;
        loop {
            let event = due.0.first().copied();
            let sent = packets.peek().map_or(Time::MAX, |packet| packet.0);
            let at = event.map_or(Time::MAX, |event| event.0).min(sent);
            if at >= end {
                break;
            }
            match event {
                Some((now, event, port)) if now == at => {
                    due.0.pop_first();
                    match event {
                        LinkEvent::Departure => network.depart(port, now, &mut due),
                        LinkEvent::Arrival => match network.arrive(port, now, &mut due) {
                            Arrival::AtHost(header, _) | Arrival::Dropped(header) => {
                                network.take(header);
                            }
                            Arrival::Forwarded | Arrival::Consumed => {}
                        },
                    }
                }
                _ => {
                    let &(now, size) = packets.next().expect("a packet was seen");
                    let label = P::Label::new(Feedback::None, 0, false);
                    let packet = (Header::new(size, true), label);
                    let start = network.start(route);
                    let dropped = network.send(now, start, packet, (Plain(0), &()), &mut due);
                    assert!(dropped.is_none());
                }
            }
        }
        network.come_to(end, &mut due);
        network.measure_ports(end);
        let fmp = network.fmp.as_ref().expect("switches that choose routes");
        measured.push(fmp.own_price(uplink, end, || f64::NAN));
    }
    measured
}

#[test]
fn shares_of_a_period_are_what_the_times_of_packets_say() {
    let packets = packets();
    // The host's port has ten times the rate of the leaf's.
    let at_leaf: Vec<(Time, u16)> = pass(&packets, 800)
        .iter()
        .zip(&packets)
        .map(|(passed, &(_, size))| (passed.departed + DELAY, size))
        .collect();
    let passed = pass(&at_leaf, 8000);
    for price in [
        FmpPrice::AveragedOccupancy,
        FmpPrice::Marks,
        FmpPrice::Utilisation,
    ] {
        let expected: Vec<f64> = (0..PERIODS)
            .map(|period| share(price, &passed, (PERIOD * period, PERIOD * (period + 1))))
            .collect();
        let different: BTreeSet<u64> = expected.iter().map(|share| share.to_bits()).collect();
        assert!(different.len() > 10, "{price:?}: {expected:?}");
        let fast = measure::<FifoPorts<NoAgent>>(price, &packets);
        assert_eq!(fast, measure::<DeparturePorts<NoAgent>>(price, &packets));
        for (number, (share, expected)) in fast.iter().zip(&expected).enumerate() {
            let differs = (share - expected).abs();
            assert!(
                differs < 1e-9,
                "{price:?}, period {number}: {share}, not {expected}"
            );
        }
    }
}

#[test]
fn the_queue_of_the_moment_is_not_measured() {
    let measured = measure::<FifoPorts<NoAgent>>(FmpPrice::Occupancy, &packets());
    assert!(measured.iter().all(|share| share.is_nan()));
}
