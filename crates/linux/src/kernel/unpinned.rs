//! What is said of a controller that is registered and has no pins here.

use super::pins;
use super::registered::{self, Holder};
use crate::Failure;
use crate::own_command::own_name;

/// How many looks are taken before a registered controller without a pin and a holder counts as unknown: its loader may pin
/// it, and end, between two steps of a look.
pub(super) const LOOKS: usize = 3;

/// What a command says of a controller that is registered and has no link pinned here.
pub fn unpinned(kernel_name: &str) -> Failure {
    let holders = registered::holders(kernel_name);
    if holders.is_empty() {
        unseen(kernel_name)
    } else {
        Failure::refused(held(kernel_name, &holders))
    }
}

/// What `unload` says when its pins are gone and it is still registered.
pub fn still_held(kernel_name: &str) -> Failure {
    let holders = registered::holders(kernel_name);
    if holders.is_empty() {
        return Failure::new(format!(
            "{kernel_name} has no pins any more and is still registered: a process or a pin that cannot be seen here holds its link"
        ))
        .hint("it goes when that does");
    }
    let processes: Vec<String> = holders.iter().map(|one| one.pid.to_string()).collect();
    Failure::new(held(kernel_name, &holders))
        .hint(format!("end what holds it: kill {}", processes.join(" ")))
}

/// That these hold it.
pub(super) fn held(kernel_name: &str, holders: &[Holder]) -> String {
    let holders: Vec<String> = holders
        .iter()
        .map(|holder| format!("process {} ({})", holder.pid, holder.command))
        .collect();
    format!(
        "{kernel_name} is registered without a pin by {}, and goes when that ends",
        holders.join(" and ")
    )
}

/// What a command says where it sees no pin and no holder of a registered controller.
pub(super) fn unseen(kernel_name: &str) -> Failure {
    let why = if pins::has_file_system() {
        "its link is not pinned in the BPF file system that is at /sys/fs/bpf here, and no process that can be seen holds it"
    } else {
        "there is no BPF file system at /sys/fs/bpf in this mount namespace"
    };
    Failure::unknown(format!("{kernel_name} is registered, but {why}")).hint(format!(
        "look where it was loaded: as root, outside of containers and `ip netns exec`, for example `nsenter --mount=/proc/1/ns/mnt {} kernel status`",
        own_name()
    ))
}
