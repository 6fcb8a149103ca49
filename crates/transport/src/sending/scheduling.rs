//! What may be sent, and on which subflow.

use super::Sending;
use super::connection::Connection;
use super::cut_round::CutRound;
use super::subflow::Sender;
use crate::SegmentScheduler;
use crate::output::{Output, PacketShape, TimerKind};
use crate::segment::{NO_BLOCKS, Segment};
use pathweave_control::Path;
use pathweave_units::{Bytes, Time};

impl Sending {
    /// Sends everything that windows and data allow: lost segments on their own subflows first,
    /// then new data as the scheduler says.
    #[inline(never)]
    pub(super) fn send_what_may_be_sent(&mut self, place: u32, now: Time, out: &mut impl Output) {
        let (first, count) = {
            let connection = &self.connections[place as usize];
            if connection.next_data >= connection.joins_from {
                self.open_joins(place, now, out);
            }
            let connection = &self.connections[place as usize];
            (connection.first, connection.count())
        };
        let has_queues = {
            let connection = &self.connections[place as usize];
            !connection.is_plain && connection.queues.is_some()
        };
        let is_done = has_queues && self.send_queued(place, now, out);
        if !is_done {
            self.send_by_windows((place, first, count), now, out);
        }
        if has_queues {
            self.update_reinjection_timer(place, now, out);
        }
    }

    /// Sends all that the windows of subflows allow and that is not in queues of theirs.
    #[inline(always)]
    fn send_by_windows(
        &mut self,
        (place, first, count): (u32, u32, u32),
        now: Time,
        out: &mut impl Output,
    ) {
        for index in first..first + count {
            self.send_lost_in_time(place, index, now, out);
        }
        loop {
            if !self.connections[place as usize].has_data() {
                // Losses that wait for room are data too: without growth, what a timeout left to
                // send again would go out one packet at a time.
                // Those of a failed subflow wait for its path, not for room.
                let connection = &self.connections[place as usize];
                let subflows = self.senders[first as usize..(first + count) as usize].iter();
                let losses_wait = subflows
                    .zip(&connection.paths)
                    .any(|(sender, path)| path.is_active() && sender.board.lost() > 0);
                self.connections[place as usize].window_limited = losses_wait;
                self.connections[place as usize].blocked = false;
                if losses_wait {
                    self.wait_for_time(place, now, out);
                }
                return;
            }
            let Some(index) = self.choose(place, now) else {
                let by_windows = self.do_windows_limit(place, now);
                self.connections[place as usize].window_limited = by_windows;
                self.connections[place as usize].blocked = true;
                self.wait_for_time(place, now, out);
                return;
            };
            if self.connections[place as usize].follows_linux {
                if self.connections[place as usize].sends_bundles {
                    self.send_bundle(index, now, out);
                    continue;
                }
                if self.is_refused(index, now, out) {
                    continue;
                }
            }
            let Some(data) = self.connections[place as usize].take_data() else {
                continue; // what was to be sent again has been delivered since
            };
            self.send_new(index, data, now, out);
        }
    }

    /// Sends a subflow's lost segments again, as far as its window and its pace allow.
    #[inline(always)]
    pub(super) fn send_lost_in_time(
        &mut self,
        place: u32,
        index: u32,
        now: Time,
        out: &mut impl Output,
    ) {
        while self.senders[index as usize].board.lost() > 0 && self.has_room(place, index) {
            let sender = &self.senders[index as usize];
            let connection = &self.connections[place as usize];
            let path = &connection.paths[sender.number.0 as usize];
            if !is_its_time(path, sender, now) || !sender.may_lost_join_port(connection, path, now)
            {
                break;
            }
            self.send_lost(index, now, out);
        }
    }

    #[inline]
    pub(super) fn has_room(&self, place: u32, index: u32) -> bool {
        let connection = &self.connections[place as usize];
        let path = &connection.paths[(index - connection.first) as usize];
        path.is_active() && self.senders[index as usize].room(path) > 0
    }

    /// Wakes the subflows that only their pace or their host's port holds back.
    #[inline(always)]
    pub(super) fn wait_for_time(&mut self, place: u32, now: Time, out: &mut impl Output) {
        let connection = &self.connections[place as usize];
        if connection.is_paced() {
            self.wait_for_pace(place, now, out);
        }
        if self.connections[place as usize].holds_back {
            self.wait_for_ports(place, now, out);
        }
    }

    /// Wakes the subflows that only their pace holds back.
    #[cold]
    #[inline(never)]
    fn wait_for_pace(&mut self, place: u32, now: Time, out: &mut impl Output) {
        let connection = &self.connections[place as usize];
        for index in connection.first..connection.first + connection.count() {
            self.wait_for_pace_of(index, now, out);
        }
    }

    /// Wakes this subflow if only its pace holds it back.
    #[inline(always)]
    fn wait_for_pace_of(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let sender = &mut self.senders[index as usize];
        let path = &self.connections[sender.connection as usize].paths[sender.number.0 as usize];
        let next = sender.pace.next(path.pacing_rate);
        if next > now && path.is_active() && sender.pace_timer_at != next {
            sender.pace_timer_at = next;
            out.wake(sender.timer(TimerKind::Pace, index), next);
        }
    }

    /// The time of a subflow's next packet has come. Where the subflow may still send nothing, its next
    /// acknowledgement lets it go on.
    pub(super) fn on_pace_timer(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let sender = &mut self.senders[index as usize];
        if sender.pace_timer_at != now {
            return; // set again
        }
        sender.pace_timer_at = Time::MAX;
        let place = sender.connection;
        if !self.connections[place as usize].closed && !self.send_on_subflow(index, now, out) {
            self.send_what_may_be_sent(place, now, out);
        }
    }

    /// Sends what a subflow may send after an acknowledgement of its own, or because the time of its next packet has come.
    /// This is the same as [`Sending::send_what_may_be_sent`], without a look at the siblings: none of them could send
    /// when sending last ended, and each has a timer if only its pace held it back. Returns false when all have to be
    /// asked.
    pub(super) fn send_on_subflow(&mut self, index: u32, now: Time, out: &mut impl Output) -> bool {
        let sender = &self.senders[index as usize];
        let (place, number) = (sender.connection, sender.number.0 as usize);
        let connection = &self.connections[place as usize];
        let first = connection.first as usize;
        let siblings = &self.senders[first..first + connection.paths.len()];
        // The timer of a sibling that may send at this very time may still have to fire.
        let waits_for_port = connection.waits_for_port;
        let is_timer_due = |one: &Sender| {
            one.pace_timer_at == now || (waits_for_port && one.waits_for_port_at(now))
        };
        let is_blocked = connection.blocked && !siblings.iter().any(is_timer_due);
        // Data that runs out after it has let other subflows open would have them open one event early.
        let are_all_told_to_open = connection.joins_from == u32::MAX;
        if !is_blocked || !connection.sends_full_packets() || !are_all_told_to_open {
            return false;
        }
        self.send_lost_in_time(place, index, now, out);
        loop {
            let connection = &mut self.connections[place as usize];
            if !connection.has_data() {
                return false;
            }
            let sender = &mut self.senders[index as usize];
            if !may_take(connection, &connection.paths[number], sender, now)
                || self.is_refused(index, now, out)
            {
                break;
            }
            let connection = &mut self.connections[place as usize];
            connection.pass_turn_on(number as u32);
            let data = connection.next_data;
            connection.next_data += 1;
            self.send_new(index, data, now, out);
        }
        let by_windows = self.do_windows_limit(place, now);
        self.connections[place as usize].window_limited = by_windows;
        self.wait_for_pace_of(index, now, out);
        let connection = &mut self.connections[place as usize];
        if connection.holds_back {
            self.senders[index as usize].wait_for_port(index, connection, now, out);
        }
        #[cfg(feature = "checks")]
        self.check_blocked(place, now);
        true
    }

    /// From now on it is not known of any connection that its subflows can send nothing, so that sending looks at all of
    /// them.
    #[cfg(test)]
    pub fn forget_what_is_blocked(&mut self) {
        for connection in &mut self.connections {
            connection.blocked = false;
        }
    }

    /// The subflow that gets the next new data, if any may take it.
    #[inline(always)]
    pub(super) fn choose(&mut self, place: u32, now: Time) -> Option<u32> {
        let connection = &self.connections[place as usize];
        let first = connection.first as usize;
        let paths = &connection.paths[..];
        let senders = &self.senders[first..first + paths.len()];
        let subflows = || paths.iter().zip(senders).enumerate();
        let number = match connection.config.scheduler {
            _ if paths.len() == 1 => may_take(connection, &paths[0], &senders[0], now).then_some(0),
            SegmentScheduler::RoundRobin => {
                let turn = connection.turn as usize;
                let may = |&(_, (path, sender)): &(usize, (&Path, &Sender))| {
                    may_take(connection, path, sender, now)
                };
                let found = subflows().skip(turn).find(may);
                let found = found.or_else(|| subflows().take(turn).find(may));
                found.map(|(number, _)| number)
            }
            // Where there are queues, all data goes through them.
            SegmentScheduler::QueuedBytes => None,
            SegmentScheduler::LowestRtt => {
                let (mut chosen, mut lowest) = (None, Time::MAX);
                for (number, (path, sender)) in subflows() {
                    if path.smoothed_rtt < lowest && may_take(connection, path, sender, now) {
                        (chosen, lowest) = (Some(number), path.smoothed_rtt);
                    }
                }
                chosen
            }
        }?;
        self.connections[place as usize].pass_turn_on(number as u32);
        Some((first + number) as u32)
    }

    #[inline]
    pub(super) fn send_new(&mut self, index: u32, data: u32, now: Time, out: &mut impl Output) {
        let sender = &mut self.senders[index as usize];
        let connection = &mut self.connections[sender.connection as usize];
        if connection.tracks_use {
            sender.begin_burst(connection, 1, now);
        }
        let Sender { board, repair, .. } = sender;
        let number = board.push(data);
        if let Some(repair) = repair {
            repair.rack.note_sent(number, board.una(), now);
        }
        self.transmit(index, number, data, false, now, out);
    }

    pub(super) fn send_lost(&mut self, index: u32, now: Time, out: &mut impl Output) {
        if self.is_refused(index, now, out) {
            return;
        }
        let sender = &mut self.senders[index as usize];
        if sender.first_lost_leaves_at(now).is_some() {
            return;
        }
        if let Some((number, data)) = sender.board.send_again() {
            sender.retransmits += 1;
            if let Some(repair) = &mut sender.repair {
                repair.note_retransmitted(number, sender.board.una(), now);
            }
            if let Some(window_use) = &mut sender.window_use {
                window_use.note_retransmitted(now);
            }
            self.transmit(index, number, data, true, now, out);
        }
    }

    #[inline(never)]
    pub(super) fn transmit(
        &mut self,
        index: u32,
        number: u32,
        data: u32,
        again: bool,
        now: Time,
        out: &mut impl Output,
    ) {
        let sender = &mut self.senders[index as usize];
        let connection = &mut self.connections[sender.connection as usize];
        let size = connection.payload(data) + connection.header_bytes;
        let path = &mut connection.paths[sender.number.0 as usize];
        path.in_flight = sender.in_flight(connection.duplicates_hold);
        note_sent(sender, path);
        let feedback = connection.congestion_field(sender.number, now);
        let path = &connection.paths[sender.number.0 as usize];
        if let Some(rate) = path.pacing_rate {
            let size = Bytes::new(u64::from(size));
            sender.pace.note_sent(size, rate, now);
        }
        let shape = PacketShape {
            size,
            ecn_capable: connection.ecn && (!again || connection.config.ecn_on_all_packets),
            protected: false,
            feedback,
        };
        let is_last = data + 1 == connection.total;
        let segment = Segment::data(sender.to, (number, data), is_last, now);
        if connection.finds_losses_by_time {
            if !again {
                sender.set_loss_timer_after_new_data(index, connection, now, out);
            } else if number == sender.board.una() {
                sender.restart_timeout(index, connection, now, out);
            }
        } else if sender.deadline == Time::MAX {
            sender.start_retransmission_timer(index, now, connection.maximum_rto, out);
        }
        let follows_linux = connection.follows_linux;
        out.send(Sending::end(index), shape, segment, NO_BLOCKS);
        if follows_linux {
            if let Some(queue) = &mut sender.small_queue {
                queue.join(number, out.leaves_at(Sending::end(index)), now);
            }
            if let Some(bundles) = &mut sender.bundles {
                bundles.note_sent(number, sender.board.una(), again, now);
            }
        }
    }
}

/// Sends what an acknowledgement of this subflow lets go: the same as [`Sending::send_what_may_be_sent`],
/// without a look at its siblings where none of them can have come to have room. They had none when sending
/// last ended; since then only this subflow's flight and window have changed. Returns false when that has to be asked
/// for the rest.
#[inline(always)]
pub(super) fn send_plainly(
    sender: &mut Sender,
    connection: &mut Connection,
    index: u32,
    now: Time,
    out: &mut impl Output,
) -> bool {
    if connection.follows_linux {
        send_as_linux(sender, connection, index, now, &mut out.lend())
    } else {
        send_as::<false>(sender, connection, index, now, out)
    }
}

/// A function of its own: other hosts need the registers.
#[inline(never)]
fn send_as_linux(
    sender: &mut Sender,
    connection: &mut Connection,
    index: u32,
    now: Time,
    out: &mut impl Output,
) -> bool {
    send_as::<true>(sender, connection, index, now, out)
}

#[inline(always)]
fn send_as<const LINUX: bool>(
    sender: &mut Sender,
    connection: &mut Connection,
    index: u32,
    now: Time,
    out: &mut impl Output,
) -> bool {
    let alone = connection.paths.len() == 1
        || (connection.blocked && !(LINUX && connection.waits_for_port));
    let may_be_refused = LINUX && connection.may_be_refused;
    if !alone || !connection.sends_plainly() || sender.board.lost() > 0 || may_be_refused {
        return false;
    }
    let data = connection.new_data();
    let number = sender.number.0;
    let siblings_end = connection.paths.len() as u32;
    let path = &connection.paths[number as usize];
    debug_assert!(
        path.pacing_rate.is_none(),
        "nothing is paced that is sent plainly"
    );
    let mut count = 0;
    let mut port_limits = false;
    if path.is_active() && path.may_send {
        let outstanding = sender.board.outstanding();
        let receiver_has_room = connection.subflow_window.saturating_sub(outstanding);
        count = sender.room(path).min(receiver_has_room).min(data);
        if LINUX && connection.holds_back {
            let fits = sender.room_in_port(connection, path, now);
            port_limits = fits < count;
            count = count.min(fits);
        }
    }
    if count > 0 {
        if LINUX && connection.tracks_use {
            count = sender.begin_burst(connection, count, now);
        }
        connection.pass_turn_on(number);
        if sender.deadline == Time::MAX && !(LINUX && connection.finds_losses_by_time) {
            sender.start_retransmission_timer(index, now, connection.maximum_rto, out);
        }
        let first = connection.next_data;
        connection.next_data = first + count;
        for data in first..first + count {
            let packet = sender.board.push(data);
            if LINUX
                && connection.finds_losses_by_time
                && let Some(repair) = &mut sender.repair
            {
                repair.rack.note_sent(packet, sender.board.una(), now);
            }
            let path = &mut connection.paths[number as usize];
            path.in_flight += 1;
            note_sent(sender, path);
            let is_last = data + 1 == connection.total;
            let payload = if is_last {
                connection.last_payload
            } else {
                connection.maximum_segment
            };
            let shape = PacketShape {
                size: payload + connection.header_bytes,
                ecn_capable: connection.ecn,
                protected: false,
                feedback: connection.congestion_field(sender.number, now),
            };
            let segment = Segment::data(sender.to, (packet, data), is_last, now);
            out.send(Sending::end(index), shape, segment, NO_BLOCKS);
            if LINUX
                && connection.holds_back
                && let Some(queue) = &mut sender.small_queue
            {
                queue.join(packet, out.leaves_at(Sending::end(index)), now);
            }
        }
        if LINUX && connection.finds_losses_by_time {
            sender.set_loss_timer_after_new_data(index, connection, now, &mut out.lend());
        }
    }
    if count == data {
        // There is no more. Only with siblings does the rest have to be asked for: losses of theirs may wait.
        if siblings_end > 1 {
            return false;
        }
        connection.window_limited = false;
        connection.blocked = false;
        return true;
    }
    connection.window_limited = !port_limits;
    if LINUX && port_limits {
        let path = &connection.paths[number as usize];
        if sender.room_in_port(connection, path, now) > 0 {
            return false; // the port is down and has lost them
        }
        sender.wait_for_port(index, connection, now, &mut out.lend());
    }
    true
}

/// A segment has been sent on a subflow, of which the scoreboard knows.
#[inline(always)]
fn note_sent(sender: &mut Sender, path: &mut Path) {
    path.sent = u64::from(sender.board.next());
    if let Some(CutRound {
        proportional: Some(reduction),
        ..
    }) = &mut sender.cut_round
    {
        reduction.sent += 1;
    }
    sender.in_network = sender.in_network.wrapping_add(1);
}

/// Whether the pace lets a subflow's next packet leave.
#[inline(always)]
pub(super) fn is_its_time(path: &Path, sender: &Sender, now: Time) -> bool {
    sender.pace.next(path.pacing_rate) <= now
}

/// Whether a subflow may take new data.
#[inline(always)]
pub(super) fn may_take(connection: &Connection, path: &Path, sender: &Sender, now: Time) -> bool {
    path.may_send && may_send_given(connection, path, sender, now)
}

/// Whether a subflow may send data that it has been given already.
#[inline(always)]
pub(super) fn may_send_given(
    connection: &Connection,
    path: &Path,
    sender: &Sender,
    now: Time,
) -> bool {
    sender.room(path) > 0
        && path.is_active()
        && (sender.board.outstanding() < connection.subflow_window
            || connection.fits_subflow_window(sender))
        && is_its_time(path, sender, now)
        && (!connection.follows_linux
            || (sender.room_in_port(connection, path, now) > 0
                && !sender.waits_for_bundle(connection, path, now)))
}
