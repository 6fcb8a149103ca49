//! What data needs that arrives soon is fetched from memory, step by step.
//!
//! Each step needs only what the one before has fetched. Nothing is changed.

use super::Receiving;
use crate::output::ReceivingSubflow;
use pathweave_prefetch::prefetch;

impl Receiving {
    /// First the subflow.
    #[inline(always)]
    pub fn prefetch_subflow(&self, ReceivingSubflow(place): ReceivingSubflow) {
        let receiver = &self.receivers[place as usize];
        prefetch(receiver);
        prefetch(&receiver.timer_at);
    }

    /// Then its connection.
    #[inline(always)]
    pub fn prefetch_connection(&self, ReceivingSubflow(place): ReceivingSubflow) {
        let receiver = &self.receivers[place as usize];
        prefetch(&self.connections[receiver.connection as usize]);
    }

    /// Then what has arrived of the connection's data.
    #[inline(always)]
    pub fn prefetch_data(&self, ReceivingSubflow(place): ReceivingSubflow) {
        let receiver = &self.receivers[place as usize];
        self.connections[receiver.connection as usize]
            .reassembly
            .prefetch();
    }
}
