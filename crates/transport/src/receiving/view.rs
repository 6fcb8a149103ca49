//! What results and self-checks read of receiving halves.

use super::{Receiver, Receiving};
use crate::ends::{ReceivingId, ReceivingSubflow};
use pathweave_units::{Bytes, Time};

/// What can be seen of a subflow's receiving half from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivingView {
    /// Payload bytes that arrived on it, each packet counted once.
    pub received_bytes: u64,
    /// Those of them whose data had not come on another subflow before.
    pub first_bytes: u64,
}

impl Receiving {
    /// The subflows of a connection.
    pub fn subflows(&self, id: ReceivingId) -> impl Iterator<Item = ReceivingSubflow> + use<> {
        let connection = &self.connections[id.0 as usize];
        (connection.first..connection.first + connection.count).map(ReceivingSubflow)
    }

    fn receivers_of(&self, id: ReceivingId) -> &[Receiver] {
        let connection = &self.connections[id.0 as usize];
        let first = connection.first as usize;
        &self.receivers[first..first + connection.count as usize]
    }

    /// The connection of a subflow.
    pub fn connection(&self, subflow: ReceivingSubflow) -> ReceivingId {
        ReceivingId(self.receivers[subflow.0 as usize].connection)
    }

    /// The flow's number.
    pub fn flow(&self, id: ReceivingId) -> u32 {
        self.connections[id.0 as usize].flow
    }

    /// The flow of a subflow, and the subflow's number in it.
    pub fn owner(&self, subflow: ReceivingSubflow) -> (u32, u32) {
        let receiver = &self.receivers[subflow.0 as usize];
        (receiver.flow, u32::from(receiver.number))
    }

    /// Payload delivered in order so far.
    pub fn delivered(&self, id: ReceivingId) -> Bytes {
        self.connections[id.0 as usize].bytes()
    }

    /// When something was last delivered in order; zero if nothing was.
    pub fn delivered_at(&self, id: ReceivingId) -> Time {
        self.connections[id.0 as usize].delivered_at
    }

    /// Segments delivered in order so far.
    pub(crate) fn delivered_segments(&self, id: ReceivingId) -> u32 {
        self.connections[id.0 as usize].delivered
    }

    /// Whether everything has been delivered.
    pub fn is_finished(&self, id: ReceivingId) -> bool {
        self.connections[id.0 as usize].finished
    }

    /// Whether nothing is left to be acknowledged later.
    pub fn is_idle(&self, id: ReceivingId) -> bool {
        let is_idle = |subflow: &Receiver| {
            subflow.ack_deadline == Time::MAX && !subflow.gathering.is_under_way()
        };
        self.receivers_of(id).iter().all(is_idle)
    }

    /// Packets that this half has sent, less those that came to it and those that were lost on the way to
    /// it, modulo 2^32. Together with [`crate::Sending::in_network`] it is what the network holds.
    pub fn in_network(&self, id: ReceivingId) -> u32 {
        let add = |sum: u32, subflow: &Receiver| sum.wrapping_add(subflow.in_network);
        self.receivers_of(id).iter().fold(0, add)
    }

    /// Counters of a subflow.
    pub fn subflow(&self, subflow: ReceivingSubflow) -> ReceivingView {
        let receiver = &self.receivers[subflow.0 as usize];
        ReceivingView {
            received_bytes: receiver.received_bytes,
            first_bytes: receiver.received_bytes - receiver.duplicate_bytes,
        }
    }

    /// Whether a connection's data was delivered once and in order, as far as this half can tell.
    pub fn is_consistent(&self, id: ReceivingId) -> bool {
        let connection = &self.connections[id.0 as usize];
        connection.delivered <= connection.total && connection.reassembly.is_consistent()
    }
}
