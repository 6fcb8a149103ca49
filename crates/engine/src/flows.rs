//! The flows of a run: what they are, and what became of them.

use crate::region::RegionId;
use crate::workload::subflow_count;
use pathweave_scenario::GroupPlan;
use pathweave_traffic::FlowStart;
use pathweave_transport::{
    ReceivingId, ReceivingSubflow, ReceivingView, RttHistogram, Sending, SendingId, SendingSubflow,
    SendingView,
};
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

/// The places of a flow's two halves, and their regions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Halves {
    pub source: RegionId,
    pub destination: RegionId,
    pub sending: SendingId,
    pub receiving: ReceivingId,
}

/// A subflow: its flow's number, its own in the flow, and the places of its halves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubflowEnds {
    pub flow: u32,
    pub subflow: u32,
    pub source: RegionId,
    pub destination: RegionId,
    pub sending: SendingSubflow,
    pub receiving: ReceivingSubflow,
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
    /// Where its two halves stand, while they do.
    pub halves: Option<Halves>,
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
            halves: None,
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

/// Sums over a flow's subflows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct FlowTotals {
    pub retransmits: u64,
    pub reinjected: u64,
    pub timeouts: u64,
    pub marks: u64,
    pub rtt_mean: Option<Time>,
    pub rtt_p99: Option<Time>,
}

/// A subflow's row in the tables.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SubflowRow {
    pub flow: u32,
    pub subflow: u32,
    pub opened: Option<Time>,
    pub received: u64,
    /// Of this, what had not come on another subflow before.
    pub first: u64,
    pub sent_packets: u64,
    pub retransmits: u64,
    pub reinjected: u64,
    pub timeouts: u64,
    pub marks: u64,
    pub rtt_mean: Option<Time>,
    pub rtt_p99: Option<Time>,
    /// Numbers of the links of its path, in the fabric's numbering.
    pub path: u32,
}

impl SubflowRow {
    pub fn new(
        flow: u32,
        subflow: u32,
        view: &SendingView<'_>,
        arrived: &ReceivingView,
        path: u32,
    ) -> SubflowRow {
        SubflowRow {
            flow,
            subflow,
            opened: view.is_open.then_some(view.opened),
            received: arrived.received_bytes,
            first: arrived.first_bytes,
            sent_packets: view.sent_packets,
            retransmits: view.retransmits,
            reinjected: view.reinjected,
            timeouts: view.timeouts,
            marks: view.marks,
            rtt_mean: view.rtts.mean(),
            rtt_p99: view.rtts.percentile(0.99),
            path,
        }
    }
}

/// Adds up a connection's subflows. `scratch` is emptied and filled.
pub(crate) fn totals(
    sending: &Sending,
    connection: SendingId,
    scratch: &mut RttHistogram,
) -> FlowTotals {
    let mut totals = FlowTotals::default();
    let mut subflows = sending.subflows(connection);
    if let (Some(only), None) = (subflows.next(), subflows.next()) {
        let view = sending.subflow(only);
        totals.retransmits = view.retransmits;
        totals.reinjected = view.reinjected;
        totals.timeouts = view.timeouts;
        totals.marks = view.marks;
        totals.rtt_mean = view.rtts.mean();
        totals.rtt_p99 = view.rtts.percentile(0.99);
        return totals;
    }
    scratch.clear();
    for subflow in sending.subflows(connection) {
        let view = sending.subflow(subflow);
        totals.retransmits += view.retransmits;
        totals.reinjected += view.reinjected;
        totals.timeouts += view.timeouts;
        totals.marks += view.marks;
        scratch.merge(view.rtts);
    }
    totals.rtt_mean = scratch.mean();
    totals.rtt_p99 = scratch.percentile(0.99);
    totals
}
