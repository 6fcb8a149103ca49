//! Retransmission timeouts: how long the first one takes, and what ends what it has begun.

use super::multipath::{Route, Run};
use super::*;
use crate::Config;
use crate::segment::Kind;

const DELAY: Time = Time::from_millis(1);

/// When data left the source on a subflow.
fn times_on(run: &Run, subflow: u32) -> Vec<Time> {
    run.network.data_on(subflow).map(|sent| sent.at).collect()
}

/// A path on which all data is lost that leaves in the first 10 ms; handshakes get through.
fn loses_first_data(handshake_ends: Time) -> Route {
    Route {
        down: (handshake_ends, Time::from_millis(10)),
        ..Route::new(10_000, 100, DELAY)
    }
}

#[test]
fn without_a_sample_from_the_handshake_the_first_data_waits_for_the_initial_timeout() {
    for (rtt_from_handshake, wait) in [(true, 200), (false, 1500)] {
        let config = Config {
            rtt_from_handshake,
            initial_rto: Time::from_millis(1500),
            initial_window: 1.0,
            ..Config::textbook()
        };
        let routes = [loses_first_data(Time::from_micros(1500))];
        let mut run = Run::new(&routes, "reno", &config, 1448, Time::ZERO);
        run.until(Time::from_millis(3));
        let has_rtt = run.subflow(0).path.has_rtt();
        assert_eq!(has_rtt, rtt_from_handshake);
        run.finish();
        let times = times_on(&run, 0);
        assert_eq!(times.len(), 2, "{times:?}");
        assert_eq!(times[1] - times[0], Time::from_millis(wait));
    }
}

/// The second subflow's handshake ends an RTT after that of the first.
#[test]
fn nor_does_a_join_give_one() {
    for (rtt_from_handshake, wait) in [(true, 200), (false, 1500)] {
        let config = Config {
            rtt_from_handshake,
            initial_rto: Time::from_millis(1500),
            initial_window: 1.0,
            reinject_after: None,
            ..Config::textbook()
        };
        let routes = [
            Route::new(10_000, 100, DELAY),
            loses_first_data(Time::from_micros(3500)),
        ];
        for controller in ["lia", "olia", "balia", "xmp", "eutcp", "amp", "wvegas"] {
            let mut run = Run::new(&routes, controller, &config, 300 * 1448, Time::ZERO);
            run.finish();
            let syns = run.network.sent.iter();
            let syns = syns.filter(|sent| sent.kind == Kind::Syn).count();
            assert_eq!(syns, 2, "{controller}");
            let times = times_on(&run, 1);
            let waited = times[1] - times[0];
            assert_eq!(waited, Time::from_millis(wait), "{controller}: {times:?}");
        }
    }
}

/// A connection that answers a request had a handshake, too, even if it was not simulated.
#[test]
fn nor_does_the_handshake_of_a_connection_that_is_open_already() {
    for (rtt_from_handshake, wait) in [(true, 200), (false, 1500)] {
        let config = Config {
            rtt_from_handshake,
            initial_rto: Time::from_millis(1500),
            ..Config::textbook()
        };
        let (_, _, wishes) = super::tests::started_established("reno", 10, config, true);
        let (_, at) = wishes.timers[0];
        assert_eq!(at, Time::from_millis(wait));
    }
}
