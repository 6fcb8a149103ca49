//! A host's network device: what the host's kernel sends comes out of a file, what is written there
//! arrives.

use super::frame::address;
use super::namespace::set_parameter;
use super::netlink::{Message, Netlink};
use crate::Failure;
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{Mode, OFlags, open};
use rustix::net::{AddressFamily, SocketFlags, SocketType, netdevice, socket_with};
use std::io;
use std::time::Duration;

/// The device's name in each host's namespace.
const NAME: &str = "pw0";
const TUNSETIFF: libc::c_ulong = 0x4004_54ca;
const IFF_TUN: i16 = 1;
const IFF_NO_PI: i16 = 0x1000;
const SIOCETHTOOL: libc::c_ulong = 0x8946;
const ETHTOOL_SGSO: u32 = 0x24;
const ETHTOOL_SGRO: u32 = 0x2c;
/// Packets that wait for the fabric: more than it ever leaves waiting.
const QUEUE: u32 = 10_000;

/// Since Linux 6.11.
pub const MINIMUM_RTO: &str = "net.ipv4.tcp_rto_min_us";

const RTM_NEWLINK: u16 = 16;
const RTM_NEWADDR: u16 = 20;
const RTM_NEWROUTE: u16 = 24;
const IFLA_MTU: u16 = 4;
const IFLA_TXQLEN: u16 = 13;
const IFLA_GSO_MAX_SEGS: u16 = 40;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_METRICS: u16 = 8;
const RTAX_INITCWND: u16 = 11;
const RTAX_QUICKACK: u16 = 15;
const IFF_UP: u32 = 1;

/// What a host's network is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Largest packet, in bytes.
    pub mtu: u16,
    /// Addresses of each host: most subflows of a flow.
    pub addresses: u32,
    /// Initial window in packets, if it is not the kernel's.
    pub initial_window: Option<u32>,
    /// Smallest retransmission timeout by the machine's clock, if it is the same for all flows.
    pub minimum_rto: Option<Duration>,
    /// Whether every packet is acknowledged at once.
    pub quick_acks: bool,
    /// Whether the host may send bundles of packets, or sends packet by packet.
    pub gso: bool,
    /// Whether every connection asks for ECN, or only those whose congestion control does.
    pub ecn: bool,
    /// Unsent bytes that a connection's sender may leave with the kernel.
    pub unsent: u32,
}

/// Makes a host's device in the namespace that the thread is in, gives it addresses and routes, and
/// sets what hosts have in common.
///
/// # Errors
/// What the kernel says.
pub fn make(host: u32, settings: &Settings) -> Result<OwnedFd, Failure> {
    let failed = |what: &str| {
        let what = what.to_owned();
        move |error: io::Error| Failure::new(format!("cannot {what} host {host}'s device: {error}"))
    };
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file =
        open("/dev/net/tun", flags, Mode::empty()).map_err(|error| failed("open")(error.into()))?;
    attach(&file).map_err(failed("make"))?;
    for (name, value) in parameters(settings) {
        set_parameter(name, &value)?;
    }
    configure(host, settings).map_err(failed("set up"))?;
    Ok(file)
}

/// The zero-padded name, at the start of a `struct ifreq`.
fn request() -> [u8; 40] {
    let mut request = [0; 40];
    request[..NAME.len()].copy_from_slice(NAME.as_bytes());
    request
}

fn attach(file: &OwnedFd) -> io::Result<()> {
    let mut request = request();
    request[16..18].copy_from_slice(&(IFF_TUN | IFF_NO_PI).to_ne_bytes());
    // SAFETY: TUNSETIFF reads and writes one `struct ifreq`, 40 bytes, which live across the call.
    let done = unsafe { libc::ioctl(file.as_raw_fd(), TUNSETIFF, request.as_mut_ptr()) };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

fn configure(host: u32, settings: &Settings) -> io::Result<()> {
    let flags = SocketFlags::CLOEXEC;
    let any = socket_with(AddressFamily::INET, SocketType::DGRAM, flags, None)?;
    let device = netdevice::name_to_index(&any, NAME)?;
    for feature in [ETHTOOL_SGSO, ETHTOOL_SGRO] {
        turn_off(&any, feature)?;
    }
    let mut netlink = Netlink::route()?;
    let mut link = [0u8; 16];
    link[4..8].copy_from_slice(&device.to_ne_bytes());
    link[8..12].copy_from_slice(&IFF_UP.to_ne_bytes());
    link[12..16].copy_from_slice(&IFF_UP.to_ne_bytes());
    let up = Message::new(RTM_NEWLINK, &link)
        .with(IFLA_MTU, &u32::from(settings.mtu).to_ne_bytes())
        .with(IFLA_TXQLEN, &QUEUE.to_ne_bytes());
    // TCP makes bundles for devices that take none, too; they are cut just before the device.
    let up = if settings.gso {
        up
    } else {
        up.with(IFLA_GSO_MAX_SEGS, &1u32.to_ne_bytes())
    };
    netlink.ask(up)?;
    let loopback = {
        let mut link = link;
        link[4..8].copy_from_slice(&1u32.to_ne_bytes());
        link
    };
    netlink.ask(Message::new(RTM_NEWLINK, &loopback))?;
    for subflow in 0..settings.addresses {
        let mut fixed = [0u8; 8];
        fixed[0] = libc::AF_INET as u8;
        fixed[1] = 32;
        fixed[4..8].copy_from_slice(&device.to_ne_bytes());
        let address = address(host, subflow).octets();
        let message = Message::creating(RTM_NEWADDR, &fixed);
        netlink.ask(
            message
                .with(IFA_LOCAL, &address)
                .with(IFA_ADDRESS, &address),
        )?;
    }
    // Everybody in 10.0.0.0/8 is behind the device.
    let fixed = [libc::AF_INET as u8, 8, 0, 0, 254, 4, 253, 1, 0, 0, 0, 0];
    let route = Message::creating(RTM_NEWROUTE, &fixed)
        .with(RTA_DST, &[10, 0, 0, 0])
        .with(RTA_OIF, &device.to_ne_bytes());
    netlink.ask(route.nesting(RTA_METRICS, |metrics| {
        let metrics = match settings.initial_window {
            Some(window) => metrics.with(RTAX_INITCWND, &window.to_ne_bytes()),
            None => metrics,
        };
        let quick_acks = u32::from(settings.quick_acks);
        metrics.with(RTAX_QUICKACK, &quick_acks.to_ne_bytes())
    }))?;
    Ok(())
}

/// Turns a device's feature off: it gets packets as large as the simulation's, not bundles of them, which the kernel
/// cuts before the device if it has made some.
fn turn_off(any: &OwnedFd, feature: u32) -> io::Result<()> {
    let value = [feature, 0u32];
    let mut request = request();
    request[16..24].copy_from_slice(&(value.as_ptr() as usize).to_ne_bytes());
    // SAFETY: SIOCETHTOOL reads a `struct ifreq`, 40 bytes, whose data points to a `struct
    // ethtool_value`, two 32-bit numbers; both live across the call.
    let done = unsafe { libc::ioctl(any.as_raw_fd(), SIOCETHTOOL, request.as_mut_ptr()) };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Kernel parameters of a host. Nothing is remembered from one flow to the next, receivers and memory
/// limit nobody, and nothing but TCP and QUIC speaks.
///
/// MPTCP hands data to a subflow in pieces of 64 KB, as long as there is room in the subflow's buffer, and what is there
/// takes no other path. A piece that waits for a slow subflow holds up all that follows it at the receiver and, once
/// the buffers are full, at the sender: with buffers of a few pieces the fast subflow stands idle for a tenth
/// of the time and more. So there is room for sixteen, and for a receiver to wait long.
fn parameters(settings: &Settings) -> Vec<(&'static str, String)> {
    let ecn = if settings.ecn { "1" } else { "2" };
    let micros = |time: Duration| (MINIMUM_RTO, time.as_micros().max(1).to_string());
    let minimum_rto = settings.minimum_rto.map(micros);
    let fixed = [
        ("net.ipv6.conf.all.disable_ipv6", "1".to_owned()),
        ("net.ipv6.conf.default.disable_ipv6", "1".to_owned()),
        ("net.ipv4.tcp_no_metrics_save", "1".to_owned()),
        ("net.ipv4.tcp_slow_start_after_idle", "0".to_owned()),
        ("net.ipv4.tcp_ecn", ecn.to_owned()),
        ("net.ipv4.tcp_ecn_fallback", "0".to_owned()),
        ("net.ipv4.tcp_syncookies", "0".to_owned()),
        ("net.ipv4.tcp_max_syn_backlog", "4096".to_owned()),
        ("net.ipv4.tcp_rmem", "4096 134217728 134217728".to_owned()),
        ("net.ipv4.tcp_wmem", "4096 1048576 67108864".to_owned()),
        ("net.ipv4.tcp_notsent_lowat", settings.unsent.to_string()),
        (
            "net.ipv4.ip_local_port_range",
            format!("1024 {}", super::frame::FIRST_PORT - 1),
        ),
        ("net.mptcp.enabled", "1".to_owned()),
        ("net.mptcp.checksum_enabled", "0".to_owned()),
        ("net.mptcp.pm_type", "1".to_owned()),
    ];
    fixed.into_iter().chain(minimum_rto).collect()
}
