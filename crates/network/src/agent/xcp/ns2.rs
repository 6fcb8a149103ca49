//! What the reference code of XCP for ns-2 (Katabi) adds to the paper: budgets, and an interval of its own
//! for the queue.

use super::variant::Variant;
use super::{ALPHA, larger, smaller};
use crate::queue::Limit;
use crate::setup::LinkSetup;
use pathweave_units::Time;

/// The first control interval and the first interval of the queue, seconds.
const FIRST_INTERVAL: f64 = 0.05;
const SHORTEST_QUEUE_INTERVAL: f64 = 0.002;
const PACKET_BYTES: f64 = 1500.0;

/// Budgets and the queue's interval.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Bytes by which packets may still raise windows in this control interval.
    positive_budget: f64,
    /// Bytes by which they may still lower them.
    negative_budget: f64,
    /// Q, bytes: the smallest queue of the last interval of the queue.
    persistent_queue: u32,
    smallest_queue: u32,
    queue_ends: Time,
}

impl Variant for Reference {
    /// Two budgets, the queue, its smallest value, and the end of its interval, 8 bytes each.
    const STATE_BYTES: u64 = 5 * 8;
    /// Next to nothing.
    const FIRST_XI_P: f64 = 1000.0;
    /// The code calls it experimental.
    const FACTOR: f64 = 1.1;

    fn new(setup: &LinkSetup) -> Reference {
        let limit = match setup.queue.limit {
            Limit::None => f64::INFINITY,
            Limit::Packets(packets) => f64::from(packets) * PACKET_BYTES,
            Limit::Bytes(bytes) => bytes.get() as f64,
        };
        let fills = ALPHA * setup.rate.as_bps() as f64 / 8.0 * FIRST_INTERVAL;
        Reference {
            positive_budget: (limit / 2.0).min(fills),
            negative_budget: 0.0,
            persistent_queue: 0,
            smallest_queue: 0,
            queue_ends: Time::from_secs_f64(FIRST_INTERVAL),
        }
    }

    fn first_interval(_setup: &LinkSetup) -> f64 {
        FIRST_INTERVAL
    }

    #[inline(always)]
    fn interval_ends(&self) -> Time {
        self.queue_ends
    }

    fn catch_up(&mut self, now: Time, queue: u32, rtt: f64, capacity: f64) {
        while self.queue_ends <= now {
            self.persistent_queue = self.smallest_queue;
            self.smallest_queue = queue;
            let drained = (rtt - f64::from(queue) / capacity) / 2.0;
            let interval = drained.max(SHORTEST_QUEUE_INTERVAL);
            self.queue_ends += Time::from_secs_f64(interval);
        }
    }

    fn persistent_queue(&self) -> u32 {
        self.persistent_queue
    }

    fn set_budgets(&mut self, positive: f64, negative: f64) {
        self.positive_budget = positive;
        self.negative_budget = negative;
    }

    #[inline(always)]
    fn see_before_service(&mut self, queue: u32) {
        self.smallest_queue = self.smallest_queue.min(queue);
    }

    /// What the budgets have left; charges them.
    #[inline(always)]
    fn grant(
        &mut self,
        positive: f64,
        negative: f64,
        elsewhere: f64,
        _intervals: impl FnOnce() -> f64,
    ) -> (f64, f64) {
        let positive = smaller(positive, self.positive_budget);
        let negative = smaller(negative, self.negative_budget);
        let granted = positive - negative;
        let (raised, lowered) = if elsewhere >= granted {
            (positive, negative)
        } else {
            // What this port would have granted more is the others' to give up.
            let unused = larger(granted, 0.0) - larger(elsewhere, 0.0);
            (larger(elsewhere, 0.0), larger(-elsewhere, 0.0) + unused)
        };
        self.positive_budget = larger(self.positive_budget - raised, 0.0);
        self.negative_budget = larger(self.negative_budget - lowered, 0.0);
        (positive, negative)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::QueueConfig;
    use pathweave_units::Rate;

    fn reference() -> Reference {
        Reference::new(&LinkSetup {
            queue: QueueConfig {
                limit: Limit::Packets(200),
                ..QueueConfig::default()
            },
            ..LinkSetup::plain((0, 1), Rate::from_gbps(1), Time::ZERO)
        })
    }

    #[test]
    fn the_first_positive_budget_is_half_the_queue_s_limit() {
        assert_eq!(reference().positive_budget, 150_000.0);
        assert_eq!(reference().negative_budget, 0.0);
    }

    #[test]
    fn budgets_deplete_to_nothing() {
        let mut reference = reference();
        reference.set_budgets(1000.0, 500.0);
        let infinite = f64::INFINITY;
        assert_eq!(
            reference.grant(600.0, 100.0, infinite, || 1.0),
            (600.0, 100.0)
        );
        assert_eq!(
            reference.grant(600.0, 100.0, infinite, || 1.0),
            (400.0, 100.0)
        );
        assert_eq!(
            reference.grant(600.0, 900.0, infinite, || 1.0),
            (0.0, 300.0)
        );
        assert_eq!(reference.grant(600.0, 900.0, infinite, || 1.0), (0.0, 0.0));
    }

    #[test]
    fn what_others_do_not_grant_is_charged_to_the_negative_budget() {
        for (elsewhere, left) in [
            // 400 would be granted: 300 are left unused.
            (100.0, (900.0, 200.0)),
            // All 400 are, and 50 more are taken elsewhere.
            (-50.0, (1000.0, 50.0)),
            // Exactly what is granted here.
            (400.0, (500.0, 400.0)),
        ] {
            let mut reference = reference();
            reference.set_budgets(1000.0, 500.0);
            assert_eq!(
                reference.grant(500.0, 100.0, elsewhere, || 1.0),
                (500.0, 100.0)
            );
            let (positive, negative) = (reference.positive_budget, reference.negative_budget);
            assert_eq!((positive, negative), left, "{elsewhere}");
        }
    }

    #[test]
    fn a_decrease_that_others_exceed_is_charged_as_theirs() {
        let mut reference = reference();
        reference.set_budgets(1000.0, 500.0);
        reference.grant(100.0, 200.0, -300.0, || 1.0);
        assert_eq!(reference.positive_budget, 1000.0);
        assert_eq!(reference.negative_budget, 200.0);
    }

    #[test]
    fn the_queue_has_an_interval_of_its_own() {
        let mut reference = reference();
        let capacity = 125e6;
        // The first ends after 50 ms, the next after (20 ms - 4 ms) / 2.
        reference.catch_up(Time::from_millis(50), 500_000, 0.02, capacity);
        assert_eq!(reference.queue_ends, Time::from_millis(58));
        reference.see_before_service(30_000);
        reference.see_before_service(40_000);
        assert_eq!(reference.persistent_queue, 0);
        reference.catch_up(Time::from_millis(58), 40_000, 0.001, capacity);
        assert_eq!(reference.persistent_queue, 30_000);
        // No less than 2 ms.
        assert_eq!(reference.queue_ends, Time::from_millis(60));
    }
}
