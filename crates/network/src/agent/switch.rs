//! The agents that scenarios can name, behind one type.

use super::xcp::{Paper, Reference, Xcp, is_reference};
use super::{Agent, AgentStatistics, Backlog, Decn, Label, Mlcp, Rcp, Vcp};
use crate::setup::LinkSetup;
use pathweave_control::Scheme;
use pathweave_units::{Rate, Time};

/// An agent of any kind. Which one is written in a byte of its own: every packet asks for it.
#[derive(Debug)]
#[repr(u8)]
pub enum SwitchAgent {
    /// Of a port that takes no part.
    None,
    /// RCP's.
    Rcp(Rcp),
    /// XCP's.
    Xcp(Xcp<Paper>),
    /// That of XCP's reference code.
    XcpReference(Xcp<Reference>),
    /// VCP's.
    Vcp(Vcp),
    /// MLCP's.
    Mlcp(Mlcp),
    /// DECN's.
    Decn(Decn),
}

// What is done about a packet is a function for each kind of agent: if they were parts of one, each would save the
// registers that the largest of them needs. An agent that is behind has functions of its own for the same reason: agents
// with intervals then call nothing where none is over, and save none.

#[inline(never)]
fn arrive<A: Agent>(agent: &mut A, now: Time, bytes: u16, label: &mut A::Label, backlog: Backlog) {
    if agent.is_behind(now) {
        return arrive_late(agent, now, bytes, label, backlog);
    }
    agent.on_arrival(now, bytes, label, backlog);
}

#[cold]
#[inline(never)]
fn arrive_late<A: Agent>(
    agent: &mut A,
    now: Time,
    bytes: u16,
    label: &mut A::Label,
    backlog: Backlog,
) {
    agent.on_arrival(now, bytes, label, backlog);
}

#[inline(never)]
fn begin<A: Agent>(agent: &mut A, now: Time, bytes: u16, label: &mut A::Label, backlog: Backlog) {
    if agent.is_behind(now) {
        return begin_late(agent, now, bytes, label, backlog);
    }
    agent.on_service(now, bytes, label, backlog);
}

#[cold]
#[inline(never)]
fn begin_late<A: Agent>(
    agent: &mut A,
    now: Time,
    bytes: u16,
    label: &mut A::Label,
    backlog: Backlog,
) {
    agent.on_service(now, bytes, label, backlog);
}

#[inline(never)]
fn pass<A: Agent>(agent: &mut A, now: Time, bytes: u16, label: &mut A::Label) {
    if agent.is_behind(now) {
        return pass_late(agent, now, bytes, label);
    }
    agent.on_passage(now, bytes, label);
}

#[cold]
#[inline(never)]
fn pass_late<A: Agent>(agent: &mut A, now: Time, bytes: u16, label: &mut A::Label) {
    agent.on_passage(now, bytes, label);
}

impl Agent for SwitchAgent {
    type Label = Label;

    fn new(setup: &LinkSetup) -> SwitchAgent {
        match setup.agent.as_ref().map(|agent| agent.scheme) {
            None => SwitchAgent::None,
            Some(Scheme::Rcp) => SwitchAgent::Rcp(Rcp::new(setup)),
            Some(Scheme::Xcp) if is_reference(setup) => SwitchAgent::XcpReference(Xcp::new(setup)),
            Some(Scheme::Xcp) => SwitchAgent::Xcp(Xcp::new(setup)),
            Some(Scheme::Vcp) => SwitchAgent::Vcp(Vcp::new(setup)),
            Some(Scheme::Mlcp) => SwitchAgent::Mlcp(Mlcp::new(setup)),
            Some(Scheme::Decn) => SwitchAgent::Decn(Decn::new(setup)),
        }
    }

    #[inline(always)]
    fn on_arrival(&mut self, now: Time, bytes: u16, label: &mut Label, backlog: Backlog) {
        match self {
            SwitchAgent::None => {}
            SwitchAgent::Rcp(agent) => arrive(agent, now, bytes, label, backlog),
            SwitchAgent::Xcp(agent) => arrive(agent, now, bytes, label, backlog),
            SwitchAgent::XcpReference(agent) => arrive(agent, now, bytes, label, backlog),
            SwitchAgent::Vcp(agent) => arrive(agent, now, bytes, label, backlog),
            SwitchAgent::Mlcp(agent) => arrive(agent, now, bytes, label, backlog),
            SwitchAgent::Decn(agent) => arrive(agent, now, bytes, label, backlog),
        }
    }

    #[inline(always)]
    fn on_service(&mut self, now: Time, bytes: u16, label: &mut Label, backlog: Backlog) {
        match self {
            SwitchAgent::None => {}
            SwitchAgent::Rcp(agent) => begin(agent, now, bytes, label, backlog),
            SwitchAgent::Xcp(agent) => begin(agent, now, bytes, label, backlog),
            SwitchAgent::XcpReference(agent) => begin(agent, now, bytes, label, backlog),
            SwitchAgent::Vcp(agent) => begin(agent, now, bytes, label, backlog),
            SwitchAgent::Mlcp(agent) => begin(agent, now, bytes, label, backlog),
            SwitchAgent::Decn(agent) => begin(agent, now, bytes, label, backlog),
        }
    }

    #[inline(always)]
    fn on_passage(&mut self, now: Time, bytes: u16, label: &mut Label) {
        match self {
            SwitchAgent::None => {}
            SwitchAgent::Rcp(agent) => pass(agent, now, bytes, label),
            SwitchAgent::Xcp(agent) => pass(agent, now, bytes, label),
            SwitchAgent::XcpReference(agent) => pass(agent, now, bytes, label),
            SwitchAgent::Vcp(agent) => pass(agent, now, bytes, label),
            SwitchAgent::Mlcp(agent) => pass(agent, now, bytes, label),
            SwitchAgent::Decn(agent) => pass(agent, now, bytes, label),
        }
    }

    fn set_rate(&mut self, now: Time, rate: Rate) {
        match self {
            SwitchAgent::None => {}
            SwitchAgent::Rcp(agent) => agent.set_rate(now, rate),
            SwitchAgent::Xcp(agent) => agent.set_rate(now, rate),
            SwitchAgent::XcpReference(agent) => agent.set_rate(now, rate),
            SwitchAgent::Vcp(agent) => agent.set_rate(now, rate),
            SwitchAgent::Mlcp(agent) => agent.set_rate(now, rate),
            SwitchAgent::Decn(agent) => agent.set_rate(now, rate),
        }
    }

    fn statistics(&self) -> AgentStatistics {
        match self {
            SwitchAgent::None => AgentStatistics::default(),
            SwitchAgent::Rcp(agent) => agent.statistics(),
            SwitchAgent::Xcp(agent) => agent.statistics(),
            SwitchAgent::XcpReference(agent) => agent.statistics(),
            SwitchAgent::Vcp(agent) => agent.statistics(),
            SwitchAgent::Mlcp(agent) => agent.statistics(),
            SwitchAgent::Decn(agent) => agent.statistics(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::loaded::setup;
    use super::*;
    use pathweave_control::{Feedback, Load};

    /// What becomes of a thousand packets and acknowledgements, some of which wait while intervals end, and what the agent
    /// has done.
    fn answers<A: Agent<Label = Label>>(scheme: Scheme, field: Feedback) -> (Vec<Label>, u64) {
        let mut agent = A::new(&setup(scheme, Time::from_micros(100)));
        let labels = (0..1000u64).map(|packet| {
            let mut label = Label {
                feedback: field,
                is_echo: packet % 3 == 0,
                ..Label::default()
            };
            let now = Time::from_micros(7 * packet + 400 * (packet / 100));
            if packet % 2 == 0 {
                agent.on_passage(now, 1000, &mut label);
            } else {
                let waiting = Backlog {
                    packets: 3,
                    bytes: 3000,
                };
                agent.on_arrival(now, 1000, &mut label, waiting);
                agent.on_service(now + Time::from_micros(3), 1000, &mut label, waiting);
            }
            label
        });
        (labels.collect(), agent.statistics().feedback)
    }

    fn check<A: Agent<Label = Label>>(scheme: Scheme, field: Feedback) {
        let own = answers::<A>(scheme, field);
        assert_eq!(answers::<SwitchAgent>(scheme, field), own);
        assert!(own.1 > 100, "{scheme:?}: {} fields were changed", own.1);
    }

    #[test]
    fn an_agent_of_any_kind_does_what_that_kind_does() {
        let xcp = Feedback::Xcp {
            window: 10_000.0,
            rtt: 1e-4,
            change: f32::INFINITY,
        };
        check::<Xcp<Paper>>(Scheme::Xcp, xcp);
        let rcp = Feedback::Rcp {
            rate: f32::INFINITY,
            rtt: 1e-4,
        };
        check::<Rcp>(Scheme::Rcp, rcp);
        check::<Vcp>(Scheme::Vcp, Feedback::Vcp(Load::Low));
        let mlcp = Feedback::Mlcp { load: 0, rtt: 0 };
        check::<Mlcp>(Scheme::Mlcp, mlcp);
    }
}
