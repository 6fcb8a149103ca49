//! What a path starts with.

use super::packets;
use crate::Path;
use pathweave_units::Bytes;

/// What a path starts with, and starts again with. The default is that of RFC 9002, section 7.2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// The initial window, in packets.
    pub packets: f64,
    /// Bytes that the initial window has at most, unless the minimum window has more.
    pub bytes: Bytes,
    /// The minimum window, in packets, at least 1.
    pub minimum_packets: f64,
    /// Whether a path that has been silent for a probe timeout, with nothing in flight, starts again with the initial window
    /// (RFC 5681, section 4.1).
    pub after_idle: bool,
}

impl Default for Start {
    fn default() -> Start {
        Start {
            packets: 10.0,
            bytes: Bytes::new(14_720),
            minimum_packets: 2.0,
            after_idle: true,
        }
    }
}

impl Start {
    /// The initial window in packets of this size.
    pub fn window(&self, packet: Bytes) -> f64 {
        let most = packets(self.bytes, packet).max(self.minimum_packets);
        self.packets.min(most).max(1.0)
    }

    /// A path of which nothing is known.
    pub(super) fn path(&self, packet: Bytes) -> Path {
        let minimum = self.minimum_packets.max(1.0);
        let mut path = Path::new(self.window(packet), minimum, f64::INFINITY);
        path.packet = packet;
        path
    }
}

#[cfg(test)]
mod tests {
    use super::Start;
    use pathweave_units::Bytes;

    #[test]
    fn the_initial_window_is_that_of_rfc_9002() {
        // min(10 packets, max(14,720 bytes, 2 packets)).
        let windows = [
            (1200, 12_000.0),
            (1472, 14_720.0),
            (1500, 14_720.0),
            (9000, 18_000.0),
        ];
        for (packet, bytes) in windows {
            let window = Start::default().window(Bytes::new(packet));
            assert!((window * packet as f64 - bytes).abs() < 1e-9, "{packet}");
        }
    }
}
