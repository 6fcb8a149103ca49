//! TCP and MPTCP endpoints for the simulator, sans-I/O: the time is passed in, packets and timers
//! come out.
//!
//! Segments are numbered once, one number a packet, each with its own size, and never cut differently. [`Endpoints`] holds
//! both ends of all connections of a run.

#![forbid(unsafe_code)]

mod config;
mod connection;
mod cut_round;
mod endpoints;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod packets;
mod reassembly;
mod receiver;
mod rtt_histogram;
mod scoreboard;
mod segment;
mod segmentation;
mod sender;
mod timeout;

pub use config::{
    AckPolicy, Config, EcnUse, Handshake, Joins, ReceiveWindow, Recovery, Reduction,
    SegmentScheduler, SsthreshFrom,
};
pub use connection::{Opening, Scatter};
pub use endpoints::{
    Arrived, ConnectionId, Direction, Endpoints, Output, PacketShape, SubflowIndex, SubflowView,
    Timer,
};
pub use packets::{PacketKey, PacketMix};
pub use rtt_histogram::RttHistogram;
pub use segment::{Kind, SACK_BLOCKS, SackBlock, Segment};
