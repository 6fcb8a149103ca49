//! wVegas as the Linux module computes it: the arithmetic is at the top of [`wvegas`](super).

use super::{SMALLEST_ALPHA, TOO_FEW_SAMPLES};
use crate::linux::{self, cwnd};
use crate::{Ack, Change, Controller, Loss, Parameters, Path, Paths, PerSubflow, Round, SubflowId};
use pathweave_units::Time;

/// Bits behind the point of rates, weights and the share that a drain leaves.
const SCALE: u32 = 16;

/// No round leaves fewer packets.
const SMALLEST_WINDOW: f64 = 2.0;

#[derive(Clone, Debug)]
pub struct WVegas {
    total_alpha: u64,
    gamma: u32,
    subflows: PerSubflow<Subflow>,
}

#[derive(Clone, Debug)]
struct Subflow {
    round: Round,
    samples: u32,
    /// In microseconds.
    sum_of_samples: u64,
    /// Packets a microsecond when alpha was last worked out; 0 before that.
    rate: u64,
    weight: u64,
    alpha: u32,
    /// q, in microseconds; 0 if nothing was seen.
    smallest_delay: u32,
    /// Reno's count of packets in congestion avoidance.
    counted: u32,
    /// After a loss: the packets that were in flight, until whose acknowledgement the subflow is Reno.
    recovering: Option<Round>,
}

/// What a round tells of the queues on the path: mean and smallest RTT in microseconds.
struct Queues {
    rtt: u32,
    base: u32,
}

/// The RTT in whole microseconds, and 1 more.
fn micros(rtt: Time) -> u32 {
    u32::try_from(rtt.as_picos() / 1_000_000 + 1).unwrap_or(u32::MAX)
}

impl Queues {
    fn delay(&self) -> u32 {
        self.rtt.saturating_sub(self.base)
    }

    /// diff.
    fn packets(&self, cwnd: u32) -> u32 {
        (u64::from(cwnd) * u64::from(self.delay()) / u64::from(self.rtt)) as u32
    }

    /// What would fill the path and no queue.
    fn target(&self, cwnd: u32) -> u32 {
        (u64::from(cwnd) * u64::from(self.base) / u64::from(self.rtt)) as u32
    }
}

impl Subflow {
    fn new(alpha: u32) -> Subflow {
        Subflow {
            round: Round::STARTING,
            samples: 0,
            sum_of_samples: 0,
            rate: 0,
            weight: 1 << SCALE,
            alpha,
            smallest_delay: 0,
            counted: 0,
            recovering: None,
        }
    }

    /// Ends the round, and says what it tells if it has enough samples.
    fn end_round(&mut self, path: &Path) -> Option<Queues> {
        let (samples, sum) = (self.samples, self.sum_of_samples);
        (self.samples, self.sum_of_samples) = (0, 0);
        (samples > TOO_FEW_SAMPLES).then(|| Queues {
            rtt: (sum / u64::from(samples)) as u32,
            base: micros(path.minimum_rtt),
        })
    }

    /// Linux's Reno: slow start up to ssthresh, and with what is left a packet for a window's packets.
    fn reno(&mut self, path: &mut Path, packets: u32) {
        let before = cwnd(path);
        let counted = if linux::slow_start(path, packets) {
            packets.min(path.slow_start_limit)
        } else {
            packets
        };
        let window = cwnd(path);
        let left = counted - (window - before);
        if left == 0 {
            return;
        }
        self.counted += left;
        let full = self.counted / window;
        self.counted -= full * window;
        path.window = f64::from(window + full);
    }

    /// Notes the queueing delay of a round and returns whether it has doubled.
    fn is_to_drain(&mut self, delay: u32) -> bool {
        if self.smallest_delay == 0 || self.smallest_delay > delay {
            self.smallest_delay = delay;
        }
        let doubled = delay >= 2 * self.smallest_delay;
        if doubled {
            self.smallest_delay = 0;
        }
        doubled
    }
}

/// ssthresh below the window, so that slow start is over.
fn leave_slow_start(path: &mut Path) {
    path.ssthresh = path.ssthresh.min(path.window - 1.0);
}

impl WVegas {
    pub fn new(parameters: &Parameters) -> WVegas {
        WVegas {
            total_alpha: parameters.number("total_alpha") as u64,
            gamma: parameters.number("gamma") as u32,
            subflows: PerSubflow::new(Subflow::new(parameters.number("initial_alpha") as u32)),
        }
    }

    /// Works out rate, weight and alpha of subflow `r`, whose round has given `samples`.
    fn share(&mut self, paths: &Paths<'_>, r: SubflowId, rtt: u32) {
        let rate = (u64::from(cwnd(&paths[r])) << SCALE) / u64::from(rtt);
        let others = paths.iter().zip(self.subflows.iter()).enumerate();
        let total: u64 = others
            .filter(|(i, (path, subflow))| {
                *i != r.0 as usize && path.is_active() && subflow.samples > 0
            })
            .map(|(_, (_, subflow))| subflow.rate)
            .sum();
        let subflow = self.subflows.get(r);
        subflow.rate = rate;
        if rate > 0 {
            subflow.weight = (rate << SCALE) / (rate + total);
        }
        let alpha = ((subflow.weight * self.total_alpha) >> SCALE) as u32;
        subflow.alpha = alpha.max(SMALLEST_ALPHA as u32);
    }

    /// The end of a round of congestion avoidance.
    fn avoid_congestion(
        &mut self,
        paths: &mut Paths<'_>,
        r: SubflowId,
        queues: &Queues,
        window_limited: bool,
    ) {
        let packets = queues.packets(cwnd(&paths[r]));
        if packets >= self.subflows.get(r).alpha {
            self.share(paths, r, queues.rtt);
        }
        let (subflow, path) = (self.subflows.get(r), &mut paths[r]);
        let window = f64::from(cwnd(path));
        if packets > subflow.alpha {
            path.window = window - 1.0;
            leave_slow_start(path);
        } else if packets < subflow.alpha && window_limited {
            path.window = window + 1.0;
        }
        if subflow.is_to_drain(queues.delay()) {
            let left = (u64::from(queues.base) << SCALE) / (2 * u64::from(queues.rtt));
            path.window = f64::from(((u64::from(cwnd(path)) * left) >> SCALE) as u32);
        }
    }
}

impl Controller for WVegas {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        let (subflow, path) = (self.subflows.get(r), &mut paths[r]);
        if let Some(rtt) = ack.rtt {
            subflow.samples += 1;
            subflow.sum_of_samples += u64::from(micros(rtt));
        }
        if ack.recovery {
            return;
        }
        if let Some(lost) = subflow.recovering {
            if !lost.is_over(path) {
                if ack.window_limited {
                    subflow.reno(path, ack.packets);
                }
                return;
            }
            self.subflows.restart(r);
            self.subflows.get(r).round = Round::beginning(path);
        }
        let subflow = self.subflows.get(r);
        if !subflow.round.advance(path) {
            if ack.window_limited {
                linux::slow_start(path, ack.packets);
            }
            return;
        }
        let Some(queues) = subflow.end_round(path) else {
            if ack.window_limited {
                subflow.reno(path, ack.packets);
            }
            return;
        };
        if !path.in_slow_start() {
            self.avoid_congestion(paths, r, &queues, ack.window_limited);
        } else if queues.packets(cwnd(path)) > self.gamma {
            path.window = f64::from(cwnd(path).min(queues.target(cwnd(path)) + 1));
            leave_slow_start(path);
        } else if ack.window_limited {
            linux::slow_start(path, ack.packets);
        }
        let path = &mut paths[r];
        let floor = libm::ceil(path.minimum_window).max(SMALLEST_WINDOW);
        path.window = path.window.max(floor);
        let window = cwnd(path);
        path.ssthresh = path.ssthresh.max(f64::from((window >> 1) + (window >> 2)));
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, _now: Time) {
        let (subflow, path) = (self.subflows.get(r), &mut paths[r]);
        linux::respond(path, loss, linux::half(path));
        subflow.counted = 0;
        subflow.recovering = Some(Round::beginning(path));
        if loss.restarts() {
            subflow.rate = 0;
        }
    }

    fn on_subflow(&mut self, _paths: &mut Paths<'_>, r: SubflowId, change: Change) {
        if change.begins() {
            self.subflows.restart(r);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::greedy_sender::{GreedySender, number, text};
    use crate::wvegas::tests::with;
    use crate::{Change, Loss};
    use pathweave_units::Time;

    /// Subflows that have a smallest RTT of 100 us, which the module takes for 101.
    fn linux(parameters: &[(&str, f64)], windows: &[f64]) -> GreedySender {
        let mut given = std::vec![text("variant", "linux")];
        given.extend(parameters.iter().map(|&(name, value)| number(name, value)));
        with(&given, windows)
    }

    /// A round of subflow `r` with this RTT in microseconds, and the window that it leaves.
    fn round(connection: &mut GreedySender, r: usize, micros: u64) -> f64 {
        connection.round_after(r, Time::from_micros(micros));
        connection.window(r)
    }

    #[test]
    fn a_subflow_that_fills_its_own_queue_drains_it_when_the_delay_has_doubled() {
        let mut connection = linux(&[], &[40.0]);
        // 1 packet in queues is less than 2; 3 are 2 or more, and from then on the aim is 10.
        assert_eq!(round(&mut connection, 0, 105), 41.0);
        assert_eq!(connection.ssthresh(0), 30.0);
        assert_eq!(round(&mut connection, 0, 109), 42.0);
        assert_eq!(connection.ssthresh(0), 31.0);
        // 10 us are twice 5: 43 * 101 / 222.
        assert_eq!(round(&mut connection, 0, 110), 19.0);
        assert_eq!(connection.ssthresh(0), 31.0, "3/4 of the window before");
        connection.ack(0, 5, 0);
        assert_eq!(connection.window(0), 24.0, "slow start leads back there");
        // The paper's does not: diff has not reached alpha.
        let mut paper = with(&[], &[40.0]);
        for micros in [105, 109, 110] {
            round(&mut paper, 0, micros);
        }
        assert_eq!(paper.window(0), 43.0);
    }

    #[test]
    fn the_smallest_delay_counts_and_starts_afresh_with_a_drain() {
        let mut connection = linux(&[], &[40.0]);
        assert_eq!(round(&mut connection, 0, 107), 41.0);
        assert_eq!(round(&mut connection, 0, 104), 42.0);
        assert_eq!(round(&mut connection, 0, 107), 43.0);
        // 8 is twice 4: 44 * 101 / 218.
        assert_eq!(round(&mut connection, 0, 108), 20.0);
        connection.paths[0].window = 40.0;
        assert_eq!(round(&mut connection, 0, 109), 41.0);
        assert_eq!(round(&mut connection, 0, 117), 42.0);
        assert_eq!(round(&mut connection, 0, 118), 18.0);
    }

    #[test]
    fn no_delay_is_twice_no_delay() {
        let mut connection = linux(&[], &[40.0]);
        assert_eq!(round(&mut connection, 0, 100), 20.0);
        assert_eq!(connection.ssthresh(0), 15.0);
    }

    #[test]
    fn the_window_follows_the_packets_in_queues() {
        // 40 * 33 / 134 is 9; 40 * 34 / 135 and 40 * 36 / 137 are 10, and 40 * 38 / 139 is 10.9.
        for (micros, window) in [
            (133, 41.0),
            (134, 40.0),
            (136, 40.0),
            (138, 40.0),
            (139, 39.0),
        ] {
            let mut connection = linux(&[], &[40.0]);
            assert_eq!(round(&mut connection, 0, micros), window, "{micros}");
        }
    }

    #[test]
    fn a_packet_less_takes_ssthresh_below_the_window() {
        for (before, after) in [(1.0, 28.0), (39.5, 38.0)] {
            let mut connection = linux(&[("total_alpha", 2.0)], &[40.0]);
            connection.paths[0].ssthresh = before;
            assert_eq!(round(&mut connection, 0, 130), 39.0);
            assert_eq!(connection.ssthresh(0), after);
        }
    }

    #[test]
    fn slow_start_ends_with_more_than_gamma_packets_in_queues() {
        // 9 acknowledgements add a packet each; 19 * 20 / 121 is 3, and 19 * 101 / 121 is 15.
        for (gamma, window, ssthresh) in [(1.0, 16.0, 15.0), (2.0, 16.0, 15.0), (3.0, 20.0, 1000.0)]
        {
            let mut connection = linux(&[("gamma", gamma)], &[10.0]);
            connection.paths[0].ssthresh = 1000.0;
            assert_eq!(round(&mut connection, 0, 120), window);
            assert_eq!(connection.ssthresh(0), ssthresh);
        }
        let mut connection = linux(&[], &[10.0]);
        connection.paths[0].ssthresh = 14.0;
        round(&mut connection, 0, 100);
        assert_eq!(connection.ssthresh(0), 14.0, "slow start has reached it");
    }

    /// Two subflows, of which the second has reached 2 packets in queues; it has an RTT sample in its present round
    /// if `sampled`. The windows are 30 and 11.
    fn two(sampled: bool) -> GreedySender {
        let mut connection = linux(&[], &[30.0, 10.0]);
        assert_eq!(round(&mut connection, 1, 130), 11.0);
        if sampled {
            connection.ack_after(1, Time::from_micros(130));
        }
        connection
    }

    /// What a round of the first subflow with 6 packets in queues and then one with 8 leave.
    fn after_six_and_eight(connection: &mut GreedySender) -> f64 {
        assert_eq!(round(connection, 0, 130), 31.0);
        round(connection, 0, 137)
    }

    #[test]
    fn alpha_is_the_share_of_those_who_have_sampled_their_round() {
        // (30 << 16) / 131 and (10 << 16) / 131: 3/4 of 10 packets.
        assert_eq!(after_six_and_eight(&mut two(true)), 30.0);
        assert_eq!(after_six_and_eight(&mut two(false)), 32.0);
    }

    #[test]
    fn failed_subflows_have_no_share_until_they_recover() {
        for change in [Change::Failed, Change::StoodBy, Change::Closed] {
            let mut connection = two(true);
            connection.change(1, change);
            assert_eq!(after_six_and_eight(&mut connection), 32.0, "{change:?}");
            connection.change(1, Change::Recovered);
            // 10 packets reach alpha, which is 7 again.
            assert_eq!(round(&mut connection, 0, 148), 31.0, "{change:?}");
        }
    }

    #[test]
    fn a_timeout_leaves_no_rate_and_a_fast_retransmit_does() {
        let mut connection = two(true);
        connection.loss(1, Loss::Timeout);
        assert_eq!(after_six_and_eight(&mut connection), 32.0);
        let mut connection = two(true);
        connection.loss(1, Loss::FastRetransmit);
        assert_eq!(after_six_and_eight(&mut connection), 30.0);
    }

    #[test]
    fn two_samples_are_too_few() {
        for (samples, window) in [(2, 5.0), (3, 4.0)] {
            let mut connection = linux(&[("total_alpha", 1.0)], &[5.0]);
            for _ in 0..5 - samples {
                connection.ack(0, 1, 0);
            }
            for _ in 0..samples {
                connection.ack_after(0, Time::from_micros(300));
            }
            assert_eq!(connection.window(0), window);
        }
    }

    #[test]
    fn it_is_reno_until_what_was_in_flight_at_a_loss_has_been_acknowledged() {
        let mut connection = linux(&[], &[40.0]);
        connection.loss(0, Loss::FastRetransmit);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (20.0, 20.0));
        for _ in 0..19 {
            connection.ack_after(0, Time::from_micros(200));
        }
        assert_eq!(connection.window(0), 20.0);
        for _ in 19..40 {
            connection.ack(0, 1, 0);
            assert_eq!(connection.window(0), 21.0);
        }
        // 20 of 21 are counted. The next packet was not in flight: it belongs to a round of wVegas.
        connection.ack(0, 1, 0);
        assert_eq!(connection.window(0), 21.0);

        let mut connection = linux(&[], &[40.0]);
        connection.loss(0, Loss::Timeout);
        assert_eq!((connection.window(0), connection.ssthresh(0)), (1.0, 20.0));
        for (packets, window) in [(5, 6.0), (30, 20.0), (3, 20.0), (1, 21.0)] {
            connection.ack(0, packets, 0);
            assert_eq!(connection.window(0), window);
        }
    }

    /// What a round that has just begun leaves of 40 packets, with this RTT in microseconds.
    fn rest_of_round(connection: &mut GreedySender, micros: u64) -> f64 {
        for _ in 0..45 {
            connection.ack_after(0, Time::from_micros(micros));
            if connection.window(0) != 40.0 {
                break;
            }
        }
        connection.window(0)
    }

    #[test]
    fn a_loss_leaves_initial_alpha_and_no_delay() {
        // 4 packets in queues are less than 5, and 2 from the first round on; 30 us are twice 15 us.
        for (micros, window) in [(112, 41.0), (130, 39.0)] {
            let alphas = [("initial_alpha", 5.0), ("total_alpha", 2.0)];
            let mut connection = linux(&alphas, &[40.0]);
            assert_eq!(round(&mut connection, 0, 115), 39.0);
            connection.paths[0].window = 80.0;
            connection.loss(0, Loss::FastRetransmit);
            let in_flight = connection.paths[0].sent - connection.paths[0].acked;
            for _ in 0..=in_flight {
                connection.paths[0].window = 40.0;
                connection.ack(0, 1, 0);
            }
            assert_eq!(rest_of_round(&mut connection, micros), window);
        }
    }

    #[test]
    fn windows_do_not_fall_below_their_minimum() {
        for (minimum, window) in [(1.0, 3.0), (2.5, 3.0), (3.5, 4.0), (5.0, 5.0)] {
            let mut connection = linux(&[("total_alpha", 1.0)], &[4.0]);
            connection.paths[0].minimum_window = minimum;
            assert_eq!(round(&mut connection, 0, 1000), window);
        }
        // 600 us are twice 300 us, and a drain leaves 5 * 101 / 1402.
        let mut connection = linux(&[], &[3.0]);
        connection.paths[0].minimum_window = 1.0;
        assert_eq!(round(&mut connection, 0, 400), 4.0);
        assert_eq!(round(&mut connection, 0, 700), 2.0);
    }

    #[test]
    fn no_growth_in_recovery_or_unused() {
        for ssthresh in [1.0, 100.0] {
            let mut connection = linux(&[], &[40.0]);
            connection.paths[0].ssthresh = ssthresh;
            connection.ack_as(0, 1, 0, true, true);
            for _ in 0..60 {
                connection.unlimited_ack_after(0, Time::from_micros(101));
            }
            assert_eq!(connection.window(0), 40.0);
            connection.loss(0, Loss::Timeout);
            connection.ack_as(0, 1, 0, false, false);
            assert_eq!(connection.window(0), 1.0);
        }
    }

    #[test]
    fn a_subflow_that_opens_again_has_seen_nothing() {
        let mut connection = linux(&[], &[40.0]);
        assert_eq!(round(&mut connection, 0, 105), 41.0);
        connection.paths[0].window = 40.0;
        connection.change(0, Change::Opened);
        connection.ack(0, 1, 0);
        let window = rest_of_round(&mut connection, 110);
        assert_eq!(window, 41.0, "q is 10 us and not 5");
    }
}
