//! Separate bottlenecks between multihomed hosts.

use super::{Delay, check_count, check_rate, check_total, delay_stream};
use crate::{Fabric, FabricError};
use pathweave_units::Rate;

/// Bottlenecks A1-B1, A2-B2, ...; every sender S1, S2, ... has a port to every Ai and every receiver
/// D1, D2, ... to every Bi. Layers "host" and "bottleneck"; senders and receivers are a rack each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParallelPaths {
    /// Number of sender and receiver pairs.
    pub pairs: u32,
    /// Rate of each bottleneck.
    pub rates: Vec<Rate>,
    /// Delay of each bottleneck, as many as `rates`.
    pub delays: Vec<Delay>,
    /// Rate of the hosts' cables.
    pub host_rate: Rate,
    /// Delay of the hosts' cables.
    pub host_delay: Delay,
}

impl ParallelPaths {
    /// Builds the fabric; see [`super::Topology::build`].
    pub fn build(&self, seed: u64) -> Result<Fabric, FabricError> {
        check_count("pairs", self.pairs)?;
        if self.rates.is_empty() {
            return Err(FabricError(
                "rates is empty; give one rate for each path".to_owned(),
            ));
        }
        if self.delays.len() != self.rates.len() {
            return Err(FabricError(format!(
                "delays has {} entries and rates has {}; give one of each for every path",
                self.delays.len(),
                self.rates.len()
            )));
        }
        let cables = 2 * u64::from(self.pairs) * self.rates.len() as u64;
        check_total("the number of host cables", cables)?;
        for (path, (&rate, delay)) in self.rates.iter().zip(&self.delays).enumerate() {
            check_rate(&format!("rates[{path}]"), rate)?;
            delay.check(&format!("delays[{path}]"))?;
        }
        check_rate("host_rate", self.host_rate)?;
        self.host_delay.check("host_delay")?;

        let mut delays = delay_stream(seed);
        let mut fabric = Fabric::default();
        let host_layer = fabric.add_layer("host");
        let bottleneck_layer = fabric.add_layer("bottleneck");
        let mut left = Vec::new();
        let mut right = Vec::new();
        for (path, (&rate, delay)) in self.rates.iter().zip(&self.delays).enumerate() {
            let a = fabric.add_switch(format!("A{}", path + 1), Some(0), Some(0));
            let b = fabric.add_switch(format!("B{}", path + 1), Some(1), Some(0));
            fabric.add_cable(a, b, rate, delay.draw(&mut delays), bottleneck_layer);
            left.push(a);
            right.push(b);
        }
        for (side, switches, rack) in [("S", &left, 0), ("D", &right, 1)] {
            for number in 1..=self.pairs {
                let host = fabric.add_host(format!("{side}{number}"), rack, 0);
                for &switch in switches {
                    let delay = self.host_delay.draw(&mut delays);
                    fabric.add_cable(host, switch, self.host_rate, delay, host_layer);
                }
            }
        }
        Ok(fabric)
    }
}
