//! Prices computed on demand from what switches have heard.
//!
//! The price that a switch tells a neighbour follows from what it had heard by then: from what its own neighbours had
//! told, and so on to the destination. Each price is the same sum, added in the same order, as if every switch on the
//! way had computed it when the message arrived.

use super::Fmp;
use super::feedback::Message;
use super::implied::Implied;
use super::measured::Measured;
use super::prices::{Price, Prices, best_among};
use super::switch::reverse;
use pathweave_units::Time;

/// What prices depend on besides the messages heard.
#[derive(Clone, Copy)]
struct Sources<'a> {
    prices: &'a Prices,
    delay: &'a [f64],
    measured: Option<&'a Measured>,
}

impl Fmp {
    fn sources(&self) -> Sources<'_> {
        Sources {
            prices: &self.prices,
            delay: &self.delay,
            measured: self.measured.as_deref(),
        }
    }

    /// Brings the entries of a row up to date with everything heard up to and including `now`.
    pub(super) fn recall(&mut self, row: u32, now: Time) {
        let Some(implied) = &self.implied else {
            return;
        };
        let destination = self.prices.destination_of_row(row);
        for entry in self.prices.entry_numbers(row) {
            let link = self.prices.entry(entry).link;
            let price = implied.price(self.sources(), (link, destination), Some(now));
            self.prices.set(entry, price);
        }
    }

    /// Brings all entries up to date with everything heard before `now`.
    pub(super) fn recall_all(&mut self, implied: &Implied, now: Time) {
        let time = (now > Time::ZERO).then(|| now - Time::from_picos(1));
        for row in 0..self.prices.rows() {
            let destination = self.prices.destination_of_row(row);
            for entry in self.prices.entry_numbers(row) {
                let link = self.prices.entry(entry).link;
                let price = implied.price(self.sources(), (link, destination), time);
                self.prices.set(entry, price);
            }
        }
    }

    /// What the switch at the near end of a link told over it at `told`.
    pub(super) fn told_over(&self, implied: &Implied, link: u32, told: Time) -> Message {
        let teller = self.switch_at(reverse(link));
        let lines = self.prices.announcements(link).iter();
        let prices = lines.map(|line| {
            let row = (teller, line.destination);
            implied.told_of(self.sources(), row, Some(told))
        });
        Message::from_first(prices.collect())
    }
}

impl Implied {
    /// The price of a port for a destination, as its switch knows it at `time`; `None` means an idle fabric.
    fn price(
        &self,
        sources: Sources<'_>,
        (link, destination): (u32, u32),
        time: Option<Time>,
    ) -> Price {
        let wire = &self.wires[link as usize];
        let heard = time.and_then(|time| self.heard(reverse(link), time));
        let row = (wire.to, destination);
        let told = self.told_of(sources, row, heard.map(|heard| heard.told));
        let own = heard.map_or(0.0, |heard| match sources.measured {
            None => self.queue(link, heard.arrival),
            Some(measured) => measured.share(link, heard.arrival),
        });
        Price {
            congestion: told.congestion + own,
            delay: told.delay + sources.delay[link as usize],
        }
    }

    /// The price that a switch told for a destination at `time`; `None` means that it has told nothing yet, and gives
    /// the price in an idle fabric.
    fn told_of(
        &self,
        sources: Sources<'_>,
        (switch, destination): (u32, u32),
        time: Option<Time>,
    ) -> Price {
        let prices = sources.prices;
        let row = prices.row(destination, switch);
        if prices.is_here(row) {
            return Price::HERE;
        }
        let ports = prices.entries(row);
        best_among(ports.map(|(_, entry)| self.price(sources, (entry.link, destination), time)))
    }
}
