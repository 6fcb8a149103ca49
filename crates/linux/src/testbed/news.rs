//! What the run should know of its flows.

use crate::Failure;

/// What hosts have seen since the run last asked.
#[derive(Default)]
pub struct News {
    /// Flows that are complete, and the bytes that came.
    pub complete: Vec<(u32, u64)>,
    /// Flows that have got further.
    pub progressed: Vec<(u32, u64)>,
    /// What has gone wrong first.
    pub failure: Option<Failure>,
}

impl News {
    /// A flow is complete with this many bytes.
    pub fn complete(&mut self, flow: u32, received: u64) {
        self.complete.push((flow, received));
    }

    /// More of a flow has come: this many bytes by now.
    pub fn progressed(&mut self, flow: u32, received: u64, is_complete: bool) {
        self.progressed.push((flow, received));
        if is_complete {
            self.complete(flow, received);
        }
    }

    /// Something has gone wrong.
    pub fn fail(&mut self, failure: Failure) {
        self.failure.get_or_insert(failure);
    }
}
