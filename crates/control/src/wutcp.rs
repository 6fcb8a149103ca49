//! WUTCP(omega), the weighted family of "Two Families of Optimal Multipath Congestion Control Protocols"
//! (Singhal et al., IEEE 2022), equations 27 and 28.
//!
//! With w_r the window of subflow r in packets and m the number of active subflows, each subflow
//! is a TCP of weight omega, whatever the others do:
//!
//! - slow start: +(3/2) (1 - 3^-omega) for each acknowledged packet; congestion there:
//!   w_r <- (1 - 3^(1 - omega) / 2) w_r, at least the minimum window, and ssthresh = w_r;
//! - congestion avoidance: +omega / w_r for each acknowledged packet; congestion there halves w_r;
//! - a loss is congestion, and with `ecn = "on"` a marked round too.
//!
//! omega is 1/m by default; `1/m^2` is EWTCP (`ewtcp`) except in slow start, which is TCP's there; the paper also
//! runs `1/sqrt(m)`. With one subflow these three are Reno: omega = 1 adds 1 in slow start and halves. A number is the
//! same for every m. A list has one for each subflow, and its last number is also that of any further ones. Numbers
//! below 0.00001 (256 subflows have 1/m^2 = 0.000015) and above 1, a TCP's, are refused.
//!
//! Each subflow settles where a round meets congestion with probability p = 1 / (1 + w_r / (2 omega)), so
//! that its window is to a TCP's about as omega to 1. The connection maximises sum_r omega U_tcp(x_r): there
//! is no resource pooling. Whether m subflows at 1/m or at 1/m^2 together equal one TCP depends on
//! how congestion comes: windows go as omega when it comes once a round, as the root of omega when each
//! packet is lost by itself with the same probability.
//!
//! Ruling: in slow start the cut of small weights is more than the whole window (omega below 0.369): it
//! ends at the minimum window.
//!
//! Ruling: a timeout is the common one, ssthresh = max(w_r / 2, 2) and w_r = 1. The theory treats it
//! like a loss found by duplicate acknowledgements: `timeout = "as-loss"` does.
//!
//! Ruling: a round is cut once by marks, which are ignored until the packets in flight at the last cut
//! (mark or loss) have been acknowledged. A loss in a round that a mark has cut halves the window from
//! before that cut; where the mark cut deeper, that stands. A marked acknowledgement grows no window
//! (RFC 3168, section 6.1.2).
//!
//! Ruling: m is counted whenever a subflow opens, closes, fails or recovers.

use crate::{
    Ack, Change, ClonableController, Controller, Entry, Loss, OncePerRound, Parameter,
    ParameterKind, Path, Paths, PerSubflow, SubflowId, Value, ecn_choice, slow_start,
};
use alloc::boxed::Box;
use pathweave_units::Time;

/// WUTCP in the registry.
pub const ENTRY: Entry = Entry {
    name: "wutcp",
    summary: "Runs each subflow by itself as a TCP of a fixed weight.",
    source: "WUTCP, IEEE 2022, equations 27 and 28",
    file: include_str!("wutcp.rs"),
    coupled: true,
    scatter: None,
    scheme: None,
    ecn: ecn_choice::ecn,
    parameters: &[
        Parameter {
            name: "omega",
            kind: ParameterKind::ChoiceOrPerSubflow {
                choices: &["1/m", "1/m^2", "1/sqrt(m)"],
                minimum: 0.00001,
                maximum: 1.0,
            },
            help: "Weight of a subflow, in packets that a round adds; m is the number of active subflows.",
        },
        Parameter {
            name: "timeout",
            kind: ParameterKind::Choice(&["common", "as-loss"]),
            help: "A timeout starts again from one packet (common) or costs what another loss costs (as-loss).",
        },
        ecn_choice::PARAMETER,
    ],
    build: |parameters| {
        let omega = match parameters.value("omega") {
            Some(&Value::Number(omega)) => Omega::Fixed([omega].into()),
            Some(Value::Numbers(omegas)) => Omega::Fixed(omegas.as_slice().into()),
            _ => match parameters.choice("omega") {
                "1/m^2" => Omega::PerSubflowsSquared,
                "1/sqrt(m)" => Omega::PerRootOfSubflows,
                _ => Omega::PerSubflows,
            },
        };
        Box::new(Wutcp {
            timeout_is_a_loss: parameters.choice("timeout") == "as-loss",
            ..Wutcp::new(omega, SlowStart::Weighted, ecn_choice::is_on(parameters))
        })
    },
};

/// How the weight of a subflow follows from the number m of subflows.
#[derive(Clone, Debug)]
pub enum Omega {
    /// 1/m.
    PerSubflows,
    /// 1/m^2.
    PerSubflowsSquared,
    /// 1/sqrt(m).
    PerRootOfSubflows,
    /// The same for every m: one for each subflow, the last also for those beyond it.
    Fixed(Box<[f64]>),
}

impl Omega {
    /// By the number of the subflow; the last is also that of larger numbers.
    fn weights(&self, subflows: f64, slow_start: SlowStart) -> Box<[Weight]> {
        let same = match self {
            Omega::PerSubflows => 1.0 / subflows,
            Omega::PerSubflowsSquared => 1.0 / (subflows * subflows),
            Omega::PerRootOfSubflows => 1.0 / libm::sqrt(subflows),
            Omega::Fixed(omegas) => {
                let weights = omegas.iter().map(|&omega| Weight::new(omega, slow_start));
                return weights.collect();
            }
        };
        [Weight::new(same, slow_start)].into()
    }
}

/// How windows grow in slow start, and what congestion costs there.
#[derive(Clone, Copy, Debug)]
pub enum SlowStart {
    /// As a TCP's: a packet for each acknowledged one, and half the window.
    Tcp,
    /// As omega has it: (3/2) (1 - 3^-omega) packets, and 3^(1 - omega) / 2 of the window.
    Weighted,
}

/// What follows from omega, which changes only when a subflow comes or goes.
#[derive(Clone, Copy, Debug)]
struct Weight {
    /// Packets that a round adds in congestion avoidance.
    omega: f64,
    /// Packets that an acknowledged one adds in slow start.
    step: f64,
    /// Share of the window that congestion costs in slow start.
    slow_start_cut: f64,
}

impl Weight {
    fn new(omega: f64, slow_start: SlowStart) -> Weight {
        let (step, slow_start_cut) = match slow_start {
            SlowStart::Tcp => (1.0, 0.5),
            SlowStart::Weighted => (
                1.5 * (1.0 - libm::pow(3.0, -omega)),
                libm::pow(3.0, 1.0 - omega) / 2.0,
            ),
        };
        Weight {
            omega,
            step,
            slow_start_cut,
        }
    }

    fn cut(&self, path: &Path) -> f64 {
        if path.in_slow_start() {
            self.slow_start_cut
        } else {
            0.5
        }
    }
}

#[derive(Clone, Debug)]
struct Wutcp {
    omega: Omega,
    slow_start: SlowStart,
    /// Of each subflow by its number; the last is also that of larger numbers.
    weights: Box<[Weight]>,
    timeout_is_a_loss: bool,
    marks_count: bool,
    cuts: PerSubflow<OncePerRound>,
}

/// TCPs of this weight, each by itself.
pub fn weighted(
    omega: Omega,
    slow_start: SlowStart,
    marks_count: bool,
) -> Box<dyn ClonableController> {
    Box::new(Wutcp::new(omega, slow_start, marks_count))
}

impl Wutcp {
    fn new(omega: Omega, slow_start: SlowStart, marks_count: bool) -> Wutcp {
        Wutcp {
            weights: omega.weights(1.0, slow_start),
            omega,
            slow_start,
            timeout_is_a_loss: false,
            marks_count,
            cuts: PerSubflow::new(OncePerRound::new()),
        }
    }

    #[inline]
    fn weight(&self, r: SubflowId) -> Weight {
        let last = self.weights.len() - 1;
        self.weights[last.min(r.0 as usize)]
    }
}

impl Controller for Wutcp {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        let weight = self.weight(r);
        let path = &mut paths[r];
        let marked = ack.ce > 0 && self.marks_count;
        if ack.lets_window_grow() && (!marked || path.growth_by_marked_acks) {
            let packets = slow_start::grow_by(path, ack.packets, weight.step);
            if packets > 0 {
                path.window += weight.omega * f64::from(packets) / path.window;
            }
        }
        if marked {
            let cut = weight.cut(path);
            self.cuts.get(r).on_mark(path, cut);
        }
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, _now: Time) {
        let path = &mut paths[r];
        let cut = self.weight(r).cut(path);
        let loss = if self.timeout_is_a_loss {
            Loss::FastRetransmit
        } else {
            loss
        };
        self.cuts.get(r).on_loss_of(path, loss, cut);
    }

    fn on_subflow(&mut self, paths: &mut Paths<'_>, r: SubflowId, change: Change) {
        if change.begins() {
            self.cuts.restart(r);
        }
        let subflows = paths.active().count().max(1);
        self.weights = self.omega.weights(subflows as f64, self.slow_start);
    }

    fn on_packet_size(&mut self, r: SubflowId, factor: f64) {
        self.cuts.get(r).rescale(factor);
    }
}

#[cfg(test)]
mod tests {
    use crate::greedy_sender::{GreedySender, near, number, text};
    use crate::{Change, Ecn, Loss, Value, find};
    use alloc::string::String;
    use alloc::vec;

    const TWO: [(f64, u64); 2] = [(10.0, 100), (40.0, 300)];

    fn wutcp(omega: (String, Value), subflows: &[(f64, u64)]) -> GreedySender {
        GreedySender::new("wutcp", &[omega], subflows)
    }

    fn omegas() -> [((String, Value), f64); 4] {
        [
            (text("omega", "1/m"), 0.5),
            (text("omega", "1/m^2"), 0.25),
            (text("omega", "1/sqrt(m)"), core::f64::consts::FRAC_1_SQRT_2),
            (number("omega", 0.3), 0.3),
        ]
    }

    #[test]
    fn a_subflow_adds_its_weight_a_round_whatever_the_others_do() {
        for (given, omega) in omegas() {
            let mut connection = wutcp(given, &TWO);
            connection.ack(0, 1, 0);
            connection.ack(1, 2, 0);
            assert!(near(connection.window(0) - 10.0, omega / 10.0, 1e-12));
            assert!(near(connection.window(1) - 40.0, omega / 20.0, 1e-12));
        }
        let defaults = find("wutcp").unwrap().defaults();
        assert_eq!(defaults.choice("omega"), "1/m");
    }

    #[test]
    fn congestion_halves() {
        for (given, _) in omegas() {
            let mut connection = wutcp(given, &TWO);
            connection.loss(1, Loss::FastRetransmit);
            assert_eq!((connection.window(1), connection.ssthresh(1)), (20.0, 20.0));
            assert_eq!((connection.window(0), connection.ssthresh(0)), (10.0, 1.0));
        }
    }

    #[test]
    fn slow_start_is_that_of_the_weight() {
        // (3/2) (1 - 3^-omega) for 1/2, 1/4, 1/sqrt(2) and 0.3, computed elsewhere.
        let steps = [
            0.6339745962156,
            0.3602464715226,
            0.8102120801026,
            0.4211653600127,
        ];
        for ((given, _), step) in omegas().into_iter().zip(steps) {
            let mut connection = wutcp(given, &TWO);
            connection.paths[0].ssthresh = 100.0;
            connection.ack(0, 1, 0);
            assert!(near(connection.window(0) - 10.0, step, 1e-9));
        }
    }

    #[test]
    fn congestion_in_slow_start_costs_more() {
        // 3^(1 - omega) / 2 of 100: 0.8660254038 for 1/2, 0.6897879199 for 1/sqrt(2); more than 1 for the others.
        let windows = [13.397459621556, 2.0, 31.0212080102625, 2.0];
        for ((given, _), window) in omegas().into_iter().zip(windows) {
            let mut connection = wutcp(given, &TWO);
            (connection.paths[0].window, connection.paths[0].ssthresh) = (100.0, 200.0);
            connection.loss(0, Loss::FastRetransmit);
            assert!(near(connection.window(0), window, 1e-9));
            assert_eq!(connection.ssthresh(0), connection.window(0));
        }
    }

    #[test]
    fn at_ssthresh_congestion_avoidance_has_begun() {
        let mut connection = wutcp(number("omega", 0.5), &TWO);
        (connection.paths[0].window, connection.paths[0].ssthresh) = (100.0, 100.0);
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(connection.window(0), 50.0);
    }

    #[test]
    fn subflows_that_come_and_go_change_the_weight() {
        let mut connection = wutcp(text("omega", "1/m"), &[(10.0, 100); 4]);
        connection.ack(0, 1, 0);
        assert!(near(connection.window(0), 10.025, 1e-12));
        connection.change(3, Change::Closed);
        connection.change(2, Change::Closed);
        connection.ack(1, 1, 0);
        assert!(near(connection.window(1), 10.05, 1e-12));
        connection.change(3, Change::Opened);
        connection.ack(3, 1, 0);
        assert!(near(connection.window(3), 10.0 + 1.0 / 30.0, 1e-12));
        for r in 0..4 {
            connection.change(r, Change::Closed);
        }
        connection.ack(2, 1, 0);
        assert_eq!(connection.window(2), 10.1, "none is as one");
    }

    #[test]
    fn failed_subflows_and_those_on_standby_have_no_weight() {
        let mut connection = wutcp(text("omega", "1/m"), &[(10.0, 100); 3]);
        for (change, r, m) in [
            (Change::Failed, 1, 2.0),
            (Change::StoodBy, 2, 1.0),
            (Change::Recovered, 2, 2.0),
            (Change::Recovered, 1, 3.0),
        ] {
            connection.change(r, change);
            (connection.paths[0].window, connection.paths[0].ssthresh) = (10.0, 1.0);
            connection.ack(0, 1, 0);
            assert!(near(connection.window(0), 10.0 + 0.1 / m, 1e-12), "{m}");
            // (3/2) (1 - 3^-(1/m)), computed elsewhere.
            let step = [1.0, 0.6339745962156, 0.4599580884740][m as usize - 1];
            (connection.paths[0].window, connection.paths[0].ssthresh) = (10.0, 100.0);
            connection.ack(0, 1, 0);
            assert!(near(connection.window(0), 10.0 + step, 1e-9), "{m}");
        }
    }

    #[test]
    fn a_timeout_starts_again_unless_it_is_as_a_loss() {
        let mut connection = wutcp(number("omega", 0.5), &TWO);
        connection.loss(1, Loss::Timeout);
        assert_eq!((connection.window(1), connection.ssthresh(1)), (1.0, 20.0));
        let given = [number("omega", 0.5), text("timeout", "as-loss")];
        let mut connection = GreedySender::new("wutcp", &given, &TWO);
        connection.loss(1, Loss::Timeout);
        assert_eq!((connection.window(1), connection.ssthresh(1)), (20.0, 20.0));
    }

    #[test]
    fn subflows_may_have_an_omega_each() {
        let given = (String::from("omega"), Value::Numbers(vec![1.0, 0.25]));
        let mut connection = wutcp(given, &[(10.0, 100); 3]);
        for (r, omega) in [(0, 1.0), (1, 0.25), (2, 0.25)] {
            connection.ack(r, 1, 0);
            assert!(near(connection.window(r) - 10.0, omega / 10.0, 1e-12));
        }
        // However many there are.
        connection.change(1, Change::Closed);
        connection.paths[2].window = 10.0;
        connection.ack(2, 1, 0);
        assert!(near(connection.window(2) - 10.0, 0.025, 1e-12));
    }

    #[test]
    fn marks_count_only_with_ecn() {
        let mut connection = wutcp(number("omega", 1.0), &TWO);
        connection.ack(0, 1, 1);
        assert_eq!(connection.window(0), 10.1);

        let given = [number("omega", 0.5), text("ecn", "on")];
        let mut connection = GreedySender::new("wutcp", &given, &TWO);
        connection.ack(0, 1, 0);
        assert_eq!(connection.window(0), 10.05);
        connection.paths[0].window = 10.0;
        connection.ack(0, 1, 1);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (5.0, 5.0));
        connection.ack(0, 1, 1);
        assert_eq!(connection.window(0), 5.0, "the round has been cut");
        connection.ack(0, 1, 0);
        assert_eq!(connection.window(0), 5.1);
        connection.change(0, Change::Opened);
        connection.ack(0, 1, 1);
        assert_eq!(connection.window(0), 2.55, "a new subflow has cut nothing");

        let entry = find("wutcp").unwrap();
        assert_eq!((entry.ecn)(&entry.defaults()), Ecn::Off);
        let on = entry.parameters(&given).unwrap();
        assert_eq!((entry.ecn)(&on), Ecn::Count { limit: 255 });
    }

    #[test]
    fn a_loss_after_a_mark_in_slow_start_changes_nothing() {
        let given = [number("omega", 0.5), text("ecn", "on")];
        let mut connection = GreedySender::new("wutcp", &given, &TWO);
        (connection.paths[0].window, connection.paths[0].ssthresh) = (100.0, 200.0);
        connection.ack(0, 1, 1);
        let window = connection.window(0);
        assert!(near(window, 13.39745962, 1e-9));
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(
            (connection.window(0), connection.ssthresh(0)),
            (window, window)
        );
    }

    #[test]
    fn no_growth_in_recovery_or_unused() {
        for (recovery, limited) in [(true, true), (false, false)] {
            let mut connection = wutcp(number("omega", 0.5), &TWO);
            connection.ack_as(0, 1, 0, recovery, limited);
            assert_eq!(connection.window(0), 10.0);
        }
    }

    #[test]
    fn omega_is_at_most_that_of_a_tcp() {
        let entry = find("wutcp").unwrap();
        for right in [0.00001, 1.0 / 65536.0, 0.5, 1.0] {
            assert!(entry.parameters(&[number("omega", right)]).is_ok());
        }
        for wrong in [0.0, -0.5, 1.01] {
            assert!(entry.parameters(&[number("omega", wrong)]).is_err());
        }
        assert!(entry.parameters(&[text("omega", "1/n")]).is_err());
    }

    /// The mean windows of a connection's subflows when a share `p` of rounds meets congestion at random.
    fn mean_windows(name: &str, given: &[(String, Value)], subflows: usize, p: f64) -> f64 {
        let mut connection = GreedySender::new(name, given, &vec![(20.0, 100); subflows]);
        let (mut random, mut sum, mut rounds) = (1_u64, 0.0, 0.0);
        for _ in 0..20_000 {
            for r in 0..subflows {
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
                sum += connection.window(r);
                rounds += 1.0;
            }
        }
        sum / rounds
    }

    #[test]
    fn windows_are_to_a_tcps_as_omega_to_one() {
        let p = 0.01;
        let tcp = mean_windows("reno", &[], 1, p);
        for (given, omega) in omegas() {
            let window = mean_windows("wutcp", &[given], 2, p);
            assert!(
                near(window / tcp, omega, 0.06),
                "{omega}: {window} to {tcp}"
            );
            let formula = 1.0 / (1.0 + window / (2.0 * omega));
            assert!(near(formula, p, 0.08), "{omega}: {formula} != {p}");
        }
    }
}
