//! The window that a Linux receiver announces with automatic tuning of its buffer.
//!
//! The application reads everything that is delivered in order immediately. What the receiver announces then follows from
//! what has been acknowledged, so that the sender can work it out and no packet has to carry it.

use super::connection::Connection;
use super::queued_bytes::PACKET_OVERHEAD;
use super::subflow::Sender;
use pathweave_units::Time;

/// The first window, in bytes.
pub(super) const FIRST: u64 = 65_535;
/// The first receive buffer in bytes of memory (tcp_rmem[1]).
const FIRST_BUFFER: u64 = 128 << 10;
/// Segments read within the first round trip for which the first window is enough.
const FIRST_SPACE: u64 = 10;

/// A window that grows with what arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AutomaticWindow {
    /// The highest byte of the connection's data that has been announced. It never moves back.
    end: u64,
    /// The largest window for which the receive buffer has room (window_clamp).
    limit: u64,
    /// Bytes read within the round trip that last moved the limit (rcvq_space.space).
    space: u64,
    /// When the current round trip began, and what had been read then.
    since: Time,
    read: u64,
}

impl AutomaticWindow {
    pub fn new(segment: u16, buffer: u64) -> AutomaticWindow {
        let segment = u64::from(segment);
        // The share of payload in memory (scaling_ratio) is known with the first packet.
        let limit = FIRST_BUFFER * segment / (segment + PACKET_OVERHEAD);
        AutomaticWindow {
            end: FIRST.min(buffer),
            limit: limit.max(FIRST),
            space: FIRST_SPACE * segment,
            since: Time::ZERO,
            read: 0,
        }
    }

    /// Makes room for what the application reads in a round trip (tcp_rcv_space_adjust).
    fn adjust(&mut self, acked: u64, segment: u64, buffer: u64, rtt: Time, now: Time) {
        if now.saturating_sub(self.since) < rtt {
            return;
        }
        let copied = acked - self.read;
        if copied > self.space {
            let window = 2 * copied + 16 * segment;
            let growth = u128::from(window) * u128::from(copied - self.space);
            let growth = growth / u128::from(self.space.max(1));
            let window = u128::from(window).saturating_add(2 * growth);
            let window = u64::try_from(window).unwrap_or(u64::MAX).min(buffer);
            self.limit = self.limit.max(window);
            self.space = copied;
        }
        self.since = now;
        self.read = acked;
    }
}

impl Connection {
    /// An ACK has arrived: the receive window moves with the data that it acknowledges and grows by two segments for each
    /// segment that has arrived on a subflow. The subflow with the largest window counts.
    #[cold]
    #[inline(never)]
    pub fn tune_receive_window(&mut self, senders: &[Sender], now: Time) {
        if self.automatic_window.is_none() {
            return self.limit_to_what_is_written();
        }
        let acked = match &mut self.segmentation {
            Some(segmentation) => segmentation.acknowledge(self.data_acked),
            None => self.bytes(self.data_acked).get(),
        };
        let rtts = self.paths.iter().map(|path| path.smoothed_rtt);
        let rtt = rtts.max().unwrap_or_default();
        let buffer = self.config.receive_buffer.get();
        let segment = u64::from(self.maximum_segment);
        let arrived = senders.iter().map(|sender| sender.board.delivered()).max();
        let Some(window) = &mut self.automatic_window else {
            return;
        };
        window.adjust(acked, segment, buffer, rtt, now);
        let grown = FIRST + 2 * segment * u64::from(arrived.unwrap_or(0));
        window.end = window.end.max(acked + grown.min(window.limit).min(buffer));
        let bytes = window.end - acked;
        self.receive_window = match &mut self.segmentation {
            Some(segmentation) => segmentation.allow(self.data_acked, bytes),
            None => u32::try_from((bytes / segment).max(1)).unwrap_or(u32::MAX),
        };
        self.note_receive_window();
        self.limit_to_what_is_written();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_follows_what_is_read_in_a_round_trip() {
        let ms = Time::from_millis;
        let mut window = AutomaticWindow::new(1000, 1 << 20);
        // 128 KB of memory, 1960 B per packet.
        let first = 66_873;
        assert_eq!(window.limit, first);
        let mut adjust = |read, at| {
            window.adjust(read, 1000, 1_000_000, ms(10), ms(at));
            window.limit
        };
        // Too early, and as little as at the start.
        assert_eq!(adjust(50_000, 9), first);
        assert_eq!(adjust(10_000, 10), first);
        // 20,000 B after 10,000 B: twice that and 16 segments, and twice as much again for each doubling.
        assert_eq!(adjust(30_000, 20), 56_000 * 3);
        // No more than that: nothing changes. Then half as much again.
        assert_eq!(adjust(50_000, 30), 56_000 * 3);
        assert_eq!(adjust(80_000, 40), 56_000 * 3);
        assert_eq!(adjust(140_000, 50), 136_000 * 3);
        assert_eq!(adjust(640_000, 60), 1_000_000);
    }
}
