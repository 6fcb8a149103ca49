//! XCP as its paper has it.

use super::SHORTEST_INTERVAL;
use super::variant::Variant;
use crate::network::LinkSetup;

/// Nothing beyond the paper.
#[derive(Clone, Copy, Debug)]
pub struct Paper;

impl Variant for Paper {
    fn new(_setup: &LinkSetup) -> Paper {
        Paper
    }

    fn first_interval(setup: &LinkSetup) -> f64 {
        let agent = setup.agent.as_ref();
        let base_rtt = agent.map_or(100e-6, |agent| agent.base_rtt.as_secs_f64());
        base_rtt.max(SHORTEST_INTERVAL)
    }
}
