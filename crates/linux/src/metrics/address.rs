//! Where the server listens: a Unix socket or a loopback address.

use crate::{Failure, run_folder};
use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use rustix::process::{getegid, umask};
use rustix::thread::{Gid, set_thread_gid};
use std::ffi::CString;
use std::fmt;
use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Where it listens without an address.
pub const DEFAULT: &str = "unix:/run/pathweave/metrics";

/// Permissions of the socket that a umask of this leaves: its owner, or its owner and a group.
const OWNER_ALONE: u32 = 0o177;
const OWNER_AND_GROUP: u32 = 0o117;

/// Where it listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    Unix(PathBuf),
    Loopback(SocketAddr),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Address, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            if !path.starts_with('/') {
                return Err(format!(
                    "the path of a Unix socket must be absolute, got \"{path}\""
                ));
            }
            return Ok(Address::Unix(PathBuf::from(path)));
        }
        let address: SocketAddr = text.parse().map_err(|_| {
            "it must be unix:/PATH, or a loopback address with its port such as 127.0.0.1:9091 or [::1]:9091".to_owned()
        })?;
        if !address.ip().is_loopback() {
            return Err(format!(
                "{} is not a loopback address: whoever reaches it could read the metrics; take 127.0.0.1 or [::1], or a Unix socket, behind a proxy that asks who it is",
                address.ip()
            ));
        }
        Ok(Address::Loopback(address))
    }
}

/// A group that may connect to the Unix socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group(Gid);

impl FromStr for Group {
    type Err = String;

    fn from_str(text: &str) -> Result<Group, String> {
        if let Ok(number) = text.parse() {
            return match number {
                u32::MAX => Err("no group has this number".to_owned()),
                number => Ok(Group(Gid::from_raw(number))),
            };
        }
        let name = CString::new(text).map_err(|_| "a name has no zero byte".to_owned())?;
        // SAFETY: the name ends with a zero, and nothing else in this process looks up groups before the result is read.
        let found = unsafe { libc::getgrnam(name.as_ptr()).as_ref() };
        found
            .map(|group| Group(Gid::from_raw(group.gr_gid)))
            .ok_or_else(|| format!("there is no group \"{text}\""))
    }
}

/// A socket that accepts connections.
#[derive(Debug)]
pub enum Listener {
    Unix(UnixListener),
    Loopback(TcpListener),
}

impl Address {
    /// Listens there. A group is for Unix sockets.
    ///
    /// # Errors
    /// When it cannot listen there, or a loopback address comes with a group.
    pub fn listen(&self, group: Option<&Group>) -> Result<Listener, Failure> {
        let cannot = |error: io::Error| Failure::new(format!("cannot listen on {self}: {error}"));
        match (self, group) {
            (Address::Loopback(_), Some(_)) => Err(Failure::refused(
                "--group needs a Unix socket: every user of this machine can connect to a loopback address",
            )
            .hint(format!("--listen {DEFAULT}"))),
            (Address::Loopback(address), None) => TcpListener::bind(address)
                .map(Listener::Loopback)
                .map_err(cannot),
            (Address::Unix(path), _) => {
                if path.parent() == Some(Path::new(run_folder::PATH)) {
                    run_folder::make()?;
                }
                unix(path, group).map(Listener::Unix).map_err(cannot)
            }
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
            Address::Loopback(address) => write!(f, "{address}"),
        }
    }
}

/// Replaces a socket that nobody listens on any more.
fn unix(path: &Path, group: Option<&Group>) -> io::Result<UnixListener> {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|about| about.file_type().is_socket());
    if is_socket && is_abandoned(path)? {
        fs::remove_file(path)?;
    }
    // The socket is created with its final group and mode. Changing them afterwards would follow a path that others may
    // have replaced, and leave a moment in which others could connect.
    let own = getegid();
    if let Some(Group(gid)) = group {
        set_thread_gid(*gid)?;
    }
    let before = umask(Mode::from_raw_mode(match group {
        Some(_) => OWNER_AND_GROUP,
        None => OWNER_ALONE,
    }));
    let bound = UnixListener::bind(path);
    umask(before);
    if let Some(Group(gid)) = group {
        set_thread_gid(own)?;
        if bound.is_ok() && fs::symlink_metadata(path)?.gid() != gid.as_raw() {
            return Err(io::Error::other(
                "its folder has the setgid bit, which gives the socket another group",
            ));
        }
    }
    bound
}

/// Whether nobody listens on a socket. A listener that accepts nothing is not waited for.
fn is_abandoned(path: &Path) -> io::Result<bool> {
    let socket = socket_with(
        AddressFamily::UNIX,
        SocketType::STREAM,
        SocketFlags::NONBLOCK | SocketFlags::CLOEXEC,
        None,
    )?;
    let answer = connect(&socket, &SocketAddrUnix::new(path)?);
    Ok(answer == Err(Errno::CONNREFUSED))
}

#[cfg(test)]
mod tests {
    use super::{Address, DEFAULT, Group};

    #[test]
    fn only_loopback_addresses_and_unix_sockets_are_taken() {
        for good in [
            "127.0.0.1:9091",
            "127.8.0.1:1",
            "[::1]:9091",
            "unix:/run/x",
            DEFAULT,
        ] {
            assert!(good.parse::<Address>().is_ok(), "{good}");
        }
        for (bad, said) in [
            ("0.0.0.0:9091", "0.0.0.0 is not a loopback address"),
            ("[::]:9091", ":: is not a loopback address"),
            ("10.0.0.1:9091", "10.0.0.1 is not a loopback address"),
            (
                "localhost",
                "it must be unix:/PATH, or a loopback address with its port",
            ),
            ("unix:run/x", "must be absolute, got \"run/x\""),
        ] {
            let message = bad.parse::<Address>().unwrap_err();
            assert!(message.contains(said), "{bad}: {message}");
        }
    }

    #[test]
    fn a_group_is_a_name_or_a_number() {
        assert_eq!("root".parse::<Group>(), "0".parse::<Group>());
        for bad in ["", "no group", "-1", "4294967295", "a\0b"] {
            assert!(bad.parse::<Group>().is_err(), "{bad}");
        }
    }
}
