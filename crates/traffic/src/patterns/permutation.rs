//! Every host sends to one other host and receives from one.

use super::{Running, check_limit};
use crate::program::Launcher;
use crate::{Event, FlowStart, Hosts, TrafficError};
use pathweave_random::Stream;
use pathweave_units::Time;

/// Each host sends one flow to a distinct random other host; when all are done, a new permutation
/// starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permutation {
    /// The hosts that take part, at least two.
    pub hosts: Option<Vec<u32>>,
    /// Number of permutations one after another; `None` goes on for ever.
    pub rounds: Option<u32>,
}

#[derive(Debug)]
struct Rounds {
    hosts: Vec<u32>,
    /// `hosts[i]` sends to `hosts[order[i]]`.
    order: Vec<u32>,
    pairs: Stream,
    rounds_left: Option<u32>,
    unfinished: usize,
}

impl Permutation {
    pub(super) fn start(
        self,
        hosts: &Hosts,
        pairs: Stream,
    ) -> Result<Box<dyn Running>, TrafficError> {
        let hosts = hosts.select("hosts", self.hosts.as_deref())?;
        if hosts.len() < 2 {
            return Err(TrafficError(
                "a permutation needs at least two hosts".to_owned(),
            ));
        }
        check_limit("rounds", self.rounds.map(u64::from))?;
        Ok(Box::new(Rounds {
            order: (0..hosts.len() as u32).collect(),
            hosts,
            pairs,
            rounds_left: self.rounds,
            unfinished: 0,
        }))
    }
}

impl Rounds {
    fn begin_round(&mut self, now: Time, launcher: &mut Launcher, starts: &mut Vec<FlowStart>) {
        if launcher.draining() || self.rounds_left == Some(0) {
            return;
        }
        if let Some(left) = &mut self.rounds_left {
            *left -= 1;
        }
        // Rejecting permutations with a fixed point keeps all derangements equally likely; one in e
        // passes, whatever the number of hosts.
        loop {
            self.pairs.shuffle(&mut self.order);
            if self
                .order
                .iter()
                .enumerate()
                .all(|(from, &to)| from != to as usize)
            {
                break;
            }
        }
        for (from, &to) in self.order.iter().enumerate() {
            launcher.start(self.hosts[from], self.hosts[to as usize], now, starts);
        }
        self.unfinished = self.order.len();
    }
}

impl Running for Rounds {
    fn on(
        &mut self,
        event: Event,
        now: Time,
        launcher: &mut Launcher,
        starts: &mut Vec<FlowStart>,
    ) {
        match event {
            Event::Begin => self.begin_round(now, launcher, starts),
            Event::Wake => {}
            Event::Finished { .. } => {
                self.unfinished = self.unfinished.saturating_sub(1);
                if self.unfinished == 0 {
                    self.begin_round(now, launcher, starts);
                }
            }
        }
    }

    fn to_come(&self) -> Option<u64> {
        let rounds = self.rounds_left.map(u64::from);
        rounds.map(|rounds| rounds * self.hosts.len() as u64)
    }
}
