//! Netlink: messages to the kernel, and its answers.

use crate::Failure;
use crate::socket_option;
use rustix::fd::OwnedFd;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};
use std::io;

const REQUEST: u16 = 1;
const ACKNOWLEDGE: u16 = 4;
const CREATE: u16 = 0x400;
const EXCLUSIVE: u16 = 0x200;
const ERROR: u16 = 2;
const NESTED: u16 = 0x8000;
const HEADER: usize = 16;

/// A message that is being written.
pub struct Message {
    bytes: Vec<u8>,
}

impl Message {
    /// A request of this type, with what comes before its attributes.
    pub fn new(kind: u16, fixed: &[u8]) -> Message {
        let mut bytes = vec![0; HEADER];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&(REQUEST | ACKNOWLEDGE).to_ne_bytes());
        bytes.extend_from_slice(fixed);
        Message { bytes }
    }

    /// The same for a thing that does not exist yet.
    pub fn creating(kind: u16, fixed: &[u8]) -> Message {
        let mut message = Message::new(kind, fixed);
        let flags = REQUEST | ACKNOWLEDGE | CREATE | EXCLUSIVE;
        message.bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        message
    }

    /// With an attribute.
    pub fn with(mut self, kind: u16, value: &[u8]) -> Message {
        let length = (value.len() + 4) as u16;
        self.bytes.extend_from_slice(&length.to_ne_bytes());
        self.bytes.extend_from_slice(&kind.to_ne_bytes());
        self.bytes.extend_from_slice(value);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self
    }

    /// With attributes in an attribute.
    pub fn nesting(mut self, kind: u16, inner: impl FnOnce(Message) -> Message) -> Message {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 2]);
        self.bytes.extend_from_slice(&(kind | NESTED).to_ne_bytes());
        let mut message = inner(self);
        let length = (message.bytes.len() - start) as u16;
        message.bytes[start..start + 2].copy_from_slice(&length.to_ne_bytes());
        message
    }

    fn finish(mut self, sequence: u32) -> Vec<u8> {
        let length = self.bytes.len() as u32;
        self.bytes[..4].copy_from_slice(&length.to_ne_bytes());
        self.bytes[8..12].copy_from_slice(&sequence.to_ne_bytes());
        self.bytes
    }
}

/// The attributes in a piece of a message: their types and values.
pub fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16::from_ne_bytes([*bytes.first()?, *bytes.get(1)?]));
        let kind = u16::from_ne_bytes([*bytes.get(2)?, *bytes.get(3)?]) & !NESTED;
        let value = bytes.get(4..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or(&[]);
        Some((kind, value))
    })
}

/// A connection to one part of the kernel, in the network namespace that the thread was in when it was
/// opened.
pub struct Netlink {
    socket: OwnedFd,
    sequence: u32,
}

impl Netlink {
    /// Links, addresses and routes.
    ///
    /// # Errors
    /// When the kernel gives no socket.
    pub fn route() -> io::Result<Netlink> {
        Netlink::open(None)
    }

    /// Families of the generic kind.
    ///
    /// # Errors
    /// When the kernel gives no socket.
    pub fn generic() -> io::Result<Netlink> {
        Netlink::open(Some(netlink::GENERIC))
    }

    /// `None` is the first protocol, that of links, addresses and routes.
    fn open(protocol: Option<rustix::net::Protocol>) -> io::Result<Netlink> {
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, protocol)?;
        Ok(Netlink {
            socket,
            sequence: 0,
        })
    }

    /// Asks for something and waits for the kernel's word on it. Gives the answer's bytes after its
    /// header; empty where there is no more than a yes.
    ///
    /// # Errors
    /// The kernel's.
    pub fn ask(&mut self, message: Message) -> io::Result<Vec<u8>> {
        self.sequence += 1;
        let bytes = message.finish(self.sequence);
        send(&self.socket, &bytes, SendFlags::empty())?;
        let mut answer = Vec::new();
        let mut buffer = [0u8; 16_384];
        loop {
            let (length, _) = recv(&self.socket, &mut buffer[..], RecvFlags::empty())?;
            let mut left = &buffer[..length];
            while let Some(header) = left.first_chunk::<HEADER>() {
                let word = |at: usize| {
                    u32::from_ne_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
                };
                let size = word(0) as usize;
                let Some(body) = left.get(HEADER..size) else {
                    return Err(io::Error::other("netlink: a message that is cut off"));
                };
                let is_ours = word(8) == self.sequence;
                let kind = u16::from_ne_bytes([header[4], header[5]]);
                if is_ours && kind == ERROR {
                    let code = body
                        .first_chunk()
                        .map_or(0, |code| i32::from_ne_bytes(*code));
                    return match code {
                        0 => Ok(answer),
                        code => Err(io::Error::from_raw_os_error(-code)),
                    };
                }
                if is_ours {
                    answer.extend_from_slice(body);
                }
                left = left.get(size.next_multiple_of(4)..).unwrap_or(&[]);
            }
        }
    }

    /// Hears what is told to this group from now on, without listening.
    ///
    /// # Errors
    /// The kernel's.
    pub fn join(&self, group: u32) -> Result<(), Failure> {
        socket_option::set_option(
            &self.socket,
            libc::SOL_NETLINK,
            libc::NETLINK_ADD_MEMBERSHIP,
            group,
        )
        .map_err(|error| Failure::new(format!("cannot hear a netlink group: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_read_as_they_were_written() {
        let message = Message::new(7, &[1, 2, 3, 4])
            .with(1, b"odd")
            .nesting(2, |inner| inner.with(5, &9u32.to_ne_bytes()).with(6, &[1]))
            .with(3, &[]);
        let bytes = message.finish(1);
        assert_eq!(bytes.len() % 4, 0);
        assert_eq!(&bytes[..4], &(bytes.len() as u32).to_ne_bytes());
        let found: Vec<(u16, Vec<u8>)> = attributes(&bytes[20..])
            .map(|(kind, value)| (kind, value.to_vec()))
            .collect();
        assert_eq!(found[0], (1, b"odd".to_vec()));
        assert_eq!(found[2], (3, Vec::new()));
        let inner: Vec<u16> = attributes(&found[1].1).map(|(kind, _)| kind).collect();
        assert_eq!(inner, [5, 6]);
        assert_eq!(attributes(&[9, 0, 1]).count(), 0);
    }
}
