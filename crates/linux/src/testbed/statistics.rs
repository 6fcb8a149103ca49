//! What the kernel says of a connection: `TCP_INFO`, and its like for MPTCP.
//!
//! Layouts are those of the kernel's public headers, `linux/tcp.h` and `linux/mptcp.h`; kernels append
//! to them and never change what is there.

use crate::kernel::SUBFLOWS;
use crate::socket_option::get_option;
use rustix::fd::AsFd;
use std::io;
use std::net::Ipv4Addr;

const SOL_MPTCP: i32 = 284;
const MPTCP_INFO: i32 = 1;
const MPTCP_TCPINFO: i32 = 2;
const MPTCP_SUBFLOW_ADDRS: i32 = 3;
/// Room for a `struct tcp_info`, larger than any kernel's so far.
const TCP_INFO_ROOM: usize = 384;
/// A `struct mptcp_subflow_data`.
const SUBFLOW_HEADER: usize = 16;
/// A `struct mptcp_subflow_addrs`: two socket addresses with room for any family.
const ADDRESSES: usize = 256;

const ESTABLISHED: u8 = 1;
/// From here on a threshold means none (`TCP_INFINITE_SSTHRESH`).
const NO_THRESHOLD: u32 = 0x7fff_ffff;

/// What one TCP connection, or one subflow, has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TcpInfo {
    /// Whether it is open.
    pub established: bool,
    /// Smoothed RTT in microseconds; zero before the first sample.
    pub rtt_us: u32,
    /// Congestion window in packets.
    pub window: u32,
    /// Slow start threshold in packets; infinite for none.
    pub ssthresh: f64,
    /// Packets sent again.
    pub retransmits: u32,
    /// Data packets sent, repetitions included.
    pub data_packets: u32,
    /// Payload received in order.
    pub received: u64,
    /// How long data was under way or waiting to be sent, in microseconds; the kernel counts in ticks of its clock.
    pub busy_us: u64,
    /// Of that, how long the receive window held data back.
    pub receive_window_us: u64,
    /// Of that, how long the send buffer did.
    pub send_buffer_us: u64,
    /// Packets acknowledged as marked.
    pub marked: u32,
    /// Payload sent, repetitions included.
    pub sent: u64,
    /// Payload sent again.
    pub sent_again: u64,
    /// Retransmission timeouts; zero on kernels before 6.7.
    pub timeouts: u16,
}

impl TcpInfo {
    /// Reads a `struct tcp_info`, of which an older kernel gives less.
    fn read(bytes: &[u8]) -> TcpInfo {
        let narrow = |at: usize| {
            let bytes = bytes
                .get(at..at + 4)
                .and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u32::from_ne_bytes)
        };
        let wide = |at: usize| {
            let bytes = bytes
                .get(at..at + 8)
                .and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u64::from_ne_bytes)
        };
        let timeouts = bytes.get(240..242).and_then(|bytes| bytes.try_into().ok());
        let ssthresh = narrow(76);
        TcpInfo {
            established: bytes.first() == Some(&ESTABLISHED),
            rtt_us: narrow(68),
            ssthresh: if ssthresh >= NO_THRESHOLD {
                f64::INFINITY
            } else {
                f64::from(ssthresh)
            },
            window: narrow(80),
            retransmits: narrow(100),
            received: wide(128),
            data_packets: narrow(156),
            busy_us: wide(168),
            receive_window_us: wide(176),
            send_buffer_us: wide(184),
            marked: narrow(196),
            sent: wide(200),
            sent_again: wide(208),
            timeouts: timeouts.map_or(0, u16::from_ne_bytes),
        }
    }
}

/// A TCP connection's counters.
///
/// # Errors
/// The kernel's.
pub fn tcp(socket: impl AsFd) -> io::Result<TcpInfo> {
    let mut bytes = [0; TCP_INFO_ROOM];
    let length = get_option(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut bytes)?;
    Ok(TcpInfo::read(&bytes[..length]))
}

/// An MPTCP connection's subflows: their addresses at both ends, and their counters. A connection that
/// fell back to TCP has one.
///
/// # Errors
/// The kernel's.
pub fn mptcp(socket: impl AsFd) -> io::Result<Vec<(Ipv4Addr, Ipv4Addr, TcpInfo)>> {
    let addresses = subflows::<{ ADDRESSES }>(&socket, MPTCP_SUBFLOW_ADDRS)?;
    let infos = subflows::<{ TCP_INFO_ROOM }>(&socket, MPTCP_TCPINFO)?;
    // A `struct sockaddr_in` has the address from its fifth byte on.
    let at = |bytes: &[u8], place: usize| {
        Ipv4Addr::new(
            bytes[place + 4],
            bytes[place + 5],
            bytes[place + 6],
            bytes[place + 7],
        )
    };
    let both = addresses.iter().zip(&infos);
    Ok(both
        .map(|(ends, info)| (at(ends, 0), at(ends, ADDRESSES / 2), TcpInfo::read(info)))
        .collect())
}

/// One item of `SIZE` bytes for each subflow, in the kernel's order, filled up with zeros.
fn subflows<const SIZE: usize>(socket: impl AsFd, option: i32) -> io::Result<Vec<[u8; SIZE]>> {
    let mut bytes = vec![0u8; SUBFLOW_HEADER + SUBFLOWS * SIZE];
    bytes[..4].copy_from_slice(&(SUBFLOW_HEADER as u32).to_ne_bytes());
    bytes[12..16].copy_from_slice(&(SIZE as u32).to_ne_bytes());
    get_option(socket, SOL_MPTCP, option, &mut bytes)?;
    let word =
        |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    // The kernel's items may be smaller than the room for one, which it leaves as it was.
    let (number, stride) = (word(4) as usize, word(12).min(word(8)).max(1) as usize);
    let items = bytes[SUBFLOW_HEADER..]
        .chunks_exact(stride)
        .take(number.min(SUBFLOWS));
    Ok(items
        .map(|item| {
            let mut padded = [0; SIZE];
            let length = item.len().min(SIZE);
            padded[..length].copy_from_slice(&item[..length]);
            padded
        })
        .collect())
}

/// The connection's token, by which the kernel's path manager knows it; `None` until the other side has
/// shown that it speaks MPTCP.
///
/// # Errors
/// The kernel's; among others, when the connection fell back to TCP.
pub fn token(socket: impl AsFd) -> io::Result<Option<u32>> {
    let mut bytes = [0; 128];
    let length = get_option(socket, SOL_MPTCP, MPTCP_INFO, &mut bytes)?;
    // A `struct mptcp_info` has six single bytes, two of padding, its flags and the token.
    let word =
        |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    const FALLBACK: u32 = 1;
    const KEY_RECEIVED: u32 = 2;
    if length < 16 || word(8) & FALLBACK != 0 {
        return Err(io::Error::other("the connection is plain TCP"));
    }
    Ok((word(8) & KEY_RECEIVED != 0).then(|| word(12)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::time::{Duration, Instant};

    /// The offsets, against a connection whose counters are known.
    #[test]
    fn a_loopback_connection_has_the_counters_of_what_it_carried() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut sender =
            TcpStream::connect(listener.local_addr().expect("its address")).expect("a connection");
        let (mut receiver, _) = listener.accept().expect("a connection");
        sender.write_all(&[7; 10_000]).expect("they fit");
        let mut bytes = [0; 10_000];
        receiver.read_exact(&mut bytes).expect("they come");
        let (sent, got) = (tcp(&sender).expect("info"), tcp(&receiver).expect("info"));
        assert!(sent.established && got.established);
        assert_eq!(
            (sent.sent - sent.sent_again, got.received),
            (10_000, 10_000)
        );
        assert!(sent.data_packets > 0 && sent.window >= 2 && sent.ssthresh.is_infinite());
        assert!(sent.rtt_us < 10_000_000 && sent.timeouts == 0 && sent.marked == 0);
    }

    /// The offsets of what a sender was limited by: by a receiver that does not read, and by nothing after it has read.
    #[test]
    fn a_full_receive_window_counts_as_one() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut sender =
            TcpStream::connect(listener.local_addr().expect("its address")).expect("a connection");
        let (mut receiver, _) = listener.accept().expect("a connection");
        let before = tcp(&sender).expect("info");
        assert_eq!((before.busy_us, before.receive_window_us), (0, 0));
        sender.set_nonblocking(true).expect("settable");
        let (mut sent, begin) = (0, Instant::now());
        // The window is full once nothing more fits into the send buffer behind it.
        let full = loop {
            match sender.write(&[7; 65_536]) {
                Ok(more) => sent += more,
                Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock),
            }
            let now = tcp(&sender).expect("info");
            if now.receive_window_us > 0 {
                break now;
            }
            assert!(begin.elapsed() < Duration::from_secs(20), "{now:?}");
        };
        assert!(full.busy_us >= full.receive_window_us + full.send_buffer_us);
        receiver
            .read_exact(&mut vec![0; sent])
            .expect("all that was sent comes");
    }

    #[test]
    fn an_older_kernel_gives_less() {
        let mut bytes = [0u8; 200];
        bytes[0] = ESTABLISHED;
        bytes[80..84].copy_from_slice(&10u32.to_ne_bytes());
        bytes[76..80].copy_from_slice(&7u32.to_ne_bytes());
        let info = TcpInfo::read(&bytes);
        assert_eq!(
            (info.window, info.ssthresh, info.sent, info.timeouts),
            (10, 7.0, 0, 0)
        );
    }
}
