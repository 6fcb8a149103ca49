//! EUTCP(gamma), the resource-pooling family of "Two Families of Optimal Multipath Congestion Control
//! Protocols" (Singhal et al., IEEE 2022), equations 20 and 21.
//!
//! With w_r the window of subflow r in packets, tau_r its smoothed RTT in seconds, gamma_r a number
//! slightly above 1, and sums over the active subflows s:
//!
//! - slow start: +gamma_r for each acknowledged packet;
//! - congestion avoidance: +1 / (tau_r sum_s(w_s / tau_s)) for each acknowledged packet;
//! - congestion, in either phase: w_r <- (1 - gamma_r / 2) w_r, ssthresh = w_r. A loss is congestion, and
//!   with `ecn = "on"` a marked round too.
//!
//! `gamma` is one number for all subflows, or a list of which subflow r takes the r-th, and the last if
//! there are fewer. The paper runs 1, 1.05 and 1.1. From 1 to 1.9 is accepted: at 2 nothing would be
//! left of the window. EUTCP(1) is Semicoupled (`semicoupled`); on one path that is Reno.
//!
//! With equal RTTs the connection settles where a round meets congestion with probability
//! p = 1 / (1 + gamma W / 2), W the sum of the windows: a round adds 1 packet to W, congestion takes
//! gamma / 2 of it.
//!
//! Ruling: the rule is the printed one. The utility that the paper derives it from, U_tcp(sum_s gamma_s
//! x_s), has it as its optimum only for gamma = 1, because an exponent is dropped between equations 15
//! and 18; with equal RTTs it maximises (1 / gamma) U_tcp(gamma sum_s x_s).
//!
//! Ruling: a timeout is the common one, ssthresh = max(w_r / 2, 2) and w_r = 1. The theory treats it
//! like a loss found by duplicate acknowledgements: `timeout = "as-loss"` does.
//!
//! Ruling: a round is cut once by marks, which are ignored until the packets in flight at the last cut
//! (mark or loss) have been acknowledged; a loss in a round that a mark has cut costs nothing more.
//! Every other loss event cuts. A marked acknowledgement grows no window (RFC 3168, section 6.1.2).
//!
//! Ruling: subflows without an RTT sample are left out of the sum; as long as subflow r has none itself,
//! or is not active, it grows like Reno.

use crate::{
    Ack, Change, ClonableController, Controller, Entry, Loss, OncePerRound, Parameter,
    ParameterKind, Paths, PerSubflow, SubflowId, ecn_choice, slow_start,
};
use alloc::boxed::Box;
use pathweave_units::Time;

/// EUTCP in the registry.
pub const ENTRY: Entry = Entry {
    name: "eutcp",
    summary: "Grows all subflows together as one TCP, and cuts by slightly more than half.",
    source: "EUTCP, IEEE 2022, equations 20 and 21",
    file: include_str!("eutcp.rs"),
    coupled: true,
    scatter: None,
    scheme: None,
    ecn: ecn_choice::ecn,
    parameters: &[
        Parameter {
            name: "gamma",
            kind: ParameterKind::PerSubflow {
                default: 1.05,
                minimum: 1.0,
                maximum: 1.9,
            },
            help: "Congestion costs gamma/2 of a subflow's window, and slow start adds gamma for each acknowledged packet.",
        },
        Parameter {
            name: "timeout",
            kind: ParameterKind::Choice(&["common", "as-loss"]),
            help: "A timeout starts again from one packet (common) or costs what another loss costs (as-loss).",
        },
        ecn_choice::PARAMETER,
    ],
    build: |parameters| {
        Box::new(Eutcp {
            gammas: parameters.per_subflow("gamma").into(),
            timeout_is_a_loss: parameters.choice("timeout") == "as-loss",
            marks_count: ecn_choice::is_on(parameters),
            cuts: PerSubflow::new(OncePerRound::new()),
        })
    },
};

#[derive(Clone, Debug)]
struct Eutcp {
    gammas: Box<[f64]>,
    timeout_is_a_loss: bool,
    marks_count: bool,
    cuts: PerSubflow<OncePerRound>,
}

/// EUTCP(1), which is Semicoupled.
pub fn semicoupled(marks_count: bool) -> Box<dyn ClonableController> {
    Box::new(Eutcp {
        gammas: [1.0].into(),
        timeout_is_a_loss: false,
        marks_count,
        cuts: PerSubflow::new(OncePerRound::new()),
    })
}

impl Eutcp {
    #[inline]
    fn gamma(&self, r: SubflowId) -> f64 {
        let last = self.gammas.len() - 1;
        self.gammas[last.min(r.0 as usize)]
    }
}

/// How many packets must be acknowledged for subflow `r` to gain one: tau_r sum_s(w_s / tau_s).
#[inline]
fn packets_per_increment(paths: &Paths<'_>, r: SubflowId) -> f64 {
    let own = &paths[r];
    if !own.is_active() || !own.has_rtt() {
        return own.window;
    }
    let tau = own.smoothed_rtt.as_picos() as f64;
    let mut total = 0.0;
    for path in paths.active() {
        if path.has_rtt() {
            // The ratio of equal RTTs is exactly 1: one subflow is Reno to the last bit.
            total += path.window * (tau / path.smoothed_rtt.as_picos() as f64);
        }
    }
    total
}

impl Controller for Eutcp {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        let gamma = self.gamma(r);
        let marked = ack.ce > 0 && self.marks_count;
        if ack.lets_window_grow() && (!marked || paths[r].growth_by_marked_acks) {
            let packets = slow_start::grow_by(&mut paths[r], ack.packets, gamma);
            if packets > 0 {
                paths[r].window += f64::from(packets) / packets_per_increment(paths, r);
            }
        }
        if marked {
            self.cuts.get(r).on_mark(&mut paths[r], gamma / 2.0);
        }
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, _now: Time) {
        let share = self.gamma(r) / 2.0;
        let loss = if self.timeout_is_a_loss {
            Loss::FastRetransmit
        } else {
            loss
        };
        self.cuts.get(r).on_loss_of(&mut paths[r], loss, share);
    }

    fn on_subflow(&mut self, _paths: &mut Paths<'_>, r: SubflowId, change: Change) {
        if change.begins() {
            self.cuts.restart(r);
        }
    }

    fn on_packet_size(&mut self, r: SubflowId, factor: f64) {
        self.cuts.get(r).rescale(factor);
    }
}

#[cfg(test)]
mod tests {
    use crate::greedy_sender::{GreedySender, near, number, text};
    use crate::{Change, Ecn, Loss, Value, find};
    use alloc::string::{String, ToString};
    use alloc::vec;
    use std::vec::Vec;

    fn eutcp(given: &[(String, Value)], subflows: &[(f64, u64)]) -> GreedySender {
        GreedySender::new("eutcp", given, subflows)
    }

    fn gammas(values: &[f64]) -> (String, Value) {
        ("gamma".to_string(), Value::Numbers(values.to_vec()))
    }

    fn gain(connection: &mut GreedySender, r: usize) -> f64 {
        let before = connection.window(r);
        connection.ack(r, 1, 0);
        connection.window(r) - before
    }

    #[test]
    fn the_increase_is_one_over_the_own_rtt_times_all_rates() {
        // Rates 10/100 and 20/200 per us, together 0.2.
        let subflows = [(10.0, 100), (20.0, 200)];
        assert!(near(gain(&mut eutcp(&[], &subflows), 0), 1.0 / 20.0, 1e-12));
        assert!(near(gain(&mut eutcp(&[], &subflows), 1), 1.0 / 40.0, 1e-12));
        // With equal RTTs it is one over all windows, whatever gamma.
        let subflows = [(10.0, 100), (20.0, 100), (50.0, 100)];
        for r in 0..3 {
            let mut connection = eutcp(&[number("gamma", 1.5)], &subflows);
            assert!(near(gain(&mut connection, r), 1.0 / 80.0, 1e-12));
        }
    }

    #[test]
    fn an_acknowledgement_for_several_packets_grows_for_each() {
        let mut connection = eutcp(&[], &[(10.0, 100), (30.0, 100)]);
        connection.ack(0, 2, 0);
        assert_eq!(connection.window(0), 10.05);
    }

    #[test]
    fn slow_start_adds_gamma_for_each_packet() {
        let mut connection = eutcp(&[number("gamma", 1.25)], &[(10.0, 100), (10.0, 100)]);
        connection.paths[0].ssthresh = 16.0;
        connection.ack(0, 3, 0);
        assert_eq!(connection.window(0), 13.75);
        // 13.75 -> 15 -> 16.25, and the third packet adds 1 / 26.25.
        connection.ack(0, 3, 0);
        assert_eq!(connection.window(0), 16.25 + 1.0 / 26.25);
        assert_eq!(
            find("eutcp").unwrap().defaults().per_subflow("gamma"),
            [1.05]
        );
    }

    #[test]
    fn a_loss_costs_half_of_gamma() {
        let mut connection = eutcp(&[number("gamma", 1.25)], &[(16.0, 100), (10.0, 100)]);
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (6.0, 6.0));
        assert_eq!((connection.window(1), connection.ssthresh(1)), (10.0, 1.0));
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(connection.window(0), 2.25, "a second loss costs as much");
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(connection.window(0), 2.0, "the minimum window");
    }

    #[test]
    fn subflows_may_have_each_its_gamma() {
        let subflows = [(16.0, 100), (16.0, 100), (16.0, 100)];
        let mut connection = eutcp(&[gammas(&[1.0, 1.25])], &subflows);
        for r in 0..3 {
            connection.loss(r, Loss::FastRetransmit);
        }
        let windows: Vec<f64> = (0..3).map(|r| connection.window(r)).collect();
        assert_eq!(
            windows,
            [8.0, 6.0, 6.0],
            "the last value is for all that follow"
        );
        connection.paths[1].ssthresh = 100.0;
        connection.ack(1, 1, 0);
        assert_eq!(connection.window(1), 7.25);
    }

    #[test]
    fn gamma_leaves_something_of_the_window() {
        let entry = find("eutcp").unwrap();
        for right in [1.0, 1.1, 1.9] {
            assert!(entry.parameters(&[number("gamma", right)]).is_ok());
        }
        for wrong in [0.99, 1.91, 2.0] {
            assert!(entry.parameters(&[number("gamma", wrong)]).is_err());
            assert!(entry.parameters(&[gammas(&[1.0, wrong])]).is_err());
        }
    }

    #[test]
    fn a_timeout_starts_again_unless_it_is_as_a_loss() {
        let mut connection = eutcp(&[], &[(16.0, 100)]);
        connection.loss(0, Loss::Timeout);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (1.0, 8.0));
        connection.ack(0, 1, 0);
        assert_eq!(connection.window(0), 2.05, "slow start");

        let given = [text("timeout", "as-loss"), number("gamma", 1.25)];
        let mut connection = eutcp(&given, &[(16.0, 100)]);
        connection.loss(0, Loss::Timeout);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (6.0, 6.0));
    }

    #[test]
    fn marks_count_only_with_ecn() {
        let mut connection = eutcp(&[], &[(10.0, 100)]);
        connection.ack(0, 1, 1);
        assert_eq!(connection.window(0), 10.1);

        let given = [text("ecn", "on"), gammas(&[1.0, 1.25])];
        let mut connection = eutcp(&given, &[(16.0, 100), (16.0, 100)]);
        connection.ack(1, 1, 1);
        assert_eq!((connection.window(1), connection.ssthresh(1)), (6.0, 6.0));
        assert_eq!(connection.window(0), 16.0);
        connection.ack(1, 1, 1);
        assert_eq!(connection.window(1), 6.0, "the round has been cut");
        connection.ack(1, 1, 0);
        assert_eq!(connection.window(1), 6.0 + 1.0 / 22.0);
        connection.loss(1, Loss::FastRetransmit);
        assert_eq!(connection.window(1), 6.0, "a loss costs nothing more");
        connection.change(1, Change::Opened);
        connection.ack(1, 1, 1);
        assert_eq!(connection.window(1), 2.25, "a new subflow has cut nothing");

        let entry = find("eutcp").unwrap();
        assert_eq!((entry.ecn)(&entry.defaults()), Ecn::Off);
        let on = entry.parameters(&given).unwrap();
        assert_eq!((entry.ecn)(&on), Ecn::Count { limit: 255 });
    }

    #[test]
    fn a_mark_ends_slow_start() {
        let mut connection = eutcp(&[text("ecn", "on"), number("gamma", 1.5)], &[(16.0, 100)]);
        connection.paths[0].ssthresh = f64::INFINITY;
        connection.ack(0, 1, 1);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (4.0, 4.0));
    }

    #[test]
    fn no_growth_in_recovery_or_unused() {
        for (recovery, limited) in [(true, true), (false, false)] {
            let mut connection = eutcp(&[], &[(10.0, 100)]);
            connection.ack_as(0, 1, 0, recovery, limited);
            assert_eq!(connection.window(0), 10.0);
        }
    }

    #[test]
    fn only_active_subflows_with_an_rtt_count() {
        let mut connection = eutcp(&[], &[(10.0, 100), (10.0, 100), (10.0, 0)]);
        assert!(near(gain(&mut connection, 0), 1.0 / 20.0, 1e-12));
        connection.change(1, Change::Closed);
        connection.paths[0].window = 10.0;
        assert!(near(gain(&mut connection, 0), 1.0 / 10.0, 1e-12));
        // Without an RTT, or closed, a subflow is a Reno.
        for r in 1..3 {
            connection.paths[r].window = 40.0;
            assert!(near(gain(&mut connection, r), 1.0 / 40.0, 1e-12));
        }
    }

    #[test]
    fn failed_subflows_do_not_count_until_they_recover() {
        let connection = eutcp(&[], &[(10.0, 100); 3]);
        connection.check_that_failed_subflows_do_not_count(1.0 / 20.0, 1.0 / 30.0);
    }

    /// Where a round of subflow `r` neither grows nor shrinks on average: a round without congestion
    /// adds the gain of an acknowledged packet for each in the window, and congestion costs the cut.
    fn settled_probability(gamma: f64, windows: &[f64], r: usize) -> f64 {
        let subflows: Vec<_> = windows.iter().map(|&window| (window, 100)).collect();
        let given = [number("gamma", gamma)];
        let added = windows[r] * gain(&mut eutcp(&given, &subflows), r);
        let mut connection = eutcp(&given, &subflows);
        connection.loss(r, Loss::FastRetransmit);
        let cost = windows[r] - connection.window(r);
        added / (added + cost)
    }

    #[test]
    fn congestion_settles_at_the_formula() {
        for gamma in [1.0, 1.05, 1.1, 1.5] {
            for windows in [vec![30.0], vec![20.0, 60.0], vec![10.0, 15.0, 50.0]] {
                let total: f64 = windows.iter().sum();
                for r in 0..windows.len() {
                    let p = settled_probability(gamma, &windows, r);
                    assert!(near(p, 1.0 / (1.0 + gamma * total / 2.0), 1e-9));
                }
            }
        }
    }

    #[test]
    fn the_rule_maximises_the_scaled_utility_of_tcp() {
        // At the optimum 1 - exp(-dU/dx) is the congestion probability, U = U_tcp(gamma x) / gamma.
        let (tau, gamma, windows) = (1e-3, 1.3, [20.0, 60.0]);
        let (mu, b) = (1.0 / (tau * tau), 1.0 / (2.0 * tau));
        let u_tcp =
            |x: f64| (mu / b + x) * (libm::log(mu + b * x) - 1.0) - x * (libm::log(b * x) - 1.0);
        let utility = |x: f64| u_tcp(gamma * x) / gamma;
        let (x, h) = (80.0 / tau, 10.0);
        let slope = (utility(x + h) - utility(x - h)) / (2.0 * h);
        let p = 1.0 - libm::exp(-slope);
        assert!(near(settled_probability(gamma, &windows, 0), p, 1e-4));
    }

    #[test]
    fn only_marks_cut() {
        let mut connection = eutcp(&[text("ecn", "on")], &[(10.0, 100)]);
        connection.ack(0, 1, 0);
        assert_eq!(connection.window(0), 10.1);
    }

    #[test]
    fn random_congestion_leads_to_the_formula() {
        for (gamma, p) in [(1.0, 0.04), (1.05, 0.04), (1.5, 0.03)] {
            let given = [number("gamma", gamma)];
            let mut connection = eutcp(&given, &[(20.0, 100), (20.0, 100)]);
            let (mut random, mut sum) = (1_u64, 0.0);
            let rounds = 30_000;
            for _ in 0..rounds {
                for r in 0..2 {
                    random = random
                        .wrapping_mul(6364136223846793005)
                        .wrapping_add(1442695040888963407);
                    if ((random >> 33) as f64) < p * (1_u64 << 31) as f64 {
                        connection.loss(r, Loss::FastRetransmit);
                        // The round passes in recovery.
                        let packets = connection.window(r) as u32;
                        connection.ack_as(r, packets, 0, true, true);
                    } else {
                        connection.round(r, false);
                    }
                }
                sum += connection.window(0) + connection.window(1);
            }
            let total = sum / f64::from(rounds);
            let formula = 1.0 / (1.0 + gamma * total / 2.0);
            assert!(near(formula, p, 0.08), "{gamma}: {total}, {formula} != {p}");
        }
    }
}
