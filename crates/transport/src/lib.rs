//! TCP and MPTCP endpoints for the simulator, sans-I/O: the time is passed in, packets and timers
//! come out.
//!
//! Segments are numbered once, one number a packet, each with its own size, and never cut differently.
//!
//! [`Sending`] holds the sending halves of connections and [`Receiving`] the receiving halves. They share
//! nothing: what one learns of the other it learns from packets, and when a source stops, from whoever
//! drives both. [`Endpoints`] is a pair of them.

#![forbid(unsafe_code)]

mod config;
mod endpoints;
mod ends;
#[cfg(feature = "checks")]
pub mod fuzzing;
mod output;
mod packets;
mod receiving;
mod rtt_histogram;
mod segment;
mod sending;
mod setting_values;
mod settings;
mod tick;

pub use config::{
    AtOnceControllers, BackoffUntil, Config, EcnUse, GrowthCount, Handshake, HostPort,
    InitialWindowPer, Joins, LossDetection, Recovery, Reduction, Reinject, RtoFloor,
    SegmentScheduler, Setting, Source, SsthreshFrom,
};
pub use endpoints::{ConnectionId, Endpoints, open};
pub use ends::{End, ReceivingId, ReceivingSubflow, SendingId, SendingSubflow};
pub use output::{Arrived, Output, PacketShape, Timer, TimerKind};
pub use packets::{PacketKey, PacketMix};
pub use receiving::{Receiving, ReceivingView, Reception, Stopped};
pub use rtt_histogram::RttHistogram;
pub use segment::{Kind, NO_BLOCKS, SACK_BLOCKS, SackBlock, SackBlocks, Segment};
pub use sending::{Opening, Scatter, Sending, SendingView, WAITS, Wait, Waits};
pub use setting_values::{ReceiveWindow, SendBundle, TickPhase};
pub use settings::{Form, Value, expected};
pub use tick::Tick;
