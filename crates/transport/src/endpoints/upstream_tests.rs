//! MPTCP as in upstream Linux: its scheduler, its joins, its receive window, and its timer for sending data again on another
//! subflow.

use super::multipath::{Route, Run, upstream};
use super::*;
use crate::segment::Kind;
use crate::{Config, Handshake, Joins, ReceiveWindow, Reinject, SegmentScheduler};
use pathweave_control::PathState;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const MSS: u64 = 1424;

/// Subflows that are open from the start.
fn open_at_once(config: Config) -> Config {
    Config {
        handshake: Handshake::None,
        joins: Joins::AfterHandshake,
        ..config
    }
}

fn fast(delay: Time) -> Route {
    Route::new(10_000, 10_000, delay)
}

/// Numbers of the data that left on a subflow.
fn data_on(run: &Run, subflow: u32) -> Vec<u32> {
    run.network.data_on(subflow).map(|sent| sent.data).collect()
}

#[test]
fn a_subflow_keeps_its_burst_behind_its_window() {
    let config = open_at_once(Config {
        receive_window: ReceiveWindow::Unlimited,
        ..upstream()
    });
    let routes = [fast(Time::from_millis(5)); 2];
    let mut run = Run::new(&routes, "reno", &config, 1000 * MSS, Time::ZERO);
    run.until(Time::from_millis(5));
    // Two fragments of 32 KB are 46 packets. The windows let ten of each burst leave.
    assert_eq!(data_on(&run, 0), (0..10).collect::<Vec<_>>());
    assert_eq!(data_on(&run, 1), (46..56).collect::<Vec<_>>());
    // Both send buffers are full then: 46 * (1424 + 960) B of 2 * 10 * 4352 B.
    assert_eq!(run.endpoints.sending.connections[0].next_data, 92);
    run.until(Time::from_millis(15));
    let first = data_on(&run, 0);
    assert!(
        first.len() > 20 && first[..first.len()] == (0..first.len() as u32).collect::<Vec<_>>()
    );
    run.finish();
    assert_eq!(run.subflow(0).retransmits + run.subflow(1).retransmits, 0);
}

#[test]
fn a_short_flow_stays_on_the_subflow_that_got_its_only_burst() {
    let config = open_at_once(upstream());
    let routes = [fast(Time::from_millis(5)); 2];
    let mut run = Run::new(&routes, "reno", &config, 46 * MSS, Time::ZERO);
    run.finish();
    assert_eq!(data_on(&run, 0), (0..46).collect::<Vec<_>>());
    assert!(data_on(&run, 1).is_empty());
}

#[test]
fn a_burst_is_no_larger_than_the_receive_window() {
    let config = open_at_once(Config {
        receive_window: ReceiveWindow::Connection(Bytes::new(30 * MSS)),
        ..upstream()
    });
    let routes = [fast(Time::from_millis(5)); 2];
    let mut run = Run::new(&routes, "reno", &config, 1000 * MSS, Time::ZERO);
    run.until(Time::from_millis(5));
    assert_eq!(run.endpoints.sending.connections[0].next_data, 30);
    assert!(data_on(&run, 1).is_empty());
    run.finish();
}

#[test]
fn a_small_send_buffer_takes_one_fragment() {
    let config = open_at_once(Config {
        send_buffer: Bytes::new(50_000),
        ..upstream()
    });
    let routes = [fast(Time::from_millis(5)); 2];
    let mut run = Run::new(&routes, "reno", &config, 1000 * MSS, Time::ZERO);
    run.until(Time::from_millis(5));
    // 23 * (1424 + 960) B fill it.
    assert_eq!(data_on(&run, 1), (23..33).collect::<Vec<_>>());
    run.finish();
}

/// SYN, SYN-ACK and the first data take two RTTs; so do the handshake of the second subflow and its fourth packet.
#[test]
fn subflows_join_after_data_was_acknowledged() {
    let delay = Time::from_millis(1);
    let routes = [fast(delay); 2];
    let mut run = Run::new(&routes, "reno", &upstream(), 1000 * MSS, Time::ZERO);
    run.finish();
    let mut second = run.network.sent.iter().filter(|sent| sent.subflow == 1);
    let mut next = |kind: Kind, rtts: u64| {
        let sent = second.next().expect("a packet");
        let late = sent.at.saturating_sub(delay * 2 * rtts);
        assert!(
            sent.at >= delay * 2 * rtts && late < Time::from_micros(20),
            "{sent:?}"
        );
        assert_eq!(sent.kind, kind);
    };
    next(Kind::Syn, 2);
    next(Kind::Syn, 3);
    next(Kind::Data, 4);
}

#[test]
fn a_lost_third_packet_is_sent_again() {
    let delay = Time::from_millis(1);
    let down = (Time::from_micros(5_500), Time::from_micros(6_500));
    let routes = [
        fast(delay),
        Route {
            down,
            ..fast(delay)
        },
    ];
    let mut run = Run::new(&routes, "reno", &upstream(), 300_000 * MSS, Time::ZERO);
    run.until(Time::from_millis(300));
    let handshake = run.network.sent.iter();
    let handshake = handshake.filter(|sent| sent.subflow == 1 && sent.kind == Kind::Syn);
    let times: Vec<Time> = handshake.map(|sent| sent.at).collect();
    assert_eq!(times.len(), 3, "{times:?}");
    assert!(times[2] - times[1] > Time::from_millis(200));
    assert!(run.network.data_on(1).count() > 0);
}

#[test]
fn a_flow_that_ends_with_its_first_acknowledgement_has_no_second_subflow() {
    let routes = [fast(Time::from_millis(1)); 2];
    let mut run = Run::new(&routes, "reno", &upstream(), MSS, Time::ZERO);
    while run.step() {}
    assert!(run.network.closed);
    assert!(run.network.sent.iter().all(|sent| sent.subflow == 0));
    assert!(!run.subflow(1).is_open);
}

/// A path dies for good. The connection's timer finds the idle path and sends the oldest data there, a fragment at a time; the
/// fifth time the dead one is stale, and all of its data follows.
#[test]
fn the_timer_sends_a_fragment_again_and_then_all() {
    let delay = Time::from_millis(1);
    let down = (Time::from_millis(50), Time::MAX);
    let config = Config {
        receive_window: ReceiveWindow::Unlimited,
        ..upstream()
    };
    let routes = [
        Route::new(100, 50, delay),
        Route {
            down,
            ..Route::new(100, 50, delay)
        },
    ];
    let mut run = Run::new(&routes, "reno", &config, 20_000_000, Time::ZERO);
    let mut steps = Vec::new();
    let mut before = 0;
    while run.network.finished.is_none() {
        assert!(run.step());
        let second = run.subflow(1);
        if second.reinjected > before {
            let has_failed = second.path.state == PathState::Failed;
            steps.push((run.network.now, second.reinjected - before, has_failed));
            before = second.reinjected;
        }
    }
    // The other path first has to run out of data for which there is room in the send buffers.
    let (first, ..) = steps[0];
    assert!(
        first > Time::from_millis(50) && first < Time::from_millis(350),
        "{steps:?}"
    );
    // A fragment of 23 packets at a time, at least as far apart as the shortest timeout, and with the last firing all.
    let (all, fragments) = steps.split_last().expect("steps");
    assert!(!fragments.is_empty(), "{steps:?}");
    assert!(
        fragments
            .iter()
            .all(|&(_, count, has_failed)| count <= 23 && !has_failed),
        "{steps:?}"
    );
    assert!(all.1 > 0 && all.2, "{steps:?}");
    let apart = steps.windows(2).map(|pair| pair[1].0 - pair[0].0);
    assert!(apart.min() > Some(Time::from_millis(20)), "{steps:?}");
}

/// What is queued on a stale subflow is sent elsewhere, and a packet from it revives it.
#[test]
fn a_stale_subflow_takes_part_again_when_its_path_returns() {
    let delay = Time::from_millis(1);
    let down = (Time::from_millis(50), Time::from_secs(4));
    let config = Config {
        receive_window: ReceiveWindow::Unlimited,
        ..upstream()
    };
    let routes = [
        Route::new(10, 100, delay),
        Route {
            down,
            ..Route::new(10, 100, delay)
        },
    ];
    let mut run = Run::new(&routes, "reno", &config, 20_000_000, Time::ZERO);
    run.until(Time::from_secs(3));
    let state = |run: &Run| run.subflow(1).path.state;
    assert_eq!(state(&run), PathState::Failed);
    let before = run.network.data_on(1).count();
    run.until(Time::from_secs(9));
    assert_eq!(state(&run), PathState::Active);
    assert!(run.network.data_on(1).count() > before + 1000);
    run.finish();
}

#[test]
fn the_timer_also_serves_other_schedulers() {
    let delay = Time::from_millis(1);
    for scheduler in [SegmentScheduler::LowestRtt, SegmentScheduler::RoundRobin] {
        let config = Config {
            scheduler,
            ..upstream()
        };
        let down = (Time::from_millis(50), Time::MAX);
        let routes = [
            Route::new(100, 100, delay),
            Route {
                down,
                ..Route::new(100, 100, delay)
            },
        ];
        let mut run = Run::new(&routes, "reno", &config, 2_000_000, Time::ZERO);
        let end = run.finish();
        assert!(
            end > Time::from_millis(200) && end < Time::from_secs(5),
            "{end}"
        );
        assert!(run.subflow(1).reinjected > 0);
    }
}

#[test]
fn with_one_subflow_the_settings_of_several_do_not_matter() {
    let route = Route::new(100, 20, Time::from_millis(1));
    let unlimited = Config {
        receive_window: ReceiveWindow::Unlimited,
        ..upstream()
    };
    let sent = |config: &Config| {
        let mut run = Run::new(&[route], "cubic", config, 2_000_000, Time::ZERO);
        run.finish();
        let sent = run.network.sent.iter();
        sent.map(|sent| (sent.at, sent.kind, sent.data))
            .collect::<Vec<_>>()
    };
    let textbook = Config {
        scheduler: SegmentScheduler::LowestRtt,
        joins: Joins::AfterHandshake,
        reinjection: Reinject::Timeouts,
        ..unlimited.clone()
    };
    assert!(sent(&unlimited) == sent(&textbook));
}

/// The window starts at 64 KB; what the application reads in a round trip makes it larger, up to the receive buffer.
#[test]
fn the_receive_window_grows_with_what_is_read() {
    let delay = Time::from_millis(5);
    let config = Config {
        initial_window: 5000.0,
        handshake: Handshake::None,
        receive_buffer: Bytes::new(3_000_000),
        ..upstream()
    };
    let mut run = Run::new(&[fast(delay)], "reno", &config, 30_000_000, Time::ZERO);
    // Sent in each RTT.
    let mut rounds = Vec::new();
    let mut before = 0;
    for round in 1..=8u64 {
        run.until(delay * 2 * round - Time::from_micros(1));
        let sent = run.network.data_on(0).count();
        rounds.push((sent - before) as u64);
        before = sent;
    }
    assert_eq!(rounds[0], 65_535 / MSS);
    assert!(
        rounds[1] >= rounds[0] && rounds[2] > 2 * rounds[0],
        "{rounds:?}"
    );
    let largest = rounds.iter().max().expect("rounds");
    assert!(
        *largest <= 3_000_000 / MSS && *largest > 2_900_000 / MSS,
        "{rounds:?}"
    );
    run.finish();
}

/// A path of any kind, and when it is down if it may be.
fn route() -> impl Strategy<Value = (Route, (u64, u64))> {
    let down = (
        0u64..300_000,
        prop_oneof![1u64..600_000, Just(u64::MAX / 2_000_000)],
    );
    (1u64..200, 3usize..60, 10u64..20_000, down).prop_map(|(mbps, limit, micros, down)| {
        let route = Route::new(mbps, limit, Time::from_micros(micros));
        (route, (down.0, down.0 + down.1))
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 150,
        rng_seed: RngSeed::Fixed(2018),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    /// Whatever paths there are, and whenever one of them fails, a flow ends.
    #[test]
    fn flows_end_over_any_paths(
        routes in prop::collection::vec(route(), 1..4),
        failing in 0usize..3,
        size in 1u64..3_000_000,
        controller in prop::sample::select(vec!["cubic", "reno", "lia", "olia", "xmp"]),
        scheduler in prop::sample::select(vec![
            SegmentScheduler::LowestRtt,
            SegmentScheduler::QueuedBytes,
        ]),
        joins in prop::sample::select(vec![Joins::AfterHandshake, Joins::DataAcknowledged]),
        reinjection in prop::sample::select(vec![Reinject::Timeouts, Reinject::Timer]),
        window in prop::sample::select(vec![ReceiveWindow::Unlimited, ReceiveWindow::Auto]),
        send_buffer in 2_000u64..1_000_000,
    ) {
        let config = Config {
            scheduler,
            joins,
            reinjection,
            receive_window: window,
            send_buffer: Bytes::new(send_buffer),
            ..upstream()
        };
        // The first subflow has to open.
        let routes: Vec<Route> = routes
            .into_iter()
            .enumerate()
            .map(|(number, (route, (from, to)))| {
                let down = (Time::from_micros(from), Time::from_micros(to));
                match number > 0 && number == failing {
                    true => Route { down, ..route },
                    false => route,
                }
            })
            .collect();
        let mut run = Run::new(&routes, controller, &config, size, Time::ZERO);
        let end = run.finish();
        prop_assert!(end < Time::from_secs(600), "{end}");
        prop_assert_eq!(run.endpoints.delivered(run.id), Bytes::new(size));
    }
}

/// Rows of measurements with kernel 6.18 over two paths: size of the flow, Mbps, controller, completion times in milliseconds
/// (minimum, median, maximum), and how far the median may be off, in percent.
type Row = (u64, [u64; 2], &'static str, [f64; 3], f64);

/// The rows.
const KERNEL: [Row; 8] = [
    (4_000_000, [100, 100], "cubic", [170.6, 171.3, 172.2], 10.0),
    (4_000_000, [100, 25], "cubic", [298.8, 313.9, 332.6], 10.0),
    (4_000_000, [100, 25], "reno", [301.7, 378.1, 493.3], 25.0),
    (1_000_000, [100, 100], "cubic", [42.8, 43.2, 44.1], 10.0),
    (1_000_000, [100, 2], "cubic", [1058.0, 1185.0, 1443.0], 25.0),
    (1_000_000, [100, 2], "reno", [190.7, 1027.5, 1621.1], 25.0),
    (8_000_000, [10, 3], "cubic", [5633.8, 5845.5, 6029.4], 10.0),
    (100_000, [100, 25], "cubic", [11.3, 11.4, 40.3], 30.0),
];

/// RTT about 0.1 ms, a little different for each flow; queues of 50 packets behind token buckets of 3,100 B.
#[test]
fn unequal_paths_take_as_long_as_in_the_kernel() {
    let mut outside = Vec::new();
    for (size, rates, controller, kernel, within) in KERNEL {
        let mut all: Vec<(f64, u64)> = (0..12)
            .map(|start| {
                let delay = Time::from_micros(45 + start);
                let routes = rates.map(|mbps| Route {
                    bucket: Bytes::new(3100),
                    ..Route::new(mbps, 50, delay)
                });
                let phase = Time::from_micros(4000 * start / 12);
                let mut run = Run::new(&routes, controller, &upstream(), size, phase);
                let end = run.finish() + delay;
                let second = run.network.data_on(1).count() as u64 * MSS;
                (end.as_secs_f64() * 1e3, second / 1000)
            })
            .collect();
        all.sort_by(|one, other| one.0.total_cmp(&other.0));
        let [least, middle, most] = [all[0], all[6], all[11]];
        println!(
            "{size:8} B {rates:?} {controller:5}: {:8.2} {:8.2} {:8.2} ms, kernel {kernel:?}; {} KB on the second path",
            least.0, middle.0, most.0, middle.1
        );
        if (middle.0 / kernel[1] - 1.0).abs() * 100.0 > within {
            outside.push((size, rates, controller));
        }
    }
    assert!(outside.is_empty(), "{outside:?}");
}
