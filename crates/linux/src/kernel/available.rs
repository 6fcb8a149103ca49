//! The congestion controls that sockets of this machine can choose, Pathweave's and all others.

use crate::Failure;
use std::fs;

/// The kernel's list, which every process may read.
const LIST: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// Their names, in the kernel's order.
///
/// # Errors
/// Where /proc is not mounted, or /proc/sys is hidden.
pub fn controls() -> Result<Vec<String>, Failure> {
    let names = fs::read_to_string(LIST).map_err(|error| {
        Failure::refused(format!("cannot read {LIST}: {error}")).hint(
            "run it where all of /proc is mounted: containers and sandboxes may hide /proc/sys",
        )
    })?;
    Ok(names.split_whitespace().map(str::to_owned).collect())
}
