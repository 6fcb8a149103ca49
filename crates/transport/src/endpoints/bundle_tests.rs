//! Bundles: how large they are, and what waits for them.

use super::multipath::{Route, Run, upstream};
use super::tests::{Wishes, carry, numbers_sent, started};
use super::*;
use crate::{Config, Handshake, HostPort, Recovery, SegmentScheduler, SendBundle};
use pathweave_units::Rate;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::sync::Arc;

fn config() -> Config {
    Config {
        send_bundle: SendBundle::Packets(45),
        ack_every: 1,
        ..Config::textbook()
    }
}

fn after(micros: u64) -> Time {
    Time::from_micros(micros)
}

/// Packets of the next bundle of a subflow with nothing in flight, a window, an ssthresh and an RTT.
fn next_bundle(window: f64, ssthresh: f64, rtt: Time, most: u32) -> u32 {
    let config = Config {
        send_bundle: SendBundle::Packets(most),
        ..config()
    };
    next_bundle_with(config, window, ssthresh, rtt)
}

fn next_bundle_with(config: Config, window: f64, ssthresh: f64, rtt: Time) -> u32 {
    let (mut endpoints, ..) = started("reno", 100_000, config);
    let connection = &mut endpoints.sending.connections[0];
    let path = &mut connection.paths[0];
    (path.window, path.ssthresh, path.in_flight) = (window, ssthresh, 0);
    (path.smoothed_rtt, path.minimum_rtt) = (rtt, rtt);
    endpoints.sending.senders[0].next_bundle(connection, &connection.paths[0])
}

#[test]
fn a_bundle_is_what_is_sent_in_a_millisecond_and_an_allowance_for_short_rtts() {
    let none = f64::INFINITY;
    let ms = Time::from_millis;
    // Half of the window, if that is less than 64 KB.
    for (window, packets) in [
        (1.0, 1),
        (2.0, 1),
        (3.9, 1),
        (10.0, 5),
        (89.0, 44),
        (91.0, 45),
        (1000.0, 45),
    ] {
        assert_eq!(next_bundle(window, none, after(100), 45), packets);
        assert_eq!(next_bundle(window, none, after(100), 8), packets.min(8));
    }
    // From some RTT on the rate decides: 2 * 100 * 1448 B / 10 ms * 2^-10 s = 28,281 B in slow start, 16,968 B after it.
    assert_eq!(next_bundle(100.0, none, ms(10), 45), 19);
    assert_eq!(next_bundle(100.0, 50.0, ms(10), 45), 11);
    assert_eq!(next_bundle(100.0, 201.0, ms(10), 45), 19);
    // With 4 ms, 512 B are added to 33,937 B.
    assert_eq!(next_bundle(80.0, 40.0, ms(4), 45), 23);
    // Two packets at least.
    assert_eq!(next_bundle(100.0, 50.0, ms(100), 45), 2);
}

#[test]
fn kernels_before_5_18_have_no_allowance_for_short_rtts() {
    let with = |bundle_allowance, window, rtt| {
        let config = Config {
            bundle_allowance,
            ..config()
        };
        next_bundle_with(config, window, window / 2.0, rtt)
    };
    // 1.2 * 10 * 1448 B / 3 ms * 2^-10 s = 5,656 B, and an allowance of 2 KB.
    let ms = Time::from_millis;
    assert_eq!((with(true, 10.0, ms(3)), with(false, 10.0, ms(3))), (5, 3));
    // Half of the window is less.
    assert_eq!((with(true, 10.0, ms(1)), with(false, 10.0, ms(1))), (5, 5));
    assert_eq!(with(false, 1000.0, after(100)), 45);
    assert_eq!(with(false, 100.0, ms(100)), 2);
}

#[test]
fn bundles_by_rate_need_a_fast_port() {
    for (mbps, packets) in [(100, 1), (9_999, 1), (10_000, 45), (100_000, 45)] {
        let port = Rate::from_mbps(mbps);
        assert_eq!(SendBundle::ByPortRate.packets(port), packets);
        assert_eq!(SendBundle::Packets(7).packets(port), 7);
    }
}

/// Packets that leave after each ACK, of a flow of this many packets with an initial window of 30, if one ACK for each of
/// them arrives after 100 us.
fn sent_after_each_ack(packets: u64, config: Config) -> Vec<usize> {
    let config = Config {
        initial_window: 30.0,
        ..config
    };
    let (mut endpoints, _, mut wishes) = started("reno", packets, config);
    assert!(wishes.packets.len() >= 28);
    carry(&mut endpoints, after(50), &[], &mut wishes);
    let acks = std::mem::take(&mut wishes.packets);
    let mut sent = Vec::new();
    for (shape, ack) in acks {
        let mut out = Wishes {
            packets: vec![(shape, ack)],
            ..Wishes::default()
        };
        carry(&mut endpoints, after(100), &[], &mut out);
        sent.push(out.packets.len());
    }
    sent
}

#[test]
fn a_subflow_waits_until_a_third_of_its_window_fits() {
    // The window grows by one with each ACK, so that 12 of 36 packets fit after the sixth.
    let sent = sent_after_each_ack(1000, config());
    let bursts = sent.iter().enumerate().filter(|(_, count)| **count > 0);
    let bursts: Vec<_> = bursts.map(|(after, count)| (after + 1, *count)).collect();
    // Then 16 of 44 after eight more, and 18 of 53. The last ACK leaves only packets outstanding that were sent just now:
    // the next ACK is an RTT away, and nothing waits for it.
    assert_eq!(bursts, [(6, 12), (14, 16), (23, 18), (30, 14)]);
    let one_by_one = Config {
        send_bundle: SendBundle::Packets(1),
        ..config()
    };
    assert_eq!(sent_after_each_ack(1000, one_by_one), [2; 30]);
}

#[test]
fn a_small_bundle_is_whole_soon() {
    let config = Config {
        send_bundle: SendBundle::Packets(4),
        ..config()
    };
    // The initial window has room for two more packets.
    let sent = sent_after_each_ack(1000, config);
    assert_eq!(sent[..5], [4, 0, 4, 0, 4]);
}

#[test]
fn the_end_of_the_data_does_not_wait() {
    let sent = sent_after_each_ack(33, config());
    assert_eq!(sent[..3], [0, 3, 0]);
}

#[test]
fn after_a_loss_nothing_waits() {
    for recovery in [Recovery::Sack, Recovery::NewReno] {
        let config = Config {
            initial_window: 30.0,
            recovery,
            ..config()
        };
        let (mut endpoints, _, mut wishes) = started("reno", 1000, config);
        let lost = wishes.packets.remove(0).1;
        endpoints.on_lost(&lost);
        carry(&mut endpoints, after(50), &[], &mut wishes);
        let mut sent = Vec::new();
        for (shape, ack) in std::mem::take(&mut wishes.packets) {
            let mut out = Wishes {
                packets: vec![(shape, ack)],
                ..Wishes::default()
            };
            carry(&mut endpoints, after(100), &[], &mut out);
            sent.push(out.packets.len());
        }
        // The third duplicate brings the retransmission. From the sixteenth on the flight is below half of the window.
        assert_eq!(sent[2], 1, "{recovery:?}");
        assert_eq!(sent[16..], [1; 13], "{recovery:?}");
    }
}

#[test]
fn subflows_take_turns_by_bundles() {
    let entry = pathweave_control::find("reno").expect("a controller");
    let config = Config {
        initial_window: 20.0,
        handshake: Handshake::None,
        scheduler: SegmentScheduler::RoundRobin,
        ..config()
    };
    let mut endpoints = Endpoints::default();
    let id = endpoints.add(Opening {
        subflows: 2,
        ..Opening::new(0, Arc::new(config), (entry.build)(&entry.defaults()))
    });
    let mut wishes = Wishes::default();
    endpoints.start(id, Time::ZERO, &mut wishes);
    assert_eq!(numbers_sent(&wishes), (0..40).collect::<Vec<_>>());
    let subflows: Vec<u32> = wishes
        .packets
        .iter()
        .map(|(_, packet)| match packet.destination() {
            End::Receiving(place) => place.0,
            End::Sending(_) => panic!("data goes to the receiver"),
        })
        .collect();
    let expected: Vec<u32> = (0..40).map(|number| (number / 10) % 2).collect();
    assert_eq!(subflows, expected);
}

fn route(mbps: u64, limit: usize, delay: Time) -> Route {
    Route::new(mbps, limit, delay)
}

#[test]
fn a_window_that_waits_for_bundles_counts_as_full_and_grows() {
    for window_validation in [false, true] {
        let config = Config {
            window_validation,
            initial_ssthresh: 20.0,
            ..config()
        };
        let routes = [route(10_000, 100_000, after(500))];
        let windows = [1, 45].map(|most| {
            let config = Config {
                send_bundle: SendBundle::Packets(most),
                ..config.clone()
            };
            let mut run = Run::new(&routes, "reno", &config, 1 << 32, Time::ZERO);
            run.until(Time::from_millis(100));
            run.subflow(0).path.window
        });
        assert!(
            windows[1] > 0.9 * windows[0],
            "{windows:?}, {window_validation}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// A flow of any size ends, over queues of any length. Where nothing is lost, it needs no timeout for that, and little more
    /// time than without bundles.
    #[test]
    fn a_flow_of_any_size_ends(
        size in prop_oneof![1u64..20_000, 20_000u64..3_000_000],
        most in 2u32..64,
        (subflows, upstreams, validates, delays_acks) in (1usize..4, any::<bool>(), any::<bool>(), any::<bool>()),
        window in 1u32..64,
        gather in 0u64..30,
        limit in prop_oneof![Just(usize::MAX), 3usize..100],
        (mbps, delay) in (1u64..10_000, 1u64..3_000),
        controller in prop_oneof![Just("reno"), Just("dctcp"), Just("xmp"), Just("lia")],
    ) {
        let base = if upstreams { upstream() } else { Config::textbook() };
        let config = |most| Config {
            send_bundle: SendBundle::Packets(most),
            initial_window: f64::from(window),
            window_validation: validates,
            ack_every: if delays_acks { 2 } else { 1 },
            ack_gather: after(gather),
            ..base.clone()
        };
        let routes = vec![route(mbps, limit, after(delay)); subflows];
        let [time, alone] = [most, 1].map(|most| {
            let mut run = Run::new(&routes, controller, &config(most), size, Time::ZERO);
            let time = run.finish();
            if limit == usize::MAX && mbps > 100 {
                let timeouts = (0..subflows).map(|number| run.subflow(number).timeouts);
                assert_eq!(timeouts.sum::<u64>(), 0);
            }
            time
        });
        if limit == usize::MAX {
            let slack = Time::from_millis(100) + after(delay) * 12;
            prop_assert!(time < alone + alone / 2 + slack, "{time} with bundles, {alone} without");
        }
    }
}

#[test]
fn a_host_that_holds_packets_back_sends_bundles() {
    let config = Config {
        host_port: HostPort::HoldsBack,
        initial_ssthresh: 60.0,
        ..config()
    };
    let routes = [route(10_000, 100_000, after(20))];
    let mut run = Run::new(&routes, "dctcp", &config, 20_000_000, Time::ZERO);
    run.finish();
    let mut bursts: Vec<(Time, u32)> = Vec::new();
    for sent in run.network.data_on(0) {
        match bursts.last_mut() {
            Some((at, count)) if *at == sent.at => *count += 1,
            _ => bursts.push((sent.at, 1)),
        }
    }
    let packets: u32 = bursts.iter().map(|(_, count)| count).sum();
    let mean = f64::from(packets) / bursts.len() as f64;
    assert!(mean > 8.0, "{mean} packets at a time");
}

/// A subflow that its controller suspends sends what is in its queue, and nothing beyond it.
#[test]
fn a_suspended_subflow_sends_no_new_data() {
    for most in [1, 45] {
        let entry = pathweave_control::find("reno").expect("a controller");
        let config = Config {
            initial_window: 20.0,
            handshake: Handshake::None,
            reinjection: crate::Reinject::Timer,
            joins: crate::Joins::AfterHandshake,
            send_bundle: SendBundle::Packets(most),
            ..config()
        };
        let mut endpoints = Endpoints::default();
        let id = endpoints.add(Opening {
            subflows: 2,
            send_bundle: most,
            ..Opening::new(0, Arc::new(config), (entry.build)(&entry.defaults()))
        });
        let mut wishes = Wishes::default();
        endpoints.start(id, Time::ZERO, &mut wishes);
        let mut first = Wishes {
            packets: wishes.packets.drain(..2).collect(),
            ..Wishes::default()
        };
        carry(&mut endpoints, after(50), &[], &mut first);
        let connection = &mut endpoints.sending.connections[0];
        connection.paths[1].may_send = false;
        connection.paths[1].window = 60.0;
        if let Some(queues) = &mut connection.queues {
            queues.queue(pathweave_control::SubflowId(1)).push(5);
        }
        let mut out = Wishes {
            packets: vec![first.packets.remove(0)],
            ..Wishes::default()
        };
        carry(&mut endpoints, after(2000), &[], &mut out);
        let on_second = out.packets.iter().filter(
            |(_, packet)| matches!(packet.destination(), End::Receiving(place) if place.0 == 1),
        );
        let data: Vec<u32> = on_second.map(|(_, packet)| packet.data_number).collect();
        assert_eq!(data, [5], "bundles of {most}");
    }
}
