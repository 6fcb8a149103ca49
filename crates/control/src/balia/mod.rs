//! Balia, the balanced linked adaptation of MPTCP (Peng, Walid, Hwang and Low, IEEE/ACM Transactions on
//! Networking 2016; draft-walid-mptcp-congestion-control).
//!
//! With w_r the window of subflow r in packets, tau_r its smoothed RTT in seconds, x_r = w_r / tau_r its
//! rate, y the sum of the rates of the active subflows and a_r = max_s(x_s) / x_r:
//!
//! - for each packet acknowledged on r in congestion avoidance
//!
//! > w_r <- w_r + x_r / (tau_r y^2) (1 + a_r)/2 (4 + a_r)/5
//!
//! - fast retransmit: w_r <- w_r - (w_r / 2) min(a_r, 1.5), ssthresh = the new w_r.
//!
//! Multiplied out, with X the largest rate, the increase is (x_r + X)(4 x_r + X) / (10 w_r y^2), which is
//! what this file computes, afresh for every acknowledgement. The fastest subflow halves, one with two
//! thirds of its rate or less loses three quarters. Slow start and timeouts are Reno's. With one
//! active subflow Balia is Reno. Its packets are not ECN-capable.
//!
//! Ruling: subflows without an RTT sample have no rate and are left out; such a subflow itself grows and
//! halves like Reno. A subflow in recovery counts with the window it has.
//!
//! `variant = "linux"` is the module of the out-of-tree Linux MPTCP (net/mptcp/mptcp_balia.c, version
//! 0.9x) in its unsigned 64-bit arithmetic; every division drops its remainder, and products keep their
//! lowest 64 bits. cwnd_s are the windows in whole packets, srtt_s is 8 times the smoothed RTT in whole
//! microseconds, at least 1, and s runs over the active subflows with an RTT sample:
//!
//! - x_s = 1448 cwnd_s 8,000,000 / srtt_s, bytes per second with segments of 1448 bytes; X = the largest;
//! - a = X / x_r, a whole number;
//! - all rates are shifted right by the smallest multiple of 5 bits that leaves X at most 2^25; y = the
//!   sum of the shifted ones;
//! - ai = (10 y^2 / (x_r + X)) cwnd_r / (4 x_r + X), or cwnd_r where that is 0;
//! - md = ((cwnd_r >> 1) min(a << 10, 3 << 9)) >> 10: half of cwnd_r, or three quarters if a > 1.
//!
//! Each subflow has a counter `cnt`. An acknowledgement in congestion avoidance, however many packets
//! it acknowledges, adds a packet to the window and clears `cnt` if cnt >= ai; else it adds 1 to `cnt`.
//! Slow start adds a packet for each acknowledged one and stops at ssthresh. A loss clears `cnt` and
//! leaves ssthresh = max(cwnd_r - md, 1), after a timeout too. ai and md are kept for each subflow and
//! worked out again after its acknowledgements in slow start, after its window has grown by a packet,
//! and, before its next acknowledgement outside recovery or its next loss, after a loss and after any subflow has
//! opened, failed, recovered or closed. With one active subflow the bound is cwnd_r and a loss leaves max(cwnd_r >> 1, 2).
//!
//! Deviation: a minimum window above 1 packet raises ssthresh after a fast retransmit. The module starts
//! with ai = md = 0 where this one works them out, and after a timeout once more with the window from
//! before it. It keeps them when another subflow fails or closes. The module also means to work them out when a subflow
//! enters or leaves recovery, but sets that flag on the subflow and looks for it on the connection, so it never does; nor
//! does this.

use crate::{
    Ack, Change, Controller, Ecn, Entry, Loss, Parameter, ParameterKind, Paths, SubflowId, loss,
    slow_start,
};
use alloc::boxed::Box;
use pathweave_units::Time;

mod linux;

/// Balia in the registry.
pub const ENTRY: Entry = Entry {
    name: "balia",
    summary: "Couples increases and cuts, between LIA's friendliness and quick response.",
    source: "Peng et al., ToN 2016, and draft-walid-mptcp-congestion-control",
    file: include_str!("mod.rs"),
    coupled: true,
    scatter: None,
    scheme: None,
    ecn: |_| Ecn::Off,
    parameters: &[Parameter {
        name: "variant",
        kind: ParameterKind::Choice(&["paper", "linux"]),
        help: "Windows as real numbers (paper) or in whole packets with Linux's fixed-point arithmetic (linux).",
    }],
    build: |parameters| match parameters.choice("variant") {
        "linux" => Box::new(linux::Balia::new()),
        _ => Box::new(Balia),
    },
};

#[derive(Clone, Debug)]
struct Balia;

/// The rates that couple a subflow to its connection. Balia does not depend on the unit of time: they
/// are in packets per picosecond, which saves a division.
#[derive(Clone, Debug)]
struct Rates {
    /// x_r.
    own: f64,
    largest: f64,
    /// y.
    total: f64,
}

impl Rates {
    /// Those of subflow `r`, unless nothing couples it.
    #[inline]
    fn of(paths: &Paths<'_>, r: SubflowId) -> Option<Rates> {
        let (mut subflows, mut largest, mut total) = (0, 0.0, 0.0);
        for path in paths.active().filter(|path| path.has_rtt()) {
            let rate = path.window / path.smoothed_rtt.as_picos() as f64;
            subflows += 1;
            largest = f64::max(largest, rate);
            total += rate;
        }
        let path = &paths[r];
        (subflows > 1 && path.is_active() && path.has_rtt()).then(|| Rates {
            own: path.window / path.smoothed_rtt.as_picos() as f64,
            largest,
            total,
        })
    }

    /// How many packets must be acknowledged for a subflow with this window to gain one.
    #[inline]
    fn packets_per_increment(&self, window: f64) -> f64 {
        10.0 * window * self.total * self.total
            / ((self.own + self.largest) * (4.0 * self.own + self.largest))
    }

    /// The share of the window that a loss costs.
    fn share_lost(&self) -> f64 {
        f64::min(self.largest / self.own, 1.5) / 2.0
    }
}

impl Controller for Balia {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        if !ack.lets_window_grow() {
            return;
        }
        let packets = slow_start::grow(&mut paths[r], ack.packets);
        if packets > 0 {
            let rates = Rates::of(paths, r);
            let window = paths[r].window;
            let each = rates.map_or(window, |rates| rates.packets_per_increment(window));
            paths[r].window += f64::from(packets) / each;
        }
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, _now: Time) {
        let rates = Rates::of(paths, r);
        let path = &mut paths[r];
        match (loss, rates) {
            (Loss::FastRetransmit, Some(rates)) => {
                loss::cut_to(path, path.window * (1.0 - rates.share_lost()));
            }
            _ => loss::respond(path, loss),
        }
    }

    fn on_subflow(&mut self, _paths: &mut Paths<'_>, _r: SubflowId, _change: Change) {}
}

#[cfg(test)]
mod tests {
    use super::Rates;
    use crate::greedy_sender::{GreedySender, near};
    use crate::{Change, Ecn, Loss, Path, PathState, Paths, SubflowId, find};
    use pathweave_units::Time;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn balia(subflows: &[(f64, u64)]) -> GreedySender {
        GreedySender::new("balia", &[], subflows)
    }

    fn gain(subflows: &[(f64, u64)], r: usize) -> f64 {
        let mut connection = balia(subflows);
        connection.ack(r, 1, 0);
        connection.window(r) - subflows[r].0
    }

    fn left_by_loss(subflows: &[(f64, u64)], r: usize) -> f64 {
        let mut connection = balia(subflows);
        connection.loss(r, Loss::FastRetransmit);
        assert_eq!(connection.window(r), connection.ssthresh(r));
        connection.window(r)
    }

    #[test]
    fn equal_subflows_together_balance_where_one_reno_does() {
        // Increase over decrease is 2 / W^2 for a Reno with window W, here m w.
        for subflows in [2, 3, 5] {
            let list = std::vec![(10.0, 100); subflows];
            let total = 10.0 * subflows as f64;
            let lost = 10.0 - left_by_loss(&list, 0);
            assert!(near(gain(&list, 0) / lost, 2.0 / (total * total), 1e-11));
        }
    }

    #[test]
    fn increases_follow_the_formula() {
        // x = 1 and 1/2 in packets per 10 us, y = 3/2, a = 1 and 2:
        // 1 / (10 * 9/4) * 1 * 1 and (1/2) / (20 * 9/4) * (3/2) * (6/5).
        let subflows = [(10.0, 100), (10.0, 200)];
        assert!(near(gain(&subflows, 0), 2.0 / 45.0, 1e-12));
        assert!(near(gain(&subflows, 1), 0.02, 1e-12));
        // x = 1 and 1/4, y = 5/4, a = 4: (1/4) / (40 * 25/16) * (5/2) * (8/5).
        assert!(near(gain(&[(10.0, 100), (10.0, 400)], 1), 0.016, 1e-12));
    }

    #[test]
    fn slower_subflows_lose_more_up_to_three_quarters() {
        assert_eq!(left_by_loss(&[(10.0, 100), (8.0, 100)], 0), 5.0);
        // a = 1.25: 8 - 4 * 1.25.
        assert!(near(
            left_by_loss(&[(10.0, 100), (8.0, 100)], 1),
            3.0,
            1e-12
        ));
        // a = 2 counts as 1.5: 16 - 8 * 1.5.
        assert_eq!(left_by_loss(&[(32.0, 100), (16.0, 100)], 1), 4.0);
        assert_eq!(left_by_loss(&[(32.0, 100), (4.0, 100)], 1), 2.0);
    }

    #[test]
    fn a_timeout_halves_ssthresh() {
        let mut connection = balia(&[(32.0, 100), (16.0, 100)]);
        connection.loss(1, Loss::Timeout);
        assert_eq!((connection.window(1), connection.ssthresh(1)), (1.0, 8.0));
    }

    #[test]
    fn an_acknowledgement_for_several_packets_grows_for_each() {
        let mut connection = balia(&[(10.0, 100), (10.0, 100)]);
        connection.ack(0, 2, 0);
        assert!(near(connection.window(0), 10.05, 1e-12));
    }

    #[test]
    fn slow_start_is_not_coupled() {
        let mut connection = balia(&[(10.0, 100), (10.0, 100)]);
        connection.paths[0].ssthresh = 20.0;
        connection.ack(0, 3, 0);
        assert_eq!(connection.window(0), 13.0);
    }

    #[test]
    fn no_growth_when_recovering_or_unused() {
        for (recovery, limited) in [(true, true), (false, false)] {
            let mut connection = balia(&[(10.0, 100), (10.0, 100)]);
            connection.ack_as(0, 1, 0, recovery, limited);
            assert_eq!(connection.window(0), 10.0);
        }
    }

    #[test]
    fn failed_subflows_do_not_count_until_they_recover() {
        let connection = balia(&[(10.0, 100); 3]);
        connection.check_that_failed_subflows_do_not_count(1.0 / 40.0, 1.0 / 90.0);
    }

    #[test]
    fn only_active_subflows_with_an_rtt_count() {
        let closed = |r| {
            let mut connection = balia(&[(10.0, 100), (8.0, 100)]);
            connection.change(r, Change::Closed);
            connection
        };
        let unmeasured = |subflows: &[(f64, u64)]| balia(subflows);
        for mut connection in [
            closed(0),
            closed(1),
            unmeasured(&[(10.0, 100), (8.0, 0)]),
            unmeasured(&[(10.0, 0), (8.0, 100)]),
            unmeasured(&[(10.0, 0), (8.0, 0)]),
        ] {
            // Either is a Reno then, the one that counts as well as the one that does not.
            connection.ack(0, 1, 0);
            connection.ack(1, 1, 0);
            assert_eq!((connection.window(0), connection.window(1)), (10.1, 8.125));
            connection.loss(1, Loss::FastRetransmit);
            assert_eq!(connection.window(1), 8.125 / 2.0);
        }
        let mut connection = balia(&[(10.0, 100), (8.0, 0), (10.0, 100)]);
        connection.ack(0, 1, 0);
        assert!(near(connection.window(0), 10.025, 1e-12));
        connection.ack(1, 1, 0);
        assert_eq!(connection.window(1), 8.125);
    }

    #[test]
    fn marks_mean_nothing() {
        let entry = find("balia").unwrap();
        assert_eq!((entry.ecn)(&entry.defaults()), Ecn::Off);
        assert_eq!(entry.defaults().choice("variant"), "paper");
    }

    /// The increase as the paper writes it.
    fn increase_of_the_paper(subflows: &[(f64, u64)], r: usize) -> f64 {
        let tau = |micros: u64| micros as f64 * 1e-6;
        let rates: Vec<f64> = subflows.iter().map(|s| s.0 / tau(s.1)).collect();
        let y: f64 = rates.iter().sum();
        let a = rates.iter().fold(0.0, |x, &y| f64::max(x, y)) / rates[r];
        rates[r] / (tau(subflows[r].1) * y * y) * ((1.0 + a) / 2.0) * ((4.0 + a) / 5.0)
    }

    proptest! {
        #[test]
        fn the_increase_is_that_of_the_paper(
            subflows in prop::collection::vec((1.0..1000.0_f64, 1..1_000_000_u64), 2..9),
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
            for (r, &(window, _)) in subflows.iter().enumerate() {
                let rates = Rates::of(&paths, SubflowId(r as u32)).unwrap();
                let increase = 1.0 / rates.packets_per_increment(window);
                prop_assert!(near(increase, increase_of_the_paper(&subflows, r), 1e-12));
            }
        }
    }
}
