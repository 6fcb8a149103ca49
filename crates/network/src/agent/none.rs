//! Most ports only queue.

use super::{Agent, AgentStatistics, Backlog};
use crate::setup::LinkSetup;
use pathweave_units::{Rate, Time};

/// Does nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoAgent;

impl Agent for NoAgent {
    type Label = ();
    const ACTS: bool = false;

    fn new(_setup: &LinkSetup) -> NoAgent {
        NoAgent
    }
    #[inline(always)]
    fn on_arrival(&mut self, _now: Time, _bytes: u16, _label: &mut (), _backlog: Backlog) {}
    #[inline(always)]
    fn on_service(&mut self, _now: Time, _bytes: u16, _label: &mut (), _backlog: Backlog) {}
    fn set_rate(&mut self, _now: Time, _rate: Rate) {}
    fn statistics(&self) -> AgentStatistics {
        AgentStatistics::default()
    }
}
