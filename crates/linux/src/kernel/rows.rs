//! The rows of connections' subflows, as an eBPF program keeps them (bpf/connection.h).

use crate::Failure;
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use pathweave_units::{Bytes, Time};
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const PACKET: f64 = (1_u64 << 24) as f64;
const AF_INET6: u8 = 10;
/// Of `enum path_state`.
const PATH_FAILED: u8 = 2;

/// How rows lie in the map, and what the program was loaded with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    row: usize,
    first_row: usize,
    /// How its maps are laid out: layout.rs.
    pub layout: u64,
    /// Which object the program is of.
    pub program: u64,
    /// When it was loaded, in seconds since 1970.
    pub since: u64,
    /// 1, and one more with each program that replaces another one.
    pub generation: u32,
    /// What it was loaded with.
    pub text: String,
}

/// A subflow that has a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its number in the connection.
    pub number: u32,
    /// This end.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
    /// The inode number of its network namespace.
    pub namespace: u64,
    /// Congestion window, in packets.
    pub window: f64,
    /// Slow start threshold, in packets; infinite for none.
    pub ssthresh: f64,
    /// Zero before the first sample.
    pub smoothed_rtt: Time,
    /// Payload of a full packet.
    pub segment: Bytes,
    /// Packets acknowledged so far.
    pub packets: u64,
    /// Marks echoed so far.
    pub marks: u64,
    /// Losses found by acknowledgements.
    pub losses: u32,
    /// Losses found by the retransmission timer.
    pub timeouts: u32,
    /// Windows cut by marks.
    pub cuts: u32,
    /// Whether its path has failed: it has timed out several times in a row without progress.
    pub failed: bool,
    /// Whether the controller has suppressed it.
    pub suppressed: bool,
}

/// A connection with a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Connection {
    /// MPTCP's token; none for plain TCP.
    pub token: Option<u32>,
    /// In the order of their numbers.
    pub subflows: Vec<Row>,
}

impl About {
    /// From the value of the map `about`.
    pub fn read(map: &MapHandle) -> Result<About, Failure> {
        let value = map
            .lookup(&0_u32.to_ne_bytes(), MapFlags::ANY)
            .ok()
            .flatten()
            .ok_or_else(|| Failure::new("the map of a controller's settings cannot be read"))?;
        let text = value[36..].split(|&byte| byte == 0).next().unwrap_or(&[]);
        Ok(About {
            row: u32_at(&value, 0) as usize,
            first_row: u32_at(&value, 4) as usize,
            layout: u64_at(&value, 8),
            program: u64_at(&value, 16),
            since: u64_at(&value, 24),
            generation: u32_at(&value, 32),
            text: String::from_utf8_lossy(text).into_owned(),
        })
    }
}

/// All connections in the map, by token.
pub fn connections(map: &MapHandle, about: &About) -> Vec<Connection> {
    // The kernel begins again when the key that it is asked to go on from has gone: some may come twice.
    let keys: BTreeSet<[u8; 8]> = map.keys().filter_map(|key| key.try_into().ok()).collect();
    let mut all: Vec<Connection> = keys
        .into_iter()
        .filter_map(|key| {
            // It may have gone meanwhile.
            let value = map.lookup(&key, MapFlags::ANY).ok().flatten()?;
            let key = u64::from_ne_bytes(key);
            let rows = value.get(about.first_row..)?.chunks_exact(about.row);
            let mut subflows: Vec<Row> = rows.filter_map(row).collect();
            subflows.sort_by_key(|row| row.number);
            Some(Connection {
                token: u32::try_from(key).ok(),
                subflows,
            })
        })
        .collect();
    all.sort_by_key(|connection| {
        (
            connection.token,
            connection.subflows.first().map(|row| row.local),
        )
    });
    all
}

fn row(bytes: &[u8]) -> Option<Row> {
    if u64_at(bytes, 0) == 0 {
        return None;
    }
    let packets = |at: usize| u64_at(bytes, at) as f64 / PACKET;
    let address = |at: usize, port: u16| {
        let ip = if bytes[87] == AF_INET6 {
            let octets: [u8; 16] = bytes[at..at + 16].try_into().expect("16 bytes");
            IpAddr::from(Ipv6Addr::from(octets))
        } else {
            let octets: [u8; 4] = bytes[at..at + 4].try_into().expect("4 bytes");
            IpAddr::from(Ipv4Addr::from(octets))
        };
        SocketAddr::new(ip.to_canonical(), port)
    };
    let port = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
    Some(Row {
        number: u32_at(bytes, 80),
        local: address(88, port(120)),
        remote: address(104, port(122)),
        namespace: u64::from(u32_at(bytes, 124)),
        window: packets(8),
        ssthresh: if u64_at(bytes, 16) == u64::MAX {
            f64::INFINITY
        } else {
            packets(16)
        },
        smoothed_rtt: Time::from_nanos(u64::from(u32_at(bytes, 40)) * 125),
        segment: Bytes::new(u64::from(u32_at(bytes, 128))),
        packets: u64_at(bytes, 48),
        marks: u64_at(bytes, 56),
        losses: u32_at(bytes, 64),
        timeouts: u32_at(bytes, 68),
        cuts: u32_at(bytes, 72),
        failed: bytes[84] == PATH_FAILED,
        suppressed: bytes[85] != 0,
    })
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}
