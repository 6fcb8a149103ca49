//! `manual`: manual pages, made of the help texts.

use crate::Failure;
use clap::Args;
use std::path::PathBuf;

/// The options of `manual`.
#[derive(Args)]
pub struct Command {
    /// The folder that gets the pages, one for each command.
    folder: PathBuf,
}

impl Command {
    /// Writes those of `program`.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn run(self, program: clap::Command) -> Result<(), Failure> {
        clap_mangen::generate_to(program, &self.folder).map_err(|error| {
            Failure::new(format!(
                "cannot write manual pages to {}: {error}",
                self.folder.display()
            ))
        })
    }
}
