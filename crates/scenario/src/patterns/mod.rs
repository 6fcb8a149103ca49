//! Traffic patterns as a scenario has them: one a file, with its keys and what becomes of them.

mod arriving;
mod bursts;
mod collective;
mod goal;
mod hosts;
mod incast;
mod load_counts;
mod many_to_many;
mod many_to_one;
mod permutation;
mod permutation_pairs;
mod placement;
mod poisson;
mod random;
mod recording;
mod request_response;
mod resolving;
mod sizes;
mod trace;

pub(crate) use bursts::BurstsTable;
pub(crate) use collective::CollectiveTable;
pub(crate) use goal::GoalTable;
pub(crate) use hosts::HostsText;
pub(crate) use incast::IncastTable;
pub(crate) use load_counts::LoadCounts;
pub(crate) use many_to_many::ManyToManyTable;
pub(crate) use many_to_one::ManyToOneTable;
pub(crate) use permutation::PermutationTable;
pub(crate) use poisson::PoissonTable;
pub(crate) use random::RandomTable;
pub(crate) use recording::largest;
pub(crate) use request_response::RequestResponseTable;
pub(crate) use resolving::{InGroup, ResolvePattern};
pub(crate) use trace::TraceTable;

use crate::read::tagged;
use crate::schema::FlowsTable;

tagged! {
    /// Which hosts talk to which, and when.
    pub(crate) enum PatternTable by "pattern" {
        /// Each host sends to one random other host and receives from one; when all are done, a new permutation begins.
        "permutation" => Permutation(PermutationTable),
        /// Each host sends to a random host and picks again when done.
        "random" => Random(RandomTable),
        /// Jobs: one client asks several servers, each answers, then the next job starts.
        "incast" => Incast(IncastTable),
        /// Flows between random pairs that arrive by a Poisson process.
        "poisson" => Poisson(PoissonTable),
        /// Several hosts send to one, a fixed number of flows at a time.
        "many-to-one" => ManyToOne(ManyToOneTable),
        /// A flow at regular times from a random host of one set to a random host of another.
        "many-to-many" => ManyToMany(ManyToManyTable),
        /// Every period a burst of flows towards one host.
        "bursts" => Bursts(BurstsTable),
        /// Flows listed one by one.
        "flows" => Flows(FlowsTable),
        /// Jobs that compute and carry out a collective operation in turn.
        "collective" => Collective(CollectiveTable),
        /// Flows from a file.
        "trace" => Trace(TraceTable),
        /// Jobs that carry out a GOAL schedule.
        "goal" => Goal(GoalTable),
        /// Clients ask a random server, wait for its answer, and ask again.
        "request-response" => RequestResponse(RequestResponseTable),
    }
}

impl PatternTable {
    /// What resolves it; `None` for listed flows, which are resolved one by one.
    pub fn resolving(&mut self) -> Option<&mut dyn ResolvePattern> {
        Some(match self {
            PatternTable::Permutation(table) => table,
            PatternTable::Random(table) => table,
            PatternTable::Incast(table) => table,
            PatternTable::Poisson(table) => table,
            PatternTable::ManyToOne(table) => table,
            PatternTable::ManyToMany(table) => table,
            PatternTable::Bursts(table) => table,
            PatternTable::Collective(table) => table,
            PatternTable::Trace(table) => table,
            PatternTable::Goal(table) => table,
            PatternTable::RequestResponse(table) => table,
            PatternTable::Flows(_) => return None,
        })
    }
}
