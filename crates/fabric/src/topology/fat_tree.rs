//! A three-layer fat-tree of equal switches.

use super::{Delay, check_count, check_rate, check_total, delay_stream};
use crate::{Fabric, FabricError};
use pathweave_units::Rate;

/// One value for each of a fat-tree's layers of cables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerLayer<T> {
    /// Between hosts and edge switches.
    pub rack: T,
    /// Between edge and aggregation switches.
    pub aggregation: T,
    /// Between aggregation and core switches.
    pub core: T,
}

impl<T: Copy> PerLayer<T> {
    /// The same value everywhere.
    pub fn same(value: T) -> PerLayer<T> {
        PerLayer {
            rack: value,
            aggregation: value,
            core: value,
        }
    }
}

/// A fat-tree of k-port switches: k pods of k/2 edge switches (`edge<pod>.<i>`) and k/2 aggregation
/// switches (`agg<pod>.<i>`), and (k/2)^2 core switches (`core<i>.<j>`, on the i-th aggregation switch
/// of every pod). Hosts h0, h1, ... rack by rack. Layers "rack", "aggregation", "core".
/// Source: Al-Fares, Loukissas, Vahdat, SIGCOMM 2008.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FatTree {
    /// Ports of a switch: even, at least 2.
    pub k: u32,
    /// Hosts on an edge switch; k/2 when left out, more for an oversubscribed fabric.
    pub hosts_per_edge: Option<u32>,
    /// Rates of the cables.
    pub rate: PerLayer<Rate>,
    /// Delays of the cables.
    pub delay: PerLayer<Delay>,
}

impl FatTree {
    /// Builds the fabric; see [`super::Topology::build`].
    pub fn build(&self, seed: u64) -> Result<Fabric, FabricError> {
        const LARGEST: u32 = 128;
        if self.k < 2 || self.k % 2 == 1 || self.k > LARGEST {
            return Err(FabricError(format!(
                "k is {}; it must be even, at least 2 and at most {LARGEST}",
                self.k
            )));
        }
        let half = self.k / 2;
        let hosts_per_edge = self.hosts_per_edge.unwrap_or(half);
        check_count("hosts_per_edge", hosts_per_edge)?;
        let hosts = u64::from(self.k) * u64::from(half) * u64::from(hosts_per_edge);
        check_total("the number of hosts", hosts)?;
        check_rate("rate.rack", self.rate.rack)?;
        check_rate("rate.aggregation", self.rate.aggregation)?;
        check_rate("rate.core", self.rate.core)?;
        self.delay.rack.check("delay.rack")?;
        self.delay.aggregation.check("delay.aggregation")?;
        self.delay.core.check("delay.core")?;

        let mut delays = delay_stream(seed);
        let mut fabric = Fabric::default();
        let rack_layer = fabric.add_layer("rack");
        let aggregation_layer = fabric.add_layer("aggregation");
        let core_layer = fabric.add_layer("core");

        let mut host_number = 0;
        for pod in 0..self.k {
            for edge in 0..half {
                for _ in 0..hosts_per_edge {
                    fabric.add_host(format!("h{host_number}"), pod * half + edge, pod);
                    host_number += 1;
                }
            }
        }
        let mut cores = Vec::new();
        for i in 0..half {
            for j in 0..half {
                cores.push(fabric.add_switch(format!("core{i}.{j}"), None, None));
            }
        }
        let mut hosts = fabric.hosts.clone().into_iter();
        for pod in 0..self.k {
            let mut aggregations = Vec::new();
            for i in 0..half {
                let name = format!("agg{pod}.{i}");
                let aggregation = fabric.add_switch(name, None, Some(pod));
                for j in 0..half {
                    let core = cores[(i * half + j) as usize];
                    let delay = self.delay.core.draw(&mut delays);
                    fabric.add_cable(aggregation, core, self.rate.core, delay, core_layer);
                }
                aggregations.push(aggregation);
            }
            for i in 0..half {
                let name = format!("edge{pod}.{i}");
                let edge = fabric.add_switch(name, Some(pod * half + i), Some(pod));
                for &aggregation in &aggregations {
                    let delay = self.delay.aggregation.draw(&mut delays);
                    let rate = self.rate.aggregation;
                    fabric.add_cable(edge, aggregation, rate, delay, aggregation_layer);
                }
                for host in hosts.by_ref().take(hosts_per_edge as usize) {
                    let delay = self.delay.rack.draw(&mut delays);
                    fabric.add_cable(host, edge, self.rate.rack, delay, rack_layer);
                }
            }
        }
        Ok(fabric)
    }
}
