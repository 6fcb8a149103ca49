//! What the kernel tells of a socket.

use rustix::fd::{AsRawFd, OwnedFd};

/// Some of it.
#[derive(Debug)]
pub struct Information {
    /// Bytes.
    segment: u64,
    /// Whole microseconds, rounded down.
    smoothed_rtt: u64,
    /// Packets.
    pub window: u64,
    /// Bytes per second.
    pub pacing_rate: u64,
}

impl Information {
    /// From `struct tcp_info`, of linux/tcp.h.
    pub fn of(socket: &OwnedFd) -> Information {
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
    pub fn paces_at(&self, hundredths: u64) -> bool {
        let bytes = self.window * self.segment * hundredths * 10_000;
        let (least, most) = (bytes / (self.smoothed_rtt + 1), bytes / self.smoothed_rtt);
        // The kernel's integers lose one in a hundred bytes at most.
        (least - least / 100..=most).contains(&self.pacing_rate)
    }
}
