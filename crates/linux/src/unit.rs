//! `unit`: a systemd unit that loads a controller at boot.

use crate::Failure;
use clap::Args;
use std::path::PathBuf;

/// The options of `unit`.
#[derive(Args)]
pub struct Command {
    /// The program that the unit runs, instead of this one.
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
}

impl Command {
    /// Prints it.
    ///
    /// # Errors
    /// When the program has no absolute path that a unit can hold.
    pub fn run(self) -> Result<(), Failure> {
        let program = match self.program {
            Some(program) => program,
            None => std::env::current_exe().map_err(|error| {
                Failure::new(format!("this program's path cannot be read: {error}"))
                    .hint("--program /usr/bin/pathweave-linux says it")
            })?,
        };
        let text = program.to_str().unwrap_or_default();
        let is_plain = text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"/._-+".contains(&byte));
        if !text.starts_with('/') || !is_plain {
            return Err(Failure::refused(format!(
                "--program must be an absolute path of letters, digits and /._-+, got \"{}\"",
                program.display()
            )));
        }
        print!("{}", include_str!("unit.service").replace("PROGRAM", text));
        Ok(())
    }
}
