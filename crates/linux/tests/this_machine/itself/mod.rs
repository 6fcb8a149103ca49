//! Each controller is itself in the kernel, not Reno under another name: on the testbed it does what its paper says
//! and Reno does not.
//!
//! The scenarios beside this file are played on real sockets, so no two runs are alike: bounds are wide enough
//! for ten seconds of them, and narrow enough that Reno fails.

mod cut_rounds;
mod cuts;
mod played;
mod shares;
mod shifting;
