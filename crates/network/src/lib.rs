//! Ports, marking, forwarding and failures: what happens to a packet between two hosts.
//!
//! The clock is passed in and events are handed to whoever owns the schedule ([`LinkEvents`]), so
//! that a simulator and a real-time fabric can run the same code. What packets carry is the
//! transport's business: everything here is generic over it.

#![forbid(unsafe_code)]

mod agent;
mod arrivals;
mod averaging;
#[cfg(feature = "checks")]
mod checks;
mod crossing;
mod fmp;
mod forwarding;
mod handing_over;
mod histogram;
mod input_times;
mod inputs;
mod marking;
mod measuring;
mod network;
mod observed;
mod packed_route;
mod packet;
mod places;
mod port;
mod queue;
mod setup;
mod shared_buffer;
mod statistics;
mod telling;
mod turn;

pub use agent::{Agent, AgentStatistics, Backlog, Label, NoAgent, PacketLabel, SwitchAgent};
pub use arrivals::{Arrivals, Held};
pub use crossing::Crossings;
pub use fmp::{Fmp, FmpStatistics};
pub use forwarding::{RouteId, RouteStart, RouteTable};
pub use histogram::QueueHistogram;
pub use input_times::{DueInputs, InputSet, InputTimes};
pub use inputs::Inputs;
pub use network::{Arrival, Network};
pub use observed::Conservation;
pub use packet::{Header, PacketContent, Plain};
pub use places::{Places, PortId};
pub use port::{
    Delivered, DeparturePorts, FifoPorts, HandOver, LinkEvent, LinkEvents, Ports, Purged,
    TurnInterval,
};
pub use queue::{Limit, Marking, MarkingRule, QueueConfig, Threshold};
pub use setup::{AgentSetup, LinkSetup, QueuesCounted, SharedBufferConfig};
pub use shared_buffer::SharedBuffer;
pub use statistics::LinkStatistics;
pub use turn::TurnEvents;
