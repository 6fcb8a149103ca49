//! The price tables.

use super::switch::{Switch, reverse};
use pathweave_fabric::LinkId;
use pathweave_fabric::routing::ShortestPaths;
use std::ops::Range;

/// Congestion degree and delay of the best path behind a port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Price {
    /// cd: the sum of what the ports on the path add, each a share between 0 and 1 (for occupancy, of the queue's
    /// limit).
    pub congestion: f64,
    /// l: the sum of the links' delays, in seconds.
    pub delay: f64,
}

impl Price {
    /// The price of an edge switch to itself.
    pub const HERE: Price = Price {
        congestion: 0.0,
        delay: 0.0,
    };
    /// The price of a destination that no port leads to.
    pub const UNREACHABLE: Price = Price {
        congestion: f64::INFINITY,
        delay: f64::INFINITY,
    };

    pub fn is_reachable(&self) -> bool {
        self.congestion.is_finite()
    }

    /// cd x l, by which ports are compared.
    pub fn product(&self) -> f64 {
        self.congestion * self.delay
    }

    fn is_better_than(&self, other: &Price) -> bool {
        (self.product(), self.delay) < (other.product(), other.delay)
    }
}

/// One port's price for one destination.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub link: u32,
    pub price: Price,
}

/// One line of what a switch tells a neighbour: its own price goes into the neighbour's entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Announcement {
    /// The destination that the price is for.
    pub destination: u32,
    /// The entry of the neighbour.
    pub entry: u32,
}

/// The prices of all switches. A row holds the ports of one switch for one destination.
#[derive(Clone, Debug)]
pub(super) struct Prices {
    switches: u32,
    /// Where each row begins in `entries`, and the end of the last one. Rows are numbered by destination, then by
    /// switch.
    offsets: Vec<u32>,
    entries: Vec<Entry>,
    /// Whether the row's switch is the destination itself.
    is_here: Vec<bool>,
    /// By link: what the switch at its near end tells the one at its far end, in the order of rows.
    announcements: Vec<Vec<Announcement>>,
}

impl Prices {
    pub fn new(
        switches: &[Switch],
        paths: &ShortestPaths,
        end: &[u32],
        switch_of: &[u32],
        delay: &[f64],
    ) -> Prices {
        let count = switches.len() as u32;
        let mut prices = Prices {
            switches: count,
            offsets: vec![0],
            entries: Vec::new(),
            is_here: Vec::new(),
            announcements: vec![Vec::new(); end.len()],
        };
        for destination in 0..paths.destinations() {
            for switch in switches {
                let is_here = paths.is_last_switch(switch.node, destination);
                prices.is_here.push(is_here);
                for LinkId(link) in paths.next_hops_to(switch.node, destination) {
                    let entry = prices.entries.len() as u32;
                    prices.announcements[reverse(link) as usize]
                        .push(Announcement { destination, entry });
                    let price = Price::UNREACHABLE;
                    prices.entries.push(Entry { link, price });
                }
                prices.offsets.push(prices.entries.len() as u32);
            }
        }
        prices.settle(end, switch_of, delay);
        prices
    }

    /// Sets what the switches would know if the fabric had always been idle.
    fn settle(&mut self, end: &[u32], switch_of: &[u32], delay: &[f64]) {
        let mut changed = true;
        while changed {
            changed = false;
            for link in 0..self.announcements.len() {
                for place in 0..self.announcements[link].len() {
                    let Announcement { destination, entry } = self.announcements[link][place];
                    let teller = switch_of[end[reverse(link as u32) as usize] as usize];
                    let told = self.best(self.row(destination, teller));
                    let own = &mut self.entries[entry as usize];
                    let price = Price {
                        congestion: told.congestion,
                        delay: told.delay + delay[own.link as usize],
                    };
                    if price.is_reachable() && price != own.price {
                        own.price = price;
                        changed = true;
                    }
                }
            }
        }
    }

    pub fn row(&self, destination: u32, switch: u32) -> u32 {
        destination * self.switches + switch
    }

    pub fn is_here(&self, row: u32) -> bool {
        self.is_here[row as usize]
    }

    pub fn switch_of_row(&self, row: u32) -> u32 {
        row % self.switches
    }

    /// The row that an entry belongs to.
    pub fn row_of(&self, entry: u32) -> u32 {
        self.offsets.partition_point(|&offset| offset <= entry) as u32 - 1
    }

    pub fn entry(&self, entry: u32) -> &Entry {
        &self.entries[entry as usize]
    }

    /// Whether each entry leads on.
    pub fn leading(&self) -> Vec<bool> {
        let entries = self.entries.iter();
        entries.map(|entry| entry.price.is_reachable()).collect()
    }

    pub fn set(&mut self, entry: u32, price: Price) {
        self.entries[entry as usize].price = price;
    }

    /// Number of rows.
    pub fn rows(&self) -> u32 {
        self.is_here.len() as u32
    }

    pub fn destination_of_row(&self, row: u32) -> u32 {
        row / self.switches
    }

    /// The numbers of a row's entries.
    pub fn entry_numbers(&self, row: u32) -> Range<u32> {
        self.offsets[row as usize]..self.offsets[row as usize + 1]
    }

    /// The most switches, including the destination's, on any path that entries lead along. `to` gives the switch at
    /// the end of a link.
    pub fn depth(&self, to: impl Fn(u32) -> u32) -> u32 {
        // By row, counted from one; zero if not yet known.
        let mut depths = vec![0; self.is_here.len()];
        let rows = 0..self.rows();
        rows.map(|row| self.depth_of(row, &to, &mut depths))
            .max()
            .unwrap_or(0)
    }

    fn depth_of(&self, row: u32, to: &impl Fn(u32) -> u32, depths: &mut [u32]) -> u32 {
        if depths[row as usize] == 0 {
            let destination = self.destination_of_row(row);
            let next = self.entries(row).map(|(_, entry)| {
                let next = self.row(destination, to(entry.link));
                self.depth_of(next, to, depths)
            });
            depths[row as usize] = 1 + next.max().unwrap_or(0);
        }
        depths[row as usize]
    }

    /// The entries of a row, with their numbers.
    pub fn entries(&self, row: u32) -> impl Iterator<Item = (u32, &Entry)> {
        let (from, to) = (self.offsets[row as usize], self.offsets[row as usize + 1]);
        (from..to).zip(&self.entries[from as usize..to as usize])
    }

    /// Number of entries of a switch.
    pub fn entries_of(&self, switch: usize) -> u64 {
        let rows = self.offsets.windows(2).skip(switch);
        let own = rows.step_by(self.switches as usize);
        own.map(|ends| u64::from(ends[1] - ends[0])).sum()
    }

    /// The price that a switch tells for a row: that of its best port.
    pub fn best(&self, row: u32) -> Price {
        if self.is_here(row) {
            return Price::HERE;
        }
        best_among(self.entries(row).map(|(_, entry)| entry.price))
    }

    /// The prices that a switch tells, by destination.
    pub fn best_of(&self, switch: u32, best: &mut Vec<Price>) {
        best.clear();
        let destinations = (self.is_here.len() / self.switches as usize) as u32;
        best.extend((0..destinations).map(|destination| self.best(self.row(destination, switch))));
    }

    /// Whether any port of a row leads to its destination.
    pub fn is_reachable(&self, row: u32) -> bool {
        self.is_here(row)
            || self
                .entries(row)
                .any(|(_, entry)| entry.price.is_reachable())
    }

    /// Whether a link's port leads to any destination and therefore has prices.
    pub fn has_entries(&self, link: u32) -> bool {
        !self.announcements(reverse(link)).is_empty()
    }

    pub fn announcements(&self, link: u32) -> &[Announcement] {
        &self.announcements[link as usize]
    }

    /// A port no longer leads anywhere. Adds rows that have no port left to `cut_off`.
    pub fn remove_port(&mut self, link: u32, cut_off: &mut Vec<u32>) {
        let told = std::mem::take(&mut self.announcements[reverse(link) as usize]);
        for announcement in &told {
            self.remove(announcement.entry, cut_off);
        }
        self.announcements[reverse(link) as usize] = told;
    }

    /// An entry no longer leads anywhere. Adds its row to `cut_off` if no port is left.
    pub fn remove(&mut self, entry: u32, cut_off: &mut Vec<u32>) {
        if self.entry(entry).price.is_reachable() {
            self.set(entry, Price::UNREACHABLE);
            let row = self.row_of(entry);
            if !self.is_reachable(row) {
                cut_off.push(row);
            }
        }
    }
}

/// The best of these prices; unreachable if there are none.
pub(super) fn best_among(prices: impl Iterator<Item = Price>) -> Price {
    let mut best = Price::UNREACHABLE;
    for price in prices {
        if price.is_reachable() && price.is_better_than(&best) {
            best = price;
        }
    }
    best
}

/// Orders the ports of a row by cd x l; ports of equal cd all use the smallest l among them and are ordered by `hash`.
/// Unreachable ports are omitted.
pub(super) fn order<'a>(
    entries: impl Iterator<Item = (u32, &'a Entry)>,
    hash: impl Fn(u32) -> u64,
) -> Vec<u32> {
    let reachable: Vec<(u32, &Entry)> = entries
        .filter(|(_, entry)| entry.price.is_reachable())
        .collect();
    let nearest = |congestion: f64| {
        let alike = reachable
            .iter()
            .filter(|(_, entry)| entry.price.congestion == congestion);
        alike
            .map(|(_, entry)| entry.price.delay)
            .fold(f64::INFINITY, f64::min)
    };
    let mut keyed: Vec<(Price, u64, u32)> = reachable
        .iter()
        .map(|&(number, entry)| {
            let congestion = entry.price.congestion;
            let delay = nearest(congestion);
            (Price { congestion, delay }, hash(entry.link), number)
        })
        .collect();
    keyed.sort_by(|(a, hash_a, _), (b, hash_b, _)| {
        let by_product = a.product().total_cmp(&b.product());
        by_product
            .then(a.delay.total_cmp(&b.delay))
            .then(hash_a.cmp(hash_b))
    });
    keyed.into_iter().map(|(.., number)| number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order_of(prices: &[(f64, f64)], hash: impl Fn(u32) -> u64) -> Vec<u32> {
        let entries: Vec<Entry> = (0u32..)
            .zip(prices)
            .map(|(link, &(congestion, delay))| Entry {
                link,
                price: Price { congestion, delay },
            })
            .collect();
        order((0u32..).zip(&entries), hash)
    }

    #[test]
    fn the_smallest_product_comes_first() {
        let prices = [(0.3, 2.0), (0.1, 3.0), (0.2, 1.0)];
        assert_eq!(order_of(&prices, u64::from), [2, 1, 0]);
    }

    #[test]
    fn ports_of_equal_congestion_are_ordered_by_hash() {
        let idle = [(0.0, 5.0), (0.0, 3.0), (0.0, 4.0)];
        assert_eq!(order_of(&idle, u64::from), [0, 1, 2]);
        assert_eq!(order_of(&idle, |link| u64::from(9 - link)), [2, 1, 0]);
        // The ports with cd 0.1 use their smallest delay, 2: a product of 0.2, less than the other's 0.3.
        let busy = [(0.1, 5.0), (0.1, 2.0), (0.3, 1.0), (0.0, 9.0)];
        assert_eq!(order_of(&busy, |link| u64::from(9 - link)), [3, 1, 0, 2]);
    }

    #[test]
    fn equal_products_go_by_delay() {
        let prices = [(0.1, 4.0), (0.2, 2.0), (0.4, 1.0)];
        assert_eq!(order_of(&prices, u64::from), [2, 1, 0]);
    }

    #[test]
    fn what_is_unreachable_is_left_out() {
        let prices = [(0.1, 4.0), (f64::INFINITY, f64::INFINITY)];
        assert_eq!(order_of(&prices, u64::from), [0]);
    }
}
