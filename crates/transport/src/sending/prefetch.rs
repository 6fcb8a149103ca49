//! What the next packets need is fetched from memory together.

use super::{Sender, Sending};
use crate::ends::{End, SendingSubflow};
use crate::segment::Segment;
use pathweave_control::Path;
use std::hint::black_box;

impl Sending {
    /// These packets arrive soon, those of receiving halves among them: what handling them needs is fetched from
    /// memory. Each loop asks for things of every packet that need only what the loop before has fetched. Changes
    /// nothing.
    pub fn prefetch(&self, segments: &[Segment]) {
        for segment in segments {
            if let Some(sender) = self.destination(segment) {
                // Of each cache line something.
                black_box((sender.connection, sender.deadline, sender.board.una()));
            }
        }
        for segment in segments {
            if let Some(sender) = self.destination(segment) {
                let connection = &self.connections[sender.connection as usize];
                black_box((connection.paths.len(), connection.turn));
            }
        }
        for segment in segments {
            if let Some(sender) = self.destination(segment) {
                let path = self.path_of(sender);
                black_box((path.window, path.acked));
            }
        }
        for segment in segments {
            if let Some(sender) = self.destination(segment) {
                // The next sample will probably be much the same.
                black_box(sender.rtts.count_of(self.path_of(sender).smoothed_rtt));
            }
        }
    }

    /// The subflow to which a packet goes, if it goes to a sending half.
    #[inline(always)]
    fn destination(&self, segment: &Segment) -> Option<&Sender> {
        match segment.destination() {
            End::Sending(SendingSubflow(place)) => Some(&self.senders[place as usize]),
            End::Receiving(_) => None,
        }
    }

    #[inline(always)]
    fn path_of(&self, sender: &Sender) -> &Path {
        let connection = &self.connections[sender.connection as usize];
        &connection.paths[sender.number.0 as usize]
    }
}
