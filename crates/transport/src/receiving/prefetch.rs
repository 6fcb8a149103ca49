//! What the next packets need is fetched from memory together.

use super::Receiving;
use super::subflow::Receiver;
use crate::ends::{End, ReceivingSubflow};
use crate::segment::Segment;
use std::hint::black_box;

impl Receiving {
    /// These packets arrive soon, those of sending halves among them: what handling them needs is fetched from
    /// memory. Each loop asks for things of every packet that need only what the loop before has fetched. Changes
    /// nothing.
    pub fn prefetch(&self, segments: &[Segment]) {
        for segment in segments {
            if let Some(receiver) = self.destination(segment) {
                black_box(receiver.next); // the only cache line that most packets need
            }
        }
        for segment in segments {
            if let Some(receiver) = self.destination(segment) {
                let connection = &self.connections[receiver.connection as usize];
                black_box(connection.delivered); // the only cache line that most packets need
            }
        }
        for segment in segments {
            if let Some(receiver) = self.destination(segment) {
                let connection = &self.connections[receiver.connection as usize];
                black_box(connection.reassembly.first_word());
            }
        }
    }

    /// The subflow to which a packet goes, if it goes to a receiving half.
    #[inline(always)]
    fn destination(&self, segment: &Segment) -> Option<&Receiver> {
        match segment.destination() {
            End::Receiving(ReceivingSubflow(place)) => Some(&self.receivers[place as usize]),
            End::Sending(_) => None,
        }
    }
}
