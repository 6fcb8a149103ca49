//! Switches that take part in congestion control: what a port does besides queueing.
//!
//! An agent belongs to one output port. It sees every packet when it arrives at the port and when its
//! transmission begins, and may then change the packet's congestion field. What happens in intervals it
//! works out when the next packet comes: between packets nothing can be seen of it.

mod decn;
mod label;
mod load_meter;
mod mlcp;
mod none;
mod rcp;
mod switch;
mod vcp;
mod xcp;

#[cfg(test)]
mod loaded;

pub use decn::Decn;
pub use label::{Label, PacketLabel};
pub use mlcp::Mlcp;
pub use none::NoAgent;
pub use rcp::Rcp;
pub use switch::SwitchAgent;
pub use vcp::Vcp;

use crate::setup::LinkSetup;
use pathweave_units::{Rate, Time};

/// What waits at the agent's port; the packet in service does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u32,
    /// Bytes.
    pub bytes: u32,
}

/// What an agent keeps and does, for comparison with others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentStatistics {
    /// Most bytes of state that the port has kept at a time.
    pub state_bytes: u64,
    /// Congestion fields that it changed.
    pub feedback: u64,
    /// Flows that it could not keep apart, as its table was full.
    pub unmanaged: u64,
}

/// A port's part in congestion control.
pub trait Agent {
    /// What it reads and writes of a packet.
    type Label: PacketLabel;

    /// Whether it does anything.
    const ACTS: bool = true;

    /// The agent of a link's port.
    fn new(setup: &LinkSetup) -> Self;

    /// A packet of this many bytes has arrived at the port, and will be queued; `backlog` is without it.
    fn on_arrival(&mut self, now: Time, bytes: u16, label: &mut Self::Label, backlog: Backlog);

    /// Its transmission begins; `backlog` is what is left waiting.
    fn on_service(&mut self, now: Time, bytes: u16, label: &mut Self::Label, backlog: Backlog);

    /// A packet has arrived at an idle port, and its transmission begins at once.
    #[inline(always)]
    fn on_passage(&mut self, now: Time, bytes: u16, label: &mut Self::Label) {
        self.on_arrival(now, bytes, label, Backlog::default());
        self.on_service(now, bytes, label, Backlog::default());
    }

    /// Whether an interval is over that it has not worked off. Most packets find none. This only decides which copy of the
    /// code is called: agents catch up in any case, and one that says `false` loses only speed.
    #[inline(always)]
    fn is_behind(&self, _now: Time) -> bool {
        false
    }

    /// The port's rate has changed.
    fn set_rate(&mut self, now: Time, rate: Rate);

    /// What it has kept and done.
    fn statistics(&self) -> AgentStatistics;
}
