//! Balia as the Linux module computes it: the arithmetic is at the top of [`balia`](super).

use crate::linux::{self, Counter, cwnd, srtt};
use crate::{Ack, Change, Controller, Loss, Path, Paths, PerSubflow, SubflowId};
use pathweave_units::Time;

/// Bytes in a segment.
const MSS: u64 = 1448;
const EIGHTHS_PER_SECOND: u64 = 8_000_000;
/// The largest rate that is not scaled down.
const LARGEST_RATE: u64 = 1 << 25;
const RATE_STEP: u32 = 5;
const SCALE: u32 = 10;

#[derive(Clone, Debug)]
pub struct Balia {
    subflows: PerSubflow<Subflow>,
}

#[derive(Clone, Debug)]
struct Subflow {
    counter: Counter,
    response: Response,
    /// Whether `response` is to be worked out before it is used.
    stale: bool,
}

/// ai, the acknowledgements to count before the window grows, and md, the packets that a loss costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Response {
    ai: u64,
    md: u32,
}

impl Balia {
    pub fn new() -> Balia {
        Balia {
            subflows: PerSubflow::new(Subflow {
                counter: Counter::ZERO,
                response: Response { ai: 0, md: 0 },
                stale: true,
            }),
        }
    }
}

/// x of the path.
fn rate(path: &Path) -> u64 {
    MSS * u64::from(cwnd(path)) * EIGHTHS_PER_SECOND / srtt(path)
}

impl Response {
    fn of(paths: &Paths<'_>, r: SubflowId) -> Response {
        let cwnd = cwnd(&paths[r]);
        let half = cwnd >> 1;
        if linux::alone(paths) || !paths[r].has_rtt() {
            return Response {
                ai: u64::from(cwnd),
                md: half,
            };
        }
        let rates = || paths.active().filter(|p| p.has_rtt()).map(rate);
        let own = rate(&paths[r]);
        let largest = rates().fold(own, u64::max);
        let ratio = largest / own;
        let mut shift = 0;
        while largest >> shift > LARGEST_RATE {
            shift += RATE_STEP;
        }
        let total: u64 = rates().map(|rate| rate >> shift).sum();
        let (own, largest) = (own >> shift, largest >> shift);
        let square = total.wrapping_mul(total).wrapping_mul(10);
        let ai = (square / (own + largest)).wrapping_mul(u64::from(cwnd)) / (4 * own + largest);
        let cut = (ratio << SCALE).min((3 << SCALE) >> 1);
        Response {
            ai: if ai == 0 { u64::from(cwnd) } else { ai },
            md: ((u64::from(half) * cut) >> SCALE) as u32,
        }
    }
}

impl Controller for Balia {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        let subflow = self.subflows.get(r);
        if subflow.stale && !ack.recovery {
            subflow.response = Response::of(paths, r);
            subflow.stale = false;
        }
        if !ack.lets_window_grow() || ack.packets == 0 {
            return;
        }
        if linux::slow_start(&mut paths[r], ack.packets) {
            subflow.response = Response::of(paths, r);
            return;
        }
        let bound = if linux::alone(paths) {
            cwnd(&paths[r])
        } else {
            subflow.response.ai as u32
        };
        if subflow.counter.count(&mut paths[r], bound) {
            subflow.response = Response::of(paths, r);
        }
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, _now: Time) {
        let subflow = self.subflows.get(r);
        let ssthresh = if linux::alone(paths) {
            linux::half(&paths[r])
        } else {
            if subflow.stale {
                subflow.response = Response::of(paths, r);
            }
            cwnd(&paths[r]).saturating_sub(subflow.response.md).max(1)
        };
        subflow.counter.on_loss(&mut paths[r], loss, ssthresh);
        subflow.stale = true;
    }

    fn on_subflow(&mut self, _paths: &mut Paths<'_>, r: SubflowId, change: Change) {
        if change.begins() {
            self.subflows.restart(r);
        }
        // The rates that count are others now.
        for subflow in self.subflows.iter_mut() {
            subflow.stale = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Response, rate};
    use crate::greedy_sender::{GreedySender, text};
    use crate::{Change, Loss, Path, PathState, Paths, SubflowId, balia};
    use pathweave_units::Time;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn linux(subflows: &[(f64, u64)]) -> GreedySender {
        GreedySender::new("balia", &[text("variant", "linux")], subflows)
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

    fn left_by_loss(subflows: &[(f64, u64)], r: usize) -> f64 {
        let mut connection = linux(subflows);
        connection.loss(r, Loss::FastRetransmit);
        assert_eq!(connection.window(r), connection.ssthresh(r));
        connection.window(r)
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

    fn response(subflows: &[(f64, u64)], r: u32) -> (u64, u32) {
        let Response { ai, md } = Response::of(&Paths::new(&mut paths(subflows)), SubflowId(r));
        (ai, md)
    }

    #[test]
    fn rates_are_whole_bytes_per_second() {
        assert_eq!(rate(&paths(&[(10.0, 100)])[0]), 144_800_000);
        assert_eq!(rate(&paths(&[(1.0, 3000)])[0]), 482_666);
    }

    #[test]
    fn a_rate_of_two_to_the_25_is_not_shifted() {
        // 1448 * 691 * 8,000,000 / 238,554 is 2^25 and a fraction; the other rate is 4,687,036.
        let mut paths = paths(&[(691.0, 0), (414.0, 127_900)]);
        paths[0].smoothed_rtt = Time::from_picos(238_554 * 125_000);
        assert_eq!((rate(&paths[0]), rate(&paths[1])), (1 << 25, 4_687_036));
        // 10 (2^25 + x) 414 / (2^25 + 4 x) = 3026.996; with both shifted it would be 3027.00006.
        let response = Response::of(&Paths::new(&mut paths), SubflowId(1));
        assert_eq!(response.ai, 3026);
    }

    #[test]
    fn responses_follow_the_formula_in_integers() {
        // Rates 144,800,000, shifted by 5: 4,525,000. 10 * 10 * 4 / (2 * 5) = 40; half of 10.
        assert_eq!(response(&[(10.0, 100), (10.0, 100)], 0), (40, 5));
        // The second is half as fast: 10 * 10 * 9 / (2 * 5 * 4) = 22.5 and 10 * 10 * 9 / (3 * 6) = 50;
        // 5 and 5 * 1.5 packets.
        let subflows = [(10.0, 100), (10.0, 200)];
        assert_eq!(response(&subflows, 0), (22, 5));
        assert_eq!(response(&subflows, 1), (50, 7));
        // Half of an odd window, rounded down.
        assert_eq!(response(&[(11.0, 100), (10.0, 100)], 0).1, 5);
        // Nearly twice as fast is once in integers.
        assert_eq!(response(&[(19.0, 100), (10.0, 100)], 1).1, 5);
        assert_eq!(response(&[(20.0, 100), (10.0, 100)], 1).1, 7);
        // Ten times as fast cuts no deeper: 10 - 7.
        assert_eq!(response(&[(100.0, 100), (10.0, 100)], 1).1, 7);
    }

    #[test]
    fn rates_are_shifted_by_five_bits_until_they_fit() {
        // The slow one has rate 1448 * 100,000 * 8,000,000 / 4,000,000,000 = 289,600.
        let ai = |window: f64| response(&[(window, 1000), (100_000.0, 500_000_000)], 1).0;
        let expected = |x: u64, largest: u64| {
            let y = x + largest;
            10 * y * y / (x + largest) * 100_000 / (4 * x + largest)
        };
        // 1448 * 23 * 1000 is less than 2^25, 1448 * 24 * 1000 is more, and 1448 * 760 * 1000 is more
        // than 2^30.
        assert_eq!(ai(23.0), expected(289_600, 33_304_000));
        assert_eq!(ai(24.0), expected(9_050, 1_086_000));
        assert_eq!(ai(760.0), expected(282, 1_074_687));
    }

    #[test]
    fn one_active_subflow_responds_like_reno() {
        assert_eq!(response(&[(11.0, 100)], 0), (11, 5));
        assert_eq!(response(&[(11.0, 0), (3000.0, 1)], 0), (11, 5));
        let mut connection = linux(&[(11.0, 100), (10.0, 100)]);
        connection.ack(0, 1, 0);
        connection.change(1, Change::Closed);
        assert_eq!(acks_to_grow(&mut connection, 0), 11);
        assert_eq!(acks_to_grow(&mut connection, 0), 13);
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(connection.window(0), 6.0);
        connection.paths[0].window = 3.0;
        connection.paths[0].minimum_window = 1.0;
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(connection.window(0), 2.0);
    }

    #[test]
    fn a_packet_more_takes_one_acknowledgement_more_than_the_bound() {
        let mut connection = linux(&[(10.0, 100), (10.0, 100)]);
        assert_eq!(acks_to_grow(&mut connection, 0), 41);
        // 10 * 11 * (21/11)^2 / (2 * 5) = 40.09 with the new window.
        assert_eq!(acks_to_grow(&mut connection, 0), 41);
        let mut connection = linux(&[(10.0, 100), (10.0, 200)]);
        assert_eq!(acks_to_grow(&mut connection, 1), 51);
    }

    #[test]
    fn acknowledgements_count_whatever_they_acknowledge() {
        let mut connection = linux(&[(2.0, 100)]);
        for _ in 0..2 {
            connection.ack(0, 2, 0);
            connection.ack(0, 0, 0);
            connection.ack_as(0, 1, 0, true, true);
            connection.ack_as(0, 1, 0, false, false);
        }
        assert_eq!(connection.window(0), 2.0);
        connection.ack(0, 2, 0);
        assert_eq!(connection.window(0), 3.0);
    }

    /// Ten counted acknowledgements, then the other window is 30, which asks for 57 in place of 40.
    fn ten_counted() -> GreedySender {
        let mut connection = linux(&[(10.0, 100), (10.0, 100)]);
        for _ in 0..10 {
            connection.ack(0, 1, 0);
        }
        connection.paths[1].window = 30.0;
        connection
    }

    #[test]
    fn responses_are_kept_until_the_window_grows() {
        let mut connection = ten_counted();
        assert_eq!(acks_to_grow(&mut connection, 0), 31);
        // 10 * 11 * 41^2 / ((11 + 30)(44 + 30)) = 60.9.
        assert_eq!(acks_to_grow(&mut connection, 0), 61);
        let mut connection = ten_counted();
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(connection.window(0), 5.0, "a was 1 when it was worked out");
    }

    #[test]
    fn responses_are_worked_out_again_when_a_sibling_fails_or_recovers() {
        // Three equal rates: 10 * 10 * 30^2 / (20 * 50) = 90. Two: 40.
        let mut connection = linux(&[(10.0, 100); 3]);
        connection.ack(0, 1, 0);
        connection.change(2, Change::Failed);
        assert_eq!(acks_to_grow(&mut connection, 0), 41 - 1);
        for _ in 0..5 {
            connection.paths[0].window = 10.0;
            connection.ack(0, 1, 0);
        }
        connection.change(2, Change::Recovered);
        assert_eq!(acks_to_grow(&mut connection, 0), 91 - 5);
        // A loss beside a sibling that was twice as fast costs 1.5 times as much; when that has failed it does not.
        for (change, left) in [(Change::Opened, 3.0), (Change::Failed, 5.0)] {
            let mut connection = linux(&[(10.0, 100), (10.0, 100), (20.0, 100)]);
            connection.ack(0, 1, 0);
            connection.change(2, change);
            connection.loss(0, Loss::FastRetransmit);
            assert_eq!(connection.window(0), left, "{change:?}");
        }
    }

    #[test]
    fn slow_start_works_responses_out_again() {
        let mut connection = linux(&[(10.0, 100), (10.0, 100)]);
        connection.ack(0, 1, 0);
        connection.paths[0].ssthresh = 12.0;
        connection.paths[1].window = 30.0;
        connection.ack(0, 2, 0);
        assert_eq!(connection.window(0), 12.0);
        // a = 2.5: 12 - 6 * 1.5.
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(connection.window(0), 3.0);
    }

    #[test]
    fn recovery_ends_with_new_responses() {
        let mut connection = linux(&[(20.0, 100), (10.0, 100)]);
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(connection.window(0), 10.0);
        connection.ack_as(0, 1, 0, true, true);
        connection.paths[1].window = 30.0;
        connection.ack_as(0, 1, 0, false, false);
        connection.paths[1].window = 10.0;
        // 10 * 10 * 40^2 / ((10 + 30)(40 + 30)) = 57.1.
        assert_eq!(acks_to_grow(&mut connection, 0), 58);
    }

    #[test]
    fn a_second_loss_is_worked_out_before_it_cuts() {
        let mut connection = linux(&[(40.0, 100), (40.0, 100)]);
        connection.ack(0, 1, 0);
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(connection.window(0), 20.0);
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(connection.window(0), 20.0 - 15.0);
        connection.change(0, Change::Opened);
        connection.paths[1].window = 5.0;
        connection.paths[0].window = 4.0;
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!(connection.window(0), 2.0);
    }

    #[test]
    fn losses_leave_at_least_a_packet() {
        assert_eq!(left_by_loss(&[(10.0, 100), (10.0, 200)], 1), 3.0);
        assert_eq!(left_by_loss(&[(11.0, 100), (10.0, 100)], 0), 6.0);
        let mut connection = linux(&[(20.0, 100), (2.0, 100)]);
        connection.paths[1].minimum_window = 1.0;
        connection.loss(1, Loss::FastRetransmit);
        assert_eq!((connection.window(1), connection.ssthresh(1)), (1.0, 1.0));
    }

    #[test]
    fn a_timeout_takes_md_off_ssthresh_too() {
        let mut connection = linux(&[(20.0, 100), (10.0, 100)]);
        connection.loss(1, Loss::Timeout);
        assert_eq!((connection.window(1), connection.ssthresh(1)), (1.0, 3.0));
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
    fn a_subflow_that_opens_again_has_counted_nothing() {
        let mut connection = ten_counted();
        // 10 * 10 * 40^2 / ((10 + 30)(40 + 30)) = 57.1.
        connection.change(0, Change::Closed);
        connection.paths[0].state = PathState::Active;
        assert_eq!(acks_to_grow(&mut connection, 0), 58 - 10);
        let mut connection = ten_counted();
        connection.change(0, Change::Opened);
        assert_eq!(acks_to_grow(&mut connection, 0), 58);
    }

    proptest! {
        #[test]
        fn the_bound_is_that_of_the_paper_but_for_rounding(
            subflows in prop::collection::vec((2..200_u32, 20..20_000_u64), 2..9),
        ) {
            let subflows: Vec<_> = subflows.iter().map(|&(w, rtt)| (f64::from(w), rtt)).collect();
            let mut list = paths(&subflows);
            let paths = Paths::new(&mut list);
            for (r, &(window, _)) in subflows.iter().enumerate() {
                let r = SubflowId(r as u32);
                let ai = Response::of(&paths, r).ai as f64;
                let rates = balia::Rates::of(&paths, r).unwrap();
                let exact = rates.packets_per_increment(window);
                // Rounded down, after a rounding of the rates.
                let off = (ai - (exact - 0.5)).abs();
                prop_assert!(off < 0.5 + 1e-3 * exact, "{} {}", ai, exact);
            }
        }
    }
}
