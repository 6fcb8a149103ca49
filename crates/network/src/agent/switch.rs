//! The agents that scenarios can name, behind one type.

use super::{Agent, AgentStatistics, Backlog, NoAgent};
use crate::network::LinkSetup;
use pathweave_control::{Feedback, Parameters, Scheme};
use pathweave_units::{Rate, Time};
use std::sync::Arc;

/// What a port with an agent sees of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Label {
    /// Its congestion field.
    pub feedback: Feedback,
    /// Whose it is: a number that no other flow has at the same time.
    pub flow: u32,
    /// An acknowledgement: its field is on the way back, and nobody changes it.
    pub is_echo: bool,
}

/// The scheme that a fabric's switches take part in, with the parameters of its controller.
#[derive(Clone, Debug)]
pub struct AgentSetup {
    /// The scheme.
    pub scheme: Scheme,
    /// The controller's parameters; the agent finds its own among them.
    pub parameters: Arc<Parameters>,
    /// The longest RTT without queues between hosts.
    pub base_rtt: Time,
}

/// An agent of any kind.
#[derive(Debug)]
pub enum SwitchAgent {
    /// Of a port that takes no part.
    None(NoAgent),
}

impl Agent for SwitchAgent {
    type Label = Label;

    fn new(setup: &LinkSetup) -> SwitchAgent {
        match setup.agent.as_ref().map(|agent| agent.scheme) {
            _ => SwitchAgent::None(NoAgent::new(setup)),
        }
    }

    fn on_arrival(&mut self, now: Time, bytes: u16, label: &mut Label, backlog: Backlog) {
        match self {
            SwitchAgent::None(_) => {}
        }
    }

    fn on_service(&mut self, now: Time, bytes: u16, label: &mut Label, backlog: Backlog) {
        match self {
            SwitchAgent::None(_) => {}
        }
    }

    fn set_rate(&mut self, now: Time, rate: Rate) {
        match self {
            SwitchAgent::None(_) => {}
        }
    }

    fn statistics(&self) -> AgentStatistics {
        match self {
            SwitchAgent::None(agent) => agent.statistics(),
        }
    }
}
