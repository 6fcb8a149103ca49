//! XCP as its paper has it, with a bound on what a packet is granted.

use super::variant::Variant;
use super::{SHORTEST_INTERVAL, larger, smaller};
use crate::setup::LinkSetup;

/// What only this variant has.
#[derive(Clone, Copy, Debug)]
pub struct Paper {
    /// Q, bytes: the smallest queue of this control interval.
    smallest_queue: u32,
    /// h + max(phi, 0), bytes: what all packets of an interval together may raise windows by.
    most: f64,
}

impl Variant for Paper {
    /// The smallest queue and the bound of an increase, 8 bytes each.
    const STATE_BYTES: u64 = 2 * 8;

    fn new(_setup: &LinkSetup) -> Paper {
        Paper {
            smallest_queue: 0,
            most: 0.0,
        }
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

    fn set_budgets(&mut self, positive: f64, _negative: f64) {
        self.most = positive;
    }

    #[inline(always)]
    fn see(&mut self, queue: u32) {
        self.smallest_queue = self.smallest_queue.min(queue);
    }

    /// No packet gets more than the port has for all in the intervals since the packet before it of the same flow. Otherwise a
    /// window that a timeout has cut is raised by as much as many packets of the old window were meant to get, and grows with
    /// every timeout.
    #[inline(always)]
    fn grant(
        &mut self,
        positive: f64,
        negative: f64,
        _elsewhere: f64,
        intervals: impl FnOnce() -> f64,
    ) -> (f64, f64) {
        if positive <= self.most {
            return (positive, negative);
        }
        let most = self.most * larger(intervals(), 1.0);
        (smaller(positive, most), negative)
    }
}
