//! What a program is told, and what it answers.

use pathweave_units::{Bytes, Time};

/// A flow that a program wants started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowStart {
    /// The program's own name for it; comes back in [`Event::Finished`]. Counts up from zero.
    pub tag: u64,
    /// Index of the sending host.
    pub source: u32,
    /// Index of the receiving host.
    pub destination: u32,
    /// How much to send; `None` sends until it is stopped.
    pub size: Option<Bytes>,
    /// When to start: now or later.
    pub at: Time,
    /// When to stop sending, if ever.
    pub stop: Option<Time>,
    /// The job it belongs to, an index into [`Program::jobs`].
    pub job: Option<u32>,
    /// For explicitly listed flows, which entry of the list it is: engine and results find its
    /// name, pinned paths and subflow opening times there.
    pub listed: Option<u32>,
    /// It answers on a connection that is open already, so no handshake comes first.
    pub established: bool,
}

/// What a program is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The run begins.
    Begin,
    /// The time that [`Program::next_wake`] named has come.
    Wake,
    /// The news of a flow whose last byte was delivered.
    Finished {
        /// The flow's tag.
        tag: u64,
        /// When that was: not after the program hears of it, and usually before.
        at: Time,
    },
}

/// A job: a group of flows that counts as done when its last one is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// When its first flow started.
    pub start: Time,
    /// When its last flow finished, if it has.
    pub end: Option<Time>,
    /// Number of flows in it.
    pub flows: u32,
    /// Bytes asked of it in total.
    pub bytes: Bytes,
}

/// An iteration of a job that repeats: one row of [`Program::iterations`] for each of [`Program::jobs`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iteration {
    /// Its index in [`Program::jobs`].
    pub job: u32,
    /// Which of the group's teams of hosts carried it out, from 0.
    pub team: u32,
    /// Its number among the team's iterations, from 0.
    pub number: u64,
    /// When it began: with computing, where there is any.
    pub began: Time,
    /// When all of it was done, computing that follows the last transfer included.
    pub ended: Option<Time>,
}
