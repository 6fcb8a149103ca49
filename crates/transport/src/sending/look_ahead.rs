//! What an acknowledgement needs that arrives soon is fetched from memory, step by step.
//!
//! Each step needs only what the one before has fetched. Nothing is changed.

use super::Sending;
use crate::output::SendingSubflow;
use pathweave_prefetch::prefetch;

impl Sending {
    /// First the subflow.
    #[inline(always)]
    pub fn prefetch_subflow(&self, SendingSubflow(place): SendingSubflow) {
        let sender = &self.senders[place as usize];
        // Of each cache line something.
        prefetch(&sender.connection);
        prefetch(&sender.timer_at);
        prefetch(&sender.board);
    }

    /// Then its connection.
    #[inline(always)]
    pub fn prefetch_connection(&self, SendingSubflow(place): SendingSubflow) {
        let sender = &self.senders[place as usize];
        let connection = &self.connections[sender.connection as usize];
        prefetch(&connection.paths);
        prefetch(&connection.turn);
        prefetch(&connection.minimum_rto);
        sender.board.prefetch();
        sender.rtts.prefetch();
    }

    /// Then its path and its controller.
    #[inline(always)]
    pub fn prefetch_path(&self, SendingSubflow(place): SendingSubflow) {
        let sender = &self.senders[place as usize];
        let connection = &self.connections[sender.connection as usize];
        let path = &connection.paths[sender.number.0 as usize];
        prefetch(path);
        prefetch(&path.acked);
        prefetch(&path.may_send);
        prefetch(&*connection.controller);
    }
}
