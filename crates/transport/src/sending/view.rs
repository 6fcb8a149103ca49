//! What results and self-checks read of sending halves.

use super::retransmission::{awaits_reinjection, has_failed};
use super::subflow::Phase;
use super::{Sender, Sending};
use crate::RttHistogram;
use crate::ends::{ReceivingId, SendingId, SendingSubflow};
use crate::receiving::Receiving;
use crate::segment::UNLIMITED;
use pathweave_control::Path;
use pathweave_units::{Bytes, Time};

impl Sending {
    /// The subflows of a connection.
    pub fn subflows(&self, id: SendingId) -> impl Iterator<Item = SendingSubflow> + use<> {
        let connection = &self.connections[id.0 as usize];
        (connection.first..connection.first + connection.count()).map(SendingSubflow)
    }

    fn senders_of(&self, id: SendingId) -> &[Sender] {
        let connection = &self.connections[id.0 as usize];
        let first = connection.first as usize;
        &self.senders[first..first + connection.paths.len()]
    }

    /// The flow's number.
    pub fn flow(&self, id: SendingId) -> u32 {
        self.connections[id.0 as usize].flow
    }

    /// The connection of a subflow.
    pub fn connection(&self, subflow: SendingSubflow) -> SendingId {
        SendingId(self.senders[subflow.0 as usize].connection)
    }

    /// The flow of a subflow, and the subflow's number in it.
    pub fn owner(&self, subflow: SendingSubflow) -> (u32, u32) {
        let sender = &self.senders[subflow.0 as usize];
        (sender.flow, sender.number.0)
    }

    /// Payload of a connection that has been sent at least once, or given to a subflow to send.
    pub fn sent(&self, id: SendingId) -> Bytes {
        let connection = &self.connections[id.0 as usize];
        connection.bytes(connection.next_data)
    }

    /// Hands what a connection has waited for to `each`, by place in [`Wait::ALL`]: until `end`, when its last data was
    /// delivered, or until `now` where that has not happened. The sum is the time since it started.
    ///
    /// [`Wait::ALL`]: crate::Wait::ALL
    pub fn waits(
        &self,
        id: SendingId,
        end: Option<Time>,
        now: Time,
        each: impl FnMut(usize, Time),
    ) {
        self.connections[id.0 as usize].account.over(end, now, each);
    }

    /// Whether everything has been acknowledged.
    pub fn is_closed(&self, id: SendingId) -> bool {
        self.connections[id.0 as usize].closed
    }

    /// Packets that this half has sent, less those that came to it and those that were lost on the way to
    /// it, modulo 2^32. Together with [`Receiving::in_network`] it is what the network holds.
    pub fn in_network(&self, id: SendingId) -> u32 {
        let add = |sum: u32, subflow: &Sender| sum.wrapping_add(subflow.in_network);
        self.senders_of(id).iter().fold(0, add)
    }

    /// Whether a connection waits for what cannot come: none of its subflows has a live path and is
    /// still trying, or has both a live path and something to send.
    pub fn is_stuck(&self, id: SendingId, has_live_path: impl Fn(SendingSubflow) -> bool) -> bool {
        let connection = &self.connections[id.0 as usize];
        self.subflows(id).all(|subflow| {
            let sender = &self.senders[subflow.0 as usize];
            let may_reinject =
                connection.count() > 1 && awaits_reinjection(sender, &connection.config);
            let given_up = (has_failed(sender, &connection.config) && !may_reinject)
                || sender.phase == Phase::Unopened;
            // It opens when another one has, or has sent enough.
            let waits = sender.phase == Phase::Unopened
                && sender.number.0 > 0
                && connection.joins_from != u32::MAX;
            let idle = sender.phase == Phase::Open
                && sender.board.outstanding() == 0
                && !connection.has_data()
                && !connection.awaits_writing()
                && !connection.has_data_for(sender.number);
            waits || idle || (given_up && !has_live_path(subflow))
        })
    }

    /// Counters and congestion state of a subflow.
    pub fn subflow(&self, subflow: SendingSubflow) -> SendingView<'_> {
        let sender = &self.senders[subflow.0 as usize];
        let connection = &self.connections[sender.connection as usize];
        SendingView {
            path: &connection.paths[sender.number.0 as usize],
            opened: sender.opened,
            is_open: sender.phase != Phase::Unopened,
            sent_packets: sender.sent_packets(),
            retransmits: sender.retransmits,
            reinjected: sender.reinjected,
            timeouts: sender.timeouts,
            probes: sender.repair.as_ref().map_or(0, |repair| repair.probes),
            marks: sender.marks,
            held: sender.small_queue.as_ref().map_or(0, |queue| queue.held),
            rtts: &sender.rtts,
        }
    }

    /// Whether a connection's two halves agree: what the other one has delivered has been sent, and what
    /// this one takes for delivered has been.
    pub fn agrees_with(&self, id: SendingId, receiving: &Receiving, other: ReceivingId) -> bool {
        let connection = &self.connections[id.0 as usize];
        let delivered = receiving.delivered_segments(other);
        let within = connection.total == UNLIMITED || delivered <= connection.total;
        within && delivered <= connection.next_data && connection.data_acked <= delivered
    }
}

/// What can be seen of a subflow's sending half from outside.
#[derive(Clone, Copy, Debug)]
pub struct SendingView<'a> {
    /// Window, ssthresh, RTTs.
    pub path: &'a Path,
    /// When it began to open.
    pub opened: Time,
    /// Whether it has.
    pub is_open: bool,
    /// Data packets sent, retransmissions included.
    pub sent_packets: u64,
    /// Retransmissions.
    pub retransmits: u64,
    /// Packets whose data was given to other subflows.
    pub reinjected: u64,
    /// Timeouts.
    pub timeouts: u64,
    /// Tail loss probes sent.
    pub probes: u64,
    /// Marks echoed to the sender.
    pub marks: u64,
    /// Packets for which the host's own port had no place.
    pub held: u64,
    /// RTT samples.
    pub rtts: &'a RttHistogram,
}
