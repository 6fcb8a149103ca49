//! FCC, feedback-based congestion control, the sender's half of FMPTCP (IEEE Transactions on
//! Communications 72(1), 2024, section V-A): gradient projection on the price of each path, which is its
//! share of marked packets.
//!
//! With w_r the window of subflow r in packets, tau_r its smoothed RTT in seconds, T the smallest tau,
//! wbar the mean window, and sums and means over the active subflows s:
//!
//! - once a round of r: beta_r <- (1 - eta) beta_r + eta F, with F the share of marked packets among the last
//!   max(w_min, w_r); beta_r starts at 0;
//! - alpha_r = alpha_total / (tau_r sum_s(w_s / tau_s^2)), alpha_total in 1/s, by default 1 / base RTT;
//! - congestion avoidance: w_r <- max(minimum window, w_r + (alpha_r - beta_r) tau_r^2 wbar / (T^2 w_r)) for
//!   each acknowledged packet;
//! - slow start: +1 for each acknowledged packet; when beta_r > alpha_r it ends, with
//!   ssthresh = max(minimum window, w_r / 2), and w_r stays as it is;
//! - loss, or beta_r >= 1: w_r is halved, once a round; timeout: ssthresh = max(w_r / 2, 2), w_r = 1.
//!
//! It expects switches that mark in proportion to their occupancy. In equilibrium beta_r = alpha_r: one
//! subflow alone on a path has about BDP packets in flight and marks, so occupies, about 1 / BDP. The
//! paper has eta = 1/16, w_min = 10 and a minimum window of 1, which the preset fmptcp-2024 sets. It says
//! that alpha_r is at most 1 even when all subflows are at their minimum. In fact m subflows with windows of 1
//! and an RTT of R have alpha_r = R / (m base RTT), which exceeds 1, and so any share of marks, once R exceeds
//! m base RTTs. A mark by itself cuts nothing.
//!
//! Ruling: the text leaves slow start when alpha_r > beta_r; the pseudo-code, which has it the other way
//! round, is right. There too a window that congestion avoidance takes below ssthresh is in slow start
//! again, until beta_r > alpha_r.
//!
//! Within T all rates move by theta = wbar alpha_total / T times the gradient of log(sum_s(T x_s / tau_s)) -
//! sum_s(beta_s x_s) / alpha_total. Equation 18 has T^2 in place of T, which is not a step of rates.
//!
//! Ruling: the last max(w_min, w_r) packets are those of the round that ends, if it has w_min or more, and
//! else the last w_min packets, of which those that have not come yet count as unmarked. Marks and
//! packets are counted, not acknowledgements: a delayed one counts for all its packets.
//!
//! Ruling: the base RTT is the smallest RTT sample of the active subflows.
//!
//! Ruling: subflows without an RTT sample are left out of sums and means, and move in slow start only. In fast
//! recovery no window moves. Duplicate acknowledgements, those of the round of a cut where the transport says so, and
//! those that find the window unused may let it fall, but not grow.
//!
//! Ruling: a loss in a round that was halved for beta_r >= 1 costs nothing more. (With eta = 1/16 beta_r comes
//! near 1, but not to it: only an eta near 1 makes this clause matter.)
//!
//! Ruling: `step = "armijo"` is the variant of the paper's appendix D, which names the rule and gives
//! neither formulas nor constants. Here the change in congestion avoidance is multiplied by kappa, the
//! first of 4, 2, 1, ..., 1/8 for which one step of all subflows raises the connection's own objective
//! enough, and 1/8 if none does. With the marks as prices the objective is
//!
//! > f(x) = log(sum_s(T x_s / tau_s)) - sum_s(beta_s x_s) / alpha_total
//!
//! and with x' the rates w'_s / tau_s after each window has moved as above for as long as T, enough is
//! f(x') - f(x) >= 1/10 grad f(x) (x' - x). Kappa is chosen afresh whenever a round of a subflow ends. From
//! 8 on windows oscillate, as beta follows the marks sixteen rounds behind.

use crate::marked_rounds::MarkedRounds;
use crate::{
    Ack, Change, Controller, Ecn, Entry, Loss, OncePerRound, Parameter, ParameterKind, Path, Paths,
    PerSubflow, SubflowId, Value, slow_start,
};
use alloc::boxed::Box;
use pathweave_units::Time;

/// FCC in the registry.
pub const ENTRY: Entry = Entry {
    name: "fcc",
    summary: "Moves each window along the gradient between its share of a fair rate and its share of marks.",
    source: "FMPTCP, IEEE Trans. Communications 72(1), 2024, section V-A",
    file: include_str!("fcc.rs"),
    coupled: true,
    scatter: None,
    scheme: None,
    ecn: |_| Ecn::Count { limit: 255 },
    parameters: &[
        Parameter {
            name: "alpha_total",
            kind: ParameterKind::ChoiceOrNumber {
                choices: &["1/base-rtt"],
                minimum: 1.0,
                maximum: 1e9,
            },
            help: "Sum of what subflows push with, in 1/s: larger values keep longer queues.",
        },
        Parameter {
            name: "eta",
            kind: ParameterKind::Number {
                default: 1.0 / 16.0,
                minimum: 0.0,
                maximum: 1.0,
                integer: false,
            },
            help: "Weight of the latest round in beta, the average share of marked packets.",
        },
        Parameter {
            name: "w_min",
            kind: ParameterKind::Number {
                default: 10.0,
                minimum: 1.0,
                maximum: MarkedRounds::MOST as f64,
                integer: true,
            },
            help: "Fewest packets that the share of marked ones is taken from.",
        },
        Parameter {
            name: "step",
            kind: ParameterKind::Choice(&["fixed", "armijo"]),
            help: "Step size of the gradient projection: that of the paper (fixed), or searched for by Armijo's rule.",
        },
    ],
    build: |parameters| {
        Box::new(Fcc {
            alpha_total: match parameters.value("alpha_total") {
                Some(&Value::Number(per_second)) => {
                    Some(per_second / Time::from_secs(1).as_picos() as f64)
                }
                _ => None,
            },
            eta: parameters.number("eta"),
            armijo: parameters.choice("step") == "armijo",
            kappa: 1.0,
            subflows: PerSubflow::new(Subflow {
                rounds: MarkedRounds::new(parameters.number("w_min") as u32),
                beta: 0.0,
                cuts: OncePerRound::new(),
            }),
        })
    },
};

#[derive(Clone, Debug)]
struct Subflow {
    rounds: MarkedRounds,
    beta: f64,
    cuts: OncePerRound,
}

#[derive(Clone, Debug)]
struct Fcc {
    /// In 1/ps; none is 1 / base RTT.
    alpha_total: Option<f64>,
    eta: f64,
    armijo: bool,
    kappa: f64,
    subflows: PerSubflow<Subflow>,
}

/// What the windows' changes take from all subflows that are active and have an RTT. Times are
/// in picoseconds.
#[derive(Clone, Debug)]
struct Totals {
    /// In 1/ps.
    alpha_total: f64,
    /// sum_s(w_s / tau_s^2), in packets/ps^2.
    windows_per_rtt_squared: f64,
    /// wbar, in packets.
    mean_window: f64,
    /// 1 / T, in 1/ps.
    per_shortest_rtt: f64,
}

/// Whether a subflow counts: it is active and has an RTT.
fn takes_part(path: &Path) -> bool {
    path.is_active() && path.has_rtt()
}

/// A time in picoseconds.
fn picos(time: Time) -> f64 {
    time.as_picos() as f64
}

impl Totals {
    /// Of these subflows; without an alpha_total (in 1/ps) it is 1 / base RTT.
    #[inline]
    fn of(paths: &Paths<'_>, alpha_total: Option<f64>) -> Totals {
        let (mut subflows, mut windows, mut base_rtt) = (0, 0.0, Time::MAX);
        let (mut windows_per_rtt_squared, mut per_shortest_rtt) = (0.0, 0.0);
        for path in paths.iter().filter(|path| takes_part(path)) {
            let per_rtt = 1.0 / picos(path.smoothed_rtt);
            subflows += 1;
            windows += path.window;
            windows_per_rtt_squared += path.window * per_rtt * per_rtt;
            per_shortest_rtt = f64::max(per_shortest_rtt, per_rtt);
            base_rtt = base_rtt.min(path.minimum_rtt);
        }
        Totals {
            alpha_total: alpha_total.unwrap_or_else(|| 1.0 / picos(base_rtt)),
            windows_per_rtt_squared,
            mean_window: windows / f64::from(subflows),
            per_shortest_rtt,
        }
    }

    /// alpha_r.
    fn alpha(&self, path: &Path) -> f64 {
        self.alpha_total / (picos(path.smoothed_rtt) * self.windows_per_rtt_squared)
    }

    /// What an acknowledged packet changes of w_r, with kappa = 1.
    fn change(&self, path: &Path, beta: f64) -> f64 {
        let rtts = picos(path.smoothed_rtt) * self.per_shortest_rtt;
        (self.alpha(path) - beta) * rtts * rtts * self.mean_window / path.window
    }
}

impl Subflow {
    /// Takes the acknowledgement's marks into beta, and returns whether it ends a round.
    fn take_marks(&mut self, path: &Path, ack: &Ack, eta: f64) -> bool {
        let share = self.rounds.on_ack(path, ack);
        if let Some(share) = share {
            self.beta += eta * (share - self.beta);
        }
        share.is_some()
    }

    /// Halves the window once a round if all packets are marked, and returns whether it did.
    fn halve_at_full_marks(&mut self, path: &mut Path) -> bool {
        self.beta >= 1.0 && self.cuts.on_mark(path, 0.5)
    }
}

/// Kappa of Armijo's rule that is tried first.
const FIRST_KAPPA: f64 = 4.0;
/// Kappa that is taken if nothing larger will do.
const LAST_KAPPA: f64 = 0.125;
/// Share of the gradient's promise that a step has to keep.
const ENOUGH: f64 = 0.1;

/// By how much to multiply the changes of all windows, by Armijo's rule: a large step, halved until it keeps enough of what
/// the gradient promises. `subflows` are the paths with their betas.
fn armijo_kappa<'a>(
    totals: &Totals,
    subflows: impl Iterator<Item = (&'a Path, f64)> + Clone,
) -> f64 {
    let mut kappa = FIRST_KAPPA;
    while kappa > LAST_KAPPA && !keeps_enough(kappa, totals, subflows.clone()) {
        kappa /= 2.0;
    }
    kappa
}

fn keeps_enough<'a>(
    kappa: f64,
    totals: &Totals,
    subflows: impl Iterator<Item = (&'a Path, f64)>,
) -> bool {
    // With y = sum_s(T x_s / tau_s): (y' - y) / y, and sum_s(beta_s (x'_s - x_s)) / alpha_total.
    let (mut gain, mut price) = (0.0, 0.0);
    for (path, beta) in subflows.filter(|(path, _)| takes_part(path)) {
        let tau = picos(path.smoothed_rtt);
        // In a time of T, w_r T / tau_r packets are acknowledged.
        let packets = path.window / (tau * totals.per_shortest_rtt);
        let change = kappa * totals.change(path, beta) * packets;
        let lowest = f64::min(path.minimum_window - path.window, 0.0);
        let change = f64::max(change, lowest);
        gain += change / (tau * tau * totals.windows_per_rtt_squared);
        price += beta * change / (tau * totals.alpha_total);
    }
    libm::log1p(gain) - price >= ENOUGH * (gain - price)
}

impl Fcc {
    /// Chooses the step size at the end of a round.
    fn choose_step(&mut self, paths: &Paths<'_>, totals: &Totals) {
        if self.armijo {
            let betas = self.subflows.iter().map(|subflow| subflow.beta);
            self.kappa = armijo_kappa(totals, paths.iter().zip(betas));
        }
    }

    /// The gradient step of congestion avoidance: what `packets` acknowledged ones change of the window. One that
    /// may not grow may still fall.
    fn step(&self, path: &mut Path, totals: &Totals, beta: f64, packets: u32, may_grow: bool) {
        let change = self.kappa * totals.change(path, beta) * f64::from(packets);
        if change < 0.0 || may_grow {
            path.window = f64::max(path.window + change, path.minimum_window);
        }
    }
}

impl Controller for Fcc {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        let (subflow, path) = (self.subflows.get(r), &mut paths[r]);
        let round_ends = subflow.take_marks(path, ack, self.eta);
        if subflow.halve_at_full_marks(path) || path.in_recovery {
            return;
        }
        let beta = subflow.beta;

        let was_in_slow_start = path.in_slow_start();
        let packets = if ack.lets_window_grow() {
            slow_start::grow(path, ack.packets)
        } else {
            ack.packets
        };
        if !takes_part(path) {
            return;
        }

        let totals = Totals::of(paths, self.alpha_total);
        if round_ends {
            self.choose_step(paths, &totals);
        }
        let path = &mut paths[r];
        if was_in_slow_start && beta > totals.alpha(path) {
            path.ssthresh = f64::max(path.window / 2.0, path.minimum_window);
        }
        if !path.in_slow_start() {
            self.step(path, &totals, beta, packets, ack.lets_window_grow());
        }
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, _now: Time) {
        let subflow = self.subflows.get(r);
        subflow.cuts.on_loss(&mut paths[r], loss);
    }

    fn on_subflow(&mut self, _paths: &mut Paths<'_>, r: SubflowId, change: Change) {
        if change.begins() {
            self.subflows.restart(r);
        }
    }

    fn on_packet_size(&mut self, r: SubflowId, factor: f64) {
        self.subflows.get(r).cuts.rescale(factor);
    }
}

#[cfg(test)]
mod tests {
    use crate::greedy_sender::{GreedySender, near, number, text};
    use crate::{Change, Ecn, Loss, Path, Value, find};
    use alloc::string::String;
    use pathweave_units::Time;
    use std::vec::Vec;

    /// Subflows of (window, RTT in microseconds) that have never seen another RTT.
    fn fcc(given: &[(String, Value)], subflows: &[(f64, u64)]) -> GreedySender {
        let mut connection = GreedySender::new("fcc", given, subflows);
        for path in &mut connection.paths {
            path.minimum_rtt = path.smoothed_rtt;
        }
        connection
    }

    /// beta is the marked share of the last round, or of the last 10 packets.
    fn at_once() -> (String, Value) {
        number("eta", 1.0)
    }

    #[test]
    fn without_marks_alpha_alone_moves_the_windows() {
        // T = base RTT = 100 us, sum(w / tau^2) = 1e-3 + 5e-4 per us^2, wbar = 15.
        // alpha_0 = 1/100 / (100 0.0015) = 1/15, times 15/10; alpha_1 = 1/30, times 4 15/20.
        for r in 0..2 {
            let mut connection = fcc(&[], &[(10.0, 100), (20.0, 200)]);
            let before = connection.window(r);
            connection.ack(r, 1, 0);
            assert!(near(connection.window(r) - before, 0.1, 1e-9));
            let mut connection = fcc(&[], &[(10.0, 100), (20.0, 200)]);
            connection.ack(r, 2, 0);
            assert!(near(connection.window(r) - before, 0.2, 1e-9));
        }
    }

    #[test]
    fn alone_at_the_base_rtt_it_grows_like_reno() {
        let mut connection = fcc(&[], &[(10.0, 100)]);
        connection.ack(0, 1, 0);
        assert!(near(connection.window(0) - 10.0, 0.1, 1e-9));
    }

    #[test]
    fn alpha_total_is_one_over_the_smallest_rtt_seen_unless_given() {
        let mut connection = fcc(&[], &[(10.0, 100), (10.0, 100), (10.0, 100)]);
        connection.change(2, Change::Closed);
        connection.paths[2].minimum_rtt = Time::from_micros(1);
        connection.paths[1].minimum_rtt = Time::from_micros(50);
        connection.ack(0, 1, 0);
        // alpha = 1/50 / (100 20/100^2) = 0.1.
        assert!(near(connection.window(0) - 10.0, 0.1, 1e-9));
        let given = [number("alpha_total", 4000.0)];
        let mut connection = fcc(&given, &[(10.0, 100), (10.0, 100)]);
        connection.ack(0, 1, 0);
        // alpha = 0.004 / (100 20/100^2) = 0.02.
        assert!(near(connection.window(0) - 10.0, 0.02, 1e-9));
    }

    #[test]
    fn marks_move_the_window_by_alpha_less_beta() {
        // One mark in the last 10: beta = 0.1 = alpha, and the window stays.
        let mut connection = fcc(&[at_once()], &[(10.0, 100)]);
        connection.ack(0, 1, 1);
        assert!(near(connection.window(0), 10.0, 1e-9));
        // Two: -0.1.
        let mut connection = fcc(&[at_once()], &[(10.0, 100)]);
        connection.ack(0, 2, 2);
        assert!(near(connection.window(0), 10.0 - 2.0 * 0.1, 1e-9));
        // By default beta is a sixteenth of it: 0.1 - 0.2 / 16.
        let mut connection = fcc(&[], &[(10.0, 100)]);
        connection.ack(0, 2, 2);
        assert!(near(connection.window(0), 10.0 + 2.0 * 0.0875, 1e-9));
    }

    /// Section V-A.2: with all m windows at one packet alpha_r is R / (m base RTT). The paper says "at most 1", which holds
    /// while the RTT R is at most m base RTTs.
    #[test]
    fn windows_of_one_packet_have_an_alpha_of_rtt_over_m_base_rtts() {
        for m in [1, 4, 8] {
            for stretch in [1, 4, 16] {
                let subflows = std::vec![(1.0, 100 * stretch); m];
                let mut connection = fcc(&[], &subflows);
                for path in &mut connection.paths {
                    (path.minimum_rtt, path.minimum_window) = (Time::from_micros(100), 1.0);
                }
                connection.ack(0, 1, 0);
                // All RTTs are equal, so that the window grows by alpha.
                let alpha = stretch as f64 / m as f64;
                assert!(
                    near(connection.window(0) - 1.0, alpha, 1e-9),
                    "{m} {stretch}"
                );
            }
        }
    }

    /// Equations 16 to 18: within T, the smallest RTT, all rates move by theta times the gradient of
    /// log(sum(x_s T / tau_s)) - sum(beta_s x_s) / alpha_total, where theta = wbar alpha_total / T. (Equation 18 prints T^2.)
    #[test]
    fn windows_climb_the_gradient_of_the_connections_utility() {
        const ALPHA_TOTAL: f64 = 3000.0;
        let subflows = [(10.0, 100_u64), (24.0, 250), (16.0, 130)];
        // The first acknowledgement ends a round: one of the last ten packets is marked.
        let beta = 0.1;
        let seconds = |micros: u64| micros as f64 * 1e-6;
        let t = seconds(100);
        let utility = |x: &[f64]| -> f64 {
            let weighted: f64 = (0..3).map(|s| x[s] * t / seconds(subflows[s].1)).sum();
            let price: f64 = (0..3).map(|s| beta * x[s]).sum();
            libm::log(weighted) - price / ALPHA_TOTAL
        };
        let rates: Vec<f64> = subflows.iter().map(|&(w, tau)| w / seconds(tau)).collect();
        let theta = 50.0 / 3.0 * ALPHA_TOTAL / t;
        for r in 0..3 {
            let (window, tau) = (subflows[r].0, seconds(subflows[r].1));
            let given = [at_once(), number("alpha_total", ALPHA_TOTAL)];
            let mut connection = fcc(&given, &subflows);
            connection.ack(r, 1, 1);
            let per_packet = connection.window(r) - window;
            let moved = per_packet * (window / tau * t) / tau;

            let (mut above, mut below) = (rates.clone(), rates.clone());
            let step = rates[r] * 1e-5;
            above[r] += step;
            below[r] -= step;
            let slope = (utility(&above) - utility(&below)) / (2.0 * step);
            assert!(
                near(moved, theta * slope, 1e-4),
                "{r}: {moved} {}",
                theta * slope
            );
        }
    }

    #[test]
    fn beta_is_the_moving_average_of_the_marked_share() {
        let mut connection = fcc(&[number("eta", 0.25)], &[(10.0, 100)]);
        let mut beta = 0.0;
        for marks in [0, 3, 0, 5, 10] {
            // A whole round in one acknowledgement.
            connection.paths[0].sent = connection.paths[0].acked + 10;
            connection.ack(0, 10, marks);
            beta = 0.75 * beta + 0.25 * f64::from(marks) / 10.0;
            let change = connection.window(0) - 10.0;
            assert!((change - 10.0 * (0.1 - beta)).abs() < 1e-9, "{marks}");
            connection.paths[0].window = 10.0;
        }
    }

    #[test]
    fn shares_of_short_rounds_are_of_w_min_packets() {
        for (w_min, share) in [(10.0, 0.2), (5.0, 0.4), (1.0, 1.0)] {
            let given = [at_once(), number("w_min", w_min)];
            let mut connection = fcc(&given, &[(100.0, 100)]);
            connection.ack(0, 2, 2);
            let expected = if share < 1.0 {
                100.0 + 2.0 * (0.01 - share)
            } else {
                50.0
            };
            assert!(near(connection.window(0), expected, 1e-9), "{w_min}");
        }
    }

    #[test]
    fn windows_do_not_fall_below_the_minimum() {
        let mut connection = fcc(&[at_once()], &[(2.0, 100)]);
        connection.ack(0, 9, 9);
        assert_eq!(connection.window(0), 2.0);
    }

    #[test]
    fn a_window_below_ssthresh_is_in_slow_start_until_beta_exceeds_alpha() {
        let mut connection = fcc(&[at_once(), number("w_min", 8.0)], &[(7.0, 100)]);
        connection.paths[0].ssthresh = 40.0;
        connection.paths[0].smoothed_rtt = Time::from_picos(1 << 27);
        connection.paths[0].minimum_rtt = Time::from_picos(1 << 27);
        connection.ack(0, 1, 1);
        // beta = 1/8 = alpha of 8 packets, exactly.
        assert_eq!((connection.window(0), connection.ssthresh(0)), (8.0, 40.0));
        let mut connection = fcc(&[at_once()], &[(9.0, 100)]);
        connection.paths[0].ssthresh = 40.0;
        connection.ack(0, 2, 2);
        // beta = 0.2; the window stays as it is.
        assert_eq!((connection.window(0), connection.ssthresh(0)), (11.0, 5.5));
        let mut connection = fcc(&[at_once()], &[(2.5, 100)]);
        connection.paths[0].ssthresh = 40.0;
        connection.ack(0, 1, 0);
        connection.ack(0, 9, 9);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (12.5, 6.25));
    }

    #[test]
    fn ssthresh_is_at_least_the_minimum_window() {
        let mut connection = fcc(&[at_once()], &[(1.0, 100)]);
        connection.paths[0].ssthresh = 40.0;
        connection.ack_as(0, 9, 9, false, false);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (1.0, 40.0));
        connection.paths[0].window = 3.0;
        connection.ack_as(0, 9, 9, false, false);
        assert_eq!(connection.ssthresh(0), 2.0);
    }

    #[test]
    fn what_slow_start_leaves_of_an_acknowledgement_is_congestion_avoidances() {
        let mut connection = fcc(&[], &[(8.0, 100)]);
        connection.paths[0].ssthresh = 10.0;
        connection.ack(0, 5, 0);
        assert!(near(connection.window(0), 10.3, 1e-9));
    }

    #[test]
    fn a_loss_halves_and_a_timeout_starts_again() {
        let mut connection = fcc(&[], &[(20.0, 100), (20.0, 100)]);
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (10.0, 10.0));
        assert_eq!((connection.window(1), connection.ssthresh(1)), (20.0, 1.0));
        connection.loss(1, Loss::Timeout);
        assert_eq!((connection.window(1), connection.ssthresh(1)), (1.0, 10.0));
    }

    #[test]
    fn marks_alone_halve_once_a_round() {
        let given = [at_once(), number("w_min", 1.0)];
        let mut connection = fcc(&given, &[(32.0, 100)]);
        connection.ack(0, 1, 1);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (16.0, 16.0));
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(connection.window(0), 16.0, "a loss costs nothing more");
        // Halved a round later again, for beta is still 1.
        for _ in 0..31 {
            connection.ack_as(0, 1, 1, true, true);
            assert_eq!(connection.window(0), 16.0);
        }
        connection.ack_as(0, 1, 1, true, true);
        assert_eq!(connection.window(0), 8.0);
        connection.change(0, Change::Opened);
        connection.ack(0, 1, 1);
        assert_eq!(
            connection.window(0),
            4.0,
            "a new subflow has not been halved"
        );
    }

    #[test]
    fn no_movement_in_recovery_and_no_growth_of_an_unused_window() {
        for ssthresh in [1.0, 100.0] {
            for (recovery, limited) in [(true, true), (true, false), (false, false)] {
                let mut connection = fcc(&[], &[(10.0, 100)]);
                connection.paths[0].ssthresh = ssthresh;
                connection.ack_as(0, 1, 0, recovery, limited);
                assert_eq!(connection.window(0), 10.0);
            }
        }
        let mut connection = fcc(&[at_once()], &[(10.0, 100)]);
        connection.ack_as(0, 2, 2, true, true);
        assert_eq!(connection.window(0), 10.0);
        let mut connection = fcc(&[at_once()], &[(10.0, 100)]);
        connection.ack_as(0, 2, 2, false, false);
        assert!(near(connection.window(0), 9.8, 1e-9), "it may fall");
    }

    #[test]
    fn a_window_that_must_not_grow_may_fall_outside_fast_recovery() {
        for ssthresh in [1.0, 100.0] {
            let mut connection = fcc(&[], &[(10.0, 100)]);
            connection.paths[0].ssthresh = ssthresh;
            connection.ack_without_growth(0, 1, 0);
            assert_eq!(connection.window(0), 10.0);
        }
        let mut connection = fcc(&[at_once()], &[(10.0, 100)]);
        connection.ack_without_growth(0, 2, 2);
        assert!(near(connection.window(0), 9.8, 1e-9));
        // The same marks end slow start.
        let mut connection = fcc(&[at_once()], &[(10.0, 100)]);
        connection.paths[0].ssthresh = 40.0;
        connection.ack_without_growth(0, 2, 2);
        assert!(near(connection.window(0), 9.8, 1e-9));
        assert_eq!(connection.ssthresh(0), 5.0);
    }

    #[test]
    fn failed_subflows_do_not_count_until_they_recover() {
        let connection = fcc(&[], &[(10.0, 100); 3]);
        connection.check_that_failed_subflows_do_not_count(1.0 / 20.0, 1.0 / 30.0);
    }

    #[test]
    fn only_active_subflows_with_an_rtt_count() {
        for other in 0..2 {
            let mut connection = fcc(&[], &[(10.0, 100), (40.0, 10 * other)]);
            connection.change(1, Change::Opened);
            if other == 1 {
                connection.change(1, Change::Closed);
            }
            connection.ack(0, 1, 0);
            assert!(near(connection.window(0), 10.1, 1e-9));
            connection.ack(1, 1, 0);
            assert_eq!(connection.window(1), 40.0);
            connection.paths[1].ssthresh = 100.0;
            connection.ack(1, 1, 0);
            assert_eq!(connection.window(1), 41.0, "slow start needs no RTT");
        }
    }

    /// Subflows on paths of (BDP in packets, base RTT in microseconds) with queues of 100 packets that
    /// mark in proportion: the last windows, alphas and betas, averaged.
    fn settle(given: &[(String, Value)], paths: &[(f64, u64)]) -> Vec<(f64, f64, f64)> {
        let subflows: Vec<_> = paths.iter().map(|&(_, rtt)| (10.0, rtt)).collect();
        let mut connection = fcc(given, &subflows);
        let base = paths.iter().map(|path| path.1).min().unwrap() as f64;
        let mut owed = [0.0; 2];
        let mut sums = std::vec![(0.0, 0.0, 0.0); paths.len()];
        let (warm_up, counted) = (1000, 4000);
        for round in 0..warm_up + counted {
            for (r, &(bdp, rtt)) in paths.iter().enumerate() {
                let window = connection.window(r);
                let queue = f64::max(window - bdp, 0.0);
                let delay = (1.0 + queue / bdp) * rtt as f64;
                connection.paths[r].smoothed_rtt = Time::from_nanos((delay * 1000.0) as u64);
                let share = queue / 100.0;
                for _ in 0..window as u32 {
                    owed[r] += share;
                    let mark = owed[r] >= 1.0;
                    owed[r] -= f64::from(u32::from(mark));
                    connection.ack(r, 1, u32::from(mark));
                }
                if round >= warm_up {
                    let rate = |path: &Path| {
                        let micros = path.rtt_seconds() * 1e6;
                        (path.window / (micros * micros), micros)
                    };
                    let sum: f64 = connection.paths.iter().map(|path| rate(path).0).sum();
                    sums[r].0 += window;
                    sums[r].1 += 1.0 / (base * rate(&connection.paths[r]).1 * sum);
                    sums[r].2 += share;
                }
            }
        }
        let n = f64::from(counted);
        sums.iter().map(|s| (s.0 / n, s.1 / n, s.2 / n)).collect()
    }

    #[test]
    fn one_path_settles_with_one_over_bdp_of_the_queue() {
        for step in ["fixed", "armijo"] {
            let (window, alpha, share) = settle(&[text("step", step)], &[(36.0, 400)])[0];
            // (w - 36) / 100 = (w / 36) / w.
            assert!(near(window, 36.0 + 100.0 / 36.0, 0.02), "{step}: {window}");
            assert!(near(share, 1.0 / 36.0, 0.05), "{step}: {share}");
            assert!(near(share, alpha, 0.05), "{step}: {share} {alpha}");
        }
    }

    #[test]
    fn every_path_settles_where_beta_is_alpha() {
        for step in ["fixed", "armijo"] {
            let paths = settle(&[text("step", step)], &[(36.0, 400), (50.0, 600)]);
            for (window, alpha, share) in paths {
                assert!(near(share, alpha, 0.1), "{step}: {window} {share} {alpha}");
            }
        }
    }

    #[test]
    fn it_is_ecn_capable() {
        let entry = find("fcc").unwrap();
        let defaults = entry.defaults();
        assert_eq!((entry.ecn)(&defaults), Ecn::Count { limit: 255 });
        assert_eq!(
            (defaults.number("eta"), defaults.number("w_min")),
            (0.0625, 10.0)
        );
        assert_eq!(defaults.choice("step"), "fixed");
        assert_eq!(defaults.choice("alpha_total"), "1/base-rtt");
    }
}

#[cfg(test)]
mod tests_of_armijos_rule;
