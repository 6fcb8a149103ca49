//! The capacity that the links of a run had over time.

use pathweave_units::{Rate, Time};

/// What a link could have carried: the integral of its rate over the time that it was up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Capacity {
    rate: Rate,
    since: Time,
    /// Bits times picoseconds a second.
    sum: u128,
}

impl Capacity {
    pub fn new(rate: Rate) -> Capacity {
        Capacity {
            rate,
            since: Time::ZERO,
            sum: 0,
        }
    }

    /// From `now` on the link has this rate; zero while it is down.
    pub fn change(&mut self, now: Time, rate: Rate) {
        self.sum = self.until(now);
        self.since = now;
        self.rate = rate;
    }

    /// Bits that it could have carried until now, times picoseconds a second.
    pub fn until(&self, now: Time) -> u128 {
        self.sum + u128::from((now - self.since).as_picos()) * u128::from(self.rate.as_bps())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_follows_the_rate() {
        let mut capacity = Capacity::new(Rate::from_gbps(1));
        capacity.change(Time::from_millis(10), Rate::ZERO);
        capacity.change(Time::from_millis(20), Rate::from_mbps(100));
        let bits = capacity.until(Time::from_millis(30)) / 1_000_000_000_000;
        assert_eq!(bits, 10_000_000 + 1_000_000);
    }
}
