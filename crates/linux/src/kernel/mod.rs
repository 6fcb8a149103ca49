//! Loading the controllers into the kernel, and looking at them there.

use crate::Failure;
use clap::Subcommand;

/// `kernel load`, `unload`, `status` and `watch`.
#[derive(Subcommand)]
pub enum Command {}

impl Command {
    /// Does it.
    ///
    /// # Errors
    /// What the machine lacks, or what did not work.
    pub fn run(self) -> Result<(), Failure> {
        match self {}
    }
}
