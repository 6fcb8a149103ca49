//! The user's wish to end a run.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static WANTED: AtomicBool = AtomicBool::new(false);

extern "C" fn note(_signal: libc::c_int) {
    WANTED.store(true, Relaxed);
}

/// From now on SIGINT, SIGTERM and SIGHUP are noted instead of ending the process.
pub fn listen() {
    let handler: extern "C" fn(libc::c_int) = note;
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler only stores to an atomic, which a signal handler may do.
        unsafe { libc::signal(signal, handler as libc::sighandler_t) };
    }
}

/// Whether one has come.
pub fn is_wanted() -> bool {
    WANTED.load(Relaxed)
}
