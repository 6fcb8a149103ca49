//! Pathweave's controllers on real Linux hosts: eBPF for the kernel's own MPTCP, their loader, and the
//! testbed that plays a scenario's fabric in real time between network namespaces.

mod failure;
mod folders;
pub mod kernel;
pub mod manual;
pub mod metrics;
mod own_command;
mod plural;
mod run_folder;
mod socket_option;
pub mod testbed;
pub mod unit;

pub use failure::Failure;
