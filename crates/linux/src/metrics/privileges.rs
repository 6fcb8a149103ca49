//! What the server gives up before it answers its first request.
//!
//! Pins belong to root and open for their owner, so the user stays. A link opens only for one who may write it, so read
//! permission would not be enough for another user.

use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};
use std::fmt;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Kernels may ask for it when maps and pins are opened.
const KEPT: CapabilitySet = CapabilitySet::BPF;

/// What is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    user: u32,
    may_use_bpf: bool,
    /// Whether the kernel denies writing files, executing programs, and connecting to other processes.
    is_confined: bool,
}

/// Drops everything but [`KEPT`], for good: also what a program that is executed would get.
///
/// # Errors
/// The kernel's.
pub fn drop_privileges() -> io::Result<Left> {
    let kept = capabilities(None)?.permitted & KEPT;
    set_no_new_privs(true)?;
    let is_confined = confine()?;
    clear_ambient_capability_set()?;
    for capability in CapabilitySet::all().iter() {
        match remove_capability_from_bounding_set(capability) {
            // The kernel does not know it, or this process may not: then it gains none either.
            Ok(()) | Err(Errno::INVAL | Errno::PERM) => {}
            Err(error) => return Err(error.into()),
        }
    }
    set_capabilities(
        None,
        CapabilitySets {
            effective: kept,
            permitted: kept,
            inheritable: CapabilitySet::empty(),
        },
    )?;
    Ok(Left {
        user: rustix::process::geteuid().as_raw(),
        may_use_bpf: kept.contains(CapabilitySet::BPF),
        is_confined,
    })
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let capability = match self.may_use_bpf {
            true => "CAP_BPF",
            false => "no capability",
        };
        let files = match self.is_confined {
            true => "reading files",
            false => "reading and writing files (this kernel has no Landlock)",
        };
        write!(f, "user {}, {capability}, {files}", self.user)
    }
}

/// `struct landlock_ruleset_attr`.
#[repr(C)]
struct Ruleset {
    handled_access_fs: u64,
    handled_access_net: u64,
    scoped: u64,
}

/// All accesses to files that Landlock knows since Linux 6.10 (`LANDLOCK_ACCESS_FS_*`) but for reading files and folders.
const WRITE_AND_EXECUTE: u64 = 0xffff & !(READ_FILE | READ_DIR);
const READ_FILE: u64 = 1 << 2;
const READ_DIR: u64 = 1 << 3;
/// `LANDLOCK_ACCESS_NET_BIND_TCP` and `_CONNECT_TCP`.
const TCP: u64 = 0b11;
/// `LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET` and `_SIGNAL`: only from version 6 on.
const OTHER_PROCESSES: u64 = 0b11;
const VERSION_OF_FILES: i64 = 5;
const VERSION_OF_SCOPES: i64 = 6;
const ASK_VERSION: u32 = 1;

/// Denies, by Landlock, what reading pins and answering on an open socket does not need. False where the kernel has no Landlock.
fn confine() -> io::Result<bool> {
    let no_attributes = std::ptr::null::<Ruleset>();
    // SAFETY: with this flag the kernel takes no attributes, and only answers with a number.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            no_attributes,
            0_usize,
            ASK_VERSION,
        )
    };
    if version < VERSION_OF_FILES {
        return Ok(false);
    }
    let attributes = Ruleset {
        handled_access_fs: WRITE_AND_EXECUTE,
        handled_access_net: TCP,
        scoped: match version >= VERSION_OF_SCOPES {
            true => OTHER_PROCESSES,
            false => 0,
        },
    };
    // SAFETY: the attributes live across the call, and their size is given with them.
    let ruleset = check(unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            &raw const attributes,
            size_of::<Ruleset>(),
            0_u32,
        )
    })?;
    // SAFETY: the number is of a descriptor that the call before has opened and nobody else has.
    let ruleset = unsafe { OwnedFd::from_raw_fd(ruleset as RawFd) };
    // SAFETY: it only reads the two numbers.
    check(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0_u32) })?;
    Ok(true)
}

fn check(result: i64) -> io::Result<i64> {
    match result {
        -1 => Err(io::Error::last_os_error()),
        result => Ok(result),
    }
}
