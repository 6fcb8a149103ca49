//! Several hosts keep sending to one.

use super::pairs::senders;
use super::{Running, check_count, check_limit};
use crate::launcher::Launcher;
use crate::{Event, FlowStart, Hosts, TrafficError};
use pathweave_random::Stream;
use pathweave_units::Time;

/// A fixed number of flows towards one host at a time: when one ends, the next starts after a gap
/// (closed loop).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManyToOne {
    /// The host that receives.
    pub destination: u32,
    /// The hosts that send, in random order; all have had their turn before one is used again.
    /// `None` means all but the destination.
    pub sources: Option<Vec<u32>>,
    /// Flows under way at a time.
    pub concurrency: u32,
    /// Time from the end of a flow to the start of the next.
    pub gap: Time,
    /// Number of flows in all; `None` goes on for ever.
    pub count: Option<u64>,
}

#[derive(Debug)]
struct Slots {
    destination: u32,
    /// The sources in random order, taken one after another and then shuffled again.
    sources: Vec<u32>,
    taken: usize,
    stream: Stream,
    concurrency: u32,
    gap: Time,
    left: Option<u64>,
}

impl ManyToOne {
    pub(super) fn start(
        self,
        hosts: &Hosts,
        stream: Stream,
    ) -> Result<Box<dyn Running>, TrafficError> {
        let sources = senders(hosts, self.sources.as_deref(), self.destination)?;
        check_count("concurrency", u64::from(self.concurrency))?;
        check_limit("count", self.count)?;
        Ok(Box::new(Slots {
            destination: self.destination,
            taken: sources.len(),
            sources,
            stream,
            concurrency: self.concurrency,
            gap: self.gap,
            left: self.count,
        }))
    }
}

impl Slots {
    fn next(&mut self, time: Time, launcher: &mut Launcher, starts: &mut Vec<FlowStart>) {
        if launcher.draining() || self.left == Some(0) {
            return;
        }
        if let Some(left) = &mut self.left {
            *left -= 1;
        }
        if self.taken == self.sources.len() {
            self.stream.shuffle(&mut self.sources);
            self.taken = 0;
        }
        let source = self.sources[self.taken];
        self.taken += 1;
        launcher.start(source, self.destination, time, starts);
    }
}

impl Running for Slots {
    fn on(
        &mut self,
        event: Event,
        now: Time,
        launcher: &mut Launcher,
        starts: &mut Vec<FlowStart>,
    ) {
        match event {
            Event::Begin => {
                for _ in 0..self.concurrency {
                    self.next(now, launcher, starts);
                }
            }
            Event::Wake => {}
            Event::Finished { at, .. } => {
                // The gap counts from the flow's end, not from the news of it.
                let time = at.saturating_add(self.gap).max(now);
                self.next(time, launcher, starts);
            }
        }
    }

    fn to_come(&self) -> Option<u64> {
        self.left
    }
}
