//! Tests on this machine's kernel: what they need, and their turns. They run one at a time, because names of controllers,
//! addresses and processors belong to the whole machine.

mod itself;
mod kernel;
mod testbed;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A test's turn on the machine, which ends when this is dropped.
pub type Turn = MutexGuard<'static, ()>;

/// A turn with controllers in the kernel; `None` where the machine does not allow it.
///
/// # Panics
/// When `PATHWEAVE_REQUIRE_KERNEL` is set and the machine does not allow it.
pub fn with_controllers() -> Option<Turn> {
    turn(pathweave_linux::kernel::check().map_err(|failure| failure.to_string()))
}

/// A turn with the testbed and the kernel's own controllers; `None` where the machine does not allow it.
///
/// # Panics
/// When `PATHWEAVE_REQUIRE_KERNEL` is set and the machine does not allow it.
pub fn with_testbed() -> Option<Turn> {
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let wanted = [
        (is_root, "root"),
        (Path::new("/dev/net/tun").exists(), "/dev/net/tun"),
        (
            Path::new("/proc/sys/net/mptcp/pm_type").exists(),
            "MPTCP with a path manager in user space",
        ),
    ];
    let missing = wanted.iter().find(|(there, _)| !there);
    turn(missing.map_or(Ok(()), |(_, what)| {
        Err(format!("the testbed's tests need {what}"))
    }))
}

fn turn(allowed: Result<(), String>) -> Option<Turn> {
    static TURNS: Mutex<()> = Mutex::new(());
    let required =
        std::env::var_os("PATHWEAVE_REQUIRE_KERNEL").is_some_and(|value| !value.is_empty());
    match allowed {
        // A failed test poisons the lock, but its turn is over.
        Ok(()) => Some(TURNS.lock().unwrap_or_else(PoisonError::into_inner)),
        Err(reason) if required => panic!("{reason}"),
        Err(reason) => {
            eprintln!("left out: {reason}");
            None
        }
    }
}
