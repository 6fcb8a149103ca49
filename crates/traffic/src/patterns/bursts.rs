//! Periodic bursts of flows towards one host.

use super::pairs::senders;
use super::{Running, check_count, check_limit};
use crate::launcher::Launcher;
use crate::{Event, FlowStart, Hosts, TrafficError};
use pathweave_units::Time;

/// Every `period` a burst of flows towards one host starts, one flow every `spacing`, whatever
/// became of the earlier ones. The sources take turns in the order of their list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bursts {
    /// The host that receives.
    pub destination: u32,
    /// The hosts that send; `None` means all but the destination.
    pub sources: Option<Vec<u32>>,
    /// Flows in a burst.
    pub flows: u32,
    /// Time from one start to the next within a burst.
    pub spacing: Time,
    /// Time from the start of one burst to the start of the next.
    pub period: Time,
    /// Number of bursts; `None` goes on for ever.
    pub bursts: Option<u64>,
}

#[derive(Debug)]
struct Periodic {
    options: Bursts,
    sources: Vec<u32>,
    next: Option<Time>,
    left: Option<u64>,
}

impl Bursts {
    pub(super) fn start(self, hosts: &Hosts) -> Result<Box<dyn Running>, TrafficError> {
        let sources = senders(hosts, self.sources.as_deref(), self.destination)?;
        check_count("flows", u64::from(self.flows))?;
        check_limit("bursts", self.bursts)?;
        if self.period == Time::ZERO && self.bursts != Some(1) {
            return Err(TrafficError(
                "period is zero, which would start bursts without end; give a time, or bursts = 1"
                    .to_owned(),
            ));
        }
        Ok(Box::new(Periodic {
            left: self.bursts,
            options: self,
            sources,
            next: None,
        }))
    }
}

impl Running for Periodic {
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
            let sources = self.sources.iter().cycle();
            for (index, &source) in (0..self.options.flows).zip(sources) {
                let spacing = self.options.spacing.saturating_mul(u64::from(index));
                let at = time.max(now).saturating_add(spacing);
                launcher.start(source, self.options.destination, at, starts);
            }
            if let Some(left) = &mut self.left {
                *left -= 1;
            }
            let more = self.left != Some(0);
            self.next = more.then(|| time.saturating_add(self.options.period));
        }
    }

    fn next_wake(&self) -> Option<Time> {
        self.next
    }

    fn to_come(&self) -> Option<u64> {
        self.left
            .map(|bursts| bursts * u64::from(self.options.flows))
    }
}
