//! Which controls network namespaces other than the first may have by default.

use std::fs;
use std::thread;

const ALLOWED: &str = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";

/// The machine's list of allowed controls, with one more in it until this goes.
pub struct Allowed(String);

impl Allowed {
    /// Allows a control that the kernel has. Distributions' kernels allow cubic; others may allow their own default alone.
    pub fn control(name: &str) -> Allowed {
        let before = fs::read_to_string(ALLOWED).expect("there is a list");
        let longer = format!("{} {name}", before.trim());
        fs::write(ALLOWED, longer)
            .expect("the kernel has the control, and this is its first namespace");
        Allowed(before)
    }
}

impl Drop for Allowed {
    fn drop(&mut self) {
        let written = fs::write(ALLOWED, self.0.trim());
        // A panic on top of another one would end all tests.
        if !thread::panicking() {
            written.expect("what was allowed before is still there");
        }
    }
}
