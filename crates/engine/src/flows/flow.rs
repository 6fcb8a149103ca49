//! The flows of a run: what they are, and what became of them.

use crate::listed::subflow_count;
use pathweave_scenario::GroupPlan;
use pathweave_traffic::FlowStart;
use pathweave_units::{Bytes, Time};

/// How a flow ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// All of its size was delivered.
    Finished,
    /// Its own `stop` or that of its group came before.
    Stopped,
    /// The run ended before.
    Unfinished,
    /// It did not even start: the run ended before, or took no more flows.
    Unstarted,
}

impl Ending {
    /// All of them, in the order of the words that tables carry.
    pub const ALL: [Ending; 4] = [
        Ending::Finished,
        Ending::Stopped,
        Ending::Unfinished,
        Ending::Unstarted,
    ];

    /// The word that tables carry.
    pub fn as_str(self) -> &'static str {
        match self {
            Ending::Finished => "finished",
            Ending::Stopped => "stopped",
            Ending::Unfinished => "unfinished",
            Ending::Unstarted => "unstarted",
        }
    }
}

/// A flow, from the moment that a traffic group asked for it.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub group: u32,
    /// Its group's name for it.
    pub tag: u64,
    pub source: u32,
    pub destination: u32,
    pub size: Option<Bytes>,
    pub subflows: u32,
    pub job: Option<u32>,
    pub listed: Option<u32>,
    /// Its connection exists already: it answers a request.
    pub established: bool,
    pub start: Time,
    /// Its time to start has come, and it has.
    pub started: bool,
    /// Its own `stop` or that of its group has come.
    pub stopped: bool,
    /// When the last byte that it sent was delivered.
    pub end: Option<Time>,
    /// When it would have been alone in the fabric.
    pub ideal: Option<Time>,
    pub delivered: Bytes,
    pub stalled: bool,
}

impl Flow {
    /// As a traffic group asks for it.
    pub fn new(group: u32, plan: &GroupPlan, start: &FlowStart) -> Flow {
        Flow {
            group,
            tag: start.tag,
            source: start.source,
            destination: start.destination,
            size: start.size,
            subflows: subflow_count(plan, start.listed),
            job: start.job,
            listed: start.listed,
            established: start.established,
            start: start.at,
            started: false,
            stopped: false,
            end: None,
            ideal: None,
            delivered: Bytes::ZERO,
            stalled: false,
        }
    }

    /// How it has ended. A flow of unlimited size never finishes.
    pub fn ending(&self) -> Ending {
        let is_whole = self.size.is_some_and(|size| self.delivered >= size);
        match (self.end, self.stopped) {
            (Some(_), _) if is_whole => Ending::Finished,
            (_, true) => Ending::Stopped,
            (_, false) if self.started => Ending::Unfinished,
            (_, false) => Ending::Unstarted,
        }
    }

    /// Its completion time, if it has finished.
    pub fn completion_time(&self) -> Option<Time> {
        let finished = self.ending() == Ending::Finished;
        self.end.filter(|_| finished).map(|end| end - self.start)
    }
}
