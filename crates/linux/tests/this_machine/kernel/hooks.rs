//! What passes between the kernel and a controller: timeouts, other losses, undone ones, windows that are not full or that
//! the kernel changes itself, and the pacing rate.

use super::information::Information;
use super::one_connection::{row, row_when, row_within, with_each_controller};
use super::peer::{INITIAL_WINDOW, SEGMENT};
use rustix::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

/// The kernel may take a late packet for lost before a test has looked.
const TRIES: usize = 20;
/// Longer than several timeouts of a new connection.
const TIMEOUTS: Duration = Duration::from_secs(5);

#[test]
fn a_silent_peer_leaves_a_window_of_one_packet() {
    with_each_controller(|peer, loaded, name| {
        let initial = f64::from(INITIAL_WINDOW);
        let once = || {
            let mut connection = peer.connect(loaded.kernel_name());
            let first = row(loaded);
            assert_eq!((first.window, first.timeouts), (initial, 0), "{name}");
            connection.wait_for_retransmission(0);
            // Before all is sent a probe may have come first, which is no timeout.
            row_within(TIMEOUTS, loaded, |row| row.timeouts > 0)
        };
        // Linux 6.18.44 occasionally skips the program's `ssthresh` on the first timeout after a load, which is then not
        // counted. A second connection has to count it.
        let silent = once().or_else(|_| once());
        let silent = silent.unwrap_or_else(|instead| panic!("it stays {instead}"));
        assert_eq!((silent.window, silent.timeouts), (1.0, 1), "{name}");
        assert!(silent.ssthresh < initial, "{name}: {silent:?}");
    });
}

/// RFC 5682: what arrives after a timeout and was never sent again shows that nothing was lost.
#[test]
fn a_timeout_that_was_none_is_undone() {
    with_each_controller(|peer, loaded, name| {
        let mut connection = peer.connect(loaded.kernel_name());
        let first = row(loaded);
        connection.wait_for_retransmission(0);
        row_when(loaded, |row| row.window < first.window);
        connection.acknowledge(INITIAL_WINDOW * SEGMENT, None);
        let undone = row_when(loaded, |row| row.packets >= u64::from(INITIAL_WINDOW));
        assert!(undone.window >= first.window, "{name}: {undone:?}");
        assert_eq!(undone.ssthresh, first.ssthresh, "{name}");
    });
}

/// RFC 8985: when what was sent after a probe is acknowledged with it, and the probe did not come twice, it has repaired a
/// loss.
#[test]
fn a_loss_that_a_probe_of_the_tail_repairs_is_one() {
    const SENT: u32 = 5;
    with_each_controller(|peer, loaded, name| {
        let repaired = (0..TRIES).find_map(|_| {
            let mut connection = peer.open(loaded.kernel_name());
            connection.write(&[7; (SENT * SEGMENT) as usize]);
            connection.wait_for(SENT * SEGMENT);
            connection.wait_for_retransmission((SENT - 1) * SEGMENT);
            connection.write(&[7; SEGMENT as usize]);
            connection.wait_for((SENT + 1) * SEGMENT);
            connection.acknowledge((SENT + 1) * SEGMENT, None);
            let row = row_when(loaded, |row| row.packets > u64::from(SENT));
            // The kernel's own timer may have come first.
            (row.timeouts == 0).then_some(row)
        });
        let repaired = repaired.expect("probes come before timeouts");
        assert_eq!(repaired.losses, 1, "{name}: {repaired:?}");
        assert!(repaired.window < 10.0, "{name}: {repaired:?}");
    });
}

/// Growth counts on what the window of after the loss lets through.
#[test]
fn no_window_grows_while_a_loss_is_repaired() {
    with_each_controller(|peer, loaded, name| {
        let mut connection = peer.connect(loaded.kernel_name());
        let arrived = Some((3 * SEGMENT, INITIAL_WINDOW * SEGMENT));
        connection.acknowledge(SEGMENT, arrived);
        connection.wait_for_retransmission(2 * SEGMENT);
        let begun = row_when(loaded, |row| row.packets >= 8);
        assert_eq!(begun.losses, 1, "{name}: {begun:?}");
        assert!(begun.window < f64::from(INITIAL_WINDOW), "{name}");
        connection.acknowledge(2 * SEGMENT, arrived);
        let later = row_when(loaded, |row| row.packets >= 9);
        assert_eq!(later.losses, 1, "{name}: {later:?}");
        assert_eq!(later.window, begun.window, "{name}");
    });
}

#[test]
fn the_window_of_who_has_little_to_send_stays() {
    with_each_controller(|peer, loaded, name| {
        let mut connection = peer.open(loaded.kernel_name());
        let first = row(loaded);
        for packet in 1..=2 * INITIAL_WINDOW {
            connection.write(&[7; SEGMENT as usize]);
            connection.wait_for(packet * SEGMENT);
            connection.acknowledge(packet * SEGMENT, None);
            row_when(loaded, |row| row.packets >= u64::from(packet));
        }
        assert_eq!(row(loaded).window, first.window, "{name}");
    });
}

#[test]
fn the_pacing_rate_is_the_kernels_own() {
    with_each_controller(|peer, loaded, name| {
        let mut connection = peer.connect(loaded.kernel_name());
        connection.acknowledge(2 * SEGMENT, None);
        row_when(loaded, |row| row.packets >= 2);
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
    });
}

/// SO_MAX_PACING_RATE.
#[test]
fn the_pacing_rate_is_at_most_what_the_program_asks_for() {
    const MOST: u32 = 1_000_000;
    with_each_controller(|peer, loaded, name| {
        let mut connection = peer.connect(loaded.kernel_name());
        set_most_pacing(connection.socket(), MOST);
        connection.acknowledge(2 * SEGMENT, None);
        connection.wait_for((INITIAL_WINDOW + 2) * SEGMENT);
        let limited = Information::of(connection.socket());
        assert_eq!(limited.pacing_rate, u64::from(MOST), "{name}: {limited:?}");
        assert!(!limited.paces_at(200), "{name}: {limited:?}");
    });
}

fn set_most_pacing(socket: &OwnedFd, rate: u32) {
    // SAFETY: the kernel reads the four bytes of `rate`, which lives across the call.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MAX_PACING_RATE,
            (&raw const rate).cast(),
            size_of::<u32>() as libc::socklen_t,
        )
    };
    assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
}

/// A probe of larger packets that arrives leaves the window its bytes, which are fewer packets.
#[test]
fn a_window_of_larger_packets_has_fewer() {
    with_each_controller(|peer, loaded, name| {
        peer.set("net/ipv4/tcp_mtu_probing", "2");
        peer.set("net/ipv4/tcp_base_mss", "512");
        let mut connection = peer.open(loaded.kernel_name());
        let small = row(loaded).segment;
        connection.write(&[7; 1 << 17]);
        // A window of more than ten packets begins the probe.
        connection.wait_for(INITIAL_WINDOW * 512);
        let (larger, last) = loop {
            let last = row(loaded);
            let sent = connection.sent;
            connection.acknowledge(sent, None);
            connection.wait_for(sent + 1);
            let now = row_when(loaded, |row| row.packets > last.packets);
            if now.segment > small {
                break (now, last);
            }
        };
        assert!(larger.window < last.window, "{name}: {last:?} {larger:?}");
    });
}
