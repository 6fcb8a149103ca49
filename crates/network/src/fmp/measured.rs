//! What ports did in past feedback periods, for prices other than the current queue.
//!
//! All switches read the counters of their ports at every multiple of the feedback period. A switch that receives a
//! message adds the share of the last complete period: the growth of one counter divided by that of another. Before the
//! first period has ended it adds zero.
//!
//! Prices can be recalled long after they were told ([`super::recall`]), so the shares of past periods are kept that
//! long.

use pathweave_fabric::routing::FmpPrice;
use pathweave_units::Time;
use std::collections::VecDeque;

/// What a port has counted since the run began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    /// The numerator of a share.
    pub part: u128,
    /// The denominator, in the same unit.
    pub whole: u128,
}

impl Counted {
    /// The share since `earlier`; zero if the denominator has not grown.
    fn share_since(&self, earlier: &Counted) -> f64 {
        match self.whole.saturating_sub(earlier.whole) {
            0 => 0.0,
            whole => {
                let part = self.part.saturating_sub(earlier.part);
                // The share can exceed 1: a link whose rate has just fallen has sent more than that rate allows, and
                // full queues still take feedback.
                (part as f64 / whole as f64).min(1.0)
            }
        }
    }
}

/// A feedback period that is over.
#[derive(Clone, Debug, Default)]
struct Period {
    end: Time,
    /// By link.
    shares: Vec<f64>,
}

/// The shares of all ports in the last feedback periods.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    price: FmpPrice,
    /// The links whose ports have prices.
    links: Vec<u32>,
    /// By link: its counters at the end of the last period.
    counted: Vec<Counted>,
    /// Oldest first.
    periods: VecDeque<Period>,
}

impl Measured {
    /// For a fabric with this many links, of which those in `priced` have prices.
    pub fn new(price: FmpPrice, links: usize, priced: Vec<u32>) -> Measured {
        Measured {
            price,
            links: priced,
            counted: vec![Counted::default(); links],
            periods: VecDeque::new(),
        }
    }

    /// What is measured.
    pub fn price(&self) -> FmpPrice {
        self.price
    }

    /// The links whose ports are measured.
    pub fn links(&self) -> &[u32] {
        &self.links
    }

    /// What a link's port had counted at the last reading.
    pub fn counted(&self, link: u32) -> Counted {
        self.counted[link as usize]
    }

    /// When the last period ended.
    pub fn end(&self) -> Time {
        self.periods.back().map_or(Time::ZERO, |last| last.end)
    }

    /// Ends a period; [`Measured::count`] must follow for each link. Shares at times before `kept` will not be needed
    /// any more.
    pub fn end_period(&mut self, now: Time, kept: Time) {
        let mut period = Period::default();
        // The share at a time is that of the last period that had ended by then.
        while self.periods.get(1).is_some_and(|next| next.end <= kept)
            && let Some(forgotten) = self.periods.pop_front()
        {
            period = forgotten;
        }
        period.end = now;
        period.shares.resize(self.counted.len(), 0.0);
        self.periods.push_back(period);
    }

    /// Sets what a link's port had counted at the end of the last period.
    pub fn count(&mut self, link: u32, counted: Counted) {
        let before = std::mem::replace(&mut self.counted[link as usize], counted);
        if let Some(period) = self.periods.back_mut() {
            period.shares[link as usize] = counted.share_since(&before);
        }
    }

    /// The share of a link's port in the last period that had ended by `time`.
    pub fn share(&self, link: u32, time: Time) -> f64 {
        let over = self.periods.partition_point(|period| period.end <= time);
        let last = over.checked_sub(1).and_then(|last| self.periods.get(last));
        last.map_or(0.0, |period| period.shares[link as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(part: u128, whole: u128) -> Counted {
        Counted { part, whole }
    }

    #[test]
    fn a_share_is_what_was_added_within_the_period() {
        let since = |(part, whole), earlier| counted(part, whole).share_since(&earlier);
        assert_eq!(since((9, 40), counted(4, 20)), 0.25);
        assert_eq!(since((4, 40), counted(4, 20)), 0.0);
        // Nothing was offered; then a link became slower.
        assert_eq!(since((4, 20), counted(4, 20)), 0.0);
        assert_eq!(since((90, 40), counted(4, 20)), 1.0);
    }

    #[test]
    fn shares_are_known_as_long_as_they_are_asked_for() {
        let period = |number: u64| Time::from_micros(100 * number);
        let mut measured = Measured::new(FmpPrice::Marks, 3, vec![1]);
        assert_eq!(measured.share(1, period(7)), 0.0);
        for number in 1..100 {
            let kept = period(number).saturating_sub(Time::from_micros(450));
            measured.end_period(period(number), kept);
            let before = measured.counted(1);
            // The share of period n is 1/n.
            let whole = before.whole + u128::from(number);
            measured.count(1, counted(before.part + 1, whole));
            assert_eq!(measured.end(), period(number));
            assert_eq!(measured.share(0, period(number)), 0.0);
            for age in 0..=4u64.min(number - 1) {
                let ended = period(number - age);
                let share = 1.0 / (number - age) as f64;
                assert_eq!(measured.share(1, ended), share, "{number}, {age}");
                assert_eq!(measured.share(1, ended + Time::from_micros(99)), share);
            }
        }
        // 450 us overlap at most six periods.
        assert!(measured.periods.len() <= 6, "{}", measured.periods.len());
    }
}
