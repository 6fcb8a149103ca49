//! Collective operations of jobs that compute and communicate in turn.

use super::{Running, check_count};
use crate::collectives::Shape;
use crate::placement::{Placement, Teams};
use crate::tasks::playing::{Computing, Manner, Playing, Work};
use crate::{Hosts, TrafficError};
use pathweave_random::Stream;
use pathweave_units::Time;
use std::sync::Arc;

/// Jobs, each on a team of hosts of its own. In each iteration all ranks of a team compute, then carry out the
/// operation; the next iteration begins when the last rank is done. The group's size is not used.
#[derive(Clone, Debug, PartialEq)]
pub struct Collective {
    /// What is done in an iteration, by how many ranks.
    pub shape: Shape,
    /// Where the ranks of each job are.
    pub placement: Placement,
    /// Number of jobs; `None` takes as many as there are hosts for.
    pub jobs: Option<u32>,
    /// Iterations of each job, one after the other.
    pub iterations: u64,
    /// How long a rank computes before it communicates: drawn uniformly between these for each rank and iteration.
    pub compute: (Time, Time),
    /// Ranks that compute for longer.
    pub stragglers: Option<Stragglers>,
}

/// Ranks that compute for longer than the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Stragglers {
    /// Which.
    pub which: Slow,
    /// How many times as long.
    pub factor: f64,
}

/// Which ranks are slow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slow {
    /// This many of each job, drawn once.
    Ranks(u32),
    /// Those on these hosts.
    Hosts(Vec<u32>),
}

impl Collective {
    /// The hosts of each job, by rank.
    ///
    /// # Errors
    /// When there are not enough hosts; the text names the option.
    pub fn teams(&self, hosts: &Hosts, seed: u64, group: u64) -> Result<Teams, TrafficError> {
        let stream = Stream::new(seed, "traffic.placement", group);
        let ranks = self.shape.ranks;
        let too_few = |hosts| {
            format!(
                "group_size is {ranks}, but there are {hosts} hosts; give a smaller group_size, or more hosts"
            )
        };
        self.placement
            .teams(hosts, ranks, self.jobs, too_few, stream)
    }

    pub(super) fn start(
        self,
        hosts: &Hosts,
        seed: u64,
        group: u64,
    ) -> Result<Box<dyn Running>, TrafficError> {
        check_count("iterations", self.iterations)?;
        let (least, most) = self.compute;
        if least > most {
            return Err(TrafficError(format!(
                "compute runs from {least} to {most}; write the shorter time first"
            )));
        }
        if let Some(stragglers) = &self.stragglers {
            stragglers.check(hosts, self.shape.ranks)?;
        }
        let graph = Arc::new(self.shape.graph()?);
        let teams = self.teams(hosts, seed, group)?;
        let mut slow = Stream::new(seed, "traffic.stragglers", group);
        // A job has its own stream, so that its times do not depend on when the others go on.
        let own = pathweave_random::hash(&[seed, group]);
        let work = |(team, hosts): (u64, Vec<u32>)| Work {
            graph: Arc::clone(&graph),
            iterations: self.iterations,
            computing: (most > Time::ZERO).then(|| Computing {
                least,
                most,
                factors: factors(self.stragglers.as_ref(), &hosts, &mut slow),
                stream: Stream::new(own, "traffic.compute", team),
            }),
            hosts,
        };
        let works = (0u64..).zip(teams.hosts).map(work).collect();
        let manner = Manner {
            keep_connections: true,
            whole_iterations: true,
            put_off: true,
        };
        Ok(Box::new(Playing::new(works, manner)))
    }
}

impl Stragglers {
    fn check(&self, hosts: &Hosts, ranks: u32) -> Result<(), TrafficError> {
        if !(self.factor.is_finite() && self.factor >= 1.0 && self.factor <= MOST_FACTOR) {
            return Err(TrafficError(format!(
                "stragglers.factor is {}; it must be between 1 and {MOST_FACTOR}",
                self.factor
            )));
        }
        match &self.which {
            Slow::Ranks(count) if *count > ranks => Err(TrafficError(format!(
                "stragglers.count is {count}, but a job has {ranks} ranks"
            ))),
            Slow::Ranks(_) => Ok(()),
            Slow::Hosts(list) => hosts.select("stragglers.hosts", Some(list)).map(drop),
        }
    }
}

/// A rank that computes a thousand times as long is a mistake in the unit.
const MOST_FACTOR: f64 = 1000.0;

/// By rank, how many times as long as the others it computes.
fn factors(stragglers: Option<&Stragglers>, hosts: &[u32], stream: &mut Stream) -> Vec<f64> {
    let mut factors = vec![1.0; hosts.len()];
    let Some(stragglers) = stragglers else {
        return factors;
    };
    match &stragglers.which {
        Slow::Ranks(count) => {
            let mut ranks: Vec<usize> = (0..hosts.len()).collect();
            stream.shuffle(&mut ranks);
            for &rank in &ranks[..*count as usize] {
                factors[rank] = stragglers.factor;
            }
        }
        Slow::Hosts(slow) => {
            for (factor, host) in factors.iter_mut().zip(hosts) {
                if slow.contains(host) {
                    *factor = stragglers.factor;
                }
            }
        }
    }
    factors
}
