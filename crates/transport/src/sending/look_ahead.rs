//! What the next packets need is fetched from memory together.

use super::Sending;
use crate::output::{End, SendingSubflow};
use crate::segment::Segment;
use std::hint::black_box;

impl Sending {
    /// These packets arrive soon, those of receiving halves among them: what handling them needs is fetched from
    /// memory. Each loop asks for things of every packet that need only what the loop before has fetched. Changes
    /// nothing.
    pub fn look_ahead(&self, segments: &[Segment]) {
        let senders = || {
            let destinations = segments.iter().map(Segment::destination);
            destinations.filter_map(|destination| match destination {
                End::Sending(SendingSubflow(place)) => Some(&self.senders[place as usize]),
                End::Receiving(_) => None,
            })
        };
        for sender in senders() {
            // Of each cache line something.
            black_box((sender.connection, sender.deadline, sender.board.una()));
        }
        for sender in senders() {
            let connection = &self.connections[sender.connection as usize];
            black_box((connection.paths.len(), connection.turn));
        }
        for sender in senders() {
            let connection = &self.connections[sender.connection as usize];
            let path = &connection.paths[sender.number.0 as usize];
            black_box((path.window, path.acked));
        }
        for sender in senders() {
            let connection = &self.connections[sender.connection as usize];
            let path = &connection.paths[sender.number.0 as usize];
            // The next sample will probably be much the same.
            black_box(sender.rtts.count_of(path.smoothed_rtt));
        }
    }
}
