//! Several senders and one receiver on one switch.

use super::{Delay, check_count, check_rate, delay_stream};
use crate::{Fabric, FabricError};
use pathweave_units::Rate;

/// Senders S1, S2, ... and the receiver D1 on switch A. Layers "host" (the senders' cables) and
/// "bottleneck" (the receiver's); all in one rack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Star {
    /// Number of senders.
    pub senders: u32,
    /// Rate of every cable.
    pub rate: Rate,
    /// Rate of the receiver's cable, when it differs.
    pub receiver_rate: Option<Rate>,
    /// Delay of every cable.
    pub delay: Delay,
}

impl Star {
    /// Builds the fabric; see [`super::Topology::build`].
    pub fn build(&self, seed: u64) -> Result<Fabric, FabricError> {
        check_count("senders", self.senders)?;
        check_rate("rate", self.rate)?;
        let receiver_rate = self.receiver_rate.unwrap_or(self.rate);
        check_rate("receiver_rate", receiver_rate)?;
        self.delay.check("delay")?;
        let mut delays = delay_stream(seed);
        let mut fabric = Fabric::default();
        let host_layer = fabric.add_layer("host");
        let bottleneck_layer = fabric.add_layer("bottleneck");
        let switch = fabric.add_switch("A", Some(0), Some(0));
        for number in 1..=self.senders {
            let sender = fabric.add_host(format!("S{number}"), 0, 0);
            let delay = self.delay.draw(&mut delays);
            fabric.add_cable(sender, switch, self.rate, delay, host_layer);
        }
        let receiver = fabric.add_host("D1", 0, 0);
        let delay = self.delay.draw(&mut delays);
        fabric.add_cable(switch, receiver, receiver_rate, delay, bottleneck_layer);
        Ok(fabric)
    }
}
