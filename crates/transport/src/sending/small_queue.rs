//! What a subflow has in its host's own port, where that holds packets back instead of dropping them (TCP small queues,
//! tcp_small_queue_check).

use super::Sending;
use super::connection::Connection;
use super::queued_bytes::{PACKET_OVERHEAD, pacing_factor};
use super::subflow::{RecoveryState, Sender};
use crate::ends::SendingSubflow;
use crate::output::{Output, TimerKind};
use pathweave_control::{Loss, Path};
use pathweave_units::Time;
use std::collections::VecDeque;

/// A subflow may have what it sends within this time in its port (sk_pacing_shift): 2^-10 s.
pub(super) const INTERVAL: Time = Time::from_nanos(976_562);
/// The most that it may have there, in bytes of the host's memory (tcp_limit_output_bytes since Linux 6.16).
const MOST_BYTES: f64 = 4.0 * 1024.0 * 1024.0;
/// Memory that a packet takes besides its bytes, if it is sent alone. In a bundle it takes next to none.
const MEMORY_BESIDE: f64 = PACKET_OVERHEAD as f64;
/// Bundles that it may always have there.
const LEAST: u32 = 2;
/// The longest wait before a retransmission is tried again that the port has refused.
const RETRY: Time = Time::from_millis(500);
/// Up to this RTT the whole window may be in the port if packets have at least [`LARGE_PACKET`] bytes.
const SHORT_RTT: Time = Time::from_micros(500);
const LARGE_PACKET: u64 = 800;

/// The packets of a subflow in its host's port.
#[derive(Clone, Debug)]
pub(crate) struct SmallQueue {
    /// Its packets in departure order. The first ones may have left already.
    departures: VecDeque<Departure>,
    /// When the timer fires that waits for a departure; `Time::MAX` if none is set.
    pub wake_at: Time,
    /// The port was full, and nothing has been acknowledged since: nothing is sent.
    pub refused: bool,
    /// A refusal has cut the window, and no other does until everything below this number is acknowledged.
    cut_until: u32,
    /// How often it had no place.
    pub held: u64,
}

/// A packet of a subflow, and when it will have left the host.
#[derive(Clone, Copy, Debug)]
struct Departure {
    number: u32,
    leaves: Time,
}

impl Default for SmallQueue {
    fn default() -> SmallQueue {
        SmallQueue {
            departures: VecDeque::new(),
            wake_at: Time::MAX,
            refused: false,
            cut_until: 0,
            held: 0,
        }
    }
}

impl SmallQueue {
    /// Makes it a new one, keeping its memory.
    pub fn reset(&mut self) {
        self.departures.clear();
        self.wake_at = Time::MAX;
        self.refused = false;
        self.cut_until = 0;
        self.held = 0;
    }

    /// A packet has joined the queue of the port, which it will leave at a time.
    #[inline]
    pub fn join(&mut self, number: u32, leaves: Time, now: Time) {
        let has_left = |first: &Departure| first.leaves <= now;
        while self.departures.front().is_some_and(has_left) {
            self.departures.pop_front();
        }
        // A host may have several ports.
        let last = self.departures.back().map_or(leaves, |last| last.leaves);
        let leaves = leaves.max(last);
        self.departures.push_back(Departure { number, leaves });
    }

    /// Packets in the port.
    pub fn in_port(&self, now: Time) -> usize {
        let has_left = |one: &Departure| one.leaves <= now;
        self.departures.len() - self.departures.partition_point(has_left)
    }

    /// When a segment will have left the port, if it is there.
    fn leaves_at(&self, number: u32, now: Time) -> Option<Time> {
        let latest_first = self.departures.iter().rev();
        let mut in_port = latest_first.take_while(|one| one.leaves > now);
        let found = in_port.find(|one| one.number == number)?;
        Some(found.leaves)
    }

    /// Packets that may join those in the port: one more when it holds `most` or fewer.
    #[inline]
    fn room(&self, most: u32, now: Time) -> u32 {
        if self.refused {
            return 0;
        }
        if most == u32::MAX {
            return u32::MAX;
        }
        (most + 1).saturating_sub(self.in_port(now) as u32)
    }

    /// When the port will hold `most` packets.
    fn has_room_at(&self, most: u32) -> Option<Time> {
        let behind = self.departures.len().checked_sub(most as usize + 1)?;
        self.departures.get(behind).map(|one| one.leaves)
    }

    /// The port's rate or state has changed: what would leave at a time leaves when `moved` says. Returns the new time of
    /// the timer, if one is set.
    fn change(&mut self, now: Time, moved: impl Fn(Time) -> Time) -> Option<Time> {
        for Departure { leaves, .. } in &mut self.departures {
            if *leaves > now {
                *leaves = moved(*leaves);
            }
        }
        if self.wake_at == Time::MAX {
            return None;
        }
        self.wake_at = moved(self.wake_at);
        Some(self.wake_at)
    }
}

/// Packets that a subflow may have in its port before another bundle of this many joins them; `u32::MAX` if its window
/// is less.
#[inline]
fn most_in_port(path: &Path, bundle: u32) -> u32 {
    let bytes = path.packet.get() as f64;
    let beside = if bundle > 1 { 0.0 } else { MEMORY_BESIDE };
    let most = MOST_BYTES / (bytes + beside);
    let is_short = path.smoothed_rtt <= SHORT_RTT && path.packet.get() >= LARGE_PACKET;
    if is_short && path.window <= most {
        return u32::MAX;
    }
    let a_round = path.window * pacing_factor(path);
    let rounds = INTERVAL.as_picos() as f64 / path.smoothed_rtt.as_picos().max(1) as f64;
    let within_interval = a_round * rounds * bytes / (bytes + beside);
    let least = LEAST * bundle;
    within_interval.min(most).max(f64::from(least)) as u32
}

impl Sender {
    /// Packets that may join the queue of the host's port: all that its window allows where ports do not hold packets back.
    #[inline(always)]
    pub fn room_in_port(&self, connection: &Connection, path: &Path, now: Time) -> u32 {
        match &self.small_queue {
            None => u32::MAX,
            Some(queue) => {
                let bundle = self.bundle_in_port(connection, path);
                queue.room(most_in_port(path, bundle), now)
            }
        }
    }

    /// Packets of a bundle; one without bundles.
    #[inline(always)]
    fn bundle_in_port(&self, connection: &Connection, path: &Path) -> u32 {
        if connection.sends_bundles {
            self.typical_bundle(connection, path)
        } else {
            1
        }
    }

    /// Whether its first lost segment may join the queue of the host's port, which retransmissions may fill twice as far.
    #[inline]
    pub fn may_lost_join_port(&self, connection: &Connection, path: &Path, now: Time) -> bool {
        match &self.small_queue {
            None => true,
            Some(queue) => {
                let most = most_in_port(path, self.bundle_in_port(connection, path));
                self.first_lost_leaves_at(now).is_none()
                    && queue.room(most.saturating_mul(2), now) > 0
            }
        }
    }

    /// When its first lost segment will have left the host's port, if it is there. Until then it is not sent again
    /// (skb_still_in_host_queue).
    #[inline]
    pub fn first_lost_leaves_at(&self, now: Time) -> Option<Time> {
        let queue = self.small_queue.as_ref()?;
        queue.leaves_at(self.board.first_lost()?, now)
    }

    /// Whether its host's port holds its next packet back, or had no place for it.
    pub fn is_held_by_port(&self) -> bool {
        let waits = |queue: &SmallQueue| queue.refused || queue.wake_at != Time::MAX;
        self.small_queue.as_deref().is_some_and(waits)
    }

    /// Whether some of its packets have not left the host.
    pub fn is_in_port(&self, now: Time) -> bool {
        self.small_queue
            .as_ref()
            .is_some_and(|queue| queue.in_port(now) > 0)
    }

    /// Whether a timer waits for its port at this time.
    #[inline(always)]
    pub fn waits_for_port_at(&self, now: Time) -> bool {
        self.small_queue
            .as_ref()
            .is_some_and(|queue| queue.wake_at == now)
    }

    /// Whether a timer waits for its port.
    #[cfg(feature = "checks")]
    pub fn waits_for_port(&self) -> bool {
        let queue = self.small_queue.as_ref();
        queue.is_some_and(|queue| queue.wake_at != Time::MAX)
    }

    /// Its packets in the port leave in order, and its timer waits for one of them.
    ///
    /// # Errors
    /// What does not hold.
    #[cfg(feature = "checks")]
    pub fn check_port(&self, now: Time) -> Result<(), String> {
        let Some(queue) = &self.small_queue else {
            return Ok(());
        };
        if !queue.departures.iter().is_sorted_by_key(|one| one.leaves) {
            return Err(format!("packets overtake in the port: {queue:?}"));
        }
        let sent = self.board.next();
        if queue.departures.iter().any(|one| one.number >= sent) {
            return Err(format!("the port has more than the {sent} that were sent"));
        }
        let last = queue
            .departures
            .back()
            .map_or(Time::ZERO, |last| last.leaves);
        if queue.wake_at != Time::MAX && queue.wake_at > last.max(now) {
            return Err(format!("its timer waits for no packet: {queue:?}"));
        }
        Ok(())
    }

    /// Wakes it when its port has room, if only that holds it back.
    pub fn wait_for_port(
        &mut self,
        index: u32,
        connection: &mut Connection,
        now: Time,
        out: &mut impl Output,
    ) {
        let path = &connection.paths[self.number.0 as usize];
        let is_lost = self.board.lost() > 0;
        let has_window = self.room(path) > 0 && path.is_active();
        let first_lost_leaves = self.first_lost_leaves_at(now);
        let bundle = self.bundle_in_port(connection, path);
        let Some(queue) = self.small_queue.as_mut().filter(|_| has_window) else {
            return;
        };
        if queue.refused {
            return;
        }
        let most = most_in_port(path, bundle);
        let has_room_at = |most| queue.has_room_at(most).filter(|&at| at > now);
        let for_new = has_room_at(most);
        let at = if is_lost {
            // New data may go before the first lost segment has left.
            let for_lost = has_room_at(most.saturating_mul(2)).max(first_lost_leaves);
            for_new.into_iter().chain(for_lost).min()
        } else {
            for_new
        };
        let Some(at) = at else {
            return;
        };
        connection.waits_for_port = true;
        if queue.wake_at != at {
            queue.wake_at = at;
            out.wake(self.timer(TimerKind::Port, index), at);
        }
    }
}

impl Sending {
    /// Wakes the subflows of a connection that only their host's port holds back.
    #[cold]
    #[inline(never)]
    pub(super) fn wait_for_ports(&mut self, place: u32, now: Time, out: &mut impl Output) {
        let connection = &mut self.connections[place as usize];
        connection.waits_for_port = false;
        for index in connection.first..connection.first + connection.count() {
            self.senders[index as usize].wait_for_port(index, connection, now, out);
        }
    }

    /// Whether the window of a subflow, and not the host's port, is what ended sending.
    #[inline(always)]
    pub(super) fn do_windows_limit(&mut self, place: u32, now: Time) -> bool {
        !self.connections[place as usize].follows_linux || self.do_linux_windows_limit(place, now)
    }

    #[inline(never)]
    fn do_linux_windows_limit(&mut self, place: u32, now: Time) -> bool {
        let connection = &self.connections[place as usize];
        let is_full = |(path, sender): (&Path, &Sender)| path.is_active() && sender.room(path) == 0;
        let senders = &self.senders[connection.first as usize..];
        let any_is_full = connection.paths.iter().zip(senders).any(is_full);
        let by_windows = !connection.holds_back || any_is_full;
        let defers = connection.sends_bundles && self.note_deferrals(place, now);
        by_windows || defers
    }

    /// A packet of a subflow has left the host.
    pub(super) fn on_port_timer(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let sender = &mut self.senders[index as usize];
        let Some(queue) = sender.small_queue.as_mut().filter(|one| one.wake_at == now) else {
            return; // set again
        };
        queue.wake_at = Time::MAX;
        let place = sender.connection;
        if !self.connections[place as usize].closed && !self.send_on_subflow(index, now, out) {
            self.send_what_may_be_sent(place, now, out);
        }
    }

    /// The rate of the port of a subflow's host has changed, or it has lost what it held: what would have left at a time
    /// leaves when `moved` says.
    pub fn change_port(
        &mut self,
        SendingSubflow(index): SendingSubflow,
        now: Time,
        moved: impl Fn(Time) -> Time,
        out: &mut impl Output,
    ) {
        let sender = &mut self.senders[index as usize];
        let timer = sender.timer(TimerKind::Port, index);
        let queue = sender.small_queue.as_mut();
        if let Some(at) = queue.and_then(|queue| queue.change(now, moved)) {
            out.wake(timer, at);
        }
    }

    /// Whether the port of a subflow's host has no place for its next packet. Then nothing is sent until the next
    /// acknowledgement or timeout, and the window is cut once a round (tcp_enter_cwr).
    #[inline(always)]
    pub(super) fn is_refused(&mut self, index: u32, now: Time, out: &mut impl Output) -> bool {
        let place = self.senders[index as usize].connection;
        self.connections[place as usize].may_be_refused && self.ask_port(index, now, out)
    }

    /// The port had no place for a retransmission after a timeout.
    #[cold]
    pub(super) fn retry_soon(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let sender = &mut self.senders[index as usize];
        let maximum = self.connections[sender.connection as usize].maximum_rto;
        let wait = sender.timeout.current(maximum).min(RETRY);
        let at = sender.tick.due(now, wait);
        sender.set_timer(index, at, out);
    }

    /// [`Sending::is_refused`] where it may be.
    #[cold]
    #[inline(never)]
    fn ask_port(&mut self, index: u32, now: Time, out: &mut impl Output) -> bool {
        let sender = &mut self.senders[index as usize];
        let connection = &mut self.connections[sender.connection as usize];
        let size = connection.maximum_segment + connection.header_bytes;
        let Some(queue) = &mut sender.small_queue else {
            return false;
        };
        if !queue.refused && !out.port_is_full(Sending::end(index), size) {
            return false;
        }
        queue.refused = true;
        queue.held += 1;
        let may_cut = sender.recovery == RecoveryState::None
            && sender.cut_round.is_none()
            && sender.board.una() >= queue.cut_until;
        if may_cut {
            queue.cut_until = sender.board.next() + 1;
            let number = sender.number;
            let flight = sender.board.in_flight();
            connection.lose(
                number,
                Loss::FastRetransmit,
                sender.board.outstanding(),
                now,
            );
            let has_flight = sender.board.outstanding() > 0;
            if has_flight && connection.has_cut_rounds {
                let ends_at = sender.board.next() + 1;
                sender.begin_cut_round(connection.config.reduction, ends_at, flight);
            }
        }
        if sender.board.outstanding() == 0 && sender.deadline == Time::MAX {
            // Nothing will be acknowledged: it tries again after the timeout.
            let wait = sender.timeout.current(connection.maximum_rto);
            let at = sender.tick.due(now, wait);
            sender.set_timer(index, at, out);
        }
        true
    }
}

/// An acknowledgement or a timeout lets a subflow try again whose port was full.
#[inline(always)]
pub(super) fn try_again(sender: &mut Sender, connection: &mut Connection) {
    if connection.may_be_refused
        && let Some(queue) = &mut sender.small_queue
        && queue.refused
    {
        queue.refused = false;
        connection.blocked = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_holds_a_millisecond_or_two_bundles() {
        let mut path = Path::new(100.0, 2.0, 50.0);
        path.smoothed_rtt = Time::from_millis(10);
        // 1.2 * 100 packets / 10 ms * 2^-10 s = 11.7 packets of payload.
        assert_eq!(most_in_port(&path, 1), (11.71875 * 1500.0 / 2460.0) as u32);
        assert_eq!(most_in_port(&path, 2), 11);
        assert_eq!(most_in_port(&path, 11), 22);
        path.window = 10.0;
        assert_eq!([1, 5].map(|bundle| most_in_port(&path, bundle)), [2, 10]);
        // 4 MB of memory.
        path.window = 1e6;
        assert_eq!(
            [1, 45].map(|bundle| most_in_port(&path, bundle)),
            [1705, 2796]
        );
        path.window = 2000.0;
        path.smoothed_rtt = Time::from_micros(400);
        assert_eq!(
            [1, 45].map(|bundle| most_in_port(&path, bundle)),
            [1705, u32::MAX]
        );
    }
}
