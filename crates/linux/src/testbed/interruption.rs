//! The user's wish to end a run.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static WANTED: AtomicBool = AtomicBool::new(false);

extern "C" fn note(signal: libc::c_int) {
    let again = WANTED.swap(true, Relaxed);
    if again && signal == libc::SIGTERM {
        // SAFETY: both may be called in a signal handler. The signal is held back until this one returns.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
            libc::raise(signal);
        }
    }
}

/// From now on SIGINT, SIGTERM and SIGHUP are noted instead of ending the process. A SIGTERM that comes after one of
/// them ends it at once; its supervisor then removes what it left.
pub fn listen() {
    let handler: extern "C" fn(libc::c_int) = note;
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler does what a signal handler may: it stores to an atomic and calls signal() and raise().
        unsafe { libc::signal(signal, handler as libc::sighandler_t) };
    }
}

/// Whether one has come.
pub fn is_wanted() -> bool {
    WANTED.load(Relaxed)
}
