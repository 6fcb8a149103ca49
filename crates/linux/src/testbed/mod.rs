//! A scenario on real sockets: hosts are network namespaces, the fabric is played in real time.
//!
//! Each host's kernel runs its own TCP and MPTCP in a namespace whose one device is a TUN: what the host
//! sends comes out of a file, is played through the simulation's own ports and queues at the times that
//! a clock on the wall says, and is written into the device of the host that it goes to. Two threads:
//! one, with a core of its own, plays the fabric; the other starts and stops flows, writes and reads
//! their sockets, and looks at the kernel's counters.

mod cleanup;
mod clock;
mod command;
mod congestion;
mod connection;
mod fabric;
mod first_arrivals;
mod frame;
mod group;
mod hosts;
mod interruption;
mod lateness;
mod namespace;
mod netlink;
mod news;
mod output;
mod priority;
mod quic;
mod refusal;
mod shared;
mod sockets;
mod statistics;
mod stream;
mod subflows;
mod supervision;
mod supervisor;
mod tun;

pub use command::Command;
pub use supervision::Supervision;
pub use supervisor::VERB as SUPERVISION;
