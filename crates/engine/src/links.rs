//! The links of a run: their order in the network and the capacity they had over time.

use pathweave_fabric::LinkId;
use pathweave_random::Stream;
use pathweave_units::{Rate, Time};

/// How the network numbers its ports: a seeded permutation of the fabric's links.
#[derive(Clone, Debug)]
pub(crate) struct LinkOrder {
    rank: Vec<u32>,
    link: Vec<u32>,
}

impl LinkOrder {
    pub fn new(links: usize, seed: u64) -> LinkOrder {
        let rank = Stream::new(seed, "link order", 0).permutation(links);
        let mut link = vec![0; links];
        for (number, &rank) in rank.iter().enumerate() {
            link[rank as usize] = number as u32;
        }
        LinkOrder { rank, link }
    }

    /// A link's number in the network.
    pub fn rank(&self, link: LinkId) -> u32 {
        self.rank[link.0 as usize]
    }

    /// The link with this number in the network.
    pub fn link(&self, rank: u32) -> LinkId {
        LinkId(self.link[rank as usize])
    }
}

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

    fn until(&self, now: Time) -> u128 {
        self.sum + u128::from((now - self.since).as_picos()) * u128::from(self.rate.as_bps())
    }

    /// Bits that it could have carried until now.
    pub fn bits(&self, now: Time) -> f64 {
        self.until(now) as f64 * 1e-12
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_a_permutation() {
        let order = LinkOrder::new(50, 3);
        for link in 0..50 {
            assert_eq!(order.link(order.rank(LinkId(link))), LinkId(link));
        }
    }

    #[test]
    fn capacity_follows_the_rate() {
        let mut capacity = Capacity::new(Rate::from_gbps(1));
        capacity.change(Time::from_millis(10), Rate::ZERO);
        capacity.change(Time::from_millis(20), Rate::from_mbps(100));
        assert_eq!(capacity.bits(Time::from_millis(30)), 1e7 + 1e6);
    }
}
