//! OLIA as the Linux module computes it: the arithmetic is at the top of [`olia`](super).

use super::losses::Losses;
use super::sets::{Best, Sets};
use crate::linux::{self, Counter, cwnd, srtt};
use crate::{Ack, Change, Controller, Loss, Path, Paths, PerSubflow, SubflowId};
use pathweave_units::Time;

const SCALE: u32 = 10;
/// The counter's value at which a packet is full.
const FULL: i32 = (1 << SCALE) - 1;

#[derive(Clone, Debug)]
pub struct Olia {
    best: Best,
    subflows: PerSubflow<Subflow>,
}

#[derive(Clone, Debug)]
struct Subflow {
    /// Growth with one active subflow.
    reno: Counter,
    /// Growth with several, in 1024ths of a packet.
    steps: i32,
    losses: Losses,
    /// Packets acknowledged when the last acknowledgement outside recovery came.
    acked: u64,
}

impl Olia {
    pub fn new(best: Best) -> Olia {
        Olia {
            best,
            subflows: PerSubflow::new(Subflow::opened(0)),
        }
    }

    /// What an acknowledgement on subflow `r` adds to its counter.
    fn step(&self, paths: &Paths<'_>, r: SubflowId) -> i32 {
        let member = |path: &Path, subflow: &Subflow| {
            let l = subflow.losses.l(subflow.acked);
            self.best.member(window(path), l, srtt(path))
        };
        let measured = || {
            let both = paths.iter().zip(self.subflows.iter());
            let numbered = both.enumerate();
            numbered.filter(|(_, (path, _))| path.is_active() && path.has_rtt())
        };
        let own_srtt = srtt(&paths[r]);

        let (mut sets, mut root, mut own) = (Sets::new(), 1, None);
        for (i, (path, subflow)) in measured() {
            let seen = member(path, subflow);
            sets.find(&seen);
            let scaled = (window(path) << SCALE).wrapping_mul(own_srtt);
            root = u64::wrapping_add(root, scaled / srtt(path));
            if i == r.0 as usize {
                own = Some(seen);
            }
        }
        for (_, (path, subflow)) in measured() {
            sets.count(&member(path, subflow));
        }
        let m = paths.active().count() as u32;
        let (sign, n) = own.map_or((0, 1), |own| sets.delta(&own, m));
        step(cwnd(&paths[r]), root.wrapping_mul(root), sign, n)
    }
}

impl Subflow {
    fn opened(acked: u64) -> Subflow {
        Subflow {
            reno: Counter::ZERO,
            steps: 0,
            losses: Losses::none(acked),
            acked,
        }
    }

    /// Adds a step and returns by how many packets the window changes.
    fn add(&mut self, step: i32) -> i32 {
        self.steps = self.steps.wrapping_add(step);
        let change = if self.steps >= FULL {
            1
        } else if self.steps <= -FULL {
            -1
        } else {
            return 0;
        };
        self.steps = 0;
        change
    }
}

/// The window that counts for other subflows.
fn window(path: &Path) -> u64 {
    if path.in_recovery {
        u64::from(path.ssthresh as u32)
    } else {
        u64::from(cwnd(path))
    }
}

/// (cwnd / R + sign / (n cwnd)) in 1024ths, where R is `rate` without its scale.
fn step(cwnd: u32, rate: u64, sign: i32, shared_by: u32) -> i32 {
    let (cwnd, n) = (u64::from(cwnd), u64::from(shared_by));
    let scaled = cwnd << SCALE;
    let linked = n.wrapping_mul(scaled).wrapping_mul(scaled);
    let divisor = n.wrapping_mul(cwnd).wrapping_mul(rate).max(1);
    // The quotient's lowest 32 bits, as they are added to the counter in C.
    let quotient = |amount: u64| ((amount << SCALE) / divisor) as i32;
    match sign {
        -1 if linked < rate => quotient(rate - linked).wrapping_neg(),
        -1 => quotient(linked - rate),
        0 => quotient(linked),
        _ => quotient(linked.wrapping_add(rate)),
    }
}

impl Controller for Olia {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        if ack.recovery || ack.packets == 0 {
            return;
        }
        let (subflow, path) = (self.subflows.get(r), &mut paths[r]);
        subflow.acked = path.acked;
        if !ack.window_limited || linux::slow_start(path, ack.packets) {
            return;
        }
        if linux::alone(paths) || !paths[r].has_rtt() {
            let path = &mut paths[r];
            subflow.reno.count(path, cwnd(path));
            return;
        }
        let step = self.step(paths, r);
        let (subflow, path) = (self.subflows.get(r), &mut paths[r]);
        let packets = cwnd(path);
        path.window = match subflow.add(step) {
            1 => f64::from(packets) + 1.0,
            -1 => shrunk(packets, path.minimum_window),
            _ => return,
        };
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, _now: Time) {
        let (subflow, path) = (self.subflows.get(r), &mut paths[r]);
        subflow.losses.happen(subflow.acked);
        let half = linux::half(path);
        subflow.reno.on_loss(path, loss, half);
    }

    fn on_subflow(&mut self, paths: &mut Paths<'_>, r: SubflowId, change: Change) {
        if change.begins() {
            *self.subflows.get(r) = Subflow::opened(paths[r].acked);
        }
    }
}

/// A packet less, but not below the minimum window.
fn shrunk(packets: u32, minimum_window: f64) -> f64 {
    let window = f64::from(packets);
    (window - 1.0).max(libm::ceil(minimum_window)).min(window)
}

#[cfg(test)]
mod tests {
    use super::{Subflow, step};
    use crate::greedy_sender::{GreedySender, text};
    use crate::{Change, Loss};
    use proptest::prelude::*;

    fn linux(subflows: &[(f64, u64)]) -> GreedySender {
        GreedySender::new("olia", &[text("variant", "linux")], subflows)
    }

    /// Acknowledgements until the window of subflow `r` changes, and what it is then.
    fn acks_to_change(connection: &mut GreedySender, r: usize) -> (u32, f64) {
        let window = connection.window(r);
        for count in 1..10_000 {
            connection.ack(r, 1, 0);
            if connection.window(r) != window {
                return (count, connection.window(r));
            }
        }
        (0, window)
    }

    /// Makes subflow `r` the best one: it has carried far more than the others.
    fn is_best(connection: &mut GreedySender, r: usize) {
        let window = connection.window(r);
        (connection.paths[r].acked, connection.paths[r].sent) = (100_000, 100_000);
        connection.ack_as(r, 1, 0, false, false);
        assert_eq!(connection.window(r), window);
    }

    /// (1 + the windows in 1024ths)^2, for equal RTTs.
    fn rate(packets: u64) -> u64 {
        (1 + 1024 * packets) * (1 + 1024 * packets)
    }

    #[test]
    fn steps_have_ten_bits_of_a_packet() {
        // 1024 times 10 / 20^2; 10 / 30^2 + 1/20; 20 / 30^2 - 1/40; 20 / 25^2 - 1/40.
        assert_eq!(step(10, rate(20), 0, 1), 25); // of 25.6
        assert_eq!(step(10, rate(30), 1, 2), 62); // of 62.6
        assert_eq!(step(20, rate(30), -1, 2), -2); // of -2.8
        assert_eq!(step(20, rate(25), -1, 2), 7); // of 7.2
        // The 1 in the rate is felt in small windows: 1024 * (1024 / 1025)^2 = 1022.003.
        assert_eq!(step(1, rate(1), 0, 1), 1022);
        assert_eq!(
            step(10, 0, 0, 1),
            104_857_600 << 10,
            "a divisor of 0 counts as 1"
        );
    }

    #[test]
    fn a_packet_is_full_at_1023() {
        let mut subflow = Subflow::opened(0);
        let changes = [1022, 1, 1022, -2044, -1, -1022, 1, -1, 0, -1];
        let changes = changes.map(|step| subflow.add(step));
        assert_eq!(changes, [0, 1, 0, 0, -1, 0, 0, 0, 0, -1]);
        subflow.steps = 1;
        assert_eq!(subflow.add(i32::MAX), -1, "as the counter of 32 bits does");
    }

    proptest! {
        #[test]
        fn steps_are_the_increase_of_the_paper_but_for_rounding(
            cwnd in 2..300_u32,
            others in 1..900_u64,
            sign in -1..2_i32,
            shared_by in 2..9_u32,
        ) {
            let n = if sign == 0 { 1 } else { shared_by };
            let total = u64::from(cwnd) + others;
            let (w, y) = (f64::from(cwnd), total as f64);
            let exact = 1024.0 * (w / (y * y) + f64::from(sign) / (f64::from(n) * w));
            let step = f64::from(step(cwnd, rate(total), sign, n));
            // Less than one is dropped, and the 1 in the rate makes that one 1024th of a packet more.
            let linked = 1024.0 * w / (y * y);
            prop_assert!((step - exact).abs() < 1.0 + linked * 2.0 / (1024.0 * y));
        }
    }

    #[test]
    fn windows_change_by_whole_packets() {
        // 25 a time: 41 * 25 is the first above 1022.
        let mut connection = linux(&[(10.0, 100), (10.0, 100)]);
        assert_eq!(acks_to_change(&mut connection, 0), (41, 11.0));
        // 1024 * 11 / 21^2 = 25.5.
        assert_eq!(acks_to_change(&mut connection, 0), (41, 12.0));
    }

    #[test]
    fn rtts_weigh_rates() {
        // 1024 * 10 / 15^2 = 45.5 and 1024 * 10 / 30^2 = 11.4.
        let mut connection = linux(&[(10.0, 100), (10.0, 200)]);
        assert_eq!(acks_to_change(&mut connection, 0), (23, 11.0));
        let mut connection = linux(&[(10.0, 100), (10.0, 200)]);
        assert_eq!(acks_to_change(&mut connection, 1), (93, 11.0));
    }

    #[test]
    fn the_best_path_grows_and_the_widest_shrinks() {
        let mut connection = linux(&[(20.0, 100), (10.0, 100)]);
        is_best(&mut connection, 1);
        assert_eq!(acks_to_change(&mut connection, 1), (17, 11.0)); // 62 a time
        let mut connection = linux(&[(20.0, 100), (10.0, 100)]);
        is_best(&mut connection, 1);
        assert_eq!(acks_to_change(&mut connection, 0), (512, 19.0)); // -2 a time
    }

    #[test]
    fn m_counts_subflows_without_an_rtt() {
        // 1024 (10 / 30^2 + 1/30) = 45.5 instead of 62.6.
        let mut connection = linux(&[(20.0, 100), (10.0, 100), (10.0, 0)]);
        is_best(&mut connection, 1);
        assert_eq!(acks_to_change(&mut connection, 1), (23, 11.0));
    }

    #[test]
    fn a_recovering_subflow_counts_with_ssthresh() {
        let mut connection = linux(&[(10.0, 100), (10.0, 100)]);
        (
            connection.paths[1].in_recovery,
            connection.paths[1].ssthresh,
        ) = (true, 30.0);
        // 1024 (10 / 40^2 + 1/20) = 57.6.
        assert_eq!(acks_to_change(&mut connection, 0), (18, 11.0));
    }

    #[test]
    fn windows_stop_growing_where_a_step_is_nothing() {
        // 1024 / (4 * 250) is 1, 1024 / (4 * 300) is 0.
        let mut connection = linux(&[(250.0, 100), (250.0, 100)]);
        assert_eq!(acks_to_change(&mut connection, 0), (1023, 251.0));
        let mut connection = linux(&[(300.0, 100), (300.0, 100)]);
        assert_eq!(acks_to_change(&mut connection, 0), (0, 300.0));
    }

    #[test]
    fn shrinking_ends_at_the_minimum_window() {
        // 1024 (2 / 9 - 1/4) = -28.4.
        for (minimum, expected) in [(2.0, (0, 2.0)), (1.5, (0, 2.0)), (1.0, (37, 1.0))] {
            let mut connection = linux(&[(2.0, 100), (1.0, 100)]);
            connection.paths[0].minimum_window = minimum;
            is_best(&mut connection, 1);
            assert_eq!(acks_to_change(&mut connection, 0), expected);
        }
        let mut connection = linux(&[(2.0, 100), (1.0, 100)]);
        connection.paths[0].minimum_window = 5.0;
        is_best(&mut connection, 1);
        assert_eq!(acks_to_change(&mut connection, 0), (0, 2.0));
    }

    #[test]
    fn slow_start_follows_shrinking_below_ssthresh() {
        let mut connection = linux(&[(20.0, 100), (10.0, 100)]);
        is_best(&mut connection, 1);
        connection.paths[0].ssthresh = 20.0;
        assert_eq!(acks_to_change(&mut connection, 0), (512, 19.0));
        connection.ack(0, 1, 0);
        assert_eq!(connection.window(0), 20.0);
    }

    #[test]
    fn acknowledgements_count_whatever_they_acknowledge() {
        for mut connection in [linux(&[(2.0, 100)]), linux(&[(2.0, 100), (2.0, 0)])] {
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
    }

    #[test]
    fn subflows_that_nothing_couples_count_to_their_window() {
        let mut connection = linux(&[(10.0, 100), (10.0, 100)]);
        connection.change(1, Change::Closed);
        assert_eq!(acks_to_change(&mut connection, 0), (11, 11.0));
        let mut connection = linux(&[(10.0, 0), (10.0, 100)]);
        assert_eq!(acks_to_change(&mut connection, 0), (11, 11.0));
    }

    #[test]
    fn a_subflow_without_an_rtt_is_not_in_the_sums() {
        // 1024 / 10 = 102.4: 102 * 11 is the first above 1022.
        let mut connection = linux(&[(10.0, 100), (30.0, 0)]);
        is_best(&mut connection, 0);
        assert_eq!(acks_to_change(&mut connection, 0), (11, 11.0));
    }

    #[test]
    fn losses_halve_whole_packets_and_keep_the_steps() {
        let mut connection = linux(&[(15.0, 100), (15.0, 100)]);
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (7.0, 7.0));
        connection.loss(1, Loss::Timeout);
        assert_eq!((connection.window(1), connection.ssthresh(1)), (1.0, 7.0));

        let mut connection = linux(&[(20.0, 100), (10.0, 100)]);
        for _ in 0..20 {
            connection.ack(0, 1, 0); // 1024 * 20 / 30^2 = 22.8
        }
        connection.loss(0, Loss::FastRetransmit);
        // 440 are counted, 24 * 25 = 600 are more than what is missing.
        assert_eq!(acks_to_change(&mut connection, 0), (24, 11.0));
    }

    #[test]
    fn l_sees_acknowledgements_outside_recovery() {
        // Subflow 1 has l = 30 unless the 1000 packets are seen; subflow 0 has 100.
        for (recovery, best) in [(true, 0), (false, 1)] {
            let mut connection = linux(&[(10.0, 100), (10.0, 100), (40.0, 100)]);
            for (r, acked) in [(0, 99), (1, 29)] {
                (connection.paths[r].acked, connection.paths[r].sent) = (acked, acked);
                connection.ack_as(r, 1, 0, false, false);
            }
            (connection.paths[1].acked, connection.paths[1].sent) = (1000, 1000);
            connection.ack_as(1, 1, 0, recovery, false);
            // A loss now moves the marks to what was seen.
            connection.loss(1, Loss::FastRetransmit);
            (connection.paths[1].window, connection.paths[1].in_recovery) = (10.0, false);
            // 1024 (10 / 60^2 + 1/30) = 36.9 or 1024 * 10 / 60^2 = 2.8.
            let acks = if best == 0 { 29 } else { 512 };
            assert_eq!(acks_to_change(&mut connection, 0), (acks, 11.0));
        }
    }

    #[test]
    fn failed_subflows_do_not_count_until_they_recover() {
        // 1024 * 10 / 20^2 = 25.6 and 1024 * 10 / 30^2 = 11.4.
        for (change, acks) in [(Change::Failed, 41), (Change::Recovered, 93)] {
            let mut connection = linux(&[(10.0, 100); 3]);
            connection.change(2, Change::Failed);
            connection.change(2, change);
            assert_eq!(acks_to_change(&mut connection, 0), (acks, 11.0));
        }
    }

    #[test]
    fn a_subflow_that_opens_again_has_carried_and_counted_nothing() {
        let mut connection = linux(&[(20.0, 100), (10.0, 100)]);
        is_best(&mut connection, 1);
        for _ in 0..10 {
            connection.ack(1, 1, 0);
        }
        connection.change(1, Change::Opened);
        connection.ack(0, 1, 0);
        // Subflow 0 has carried a packet, 1 none until its first acknowledgement: then it is best.
        assert_eq!(acks_to_change(&mut connection, 1), (17, 11.0));

        let mut connection = linux(&[(20.0, 100), (10.0, 100)]);
        is_best(&mut connection, 1);
        connection.change(1, Change::Opened);
        // 1024 * 20 / 30^2 = 22.8 now that it shrinks for nobody.
        assert_eq!(acks_to_change(&mut connection, 0), (47, 21.0));
    }
}
