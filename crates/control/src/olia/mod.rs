//! OLIA, the opportunistic linked increases of MPTCP (Khalili, Gast, Popovic and Le Boudec, CoNEXT 2012;
//! draft-khalili-mptcp-congestion-control).
//!
//! With w_r the window of subflow r in packets, tau_r its smoothed RTT in seconds and m the number of
//! active subflows, for each packet acknowledged on r in congestion avoidance
//!
//! > w_r <- w_r + (w_r / tau_r^2) / (sum_s w_s / tau_s)^2 + delta_r / w_r
//!
//! with s over the active subflows. The first term is Kelly and Voice's; delta moves traffic to the
//! best paths. l_r is the larger of two numbers of packets: those acknowledged on r between its last two
//! losses and those since its last. B is the set of paths with the largest l_r / tau_r^2 (about the
//! square of the rate of a TCP there), M that of the paths with the largest window, C that of the collected paths,
//! which are in B and not in M, and
//!
//! - if C is not empty: delta_r = 1 / (m |C|) for r in C, -1 / (m |M|) for r in M;
//! - for all other r, and if C is empty: delta_r = 0.
//!
//! The deltas of a connection sum to zero. Slow start and losses are Reno's. With one active
//! subflow OLIA is Reno. Its packets are not ECN-capable.
//!
//! Ruling: B is what the Linux code and the theory have; `best = "l2-over-tau"` is the other published
//! form, the largest l_r^2 / tau_r, which is the same at equal RTTs.
//!
//! Ruling: l is counted in packets, of a constant size. A loss before anything was acknowledged after
//! the last belongs to that, as in Linux.
//!
//! Ruling: subflows without an RTT sample are left out, of m too; such a subflow itself grows like Reno.
//! A subflow in recovery counts with the window it has.
//!
//! Ruling: a negative increase does not take the window below the minimum window. Where it takes it
//! below ssthresh it takes that along: to shrink is no reason for slow start.
//!
//! `variant = "linux"` is the module of the out-of-tree Linux MPTCP (net/mptcp/mptcp_olia.c, version
//! 0.9x) in its unsigned 64-bit arithmetic; every division drops its remainder, and products keep
//! their lowest 64 bits. cwnd_s are the windows in whole packets, ssthresh_s for a subflow in recovery,
//! srtt_s is 8 times the smoothed RTT in whole microseconds, at least 1, and s runs over the active
//! subflows with an RTT sample:
//!
//! - R = (1 + sum_s ((cwnd_s << 10) srtt_r / srtt_s))^2;
//! - e = the sign of delta_r, n = m |C| or m |M| as it asks for, 1 if delta_r is 0; m counts all
//!   active subflows, and paths compare by products: l_s srtt_best^2 with l_best srtt_s^2;
//! - step = ((n (cwnd_r << 10)^2 + e R) << 10) / (n cwnd_r R), in 1024ths of a packet; where the numerator
//!   is negative its amount is divided and the step is negative, a divisor of 0 is 1.
//!
//! An acknowledgement in congestion avoidance, however many packets it acknowledges, adds step to a
//! signed 32-bit counter of r. At 1023 and above the window grows by a packet, at -1023 and below it
//! shrinks by one, and the counter is 0 again. Nothing else clears it. ssthresh stays, so a window that
//! has shrunk below it is in slow start, which adds a packet for each acknowledged one and stops at
//! ssthresh. A loss leaves ssthresh = max(cwnd_r >> 1, 2). l sees acknowledgements outside recovery only.
//!
//! With this many bits the window stops growing where step is 0: m equal subflows with more than
//! 1024 / m^2 packets each grow by delta alone.
//!
//! Deviation: with one active subflow the module goes on like this, slightly slower than Reno and
//! up to 1024 packets; here it counts like the modules of LIA and Balia, cnt >= cwnd adding a packet and
//! clearing cnt, which a loss clears too. The window shrinks down to the minimum window, in the module
//! down to 1 packet; a minimum window above 2 raises ssthresh after a fast retransmit.

use crate::{
    Ack, Change, Controller, Ecn, Entry, Loss, Parameter, ParameterKind, Parameters, Path, Paths,
    PerSubflow, SubflowId, loss, slow_start,
};
use alloc::boxed::Box;
use losses::Losses;
use pathweave_units::Time;
use sets::{Best, Sets};

mod linux;
mod losses;
mod sets;

/// OLIA in the registry.
pub const ENTRY: Entry = Entry {
    name: "olia",
    summary: "Couples increases and moves traffic to the paths that carry most between losses.",
    source: "Khalili et al., CoNEXT 2012, and draft-khalili-mptcp-congestion-control",
    file: include_str!("mod.rs"),
    coupled: true,
    scatter: None,
    scheme: None,
    ecn: |_| Ecn::Off,
    parameters: &[
        Parameter {
            name: "best",
            kind: ParameterKind::Choice(&["linux", "l2-over-tau"]),
            help: "What is largest on the best paths: l / tau^2 (linux) or l^2 / tau (l2-over-tau).",
        },
        Parameter {
            name: "variant",
            kind: ParameterKind::Choice(&["paper", "linux"]),
            help: "Windows as real numbers (paper) or in whole packets with Linux's fixed-point arithmetic (linux).",
        },
    ],
    build: |parameters| {
        let best = best(parameters);
        match parameters.choice("variant") {
            "linux" => Box::new(linux::Olia::new(best)),
            _ => Box::new(Olia {
                best,
                losses: PerSubflow::new(Losses::none(0)),
            }),
        }
    },
};

fn best(parameters: &Parameters) -> Best {
    match parameters.choice("best") {
        "l2-over-tau" => Best::LSquaredOverTau,
        _ => Best::Linux,
    }
}

#[derive(Clone, Debug)]
struct Olia {
    best: Best,
    losses: PerSubflow<Losses>,
}

impl Olia {
    /// What a packet acknowledged on subflow `r` adds to its window, unless nothing couples it.
    #[inline]
    fn increase(&self, paths: &Paths<'_>, r: SubflowId) -> Option<f64> {
        // OLIA does not depend on the unit of time: picoseconds save a division.
        let tau = |path: &Path| path.smoothed_rtt.as_picos() as f64;
        let member = |path: &Path, losses: &Losses| {
            let l = losses.l(path.acked) as f64;
            self.best.member(path.window, l, tau(path))
        };
        let measured = || {
            let both = paths.iter().zip(self.losses.iter());
            let numbered = both.enumerate();
            numbered.filter(|(_, (path, _))| path.is_active() && path.has_rtt())
        };

        let (mut sets, mut total_rate, mut own) = (Sets::new(), 0.0, None);
        for (i, (path, losses)) in measured() {
            let seen = member(path, losses);
            sets.find(&seen);
            total_rate += path.window / tau(path);
            if i == r.0 as usize {
                own = Some(seen);
            }
        }
        let own = own.filter(|_| sets.paths > 1)?;
        for (_, (path, losses)) in measured() {
            sets.count(&member(path, losses));
        }
        let (numerator, denominator) = sets.delta(&own, sets.paths);
        let delta = f64::from(numerator) / f64::from(denominator);
        let path = &paths[r];
        // (w_r / tau_r^2) / (sum_s w_s / tau_s)^2 + delta_r / w_r
        let rate = total_rate * tau(path);
        Some(path.window / (rate * rate) + delta / path.window)
    }
}

impl Controller for Olia {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        if !ack.lets_window_grow() {
            return;
        }
        let packets = slow_start::grow(&mut paths[r], ack.packets);
        if packets == 0 {
            return;
        }
        let increase = self.increase(paths, r);
        let (packets, path) = (f64::from(packets), &mut paths[r]);
        match increase {
            None => path.window += packets / path.window,
            Some(increase) => {
                // After a timeout the window may be below its floor: that does not raise it.
                let floor = path.window.min(path.minimum_window);
                path.window = (path.window + packets * increase).max(floor);
                path.ssthresh = path.ssthresh.min(path.window);
            }
        }
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, _now: Time) {
        let path = &mut paths[r];
        self.losses.get(r).happen(path.acked);
        loss::respond(path, loss);
    }

    fn on_subflow(&mut self, paths: &mut Paths<'_>, r: SubflowId, change: Change) {
        if change.begins() {
            *self.losses.get(r) = Losses::none(paths[r].acked);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::greedy_sender::{GreedySender, near, text};
    use crate::{Change, Ecn, Loss, PathState, find};
    use proptest::prelude::*;
    use std::vec::Vec;

    fn olia(subflows: &[(f64, u64)]) -> GreedySender {
        GreedySender::new("olia", &[], subflows)
    }

    fn gain(connection: &mut GreedySender, r: usize) -> f64 {
        let window = connection.window(r);
        connection.ack(r, 1, 0);
        connection.window(r) - window
    }

    /// Says that subflow `r` has had this many packets acknowledged since it opened.
    fn carried(connection: &mut GreedySender, r: usize, packets: u64) {
        (connection.paths[r].acked, connection.paths[r].sent) = (packets, packets);
    }

    #[test]
    fn equal_subflows_together_balance_where_one_reno_does() {
        // Increase over decrease is 2 / W^2 for a Reno with window W, here m w.
        for subflows in [2, 3, 5] {
            let mut connection = olia(&std::vec![(10.0, 100); subflows]);
            let total = 10.0 * subflows as f64;
            let gained = gain(&mut connection, 0);
            connection.paths[0].window = 10.0;
            connection.loss(0, Loss::FastRetransmit);
            assert!(near(
                gained / (10.0 - connection.window(0)),
                2.0 / (total * total),
                1e-11
            ));
        }
    }

    #[test]
    fn increases_follow_rates_and_windows() {
        // Rates 1 and 1/2 packet per 10 us: 10 / 100 / (9/4) / 10 us^2 is 10 / 225, and a quarter.
        let subflows = [(10.0, 100), (10.0, 200)];
        assert!(near(gain(&mut olia(&subflows), 0), 10.0 / 225.0, 1e-11));
        assert!(near(gain(&mut olia(&subflows), 1), 2.5 / 225.0, 1e-11));
    }

    #[test]
    fn the_best_path_gains_what_the_widest_loses() {
        let mut connection = olia(&[(20.0, 100), (10.0, 100)]);
        carried(&mut connection, 1, 1000);
        assert!(near(
            gain(&mut connection, 0),
            20.0 / 900.0 - 1.0 / 40.0,
            1e-10
        ));
        let mut connection = olia(&[(20.0, 100), (10.0, 100)]);
        carried(&mut connection, 1, 1000);
        assert!(near(
            gain(&mut connection, 1),
            10.0 / 900.0 + 1.0 / 20.0,
            1e-11
        ));
        // Two share the best place, two the widest: a third of a quarter would be wrong.
        let subflows = [(10.0, 100), (20.0, 100), (10.0, 100), (20.0, 100)];
        let mut connection = olia(&subflows);
        carried(&mut connection, 0, 1000);
        carried(&mut connection, 2, 1001);
        assert!(near(
            gain(&mut connection, 0),
            10.0 / 3600.0 + 0.25 / 2.0 / 10.0,
            1e-11
        ));
        let mut connection = olia(&subflows);
        carried(&mut connection, 0, 1000);
        carried(&mut connection, 2, 1000);
        assert!(near(
            gain(&mut connection, 3),
            20.0 / 3600.0 - 0.25 / 2.0 / 20.0,
            1e-10
        ));
    }

    #[test]
    fn an_acknowledgement_for_several_packets_grows_for_each() {
        let mut connection = olia(&[(10.0, 100), (10.0, 100)]);
        connection.ack(0, 2, 0);
        assert!(near(connection.window(0), 10.05, 1e-12));
    }

    #[test]
    fn losses_divide_what_a_path_has_carried() {
        // 600 packets and a loss, 500 more: l = 600, the other's is 550.
        let lossy = |losses: usize| {
            let mut connection = olia(&[(20.0, 100), (10.0, 100), (5.0, 100)]);
            carried(&mut connection, 1, 600);
            for _ in 0..losses {
                connection.loss(1, Loss::FastRetransmit);
            }
            carried(&mut connection, 1, 1100);
            carried(&mut connection, 2, 700);
            connection.paths[1].window = 10.0;
            connection.loss(1, Loss::FastRetransmit);
            connection.paths[1].window = 10.0;
            gain(&mut connection, 2) > 5.0 / 1225.0 + 1e-9
        };
        assert!(!lossy(0), "1100 packets are more than 700");
        assert!(lossy(1), "600 and 500 are less");
        assert!(lossy(2), "two losses at once are one");
    }

    #[test]
    fn a_subflow_that_opens_again_has_carried_nothing() {
        let mut connection = olia(&[(20.0, 100), (10.0, 100)]);
        carried(&mut connection, 1, 1000);
        connection.change(1, Change::Opened);
        carried(&mut connection, 0, 10);
        assert!(near(gain(&mut connection, 0), 20.0 / 900.0, 1e-10));
        let mut connection = olia(&[(20.0, 100), (10.0, 100)]);
        carried(&mut connection, 1, 1000);
        connection.change(1, Change::Closed);
        connection.paths[1].state = PathState::Active;
        assert!(
            gain(&mut connection, 0) < 0.0,
            "closing alone forgets nothing"
        );
    }

    #[test]
    fn shrinking_is_not_followed_by_slow_start() {
        let mut connection = olia(&[(20.0, 100), (10.0, 100)]);
        carried(&mut connection, 1, 1000);
        connection.paths[0].ssthresh = 20.0;
        connection.ack(0, 1, 0);
        let window = connection.window(0);
        assert!(window < 20.0);
        assert_eq!(connection.ssthresh(0), window);
        connection.ack(0, 1, 0);
        assert!(connection.window(0) < window);
    }

    #[test]
    fn shrinking_ends_at_the_minimum_window() {
        let mut connection = olia(&[(2.0, 100), (1.5, 100)]);
        carried(&mut connection, 1, 1000);
        // 2 / 12.25 - 1/4 is negative.
        connection.ack(0, 1, 0);
        assert_eq!(connection.window(0), 2.0);
        connection.paths[0].minimum_window = 1.9;
        connection.ack(0, 1, 0);
        let shrunk = 2.0 + 2.0 / 12.25 - 0.25;
        assert!(near(connection.window(0), shrunk, 1e-12));
        connection.ack(0, 20, 0);
        assert_eq!(connection.window(0), 1.9);
        // A window that is smaller already stays.
        connection.paths[0].window = 1.6;
        connection.ack(0, 20, 0);
        assert_eq!(connection.window(0), 1.6);
    }

    #[test]
    fn slow_start_and_losses_are_those_of_reno() {
        let mut connection = olia(&[(10.0, 100), (10.0, 100)]);
        connection.paths[0].ssthresh = 20.0;
        connection.ack(0, 3, 0);
        assert_eq!(connection.window(0), 13.0);
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (6.5, 6.5));
        connection.loss(1, Loss::Timeout);
        assert_eq!((connection.window(1), connection.ssthresh(1)), (1.0, 5.0));
    }

    #[test]
    fn no_growth_when_recovering_or_unused() {
        for (recovery, limited) in [(true, true), (false, false)] {
            let mut connection = olia(&[(10.0, 100), (10.0, 100)]);
            connection.ack_as(0, 1, 0, recovery, limited);
            assert_eq!(connection.window(0), 10.0);
        }
    }

    #[test]
    fn failed_subflows_do_not_count_until_they_recover() {
        let connection = olia(&[(10.0, 100); 3]);
        connection.check_that_failed_subflows_do_not_count(1.0 / 40.0, 1.0 / 90.0);
    }

    #[test]
    fn a_failed_best_path_takes_nothing_from_the_widest() {
        // Beside the best: 20 / 30^2 - 1 / (2 20). Alone: a Reno.
        for (change, gained) in [
            (Change::Failed, 1.0 / 20.0),
            (Change::Recovered, 20.0 / 900.0 - 1.0 / 40.0),
        ] {
            let mut connection = olia(&[(20.0, 100), (10.0, 100)]);
            carried(&mut connection, 1, 1000);
            connection.change(1, change);
            assert!(near(gain(&mut connection, 0), gained, 1e-9), "{change:?}");
        }
    }

    #[test]
    fn only_active_subflows_with_an_rtt_count() {
        let closed = |r| {
            let mut connection = olia(&[(10.0, 100), (8.0, 100)]);
            connection.change(r, Change::Closed);
            connection
        };
        for mut connection in [
            closed(0),
            closed(1),
            olia(&[(10.0, 100), (8.0, 0)]),
            olia(&[(10.0, 0), (8.0, 100)]),
            olia(&[(10.0, 0), (8.0, 0)]),
        ] {
            // Either is a Reno then, the one that counts as well as the one that does not.
            connection.ack(0, 1, 0);
            connection.ack(1, 1, 0);
            assert_eq!((connection.window(0), connection.window(1)), (10.1, 8.125));
        }
        let mut connection = olia(&[(10.0, 100), (8.0, 0), (10.0, 100)]);
        connection.ack(0, 1, 0);
        assert!(near(connection.window(0), 10.025, 1e-12));
        connection.ack(1, 1, 0);
        assert_eq!(connection.window(1), 8.125);
    }

    #[test]
    fn marks_mean_nothing() {
        let entry = find("olia").unwrap();
        assert_eq!((entry.ecn)(&entry.defaults()), Ecn::Off);
        assert_eq!(entry.defaults().choice("variant"), "paper");
        assert_eq!(entry.defaults().choice("best"), "linux");
    }

    #[test]
    fn the_form_of_best_can_be_chosen() {
        for (given, grows) in [("linux", 0), ("l2-over-tau", 1)] {
            for variant in ["paper", "linux"] {
                let given = [text("best", given), text("variant", variant)];
                let subflows = [(10.0, 100), (10.0, 200), (400.0, 100)];
                let mut connection = GreedySender::new("olia", &given, &subflows);
                // 10,000 / 1 is more than 15,000 / 4, but 10,000^2 / 1 less than 15,000^2 / 2.
                for (r, packets) in [(0, 10_000), (1, 15_000)] {
                    carried(&mut connection, r, packets - 50);
                    for _ in 0..50 {
                        connection.ack(r, 1, 0);
                    }
                    carried(&mut connection, r, packets);
                    connection.paths[r].window = 10.0;
                }
                for r in 0..2 {
                    let packets = connection.paths[r].acked;
                    for _ in 0..40 {
                        connection.ack(r, 1, 0);
                    }
                    carried(&mut connection, r, packets);
                    let grown = connection.window(r) >= 11.0;
                    assert_eq!(grown, r == grows, "{variant} {r}");
                    connection.paths[r].window = 10.0;
                }
            }
        }
    }

    /// A path of the property below: window, RTT in microseconds, packets acknowledged.
    type Path = (u32, u64, u64);

    /// The increase of subflow `r` as the paper writes it, with sets of numbers of subflows.
    fn increase_of_the_paper(paths: &[Path], r: usize) -> f64 {
        let w = |s: usize| f64::from(paths[s].0);
        let tau = |s: usize| paths[s].1 as f64 * 1e-6;
        let all = 0..paths.len();
        let merit = |s: usize| 1_000_000 * paths[s].2 / (paths[s].1 * paths[s].1);
        let best = all.clone().map(merit).max().unwrap();
        let widest = paths.iter().map(|path| path.0).max().unwrap();
        let m_set: Vec<usize> = all.clone().filter(|&s| paths[s].0 == widest).collect();
        let b_not_m: Vec<usize> = all
            .clone()
            .filter(|&s| merit(s) == best && !m_set.contains(&s))
            .collect();
        let share = 1.0 / paths.len() as f64;
        let delta = if b_not_m.contains(&r) {
            share / b_not_m.len() as f64
        } else if m_set.contains(&r) && !b_not_m.is_empty() {
            -share / m_set.len() as f64
        } else {
            0.0
        };
        let y: f64 = all.map(|s| w(s) / tau(s)).sum();
        w(r) / (tau(r) * tau(r)) / (y * y) + delta / w(r)
    }

    proptest! {
        #[test]
        fn the_increase_is_that_of_the_paper(
            // Few values, so that there are ties.
            paths in prop::collection::vec(
                (2..6_u32, prop::sample::select(&[100, 200, 400][..]), 1..5_u64),
                2..7,
            ),
        ) {
            // Multiples of 400^2, so that the merits are whole numbers.
            let paths: Vec<Path> = paths
                .iter()
                .map(|&(window, rtt, acked)| (10 * window, rtt, acked * 160_000))
                .collect();
            for r in 0..paths.len() {
                let subflows: Vec<_> = paths.iter().map(|p| (f64::from(p.0), p.1)).collect();
                let mut connection = olia(&subflows);
                for (s, path) in paths.iter().enumerate() {
                    // One packet of them is acknowledged below.
                    carried(&mut connection, s, path.2 - u64::from(s == r));
                }
                let gained = gain(&mut connection, r);
                let expected = increase_of_the_paper(&paths, r);
                prop_assert!((gained - expected).abs() < 1e-12, "{} {}", gained, expected);
            }
        }
    }
}
