//! Coupled congestion control for the paths of a multipath QUIC connection, for [noq](https://docs.rs/noq).
//!
//! [`Coupled`] holds the settings; each connection takes a factory of its own from it, because noq does not tell a factory
//! which connection a new path belongs to.

#![forbid(unsafe_code)]

mod coupled;
mod path;
mod path_handle;
mod shared;

pub use coupled::{Coupled, CoupledError, Number};
pub use path::CoupledPath;
pub use path_handle::PathHandle;
pub use pathweave_control::{PathId, PathState};
pub use shared::Shared;

/// Compiles the README's examples.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
