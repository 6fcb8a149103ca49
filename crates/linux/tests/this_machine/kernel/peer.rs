//! A host without a kernel of its own: the other end of a TCP connection that acknowledges what a test wants it to.

use super::hosts::{inside, ip, socket};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, read, write};
use rustix::net::{Ipv4Addr, SocketAddrV4, connect, sockopt};
use std::time::Duration;

const HOST: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);
const PEER: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 2);
const PORT: u16 = 5001;
/// Payload bytes of a full segment, by the peer's option.
pub const SEGMENT: u32 = 1000;
/// Segments that a connection begins with.
pub const INITIAL_WINDOW: u32 = 10;
/// How long the host may take to send something, in seconds.
const PATIENCE: i64 = 20;

const TUNSETIFF: libc::c_ulong = 0x4004_54ca;
const IFF_TUN: i16 = 1;
const IFF_NO_PI: i16 = 0x1000;
const SYN: u8 = 2;
const ACK: u8 = 16;
const ECE: u8 = 64;
const CWR: u8 = 128;
/// The code points of the IP header's ECN field.
const CAPABLE: u8 = 2;
const MARKED: u8 = 3;
/// Bytes of the headers that the peer sends, without options.
const IP_HEADER: usize = 20;
const TCP_HEADER: usize = 20;

/// A host, as a network namespace, whose one network device ends here.
pub struct Peer {
    host: String,
    device: OwnedFd,
}

/// A TCP connection of the host; its sequence numbers count from the first byte of data.
pub struct Connection<'a> {
    peer: &'a Peer,
    /// The host's end.
    socket: OwnedFd,
    port: u16,
    first: u32,
    /// Bytes that have been sent in order.
    pub sent: u32,
    /// Bytes that the peer has sent.
    spoken: u32,
}

/// What the host says of the peer's data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Echo {
    /// Bytes that it acknowledges.
    pub bytes: u32,
    /// Whether it echoes a mark.
    pub marked: bool,
}

/// What the peer reads of a segment.
struct Segment {
    port: u16,
    sequence: u32,
    acknowledgement: u32,
    flags: u8,
    payload: u32,
}

impl Peer {
    pub fn new() -> Peer {
        let host = format!("pwk-{}-host", std::process::id());
        ip(&format!("netns add {host}"));
        let device = inside(&host, || {
            let device = open(
                "/dev/net/tun",
                OFlags::RDWR | OFlags::CLOEXEC,
                Mode::empty(),
            );
            let device = device.expect("the kernel has TUN devices");
            let mut request = [0_u8; 40];
            request[..4].copy_from_slice(b"peer");
            request[16..18].copy_from_slice(&(IFF_TUN | IFF_NO_PI).to_ne_bytes());
            // SAFETY: TUNSETIFF reads and writes one `struct ifreq`, 40 bytes, which live across the call.
            let done = unsafe { libc::ioctl(device.as_raw_fd(), TUNSETIFF, request.as_mut_ptr()) };
            assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
            device
        });
        ip(&format!("-n {host} addr add {HOST}/24 dev peer"));
        ip(&format!("-n {host} link set peer up"));
        Peer { host, device }
    }

    /// Sets what the host's namespace has of its own.
    pub fn set(&self, key: &'static str, value: &'static str) {
        inside(&self.host, move || {
            std::fs::write(format!("/proc/sys/{key}"), value).expect("a setting of the namespace");
        });
    }

    /// A connection with this control, which has more to send than its window lets it.
    pub fn connect(&self, control: &str) -> Connection<'_> {
        let mut connection = self.open(control);
        connection.write(&vec![7; 1 << 20]);
        connection.wait_for(INITIAL_WINDOW * SEGMENT);
        connection
    }

    /// A connection with this control, which has nothing to send yet. It is capable of ECN when the host asks for it.
    pub fn open(&self, control: &str) -> Connection<'_> {
        let control = control.to_owned();
        let socket = inside(&self.host, move || {
            let socket = socket(&control, libc::IPPROTO_TCP as u32);
            rustix::io::ioctl_fionbio(&socket, true).expect("a socket that does not block");
            let started = connect(&socket, &SocketAddrV4::new(PEER, PORT));
            assert_eq!(started, Err(Errno::INPROGRESS));
            // Nobody would acknowledge what is left when it closes.
            let at_once = Some(Duration::ZERO);
            sockopt::set_socket_linger(&socket, at_once).expect("SO_LINGER");
            socket
        });
        let syn = loop {
            let segment = self.next();
            if segment.flags & SYN != 0 {
                break segment;
            }
        };
        let mut connection = Connection {
            peer: self,
            socket,
            port: syn.port,
            first: syn.sequence.wrapping_add(1),
            sent: 0,
            spoken: 0,
        };
        // Largest segment, and selective acknowledgements are welcome.
        let [high, low] = (SEGMENT as u16).to_be_bytes();
        let ecn = if syn.flags & (ECE | CWR) == ECE | CWR {
            ECE
        } else {
            0
        };
        connection.send(SYN | ACK | ecn, 0, &[2, 4, high, low, 1, 1, 4, 2], 0, &[]);
        await_one(&mut [PollFd::new(&connection.socket, PollFlags::OUT)]);
        connection
    }

    /// The next TCP segment that the host sends.
    fn next(&self) -> Segment {
        let mut frame = [0_u8; 2048];
        loop {
            await_one(&mut [PollFd::new(&self.device, PollFlags::IN)]);
            let length = read(&self.device, &mut frame).expect("a frame");
            let frame = &frame[..length];
            if frame[0] >> 4 != 4 || i32::from(frame[9]) != libc::IPPROTO_TCP {
                continue;
            }
            let tcp = &frame[usize::from(frame[0] & 15) * 4..];
            return Segment {
                port: u16::from_be_bytes([tcp[0], tcp[1]]),
                sequence: u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]),
                acknowledgement: u32::from_be_bytes([tcp[8], tcp[9], tcp[10], tcp[11]]),
                flags: tcp[13],
                payload: tcp.len() as u32 - u32::from(tcp[12] >> 4) * 4,
            };
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        ip(&format!("netns del {}", self.host));
    }
}

impl Connection<'_> {
    /// Waits until this many bytes have been sent.
    pub fn wait_for(&mut self, bytes: u32) {
        while self.sent < bytes {
            let segment = self.peer.next();
            if segment.port != self.port || segment.payload == 0 {
                continue;
            }
            let from = segment.sequence.wrapping_sub(self.first);
            self.sent = self.sent.max(from + segment.payload);
        }
    }

    /// Waits until the segment that begins with this byte comes once more.
    pub fn wait_for_retransmission(&mut self, byte: u32) {
        loop {
            let segment = self.peer.next();
            let from = segment.sequence.wrapping_sub(self.first);
            if segment.port == self.port && segment.payload > 0 && from == byte {
                return;
            }
        }
    }

    /// Acknowledges all before `next`, and what is between these selectively.
    pub fn acknowledge(&mut self, next: u32, selectively: Option<(u32, u32)>) {
        let mut options = Vec::new();
        if let Some((from, to)) = selectively {
            options.extend([1, 1, 5, 10]);
            options.extend(self.first.wrapping_add(from).to_be_bytes());
            options.extend(self.first.wrapping_add(to).to_be_bytes());
        }
        self.send(ACK, next, &options, 0, &[]);
    }

    /// Acknowledges all before `next` and says that what it acknowledges was marked.
    pub fn acknowledge_and_echo(&mut self, next: u32) {
        self.send(ACK | ECE, next, &[], 0, &[]);
    }

    /// The host's end.
    pub fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    /// Gives the host's end something to send.
    pub fn write(&mut self, block: &[u8]) {
        write(&self.socket, block).expect("the connection takes data");
    }

    /// Sends the host one segment of this many bytes, with or without a mark.
    pub fn speak(&mut self, bytes: u32, marked: bool) {
        let ecn = if marked { MARKED } else { CAPABLE };
        self.send(ACK, self.sent, &[], ecn, &vec![7; bytes as usize]);
        self.spoken += bytes;
    }

    /// The host's next acknowledgement of data.
    pub fn echo(&mut self) -> Echo {
        loop {
            let segment = self.peer.next();
            // The peer's data begin with number 1.
            if segment.port == self.port && segment.acknowledgement > 1 {
                return Echo {
                    bytes: segment.acknowledgement - 1,
                    marked: segment.flags & ECE != 0,
                };
            }
        }
    }

    fn send(&mut self, flags: u8, next: u32, options: &[u8], ecn: u8, payload: &[u8]) {
        let header = TCP_HEADER + options.len();
        let length = (header + payload.len()) as u16;
        let mut tcp = vec![0; header];
        tcp[0..2].copy_from_slice(&PORT.to_be_bytes());
        tcp[2..4].copy_from_slice(&self.port.to_be_bytes());
        // The SYN is the peer's number 0.
        let sequence = self.spoken + u32::from(flags & SYN == 0);
        tcp[4..8].copy_from_slice(&sequence.to_be_bytes());
        tcp[8..12].copy_from_slice(&self.first.wrapping_add(next).to_be_bytes());
        tcp[12] = (header / 4) as u8 * 16;
        tcp[13] = flags;
        tcp[14..16].copy_from_slice(&u16::MAX.to_be_bytes());
        tcp[TCP_HEADER..].copy_from_slice(options);
        tcp.extend(payload);
        let mut pseudo = [PEER.octets(), HOST.octets()].concat();
        pseudo.extend([0, libc::IPPROTO_TCP as u8]);
        pseudo.extend(length.to_be_bytes());
        let sum = checksum(&[&pseudo, &tcp[..]].concat());
        tcp[16..18].copy_from_slice(&sum.to_be_bytes());
        let [high, low] = (IP_HEADER as u16 + length).to_be_bytes();
        let mut frame = vec![0x45, ecn, high, low, 0, 0, 0x40, 0, 64, 6, 0, 0];
        frame.extend(PEER.octets());
        frame.extend(HOST.octets());
        let sum = checksum(&frame);
        frame[10..12].copy_from_slice(&sum.to_be_bytes());
        frame.extend(tcp);
        write(&self.peer.device, &frame).expect("the device takes it");
    }
}

fn await_one(fds: &mut [PollFd<'_>]) {
    let most = Timespec {
        tv_sec: PATIENCE,
        tv_nsec: 0,
    };
    let ready = poll(fds, Some(&most)).expect("it can be waited for");
    assert_eq!(ready, 1, "nothing has come for {PATIENCE} s");
}

/// RFC 1071.
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes
        .chunks(2)
        .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
    let mut sum: u32 = words.sum();
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
