//! DCTCP (RFC 8257): cuts the window by as much as the share of marked packets asks for.
//!
//! With w the congestion window in packets:
//!
//! - once a round: alpha <- (1 - g) alpha + g F, with F the share of the round's acknowledged packets
//!   that were marked;
//! - on the first mark of a round: w <- w (1 - alpha/2), ssthresh = w, in slow start too;
//! - Reno's increase: +1 for each acknowledged packet in slow start, then +1/w; an acknowledgement with marks
//!   does not grow the window (RFC 3168, section 6.1.2), unless the transport follows code in which it does. That
//!   code grows the window before it cuts it;
//! - loss halves.
//!
//! When an acknowledgement both ends a round and carries a mark, alpha is brought up to date first.
//! A round is cut once: marks are ignored until the packets in flight at the last cut (mark or loss)
//! have been acknowledged, and a loss in a round that a mark has cut halves the window from before
//! that cut. On several subflows DCTCP runs on each by itself.

use crate::{
    Ack, Change, Controller, Ecn, Entry, Loss, OncePerRound, Parameter, ParameterKind, Parameters,
    Path, Paths, PerSubflow, Round, SubflowId, reno,
};
use alloc::boxed::Box;
use pathweave_units::Time;

/// DCTCP in the registry.
pub const ENTRY: Entry = Entry {
    name: "dctcp",
    summary: "Cuts the window in proportion to the share of marked packets.",
    source: "RFC 8257",
    file: include_str!("dctcp.rs"),
    coupled: false,
    scatter: None,
    scheme: None,
    ecn: |_| Ecn::Count { limit: 255 },
    parameters: &[
        Parameter {
            name: "g",
            kind: ParameterKind::Number {
                default: 1.0 / 16.0,
                minimum: 0.0,
                maximum: 1.0,
                integer: false,
            },
            help: "Weight of the latest round in alpha, the average share of marked packets.",
        },
        Parameter {
            name: "alpha",
            kind: ParameterKind::Number {
                default: 1.0,
                minimum: 0.0,
                maximum: 1.0,
                integer: false,
            },
            help: "Alpha when a subflow opens, as a share.",
        },
    ],
    build: |parameters| Box::new(Dctcp::new(parameters)),
};

/// The average share of marked packets, alpha, of one subflow.
#[derive(Clone, Copy, Debug)]
pub struct MarkedShare {
    /// Alpha.
    pub alpha: f64,
    g: f64,
    round: Round,
    packets: u32,
    marks: u32,
}

impl MarkedShare {
    /// Alpha before anything was acknowledged, and the weight `g` of a round.
    pub fn new(alpha: f64, g: f64) -> MarkedShare {
        MarkedShare {
            alpha,
            g,
            round: Round::default(),
            packets: 0,
            marks: 0,
        }
    }

    /// Counts an acknowledgement, and at the end of a round brings alpha up to date.
    #[inline]
    pub fn on_ack(&mut self, path: &Path, ack: &Ack) {
        self.packets += ack.packets;
        self.marks += ack.ce;
        // A round in which nothing was acknowledged, only duplicates, has no share to average.
        if self.round.advance(path) && self.packets > 0 {
            // Marks that waited for a later acknowledgement may outnumber its packets.
            let marked = f64::min(f64::from(self.marks) / f64::from(self.packets), 1.0);
            self.alpha += self.g * (marked - self.alpha);
            self.packets = 0;
            self.marks = 0;
        }
    }
}

#[derive(Clone, Debug)]
struct Subflow {
    share: MarkedShare,
    cuts: OncePerRound,
}

#[derive(Clone, Debug)]
struct Dctcp {
    subflows: PerSubflow<Subflow>,
}

impl Dctcp {
    fn new(parameters: &Parameters) -> Dctcp {
        Dctcp {
            subflows: PerSubflow::new(Subflow {
                share: MarkedShare::new(parameters.number("alpha"), parameters.number("g")),
                cuts: OncePerRound::new(),
            }),
        }
    }
}

impl Controller for Dctcp {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        let path = &mut paths[r];
        let subflow = self.subflows.get(r);
        subflow.share.on_ack(path, ack);
        // The code in which marked acknowledgements grow windows lets them do so before it cuts.
        if path.may_grow_by(ack) {
            reno::grow(path, ack.packets);
        }
        if ack.ce > 0 {
            subflow.cuts.on_mark(path, subflow.share.alpha / 2.0);
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

    fn restart(&mut self) -> bool {
        self.subflows.forget();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::MarkedShare;
    use crate::greedy_sender::{GreedySender, near, number};
    use crate::{Ack, Change, Ecn, Loss, Path, find};
    use alloc::vec::Vec;
    use pathweave_units::Time;

    fn dctcp(window: f64, alpha: f64, g: f64) -> GreedySender {
        GreedySender::new(
            "dctcp",
            &[number("alpha", alpha), number("g", g)],
            &[(window, 100)],
        )
    }

    fn acknowledge(share: &mut MarkedShare, path: &mut Path, packets: u32, ce: u32) {
        path.acked += u64::from(packets);
        path.sent = path.acked + 19;
        let ack = Ack {
            now: Time::ZERO,
            packets,
            ce,
            rtt: None,
            recovery: false,
            window_limited: true,
            feedback: crate::Feedback::None,
        };
        share.on_ack(path, &ack);
    }

    /// Alpha after each of `rounds` of 20 packets, the first `marks` of each marked.
    fn alphas(alpha: f64, rounds: usize, marks: u32) -> Vec<f64> {
        let mut share = MarkedShare::new(alpha, 1.0 / 16.0);
        let mut path = Path::new(20.0, 2.0, f64::INFINITY);
        let mut alphas = Vec::new();
        for _ in 0..rounds {
            for packet in 0..20 {
                acknowledge(&mut share, &mut path, 1, u32::from(packet < marks));
            }
            alphas.push(share.alpha);
        }
        alphas
    }

    #[test]
    fn a_marked_acknowledgement_that_grows_the_window_does_so_before_the_cut() {
        let mut connection = dctcp(10.0, 1.0, 0.0);
        connection.paths[0].ssthresh = 5.0;
        connection.paths[0].growth_by_marked_acks = true;
        connection.ack(0, 1, 1);
        assert_eq!(connection.window(0), 10.1 / 2.0);
        // At the floor nothing of it is left.
        let mut connection = dctcp(2.0, 1.0, 0.0);
        connection.paths[0].ssthresh = 2.0;
        connection.paths[0].growth_by_marked_acks = true;
        connection.ack(0, 1, 1);
        assert_eq!(connection.window(0), 2.0);
        connection.ack(0, 1, 1);
        assert_eq!(connection.window(0), 2.5, "the rest of the round grows it");
    }

    #[test]
    fn alpha_is_the_moving_average_of_the_marked_share() {
        // The first packet of a round ends the one before it: what is averaged is the first packet,
        // then 20 at a time. With F constant, alpha after n rounds is F + (1 - g)^n (alpha_0 - F).
        let mut expected = 1.0;
        for alpha in alphas(1.0, 100, 5) {
            assert!(near(alpha, expected, 1e-12), "{alpha} {expected}");
            expected += (0.25 - expected) / 16.0;
        }
    }

    #[test]
    fn alpha_converges_to_the_marked_share() {
        for marks in 0..=20 {
            let alpha = alphas(0.5, 400, marks)[399];
            assert!((alpha - f64::from(marks) / 20.0).abs() < 1e-9);
        }
    }

    #[test]
    fn delayed_marks_do_not_make_alpha_exceed_one() {
        let mut connection = dctcp(10.0, 0.5, 1.0);
        connection.ack(0, 1, 3);
        assert_eq!(connection.window(0), 5.0, "F is 1, not 3");
    }

    #[test]
    fn duplicates_alone_do_not_change_alpha() {
        let mut share = MarkedShare::new(0.5, 1.0);
        let mut path = Path::new(20.0, 2.0, f64::INFINITY);
        acknowledge(&mut share, &mut path, 1, 0);
        assert_eq!(share.alpha, 0.0);
        (path.acked, path.sent) = (20, 20);
        let nothing_in_flight = path.clone();
        share.on_ack(
            &nothing_in_flight,
            &Ack {
                now: Time::ZERO,
                packets: 0,
                ce: 1,
                rtt: None,
                recovery: true,
                window_limited: true,
                feedback: crate::Feedback::None,
            },
        );
        assert_eq!(share.alpha, 0.0, "no packets to take a share of");
        acknowledge(&mut share, &mut path, 2, 0);
        assert_eq!(share.alpha, 0.5, "the mark is kept for them");
    }

    #[test]
    fn the_first_mark_of_a_round_cuts_by_half_of_alpha() {
        let mut connection = dctcp(20.0, 0.5, 0.0);
        connection.ack(0, 1, 1);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (15.0, 15.0));
        connection.ack(0, 1, 1);
        assert_eq!(
            connection.window(0),
            15.0,
            "the second mark neither cuts nor grows"
        );
        connection.ack(0, 1, 0);
        assert_eq!(connection.window(0), 15.0 + 1.0 / 15.0);
    }

    #[test]
    fn a_mark_ends_slow_start() {
        let mut connection = dctcp(20.0, 0.5, 0.0);
        connection.paths[0].ssthresh = f64::INFINITY;
        connection.ack(0, 1, 0);
        assert_eq!(connection.window(0), 21.0);
        connection.ack(0, 1, 1);
        assert_eq!(
            (connection.window(0), connection.ssthresh(0)),
            (15.75, 15.75)
        );
        connection.ack(0, 1, 0);
        assert_eq!(connection.window(0), 15.75 + 1.0 / 15.75);
    }

    #[test]
    fn a_duplicate_can_carry_the_mark() {
        let mut connection = dctcp(20.0, 0.5, 0.0);
        connection.ack_as(0, 0, 1, true, true);
        assert_eq!(connection.window(0), 15.0);
    }

    #[test]
    fn alpha_is_up_to_date_when_the_mark_cuts() {
        // The first acknowledgement ends the starting round: alpha = 0.5 + 0.25 (1 - 0.5).
        let mut connection = dctcp(16.0, 0.5, 0.25);
        connection.ack(0, 1, 1);
        assert_eq!(connection.window(0), 16.0 * (1.0 - 0.625 / 2.0));
    }

    #[test]
    fn no_growth_in_recovery() {
        let mut connection = dctcp(16.0, 0.5, 0.25);
        connection.ack_as(0, 1, 0, true, true);
        assert_eq!(connection.window(0), 16.0);
    }

    #[test]
    fn a_round_costs_one_cut() {
        let mut connection = dctcp(20.0, 0.5, 0.0);
        connection.ack(0, 1, 1);
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(connection.window(0), 10.0);
        connection.ack(0, 1, 1);
        assert_eq!(connection.window(0), 10.0);
    }

    #[test]
    fn a_subflow_that_opens_again_starts_afresh() {
        let mut connection = dctcp(16.0, 0.5, 0.0);
        connection.ack(0, 1, 1);
        connection.change(0, Change::Closed);
        connection.ack(0, 1, 1);
        assert_eq!(connection.window(0), 12.0, "the round has been cut");
        connection.change(0, Change::Opened);
        connection.paths[0].window = 16.0;
        connection.ack(0, 1, 1);
        assert_eq!(connection.window(0), 12.0);
    }

    #[test]
    fn the_window_settles_at_two_over_the_marked_share() {
        // A round adds 1 and costs w alpha / 2, and alpha settles at the marked share.
        let mut connection = dctcp(20.0, 1.0, 1.0 / 16.0);
        let (mut sum, mut rounds) = (0.0, 0);
        let mut packet = 0;
        for round in 0..2000 {
            let in_flight = connection.window(0) as u32;
            for _ in 0..in_flight {
                packet += 1;
                connection.ack(0, 1, u32::from(packet % 10 == 0));
            }
            if round >= 500 {
                sum += connection.window(0);
                rounds += 1;
            }
        }
        let mean = sum / f64::from(rounds);
        assert!(near(mean, 20.0, 0.1), "{mean}");
    }

    #[test]
    fn it_is_ecn_capable() {
        let entry = find("dctcp").unwrap();
        assert_eq!((entry.ecn)(&entry.defaults()), Ecn::Count { limit: 255 });
        assert_eq!(entry.defaults().number("g"), 0.0625);
        assert_eq!(entry.defaults().number("alpha"), 1.0);
    }
}
