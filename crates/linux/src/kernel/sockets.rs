//! Which sockets use a congestion control, in all network namespaces.

use super::defaults::{ALWAYS_THERE, DEFAULT, Defaults};
use super::namespaces;
use super::object;
use crate::Failure;
use libbpf_rs::{Iter, ObjectBuilder};
use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::thread;

const AF_INET6: u8 = 10;
const TCP_LISTEN: u8 = 10;
/// Bytes of `struct found` in bpf/sockets.bpf.c.
const FOUND: usize = 56;

/// What uses a control in one network namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uses {
    /// The namespace.
    pub namespace: Option<String>,
    /// Whether new sockets get it if they do not ask for another.
    pub is_default: bool,
    /// Its sockets.
    pub sockets: Vec<Socket>,
}

/// A socket that uses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Socket {
    /// This end.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
    /// Whether it is a listener.
    pub listens: bool,
    /// Whether it belongs to an MPTCP connection.
    pub is_mptcp: bool,
    /// The key of its connection where it found no row, and behaves as Reno.
    pub without_row: Option<u64>,
    /// Of the program that it has; 0 before a program has been told of the connection.
    pub generation: u32,
    moved: bool,
}

impl fmt::Display for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.listens {
            write!(f, "{} (listens)", self.local)
        } else {
            write!(f, "{} -> {}", self.local, self.remote)
        }
    }
}

/// Who uses a control.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// By network namespace.
    pub uses: Vec<Uses>,
    /// Network namespaces that this process may not look into (it takes CAP_SYS_ADMIN).
    pub closed: usize,
}

/// Finds them.
///
/// # Errors
/// When the kernel does not let sockets be looked at.
pub fn find(kernel_name: &str) -> Result<Found, Failure> {
    on_a_thread(|| walk(kernel_name, None, false, || true))
}

/// What users of a control get in its place.
pub(super) struct Instead {
    /// In the namespaces that are known.
    pub known: Defaults,
    /// In all others.
    pub otherwise: String,
}

impl Instead {
    /// In the namespace that the thread is in.
    fn here(&self) -> &str {
        self.known.of_this_namespace().unwrap_or(&self.otherwise)
    }
}

/// Gives all of them, and the namespaces' defaults, another control. Those that cannot be moved stay.
///
/// # Errors
/// When the kernel does not let sockets be looked at.
pub(super) fn replace(kernel_name: &str, instead: &Instead) -> Result<(), Failure> {
    let mut names = instead.known.names();
    names.insert(&instead.otherwise);
    for name in names {
        on_a_thread(|| walk(kernel_name, Some(name), false, || instead.here() == name))?;
    }
    Ok(())
}

/// Lets what hands a control to new sockets hand out the program that is registered now: the namespaces' defaults, and
/// listeners whose programs chose the control. Both hold the program that was registered when they got it.
///
/// # Errors
/// When the kernel does not let sockets be looked at.
pub fn renew(kernel_name: &str) -> Result<Found, Failure> {
    on_a_thread(|| {
        // A namespace that is made meanwhile begins with the default of the first one.
        walk(kernel_name, Some(kernel_name), true, || true)?;
        walk(kernel_name, Some(kernel_name), true, || true)
    })
}

/// The thread changes its namespace, and ends.
fn on_a_thread(walk: impl FnOnce() -> Result<Found, Failure> + Send) -> Result<Found, Failure> {
    thread::scope(|scope| scope.spawn(walk).join())
        .unwrap_or_else(|_| Err(Failure::new("looking for sockets failed")))
}

/// Looks into all namespaces of which `is_wanted` says in them that it should.
fn walk(
    kernel_name: &str,
    instead: Option<&str>,
    chosen: bool,
    is_wanted: impl Fn() -> bool,
) -> Result<Found, Failure> {
    let cannot =
        |error: libbpf_rs::Error| Failure::new(format!("sockets cannot be looked at: {error}"));
    super::libbpf::quiet_libbpf();
    let mut open = ObjectBuilder::default()
        .open_memory(object::SOCKETS)
        .map_err(cannot)?;
    let mut names = [0; 33];
    names[32] = u8::from(chosen);
    names[..kernel_name.len()].copy_from_slice(kernel_name.as_bytes());
    let instead = instead.unwrap_or_default().as_bytes();
    names[16..16 + instead.len()].copy_from_slice(instead);
    for mut map in open.maps_mut() {
        if map.name() == ".rodata.settings" {
            map.set_initial_value(&names).map_err(cannot)?;
        }
    }
    let object = open.load().map_err(cannot)?;
    let walker = object
        .progs_mut()
        .find(|program| program.name() == "find_sockets")
        .ok_or_else(|| Failure::new("the walker over sockets is not there"))?;
    let link = walker.attach().map_err(cannot)?;
    let mut found = Found::default();
    for namespace in namespaces::all() {
        if namespace.name.is_some()
            && let Err(error) = namespace.enter()
        {
            // One that has ended since has no sockets.
            found.closed += usize::from(error.kind() == io::ErrorKind::PermissionDenied);
            continue;
        }
        if !is_wanted() {
            continue;
        }
        let mut bytes = Vec::new();
        Iter::new(&link)
            .map_err(cannot)?
            .read_to_end(&mut bytes)
            .map_err(|error| Failure::new(format!("sockets cannot be looked at: {error}")))?;
        let mut sockets: Vec<Socket> = bytes.chunks_exact(FOUND).map(socket).collect();
        sockets.retain(|socket| !socket.moved);
        let is_default = is_default(kernel_name, instead);
        if is_default || !sockets.is_empty() {
            found.uses.push(Uses {
                namespace: namespace.name,
                is_default,
                sockets,
            });
        }
    }
    Ok(found)
}

/// Whether the control is the default of the namespace that this thread is in, once it has been replaced. Only the first
/// namespace may have any default; others have one of tcp_allowed_congestion_control, where reno always is.
fn is_default(kernel_name: &str, instead: &[u8]) -> bool {
    let is = || fs::read_to_string(DEFAULT).is_ok_and(|text| text.trim() == kernel_name);
    if is() && !instead.is_empty() {
        let replaced = fs::write(DEFAULT, instead).or_else(|_| fs::write(DEFAULT, ALWAYS_THERE));
        return replaced.is_err() || is();
    }
    is()
}

fn socket(bytes: &[u8]) -> Socket {
    let port = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
    let address = |at: usize, port: u16| {
        let octets: [u8; 16] = bytes[at..at + 16].try_into().expect("16 bytes");
        let ip = if bytes[36] == AF_INET6 {
            IpAddr::from(Ipv6Addr::from(octets))
        } else {
            IpAddr::from(Ipv4Addr::new(octets[0], octets[1], octets[2], octets[3]))
        };
        SocketAddr::new(ip.to_canonical(), port)
    };
    Socket {
        local: address(0, port(32)),
        remote: address(16, port(34)),
        listens: bytes[37] == TCP_LISTEN,
        is_mptcp: bytes[38] != 0,
        without_row: match u64::from_ne_bytes(bytes[40..48].try_into().expect("eight bytes")) {
            0 => None,
            key => Some(key),
        },
        moved: bytes[39] != 0,
        generation: u32::from_ne_bytes(bytes[48..52].try_into().expect("four bytes")),
    }
}
