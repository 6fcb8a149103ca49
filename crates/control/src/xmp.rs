//! XMP (Cao et al., CoNEXT 2013): BOS on every subflow, coupled by TraSh, traffic shifting.
//!
//! XMP is [`bos`](crate::bos), described there, with another delta. At the end of each round of
//! subflow r, with w_r its window in packets and tau_r its smoothed RTT in seconds:
//!
//! - rate_r <- w_r / tau_r;
//! - y = the sum of the latest rates of all active subflows, T = the smallest of their RTTs;
//! - delta_r = w_r / (y T), the packets that a round adds in congestion avoidance.
//!
//! The deltas of a connection's subflows sum to about one packet (more on longer paths), so it grows
//! as fast as one BOS flow, and more where the rate is higher. In equilibrium a round is marked
//! with probability 1 / (1 + w_r / (delta_r beta)).
//!
//! Ruling: the rate of a subflow before the end of its first round is w / tau with what is known. A loss
//! brings it up to date: the window that it leaves is what siblings couple to.
//!
//! Subflows without an RTT sample have no rate; when there is no sample at all, delta is 1. With one
//! active subflow XMP is BOS: delta is computed as (rate_r / y) (tau_r / T), which is then
//! exactly 1.
//!
//! A guideline, not checked: a marking threshold of at least BDP / (beta - 1) packets keeps the link
//! full.

use crate::bos::{ECN, PARAMETERS, Rules, Subflow};
use crate::{Ack, Change, Controller, Entry, Loss, Path, Paths, PerSubflow, SubflowId};
use alloc::boxed::Box;
use pathweave_units::Time;

/// XMP in the registry.
pub const ENTRY: Entry = Entry {
    name: "xmp",
    summary: "BOS on every subflow; shifts traffic by giving faster subflows more of the increase.",
    source: "XMP, CoNEXT 2013, algorithm 1",
    file: include_str!("xmp.rs"),
    coupled: true,
    scatter: None,
    scheme: None,
    ecn: |_| ECN,
    parameters: PARAMETERS,
    build: |parameters| {
        Box::new(Xmp {
            rules: Rules::new(parameters),
            subflows: PerSubflow::new(FRESH),
        })
    },
};

#[derive(Clone, Debug)]
struct CoupledSubflow {
    bos: Subflow,
    /// rate_r, once a round has ended.
    rate: Option<f64>,
}

const FRESH: CoupledSubflow = CoupledSubflow {
    bos: Subflow::FRESH,
    rate: None,
};

#[derive(Clone, Debug)]
struct Xmp {
    rules: Rules,
    subflows: PerSubflow<CoupledSubflow>,
}

impl Xmp {
    /// TraSh at the end of a round of subflow `r`.
    fn delta(&self, paths: &Paths<'_>, r: SubflowId) -> f64 {
        let (mut total_rate, mut shortest) = (0.0, Time::MAX);
        for (path, subflow) in paths.iter().zip(self.subflows.iter()) {
            if path.is_active() && path.has_rtt() {
                total_rate += subflow.rate.unwrap_or_else(|| path.packets_per_second());
                shortest = shortest.min(path.smoothed_rtt);
            }
        }
        if total_rate == 0.0 {
            return 1.0;
        }
        let path = &paths[r];
        (path.packets_per_second() / total_rate) * (path.rtt_seconds() / shortest.as_secs_f64())
    }
}

impl Controller for Xmp {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        let subflow = self.subflows.get(r);
        subflow.bos.at_marks(&mut paths[r], ack, &self.rules);
        if subflow.bos.round_is_over(&paths[r]) {
            subflow.rate = known_rate(&paths[r]);
            let delta = self.delta(paths, r);
            let subflow = self.subflows.get(r);
            subflow.bos.per_round(&mut paths[r], ack, delta);
        }
        let subflow = self.subflows.get(r);
        subflow.bos.per_ack(&mut paths[r], ack);
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, _now: Time) {
        let subflow = self.subflows.get(r);
        subflow.bos.on_loss(&mut paths[r], loss, &self.rules);
        // No round may end soon: until then its siblings would count what the path no longer carries.
        subflow.rate = known_rate(&paths[r]);
    }

    fn on_subflow(&mut self, _paths: &mut Paths<'_>, r: SubflowId, change: Change) {
        if change.begins() {
            self.subflows.restart(r);
        }
    }

    fn on_packet_size(&mut self, r: SubflowId, factor: f64) {
        let subflow = self.subflows.get(r);
        subflow.bos.rescale(factor);
        subflow.rate = subflow.rate.map(|rate| rate * factor);
    }
}

fn known_rate(path: &Path) -> Option<f64> {
    path.has_rtt().then(|| path.packets_per_second())
}

#[cfg(test)]
mod tests {
    use crate::greedy_sender::{GreedySender, near};
    use crate::{Change, Ecn, Loss, find};

    fn xmp(subflows: &[(f64, u64)]) -> GreedySender {
        GreedySender::new("xmp", &[], subflows)
    }

    /// Packets that subflow `r` gains in `rounds` rounds that begin now, its window held where it is.
    fn gain(connection: &mut GreedySender, r: usize, rounds: u32) -> f64 {
        let window = connection.window(r);
        let mut gained = 0.0;
        for _ in 0..rounds {
            connection.round(r, false);
            gained += connection.window(r) - window;
            connection.paths[r].window = window;
        }
        gained
    }

    #[test]
    fn equal_subflows_take_turns_to_gain_a_packet() {
        let mut connection = xmp(&[(10.0, 100), (10.0, 100)]);
        for gained in [0.0, 1.0, 0.0, 1.0] {
            assert_eq!(gain(&mut connection, 0, 1), gained);
            assert_eq!(gain(&mut connection, 1, 1), gained);
        }
    }

    #[test]
    fn a_share_of_one_third_adds_up_to_whole_packets() {
        let mut connection = xmp(&[(10.0, 100); 3]);
        for gained in [0.0, 0.0, 1.0, 0.0, 0.0, 1.0] {
            assert_eq!(gain(&mut connection, 2, 1), gained);
        }
    }

    #[test]
    fn delta_is_the_window_over_all_rates_times_the_shortest_rtt() {
        // Rates 10/100 us and 20/200 us: y = 2e5; y T = 20: deltas 1/2 and 1.
        let mut connection = xmp(&[(10.0, 100), (20.0, 200)]);
        assert_eq!(gain(&mut connection, 0, 20), 10.0);
        assert_eq!(gain(&mut connection, 1, 20), 20.0);
        // Rates 3e5 and 1e5: deltas 3/4 and 1/4.
        let mut connection = xmp(&[(30.0, 100), (10.0, 100)]);
        assert_eq!(gain(&mut connection, 0, 20), 15.0);
        assert_eq!(gain(&mut connection, 1, 20), 5.0);
        // Rates 1e5 and 1e5, but 4 times the RTT: y T = 20, deltas 1/2 and 2.
        let mut connection = xmp(&[(10.0, 100), (40.0, 400)]);
        assert_eq!(gain(&mut connection, 1, 3), 6.0);
    }

    /// Proposition 1 of the paper: a subflow whose rounds are marked less often than U'(y) gets a larger delta, one that is
    /// marked more often a smaller one. U'(y) = 1 / (1 + y T / beta) (equation 7), and a subflow with this delta settles where a
    /// round is marked with p = 1 / (1 + w / (delta beta)) (equation 8).
    #[test]
    fn delta_rises_where_marks_are_rarer_than_the_marginal_utility() {
        const BETA: f64 = 4.0;
        const ROUNDS: u32 = 400;
        let mut random = 7_u64;
        let mut draw = |least: u64, most: u64| {
            random = random
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            least + (random >> 33) % (most - least + 1)
        };
        let (mut rises, mut falls) = (0, 0);
        for _ in 0..300 {
            let subflows: std::vec::Vec<(f64, u64)> = (0..draw(2, 4))
                .map(|_| (draw(4, 60) as f64, 50 * draw(1, 12)))
                .collect();
            let shortest = subflows.iter().map(|&(_, micros)| micros).min().unwrap() as f64;
            let rates = subflows
                .iter()
                .map(|&(window, micros)| window / micros as f64);
            let y: f64 = rates.sum();
            let delta = draw(1, 200) as f64 / 100.0;
            let (window, _) = subflows[0];

            let p = 1.0 / (1.0 + window / (delta * BETA));
            let marginal_utility = 1.0 / (1.0 + y * shortest / BETA);
            let next = f64::from(gain(&mut xmp(&subflows), 0, ROUNDS) as u32) / f64::from(ROUNDS);
            // The sum of delta's whole packets lags by less than one.
            if (next - delta).abs() > 2.0 / f64::from(ROUNDS) {
                assert_eq!(
                    next > delta,
                    p < marginal_utility,
                    "{subflows:?} {delta} {next}"
                );
                *(if next > delta { &mut rises } else { &mut falls }) += 1;
            }
        }
        assert!(rises > 50 && falls > 50, "{rises} {falls}");
    }

    #[test]
    fn other_subflows_count_with_the_rate_of_their_last_round() {
        let mut connection = xmp(&[(10.0, 100), (10.0, 100)]);
        gain(&mut connection, 1, 1); // its rate is 1e5 from here on
        connection.paths[1].window = 1000.0;
        assert_eq!(gain(&mut connection, 0, 8), 4.0);
        // A subflow that has not ended a round counts with what it has now.
        let mut connection = xmp(&[(10.0, 100), (10.0, 100)]);
        connection.paths[1].window = 30.0;
        assert_eq!(gain(&mut connection, 0, 8), 2.0);
        // So does one that opens again.
        let mut connection = xmp(&[(10.0, 100), (10.0, 100)]);
        gain(&mut connection, 1, 1);
        connection.change(1, Change::Opened);
        connection.paths[1].window = 30.0;
        assert_eq!(gain(&mut connection, 0, 8), 2.0);
    }

    #[test]
    fn only_active_subflows_with_an_rtt_count() {
        let mut connection = xmp(&[(10.0, 100), (10.0, 50)]);
        connection.change(1, Change::Closed);
        assert_eq!(gain(&mut connection, 0, 4), 4.0);
        let mut connection = xmp(&[(10.0, 100), (10.0, 0)]);
        assert_eq!(gain(&mut connection, 0, 4), 4.0);
        assert_eq!(gain(&mut connection, 1, 4), 0.0);
        let mut connection = xmp(&[(10.0, 0), (10.0, 0)]);
        assert_eq!(gain(&mut connection, 0, 4), 4.0);
    }

    #[test]
    fn failed_subflows_do_not_count_until_they_recover() {
        let mut connection = xmp(&[(10.0, 100); 3]);
        for (change, gained) in [(Change::Failed, 30.0), (Change::Recovered, 20.0)] {
            connection.change(2, change);
            let gain = gain(&mut connection, 0, 60);
            assert!((gain - gained).abs() <= 1.0, "{change:?}: {gain}");
        }
        // Nor does its RTT, which was the shortest: delta would be 2/3 2 beside a rate twice as high.
        let mut connection = xmp(&[(10.0, 100), (10.0, 100), (10.0, 50)]);
        connection.change(2, Change::Failed);
        let gain = gain(&mut connection, 0, 60);
        assert!((gain - 30.0).abs() <= 1.0, "{gain}");
    }

    #[test]
    fn marks_reduce_one_subflow_alone() {
        let mut connection = xmp(&[(20.0, 100), (20.0, 100)]);
        connection.ack(0, 1, 1);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (15.0, 14.0));
        assert_eq!((connection.window(1), connection.ssthresh(1)), (20.0, 1.0));
        connection.loss(1, Loss::FastRetransmit);
        assert_eq!((connection.window(0), connection.window(1)), (15.0, 10.0));
    }

    #[test]
    fn slow_start_is_not_coupled() {
        let mut connection = xmp(&[(10.0, 100), (10.0, 100)]);
        connection.paths[0].ssthresh = f64::INFINITY;
        connection.ack(0, 3, 0);
        assert_eq!(connection.window(0), 13.0);
    }

    #[test]
    fn the_equilibrium_of_two_equal_subflows_has_half_the_window_of_bos() {
        // p = 1 / (1 + w / (delta beta)) with delta = 1/2 each.
        let p = 0.1;
        let mut connection = xmp(&[(18.0, 100), (18.0, 100)]);
        let (mut random, mut sum, mut rounds) = (1_u64, 0.0, 0.0);
        for _ in 0..40_000 {
            for r in 0..2 {
                random = random
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                let marked = ((random >> 33) as f64) < p * (1_u64 << 31) as f64;
                connection.round(r, marked);
                sum += connection.window(r);
                rounds += 1.0;
            }
        }
        let window = sum / rounds;
        // Windows of the two wander apart, and delta with them; the mean is that of the formula.
        assert!(near(p, 1.0 / (1.0 + window / 2.0), 0.1), "{window}");
    }

    #[test]
    fn two_header_bits_carry_the_marks() {
        let entry = find("xmp").unwrap();
        assert_eq!((entry.ecn)(&entry.defaults()), Ecn::Count { limit: 3 });
        assert_eq!(entry.defaults().number("beta"), 4.0);
        assert_eq!(entry.defaults().choice("variant"), "paper");
    }
}
