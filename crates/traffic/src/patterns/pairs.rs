//! Random pairs of a source and a destination.

use crate::{Hosts, TrafficError};
use pathweave_random::Stream;
use std::collections::BTreeMap;

/// Two sets of hosts and the rule which of them may be paired: not a host with itself, and not two of
/// one rack when that is asked.
#[derive(Debug)]
pub(super) struct Pairs {
    pub sources: Vec<u32>,
    pub destinations: Vec<u32>,
    rack: Vec<u32>,
    different_racks: bool,
}

impl Pairs {
    /// Refuses sets in which some source has nobody to send to.
    pub(super) fn new(
        hosts: &Hosts,
        sources: Option<&[u32]>,
        destinations: Option<&[u32]>,
        different_racks: bool,
    ) -> Result<Pairs, TrafficError> {
        let pairs = Pairs {
            sources: hosts.select("sources", sources)?,
            destinations: hosts.select("destinations", destinations)?,
            rack: hosts.rack.clone(),
            different_racks,
        };
        let shares = Neighbourhood::new(&pairs);
        for &source in &pairs.sources {
            let refused = if different_racks {
                shares.in_rack_of(source)
            } else {
                shares.is_destination(source)
            };
            if refused == pairs.destinations.len() {
                let why = if different_racks {
                    "all destinations stand in its rack, but different_racks is set"
                } else {
                    "it is the only destination"
                };
                return Err(TrafficError(format!(
                    "host {source} has no destination to send to: {why}"
                )));
            }
        }
        Ok(pairs)
    }

    /// Whether the two may be paired.
    pub(super) fn admit(&self, source: u32, destination: u32) -> bool {
        source != destination
            && !(self.different_racks
                && self.rack[source as usize] == self.rack[destination as usize])
    }

    /// A random source.
    pub(super) fn pick_source(&self, stream: &mut Stream) -> u32 {
        self.sources[stream.below(self.sources.len() as u64) as usize]
    }

    /// A random destination for this source among those that pass `free`, all equally likely; `None`
    /// when none does.
    pub(super) fn pick_destination(
        &self,
        source: u32,
        stream: &mut Stream,
        free: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let count = self.destinations.len() as u64;
        let fits = |destination: u32| self.admit(source, destination) && free(destination);
        // Trying at random is nearly always enough; the few cases in which most destinations are
        // excluded pay for a walk through all. Both give each admissible one the same chance.
        for _ in 0..16 {
            let destination = self.destinations[stream.below(count) as usize];
            if fits(destination) {
                return Some(destination);
            }
        }
        let admissible = || self.destinations.iter().copied().filter(|&d| fits(d));
        let count = admissible().count() as u64;
        if count == 0 {
            return None;
        }
        admissible().nth(stream.below(count) as usize)
    }

    /// Probability that a pair from a random source to a random destination crosses racks.
    pub(super) fn inter_rack_share(&self) -> f64 {
        if self.different_racks {
            return 1.0;
        }
        let shares = Neighbourhood::new(self);
        let total: f64 = self
            .sources
            .iter()
            .map(|&source| {
                let outside = self.destinations.len() - shares.in_rack_of(source);
                let admitted = self.destinations.len() - shares.is_destination(source);
                outside as f64 / admitted as f64
            })
            .sum();
        total / self.sources.len() as f64
    }
}

/// How many destinations stand near each source.
struct Neighbourhood<'a> {
    pairs: &'a Pairs,
    by_rack: BTreeMap<u32, usize>,
    destination: Vec<bool>,
}

impl Neighbourhood<'_> {
    fn new(pairs: &Pairs) -> Neighbourhood<'_> {
        let mut by_rack = BTreeMap::new();
        let mut destination = vec![false; pairs.rack.len()];
        for &host in &pairs.destinations {
            *by_rack.entry(pairs.rack[host as usize]).or_insert(0) += 1;
            destination[host as usize] = true;
        }
        Neighbourhood {
            pairs,
            by_rack,
            destination,
        }
    }

    fn in_rack_of(&self, host: u32) -> usize {
        let rack = self.pairs.rack[host as usize];
        self.by_rack.get(&rack).copied().unwrap_or(0)
    }

    fn is_destination(&self, host: u32) -> usize {
        usize::from(self.destination[host as usize])
    }
}

/// The hosts that send to one destination: those listed, or all others.
pub(super) fn senders(
    hosts: &Hosts,
    listed: Option<&[u32]>,
    destination: u32,
) -> Result<Vec<u32>, TrafficError> {
    hosts.check("destination", destination)?;
    let mut sources = hosts.select("sources", listed)?;
    if listed.is_some() && sources.contains(&destination) {
        return Err(TrafficError(format!(
            "sources lists host {destination}, which is the destination"
        )));
    }
    sources.retain(|&source| source != destination);
    if sources.is_empty() {
        return Err(TrafficError(
            "there is no host but the destination".to_owned(),
        ));
    }
    Ok(sources)
}
