//! Two layers of switches, fully meshed.

use super::{Delay, check_count, check_rate, check_total, delay_stream};
use crate::{Fabric, FabricError};
use pathweave_units::Rate;

/// Leaf switches leaf0, leaf1, ..., each with its hosts (h0, h1, ... leaf by leaf) and one cable to each
/// of the spine switches spine0, spine1, ... Layers "rack" and "uplink"; a leaf is a rack, and all
/// stand in one pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeafSpine {
    /// Number of leaf switches.
    pub leaves: u32,
    /// Number of spine switches.
    pub spines: u32,
    /// Hosts on a leaf switch.
    pub hosts_per_leaf: u32,
    /// Rate of the hosts' cables.
    pub host_rate: Rate,
    /// Rate of the cables between leaves and spines.
    pub uplink_rate: Rate,
    /// Delay of the hosts' cables.
    pub host_delay: Delay,
    /// Delay of the cables between leaves and spines.
    pub uplink_delay: Delay,
}

impl LeafSpine {
    /// Builds the fabric; see [`super::Topology::build`].
    pub fn build(&self, seed: u64) -> Result<Fabric, FabricError> {
        check_count("leaves", self.leaves)?;
        check_count("spines", self.spines)?;
        check_count("hosts_per_leaf", self.hosts_per_leaf)?;
        let leaves = u64::from(self.leaves);
        let hosts = leaves * u64::from(self.hosts_per_leaf);
        check_total("the number of hosts", hosts)?;
        let uplinks = leaves * u64::from(self.spines);
        check_total("the number of cables between leaves and spines", uplinks)?;
        check_rate("host_rate", self.host_rate)?;
        check_rate("uplink_rate", self.uplink_rate)?;
        self.host_delay.check("host_delay")?;
        self.uplink_delay.check("uplink_delay")?;

        let mut delays = delay_stream(seed);
        let mut fabric = Fabric::default();
        let rack_layer = fabric.add_layer("rack");
        let uplink_layer = fabric.add_layer("uplink");
        let mut spines = Vec::new();
        for number in 0..self.spines {
            spines.push(fabric.add_switch(format!("spine{number}"), None, Some(0)));
        }
        for number in 0..self.leaves {
            let leaf = fabric.add_switch(format!("leaf{number}"), Some(number), Some(0));
            for &spine in &spines {
                let delay = self.uplink_delay.draw(&mut delays);
                fabric.add_cable(leaf, spine, self.uplink_rate, delay, uplink_layer);
            }
            for index in 0..self.hosts_per_leaf {
                let name = format!("h{}", number * self.hosts_per_leaf + index);
                let host = fabric.add_host(name, number, 0);
                let delay = self.host_delay.draw(&mut delays);
                fabric.add_cable(host, leaf, self.host_rate, delay, rack_layer);
            }
        }
        Ok(fabric)
    }
}
