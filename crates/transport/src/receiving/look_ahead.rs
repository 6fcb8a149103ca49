//! What the next packets need is fetched from memory together.

use super::Receiving;
use crate::output::{End, ReceivingSubflow};
use crate::segment::Segment;
use std::hint::black_box;

impl Receiving {
    /// These packets arrive soon, those of sending halves among them: what handling them needs is fetched from
    /// memory. Each loop asks for things of every packet that need only what the loop before has fetched. Changes
    /// nothing.
    pub fn look_ahead(&self, segments: &[Segment]) {
        let receivers = || {
            let destinations = segments.iter().map(Segment::destination);
            destinations.filter_map(|destination| match destination {
                End::Receiving(ReceivingSubflow(place)) => Some(&self.receivers[place as usize]),
                End::Sending(_) => None,
            })
        };
        for receiver in receivers() {
            black_box(receiver.next); // the only cache line that most packets need
        }
        for receiver in receivers() {
            let connection = &self.connections[receiver.connection as usize];
            black_box(connection.delivered); // the only cache line that most packets need
        }
        for receiver in receivers() {
            let connection = &self.connections[receiver.connection as usize];
            black_box(connection.reassembly.first_word());
        }
    }
}
