//! wVegas, weighted Vegas for MPTCP (Cao, Xu and Fu, ICNP 2012; draft-xu-mptcp-congestion-control).
//!
//! It keeps a few packets of each subflow in queues, and shares `total_alpha` of them among the subflows of a
//! connection by their rates. With w_r the window in packets, base_r the smallest RTT sample, and once a
//! round rtt_r the mean of the round's samples (both in seconds), diff_r = w_r (rtt_r - base_r) / rtt_r is
//! the number of packets in queues, and at the end of the round:
//!
//! - rate_r <- w_r / rtt_r;
//! - slow start: if diff_r > `gamma`: w_r <- min(w_r, w_r base_r / rtt_r + 1), and slow start ends;
//! - congestion avoidance: if diff_r >= alpha_r, the packets that the subflow aims at:
//!   alpha_r <- max(2, `total_alpha` rate_r / sum_s rate_s), s over the active subflows. Then if
//!   diff_r > alpha_r: w_r <- w_r - 1; if diff_r < alpha_r: w_r <- w_r + 1;
//! - then, to let base_r be measured again: q_r is the smallest queueing delay rtt_r - base_r seen; if the
//!   present one is 2 q_r or more: w_r <- w_r base_r / (2 rtt_r), and q_r starts again.
//!
//! alpha_r starts at `initial_alpha`. A round with two samples or fewer gives the acknowledgement that ends
//! it Reno's increase instead. Slow start within a round is the common one; losses are Reno's, and a
//! subflow that has lost something forgets its round, rate, alpha and q. On one path the subflow aims
//! at all of `total_alpha`. Its packets are not ECN-capable.
//!
//! Ruling: alpha is worked out in rounds that reach it, as in the published code; in every round,
//! `initial_alpha` would mean nothing.
//!
//! Ruling: q counts rounds with diff_r >= alpha_r only. Taken literally, a subflow that fills its queue
//! from nothing to alpha would find the delay doubled again and again and drain it each time: it would
//! swing about an empty queue, and never hold alpha packets there.
//!
//! Ruling: a subflow that has no round behind it counts with w / tau, tau its smoothed RTT; subflows
//! without an RTT sample are left out. Windows do not fall below the minimum window.
//!
//! Ruling: w_r - 1 takes ssthresh along where it falls below it, because there is nothing to start slowly;
//! after a drain slow start leads back to ssthresh, as in the published code.
//!
//! Deviation: the published code runs Reno until a loss or reordering is over, and counts time in whole
//! microseconds and diff in whole packets.
//!
//! `variant = "linux"` is that code, the module of the out-of-tree Linux MPTCP (net/mptcp/mptcp_wvegas.c, version
//! 0.9x), in its unsigned integers; every division drops its remainder. cwnd_r is the window in whole packets, rtt_r and
//! base_r are in whole microseconds and 1 more, and rates and weights are in 2^-16. It differs from the above in:
//!
//! - rate_r, weight_r = rate_r / sum_s rate_s and alpha_r = max(2, weight_r `total_alpha`) are worked out together, in
//!   rounds of congestion avoidance with diff_r >= alpha_r; s over the active subflows that have an RTT sample in their
//!   present round;
//! - q_r counts every round of congestion avoidance, and so does the drain: a subflow that fills its own queue
//!   drains it whenever the delay has doubled, and one that has no queueing delay at all, which is twice 0, drains in
//!   every round;
//! - slow start ends with ssthresh = cwnd_r - 1, and cwnd_r - 1 lowers ssthresh to one packet less too; at the end of
//!   every round ssthresh is at least cwnd_r / 2 + cwnd_r / 4, 3/4 of the window, so that slow start leads back to 3/4 of
//!   what a drain has halved;
//! - from a loss until the packets in flight then have been acknowledged the subflow is Linux's Reno, which counts
//!   packets; it then begins with `initial_alpha`, no rate and no q.
//!
//! Its windows do not fall below 2 packets either, whatever the minimum window. Deviation of that variant: the module does
//! not ask whether a window is used.

use crate::{
    Ack, Change, Controller, Ecn, Entry, Loss, Parameter, ParameterKind, Parameters, Path, Paths,
    PerSubflow, Round, SubflowId, loss, reno, slow_start,
};
use alloc::boxed::Box;
use pathweave_units::Time;

mod bounds;
mod linux;

use bounds::{SMALLEST_ALPHA, TOO_FEW_SAMPLES};

/// wVegas in the registry.
pub const ENTRY: Entry = Entry {
    name: "wvegas",
    summary: "Keeps a few packets queued, shared among the subflows by their rates.",
    source: "Cao et al., ICNP 2012, and draft-xu-mptcp-congestion-control",
    file: include_str!("mod.rs"),
    coupled: true,
    scatter: None,
    scheme: None,
    ecn: |_| Ecn::Off,
    parameters: &[
        Parameter {
            name: "total_alpha",
            kind: ParameterKind::Number {
                default: 10.0,
                minimum: 1.0,
                maximum: 10_000.0,
                integer: false,
            },
            help: "Packets that a connection keeps in queues.",
        },
        Parameter {
            name: "gamma",
            kind: ParameterKind::Number {
                default: 1.0,
                minimum: 0.0,
                maximum: 10_000.0,
                integer: false,
            },
            help: "Packets in queues that end slow start.",
        },
        Parameter {
            name: "initial_alpha",
            kind: ParameterKind::Number {
                default: 2.0,
                minimum: 0.0,
                maximum: 10_000.0,
                integer: false,
            },
            help: "Packets in queues that a subflow aims at until it has reached them once.",
        },
        Parameter {
            name: "variant",
            kind: ParameterKind::Choice(&["paper", "linux"]),
            help: "Windows as real numbers (paper) or in whole packets with the Linux module's arithmetic and drains (linux).",
        },
    ],
    build: |parameters| match parameters.choice("variant") {
        "linux" => Box::new(linux::WVegas::new(parameters)),
        _ => Box::new(WVegas::new(parameters)),
    },
};

#[derive(Clone, Debug)]
struct WVegas {
    total_alpha: f64,
    gamma: f64,
    subflows: PerSubflow<Subflow>,
}

#[derive(Clone, Debug)]
struct Subflow {
    round: Round,
    samples: u32,
    sum_of_samples: Time,
    /// Packets a second in the last round that said something.
    rate: Option<f64>,
    alpha: f64,
    /// q, in seconds; infinite if nothing was seen.
    smallest_delay: f64,
}

/// What a round tells of the queues on the path.
struct Queues {
    /// Mean RTT, and what of it is not queueing.
    rtt: f64,
    base: f64,
    rate: f64,
    /// diff.
    packets: f64,
}

impl Subflow {
    fn new(alpha: f64) -> Subflow {
        Subflow {
            round: Round::STARTING,
            samples: 0,
            sum_of_samples: Time::ZERO,
            rate: None,
            alpha,
            smallest_delay: f64::INFINITY,
        }
    }

    fn take_sample(&mut self, rtt: Time) {
        self.samples += 1;
        self.sum_of_samples = self.sum_of_samples.saturating_add(rtt);
    }

    /// Ends the round, and says what it tells if it has enough samples.
    fn end_round(&mut self, path: &Path) -> Option<Queues> {
        let (samples, sum) = (self.samples, self.sum_of_samples.as_secs_f64());
        (self.samples, self.sum_of_samples) = (0, Time::ZERO);
        if samples <= TOO_FEW_SAMPLES {
            return None;
        }
        let (rtt, base) = (sum / f64::from(samples), path.minimum_rtt.as_secs_f64());
        let rate = path.window / rtt;
        self.rate = Some(rate);
        Some(Queues {
            rtt,
            base,
            rate,
            packets: rate * (rtt - base),
        })
    }

    /// Notes the queueing delay of a round that has reached alpha, and returns whether it has doubled.
    fn is_to_drain(&mut self, delay: f64) -> bool {
        let smallest = self.smallest_delay.min(delay);
        let doubled = delay >= 2.0 * smallest;
        self.smallest_delay = if doubled { f64::INFINITY } else { smallest };
        doubled
    }
}

/// Lowers the window, but not below its floor, which is that of a window after a timeout too.
fn lower_to(path: &mut Path, window: f64) {
    path.window = window.min(path.window).max(path.minimum_window);
}

impl WVegas {
    fn new(parameters: &Parameters) -> WVegas {
        WVegas {
            total_alpha: parameters.number("total_alpha"),
            gamma: parameters.number("gamma"),
            subflows: PerSubflow::new(Subflow::new(parameters.number("initial_alpha"))),
        }
    }

    /// alpha of a subflow with this rate.
    fn alpha(&self, paths: &Paths<'_>, rate: f64) -> f64 {
        let total: f64 = paths
            .iter()
            .zip(self.subflows.iter())
            .filter(|(path, _)| path.is_active() && path.has_rtt())
            .map(|(path, subflow)| subflow.rate.unwrap_or_else(|| path.packets_per_second()))
            .sum();
        // A subflow that has closed is not in the total.
        let weight = f64::min(rate / total, 1.0);
        f64::max(SMALLEST_ALPHA, self.total_alpha * weight)
    }
}

impl Controller for WVegas {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        if ack.recovery {
            return;
        }
        let (subflow, path) = (self.subflows.get(r), &mut paths[r]);
        if let Some(rtt) = ack.rtt {
            subflow.take_sample(rtt);
        }
        if !subflow.round.advance(path) {
            if ack.window_limited {
                // What is left is congestion avoidance's, and that waits for the end of a round.
                let _ = slow_start::grow(path, ack.packets);
            }
            return;
        }
        let Some(queues) = subflow.end_round(path) else {
            if ack.window_limited {
                reno::grow(path, ack.packets);
            }
            return;
        };
        if path.in_slow_start() {
            if queues.packets > self.gamma {
                lower_to(path, path.window * queues.base / queues.rtt + 1.0);
                path.ssthresh = path.window;
            } else if ack.window_limited {
                let _ = slow_start::grow(path, ack.packets);
            }
            return;
        }
        if queues.packets >= subflow.alpha {
            let alpha = self.alpha(paths, queues.rate);
            self.subflows.get(r).alpha = alpha;
        }
        let (subflow, path) = (self.subflows.get(r), &mut paths[r]);
        if queues.packets < subflow.alpha {
            if ack.window_limited {
                path.window += 1.0;
            }
            return;
        }
        if queues.packets > subflow.alpha {
            lower_to(path, path.window - 1.0);
            path.ssthresh = path.ssthresh.min(path.window);
        }
        if subflow.is_to_drain(queues.rtt - queues.base) {
            lower_to(path, path.window * queues.base / (2.0 * queues.rtt));
        }
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, _now: Time) {
        let path = &mut paths[r];
        loss::respond(path, loss);
        self.subflows.restart(r);
        self.subflows.get(r).round = Round::beginning(path);
    }

    fn on_subflow(&mut self, _paths: &mut Paths<'_>, r: SubflowId, change: Change) {
        if change.begins() {
            self.subflows.restart(r);
        }
    }

    fn on_packet_size(&mut self, r: SubflowId, factor: f64) {
        let subflow = self.subflows.get(r);
        subflow.rate = subflow.rate.map(|rate| rate * factor);
    }
}

#[cfg(test)]
mod tests;
