//! Bottlenecks in a ring, neighbours joined by multihomed hosts.

use super::{Delay, check_rate, check_total, delay_stream};
use crate::{Fabric, FabricError};
use pathweave_units::Rate;

/// Bottlenecks A1-B1 ... An-Bn. Host Si has a port to Ai and one to the next bottleneck's A (S_n's
/// next is A1), host Di the same on the B side, so that a flow Si to Di has two paths, each shared
/// with a neighbour. Background hosts S1b1, S1b2, ... on A1 and D1b1, ... on B1, and so on, have one
/// port. Layers "host" and "bottleneck".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ring {
    /// Rate of each bottleneck, at least two.
    pub rates: Vec<Rate>,
    /// Delay of each bottleneck, as many as `rates`.
    pub delays: Vec<Delay>,
    /// Rate of the hosts' cables.
    pub host_rate: Rate,
    /// Delay of the hosts' cables.
    pub host_delay: Delay,
    /// Number of background host pairs on each bottleneck; missing entries mean none.
    pub background: Vec<u32>,
}

impl Ring {
    /// Builds the fabric; see [`super::Topology::build`]. Hosts come in the order S1..Sn, D1..Dn,
    /// then for each bottleneck its background senders and its background receivers.
    pub fn build(&self, seed: u64) -> Result<Fabric, FabricError> {
        let count = self.rates.len();
        if count < 2 {
            return Err(FabricError(format!(
                "rates has {count} entries; a ring needs at least two bottlenecks"
            )));
        }
        if self.delays.len() != count {
            return Err(FabricError(format!(
                "delay has {} entries and rates has {count}; give one of each for every bottleneck",
                self.delays.len()
            )));
        }
        if self.background.len() > count {
            return Err(FabricError(format!(
                "background has {} entries, but there are {count} bottlenecks",
                self.background.len()
            )));
        }
        for (index, (&rate, delay)) in self.rates.iter().zip(&self.delays).enumerate() {
            check_rate(&format!("rates[{index}]"), rate)?;
            delay.check(&format!("delay[{index}]"))?;
        }
        let background: u64 = self.background.iter().map(|&n| u64::from(n)).sum();
        check_total("the number of nodes", 4 * count as u64 + 2 * background)?;
        check_rate("host_rate", self.host_rate)?;
        self.host_delay.check("host_delay")?;

        let mut delays = delay_stream(seed);
        let mut fabric = Fabric::default();
        let host_layer = fabric.add_layer("host");
        let bottleneck_layer = fabric.add_layer("bottleneck");
        let rack_a = |index: usize| 2 * index as u32;
        let rack_b = |index: usize| 2 * index as u32 + 1;
        let mut ends = Vec::new();
        for (index, (&rate, delay)) in self.rates.iter().zip(&self.delays).enumerate() {
            let number = index + 1;
            let a = fabric.add_switch(format!("A{number}"), Some(rack_a(index)), Some(0));
            let b = fabric.add_switch(format!("B{number}"), Some(rack_b(index)), Some(0));
            fabric.add_cable(a, b, rate, delay.draw(&mut delays), bottleneck_layer);
            ends.push((a, b));
        }
        for sending in [true, false] {
            for index in 0..count {
                let (side, rack) = if sending {
                    ("S", rack_a(index))
                } else {
                    ("D", rack_b(index))
                };
                let host = fabric.add_host(format!("{side}{}", index + 1), rack, 0);
                for (a, b) in [ends[index], ends[(index + 1) % count]] {
                    let switch = if sending { a } else { b };
                    let delay = self.host_delay.draw(&mut delays);
                    fabric.add_cable(host, switch, self.host_rate, delay, host_layer);
                }
            }
        }
        for (index, &pairs) in self.background.iter().enumerate() {
            let (a, b) = ends[index];
            let sides = [("S", rack_a(index), a), ("D", rack_b(index), b)];
            for (side, rack, switch) in sides {
                for pair in 1..=pairs {
                    let name = format!("{side}{}b{pair}", index + 1);
                    let host = fabric.add_host(name, rack, 0);
                    let delay = self.host_delay.draw(&mut delays);
                    fabric.add_cable(host, switch, self.host_rate, delay, host_layer);
                }
            }
        }
        Ok(fabric)
    }
}
