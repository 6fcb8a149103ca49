//! What puts a run's changes back when its process is killed: a second process, which is told of a normal end and sees
//! every other one.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};

/// The verb of `pathweave-linux` that the second process runs.
pub const VERB: &str = "supervise-testbed";
/// This program, also where its file has been replaced meanwhile.
const PROGRAM: &str = "/proc/self/exe";
/// What end the terminal or its user may wish upon a run; the supervisor has to outlive them all.
const IGNORED: [libc::c_int; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

/// The second process; it ends with this value.
pub struct Supervisor {
    process: Child,
}

impl Supervisor {
    /// Starts it.
    ///
    /// # Errors
    /// What the system says to it.
    pub fn start() -> io::Result<Supervisor> {
        let mut command = std::process::Command::new(PROGRAM);
        command
            .args([VERB, &std::process::id().to_string()])
            .current_dir("/")
            // Whoever reads what this process prints waits until nobody can print any more.
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // SAFETY: between fork() and exec() the closure makes system calls and calls signal() alone, which are
        // async-signal-safe. File descriptors are closed by exec(), not here.
        unsafe {
            command.pre_exec(|| {
                rustix::process::setsid()?;
                // What this process has inherited itself, such as the lock of flock(1), is not to be held for longer.
                let marked = libc::syscall(
                    libc::SYS_close_range,
                    3,
                    libc::c_uint::MAX,
                    libc::CLOSE_RANGE_CLOEXEC,
                );
                if marked != 0 {
                    return Err(io::Error::last_os_error());
                }
                for signal in IGNORED {
                    libc::signal(signal, libc::SIG_IGN);
                }
                Ok(())
            });
        }
        Ok(Supervisor {
            process: command.spawn()?,
        })
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        if let Some(mut line) = self.process.stdin.take() {
            let _ = line.write_all(b"."); // somebody may have killed it
        }
        let _ = self.process.wait();
    }
}
