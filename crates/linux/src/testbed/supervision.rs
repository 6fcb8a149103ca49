//! What the second process does, which puts a run's changes back if the run is killed.

use super::cleanup;
use crate::Failure;
use clap::Args;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, getppid, pidfd_open};
use std::io::{self, Read};

/// The process whose end it waits for.
#[derive(Args)]
pub struct Supervision {
    /// The process of the run.
    process: i32,
}

impl Supervision {
    /// Waits for the end of the run. If it comes without a word, puts everything back.
    ///
    /// # Errors
    /// When nothing can be written under /run.
    pub fn run(self) -> Result<(), Failure> {
        let run = Pid::from_raw(self.process)
            .ok_or_else(|| Failure::refused("a process has a number above 0"))?;
        // Its files are closed before it is gone.
        let gone = pidfd_open(run, PidfdFlags::empty());
        let is_parent = getppid() == Some(run);
        if is_told(&mut io::stdin()) {
            return Ok(());
        }
        if let (Ok(gone), true) = (gone, is_parent) {
            let _ = poll(&mut [PollFd::new(&gone, PollFlags::IN)], None);
        }
        cleanup::clean().map(drop)
    }
}

/// Whether the run says that it ends.
fn is_told(line: &mut impl Read) -> bool {
    let mut word = [0; 1];
    loop {
        match line.read(&mut word) {
            Ok(read) => return read > 0,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
}
