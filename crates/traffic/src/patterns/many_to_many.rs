//! A flow at regular times from one set of hosts to another.

use super::pairs::Pairs;
use super::{Running, check_limit};
use crate::launcher::Launcher;
use crate::{Event, FlowStart, Hosts, TrafficError};
use pathweave_random::Stream;
use pathweave_units::Time;

/// A flow every `gap`, from a random source to a random destination, whatever became of the earlier
/// ones (open loop).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManyToMany {
    /// The hosts that send.
    pub sources: Option<Vec<u32>>,
    /// The hosts that receive.
    pub destinations: Option<Vec<u32>>,
    /// Number of flows; `None` goes on for ever.
    pub count: Option<u64>,
    /// Time from one start to the next.
    pub gap: Time,
}

#[derive(Debug)]
struct Clock {
    pairs: Pairs,
    stream: Stream,
    gap: Time,
    next: Option<Time>,
    left: Option<u64>,
}

impl ManyToMany {
    pub(super) fn start(
        self,
        hosts: &Hosts,
        stream: Stream,
    ) -> Result<Box<dyn Running>, TrafficError> {
        check_limit("count", self.count)?;
        if self.gap == Time::ZERO && self.count.is_none() {
            return Err(TrafficError(
                "gap is zero and count is left out, which would start flows without end".to_owned(),
            ));
        }
        let (sources, destinations) = (self.sources.as_deref(), self.destinations.as_deref());
        Ok(Box::new(Clock {
            pairs: Pairs::new(hosts, sources, destinations, false)?,
            stream,
            gap: self.gap,
            next: None,
            left: self.count,
        }))
    }
}

impl Running for Clock {
    fn on(
        &mut self,
        event: Event,
        now: Time,
        launcher: &mut Launcher,
        starts: &mut Vec<FlowStart>,
    ) {
        match event {
            Event::Begin => self.next = Some(now),
            Event::Wake => {}
            Event::Finished { .. } => return,
        }
        if launcher.draining() {
            return;
        }
        while let Some(time) = self.next.filter(|&time| time <= now) {
            let source = self.pairs.pick_source(&mut self.stream);
            let picked = self
                .pairs
                .pick_destination(source, &mut self.stream, |_| true);
            let destination = picked.expect("every source was checked to have one");
            launcher.start(source, destination, time.max(now), starts);
            if let Some(left) = &mut self.left {
                *left -= 1;
            }
            self.next = (self.left != Some(0)).then(|| time.saturating_add(self.gap));
        }
    }

    fn next_wake(&self) -> Option<Time> {
        self.next
    }

    fn to_come(&self) -> Option<u64> {
        self.left
    }
}
