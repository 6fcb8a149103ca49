//! Every host sends to one other host and receives from one.

use super::derangement::derange;
use super::{PermutationPart, Running, check_limit};
use crate::launcher::Launcher;
use crate::{Event, FlowStart, Hosts, TrafficError};
use pathweave_random::Stream;
use pathweave_units::Time;

/// Each host sends one flow to a distinct random other host; when all are done, a new permutation
/// starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permutation {
    /// The hosts that take part, at least two. Not with `pairs`.
    pub hosts: Option<Vec<u32>>,
    /// Number of permutations one after another; `None` goes on for ever.
    pub rounds: Option<u32>,
    /// The pairs of every round, instead of a new permutation of `hosts` for each.
    pub pairs: Option<PermutationPart>,
}

#[derive(Debug)]
struct Rounds {
    pairs: Pairs,
    rounds_left: Option<u32>,
    unfinished: usize,
}

#[derive(Debug)]
enum Pairs {
    /// Every round has a new permutation.
    New {
        hosts: Vec<u32>,
        /// `hosts[i]` sends to `hosts[order[i]]`.
        order: Vec<u32>,
        stream: Stream,
    },
    /// Every round has the same pairs.
    Fixed(Vec<(u32, u32)>),
}

impl Pairs {
    fn count(&self) -> usize {
        match self {
            Pairs::New { order, .. } => order.len(),
            Pairs::Fixed(pairs) => pairs.len(),
        }
    }
}

impl Permutation {
    /// The hosts that may send and receive; `None` for all.
    pub fn hosts(&self) -> &Option<Vec<u32>> {
        self.pairs.as_ref().map_or(&self.hosts, |part| &part.hosts)
    }

    /// Number of flows in a round on a fabric with `all` hosts.
    pub fn flows(&self, all: u32) -> u32 {
        match (&self.pairs, &self.hosts) {
            (Some(PermutationPart { part, .. }), _) => part.end.saturating_sub(part.start),
            (None, Some(hosts)) => hosts.len() as u32,
            (None, None) => all,
        }
    }

    pub(super) fn start(
        self,
        hosts: &Hosts,
        seed: u64,
        stream: Stream,
    ) -> Result<Box<dyn Running>, TrafficError> {
        let pairs = if let Some(part) = &self.pairs {
            Pairs::Fixed(part.draw(hosts, seed)?)
        } else {
            let hosts = hosts.select("hosts", self.hosts.as_deref())?;
            if hosts.len() < 2 {
                return Err(TrafficError(
                    "a permutation needs at least two hosts".to_owned(),
                ));
            }
            Pairs::New {
                order: (0..hosts.len() as u32).collect(),
                hosts,
                stream,
            }
        };
        check_limit("rounds", self.rounds.map(u64::from))?;
        Ok(Box::new(Rounds {
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
        match &mut self.pairs {
            Pairs::New {
                hosts,
                order,
                stream,
            } => {
                derange(order, stream);
                for (from, &to) in order.iter().enumerate() {
                    launcher.start(hosts[from], hosts[to as usize], now, starts);
                }
            }
            Pairs::Fixed(pairs) => {
                for &(from, to) in pairs.iter() {
                    launcher.start(from, to, now, starts);
                }
            }
        }
        self.unfinished = self.pairs.count();
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
        rounds.map(|rounds| rounds * self.pairs.count() as u64)
    }
}
