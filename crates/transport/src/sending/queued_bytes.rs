//! The scheduler of upstream MPTCP (mptcp_subflow_get_send in Linux): a burst of new data goes to the subflow that would
//! empty its queue first, whether its congestion window is open or not.

use super::connection::Connection;
use super::subflow::Sender;
use crate::SegmentScheduler;
use pathweave_control::{Path, SubflowId};

/// Bytes in a burst: 64 KB less headers (MPTCP_SEND_BURST_SIZE).
const BURST: u64 = 65_428;
/// Bytes in a fragment of data as the application writes it: a page fragment of 32 KB less its header. A burst ends with a
/// fragment.
const FRAGMENT: u64 = 32_728;
/// Memory that a packet takes up besides its payload, unless it belongs to a bundle (SKB_TRUESIZE(MAX_TCP_HEADER)).
pub(super) const PACKET_OVERHEAD: u64 = 960;
/// Memory for which a send buffer has room, per packet (tcp_sndbuf_expand).
const ROOM_PER_PACKET: f64 = 4352.0;
/// The smallest window for which a send buffer has room (TCP_INIT_CWND).
const LEAST_WINDOW: f64 = 10.0;
/// The RTT before the first sample: 1/8 us, the unit of Linux's smoothed RTT.
const UNKNOWN_RTT: f64 = 125e-9;

/// What the scheduler keeps of a subflow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Given {
    /// Pacing rate in bytes per second, averaged over bursts; zero before the subflow first takes part (avg_pacing_rate).
    pace: f64,
    /// The send buffer's size in bytes of memory, zero before the handshake. It never shrinks.
    buffer: u64,
}

impl Given {
    /// The subflow gets a burst at its current rate, when it has this much memory queued.
    fn average(&mut self, rate: f64, memory: f64, burst: f64) {
        self.pace = (self.pace * memory + rate * burst) / (memory + burst);
    }
}

/// How much faster than its window per RTT Linux would pace a subflow: more in the first half of slow start
/// (tcp_update_pacing_rate).
#[inline]
pub(super) fn pacing_factor(path: &Path) -> f64 {
    if path.window < path.ssthresh / 2.0 {
        2.0
    } else {
        1.2
    }
}

/// The rate at which Linux would pace a subflow, in bytes per second.
pub(super) fn pacing_rate(path: &Path, outstanding: u32, payload: u16) -> f64 {
    let rtt = match path.has_rtt() {
        true => path.rtt_seconds(),
        false => UNKNOWN_RTT,
    };
    pacing_factor(path) * path.window.max(f64::from(outstanding)) * f64::from(payload) / rtt
}

impl Connection {
    /// Segments in a fragment of data.
    pub fn fragment(&self) -> u32 {
        FRAGMENT.div_ceil(u64::from(self.maximum_segment)) as u32
    }

    /// Memory that a subflow's data takes up: queued, or sent and not acknowledged on the subflow (sk_wmem_queued).
    fn queued_memory(&self, sender: &Sender) -> u64 {
        let Some(queues) = &self.queues else {
            return 0;
        };
        let queue = &queues.of[sender.number.0 as usize];
        let segments = u64::from(queue.segments() + sender.board.outstanding());
        // Where packets differ in size, their mean stands for each.
        let payload = match self.segmentation {
            None => u64::from(self.maximum_segment),
            Some(_) => self.config.mean_packet() as u64 - u64::from(self.config.overhead()),
        };
        let overhead = if self.sends_bundles {
            0
        } else {
            PACKET_OVERHEAD
        };
        segments * (payload + overhead)
    }

    /// Makes a subflow's send buffer as large as its window needs. Returns whether it has grown.
    pub fn grow_send_buffer(&mut self, number: SubflowId) -> bool {
        let window = self.paths[number.0 as usize].window.max(LEAST_WINDOW);
        let room = (2.0 * window * ROOM_PER_PACKET) as u64;
        let room = room.min(self.config.send_buffer.get());
        let Some(queues) = &mut self.queues else {
            return false;
        };
        let buffer = &mut queues.queue(number).given.buffer;
        let grows = *buffer < room;
        *buffer = room.max(*buffer);
        grows
    }

    /// The subflow that gets the next burst, if any does: the one with the least memory queued in relation to its pace, unless
    /// its send buffer is full.
    fn next_to_give(&mut self, senders: &[Sender]) -> Option<SubflowId> {
        let payload = self.maximum_segment;
        let mut least = (f64::INFINITY, None);
        for (number, sender) in senders.iter().enumerate() {
            let path = &self.paths[number];
            // What a subflow in trouble holds has been given to others: it gets no more.
            let reinjected = self.config.timeouts_to_reinject();
            let in_trouble = reinjected.is_some_and(|after| sender.timeout.in_row() >= after);
            if !path.is_active() || !path.may_send || in_trouble {
                continue;
            }
            let rate = pacing_rate(path, sender.board.outstanding(), payload);
            let memory = self.queued_memory(sender);
            let given = &mut self.queues.as_mut()?.of[number].given;
            if given.pace == 0.0 {
                given.pace = rate;
            }
            let linger = memory as f64 / given.pace;
            if linger < least.0 {
                least = (linger, Some((sender.number, memory, rate)));
            }
        }
        let (number, memory, rate) = least.1?;
        let sent = self.next_data - self.data_acked;
        let window = u64::from(self.receive_window.saturating_sub(sent)) * u64::from(payload);
        let burst = BURST.min(window) as f64;
        let given = &mut self.queues.as_mut()?.queue(number).given;
        if memory >= given.buffer {
            return None;
        }
        if burst == 0.0 {
            return Some(number); // only what is sent again
        }
        given.average(rate, memory as f64, burst);
        Some(number)
    }

    /// Gives data that may be sent to subflows. Returns whether all data is given to them.
    pub fn give_to_subflows(&mut self, senders: &[Sender]) -> bool {
        if self.config.scheduler != SegmentScheduler::QueuedBytes {
            return false;
        }
        self.write();
        while self.has_data() && self.has_written() {
            let Some(number) = self.next_to_give(senders) else {
                break;
            };
            self.give_burst(&senders[number.0 as usize]);
        }
        true
    }

    /// The application writes fragments until the connection's send buffer is full. It starts again when a third of the buffer
    /// is free (sk_stream_is_writeable).
    fn write(&mut self) {
        let fragment = self.fragment();
        let (acked, segment) = (self.data_acked, u64::from(self.maximum_segment));
        let Some(queues) = &mut self.queues else {
            return;
        };
        let buffer: u64 = queues.of.iter().map(|queue| queue.given.buffer).sum();
        let held = u64::from(queues.written.saturating_sub(acked)) * segment;
        if 3 * held <= 2 * buffer {
            let end = u64::from(acked) + buffer.div_ceil(segment);
            let end = u32::try_from(end).unwrap_or(u32::MAX);
            queues.written = end.checked_next_multiple_of(fragment).unwrap_or(u32::MAX);
        }
    }

    /// Whether the application has written data that no subflow has been given yet. What is sent again was written long ago.
    fn has_written(&self) -> bool {
        let written = self.queues.as_ref().map_or(0, |queues| queues.written);
        !self.reinjection.is_empty() || self.next_data < written
    }

    /// Gives a subflow a burst of data, which ends with a fragment.
    fn give_burst(&mut self, sender: &Sender) {
        let number = sender.number;
        let fragment = self.fragment();
        let mut given = 0;
        loop {
            let is_again = !self.reinjection.is_empty();
            let Some(data) = self.take_data() else {
                return;
            };
            given += u64::from(self.payload(data));
            let Some(queues) = &mut self.queues else {
                return;
            };
            queues.queue(number).push(data);
            if (is_again || (data + 1).is_multiple_of(fragment))
                && (given >= BURST || self.is_full(sender) || !self.has_written())
            {
                return;
            }
        }
    }

    fn is_full(&self, sender: &Sender) -> bool {
        let queues = self.queues.as_ref();
        let buffer = queues.map_or(0, |queues| queues.of[sender.number.0 as usize].given.buffer);
        self.queued_memory(sender) >= buffer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathweave_units::Time;

    #[test]
    fn the_pace_is_twice_the_window_per_rtt_in_slow_start_and_a_fifth_above_it_later() {
        let mut path = Path::new(10.0, 2.0, f64::INFINITY);
        path.smoothed_rtt = Time::from_millis(1);
        let rate = |path: &Path, outstanding| pacing_rate(path, outstanding, 1000).round();
        assert_eq!(rate(&path, 3), 20_000_000.0);
        path.ssthresh = 20.0;
        assert_eq!(rate(&path, 3), 12_000_000.0);
        path.ssthresh = 21.0;
        assert_eq!(rate(&path, 30), 60_000_000.0);
    }

    #[test]
    fn the_average_counts_what_is_queued_at_the_old_pace_and_the_burst_at_the_new() {
        let mut given = Given::default();
        given.average(100.0, 0.0, 65_428.0);
        assert_eq!(given.pace, 100.0);
        given.average(40.0, 65_428.0, 65_428.0);
        assert_eq!(given.pace, 70.0);
        given.average(40.0, 10_000.0, 20_000.0);
        assert_eq!(given.pace, 50.0);
    }
}
