//! GOAL schedules.

use super::{Running, check_count};
use crate::placement::{Placement, Teams};
use crate::tasks::Graph;
use crate::tasks::playing::{Manner, Playing, Work};
use crate::{Hosts, TrafficError};
use pathweave_random::Stream;
use std::sync::Arc;

/// Jobs that carry out a schedule, each on hosts of its own. The group's size is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    /// The tasks.
    pub graph: Arc<Graph>,
    /// The schedule's number of ranks.
    pub ranks: u32,
    /// Where they are.
    pub placement: Placement,
    /// Number of jobs; `None` takes as many as there are hosts for.
    pub jobs: Option<u32>,
    /// How often each carries the schedule out, one time after the other.
    pub iterations: u64,
}

impl Goal {
    /// The hosts of each job, by rank.
    ///
    /// # Errors
    /// When there are not enough hosts; the text names the option.
    pub fn teams(&self, hosts: &Hosts, seed: u64, group: u64) -> Result<Teams, TrafficError> {
        let stream = Stream::new(seed, "traffic.placement", group);
        let ranks = self.ranks;
        let too_few = |hosts| {
            format!("the schedule has {ranks} ranks, but there are {hosts} hosts; give more hosts")
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
        let teams = self.teams(hosts, seed, group)?;
        let work = |hosts| Work {
            graph: Arc::clone(&self.graph),
            hosts,
            iterations: self.iterations,
            computing: None,
        };
        let manner = Manner {
            keep_connections: true,
            whole_iterations: true,
            put_off: true,
        };
        let works = teams.hosts.into_iter().map(work).collect();
        Ok(Box::new(Playing::new(works, manner)))
    }
}
