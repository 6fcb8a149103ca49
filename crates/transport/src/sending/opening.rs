//! Handshakes, and the subflows that join.

use super::Sending;
use super::acknowledgements::take_rtt;
use super::scheduling::send_plainly;
use super::subflow::Phase;
use crate::output::{Output, PacketShape, TimerKind};
use crate::segment::{Kind, NO_BLOCKS, Segment};
use crate::{Handshake, Joins};
use pathweave_control::{Change, Feedback};
use pathweave_units::Time;

impl Sending {
    pub(super) fn open_subflow_at(
        &mut self,
        index: u32,
        at: Time,
        now: Time,
        out: &mut impl Output,
    ) {
        if at > now {
            let sender = &mut self.senders[index as usize];
            sender.opened = at;
            out.wake(sender.timer(TimerKind::Open, index), at);
        } else {
            self.open_subflow(index, now, out);
        }
    }

    pub(super) fn open_subflow(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let sender = &mut self.senders[index as usize];
        let connection = &self.connections[sender.connection as usize];
        sender.opened = now;
        if connection.established || connection.config.handshake == Handshake::None {
            self.establish(index, now, out);
        } else {
            sender.phase = Phase::Opening;
            self.send_syn(index, now, out);
            self.start_syn_timer(index, now, out);
        }
    }

    pub(super) fn send_syn(&mut self, index: u32, sent: Time, out: &mut impl Output) {
        let sender = &mut self.senders[index as usize];
        let config = &self.connections[sender.connection as usize].config;
        let shape = PacketShape {
            size: config.ack_packet,
            ecn_capable: false,
            protected: config.handshake == Handshake::SynNeverLost,
            feedback: Feedback::None,
        };
        let segment = Segment {
            number: u32::from(sender.phase == Phase::Confirming),
            ..Segment::of_handshake(sender.to, Kind::Syn, sent)
        };
        sender.in_network = sender.in_network.wrapping_add(1);
        out.send(Sending::end(index), shape, segment, NO_BLOCKS);
    }

    #[cold]
    #[inline(never)]
    pub(super) fn on_syn_ack(
        &mut self,
        index: u32,
        segment: Segment,
        now: Time,
        out: &mut impl Output,
    ) {
        let sender = &mut self.senders[index as usize];
        let is_awaited = match sender.phase {
            Phase::Opening => segment.number == 0,
            Phase::Confirming => segment.number == 1,
            Phase::Unopened | Phase::Open | Phase::Closed => false,
        };
        if !is_awaited {
            return; // the answer to a SYN that was sent again
        }
        if sender.phase == Phase::Confirming {
            sender.timeout.end_row();
            sender.deadline = Time::MAX;
            return self.establish(index, now, out);
        }
        let timeouts = sender.timeout.in_row();
        sender.timeout.end_row();
        sender.deadline = Time::MAX;
        let rtt = now - segment.sent;
        let connection = &mut self.connections[sender.connection as usize];
        let path = &mut connection.paths[sender.number.0 as usize];
        if connection.config.rtt_from_handshake {
            take_rtt(sender, path, connection.minimum_rto, rtt, rtt);
            if connection.floor_on_variance {
                sender.set_timeout_by_variance(path, rtt, connection.minimum_rto);
            }
        }
        if connection.finds_losses_by_time && timeouts > 1 {
            // As Linux does after two lost SYNs (tcp_init_transfer).
            path.window = 1.0;
        }
        if sender.number.0 > 0 && connection.config.joins == Joins::DataAcknowledged {
            // The third packet of the handshake, and the fourth that answers it, are one more exchange.
            sender.phase = Phase::Confirming;
            self.send_syn(index, now, out);
            self.start_syn_timer(index, now, out);
        } else {
            self.establish(index, now, out);
        }
    }

    pub(super) fn establish(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let sender = &mut self.senders[index as usize];
        sender.phase = Phase::Open;
        if let Some(window_use) = &mut sender.window_use {
            window_use.begin(now);
        }
        let number = sender.number;
        let place = sender.connection;
        let connection = &mut self.connections[place as usize];
        if connection.knows_rtt_from_start() {
            sender.timeout.assume_handshake(&connection.config);
        }
        connection.change(number, Change::Opened);
        connection.account.has_new_holder = true;
        connection.note_packet(number, now);
        connection.grow_send_buffer(number);
        if number.0 == 0 && connection.joins_from == 0 {
            self.open_joins(place, now, out);
        }
        let sender = &mut self.senders[index as usize];
        let connection = &mut self.connections[place as usize];
        if !send_plainly(sender, connection, index, now, out) {
            self.send_what_may_be_sent(place, now, out);
        }
    }

    /// The first handshake is done, the first data acknowledged, or enough has been scattered: the other subflows open, each
    /// at its own time.
    pub(super) fn open_joins(&mut self, place: u32, now: Time, out: &mut impl Output) {
        self.connections[place as usize].end_wait_for_joins();
        for number in 1..self.connections[place as usize].count() {
            let connection = &self.connections[place as usize];
            let index = connection.subflow(number);
            let wanted = connection.subflow_starts.get(number as usize).copied();
            let delay = connection.join_delays.get(number as usize).copied();
            let at = wanted.unwrap_or(now + delay.unwrap_or(Time::ZERO));
            self.open_subflow_at(index, at, now, out);
        }
    }
}
