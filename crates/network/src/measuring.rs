//! How switches that choose routes read the counters of their ports.

#[cfg(test)]
mod tests;

use crate::fmp::Counted;
use crate::network::Network;
use crate::packet::PacketContent;
use crate::port::Ports;
use crate::queue::Limit;
use pathweave_fabric::routing::FmpPrice;
use pathweave_units::Time;

impl<S: PacketContent, P: Ports> Network<S, P> {
    /// Ends a feedback period of the run: switches read the counters of their ports, if prices depend on what ports did
    /// in a period. Everything before `now` has happened.
    pub fn measure_ports(&mut self, now: Time) {
        let Some(mut measured) = self.fmp.as_mut().and_then(|fmp| fmp.take_measured()) else {
            return;
        };
        let price = measured.price();
        let passed = u128::from((now - measured.end()).as_picos());
        let kept = self.fmp.as_ref().map_or(now, |fmp| fmp.recalled_from(now));
        measured.end_period(now, kept);
        for place in 0..measured.links().len() {
            let link = measured.links()[place];
            let counted = self.count_for_price(price, link, (now, passed), measured.counted(link));
            measured.count(link, counted);
        }
        if let Some(fmp) = &mut self.fmp {
            fmp.give_back_measured(measured);
        }
    }

    /// What a link's port has counted so far; `before` is what it had counted `passed` picoseconds ago.
    fn count_for_price(
        &self,
        price: FmpPrice,
        link: u32,
        (now, passed): (Time, u128),
        before: Counted,
    ) -> Counted {
        let port = self.places.port_of(link);
        match price {
            FmpPrice::Occupancy => before,
            // In packets times picoseconds.
            FmpPrice::AveragedOccupancy => Counted {
                part: self.statistics(link, now).waited,
                whole: before.whole + places_of(self.ports.limit(port)) * passed,
            },
            // In packets.
            FmpPrice::Marks => {
                let statistics = self.statistics(link, now);
                Counted {
                    part: statistics.marked.into(),
                    whole: statistics.offered.into(),
                }
            }
            // In bits times picoseconds a second.
            FmpPrice::Utilisation => Counted {
                part: self.sent(link, now),
                whole: before.whole + u128::from(self.ports.rate(port).as_bps()) * passed,
            },
        }
    }
}

/// The limit in packets; zero if it is not one of packets.
fn places_of(limit: Limit) -> u128 {
    match limit {
        Limit::Packets(packets) => packets.into(),
        Limit::Bytes(_) | Limit::None => 0,
    }
}
