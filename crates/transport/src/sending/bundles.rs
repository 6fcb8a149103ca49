//! Segmentation offload: a subflow sends new data in bundles of packets that leave back to back (tcp_tso_autosize and
//! tcp_cwnd_test in Linux), and waits until a whole one fits (tcp_tso_should_defer).

use super::Sending;
use super::connection::Connection;
use super::queued_bytes::pacing_rate;
use super::small_queue::INTERVAL;
use super::subflow::{RecoveryState, Sender};
use crate::output::Output;
use crate::segment::UNLIMITED;
use pathweave_control::{Path, SubflowId};
use pathweave_units::Time;
use std::collections::VecDeque;

/// The largest bundle in bytes (GSO_LEGACY_MAX_SIZE).
const MOST_BYTES: u64 = 65_536;
/// A bundle's allowance of [`MOST_BYTES`] is halved for each of these in the smallest RTT (tcp_tso_rtt_log).
const HALVED_PER: Time = Time::from_micros(512);
/// The least number of packets in a bundle that windows allow (tcp_min_tso_segs).
const LEAST: u32 = 2;
/// A subflow that has sent nothing for this long does not wait.
const RECENT: Time = Time::from_millis(1);
/// It does not wait either if this part of its window fits (tcp_tso_win_divisor).
const PART: u32 = 3;
/// Nor if the next ACK is further away than this, or than half an RTT.
const NEAR: Time = Time::from_millis(1);

/// What a subflow that sends bundles keeps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bundles {
    /// Most packets of a bundle.
    most: u32,
    /// When data was last sent.
    last_sent: Time,
    /// The first number of each burst that is outstanding, and when it was sent. The first entry may be older.
    bursts: VecDeque<(u32, Time)>,
}

impl Bundles {
    /// Makes it a new one, keeping its memory.
    fn reset(&mut self, most: u32) {
        self.most = most;
        self.last_sent = Time::ZERO;
        self.bursts.clear();
    }

    /// A packet is sent, for the first time or `again`; `una` is the lowest number outstanding.
    pub fn note_sent(&mut self, number: u32, una: u32, again: bool, now: Time) {
        self.last_sent = now;
        if again {
            return;
        }
        while self.bursts.get(1).is_some_and(|&(first, _)| first <= una) {
            self.bursts.pop_front();
        }
        if self.bursts.back().is_none_or(|&(_, at)| at != now) {
            self.bursts.push_back((number, now));
        }
    }

    /// When a packet that is outstanding was first sent.
    fn sent(&self, number: u32) -> Time {
        let after = self.bursts.partition_point(|&(first, _)| first <= number);
        let burst = self.bursts.get(after.saturating_sub(1));
        burst.map_or(Time::ZERO, |&(_, at)| at)
    }
}

/// Packets that a subflow may send now.
#[derive(Clone, Copy, Debug)]
struct Fits {
    /// Given its congestion window.
    window: u32,
    /// Given the receiver's.
    receiver: u32,
}

impl Fits {
    fn both(self) -> u32 {
        self.window.min(self.receiver)
    }
}

impl Sender {
    /// Gives it bundles of at most this many packets; 1 disables bundling.
    pub fn set_bundles(&mut self, most: u32) {
        if most <= 1 {
            self.bundles = None;
        } else {
            self.bundles.get_or_insert_default().reset(most);
        }
    }

    fn fits(&self, connection: &Connection, path: &Path) -> Fits {
        let mut receiver = u32::MAX;
        if connection.segmentation.is_none() {
            receiver = connection
                .subflow_window
                .saturating_sub(self.board.outstanding());
        }
        if connection.takes_new_data_next(self.number) {
            let sent = connection.next_data - connection.data_acked;
            receiver = receiver.min(connection.receive_window.saturating_sub(sent));
        }
        Fits {
            window: self.room(path),
            receiver,
        }
    }

    /// What would fit if the receiver's window were for this subflow alone, as it is in each subflow's own sequence numbers.
    fn fits_alone(&self, connection: &Connection, path: &Path) -> Fits {
        let outstanding = self.board.outstanding();
        Fits {
            window: self.room(path),
            receiver: connection.announced_window().saturating_sub(outstanding),
        }
    }

    /// Packets of a bundle that the subflow's rate and RTT allow; one without bundles.
    fn packets_by_rate(&self, connection: &Connection, path: &Path) -> u32 {
        let Some(bundles) = &self.bundles else {
            return 1;
        };
        let payload = connection.maximum_segment;
        let rate = match path.pacing_rate {
            Some(rate) => rate.as_bps() as f64 / 8.0,
            None => pacing_rate(path, self.board.outstanding(), payload),
        };
        let allowance = if connection.config.bundle_allowance {
            let halvings = path.minimum_rtt.as_picos() / HALVED_PER.as_picos();
            u32::try_from(halvings)
                .ok()
                .and_then(|halvings| MOST_BYTES.checked_shr(halvings))
                .unwrap_or(0)
        } else {
            0
        };
        let bytes = rate * INTERVAL.as_secs_f64() + allowance as f64;
        let packets = bytes.min(MOST_BYTES as f64) / f64::from(payload);
        (packets as u32).max(LEAST).min(bundles.most)
    }

    /// Packets of a bundle if nothing is in flight; one without bundles.
    pub fn typical_bundle(&self, connection: &Connection, path: &Path) -> u32 {
        if self.bundles.is_none() {
            return 1;
        }
        let half = (self.allowed_in_flight(path) / 2).max(1);
        self.packets_by_rate(connection, path).min(half)
    }

    /// Packets of the bundle that the subflow sends next; one without bundles.
    pub fn next_bundle(&self, connection: &Connection, path: &Path) -> u32 {
        let typical = self.typical_bundle(connection, path);
        if self.bundles.is_none() {
            return typical;
        }
        let fits = self.fits(connection, path).both();
        let left = connection.data_left_for(self.number);
        typical.min(fits).min(left).max(1)
    }

    /// Whether it waits for the next ACK although it may send something, because more will fit then.
    #[inline(always)]
    pub fn waits_for_bundle(&self, connection: &Connection, path: &Path, now: Time) -> bool {
        connection.sends_bundles && self.defers(connection, path, now)
    }

    #[inline(never)]
    fn defers(&self, connection: &Connection, path: &Path, now: Time) -> bool {
        let Some(bundles) = &self.bundles else {
            return false;
        };
        if self.recovery != RecoveryState::None || self.board.outstanding() == 0 {
            return false;
        }
        let last = bundles.last_sent.max(self.pace.next(path.pacing_rate));
        if now.saturating_sub(last) > RECENT {
            return false;
        }
        let fits = self.fits_alone(connection, path).both();
        let whole = connection
            .announced_window()
            .min(self.allowed_in_flight(path));
        if u64::from(fits) * u64::from(PART) >= u64::from(whole)
            || fits >= connection.data_left_for(self.number)
            || fits >= self.packets_by_rate(connection, path)
        {
            return false;
        }
        let smoothed = path.smoothed_rtt;
        let next_ack = bundles.sent(self.board.una()) + smoothed;
        next_ack.saturating_sub(now) <= (smoothed / 2).min(NEAR)
    }

    /// Whether its congestion window is what makes it wait for a whole bundle.
    fn defers_by_window(&self, connection: &Connection, path: &Path, now: Time) -> bool {
        let fits = self.fits_alone(connection, path);
        fits.window > 0
            && fits.window <= fits.receiver
            && self.waits_for_bundle(connection, path, now)
    }
}

impl Connection {
    /// The receiver's window as each subflow sees it.
    fn announced_window(&self) -> u32 {
        self.receive_window.min(self.subflow_window)
    }

    /// Whether the next data of a subflow is new to the connection, so that the receive window applies.
    fn takes_new_data_next(&self, number: SubflowId) -> bool {
        let queues = self.queues.as_ref();
        let has_queued = queues
            .is_some_and(|queues| queues.take_new_data || !queues.of[number.0 as usize].is_empty());
        !has_queued && self.reinjection.is_empty()
    }

    /// Segments that a subflow may still be given to send; where packets differ in size, no more than there are.
    fn data_left_for(&self, number: SubflowId) -> u32 {
        let mut left = 0;
        if let Some(queues) = &self.queues {
            left = queues.of[number.0 as usize].segments();
            if queues.take_new_data {
                return left;
            }
        }
        left += self.reinjection.segments();
        let new = match &self.segmentation {
            Some(all) if self.total == UNLIMITED => {
                let segments = all.bytes_left().div_ceil(u64::from(self.maximum_segment));
                u32::try_from(segments).unwrap_or(u32::MAX)
            }
            _ => self.total - self.next_data,
        };
        left.saturating_add(new)
    }
}

impl Sending {
    /// Sends a subflow's next bundle, until data or the host's port ends it.
    #[cold]
    #[inline(never)]
    pub(super) fn send_bundle(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let sender = &self.senders[index as usize];
        let place = sender.connection;
        let connection = &self.connections[place as usize];
        let path = &connection.paths[sender.number.0 as usize];
        for _ in 0..sender.next_bundle(connection, path) {
            // After idle time the first packet may find a smaller window.
            let may_go_on =
                self.connections[place as usize].has_data() && self.has_room(place, index);
            if !may_go_on || self.is_refused(index, now, out) {
                return;
            }
            if let Some(data) = self.connections[place as usize].take_data() {
                self.send_new(index, data, now, out);
            }
        }
    }

    /// Whether the congestion window of a subflow makes it wait for a whole bundle. The window counts as full then
    /// (tcp_cwnd_validate).
    #[cold]
    #[inline(never)]
    pub(super) fn note_deferrals(&mut self, place: u32, now: Time) -> bool {
        let connection = &self.connections[place as usize];
        let mut any = false;
        for index in connection.first..connection.first + connection.count() {
            let sender = &mut self.senders[index as usize];
            let path = &connection.paths[sender.number.0 as usize];
            if path.is_active() && path.may_send && sender.defers_by_window(connection, path, now) {
                any = true;
                let (una, next) = (sender.board.una(), sender.board.next());
                if let Some(window_use) = &mut sender.window_use {
                    window_use.note_full(una, next);
                }
            }
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_packet_is_that_of_its_burst() {
        let mut bundles = Bundles::default();
        bundles.reset(45);
        let at = Time::from_micros;
        for number in 0..10 {
            bundles.note_sent(number, 0, false, at(1));
        }
        bundles.note_sent(10, 4, false, at(2));
        bundles.note_sent(11, 4, false, at(2));
        bundles.note_sent(5, 5, true, at(3));
        assert_eq!(bundles.last_sent, at(3));
        let times = [4, 9, 10, 11].map(|number| bundles.sent(number));
        assert_eq!(times, [at(1), at(1), at(2), at(2)]);
        bundles.note_sent(12, 11, false, at(4));
        assert_eq!(bundles.bursts, [(10, at(2)), (12, at(4))]);
    }
}
