//! Pathweave's controllers on real Linux hosts: eBPF for the kernel's own MPTCP, their loader, and the
//! testbed that plays a scenario's fabric in real time between network namespaces.

mod failure;
pub mod kernel;
pub mod manual;
pub mod metrics;
mod socket_option;
pub mod testbed;
pub mod unit;

pub use failure::Failure;
