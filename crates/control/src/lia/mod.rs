//! LIA, the linked increases of MPTCP (RFC 6356).
//!
//! For each packet acknowledged on subflow r in congestion avoidance
//!
//! > w_r <- w_r + min(a / w_total, 1 / w_r), a = w_total max_s(w_s / tau_s^2) / (sum_s w_s / tau_s)^2
//!
//! with w_s the windows in packets, tau_s the smoothed RTTs in seconds, and s over the active
//! subflows. w_total cancels: with B = (sum_s w_s / tau_s)^2 / max_s(w_s / tau_s^2) the increase is
//! 1 / max(B, w_r), which is what this file computes, afresh for every acknowledgement. Slow start
//! and losses are Reno's. With one active subflow LIA is Reno.
//!
//! Subflows without an RTT sample are left out of the sums, as in Linux, and those that take no new data
//! (MMPTCP's scattered one). A subflow in recovery
//! counts with the window it has.
//!
//! LIA is not ECN-capable by itself. With `ecn_cut` = c > 0 it is, and the first mark of a round cuts
//! w_r to (1 - c) w_r instead of growing it: with c = 1/4 it is the "MPTCP with a constant factor" of the AMP paper
//! (section 2). A round is cut once: marks are ignored until the packets in flight at the last cut
//! (mark or loss) have been acknowledged, and a loss in a round that a mark has cut halves the
//! window from before that cut.
//!
//! `variant = "linux"` is the module of the out-of-tree Linux MPTCP (net/mptcp/mptcp_coupled.c, version
//! 0.9x) in its unsigned 64-bit arithmetic; every division drops its remainder, and products keep
//! their lowest 64 bits. cwnd_s are the windows in whole packets, srtt_s is 8 times the smoothed RTT in
//! whole microseconds, at least 1, and s runs over the active subflows with an RTT sample:
//!
//! - best = the s with the largest (cwnd_s << 32) / srtt_s^2, of equal ones the one with the largest
//!   number;
//! - d = sum_s ((cwnd_s << 10) srtt_best / srtt_s);
//! - alpha = max((cwnd_best << 32) / d^2, 1), which is 2^12 / B; with one active subflow, 1.
//!
//! Each subflow has a counter `cnt`. An acknowledgement in congestion avoidance, however many packets
//! it acknowledges, adds a packet to the window and clears `cnt` if cnt >= max(2^12 / alpha, cwnd_r);
//! else it adds 1 to `cnt`. With one active subflow the bound is cwnd_r. Slow start adds a packet
//! for each acknowledged one and stops at ssthresh. alpha is kept for the connection and worked out
//! again after an acknowledgement in slow start, after a window has grown by a packet, and before the
//! next acknowledgement in congestion avoidance when a subflow has lost something, has entered or left
//! recovery, or has opened, failed, recovered or closed. A loss clears `cnt` and leaves ssthresh = max(cwnd_r >> 1, 2). What
//! `ecn_cut` leaves is rounded down.
//!
//! Deviation: a minimum window above 2 packets raises ssthresh after a fast retransmit. Where d^2 keeps
//! no bit in 64 the module divides by zero; here d^2 is 1 then. When a subflow opens the module sets
//! alpha to 1 until it is worked out again; when one fails or closes it keeps alpha.

use crate::{
    Ack, Change, Controller, Ecn, Entry, Loss, OncePerRound, Parameter, ParameterKind, Paths,
    PerSubflow, SubflowId, slow_start,
};
use alloc::boxed::Box;
use pathweave_units::Time;

mod linux;

/// LIA in the registry.
pub const ENTRY: Entry = Entry {
    name: "lia",
    summary: "Couples the increases so that all subflows together take what one TCP on the best path would.",
    source: "RFC 6356",
    file: include_str!("mod.rs"),
    coupled: true,
    scatter: None,
    scheme: None,
    ecn: |parameters| {
        if parameters.number("ecn_cut") > 0.0 {
            Ecn::Count { limit: 255 }
        } else {
            Ecn::Off
        }
    },
    parameters: &[
        Parameter {
            name: "ecn_cut",
            kind: ParameterKind::Number {
                default: 0.0,
                minimum: 0.0,
                maximum: 1.0,
                integer: false,
            },
            help: "Share of the window that a marked round costs; 0 sends packets that are not ECN-capable.",
        },
        Parameter {
            name: "variant",
            kind: ParameterKind::Choice(&["rfc", "linux"]),
            help: "Windows as real numbers (rfc) or in whole packets with Linux's fixed-point arithmetic (linux).",
        },
    ],
    build: |parameters| {
        let ecn_cut = parameters.number("ecn_cut");
        match parameters.choice("variant") {
            "linux" => Box::new(linux::Lia::new(ecn_cut)),
            _ => Box::new(Lia::new(ecn_cut)),
        }
    },
};

#[derive(Clone, Debug)]
pub(crate) struct Lia {
    ecn_cut: f64,
    cuts: PerSubflow<OncePerRound>,
}

impl Lia {
    pub fn new(ecn_cut: f64) -> Lia {
        Lia {
            ecn_cut,
            cuts: PerSubflow::new(OncePerRound::new()),
        }
    }
}

/// How many packets must be acknowledged for subflow `r` to gain one: max(B, w_r).
#[inline]
pub fn packets_per_increment(paths: &Paths<'_>, r: SubflowId) -> f64 {
    let (mut subflows, mut total_rate, mut best) = (0, 0.0, 0.0);
    for path in paths.sending() {
        subflows += 1;
        if path.has_rtt() {
            // B does not depend on the unit of time: picoseconds save a division.
            let per_rtt = 1.0 / path.smoothed_rtt.as_picos() as f64;
            let rate = path.window * per_rtt;
            total_rate += rate;
            best = f64::max(best, rate * per_rtt);
        }
    }
    let window = paths[r].window;
    // B is w_r for one subflow, but only as exactly as the divisions are.
    if subflows <= 1 || best == 0.0 {
        window
    } else {
        f64::max(total_rate * total_rate / best, window)
    }
}

impl Controller for Lia {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        if ack.ce > 0 && self.ecn_cut > 0.0 {
            let cuts = self.cuts.get(r);
            if cuts.on_mark(&mut paths[r], self.ecn_cut) {
                return;
            }
        }
        if ack.lets_window_grow() {
            let packets = slow_start::grow(&mut paths[r], ack.packets);
            if packets > 0 {
                paths[r].window += f64::from(packets) / packets_per_increment(paths, r);
            }
        }
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, _now: Time) {
        self.cuts.get(r).on_loss(&mut paths[r], loss);
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
    use super::packets_per_increment;
    use crate::greedy_sender::{GreedySender, near, number};
    use crate::{Change, Ecn, Loss, Path, PathState, Paths, SubflowId, find};
    use pathweave_units::Time;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn lia(subflows: &[(f64, u64)]) -> GreedySender {
        GreedySender::new("lia", &[], subflows)
    }

    fn gain(subflows: &[(f64, u64)], r: usize) -> f64 {
        let mut connection = lia(subflows);
        connection.ack(r, 1, 0);
        connection.window(r) - subflows[r].0
    }

    #[test]
    fn equal_subflows_share_one_packet_a_round() {
        // m equal subflows: B = (m w / tau)^2 / (w / tau^2) = m^2 w.
        assert!(near(
            gain(&[(10.0, 100), (10.0, 100)], 0),
            1.0 / 40.0,
            1e-12
        ));
        assert!(near(
            gain(&[(10.0, 100), (10.0, 100), (10.0, 100)], 2),
            1.0 / 90.0,
            1e-12
        ));
    }

    #[test]
    fn the_best_path_sets_the_increase() {
        // max = 10 / (100 us)^2 = 1e9; sum = 1e5 + 5e4; a / w_total = 1e9 / 2.25e10.
        for r in 0..2 {
            assert!(near(
                gain(&[(10.0, 100), (10.0, 200)], r),
                1.0 / 22.5,
                1e-12
            ));
        }
    }

    #[test]
    fn no_subflow_grows_faster_than_a_tcp_would() {
        // a / w_total = (1 / (10 us)^2) / (2e5)^2 = 1/4, more than 1/100.
        let subflows = [(1.0, 10), (100.0, 1000)];
        assert!(near(gain(&subflows, 0), 0.25, 1e-12));
        assert_eq!(gain(&subflows, 1), 100.0 + 1.0 / 100.0 - 100.0);
    }

    #[test]
    fn an_acknowledgement_for_several_packets_grows_for_each() {
        let mut connection = lia(&[(10.0, 100), (10.0, 100)]);
        connection.ack(0, 2, 0);
        assert!(near(connection.window(0), 10.05, 1e-12));
    }

    #[test]
    fn slow_start_and_losses_are_those_of_reno() {
        let mut connection = lia(&[(10.0, 100), (10.0, 100)]);
        connection.paths[0].ssthresh = 20.0;
        connection.ack(0, 3, 0);
        assert_eq!(connection.window(0), 13.0);
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (6.5, 6.5));
        connection.loss(1, Loss::Timeout);
        assert_eq!((connection.window(1), connection.ssthresh(1)), (1.0, 5.0));
    }

    #[test]
    fn no_growth_in_recovery() {
        let mut connection = lia(&[(10.0, 100), (10.0, 100)]);
        connection.ack_as(0, 1, 0, true, true);
        assert_eq!(connection.window(0), 10.0);
    }

    #[test]
    fn only_active_subflows_with_an_rtt_count() {
        let mut connection = lia(&[(10.0, 100), (10.0, 100)]);
        connection.change(1, Change::Closed);
        connection.ack(0, 1, 0);
        assert_eq!(connection.window(0), 10.1);

        let mut connection = lia(&[(10.0, 100), (10.0, 0)]);
        connection.ack(0, 1, 0);
        assert!(near(connection.window(0), 10.1, 1e-12));
        let mut connection = lia(&[(10.0, 0), (10.0, 0)]);
        connection.ack(0, 1, 0);
        assert_eq!(connection.window(0), 10.1);
    }

    #[test]
    fn failed_subflows_do_not_count_until_they_recover() {
        let connection = lia(&[(10.0, 100); 3]);
        connection.check_that_failed_subflows_do_not_count(1.0 / 40.0, 1.0 / 90.0);
    }

    #[test]
    fn ecn_is_off_unless_a_cut_is_given() {
        let entry = find("lia").unwrap();
        assert_eq!((entry.ecn)(&entry.defaults()), Ecn::Off);
        let with_cut = entry.parameters(&[number("ecn_cut", 0.25)]).unwrap();
        assert_eq!((entry.ecn)(&with_cut), Ecn::Count { limit: 255 });

        let mut connection = lia(&[(10.0, 100)]);
        connection.ack(0, 1, 1);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (10.1, 1.0));
    }

    #[test]
    fn a_marked_round_costs_the_constant_share_once() {
        let mut connection = GreedySender::new("lia", &[number("ecn_cut", 0.25)], &[(16.0, 100)]);
        connection.ack(0, 1, 1);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (12.0, 12.0));
        connection.ack(0, 1, 1);
        assert_eq!(connection.window(0), 12.0 + 1.0 / 12.0);
        connection.change(0, Change::Opened);
        connection.ack(0, 1, 1);
        assert!(
            connection.window(0) < 10.0,
            "a subflow that opens again has cut nothing yet"
        );
    }

    #[test]
    fn only_marks_cut() {
        let mut connection = GreedySender::new("lia", &[number("ecn_cut", 0.25)], &[(10.0, 100)]);
        connection.ack(0, 1, 0);
        assert_eq!(connection.window(0), 10.1);
    }

    /// min(a / w_total, 1 / w_r) with a as RFC 6356 writes it.
    fn increase_of_rfc_6356(subflows: &[(f64, u64)], r: usize) -> f64 {
        let w_total: f64 = subflows.iter().map(|s| s.0).sum();
        let tau = |micros: u64| micros as f64 * 1e-6;
        let best = subflows
            .iter()
            .map(|s| s.0 / (tau(s.1) * tau(s.1)))
            .fold(0.0, f64::max);
        let sum: f64 = subflows.iter().map(|s| s.0 / tau(s.1)).sum();
        let a = w_total * best / (sum * sum);
        f64::min(a / w_total, 1.0 / subflows[r].0)
    }

    proptest! {
        #[test]
        fn the_increase_is_that_of_rfc_6356(
            subflows in prop::collection::vec((1.0..1000.0_f64, 1..1_000_000_u64), 1..9),
        ) {
            let mut list: Vec<Path> = subflows
                .iter()
                .map(|&(window, micros)| {
                    let mut path = Path::new(window, 2.0, 1.0);
                    path.state = PathState::Active;
                    path.smoothed_rtt = Time::from_micros(micros);
                    path
                })
                .collect();
            let paths = Paths::new(&mut list);
            for r in 0..subflows.len() {
                let increase = 1.0 / packets_per_increment(&paths, SubflowId(r as u32));
                prop_assert!(near(increase, increase_of_rfc_6356(&subflows, r), 1e-12));
            }
        }
    }
}
