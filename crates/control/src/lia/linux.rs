//! LIA as the Linux module computes it: the arithmetic is at the top of [`lia`](super).

use crate::linux::{self, Counter, cwnd, srtt};
use crate::{Ack, Change, Controller, Loss, OncePerRound, Path, Paths, PerSubflow, SubflowId};
use pathweave_units::Time;

const SCALE: u32 = 12;
/// The scale is that of the numerator less twice that of the denominator.
const NUMERATOR_SCALE: u32 = 32;
const DENOMINATOR_SCALE: u32 = 10;

#[derive(Clone, Debug)]
pub struct Lia {
    ecn_cut: f64,
    /// 2^12 / B of RFC 6356's form.
    alpha: u64,
    /// Whether congestion avoidance has to work out alpha before it uses it.
    stale: bool,
    subflows: PerSubflow<Subflow>,
}

#[derive(Clone, Debug)]
struct Subflow {
    counter: Counter,
    recovering: bool,
    cuts: OncePerRound,
}

impl Lia {
    pub fn new(ecn_cut: f64) -> Lia {
        Lia {
            ecn_cut,
            alpha: 1,
            stale: true,
            subflows: PerSubflow::new(Subflow {
                counter: Counter::ZERO,
                recovering: false,
                cuts: OncePerRound::new(),
            }),
        }
    }

    /// Acknowledgements to count before subflow `r` gains a packet.
    fn bound(&self, paths: &Paths<'_>, r: SubflowId) -> u32 {
        let cwnd = cwnd(&paths[r]);
        if linux::alone(paths) {
            cwnd
        } else {
            cwnd.max(((1 << SCALE) / self.alpha) as u32)
        }
    }
}

fn measured<'a>(paths: &'a Paths<'_>) -> impl Iterator<Item = &'a Path> {
    paths.active().filter(|path| path.has_rtt())
}

fn alpha(paths: &Paths<'_>) -> u64 {
    if linux::alone(paths) {
        return 1;
    }
    let (mut largest, mut best_cwnd, mut best_srtt) = (0, 0, 0);
    for path in measured(paths) {
        let numerator = u64::from(cwnd(path)) << NUMERATOR_SCALE;
        let quotient = numerator / (srtt(path) * srtt(path));
        if quotient >= largest {
            (largest, best_cwnd, best_srtt) = (quotient, cwnd(path), srtt(path));
        }
    }
    let denominator = measured(paths)
        .map(|path| {
            let scaled = u64::from(cwnd(path)) << DENOMINATOR_SCALE;
            scaled.wrapping_mul(best_srtt) / srtt(path)
        })
        .fold(0, u64::wrapping_add);
    let square = denominator.wrapping_mul(denominator).max(1);
    ((u64::from(best_cwnd) << NUMERATOR_SCALE) / square).max(1)
}

impl Controller for Lia {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        let subflow = self.subflows.get(r);
        let path = &mut paths[r];
        if subflow.recovering != ack.recovery {
            subflow.recovering = ack.recovery;
            self.stale = true;
        }
        if ack.ce > 0 && self.ecn_cut > 0.0 {
            let window = path.window;
            if subflow.cuts.on_mark(path, self.ecn_cut) {
                path.window = window;
                linux::cut_to(path, path.ssthresh as u32);
                self.stale = true;
                return;
            }
        }
        if !ack.lets_window_grow() || ack.packets == 0 {
            return;
        }
        if linux::slow_start(path, ack.packets) {
            self.alpha = alpha(paths);
            return;
        }
        if self.stale {
            self.alpha = alpha(paths);
            self.stale = false;
        }
        let bound = self.bound(paths, r);
        if self.subflows.get(r).counter.count(&mut paths[r], bound) {
            self.alpha = alpha(paths);
        }
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, _now: Time) {
        let (subflow, path) = (self.subflows.get(r), &mut paths[r]);
        let window = path.window;
        // Half of the window, or of the one before this round's mark.
        subflow.cuts.on_loss(path, loss);
        let half = (path.ssthresh as u32).max(2);
        path.window = window;
        subflow.counter.on_loss(path, loss, half);
        self.stale = true;
    }

    fn on_subflow(&mut self, _paths: &mut Paths<'_>, r: SubflowId, change: Change) {
        if change.begins() {
            self.subflows.restart(r);
        }
        self.stale = true;
    }

    fn on_packet_size(&mut self, r: SubflowId, factor: f64) {
        self.subflows.get(r).cuts.rescale(factor);
        self.stale = true;
    }
}

#[cfg(test)]
mod tests {
    use super::alpha;
    use crate::greedy_sender::{GreedySender, number, text};
    use crate::{Change, Loss, Path, PathState, Paths, lia};
    use pathweave_units::Time;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn linux(subflows: &[(f64, u64)]) -> GreedySender {
        GreedySender::new("lia", &[text("variant", "linux")], subflows)
    }

    /// Acknowledgements until subflow `r` gains a packet; it must be exactly one.
    fn acks_to_grow(connection: &mut GreedySender, r: usize) -> u32 {
        let window = connection.window(r);
        for count in 1..10_000 {
            connection.ack(r, 1, 0);
            if connection.window(r) != window {
                assert_eq!(connection.window(r), window + 1.0);
                return count;
            }
        }
        panic!("the window does not grow")
    }

    fn paths(subflows: &[(f64, u64)]) -> Vec<Path> {
        let path = |&(window, micros): &(f64, u64)| {
            let mut path = Path::new(window, 2.0, 1.0);
            path.state = PathState::Active;
            path.smoothed_rtt = Time::from_micros(micros);
            path
        };
        subflows.iter().map(path).collect()
    }

    fn alpha_of(subflows: &[(f64, u64)]) -> u64 {
        alpha(&Paths::new(&mut paths(subflows)))
    }

    #[test]
    fn alpha_has_twelve_bits_of_fraction() {
        // d = 2 (10 << 10): 10 * 2^32 / 20480^2 = 102.4.
        assert_eq!(alpha_of(&[(10.0, 100), (10.0, 100)]), 102);
        // srtt 800 and 1600, the first is best: d = 10240 + 5120, 10 * 2^32 / 15360^2 = 182.04.
        assert_eq!(alpha_of(&[(10.0, 100), (10.0, 200)]), 182);
        assert_eq!(alpha_of(&[(10.0, 200), (10.0, 100)]), 182);
        // d = 10240 + 10240 * 800 / 2400 = 10240 + 3413: 10 * 2^32 / 13653^2 = 230.4.
        assert_eq!(alpha_of(&[(10.0, 100), (10.0, 300)]), 230);
    }

    #[test]
    fn alpha_is_at_least_one() {
        // (80 << 10)^2 / (10 * 2^32) is more than 1 here: 8 subflows of 100 packets.
        assert_eq!(alpha_of(&[(100.0, 100); 8]), 1);
        assert_eq!(alpha_of(&[(10.0, 100)]), 1);
        assert_eq!(alpha_of(&[(10.0, 0), (10.0, 0)]), 1);
    }

    #[test]
    fn of_equally_good_subflows_the_last_sets_the_scale() {
        // 10 * 2^32 / 800000^2 and / 1600000^2 are both 0, so the slower one counts as best:
        // d = 2 * 10240 + 10240, 10 * 2^32 / 30720^2 = 45.5.
        assert_eq!(alpha_of(&[(10.0, 100_000), (10.0, 200_000)]), 45);
        assert_eq!(alpha_of(&[(10.0, 200_000), (10.0, 100_000)]), 182);
    }

    #[test]
    fn squares_that_do_not_fit_do_no_harm() {
        // d = 2 (2^21 << 10) = 2^32: no bit of its square is kept.
        let packets = f64::from(1 << 21);
        assert_eq!(
            alpha_of(&[(packets, 100), (packets, 100)]),
            (1 << 21) << 32,
            "divided by 1"
        );
    }

    proptest! {
        #[test]
        fn alpha_is_what_rfc_6356_has_but_for_rounding(
            subflows in prop::collection::vec((2..200_u32, 20..2_000_u64), 2..5),
        ) {
            let subflows: Vec<_> = subflows.iter().map(|&(w, rtt)| (f64::from(w), rtt)).collect();
            let mut list = paths(&subflows);
            let paths = Paths::new(&mut list);
            let alpha = alpha(&paths) as f64;
            // The smallest bound of all is B, unless every window is larger.
            let least = (0..subflows.len())
                .map(|r| lia::packets_per_increment(&paths, crate::SubflowId(r as u32)))
                .fold(f64::INFINITY, f64::min);
            let smallest = subflows.iter().map(|s| s.0).fold(f64::INFINITY, f64::min);
            prop_assume!(least > smallest);
            // Quotients of 33 and more choose the best subflow, and alpha itself loses its fraction.
            let exact = 4096.0 / least;
            prop_assert!(alpha <= 1.01 * exact && alpha >= 0.95 * exact - 1.0);
        }
    }

    #[test]
    fn a_packet_more_takes_one_acknowledgement_more_than_the_bound() {
        // 2^12 / 102 = 40.2, 2^12 / 182 = 22.5.
        let mut connection = linux(&[(10.0, 100), (10.0, 100)]);
        assert_eq!(acks_to_grow(&mut connection, 0), 41);
        let mut connection = linux(&[(10.0, 100), (10.0, 200)]);
        assert_eq!(acks_to_grow(&mut connection, 0), 23);
        // No faster than Reno: 2^12 / alpha is 4 here, the window 100.
        let mut connection = linux(&[(1.0, 10), (100.0, 1000)]);
        assert_eq!(acks_to_grow(&mut connection, 1), 101);
    }

    #[test]
    fn one_active_subflow_counts_to_its_window() {
        let mut connection = linux(&[(10.0, 100), (10.0, 100)]);
        connection.change(1, Change::Closed);
        assert_eq!(acks_to_grow(&mut connection, 0), 11);
        assert_eq!(acks_to_grow(&mut connection, 0), 12);
    }

    #[test]
    fn acknowledgements_count_whatever_they_acknowledge() {
        let mut connection = linux(&[(10.0, 100)]);
        for _ in 0..10 {
            connection.ack(0, 3, 0);
            connection.ack(0, 0, 0);
            connection.ack_as(0, 1, 0, true, true);
            connection.ack_as(0, 1, 0, false, false);
        }
        assert_eq!(connection.window(0), 10.0);
        connection.ack(0, 3, 0);
        assert_eq!(connection.window(0), 11.0);
    }

    /// Ten counted acknowledgements, then the other window is 30, which asks for 56 in place of 40.
    fn ten_counted() -> GreedySender {
        let mut connection = linux(&[(10.0, 100), (10.0, 100)]);
        for _ in 0..10 {
            connection.ack(0, 1, 0);
        }
        connection.paths[1].window = 30.0;
        connection
    }

    #[test]
    fn alpha_is_kept_until_a_window_grows() {
        let mut connection = ten_counted();
        assert_eq!(acks_to_grow(&mut connection, 0), 31);
        // d = 41 << 10, best 30: 30 * 2^32 / 41984^2 = 73.1, 2^12 / 73 = 56.1.
        assert_eq!(acks_to_grow(&mut connection, 0), 57);
    }

    #[test]
    fn slow_start_works_alpha_out_again() {
        let mut connection = ten_counted();
        connection.paths[1].window = 29.0;
        connection.paths[1].ssthresh = 100.0;
        connection.ack(1, 1, 0);
        assert_eq!(connection.window(1), 30.0);
        // d = 40 << 10: 30 * 2^32 / 40960^2 = 76.8, 2^12 / 76 = 53.9.
        assert_eq!(acks_to_grow(&mut connection, 0), 54 - 10);
    }

    #[test]
    fn changes_of_a_subflow_work_alpha_out_again() {
        let bound = 53;
        let mut connection = ten_counted();
        connection.change(1, Change::Opened);
        assert_eq!(acks_to_grow(&mut connection, 0), bound + 1 - 10);

        let mut connection = ten_counted();
        connection.ack_as(1, 0, 1, true, true);
        assert_eq!(acks_to_grow(&mut connection, 0), bound + 1 - 10);

        let mut connection = ten_counted();
        connection.loss(1, Loss::FastRetransmit);
        connection.paths[1].window = 30.0;
        assert_eq!(acks_to_grow(&mut connection, 0), bound + 1 - 10);

        // The end of recovery is such a change, its middle is not.
        for (recovering, acks) in [(true, 41), (false, bound + 1)] {
            let mut connection = linux(&[(10.0, 100), (10.0, 100)]);
            connection.ack_as(1, 1, 0, true, true);
            connection.ack(0, 1, 0);
            connection.paths[1].window = 30.0;
            connection.ack_as(1, 1, 0, recovering, false);
            assert_eq!(acks_to_grow(&mut connection, 0), acks - 1);
        }
    }

    #[test]
    fn alpha_is_worked_out_again_when_a_sibling_fails_or_recovers() {
        // Three windows of 10: 2^12 / 45 = 91.02. Two: 2^12 / 102 = 40.2.
        let mut connection = linux(&[(10.0, 100); 3]);
        connection.ack(0, 1, 0);
        connection.change(2, Change::Failed);
        assert_eq!(acks_to_grow(&mut connection, 0), 41 - 1);
        connection.paths[0].window = 10.0;
        connection.change(2, Change::Recovered);
        assert_eq!(acks_to_grow(&mut connection, 0), 92);
    }

    #[test]
    fn a_subflow_that_opens_again_has_counted_nothing() {
        let mut connection = linux(&[(10.0, 100)]);
        connection.ack(0, 1, 0);
        connection.change(0, Change::Opened);
        assert_eq!(acks_to_grow(&mut connection, 0), 11);
    }

    #[test]
    fn losses_halve_whole_packets() {
        let mut connection = linux(&[(15.0, 100), (15.0, 100)]);
        connection.ack(0, 1, 0);
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (7.0, 7.0));
        connection.loss(1, Loss::Timeout);
        assert_eq!((connection.window(1), connection.ssthresh(1)), (1.0, 7.0));
        let mut connection = linux(&[(3.0, 100)]);
        connection.paths[0].minimum_window = 1.0;
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (2.0, 2.0));
    }

    #[test]
    fn a_loss_clears_the_count() {
        let mut connection = linux(&[(20.0, 100)]);
        for _ in 0..9 {
            connection.ack(0, 1, 0);
        }
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(acks_to_grow(&mut connection, 0), 11);
    }

    #[test]
    fn marks_cut_to_whole_packets_once_a_round() {
        let given = [text("variant", "linux"), number("ecn_cut", 0.25)];
        let mut connection = GreedySender::new("lia", &given, &[(10.0, 100)]);
        connection.ack(0, 1, 1);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (7.0, 7.0));
        connection.ack(0, 1, 1);
        assert_eq!(connection.window(0), 7.0);
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(connection.window(0), 5.0, "half of 10, not of 7");

        let mut connection = linux(&[(10.0, 100)]);
        connection.ack(0, 1, 1);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (10.0, 1.0));
    }

    #[test]
    fn a_mark_works_alpha_out_again() {
        let given = [text("variant", "linux"), number("ecn_cut", 0.25)];
        let mut connection = GreedySender::new("lia", &given, &[(10.0, 100), (40.0, 100)]);
        connection.ack(0, 1, 0);
        connection.ack(1, 1, 1);
        assert_eq!(connection.window(1), 30.0);
        assert_eq!(acks_to_grow(&mut connection, 0), 54 - 1);
    }
}
