//! CUBIC (RFC 9438): the window is a cubic function of the time since the last loss.
//!
//! With w the congestion window in packets, t in seconds since congestion avoidance began, and W_max
//! the window before the last loss:
//!
//! > W_cubic(t) = C (t - K)^3 + W_max, K = cbrt((W_max - w_epoch) / C), w_epoch = w at t = 0
//!
//! For each packet acknowledged in congestion avoidance:
//!
//! - W_est += alpha / w, the window Reno would have with CUBIC's cut; W_est starts at w_epoch, and
//!   alpha is 3 (1 - beta) / (1 + beta) until W_est reaches the window before the last loss, then 1;
//! - if W_cubic(t) < W_est: w = max(w, W_est) (the Reno-friendly region);
//! - else w += (target - w) / w, with target = W_cubic(t + tau) held between w and 1.5 w and tau the
//!   smoothed RTT.
//!
//! Loss: ssthresh = max(beta w, minimum window) and w falls to it; timeout: ssthresh = max(beta w, 2)
//! and w = 1. W_max is then w, or (1 + beta) w / 2 when w had not come back to W_max (fast
//! convergence). Congestion avoidance that begins at or above W_max, and that after a timeout, starts at the
//! plateau: K = 0 and W_max = w. Slow start is the common one.
//!
//! t does not count time in which the window could not grow: in recovery, while the window was not
//! what limited sending (section 4.2), and while nothing was in flight, if the transport reports it (section 5.8).
//!
//! Deviations: cuts are from the window, not from the flight size; the Reno-friendly region
//! never lowers the window; slow start ends by HyStart, as in Linux, where the transport says so, and not by HyStart++. A cut that is
//! undone (section 4.9) leaves W_max as it was before, and begins a new epoch. Packets are not ECN-capable. On several subflows it runs on each by
//! itself.

use crate::hystart::HyStart;
use crate::{
    Ack, Change, Controller, Ecn, Entry, Loss, Parameter, ParameterKind, Parameters, Path, Paths,
    PerSubflow, SubflowId, loss, slow_start,
};
use alloc::boxed::Box;
use pathweave_units::Time;

/// CUBIC in the registry.
pub const ENTRY: Entry = Entry {
    name: "cubic",
    summary: "Grows as a cubic function of the time since the last loss; the default of Linux hosts.",
    source: "RFC 9438",
    file: include_str!("cubic.rs"),
    coupled: false,
    scatter: None,
    scheme: None,
    ecn: |_| Ecn::Off,
    parameters: &[
        Parameter {
            name: "c",
            kind: ParameterKind::Number {
                default: 0.4,
                minimum: 0.001,
                maximum: 1000.0,
                integer: false,
            },
            help: "C, how steep the cubic function is, in packets per second cubed.",
        },
        Parameter {
            name: "beta",
            kind: ParameterKind::Number {
                default: 0.7,
                minimum: 0.5,
                maximum: 0.99,
                integer: false,
            },
            help: "Share of the window that a loss leaves; below 1/2 alpha would exceed 1.",
        },
        Parameter {
            name: "fast_convergence",
            kind: ParameterKind::Choice(&["on", "off"]),
            help: "Whether a flow whose window is shrinking aims lower, to make room for others.",
        },
    ],
    build: |parameters| Box::new(Cubic::new(parameters)),
};

/// The constants of the algorithm.
#[derive(Clone, Debug)]
struct Rules {
    c: f64,
    beta: f64,
    /// Reno's increase that matches a cut to beta: 3 (1 - beta) / (1 + beta).
    alpha: f64,
    fast_convergence: bool,
}

/// A stay in congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// When t was 0; moved forward by the time that t does not count.
    start: Time,
    /// The acknowledgement before this one.
    previous: Time,
    /// K, in seconds.
    k: f64,
    /// W_est, in packets.
    reno_window: f64,
}

#[derive(Clone, Copy, Debug)]
struct Subflow {
    /// W_max, in packets.
    w_max: f64,
    /// W_max before the last loss, in packets.
    w_max_before: f64,
    /// The window before the last loss, in packets.
    window_before: f64,
    epoch: Option<Epoch>,
    hystart: HyStart,
    /// Whether packets were lost since the connection began or since the last timeout.
    has_lost: bool,
}

impl Subflow {
    const FRESH: Subflow = Subflow {
        w_max: 0.0,
        w_max_before: 0.0,
        window_before: 0.0,
        epoch: None,
        hystart: HyStart::FRESH,
        has_lost: false,
    };

    fn begin_epoch(&mut self, path: &Path, now: Time, c: f64) -> Epoch {
        self.w_max = self.w_max.max(path.window);
        Epoch {
            start: now,
            previous: now,
            k: libm::cbrt((self.w_max - path.window) / c),
            reno_window: path.window,
        }
    }

    fn avoid_congestion(&mut self, path: &mut Path, packets: u32, now: Time, rules: &Rules) {
        let mut epoch = match self.epoch {
            Some(epoch) => epoch,
            None => self.begin_epoch(path, now, rules.c),
        };
        let packets = f64::from(packets);
        let w_cubic = |t: f64| {
            let from_plateau = t - epoch.k;
            rules.c * from_plateau * from_plateau * from_plateau + self.w_max
        };
        let t = now.saturating_sub(epoch.start).as_secs_f64();
        let cubic_window = w_cubic(t);
        let target = w_cubic(t + path.rtt_seconds()).clamp(path.window, 1.5 * path.window);

        let alpha = if epoch.reno_window < self.window_before {
            rules.alpha
        } else {
            1.0
        };
        epoch.reno_window += alpha * packets / path.window;
        let mut window = if cubic_window < epoch.reno_window {
            path.window.max(epoch.reno_window)
        } else {
            path.window + packets * (target - path.window) / path.window
        };
        // Without a loss there is no W_max. Linux then grows by at least one packet per 20 acknowledged (bictcp_update).
        if path.hystart && !self.has_lost {
            window = window.max(path.window + packets / 20.0);
        }
        path.window = window;
        epoch.previous = now;
        self.epoch = Some(epoch);
    }

    /// Time passes in which the window could not grow.
    fn pause(&mut self, now: Time) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start += now.saturating_sub(epoch.previous);
            epoch.previous = now;
        }
    }

    /// Packets have another size: windows are `factor` times as many.
    fn rescale(&mut self, factor: f64) {
        self.w_max *= factor;
        self.w_max_before *= factor;
        self.window_before *= factor;
        if let Some(epoch) = &mut self.epoch {
            epoch.k *= libm::cbrt(factor);
            epoch.reno_window *= factor;
        }
    }

    /// The last loss was none. The next epoch aims where the one before it did, or starts at its plateau if it was past that.
    fn undo(&mut self) {
        self.w_max = self.w_max_before;
        self.epoch = None;
    }

    fn on_loss(&mut self, path: &mut Path, loss: Loss, rules: &Rules) {
        self.w_max_before = self.w_max;
        let window = path.window;
        self.window_before = window;
        self.epoch = None;
        match loss {
            Loss::FastRetransmit => {
                self.has_lost = true;
                self.w_max = if rules.fast_convergence && window < self.w_max {
                    window * (1.0 + rules.beta) / 2.0
                } else {
                    window
                };
                loss::cut_to(path, window * rules.beta);
            }
            Loss::Timeout | Loss::PersistentCongestion => {
                // The next epoch starts at its plateau.
                self.w_max = 0.0;
                self.hystart.restart();
                self.has_lost = false;
                path.ssthresh = (window * rules.beta).max(2.0);
                path.window = loss::first_window(path, loss);
            }
        }
    }
}

#[derive(Clone, Debug)]
struct Cubic {
    rules: Rules,
    subflows: PerSubflow<Subflow>,
}

impl Cubic {
    fn new(parameters: &Parameters) -> Cubic {
        let beta = parameters.number("beta");
        Cubic {
            rules: Rules {
                c: parameters.number("c"),
                beta,
                alpha: 3.0 * (1.0 - beta) / (1.0 + beta),
                fast_convergence: parameters.choice("fast_convergence") == "on",
            },
            subflows: PerSubflow::new(Subflow::FRESH),
        }
    }
}

impl Controller for Cubic {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        let path = &mut paths[r];
        let subflow = self.subflows.get(r);
        // RTT samples in congestion avoidance are ignored (bictcp_acked).
        if path.hystart && subflow.epoch.is_none() && subflow.hystart.on_ack(path, ack) {
            path.ssthresh = path.window;
        }
        if !ack.lets_window_grow() {
            subflow.pause(ack.now);
            return;
        }
        let packets = slow_start::grow(path, ack.packets);
        if packets > 0 {
            subflow.avoid_congestion(path, packets, ack.now, &self.rules);
        }
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, _now: Time) {
        let subflow = self.subflows.get(r);
        subflow.on_loss(&mut paths[r], loss, &self.rules);
    }

    fn on_subflow(&mut self, _paths: &mut Paths<'_>, r: SubflowId, change: Change) {
        if change.begins() {
            self.subflows.restart(r);
        }
    }

    fn on_idle(&mut self, r: SubflowId, now: Time) {
        self.subflows.get(r).pause(now);
    }

    fn on_packet_size(&mut self, r: SubflowId, factor: f64) {
        self.subflows.get(r).rescale(factor);
    }

    fn on_spurious_loss(&mut self, _paths: &mut Paths<'_>, r: SubflowId) {
        self.subflows.get(r).undo();
    }

    fn restart(&mut self) -> bool {
        self.subflows.forget();
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::greedy_sender::{GreedySender, near, number, text};
    use crate::{Change, Ecn, Loss, find};
    use pathweave_units::Time;

    /// In congestion avoidance after a loss at `window`, with the RTT in microseconds.
    fn after_loss(window: f64, micros: u64) -> GreedySender {
        let mut connection = GreedySender::new("cubic", &[], &[(window, micros)]);
        connection.loss(0, Loss::FastRetransmit);
        connection
    }

    /// Acknowledges what is in flight within one RTT.
    fn round(connection: &mut GreedySender) {
        let packets = connection.window(0) as u64;
        let spacing = connection.paths[0].smoothed_rtt / packets;
        for _ in 0..packets {
            connection.now += spacing;
            connection.ack(0, 1, 0);
        }
    }

    /// W_cubic of RFC 9438 after a loss at `w_max`, at `t` seconds.
    fn w_cubic(w_max: f64, t: f64) -> f64 {
        let k = libm::cbrt((w_max - 0.7 * w_max) / 0.4);
        0.4 * libm::pow(t - k, 3.0) + w_max
    }

    #[test]
    fn a_loss_leaves_beta_of_the_window() {
        let connection = after_loss(100.0, 100);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (70.0, 70.0));
        let connection = after_loss(2.5, 100);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (2.0, 2.0));
        let mut connection = GreedySender::new("cubic", &[number("beta", 0.5)], &[(100.0, 100)]);
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(connection.window(0), 50.0);
    }

    #[test]
    fn the_window_follows_the_cubic_function() {
        // 30 packets lost at 10,000 packets a second: far from what Reno would do.
        let mut connection = after_loss(1000.0, 100_000);
        let k = libm::cbrt(300.0 / 0.4);
        connection.now += Time::from_secs(5); // the time before the first acknowledgement is not counted
        let begin = connection.now + connection.paths[0].smoothed_rtt / 700;
        while connection.now < begin + Time::from_secs(14) {
            round(&mut connection);
            let t = (connection.now - begin).as_secs_f64();
            // The target is an RTT ahead and reached an RTT late.
            assert!(
                near(connection.window(0), w_cubic(1000.0, t), 0.005),
                "at {t} s"
            );
            if (t - k).abs() < 0.2 {
                assert!(
                    near(connection.window(0), 1000.0, 0.001),
                    "the plateau is at W_max"
                );
            }
        }
        assert!(
            connection.window(0) > 1040.0,
            "beyond the plateau it looks for more"
        );
    }

    #[test]
    fn one_acknowledgement_moves_the_window_towards_the_target() {
        let mut connection = after_loss(1000.0, 100_000);
        connection.ack(0, 1, 0);
        let t = Time::from_millis(500);
        connection.now += t;
        let before = connection.window(0);
        connection.ack(0, 2, 0);
        let target = w_cubic(1000.0, 0.6);
        assert!(near(
            connection.window(0),
            before + 2.0 * (target - before) / before,
            1e-12
        ));
        assert!(connection.window(0) > before);
    }

    #[test]
    fn the_target_is_at_most_half_as_much_again() {
        let mut connection = after_loss(1000.0, 100_000);
        connection.ack(0, 1, 0);
        let before = connection.window(0);
        connection.now += Time::from_secs(100);
        connection.ack(0, 1, 0);
        assert!(near(connection.window(0), before + 0.5, 1e-12));
    }

    #[test]
    fn the_plateau_does_not_shrink_the_window() {
        let mut connection = after_loss(1000.0, 100_000);
        connection.ack(0, 1, 0);
        connection.paths[0].window = 2000.0;
        connection.now += Time::from_secs(1);
        connection.ack(0, 1, 0);
        assert_eq!(connection.window(0), 2000.0);
    }

    #[test]
    fn short_paths_are_reno_friendly() {
        // Reno with a cut to 0.7 gains 3 (0.3 / 1.7) = 0.529 packets a round, and 1 once it is back.
        let mut connection = after_loss(20.0, 100);
        let alpha = 3.0 * 0.3 / 1.7;
        connection.ack(0, 1, 0);
        assert!(near(connection.window(0), 14.0 + alpha / 14.0, 1e-12));
        let mut delayed = after_loss(20.0, 100);
        delayed.ack(0, 3, 0);
        assert!(near(delayed.window(0), 14.0 + 3.0 * alpha / 14.0, 1e-12));
        // 6 / 0.529 = 11.3.
        for _ in 0..11 {
            assert!(connection.window(0) < 20.0);
            round(&mut connection);
        }
        for _ in 0..2 {
            if connection.window(0) < 20.0 {
                round(&mut connection);
            }
        }
        assert!(connection.window(0) >= 20.0);
        let back = connection.window(0);
        connection.ack(0, 1, 0);
        assert!(near(connection.window(0), back + 1.0 / back, 1e-12));
    }

    #[test]
    fn the_cubic_function_counts_where_reno_is_not_ahead() {
        let mut connection = GreedySender::new("cubic", &[number("c", 2.0)], &[(16.0, 100_000)]);
        connection.ack(0, 16, 0);
        assert_eq!(connection.window(0), 17.0, "Reno, a round of it");
        connection.now += Time::from_secs(1);
        connection.ack(0, 17, 0);
        // W_est = 18 = 16 + 2 1^3; an RTT ahead it is 16 + 2 1.1^3.
        assert!(near(connection.window(0), 18.662, 1e-9));
    }

    #[test]
    fn a_cut_that_costs_nothing_is_followed_by_reno() {
        // The minimum window is that before the loss: back at once, it gains a packet a round.
        let mut connection = after_loss(2.0, 100);
        connection.ack(0, 1, 0);
        assert_eq!(connection.window(0), 2.5);
    }

    #[test]
    fn a_flow_that_shrinks_aims_lower() {
        for (fast_convergence, w_max) in [("on", 85.0), ("off", 100.0)] {
            let parameters = [text("fast_convergence", fast_convergence)];
            let mut connection = GreedySender::new("cubic", &parameters, &[(200.0, 100_000)]);
            connection.loss(0, Loss::FastRetransmit);
            connection.paths[0].window = 100.0; // not back at 200
            connection.loss(0, Loss::FastRetransmit);
            connection.ack(0, 1, 0);
            let k = libm::cbrt((w_max - 70.0) / 0.4);
            connection.now += Time::from_secs_f64(k / 2.0);
            connection.paths[0].window = 75.0;
            connection.paths[0].smoothed_rtt = Time::from_picos(1);
            connection.ack(0, 1, 0);
            // Half way in time, an eighth of the difference is left.
            let target = w_max - (w_max - 70.0) / 8.0;
            let expected = 75.0 + (target - 75.0) / 75.0;
            assert!(near(connection.window(0), expected, 1e-9));
        }
    }

    #[test]
    fn a_flow_that_is_back_aims_for_its_window() {
        let mut connection = after_loss(100.0, 100_000);
        connection.paths[0].window = 100.0;
        connection.loss(0, Loss::FastRetransmit);
        connection.ack(0, 1, 0);
        connection.now += Time::from_secs_f64(libm::cbrt(30.0 / 0.4));
        connection.paths[0].window = 80.0;
        connection.paths[0].smoothed_rtt = Time::from_picos(1);
        connection.ack(0, 1, 0);
        assert!(near(connection.window(0), 80.0 + 20.0 / 80.0, 1e-9));
    }

    #[test]
    fn after_a_timeout_the_window_starts_at_the_plateau() {
        let mut connection = GreedySender::new("cubic", &[], &[(1000.0, 100_000)]);
        connection.loss(0, Loss::Timeout);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (1.0, 700.0));
        connection.ack(0, 699, 0);
        assert_eq!(connection.window(0), 700.0);
        connection.now += Time::from_secs(3); // slow start is not over before the next one
        connection.ack(0, 1, 0);
        let before = connection.window(0);
        connection.now += Time::from_secs(5);
        connection.ack(0, 1, 0);
        let target = 700.0 + 0.4 * libm::pow(5.1, 3.0);
        assert!(near(
            connection.window(0),
            before + (target - before) / before,
            1e-12
        ));
        // ssthresh is at least 2 packets.
        let mut small = GreedySender::new("cubic", &[], &[(3.0, 100)]);
        small.loss(0, Loss::Timeout);
        assert_eq!(small.ssthresh(0), 3.0_f64 * 0.7);
        small.paths[0].window = 2.0;
        small.loss(0, Loss::Timeout);
        assert_eq!(small.ssthresh(0), 2.0);
    }

    #[test]
    fn time_that_cannot_be_used_is_not_counted() {
        let (mut paused, mut steady) = (after_loss(1000.0, 100_000), after_loss(1000.0, 100_000));
        for connection in [&mut paused, &mut steady] {
            connection.ack(0, 1, 0);
            connection.now += Time::from_secs(2);
            connection.ack(0, 1, 0);
        }
        for (recovery, limited) in [(false, false), (true, true)] {
            paused.now += Time::from_secs(3);
            let window = paused.window(0);
            paused.ack_as(0, 1, 0, recovery, limited);
            assert_eq!(paused.window(0), window);
        }
        for connection in [&mut paused, &mut steady] {
            connection.now += Time::from_secs(1);
            connection.ack(0, 1, 0);
        }
        assert_eq!(paused.window(0), steady.window(0));
    }

    #[test]
    fn idle_time_is_not_counted() {
        let (mut paused, mut steady) = (after_loss(1000.0, 100_000), after_loss(1000.0, 100_000));
        for connection in [&mut paused, &mut steady] {
            connection.ack(0, 1, 0);
            connection.now += Time::from_secs(2);
            connection.ack(0, 1, 0);
        }
        paused.now += Time::from_secs(3);
        paused.idle(0);
        for connection in [&mut paused, &mut steady] {
            connection.now += Time::from_secs(1);
            connection.ack(0, 1, 0);
        }
        assert_eq!(paused.window(0), steady.window(0));
        // Before the first loss there is no time to count.
        GreedySender::new("cubic", &[], &[(10.0, 100)]).idle(0);
    }

    #[test]
    fn a_subflow_that_opens_again_forgets_its_losses() {
        let mut connection = after_loss(1000.0, 100_000);
        connection.change(0, Change::Opened);
        connection.ack(0, 1, 0);
        connection.now += Time::from_secs(1);
        let before = connection.window(0);
        connection.ack(0, 1, 0);
        let target = 700.0 + 0.4 * libm::pow(1.1, 3.0);
        assert!(near(
            connection.window(0),
            before + (target - before) / before,
            1e-9
        ));
    }

    #[test]
    fn it_is_not_ecn_capable() {
        let entry = find("cubic").unwrap();
        assert_eq!((entry.ecn)(&entry.defaults()), Ecn::Off);
    }

    #[test]
    fn a_loss_that_was_none_leaves_the_plateau_where_it_was() {
        let mut connection = GreedySender::new("cubic", &[], &[(100.0, 200_000)]);
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(connection.window(0), 70.0);
        // Fast convergence would now aim at 59.5 packets, and a window of 70 would be its own plateau.
        let (window, ssthresh) = (connection.window(0), connection.ssthresh(0));
        connection.loss(0, Loss::FastRetransmit);
        (connection.paths[0].window, connection.paths[0].ssthresh) = (window, ssthresh);
        connection.spurious_loss(0);
        // Two seconds of acknowledgements, on the way from 70 to 100: K is cbrt(30 / 0.4), 4.2 s.
        for _ in 0..10 {
            connection.now += Time::from_millis(200);
            connection.round(0, false);
        }
        // C (2 - K)^3 + 100.
        let k = libm::cbrt(30.0 / 0.4);
        let expected = 0.4 * (2.0 - k) * (2.0 - k) * (2.0 - k) + 100.0;
        assert!(
            near(connection.window(0), expected, 0.03),
            "{}",
            connection.window(0)
        );
    }
}
