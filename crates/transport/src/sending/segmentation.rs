//! The segments of a connection whose packets differ in size.
//!
//! How many there are is known when the last one is cut: no sizes are drawn ahead of the data.

use crate::Config;
use crate::packets::PacketKey;
use std::sync::Arc;

/// A receive window is worked out for this many segments ahead at most: more are never outstanding.
const MOST_AHEAD: u32 = 1 << 20;

/// Sums of payload at the sender's marks.
#[derive(Debug)]
pub(crate) struct Segmentation {
    config: Arc<Config>,
    key: PacketKey,
    /// Payload of the whole flow; `u64::MAX` for no end.
    size: u64,
    /// Payload of the segments that have been cut.
    cut: u64,
    /// Segments that are known to be delivered, and their payload.
    acked: u32,
    acked_bytes: u64,
    /// Segments that the receive window lets go, from the first one on, and their payload.
    allowed: u32,
    allowed_bytes: u64,
}

impl Segmentation {
    pub fn new(config: Arc<Config>, key: PacketKey, size: Option<u64>) -> Segmentation {
        Segmentation {
            config,
            key,
            size: size.unwrap_or(u64::MAX),
            cut: 0,
            acked: 0,
            acked_bytes: 0,
            allowed: 0,
            allowed_bytes: 0,
        }
    }

    /// Payload of a segment that is not the flow's last.
    #[cold]
    #[inline(never)]
    pub fn payload(&self, segment: u32) -> u16 {
        self.config.full_payload(self.key, segment)
    }

    /// A new segment is cut. Returns its payload if it is the last one.
    pub fn cut(&mut self, segment: u32) -> Option<u16> {
        let payload = u64::from(self.payload(segment));
        let left = self.size - self.cut;
        self.cut += payload.min(left);
        (left <= payload).then_some(left as u16)
    }

    /// Payload of the segments that have been cut.
    pub fn cut_bytes(&self) -> u64 {
        self.cut
    }

    /// Payload that is left to cut.
    pub fn bytes_left(&self) -> u64 {
        self.size - self.cut
    }

    /// The least number of segments that hold this much together, at least one.
    pub fn segments_for(&self, bytes: u64) -> u32 {
        let mut held = 0;
        let mut count = 0;
        while count == 0 || held < bytes.min(self.size) {
            held += u64::from(self.payload(count));
            count += 1;
        }
        count
    }

    /// Everything below a segment is known to be delivered. Returns its payload.
    pub fn acknowledge(&mut self, delivered: u32) -> u64 {
        while self.acked < delivered {
            self.acked_bytes += u64::from(self.payload(self.acked));
            self.acked += 1;
        }
        self.acked_bytes
    }

    /// Everything below a segment is known to be delivered. Returns how many segments may be sent
    /// from there on: as many as fit into a receive window of this many bytes, at least one.
    pub fn allow(&mut self, delivered: u32, window: u64) -> u32 {
        self.acknowledge(delivered);
        while self.allowed_bytes < self.size && self.allowed - delivered < MOST_AHEAD {
            let next = self.allowed_bytes + u64::from(self.payload(self.allowed));
            if next - self.acked_bytes > window && self.allowed > delivered {
                break;
            }
            self.allowed_bytes = next;
            self.allowed += 1;
        }
        self.allowed - delivered.min(self.allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PacketMix;

    fn segmentation(size: Option<u64>) -> Segmentation {
        let config = Config {
            // Half of the segments have 48 bytes of payload, half 548.
            packets: Some(PacketMix::new(|p| if p < 0.5 { 100.0 } else { 600.0 })),
            ..Config::textbook()
        };
        Segmentation::new(Arc::new(config), PacketKey::new(1, 1), size)
    }

    #[test]
    fn cutting_ends_with_what_is_left() {
        let mut segments = segmentation(Some(5000));
        let (mut number, mut sum) = (0, 0);
        let last = loop {
            if let Some(last) = segments.cut(number) {
                break u64::from(last);
            }
            sum += u64::from(segments.payload(number));
            assert_eq!(segments.cut_bytes(), sum);
            number += 1;
        };
        assert_eq!(sum + last, 5000);
        assert_eq!(segments.cut_bytes(), 5000);
        assert!(last <= u64::from(segments.payload(number)));
    }

    #[test]
    fn the_least_number_of_segments_holds_a_volume() {
        let segments = segmentation(None);
        let payload = |count: u32| -> u64 {
            let sizes = (0..count).map(|number| u64::from(segments.payload(number)));
            sizes.sum()
        };
        for bytes in [1, 48, 1000, 70_000] {
            let count = segments.segments_for(bytes);
            assert!(payload(count) >= bytes && payload(count - 1) < bytes);
        }
        assert_eq!(segments.segments_for(0), 1);
    }

    #[test]
    fn a_window_without_measure_is_not_walked_through() {
        let mut segments = segmentation(None);
        assert_eq!(segments.allow(0, u64::MAX / 2), MOST_AHEAD);
        assert_eq!(segments.allow(1000, u64::MAX / 2), MOST_AHEAD);
    }
}
