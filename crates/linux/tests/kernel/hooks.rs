//! What passes between the kernel and a controller: timeouts, undone losses, the pacing rate, windows that the kernel
//! changes itself, and the echo of marks.

use crate::inventory::Inventory;
use crate::lifecycle::request;
use crate::machine;
use crate::peer::{Echo, INITIAL_WINDOW, Peer, SEGMENT};
use pathweave_linux::kernel::{self, Loaded, Row};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::net::sockopt::set_tcp_quickack;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(20);
/// Less than the kernel delays an acknowledgement, which is 40 ms at least.
const AT_ONCE: Duration = Duration::from_millis(25);
/// The machine may hold a test up for longer than that.
const TRIES: usize = 5;

/// The one subflow's row once it is as wanted.
fn row(loaded: &Loaded, wanted: impl Fn(&Row) -> bool) -> Row {
    let begin = Instant::now();
    loop {
        let connections = loaded.connections().expect("the kernel shows its rows");
        let mut rows = connections.into_iter().flat_map(|c| c.subflows);
        let row = rows.next().expect("the connection has a row");
        if wanted(&row) {
            return row;
        }
        assert!(begin.elapsed() < PATIENCE, "it stays {row:?}");
        std::thread::yield_now();
    }
}

/// What the kernel tells of a socket.
#[derive(Debug)]
struct Information {
    /// Bytes.
    segment: u64,
    /// Whole microseconds, rounded down.
    smoothed_rtt: u64,
    /// Packets.
    window: u64,
    /// Bytes per second.
    pacing_rate: u64,
}

impl Information {
    /// From `struct tcp_info`, of linux/tcp.h.
    fn of(socket: &OwnedFd) -> Information {
        let mut bytes = [0_u8; 112];
        let mut length = bytes.len() as libc::socklen_t;
        // SAFETY: the kernel writes `length` bytes at most, and both live across the call.
        let done = unsafe {
            libc::getsockopt(
                socket.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                bytes.as_mut_ptr().cast(),
                &mut length,
            )
        };
        assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
        let word = |at: usize| {
            let word = bytes[at..at + 4].try_into().expect("four bytes");
            u64::from(u32::from_ne_bytes(word))
        };
        Information {
            segment: word(16),
            smoothed_rtt: word(68),
            window: word(80),
            pacing_rate: u64::from_ne_bytes(bytes[104..112].try_into().expect("eight bytes")),
        }
    }

    /// Whether the pacing rate is this many hundredths of the window's rate, as far as the round-trip time is known.
    fn paces_at(&self, hundredths: u64) -> bool {
        let bytes = self.window * self.segment * hundredths * 10_000;
        let (least, most) = (bytes / (self.smoothed_rtt + 1), bytes / self.smoothed_rtt);
        // The kernel's integers lose one in a hundred bytes at most.
        (least - least / 100..=most).contains(&self.pacing_rate)
    }
}

#[test]
fn a_silent_peer_leaves_a_window_of_one_packet() {
    let Some(_machine) = machine() else { return };
    let before = Inventory::before();
    let peer = Peer::new();
    for name in kernel::names() {
        let loaded = kernel::load(&request(name)).unwrap();
        let mut connection = peer.connect(loaded.kernel_name());
        let first = row(&loaded, |_| true);
        let initial = f64::from(INITIAL_WINDOW);
        assert_eq!((first.window, first.timeouts), (initial, 0), "{name}");
        connection.wait_for_retransmission(0);
        let silent = row(&loaded, |_| true);
        assert_eq!((silent.window, silent.timeouts), (1.0, 1), "{name}");
        assert!(silent.ssthresh < initial, "{name}: {silent:?}");
    }
    drop(peer);
    before.assert_is_again();
}

/// RFC 5682: what arrives after a timeout and was never sent again shows that nothing was lost.
#[test]
fn a_timeout_that_was_none_is_undone() {
    let Some(_machine) = machine() else { return };
    let before = Inventory::before();
    let peer = Peer::new();
    for name in kernel::names() {
        let loaded = kernel::load(&request(name)).unwrap();
        let mut connection = peer.connect(loaded.kernel_name());
        let first = row(&loaded, |_| true);
        connection.wait_for_retransmission(0);
        assert!(row(&loaded, |_| true).window < first.window, "{name}");
        connection.acknowledge(INITIAL_WINDOW * SEGMENT, None);
        let undone = row(&loaded, |row| row.packets >= u64::from(INITIAL_WINDOW));
        assert!(undone.window >= first.window, "{name}: {undone:?}");
        assert_eq!(undone.ssthresh, first.ssthresh, "{name}");
    }
    drop(peer);
    before.assert_is_again();
}

#[test]
fn the_pacing_rate_is_the_kernels_own() {
    let Some(_machine) = machine() else { return };
    let before = Inventory::before();
    let peer = Peer::new();
    for name in kernel::names() {
        let loaded = kernel::load(&request(name)).unwrap();
        let mut connection = peer.connect(loaded.kernel_name());
        connection.acknowledge(2 * SEGMENT, None);
        row(&loaded, |row| row.packets >= 2);
        // The window and the rate are given to the kernel after the row has counted the packets.
        connection.wait_for((INITIAL_WINDOW + 2) * SEGMENT);
        let slow_start = Information::of(connection.socket());
        assert!(slow_start.paces_at(200), "{name}: {slow_start:?}");

        let sent = connection.sent;
        connection.acknowledge(2 * SEGMENT, Some((3 * SEGMENT, sent)));
        connection.wait_for_retransmission(2 * SEGMENT);
        connection.acknowledge(sent, None);
        connection.wait_for(sent + SEGMENT);
        let after_a_loss = Information::of(connection.socket());
        assert!(after_a_loss.paces_at(120), "{name}: {after_a_loss:?}");
    }
    drop(peer);
    before.assert_is_again();
}

/// RFC 8257, section 3.2: no acknowledgement speaks for marked and unmarked packets, and a change is told at once.
#[test]
fn marks_that_begin_or_end_are_echoed_at_once() {
    let Some(_machine) = machine() else { return };
    let before = Inventory::before();
    let peer = Peer::new();
    let loaded = kernel::load(&request("dctcp")).unwrap();
    let mut quickest = [Duration::MAX; 2];
    for _ in 0..TRIES {
        let mut connection = peer.open(loaded.kernel_name());
        // A connection acknowledges its first packets at once unless it is told not to.
        set_tcp_quickack(connection.socket(), false).expect("TCP_QUICKACK");
        for (change, marks) in [(0, [false, true]), (1, [true, false])] {
            let begin = Instant::now();
            for marked in marks {
                connection.speak(SEGMENT, marked);
            }
            for (packet, marked) in (2 * change + 1..).zip(marks) {
                let bytes = packet as u32 * SEGMENT;
                assert_eq!(connection.echo(), Echo { bytes, marked });
            }
            quickest[change] = quickest[change].min(begin.elapsed());
        }
    }
    assert!(quickest.iter().all(|&time| time < AT_ONCE), "{quickest:?}");
    drop((loaded, peer));
    before.assert_is_again();
}

/// A probe of larger packets that arrives leaves the window its bytes, which are fewer packets.
#[test]
fn a_window_of_larger_packets_has_fewer() {
    let Some(_machine) = machine() else { return };
    let before = Inventory::before();
    let peer = Peer::new();
    peer.set("net/ipv4/tcp_mtu_probing", "2");
    peer.set("net/ipv4/tcp_base_mss", "512");
    for name in kernel::names() {
        let loaded = kernel::load(&request(name)).unwrap();
        let mut connection = peer.open(loaded.kernel_name());
        let small = row(&loaded, |_| true).segment;
        connection.write(&[7; 1 << 17]);
        // A window of more than ten packets begins the probe.
        connection.wait_for(INITIAL_WINDOW * 512);
        let (larger, last) = loop {
            let last = row(&loaded, |_| true);
            let sent = connection.sent;
            connection.acknowledge(sent, None);
            connection.wait_for(sent + 1);
            let now = row(&loaded, |row| row.packets > last.packets);
            if now.segment > small {
                break (now, last);
            }
        };
        assert!(larger.window < last.window, "{name}: {last:?} {larger:?}");
    }
    drop(peer);
    before.assert_is_again();
}
