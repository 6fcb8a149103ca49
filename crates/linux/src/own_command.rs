//! How messages name a command of this program that the user may type next.

use std::ffi::OsStr;
use std::path::Path;

/// The program on its own, as the Debian package installs it.
const BINARY: &str = "pathweave-linux";
/// The Python package's command, which hands some of its commands on to this program, and its name with them:
/// python/pathweave/cli/kernel.py.
const FRONT_END: &str = "pathweave";

/// A command with these arguments, in the words of whoever called this program: `` `pathweave-linux kernel status` ``.
pub fn own_command(arguments: &str) -> String {
    format!("`{} {arguments}`", own_name())
}

/// What this program was called as, where other words stand before the command: `pathweave-linux`.
pub fn own_name() -> &'static str {
    name(std::env::args_os().next().as_deref())
}

fn name(called: Option<&OsStr>) -> &'static str {
    match called.and_then(|path| Path::new(path).file_name()) {
        Some(name) if name == FRONT_END => FRONT_END,
        _ => BINARY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_front_end_is_named_instead_of_the_binary() {
        for (called, expected) in [
            (None, BINARY),
            (Some("/usr/bin/pathweave-linux"), BINARY),
            (Some("target/debug/deps/linux-0123"), BINARY),
            (Some("pathweave"), FRONT_END),
            (Some("/opt/bin/pathweave"), FRONT_END),
        ] {
            assert_eq!(name(called.map(OsStr::new)), expected, "{called:?}");
        }
    }
}
