//! Coupled congestion control for the paths of a multipath QUIC connection, for [noq](https://docs.rs/noq).
//!
//! [`Coupled`] holds the settings; each connection takes a factory of its own from it, because noq does not tell a factory
//! which connection a new path belongs to.

#![forbid(unsafe_code)]

mod coupled;
mod path;

pub use coupled::{Coupled, CoupledError, Number};
pub use path::{CoupledPath, Shared};

/// Compiles the README's examples.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
