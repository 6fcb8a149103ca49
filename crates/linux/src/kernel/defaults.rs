//! Which congestion control each network namespace had by default when a controller was loaded: what it gets back when the
//! controller is unloaded by force.
//!
//! Loading is done by a short command, so this is kept in a file that ends with the machine. Namespaces are told apart by
//! their cookies, which the kernel gives only once; inode numbers come again.

use super::{PREFIX, namespaces};
use crate::run_folder;
use crate::socket_option::get_option;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;

/// What every kernel has, and every namespace may have.
pub(super) const ALWAYS_THERE: &str = "reno";
/// The default control of a network namespace.
pub const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
/// Of Linux's `asm-generic/socket.h`; the `libc` crate does not have it.
const SO_NETNS_COOKIE: i32 = 71;

/// Defaults by the cookies of network namespaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Defaults(BTreeMap<u64, String>);

impl Defaults {
    /// Those of all namespaces that this process may look into.
    fn now() -> Defaults {
        // The thread changes its namespace, and ends.
        let looked = thread::spawn(|| {
            let mut found = BTreeMap::new();
            for namespace in namespaces::all() {
                if namespace.name.is_some() && namespace.enter().is_err() {
                    continue;
                }
                if let (Ok(cookie), Some(default)) = (cookie(), default_now()) {
                    found.insert(cookie, default);
                }
            }
            found
        });
        Defaults(looked.join().unwrap_or_default())
    }

    /// What was recorded when a controller was loaded; nothing where nothing was.
    pub(super) fn recorded(kernel_name: &str) -> Defaults {
        parse(&fs::read_to_string(file(kernel_name)).unwrap_or_default())
    }

    /// That of the namespace that the thread is in.
    pub(super) fn of_this_namespace(&self) -> Option<&str> {
        self.0.get(&cookie().ok()?).map(String::as_str)
    }

    /// What a namespace gets that nothing is recorded of: the default that the first namespace has, else the one recorded of
    /// it. A controller of Pathweave is given to nobody who has not chosen it.
    pub(super) fn of_those_not_recorded(&self, is_there: impl Fn(&str) -> bool) -> String {
        let in_first = || (default_now(), self.of_this_namespace().map(str::to_owned));
        let (now, recorded) = namespaces::in_first(in_first).unwrap_or_default();
        let fits = |name: &String| is_there(name) && !name.starts_with(PREFIX);
        now.filter(fits)
            .or_else(|| recorded.filter(fits))
            .unwrap_or_else(|| ALWAYS_THERE.to_owned())
    }

    /// The different ones.
    pub(super) fn names(&self) -> BTreeSet<&str> {
        self.0.values().map(String::as_str).collect()
    }

    /// Without those that do not fit.
    pub(super) fn only(mut self, fits: impl Fn(&str) -> bool) -> Defaults {
        self.0.retain(|_, name| fits(name));
        self
    }
}

/// Writes down the defaults when a controller is pinned. Its name is registered by then; a namespace that already has it
/// counts as not recorded. Whoever cannot write to /run does not fail because of it: then the first namespace's default
/// counts.
pub(super) fn record(kernel_name: &str) {
    let lines = Defaults::now().0.into_iter();
    let lines = lines.map(|(cookie, default)| format!("{cookie} {default}\n"));
    if run_folder::make().is_ok() {
        let _ = fs::write(file(kernel_name), lines.collect::<String>());
    }
}

/// That of the namespace that the thread is in.
fn default_now() -> Option<String> {
    let text = fs::read_to_string(DEFAULT).ok()?;
    Some(text.trim().to_owned())
}

/// Nothing is known of a controller that is unloaded.
pub(super) fn forget(kernel_name: &str) {
    let _ = fs::remove_file(file(kernel_name));
}

fn file(kernel_name: &str) -> PathBuf {
    Path::new(run_folder::PATH).join(format!("defaults-{kernel_name}"))
}

fn parse(text: &str) -> Defaults {
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    let known = lines.filter_map(|(cookie, name)| Some((cookie.parse().ok()?, name.to_owned())));
    Defaults(known.collect())
}

/// What tells the namespace that the thread is in from all that there were since the machine started.
fn cookie() -> io::Result<u64> {
    let socket = socket_with(
        AddressFamily::INET,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        None,
    )?;
    let mut bytes = [0; 8];
    get_option(&socket, libc::SOL_SOCKET, SO_NETNS_COOKIE, &mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_none_are_left_out() {
        let known = parse("1 cubic\nnonsense\n\n18446744073709551615 reno\nx bbr\n");
        assert_eq!(known.names(), BTreeSet::from(["cubic", "reno"]));
        assert_eq!(known.0[&u64::MAX], "reno");
        assert_eq!(parse(""), Defaults::default());
    }
}
