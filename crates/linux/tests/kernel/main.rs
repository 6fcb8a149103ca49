//! Controllers in this machine's kernel: loading, carrying, unloading, and what is left behind.

mod allowed;
mod at_one_time;
mod control_group;
mod costs;
mod defaults;
mod duplicates;
mod failures;
mod folders;
mod full_map;
mod hooks;
mod hosts;
mod information;
mod inventory;
mod lifecycle;
mod marks;
mod metrics;
mod off_switch;
mod one_connection;
mod peer;
mod precedence;
mod program;
mod replacement;
mod status;
mod traffic;
mod unsent;
mod who_gets_it;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// One test at a time: names of controls are the whole machine's.
static MACHINE: Mutex<()> = Mutex::new(());

/// The machine's kernel for one test; none where it may not be used.
///
/// # Panics
/// When `PATHWEAVE_REQUIRE_KERNEL` is set and it may not be used.
fn machine() -> Option<MutexGuard<'static, ()>> {
    let required =
        std::env::var_os("PATHWEAVE_REQUIRE_KERNEL").is_some_and(|value| !value.is_empty());
    match pathweave_linux::kernel::check() {
        Ok(()) => Some(MACHINE.lock().unwrap_or_else(PoisonError::into_inner)),
        Err(failure) if required => panic!("{failure}"),
        Err(failure) => {
            eprintln!("left out: {failure}");
            None
        }
    }
}
