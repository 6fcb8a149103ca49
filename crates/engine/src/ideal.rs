//! How long a flow would take if it were alone in the fabric.

use crate::flows::Flow;
use pathweave_fabric::ideal::ideal_fct_of_packets;
use pathweave_fabric::{LinkId, PacketSizes, ideal_fct};
use pathweave_scenario::Plan;
use pathweave_transport::PacketKey;
use pathweave_units::{Bytes, Time};
use std::collections::BTreeSet;

/// So many packets of different sizes are counted one by one; what is beyond them goes at their pace.
const COUNTED_PACKETS: f64 = 1e6;

/// The data paths that a flow's packets may take.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ways {
    paths: Vec<Vec<LinkId>>,
    /// How many of them packets may be on at a time.
    at_once: usize,
}

impl Ways {
    /// Adds those of a subflow whose packets all take this path.
    pub fn add_path(&mut self, path: Vec<LinkId>) {
        self.paths.push(path);
        self.at_once += 1;
    }

    /// Adds those of a subflow that takes one of these, which switches choose.
    pub fn add_choice(&mut self, paths: Vec<Vec<LinkId>>) {
        self.add_new(paths);
        self.at_once += 1;
    }

    /// Adds those of a subflow that spreads its packets over these.
    pub fn add_spread(&mut self, paths: &[Vec<LinkId>]) {
        self.add_new(paths.iter().cloned());
        self.at_once += paths.len();
    }

    /// Siblings often have the same paths to choose from: these are added once.
    fn add_new(&mut self, paths: impl IntoIterator<Item = Vec<LinkId>>) {
        let known: BTreeSet<Vec<LinkId>> = self.paths.iter().cloned().collect();
        let new = paths.into_iter().filter(|path| !known.contains(path));
        self.paths.extend(new);
    }
}

/// The ideal completion time of a run's flow whose packets may take these ways; `None` for an
/// unlimited one.
#[inline(never)]
pub(crate) fn ideal(plan: &Plan, number: u32, flow: &Flow, ways: &Ways) -> Option<Time> {
    let (paths, at_once) = (&ways.paths, ways.at_once);
    let size = flow.size?;
    let config = &plan.groups[flow.group as usize].transport;
    if config.packets.is_none() {
        let packets = PacketSizes {
            payload: u32::from(config.maximum_segment),
            header: u32::from(config.overhead()),
        };
        return Some(ideal_fct(&plan.fabric, paths, at_once, size, packets));
    }
    let counted = COUNTED_PACKETS * (config.mean_packet() - f64::from(config.overhead()));
    let counted = size.min(Bytes::new(counted as u64));
    let packets = config.packets_of(PacketKey::new(plan.seed, number), counted);
    let time = ideal_fct_of_packets(&plan.fabric, paths, at_once, packets);
    let whole = u128::from(time.as_picos()) * u128::from(size.get().max(1))
        / u128::from(counted.get().max(1));
    Some(Time::from_picos(u64::try_from(whole).unwrap_or(u64::MAX)))
}
