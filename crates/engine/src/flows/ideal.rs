//! How long a flow would take if it were alone in the fabric.

use crate::flows::flow::Flow;
use pathweave_fabric::ideal::ideal_fct_of_packets;
use pathweave_fabric::{LinkId, PacketSizes, ideal_fct};
use pathweave_scenario::Plan;
use pathweave_transport::PacketKey;
use pathweave_units::{Bytes, Time};
use std::collections::BTreeSet;

/// Up to this many packets of different sizes are counted one by one; the rest goes at their pace.
const COUNTED_PACKETS: f64 = 1e6;

/// The data paths that a flow's packets may take.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ways {
    /// The links of all paths, one path after another.
    links: Vec<LinkId>,
    /// Where each path ends in `links`.
    ends: Vec<u32>,
    /// How many of them packets may be on at a time.
    at_once: usize,
}

impl Ways {
    /// Forgets all paths.
    pub fn clear(&mut self) {
        self.links.clear();
        self.ends.clear();
        self.at_once = 0;
    }

    /// Adds those of a subflow whose packets all take this path.
    pub fn add_path(&mut self, path: &[LinkId]) {
        self.push(path);
        self.at_once += 1;
    }

    /// Adds those of a subflow that takes one of these, which switches choose.
    pub fn add_choice(&mut self, paths: &[Vec<LinkId>]) {
        self.add_new(paths);
        self.at_once += 1;
    }

    /// Adds those of a subflow that spreads its packets over these.
    pub fn add_spread(&mut self, paths: &[Vec<LinkId>]) {
        self.add_new(paths);
        self.at_once += paths.len();
    }

    /// Siblings often have the same paths to choose from: these are added once.
    fn add_new(&mut self, paths: &[Vec<LinkId>]) {
        let known: BTreeSet<&[LinkId]> = self.iter().collect();
        let is_new = |path: &&Vec<LinkId>| !known.contains(&path[..]);
        let new: Vec<&Vec<LinkId>> = paths.iter().filter(is_new).collect();
        new.into_iter().for_each(|path| self.push(path));
    }

    fn push(&mut self, path: &[LinkId]) {
        self.links.extend_from_slice(path);
        self.ends.push(self.links.len() as u32);
    }

    fn iter(&self) -> impl Iterator<Item = &[LinkId]> {
        let mut from = 0;
        self.ends.iter().map(move |&end| {
            let path = &self.links[from..end as usize];
            from = end as usize;
            path
        })
    }
}

/// The ideal completion time of a run's flow whose packets may take these ways; `None` for an
/// unlimited one.
#[inline(never)]
pub(crate) fn ideal(plan: &Plan, number: u32, flow: &Flow, ways: &Ways) -> Option<Time> {
    let at_once = ways.at_once;
    let (several, only): (Vec<&[LinkId]>, [&[LinkId]; 1]);
    let paths = if ways.ends.len() == 1 {
        only = [&ways.links];
        &only[..]
    } else {
        several = ways.iter().collect();
        &several[..]
    };
    let size = flow.size?;
    let config = &plan.groups[flow.group as usize].transport;
    if config.packets.is_none() {
        let packets = PacketSizes {
            payload: u32::from(config.maximum_segment),
            header: u32::from(config.overhead()),
        };
        let alone = |size| ideal_fct(&plan.fabric, paths, at_once, size, packets);
        let Some(source) = config.source else {
            return Some(alone(size));
        };
        // No earlier than the last write lets it.
        let write = source.write.unwrap_or(Bytes::new(packets.payload.into()));
        let before = Bytes::new((size.get().max(1) - 1) / write.get() * write.get());
        let written = source.rate.time_for(before);
        let last = written.saturating_add(alone(Bytes::new(size.get().max(1) - before.get())));
        return Some(last.max(alone(size)));
    }
    let counted = COUNTED_PACKETS * (config.mean_packet() - f64::from(config.overhead()));
    let counted = size.min(Bytes::new(counted as u64));
    let packets = config.packets_of(PacketKey::new(plan.seed, number), counted);
    let time = ideal_fct_of_packets(&plan.fabric, paths, at_once, packets);
    let whole = u128::from(time.as_picos()) * u128::from(size.get().max(1))
        / u128::from(counted.get().max(1));
    Some(Time::from_picos(u64::try_from(whole).unwrap_or(u64::MAX)))
}
