//! RED's average queue and how it spreads marks (Floyd and Jacobson 1993).

use pathweave_units::Time;

/// The average of a port's queue, from which RED computes the marking probability.
///
/// Each arriving packet moves the average by `weight` times the difference from the current queue. While the link is idle, the
/// average decays as if packets arrived at an empty queue, one for each that the link could have sent. They have the size of
/// the packet that ends the idle time (a ruling; the paper leaves "a small packet" to the implementation).
#[derive(Clone, Debug)]
pub(crate) struct AverageQueue {
    weight: f64,
    average: f64,
    /// Idle times until then are in the average.
    decayed_until: Time,
    /// Packets since the last mark, while the average is above the lower threshold.
    unmarked: u32,
}

impl AverageQueue {
    pub fn new(weight: f64) -> AverageQueue {
        AverageQueue {
            weight,
            average: 0.0,
            decayed_until: Time::ZERO,
            unmarked: 0,
        }
    }

    /// A packet that the link sends within `transmission` ends, or interrupts, an idle time.
    pub fn decay_while_idle(&mut self, idle_since: Time, now: Time, transmission: Time) {
        let idle = now.saturating_sub(idle_since.max(self.decayed_until));
        let packets = idle.as_picos() / transmission.as_picos().max(1);
        self.average *= power(1.0 - self.weight, packets);
        self.decayed_until = now;
    }

    /// The port is empty, as after a failure: the average starts again.
    pub fn restart(&mut self) {
        self.average = 0.0;
        self.unmarked = 0;
    }

    /// A packet arrives that finds this many waiting. Returns the average.
    pub fn on_arrival(&mut self, waiting: u32) -> f64 {
        self.average += self.weight * (f64::from(waiting) - self.average);
        self.average
    }

    /// The probability of marking the packet that has just been seen. `probability` is what the average alone gives: it grows
    /// with each packet that was not marked, so that the distances between marks are uniform and not geometric.
    pub fn mark_probability(&mut self, probability: f64) -> f64 {
        let left = 1.0 - f64::from(self.unmarked) * probability;
        self.unmarked += 1;
        if left > probability {
            probability / left
        } else {
            1.0
        }
    }

    /// Restarts the count of unmarked packets: one was marked, or the average is below the lower threshold.
    pub fn restart_count(&mut self) {
        self.unmarked = 0;
    }
}

/// `base^exponent` for a base from 0 to 1, by multiplications only: the same bits on any machine.
fn power(base: f64, exponent: u64) -> f64 {
    let (mut result, mut square, mut left) = (1.0, base, exponent);
    while left > 0 && result > 0.0 {
        if left % 2 == 1 {
            result *= square;
        }
        square *= square;
        left /= 2;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_average_follows_the_queue_by_its_weight() {
        let mut queue = AverageQueue::new(0.25);
        // 0.25 * 8 = 2; 2 + 0.25 * (8 - 2) = 3.5; 3.5 + 0.25 * (0 - 3.5) = 2.625.
        assert_eq!(
            [8, 8, 0].map(|waiting| queue.on_arrival(waiting)),
            [2.0, 3.5, 2.625]
        );
    }

    fn at(packets: f64) -> Time {
        Time::from_picos((packets * 1_200_000.0) as u64)
    }

    #[test]
    fn an_idle_time_counts_once() {
        let mut queue = AverageQueue::new(0.5);
        queue.on_arrival(64);
        // The packet that arrives at 2 is refused, so that the link stays idle.
        queue.decay_while_idle(at(0.0), at(2.0), at(1.0));
        queue.decay_while_idle(at(0.0), at(3.0), at(1.0));
        assert_eq!(queue.average, 32.0 / 8.0);
    }

    #[test]
    fn an_idle_time_counts_as_packets_that_find_nothing() {
        for packets in [0, 1, 2, 7, 40] {
            let mut idle = AverageQueue::new(0.125);
            let mut seen = idle.clone();
            idle.on_arrival(64);
            seen.on_arrival(64);
            // Half a packet more makes no packet.
            idle.decay_while_idle(at(3.0), at(3.5 + packets as f64), at(1.0));
            for _ in 0..packets {
                seen.on_arrival(0);
            }
            assert!((idle.average - seen.average).abs() < 1e-12 * seen.average);
        }
        let mut long = AverageQueue::new(0.002);
        long.on_arrival(64);
        long.decay_while_idle(Time::ZERO, Time::MAX, Time::from_picos(1));
        assert_eq!(long.average, 0.0);
    }

    #[test]
    fn marks_are_spread_evenly_between_one_packet_and_one_over_the_probability() {
        // 1/(1 - i p) of p = 1/4: 1/4, 1/3, 1/2, 1. The distance to the next mark is 1 to 4 packets with a chance of 1/4 each.
        let mut queue = AverageQueue::new(0.002);
        let chances: Vec<f64> = (0..4).map(|_| queue.mark_probability(0.25)).collect();
        let mut unmarked = 1.0;
        for chance in chances {
            assert!((unmarked * chance - 0.25_f64).abs() < 1e-12);
            unmarked *= 1.0 - chance;
        }
        queue.restart_count();
        assert_eq!(queue.mark_probability(0.25), 0.25);
        assert_eq!(AverageQueue::new(0.002).mark_probability(1.0), 1.0);
    }
}
