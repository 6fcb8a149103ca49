//! XCP as its paper has it.

use super::SHORTEST_INTERVAL;
use super::variant::Variant;
use crate::network::LinkSetup;

/// What only the paper has.
#[derive(Clone, Copy, Debug)]
pub struct Paper {
    /// Q, bytes: the smallest queue of this control interval.
    smallest_queue: u32,
}

impl Variant for Paper {
    /// The smallest queue.
    const STATE_BYTES: u64 = 8;

    fn new(_setup: &LinkSetup) -> Paper {
        Paper { smallest_queue: 0 }
    }

    fn first_interval(setup: &LinkSetup) -> f64 {
        let agent = setup.agent.as_ref();
        let base_rtt = agent.map_or(100e-6, |agent| agent.base_rtt.as_secs_f64());
        base_rtt.max(SHORTEST_INTERVAL)
    }

    fn persistent_queue(&self) -> u32 {
        self.smallest_queue
    }

    fn begin_interval(&mut self, queue: u32) {
        self.smallest_queue = queue;
    }

    #[inline(always)]
    fn see(&mut self, queue: u32) {
        self.smallest_queue = self.smallest_queue.min(queue);
    }
}
