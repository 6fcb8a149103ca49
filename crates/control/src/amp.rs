//! AMP, adaptive multipath: an increase without RTTs, a constant cut, and one subflow alone when all
//! are stuck at the minimum window (AMP paper, section 4, algorithm 1).
//!
//! With w_r the window of subflow r in packets, cwnd_min the transport's minimum window (2 in the
//! paper, 1 in the published code), and w_total the sum of the windows of the active subflows that are
//! not suppressed:
//!
//! - slow start: +1 for each acknowledged packet;
//! - congestion avoidance: +1 / w_total for each acknowledged packet;
//! - on the first mark of a round of r, in slow start too: w_r <- max(w_r (1 - 1 / beta), cwnd_min),
//!   ssthresh = w_r;
//! - loss: w_r <- max(w_r / 2, cwnd_min); a timeout starts again from one packet;
//! - suppression: when floor(w_s) has been cwnd_min for every subflow s at the end of `gamma` rounds in a
//!   row, all but the first subflow stop sending;
//! - release: when the first subflow has seen no mark in `tau` rounds in a row, all send again.
//!
//! The paper has beta = 4, gamma = 2, tau = 8, and advises to choose beta for a fabric by
//! (BDP + K) / beta <= K with K the marking threshold in packets. With one active subflow AMP is Reno's increase with a cut by
//! 1 / beta on marks; with equal RTTs the increase is that of Semicoupled and XMP.
//!
//! Ruling: rounds are those of the first subflow, for both counters. Its windows and marks are looked at
//! when its round ends, after the acknowledgement that ends it has had its effect.
//!
//! Ruling: a round counts towards suppression only if two or more subflows are active, the first
//! among them, and none of those is in recovery; a round that does not count starts the counter again.
//! After a timeout recovery lasts until what was in flight has been acknowledged.
//!
//! Ruling: rounds count towards release only while suppressed, and only if floor(w) of the first
//! subflow is above cwnd_min and it is not in recovery: the published code asks this, the paper omits it.
//!
//! Ruling: a suppressed subflow sends no new data. What it has in flight completes, and is retransmitted on
//! itself if lost. Its window does not grow. On release it resumes in congestion avoidance with
//! w = cwnd_min.
//!
//! Ruling: a subflow that opens while others are suppressed is suppressed too. All are released when the
//! first one closes, fails or goes on standby: the connection would depend on a path that carries nothing.
//!
//! Ruling: windows count in w_total from the moment that a subflow is active: no RTT is needed.
//!
//! Ruling: marks are ignored until the packets in flight at the last cut (mark or loss) have been
//! acknowledged, and a loss in a round that a mark has cut halves the window from before that cut.

use crate::suppression::{self, Suppression};
use crate::{
    Ack, Change, Controller, Ecn, Entry, Loss, OncePerRound, Parameter, ParameterKind, Paths,
    PerSubflow, SubflowId, slow_start,
};
use alloc::boxed::Box;
use pathweave_units::Time;

/// AMP in the registry.
pub const ENTRY: Entry = Entry {
    name: "amp",
    summary: "Grows all subflows together, cuts by a constant share, and sends on one alone in incast.",
    source: "AMP, IFIP Networking 2019, algorithm 1",
    file: include_str!("amp.rs"),
    coupled: true,
    scatter: None,
    scheme: None,
    ecn: |_| Ecn::Count { limit: 255 },
    parameters: &[
        Parameter {
            name: "beta",
            kind: ParameterKind::Number {
                default: 4.0,
                minimum: 2.0,
                maximum: 1024.0,
                integer: false,
            },
            help: "A marked round costs 1/beta of the window.",
        },
        Parameter {
            name: "suppression",
            kind: ParameterKind::Choice(&["on", "off"]),
            help: "Whether all but the first subflow stop sending when all are at the minimum window.",
        },
        Parameter {
            name: "gamma",
            kind: ParameterKind::Number {
                default: 2.0,
                minimum: 1.0,
                maximum: 1024.0,
                integer: true,
            },
            help: "Rounds with all windows at the minimum until subflows are suppressed.",
        },
        Parameter {
            name: "tau",
            kind: ParameterKind::Number {
                default: 8.0,
                minimum: 1.0,
                maximum: 1024.0,
                integer: true,
            },
            help: "Rounds without a mark until suppressed subflows are released.",
        },
    ],
    build: |parameters| {
        let suppression = parameters.choice("suppression") == "on";
        let rounds = |name| parameters.number(name) as u32;
        Box::new(Amp {
            cut: 1.0 / parameters.number("beta"),
            cuts: PerSubflow::new(OncePerRound::new()),
            suppression: suppression.then(|| Suppression::new(rounds("gamma"), rounds("tau"))),
        })
    },
};

#[derive(Clone, Debug)]
struct Amp {
    /// 1 / beta.
    cut: f64,
    cuts: PerSubflow<OncePerRound>,
    suppression: Option<Suppression>,
}

impl Amp {
    #[inline]
    fn respond(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        let path = &mut paths[r];
        if ack.ce > 0 && self.cuts.get(r).on_mark(path, self.cut) {
            return;
        }
        if ack.lets_window_grow() && path.is_active() && path.may_send {
            let packets = slow_start::grow(path, ack.packets);
            if packets > 0 {
                let total: f64 = paths.sending().map(|path| path.window).sum();
                paths[r].window += f64::from(packets) / total;
            }
        }
    }
}

impl Controller for Amp {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        self.respond(paths, r, ack);
        if r == suppression::FIRST
            && let Some(suppression) = &mut self.suppression
        {
            suppression.on_ack(paths, ack);
        }
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, _now: Time) {
        self.cuts.get(r).on_loss(&mut paths[r], loss);
        if let Some(suppression) = &mut self.suppression {
            suppression.on_loss(&paths[r], r, loss);
        }
    }

    fn on_subflow(&mut self, paths: &mut Paths<'_>, r: SubflowId, change: Change) {
        if change.begins() {
            self.cuts.restart(r);
        }
        if let Some(suppression) = &mut self.suppression {
            suppression.on_subflow(paths, r, change);
        }
    }

    fn on_packet_size(&mut self, r: SubflowId, factor: f64) {
        self.cuts.get(r).rescale(factor);
    }
}

#[cfg(test)]
mod tests {
    use crate::greedy_sender::{GreedySender, near, number};
    use crate::{Change, Ecn, Loss, find};

    fn amp(subflows: &[(f64, u64)]) -> GreedySender {
        GreedySender::new("amp", &[], subflows)
    }

    #[test]
    fn the_increase_is_one_over_all_windows_whatever_the_rtts() {
        let mut connection = amp(&[(10.0, 100), (20.0, 300), (50.0, 0)]);
        for (r, packets) in [(0, 1), (1, 2), (2, 1)] {
            let before = connection.window(r);
            let total = connection.paths.iter().map(|path| path.window).sum::<f64>();
            connection.ack(r, packets, 0);
            let gained = connection.window(r) - before;
            assert!(near(gained, f64::from(packets) / total, 1e-12));
        }
        assert!(near(connection.window(0), 10.0 + 1.0 / 80.0, 1e-12));
    }

    #[test]
    fn closed_subflows_neither_count_nor_grow() {
        let mut connection = amp(&[(10.0, 100), (10.0, 100)]);
        connection.change(1, Change::Closed);
        connection.ack(0, 1, 0);
        assert_eq!(connection.window(0), 10.1);
        connection.ack(1, 1, 0);
        assert_eq!(connection.window(1), 10.0);
    }

    #[test]
    fn failed_subflows_do_not_count_until_they_recover() {
        let connection = amp(&[(10.0, 100); 3]);
        connection.check_that_failed_subflows_do_not_count(1.0 / 20.0, 1.0 / 30.0);
    }

    #[test]
    fn a_marked_round_costs_a_quarter_once() {
        let mut connection = amp(&[(16.0, 100), (16.0, 100)]);
        connection.ack(0, 1, 1);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (12.0, 12.0));
        assert_eq!((connection.window(1), connection.ssthresh(1)), (16.0, 1.0));
        connection.ack(0, 1, 1);
        assert_eq!(connection.window(0), 12.0 + 1.0 / 28.0, "it has been cut");
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(connection.window(0), 8.0, "half of 16");
        connection.change(0, Change::Opened);
        connection.ack(0, 1, 1);
        assert_eq!(connection.window(0), 6.0, "a new subflow has cut nothing");
    }

    #[test]
    fn beta_sets_the_cut() {
        let mut connection = GreedySender::new("amp", &[number("beta", 2.0)], &[(16.0, 100)]);
        connection.ack(0, 1, 1);
        assert_eq!(connection.window(0), 8.0);
        let mut connection = amp(&[(2.5, 100)]);
        connection.ack(0, 1, 1);
        assert_eq!(connection.window(0), 2.0, "the minimum window");
    }

    #[test]
    fn slow_start_is_that_of_reno_and_a_mark_ends_it() {
        let mut connection = amp(&[(10.0, 100), (10.0, 100)]);
        connection.paths[0].ssthresh = 100.0;
        connection.ack(0, 6, 0);
        assert_eq!(connection.window(0), 16.0);
        connection.ack(0, 1, 1);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (12.0, 12.0));
    }

    #[test]
    fn losses_are_the_common_ones() {
        let mut connection = amp(&[(10.0, 100), (3.0, 100)]);
        connection.loss(1, Loss::FastRetransmit);
        assert_eq!((connection.window(1), connection.ssthresh(1)), (2.0, 2.0));
        connection.loss(0, Loss::Timeout);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (1.0, 5.0));
    }

    #[test]
    fn no_growth_in_recovery_or_unused() {
        for (recovery, limited) in [(true, true), (false, false)] {
            let mut connection = amp(&[(10.0, 100)]);
            connection.ack_as(0, 1, 0, recovery, limited);
            assert_eq!(connection.window(0), 10.0);
        }
    }

    #[test]
    fn it_is_ecn_capable() {
        let entry = find("amp").unwrap();
        assert_eq!((entry.ecn)(&entry.defaults()), Ecn::Count { limit: 255 });
        assert_eq!(entry.defaults().number("beta"), 4.0);
        assert_eq!(entry.defaults().choice("suppression"), "on");
    }
}
