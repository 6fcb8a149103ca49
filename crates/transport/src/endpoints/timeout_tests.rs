//! Retransmission timeouts: how long the first one takes, and what ends what it has begun.

use super::multipath::{Route, Run};
use super::tests::{Wishes, carry, numbers_sent, started, started_established};
use super::*;
use crate::output::TimerKind;
use crate::segment::Kind;
use crate::{BackoffUntil, Config, Recovery};

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
        let (_, _, wishes) = started_established("reno", 10, config, true);
        let (_, at) = wishes.timers[0];
        assert_eq!(at, Time::from_millis(wait));
    }
}

/// A flow with ten packets on their way, as ns-3.19 recovers and counts unless `config` says otherwise.
struct Ten {
    endpoints: Endpoints,
    id: ConnectionId,
    wishes: Wishes,
    now: Time,
}

impl Ten {
    fn new(recovery: Recovery, config: Config) -> Ten {
        let config = Config {
            recovery,
            limited_transmit: false,
            ack_every: 1,
            slow_start_limit: Some(1),
            ..config
        };
        let (endpoints, id, wishes) = started("reno", 200, config);
        assert_eq!(numbers_sent(&wishes), (0..10).collect::<Vec<_>>());
        Ten {
            endpoints,
            id,
            wishes,
            now: Time::ZERO,
        }
    }

    /// Lets what is on its way arrive.
    fn arrive(&mut self) {
        self.now += Time::from_micros(100);
        carry(&mut self.endpoints, self.now, &[], &mut self.wishes);
    }

    /// Loses what is on its way.
    fn lose(&mut self) {
        self.lose_if(|_| true);
    }

    /// Loses what is on its way, of data only what has such a number.
    fn lose_if(&mut self, is_lost: impl Fn(u32) -> bool) {
        for (shape, segment) in std::mem::take(&mut self.wishes.packets) {
            if is_lost(segment.data_number) {
                self.endpoints.on_lost(&segment);
            } else {
                self.wishes.packets.push((shape, segment));
            }
        }
    }

    /// Lets the retransmission timer expire. Returns the time since the last event.
    fn time_out(&mut self) -> Time {
        let (before, timeouts) = (self.now, self.view().timeouts);
        while self.view().timeouts == timeouts {
            let next = self.wishes.timers.iter().copied().min_by_key(|&(_, at)| at);
            let (timer, at) = next.expect("a timer is set");
            self.wishes.timers.retain(|&set| set != (timer, at));
            self.now = at;
            if timer.kind == TimerKind::Retransmission {
                self.endpoints.on_timer(timer, at, &mut self.wishes);
            }
        }
        self.now - before
    }

    fn view(&self) -> SendingView<'_> {
        let subflow = self.endpoints.subflows(self.id).next();
        self.endpoints.subflow(subflow.expect("a subflow"))
    }
}

/// Packets 0 to 3 and 9 of ten are lost, and the acknowledgements of the others. The timeout sends all of them again, so that
/// 4 to 6 arrive twice and are answered by three duplicates of the acknowledgement of everything below 9. Returns ssthresh
/// then, and the numbers that leave.
fn after_needless_duplicates(recovery: Recovery, recover_after_timeout: bool) -> (f64, Vec<u32>) {
    let mut flow = Ten::new(
        recovery,
        Config {
            recover_after_timeout,
            ..Config::textbook()
        },
    );
    flow.lose_if(|number| number < 4 || number == 9);
    flow.arrive();
    flow.lose();
    flow.time_out();
    for sent in [&[0][..], &[1, 2], &[3, 4, 5, 6]] {
        assert_eq!(numbers_sent(&flow.wishes), sent);
        flow.arrive();
        flow.arrive();
    }
    (flow.view().path.ssthresh, numbers_sent(&flow.wishes))
}

#[test]
fn duplicates_of_what_a_timeout_has_sent_again_start_fast_retransmit_only_without_the_check() {
    for recovery in [Recovery::NewReno, Recovery::Reno] {
        let (ssthresh, sent) = after_needless_duplicates(recovery, true);
        assert_eq!((ssthresh, &sent[..]), (5.0, &[9, 10, 11, 12, 13][..]));
        let (ssthresh, sent) = after_needless_duplicates(recovery, false);
        assert_eq!((ssthresh, &sent[..]), (2.5, &[9, 10, 11, 12, 13, 9][..]));
    }
}

#[test]
fn the_backoff_ends_with_new_data_acknowledged_or_only_with_data_sent_after_the_timeout() {
    for (backoff_until, wait, has_rtt) in [
        (BackoffUntil::NewAck, Time::from_millis(200), true),
        // Two timeouts, and no sample.
        (BackoffUntil::NewData, Time::from_secs(4), false),
    ] {
        let mut flow = Ten::new(
            Recovery::NewReno,
            Config {
                backoff_until,
                ..Config::textbook()
            },
        );
        for expected in [1, 2] {
            flow.lose();
            assert_eq!(flow.time_out(), Time::from_secs(expected));
        }
        flow.arrive();
        flow.arrive();
        let view = flow.view();
        assert_eq!((view.path.acked, view.path.has_rtt()), (1, has_rtt));
        flow.lose();
        assert_eq!(flow.time_out(), wait);
        while flow.view().path.acked <= 10 {
            flow.arrive();
        }
        assert!(flow.view().path.has_rtt());
        flow.lose();
        assert_eq!(flow.time_out(), Time::from_millis(200));
    }
}

/// Reno leaves fast recovery with the first new acknowledgement, when much of what the timeout has sent again is still on its
/// way: acknowledgements come in order then, and still leave the timeout backed off.
#[test]
fn renos_way_out_of_a_false_fast_recovery_does_not_end_the_backoff() {
    let mut flow = Ten::new(
        Recovery::Reno,
        Config {
            recover_after_timeout: false,
            backoff_until: BackoffUntil::NewData,
            ..Config::textbook()
        },
    );
    flow.lose_if(|number| !(4..8).contains(&number));
    flow.arrive();
    flow.lose();
    flow.time_out();
    for _ in 0..3 {
        flow.arrive();
        flow.arrive();
    }
    // Packet 8 has been sent again twice, by the timeout and by the false fast retransmit, and 9 once.
    flow.lose_if(|number| number > 9);
    flow.arrive();
    flow.arrive();
    assert_eq!(
        (flow.view().path.acked, flow.view().path.has_rtt()),
        (10, false)
    );
    flow.lose();
    assert_eq!(flow.time_out(), Time::from_secs(2));
}
