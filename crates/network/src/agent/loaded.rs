//! Ports under a load, for tests.

use super::{Agent, Backlog, Label};
use crate::setup::{AgentSetup, LinkSetup};
use pathweave_control::{Scheme, registry};
use pathweave_units::{Rate, Time};
use std::sync::Arc;

/// A port of 1 Gbps with the defaults of the scheme's controller.
pub(super) fn setup(scheme: Scheme, base_rtt: Time) -> LinkSetup {
    let mut entries = registry().iter();
    let entry = entries.find(|entry| entry.scheme == Some(scheme));
    LinkSetup {
        agent: Some(Arc::new(AgentSetup {
            scheme,
            parameters: entry.expect("a controller").defaults(),
            base_rtt,
        })),
        ..LinkSetup::plain((0, 1), Rate::from_gbps(1), Time::ZERO)
    }
}

/// The agent after this many packets of 1000 bytes, which came and left in the first microseconds.
pub(super) fn after_packets<A: Agent<Label = Label>>(mut agent: A, packets: u32) -> A {
    let now = Time::from_micros(1);
    let mut label = Label::default();
    for _ in 0..packets {
        agent.on_arrival(now, 1000, &mut label, Backlog::default());
        agent.on_service(now, 1000, &mut label, Backlog::default());
    }
    agent
}
