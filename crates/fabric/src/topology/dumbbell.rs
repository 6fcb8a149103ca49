//! Two switches and one bottleneck between them.

use super::{Delay, check_count, check_rate, delay_stream};
use crate::{Fabric, FabricError};
use pathweave_units::Rate;

/// Hosts S1, S2, ... on switch A, hosts D1, D2, ... on switch B, and one cable A-B. Layers "host" and
/// "bottleneck"; each side is a rack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dumbbell {
    /// Number of hosts on the left.
    pub left: u32,
    /// Number of hosts on the right.
    pub right: u32,
    /// Rate of the hosts' cables.
    pub host_rate: Rate,
    /// Rate of the bottleneck.
    pub bottleneck_rate: Rate,
    /// Delay of the hosts' cables.
    pub host_delay: Delay,
    /// Delay of the bottleneck.
    pub bottleneck_delay: Delay,
}

impl Dumbbell {
    /// Builds the fabric; see [`super::Topology::build`].
    pub fn build(&self, seed: u64) -> Result<Fabric, FabricError> {
        check_count("left", self.left)?;
        check_count("right", self.right)?;
        check_rate("host_rate", self.host_rate)?;
        check_rate("bottleneck_rate", self.bottleneck_rate)?;
        self.host_delay.check("host_delay")?;
        self.bottleneck_delay.check("bottleneck_delay")?;
        let mut delays = delay_stream(seed);
        let mut fabric = Fabric::default();
        let host_layer = fabric.add_layer("host");
        let bottleneck_layer = fabric.add_layer("bottleneck");
        let a = fabric.add_switch("A", Some(0), Some(0));
        let b = fabric.add_switch("B", Some(1), Some(0));
        let delay = self.bottleneck_delay.draw(&mut delays);
        fabric.add_cable(a, b, self.bottleneck_rate, delay, bottleneck_layer);
        for (side, switch, count) in [("S", a, self.left), ("D", b, self.right)] {
            for number in 1..=count {
                let rack = u32::from(switch == b);
                let host = fabric.add_host(format!("{side}{number}"), rack, 0);
                let delay = self.host_delay.draw(&mut delays);
                fabric.add_cable(host, switch, self.host_rate, delay, host_layer);
            }
        }
        Ok(fabric)
    }
}
