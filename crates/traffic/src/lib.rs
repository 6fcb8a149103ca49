//! Arrival patterns, size distributions and jobs: sans-I/O, so that every backend drives the same code.
//!
//! A [`Program`] is one traffic group at work. It is told that the run begins, that a time it asked
//! for has come, or that one of its flows has finished, and answers with the flows to start. It
//! draws from its own random streams only, so that the same seed gives the same pairs and sizes
//! whatever transport carries them.

#![forbid(unsafe_code)]

pub mod collectives;
mod error;
mod event;
mod hosts;
mod launcher;
pub mod patterns;
mod placement;
mod program;
pub mod recordings;
pub mod size;
pub mod tasks;

pub use error::TrafficError;
pub use event::{Event, FlowStart, Iteration, Job};
pub use hosts::Hosts;
pub use patterns::{PATTERNS, Pattern};
pub use placement::{Placement, Teams};
pub use program::Program;
pub use size::{Beyond, CDFS, Cdf, Size};
