//! Controllers behind a C interface, which `pathweave_controller.h` of the Python package describes: in shared libraries, and as
//! functions that something else has compiled.
//!
//! This crate has the only `unsafe` code that runs controllers. What they are lent is a copy of the paths; what they have
//! written is checked before it becomes the transport's.

mod abi;
mod controller;
mod declaration;
mod functions;
mod library;

pub use declaration::{Declaration, loaded};
pub use functions::{Addresses, Functions};
pub use library::library;
