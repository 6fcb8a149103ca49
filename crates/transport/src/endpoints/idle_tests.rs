//! Windows after idle time, and windows that are not full.

use super::tests::{Wishes, carry, started};
use super::*;
use crate::output::TimerKind;
use crate::{Config, ReceiveWindow, Reduction};
use pathweave_control::Path;

const RTO: Time = Time::from_millis(200);

fn path(endpoints: &Endpoints, id: ConnectionId) -> Path {
    let subflow = endpoints.subflows(id).next().expect("a subflow");
    endpoints.subflow(subflow).path.clone()
}

/// A flow of one subflow, whose packets take 50 us in each direction.
struct Flow {
    endpoints: Endpoints,
    id: ConnectionId,
    wishes: Wishes,
    now: Time,
}

impl Flow {
    fn new(controller: &str, config: Config) -> Flow {
        let (endpoints, id, wishes) = started(controller, 100_000, config);
        Flow {
            endpoints,
            id,
            wishes,
            now: Time::ZERO,
        }
    }

    fn path(&self) -> Path {
        path(&self.endpoints, self.id)
    }

    /// Packets arrive, and their ACKs.
    fn round(&mut self) {
        for _ in 0..2 {
            self.now += Time::from_micros(50);
            carry(&mut self.endpoints, self.now, &[], &mut self.wishes);
        }
        // What has a timer.
        let (due, waiting): (Vec<_>, Vec<_>) = std::mem::take(&mut self.wishes.timers)
            .into_iter()
            .partition(|(timer, _)| timer.kind == TimerKind::DelayedAck);
        self.wishes.timers = waiting;
        for (timer, at) in due {
            self.endpoints.on_timer(timer, at, &mut self.wishes);
        }
    }

    fn rounds(mut self, count: u32) -> Flow {
        (0..count).for_each(|_| self.round());
        self
    }

    /// Acknowledges everything, and sends nothing until `idle` has passed since the last packet was sent, as a controller
    /// does that suspends a subflow. Then lets `most` packets go, and returns how many leave.
    fn pause(&mut self, idle: Time, most: u32) -> usize {
        let last_sent = self.now;
        self.endpoints.sending.connections[0].paths[0].may_send = false;
        self.round();
        assert!(self.wishes.packets.is_empty());
        let connection = &mut self.endpoints.sending.connections[0];
        connection.paths[0].may_send = true;
        connection.receive_window = connection.next_data - connection.data_acked + most;
        self.now = last_sent + idle;
        let sender = &mut self.endpoints.sending.senders[0];
        assert_eq!(sender.board.outstanding(), 0);
        sender.pace_timer_at = self.now;
        let timer = sender.timer(TimerKind::Pace, 0);
        self.endpoints.on_timer(timer, self.now, &mut self.wishes);
        self.wishes.packets.len()
    }
}

/// ACKs of single packets, so that no ACK is delayed.
fn config() -> Config {
    Config {
        ack_every: 1,
        ..Config::textbook()
    }
}

fn restarting() -> Config {
    Config {
        idle_restart: true,
        ..config()
    }
}

fn validating() -> Config {
    Config {
        window_validation: true,
        ..config()
    }
}

#[test]
fn a_window_is_halved_for_each_timeout_of_idle_time() {
    for (tenths, window) in [
        (5, 160.0),
        (10, 160.0),
        (11, 80.0),
        (15, 80.0),
        (20, 80.0),
        (25, 40.0),
        (45, 10.0),
        (50, 10.0),
        (1000, 10.0),
    ] {
        for (config, expected) in [(restarting(), window), (config(), 160.0)] {
            let mut flow = Flow::new("reno", config).rounds(3);
            assert_eq!(flow.path().window, 80.0);
            let sent = flow.pause(RTO / 10 * tenths, 100_000);
            assert_eq!(flow.path().window, expected, "{tenths} tenths of a timeout");
            assert_eq!(sent, expected as usize);
            assert!(flow.path().in_slow_start());
        }
    }
}

/// The window after idle time that began with a window of less than 10 packets, which is the initial window.
fn small_window_after_idle_time(idle_restart: bool) -> f64 {
    let config = Config {
        idle_restart,
        ..config()
    };
    let mut flow = Flow::new("reno", config).rounds(1);
    let path = &mut flow.endpoints.sending.connections[0].paths[0];
    (path.window, path.ssthresh) = (3.0, 2.0);
    flow.pause(RTO * 5, 100_000);
    flow.path().window
}

#[test]
fn idle_time_leaves_the_initial_window_and_none_above_the_old_one() {
    let config = Config {
        initial_window: 24.0,
        ..restarting()
    };
    let mut flow = Flow::new("reno", config).rounds(1);
    flow.pause(RTO * 5, 100_000);
    assert_eq!(flow.path().window, 24.0);
    let windows = [
        small_window_after_idle_time(true),
        small_window_after_idle_time(false),
    ];
    assert_eq!(windows[0], windows[1]);
    assert!(windows[0] < 10.0, "{}", windows[0]);
}

#[test]
fn ssthresh_is_at_least_three_quarters_of_the_old_window() {
    for (initial_ssthresh, rounds) in [(12.0, 12), (40.0, 3), (1000.0, 3)] {
        let config = Config {
            initial_ssthresh,
            ..restarting()
        };
        let mut before = Flow::new("reno", config.clone()).rounds(rounds);
        before.pause(RTO, 100_000);
        let before = before.path();
        let mut flow = Flow::new("reno", config).rounds(rounds);
        flow.pause(RTO * 2, 100_000);
        let after = flow.path();
        assert_eq!(after.ssthresh, initial_ssthresh.max(0.75 * before.window));
        assert_eq!(after.window, (before.window / 2.0).max(10.0));
    }
}

#[test]
fn cubic_resumes_where_it_was_before_the_idle_time() {
    let window_after = |idle_restart, idle| {
        let config = Config {
            initial_window: 20.0,
            initial_ssthresh: 20.0,
            idle_restart,
            // Longer than the idle time.
            minimum_rto: Time::from_secs(20),
            initial_rto: Time::from_secs(20),
            ..config()
        };
        let mut flow = Flow::new("cubic", config).rounds(3);
        flow.pause(idle, 100_000);
        flow.rounds(3).path().window
    };
    let (short, long) = (Time::from_millis(1), Time::from_secs(10));
    let window = window_after(true, short);
    assert_eq!(window_after(true, long), window);
    assert!(window_after(false, long) > 1.5 * window);
}

#[test]
fn a_full_window_grows_with_validation_as_without() {
    for controller in ["reno", "cubic", "dctcp"] {
        for initial_ssthresh in [f64::INFINITY, 15.0] {
            let windows = [config(), validating()].map(|config| {
                let config = Config {
                    initial_ssthresh,
                    ..config
                };
                let mut flow = Flow::new(controller, config);
                (0..6)
                    .map(|_| {
                        flow.round();
                        flow.path().window
                    })
                    .collect::<Vec<_>>()
            });
            assert_eq!(windows[0], windows[1], "{controller}");
            assert!(windows[0][5] > 15.0);
        }
    }
}

#[test]
fn a_window_that_is_not_full_grows_only_to_twice_its_use_and_only_in_slow_start() {
    // The receiver lets 16 packets go.
    let limited = |config: Config, initial_window, initial_ssthresh| {
        let config = Config {
            initial_window,
            initial_ssthresh,
            receive_window: ReceiveWindow::Connection(Bytes::new(16 * 1448)),
            ..config
        };
        Flow::new("reno", config).rounds(20).path().window
    };
    assert_eq!(limited(validating(), 10.0, f64::INFINITY), 32.0);
    assert_eq!(limited(validating(), 20.0, 20.0), 20.0);
    // One rule for the connection: the window does not grow once the receiver's window limits it.
    let textbook = limited(config(), 10.0, f64::INFINITY);
    assert!((16.0..=20.0).contains(&textbook), "{textbook}");
    assert_eq!(limited(config(), 20.0, 20.0), 20.0);
}

#[test]
fn a_window_that_was_full_may_grow_for_a_window_of_data() {
    let config = Config {
        initial_window: 20.0,
        initial_ssthresh: 20.0,
        ..validating()
    };
    let mut flow = Flow::new("reno", config);
    // From now on ten packets are outstanding at most; those that are out filled the window.
    flow.endpoints.sending.connections[0].receive_window = 10;
    flow.round();
    let after_one = flow.path().window;
    assert!((20.9..21.1).contains(&after_one), "{after_one}");
    let flow = flow.rounds(5);
    assert_eq!(flow.path().window, after_one);
}

#[test]
fn a_reduction_in_progress_leaves_windows_full() {
    let config = Config {
        reduction: Reduction::Proportional,
        initial_window: 20.0,
        initial_ssthresh: 10.0,
        ..validating()
    };
    let mut flow = Flow::new("dctcp", config);
    carry(
        &mut flow.endpoints,
        Time::from_micros(50),
        &[0],
        &mut flow.wishes,
    );
    flow.now = Time::from_micros(50);
    let flow = flow.rounds(3);
    let window = flow.path().window;
    assert!((10.0..16.0).contains(&window), "{window}");
    let later = flow.rounds(3).path().window;
    assert!(later > window + 2.0, "{window} and then {later}");
}
