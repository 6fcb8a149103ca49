//! Every host keeps sending to random hosts.

use super::active::Active;
use super::pairs::Pairs;
use super::{Running, check_count};
use crate::launcher::Launcher;
use crate::{Event, FlowStart, Hosts, TrafficError};
use pathweave_random::Stream;
use pathweave_units::Time;
use std::collections::VecDeque;

/// Each source keeps `flows_per_host` flows towards random destinations under way: when one
/// finishes, it picks again at once (closed loop).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random {
    /// The hosts that send.
    pub sources: Option<Vec<u32>>,
    /// The hosts that may be picked.
    pub destinations: Option<Vec<u32>>,
    /// A host that receives this many flows of the group is not picked. A source that finds none
    /// to pick waits until a receiver is free.
    pub max_inbound: Option<u32>,
    /// Whether source and destination must stand in different racks.
    pub different_racks: bool,
    /// Flows that a source has under way at a time.
    pub flows_per_host: u32,
}

impl Default for Random {
    fn default() -> Random {
        Random {
            sources: None,
            destinations: None,
            max_inbound: Some(4),
            different_racks: false,
            flows_per_host: 1,
        }
    }
}

#[derive(Debug)]
struct ClosedLoop {
    pairs: Pairs,
    stream: Stream,
    flows_per_host: u32,
    max_inbound: u32,
    /// Flows of the group that each host receives.
    inbound: Vec<u32>,
    active: Active<(u32, u32)>,
    /// Sources that found no free receiver, first come first served.
    waiting: VecDeque<u32>,
}

impl Random {
    pub(super) fn start(
        self,
        hosts: &Hosts,
        stream: Stream,
    ) -> Result<Box<dyn Running>, TrafficError> {
        check_count("flows_per_host", u64::from(self.flows_per_host))?;
        if self.max_inbound == Some(0) {
            return Err(TrafficError(
                "max_inbound is 0; it must be at least 1, or left out for no limit".to_owned(),
            ));
        }
        let (sources, destinations) = (self.sources.as_deref(), self.destinations.as_deref());
        Ok(Box::new(ClosedLoop {
            pairs: Pairs::new(hosts, sources, destinations, self.different_racks)?,
            stream,
            flows_per_host: self.flows_per_host,
            max_inbound: self.max_inbound.unwrap_or(u32::MAX),
            inbound: vec![0; hosts.count as usize],
            active: Active::new(),
            waiting: VecDeque::new(),
        }))
    }
}

impl ClosedLoop {
    fn begin(
        &mut self,
        source: u32,
        destination: u32,
        now: Time,
        launcher: &mut Launcher,
        starts: &mut Vec<FlowStart>,
    ) {
        self.inbound[destination as usize] += 1;
        let tag = launcher.start(source, destination, now, starts);
        self.active.insert(tag, (source, destination));
    }

    /// Lets a source pick a destination, or wait when all are taken.
    fn pick(
        &mut self,
        source: u32,
        now: Time,
        launcher: &mut Launcher,
        starts: &mut Vec<FlowStart>,
    ) {
        let (inbound, limit) = (&self.inbound, self.max_inbound);
        let free = |destination: u32| inbound[destination as usize] < limit;
        let picked = self.pairs.pick_destination(source, &mut self.stream, free);
        match picked {
            Some(destination) => self.begin(source, destination, now, launcher, starts),
            None => self.waiting.push_back(source),
        }
    }
}

impl Running for ClosedLoop {
    fn on(
        &mut self,
        event: Event,
        now: Time,
        launcher: &mut Launcher,
        starts: &mut Vec<FlowStart>,
    ) {
        if launcher.draining() {
            return;
        }
        match event {
            Event::Begin => {
                for _ in 0..self.flows_per_host {
                    for index in 0..self.pairs.sources.len() {
                        self.pick(self.pairs.sources[index], now, launcher, starts);
                    }
                }
            }
            Event::Wake => {}
            Event::Finished { tag, .. } => {
                let Some((source, freed)) = self.active.remove(tag) else {
                    return;
                };
                self.inbound[freed as usize] -= 1;
                // For those that wait all other receivers are still taken, so that only this one can
                // have become free.
                let next = self
                    .waiting
                    .iter()
                    .position(|&waiting| self.pairs.admit(waiting, freed));
                if let Some(waiting) = next.and_then(|place| self.waiting.remove(place)) {
                    self.begin(waiting, freed, now, launcher, starts);
                }
                self.pick(source, now, launcher, starts);
            }
        }
    }
}
