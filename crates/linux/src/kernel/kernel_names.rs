//! What the kernel calls the controllers.

use super::object::names;
use crate::Failure;
use pathweave_control::{Entry, find};

/// What the kernel's names of these controllers begin with.
pub const PREFIX: &str = "pw_";

/// The kernel's name for a controller.
pub fn kernel_name(controller: &str) -> String {
    format!("{PREFIX}{controller}")
}

/// The controller of this name, with the kernel's prefix or without.
///
/// # Errors
/// When the kernel has no counterpart of it.
pub fn entry(name: &str) -> Result<&'static Entry, Failure> {
    let name = name.strip_prefix(PREFIX).unwrap_or(name);
    let there = names().any(|known| known == name);
    find(name).filter(|_| there).ok_or_else(|| {
        Failure::refused(format!("there is no controller \"{name}\" for the kernel")).hint(format!(
            "there are {}",
            names().collect::<Vec<_>>().join(", ")
        ))
    })
}

/// The kernel's name of one that is given with the prefix or without.
pub(super) fn full_name(name: &str) -> String {
    if name.starts_with(PREFIX) {
        name.to_owned()
    } else {
        kernel_name(name)
    }
}
