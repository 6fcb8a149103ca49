//! A scenario on real sockets: hosts are network namespaces, the fabric is played in real time.

use crate::Failure;
use clap::Args;

/// `testbed`.
#[derive(Args)]
pub struct Command {}

impl Command {
    /// Runs it.
    ///
    /// # Errors
    /// What the machine lacks, or what did not work.
    pub fn run(self) -> Result<(), Failure> {
        Err(Failure::refused("there is no testbed yet"))
    }
}
