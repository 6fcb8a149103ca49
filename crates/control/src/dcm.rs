//! DCM: LIA's increase with DCTCP's cut on every subflow (AMP paper, section 2).
//!
//! With w_r the window of subflow r in packets, tau_r its smoothed RTT in seconds, w_total the sum of
//! the windows, and s over the active subflows:
//!
//! - slow start: +1 for each acknowledged packet;
//! - congestion avoidance: +min(a / w_total, 1 / w_r) for each acknowledged packet, with
//!   a = w_total max_s(w_s / tau_s^2) / (sum_s w_s / tau_s)^2: LIA's increase, computed as `lia` does;
//! - once a round of r: alpha_r <- (1 - g) alpha_r + g F, with F the share of the round's acknowledged
//!   packets that were marked;
//! - on the first mark of a round of r, in slow start too: w_r <- w_r (1 - alpha_r / 2), ssthresh = w_r;
//! - loss halves; a timeout starts again from one packet.
//!
//! With one active subflow DCM is DCTCP, and without marks it is LIA. What `lia` and `dctcp` say
//! about subflows without an RTT sample, about the one cut of a round and about marked acknowledgements
//! holds here.
//!
//! Ruling: alpha_r starts at 1 as in RFC 8257; in the published code it starts at 0 (`alpha = 0`).

use crate::dctcp::{self, MarkedShare};
use crate::lia::packets_per_increment;
use crate::{
    Ack, Change, Controller, Ecn, Entry, Loss, OncePerRound, Paths, PerSubflow, SubflowId,
    slow_start,
};
use alloc::boxed::Box;
use pathweave_units::Time;

/// DCM in the registry.
pub const ENTRY: Entry = Entry {
    name: "dcm",
    summary: "Grows like LIA and cuts each subflow in proportion to its share of marked packets.",
    source: "AMP, IFIP Networking 2019, section 2",
    file: include_str!("dcm.rs"),
    coupled: true,
    scatter: None,
    scheme: None,
    ecn: |_| Ecn::Count { limit: 255 },
    parameters: dctcp::ENTRY.parameters,
    build: |parameters| {
        let share = MarkedShare::new(parameters.number("alpha"), parameters.number("g"));
        Box::new(Dcm {
            subflows: PerSubflow::new(Subflow {
                share,
                cuts: OncePerRound::new(),
            }),
        })
    },
};

#[derive(Clone, Debug)]
struct Subflow {
    share: MarkedShare,
    cuts: OncePerRound,
}

#[derive(Clone, Debug)]
struct Dcm {
    subflows: PerSubflow<Subflow>,
}

impl Controller for Dcm {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        let path = &mut paths[r];
        let subflow = self.subflows.get(r);
        subflow.share.on_ack(path, ack);
        let alpha = subflow.share.alpha;
        // The code in which marked acknowledgements grow windows lets them do so before it cuts.
        if path.may_grow_by(ack) {
            let packets = slow_start::grow(path, ack.packets);
            if packets > 0 {
                paths[r].window += f64::from(packets) / packets_per_increment(paths, r);
            }
        }
        if ack.ce > 0 {
            let subflow = self.subflows.get(r);
            subflow.cuts.on_mark(&mut paths[r], alpha / 2.0);
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
    use crate::greedy_sender::{GreedySender, near, number};
    use crate::{Change, Ecn, Loss, find};

    /// alpha as given, and kept: g = 0.
    fn dcm(alpha: f64, subflows: &[(f64, u64)]) -> GreedySender {
        GreedySender::new("dcm", &[number("alpha", alpha), number("g", 0.0)], subflows)
    }

    #[test]
    fn the_increase_is_that_of_lia() {
        // max = 10 / (100 us)^2 = 1e9; sum = 1e5 + 5e4; a / w_total = 1e9 / 2.25e10.
        for r in 0..2 {
            let mut connection = dcm(1.0, &[(10.0, 100), (10.0, 200)]);
            connection.ack(r, 2, 0);
            assert!(near(connection.window(r) - 10.0, 2.0 / 22.5, 1e-12));
        }
        // Not more than 1 / w_r.
        let mut connection = dcm(1.0, &[(1.0, 10), (100.0, 1000)]);
        connection.ack(1, 1, 0);
        assert_eq!(connection.window(1), 100.01);
    }

    #[test]
    fn a_marked_acknowledgement_that_grows_the_window_does_so_before_the_cut() {
        let mut connection = dcm(1.0, &[(10.0, 100), (10.0, 100)]);
        connection.paths[0].growth_by_marked_acks = true;
        connection.ack(0, 1, 1);
        assert!(near(connection.window(0), (10.0 + 1.0 / 40.0) / 2.0, 1e-12));
    }

    #[test]
    fn a_marked_round_costs_half_of_alpha_once() {
        let mut connection = dcm(0.5, &[(16.0, 100), (16.0, 100)]);
        connection.ack(0, 1, 1);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (12.0, 12.0));
        assert_eq!((connection.window(1), connection.ssthresh(1)), (16.0, 1.0));
        connection.ack(0, 1, 1);
        assert_eq!(connection.window(0), 12.0, "the round has been cut");
        connection.ack(0, 1, 0);
        assert!(connection.window(0) > 12.0, "and goes on growing");
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(connection.window(0), 8.0, "half of 16");
        connection.change(0, Change::Opened);
        connection.ack(0, 1, 1);
        assert_eq!(connection.window(0), 6.0, "a new subflow has cut nothing");
    }

    #[test]
    fn each_subflow_has_its_own_alpha() {
        let given = [number("alpha", 1.0), number("g", 0.5)];
        let mut connection = GreedySender::new("dcm", &given, &[(16.0, 100), (16.0, 100)]);
        // Each first acknowledgement ends the starting round.
        connection.ack(0, 1, 0);
        connection.paths[0].window = 16.0;
        connection.change(0, Change::Closed);
        connection.change(0, Change::Opened);
        connection.ack(1, 1, 0);
        connection.paths[1].window = 16.0;
        connection.ack(1, 1, 1);
        assert_eq!(connection.window(1), 12.0, "alpha was 1/2");
        connection.ack(0, 1, 1);
        assert_eq!(
            connection.window(0),
            8.0,
            "alpha was 1 again, and stays there"
        );
    }

    #[test]
    fn failed_subflows_do_not_count_until_they_recover() {
        let connection = dcm(1.0, &[(10.0, 100); 3]);
        connection.check_that_failed_subflows_do_not_count(1.0 / 40.0, 1.0 / 90.0);
    }

    #[test]
    fn a_mark_ends_slow_start() {
        let mut connection = dcm(0.5, &[(16.0, 100)]);
        connection.paths[0].ssthresh = f64::INFINITY;
        connection.ack(0, 4, 0);
        assert_eq!(connection.window(0), 20.0);
        connection.ack(0, 1, 1);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (15.0, 15.0));
    }

    #[test]
    fn no_growth_in_recovery_or_unused() {
        for (recovery, limited) in [(true, true), (false, false)] {
            let mut connection = dcm(0.5, &[(10.0, 100)]);
            connection.ack_as(0, 1, 0, recovery, limited);
            assert_eq!(connection.window(0), 10.0);
        }
    }

    #[test]
    fn a_timeout_is_the_common_one() {
        let mut connection = dcm(0.5, &[(10.0, 100)]);
        connection.loss(0, Loss::Timeout);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (1.0, 5.0));
    }

    #[test]
    fn it_is_ecn_capable() {
        let entry = find("dcm").unwrap();
        assert_eq!((entry.ecn)(&entry.defaults()), Ecn::Count { limit: 255 });
        assert_eq!(entry.defaults().number("g"), 0.0625);
        assert_eq!(entry.defaults().number("alpha"), 1.0);
    }
}
