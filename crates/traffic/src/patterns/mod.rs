//! Which hosts talk to which, and when: one pattern a file.

mod active;
mod bursts;
mod collective;
mod derangement;
mod goal;
mod incast;
mod listed;
mod many_to_many;
mod many_to_one;
mod pairs;
mod permutation;
mod permutation_part;
mod poisson;
mod random;
mod request_response;
mod trace;

pub(crate) use active::Active;
pub use bursts::Bursts;
pub use collective::{Collective, Slow, Stragglers};
pub use goal::Goal;
pub use incast::Incast;
pub use listed::{Listed, ListedFlow};
pub use many_to_many::ManyToMany;
pub use many_to_one::ManyToOne;
pub use permutation::Permutation;
pub use permutation_part::PermutationPart;
pub use poisson::{Arrivals, Poisson};
pub use random::Random;
pub use request_response::RequestResponse;
pub use trace::Trace;

use crate::launcher::Launcher;
use crate::{Event, FlowStart, Hosts, Size, TrafficError};
use pathweave_random::Stream;
use pathweave_units::Time;
use std::fmt::Debug;

/// A pattern with its options. Host lists hold host indexes; `None` means all hosts.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// Every host sends to one other host and receives from one.
    Permutation(Permutation),
    /// Every host keeps sending to random hosts.
    Random(Random),
    /// Jobs in which one client asks several servers at once.
    Incast(Incast),
    /// Flows between random pairs that arrive by a Poisson process.
    Poisson(Poisson),
    /// Several hosts keep sending to one.
    ManyToOne(ManyToOne),
    /// A flow at regular times from one set of hosts to another.
    ManyToMany(ManyToMany),
    /// Periodic bursts of flows towards one host.
    Bursts(Bursts),
    /// Flows listed one by one.
    Listed(Listed),
    /// Collective operations of jobs.
    Collective(Collective),
    /// Recorded flows.
    Trace(Trace),
    /// Jobs that carry out GOAL schedules.
    Goal(Goal),
    /// Clients that ask a server, wait for its answer, and ask again.
    RequestResponse(RequestResponse),
}

/// The patterns by the names that scenarios use, with one line of help each.
pub const PATTERNS: &[(&str, &str)] = &[
    (
        "permutation",
        "each host sends to one random other host and receives from one; a new permutation when all are done",
    ),
    (
        "random",
        "each host sends to a random host and picks again when done (closed loop), with a limit of flows per receiver",
    ),
    (
        "incast",
        "jobs: one client asks several servers, each answers, then the next job starts",
    ),
    (
        "poisson",
        "flows between random pairs, Poisson arrivals at a rate or at a load of a layer",
    ),
    (
        "many-to-one",
        "several hosts send to one, a fixed number of flows at a time",
    ),
    (
        "many-to-many",
        "a flow at regular times from a random host of one set to a random host of another",
    ),
    (
        "bursts",
        "every period a burst of flows towards one host, a fixed time apart",
    ),
    ("flows", "flows listed one by one with their start times"),
    (
        "collective",
        "jobs that compute and communicate in turn: all-reduce, all-gather, all-to-all, a pipeline",
    ),
    (
        "trace",
        "flows from a file: start, source, destination, bytes and what they wait for",
    ),
    (
        "goal",
        "jobs that carry out a GOAL schedule (LogGOPSim): sends, receives, computing",
    ),
    (
        "request-response",
        "clients ask a random server, wait for its answer and ask again, with service and think times",
    ),
];

/// A pattern at work. It reads its own random stream and starts flows through the launcher.
pub(crate) trait Running: Debug + Send + Sync {
    /// Handles an event; see [`crate::Program::on`].
    fn on(&mut self, event: Event, now: Time, launcher: &mut Launcher, starts: &mut Vec<FlowStart>);

    /// When it next wants to be woken.
    fn next_wake(&self) -> Option<Time> {
        None
    }

    /// When it next wants to be woken though nothing new shall start, for what is under way.
    fn wake_while_draining(&self) -> Option<Time> {
        None
    }

    /// How many flows it will still start, where that is known.
    fn to_come(&self) -> Option<u64> {
        None
    }
}

impl Pattern {
    /// The name that scenarios use for it.
    pub fn name(&self) -> &'static str {
        let index = match self {
            Pattern::Permutation(_) => 0,
            Pattern::Random(_) => 1,
            Pattern::Incast(_) => 2,
            Pattern::Poisson(_) => 3,
            Pattern::ManyToOne(_) => 4,
            Pattern::ManyToMany(_) => 5,
            Pattern::Bursts(_) => 6,
            Pattern::Listed(_) => 7,
            Pattern::Collective(_) => 8,
            Pattern::Trace(_) => 9,
            Pattern::Goal(_) => 10,
            Pattern::RequestResponse(_) => 11,
        };
        PATTERNS[index].0
    }

    /// Whether its flows belong to jobs.
    pub fn has_jobs(&self) -> bool {
        matches!(
            self,
            Pattern::Incast(_)
                | Pattern::Collective(_)
                | Pattern::Trace(_)
                | Pattern::Goal(_)
                | Pattern::RequestResponse(_)
        )
    }

    /// Whether anything follows from the end of a flow: another one starts, or a job gets on. Elsewhere flows start at
    /// times of their own (open loop). Flows of unlimited size never finish; when they are stopped, nothing follows.
    pub fn heeds_ends(&self, size: &Size) -> bool {
        match self {
            Pattern::Poisson(_)
            | Pattern::ManyToMany(_)
            | Pattern::Bursts(_)
            | Pattern::Listed(_) => false,
            Pattern::Permutation(options) if options.rounds == Some(1) => false,
            Pattern::Permutation(_) | Pattern::Random(_) | Pattern::ManyToOne(_) => {
                *size != Size::Unlimited
            }
            Pattern::Incast(_)
            | Pattern::Collective(_)
            | Pattern::Trace(_)
            | Pattern::Goal(_)
            | Pattern::RequestResponse(_) => true,
        }
    }

    /// Whether the flows between two hosts share a connection, which stays open and keeps its paths.
    pub fn keeps_connections(&self) -> bool {
        matches!(self, Pattern::Collective(_) | Pattern::Goal(_))
    }

    /// Checks the options against the hosts and gets ready to run.
    pub(crate) fn start(
        self,
        hosts: &Hosts,
        seed: u64,
        group: u64,
        launcher: &Launcher,
    ) -> Result<Box<dyn Running>, TrafficError> {
        let pairs = Stream::new(seed, "traffic.pairs", group);
        match self {
            Pattern::Permutation(options) => options.start(hosts, seed, pairs),
            Pattern::Random(options) => options.start(hosts, pairs),
            Pattern::Incast(options) => options.start(hosts, pairs),
            Pattern::Poisson(options) => options.start(hosts, seed, pairs, launcher.size()),
            Pattern::ManyToOne(options) => options.start(hosts, pairs),
            Pattern::ManyToMany(options) => options.start(hosts, pairs),
            Pattern::Bursts(options) => options.start(hosts),
            Pattern::Listed(options) => options.start(hosts),
            Pattern::Collective(options) => options.start(hosts, seed, group),
            Pattern::Trace(options) => options.start(hosts),
            Pattern::Goal(options) => options.start(hosts, seed, group),
            Pattern::RequestResponse(options) => options.start(hosts, pairs),
        }
    }
}

/// Refuses a number of zero.
fn check_count(option: &str, value: u64) -> Result<(), TrafficError> {
    if value == 0 {
        return Err(TrafficError(format!(
            "{option} is 0; it must be at least 1"
        )));
    }
    Ok(())
}

/// Refuses an optional number of zero.
fn check_limit(option: &str, value: Option<u64>) -> Result<(), TrafficError> {
    if value == Some(0) {
        return Err(TrafficError(format!(
            "{option} is 0; it must be at least 1, or left out to go on for ever"
        )));
    }
    Ok(())
}
