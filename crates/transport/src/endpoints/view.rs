//! What results and self-checks read of connections and subflows.

use super::retransmission::{awaits_reinjection, has_failed};
use super::{ConnectionId, Endpoints, SubflowIndex};
use crate::RttHistogram;
use crate::connection::UNLIMITED;
use crate::sender::Phase;
use pathweave_control::Path;
use pathweave_units::{Bytes, Time};

impl Endpoints {
    /// The subflows of a connection.
    pub fn subflows(&self, id: ConnectionId) -> impl Iterator<Item = SubflowIndex> + use<> {
        let connection = &self.connections[id.0 as usize];
        (connection.first..connection.first + connection.count()).map(SubflowIndex)
    }

    /// The connection of a subflow.
    pub fn connection(&self, subflow: SubflowIndex) -> ConnectionId {
        ConnectionId(self.senders[subflow.0 as usize].connection)
    }

    /// Payload delivered in order so far.
    pub fn delivered(&self, id: ConnectionId) -> Bytes {
        let connection = &self.connections[id.0 as usize];
        connection.bytes(connection.delivered)
    }

    /// Whether everything has been delivered.
    pub fn is_finished(&self, id: ConnectionId) -> bool {
        self.connections[id.0 as usize].finished
    }

    /// Payload of a connection that has been sent at least once.
    pub fn sent(&self, id: ConnectionId) -> Bytes {
        let connection = &self.connections[id.0 as usize];
        connection.bytes(connection.next_data)
    }

    /// Whether a connection waits for what cannot come: none of its subflows has a live path and is
    /// still trying, or has both a live path and something to send.
    pub fn is_stuck(&self, id: ConnectionId, has_live_path: impl Fn(SubflowIndex) -> bool) -> bool {
        let connection = &self.connections[id.0 as usize];
        self.subflows(id).all(|subflow| {
            let sender = &self.senders[subflow.0 as usize];
            let may_reinject =
                connection.count() > 1 && awaits_reinjection(sender, &connection.config);
            let given_up = (has_failed(sender, &connection.config) && !may_reinject)
                || sender.phase == Phase::Unopened;
            let idle = sender.phase == Phase::Open
                && sender.board.outstanding() == 0
                && !connection.has_data();
            idle || (given_up && !has_live_path(subflow))
        })
    }

    /// Counters and congestion state of a subflow.
    pub fn subflow(&self, subflow: SubflowIndex) -> SubflowView<'_> {
        let sender = &self.senders[subflow.0 as usize];
        let receiver = &self.receivers[subflow.0 as usize];
        let connection = &self.connections[sender.connection as usize];
        SubflowView {
            path: &connection.paths[sender.number.0 as usize],
            opened: sender.opened,
            is_open: sender.phase != Phase::Unopened,
            received_bytes: receiver.received_bytes,
            first_bytes: receiver.received_bytes - receiver.duplicate_bytes,
            sent_packets: sender.sent_packets,
            retransmits: sender.retransmits,
            reinjected: sender.reinjected,
            timeouts: sender.timeouts,
            marks: sender.marks,
            rtts: &sender.rtts,
        }
    }

    /// Whether a connection's data was delivered once and in order, as far as its counters tell.
    pub fn is_consistent(&self, id: ConnectionId) -> bool {
        let connection = &self.connections[id.0 as usize];
        let within = connection.total == UNLIMITED || connection.delivered <= connection.total;
        within
            && connection.delivered <= connection.next_data
            && connection.data_acked <= connection.delivered
            && connection.reassembly.is_consistent()
    }
}

/// What can be seen of a subflow from outside.
#[derive(Clone, Copy, Debug)]
pub struct SubflowView<'a> {
    /// Window, ssthresh, RTTs.
    pub path: &'a Path,
    /// When it began to open.
    pub opened: Time,
    /// Whether it has.
    pub is_open: bool,
    /// Payload bytes that arrived on it, each packet counted once.
    pub received_bytes: u64,
    /// Those of them whose data had not come on another subflow before.
    pub first_bytes: u64,
    /// Data packets sent, retransmissions included.
    pub sent_packets: u64,
    /// Retransmissions.
    pub retransmits: u64,
    /// Packets whose data was given to other subflows.
    pub reinjected: u64,
    /// Timeouts.
    pub timeouts: u64,
    /// Marks echoed to the sender.
    pub marks: u64,
    /// RTT samples.
    pub rtts: &'a RttHistogram,
}
