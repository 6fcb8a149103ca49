//! Controllers behind a C interface, which `include/pathweave_controller.h` describes: in shared libraries, and as
//! functions that something else has compiled.
//!
//! This crate has the only `unsafe` code that runs controllers. What they are lent is a copy of the paths; what they have
//! written is checked before it becomes the transport's.

mod abi;
mod controller;
mod declaration;
mod functions;
mod library;

pub use abi::ABI;
pub use declaration::{Declaration, loaded};
pub use functions::{Addresses, Functions};
pub use library::library;

/// The text of the C header.
pub const HEADER: &str = include_str!("../include/pathweave_controller.h");
