//! What the next packets need is fetched from memory together.

use super::Endpoints;
use crate::segment::Segment;
use std::hint::black_box;

impl Endpoints {
    /// These packets arrive soon: what handling them needs is fetched from memory. Each loop asks for things of every
    /// packet that need only what the loop before has fetched. Changes nothing.
    pub fn look_ahead(&self, segments: &[Segment]) {
        for segment in segments {
            let index = segment.subflow.0 as usize;
            let (sender, receiver) = (&self.senders[index], &self.receivers[index]);
            // Of each cache line something.
            black_box((sender.connection, sender.timer_at, sender.sent_packets));
            black_box((receiver.next, receiver.received_bytes));
        }
        for segment in segments {
            let sender = &self.senders[segment.subflow.0 as usize];
            let connection = &self.connections[sender.connection as usize];
            black_box((connection.first, connection.total, connection.paths.len()));
        }
        for segment in segments {
            let sender = &self.senders[segment.subflow.0 as usize];
            let connection = &self.connections[sender.connection as usize];
            let path = &connection.paths[sender.number.0 as usize];
            black_box((path.acked, sender.board.una()));
        }
    }
}
