//! Data arrives: it is delivered in order, and acknowledged.

use super::connection::Connection;
use super::gathering::Arriving;
use super::{Acknowledgement, Arrival, Receiver, Receiving, Taken};
use crate::Handshake;
use crate::ends::ReceivingId;
use crate::output::{Arrived, Output, PacketShape, Timer, TimerKind};
use crate::segment::{Flags, Kind, NO_BLOCKS, Segment};
use pathweave_control::Feedback;
use pathweave_units::Time;

/// What an acknowledgement says besides what its receiver knows.
#[derive(Clone, Copy)]
struct Saying {
    /// Everything below this has been delivered in order.
    delivered: u32,
    /// Whether its times give fair RTT samples: not when the timer sends it.
    rtt_sample: bool,
    /// The congestion field of the packet that it answers.
    feedback: Feedback,
}

impl Saying {
    /// In answer to a packet with this field that has been taken in.
    #[inline(always)]
    fn now(connection: &Connection, feedback: Feedback) -> Saying {
        Saying {
            delivered: connection.delivered,
            rtt_sample: true,
            feedback,
        }
    }
}

impl Receiving {
    /// The time of a bundle is over.
    pub(super) fn on_gathering_timer(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let receiver = &mut self.receivers[index as usize];
        if !receiver.gathering.is_due(now) {
            return; // the bundle has ended before
        }
        let connection = &self.connections[receiver.connection as usize];
        if receiver.end_gathering() {
            acknowledge_gathered(receiver, connection, index, out);
        } else {
            delay_acknowledgement(receiver, connection, index, now, out);
        }
    }

    #[inline(always)]
    pub(super) fn on_data(
        &mut self,
        index: u32,
        segment: Segment,
        arrived: Arrived,
        now: Time,
        out: &mut impl Output,
    ) {
        let receiver = &mut self.receivers[index as usize];
        let connection = &mut self.connections[receiver.connection as usize];
        let mark_changed = receiver.changes_mark(arrived.congestion_experienced);
        if mark_changed && !connection.spans_marks && receiver.owes_acknowledgement() {
            // It must not know what this packet completes: it could end the flow before the
            // acknowledgement that echoes the last marks.
            let delivered = connection.delivered;
            answer_late(
                receiver,
                connection,
                (index, delivered, true),
                &mut out.lend(),
            );
        }
        if connection.notes_arrivals {
            let packet = (index, segment.number, mark_changed);
            note_arrival(receiver, connection, packet, now, &mut out.lend());
        }
        let arrival = Arrival {
            number: segment.number,
            sent: segment.sent,
            congestion_experienced: arrived.congestion_experienced,
            has_feedback: arrived.feedback != Feedback::None,
            last: segment.is_last(),
        };
        let Taken { new, at_once } = receiver.take(arrival, mark_changed, connection.at_once());
        if new {
            let payload = arrived.size - connection.header_bytes;
            receiver.received_bytes += u64::from(payload);
            if segment.is_last() {
                connection.total = segment.data_number + 1;
                connection.last_payload = payload;
            }
            if connection.is_single {
                connection.deliver(receiver.next, now);
            } else {
                if !connection.reassembly.insert(segment.data_number) {
                    receiver.duplicate_bytes += u64::from(payload);
                }
                let next = connection.reassembly.next();
                connection.deliver(next, now);
            }
        }
        if connection.gathers {
            let packet = Arriving {
                payload: arrived.size - connection.header_bytes,
                new,
                feedback: arrived.feedback,
                at_once,
            };
            let is_last = segment.is_last();
            return self.on_data_gathered(index, packet, is_last, now, &mut out.lend());
        }
        if at_once {
            if receiver.has_sack_blocks() {
                let saying = Saying::now(connection, arrived.feedback);
                answer_with_blocks(receiver, connection, index, saying, &mut out.lend());
            } else {
                let saying = Saying::now(connection, arrived.feedback);
                let (shape, segment) = acknowledgement(receiver, connection, saying, 0);
                out.send(Receiving::end(index), shape, segment, NO_BLOCKS);
            }
        } else {
            delay_acknowledgement(receiver, connection, index, now, out);
        }
        if connection.delivered == connection.total {
            let place = receiver.connection;
            self.finish_if_delivered(place, &mut out.lend());
        }
    }

    /// Gathers a packet that has been taken in. `is_last` says that it is its subflow's last one.
    #[cold]
    #[inline(never)]
    fn on_data_gathered(
        &mut self,
        index: u32,
        packet: Arriving,
        is_last: bool,
        now: Time,
        out: &mut impl Output,
    ) {
        let receiver = &mut self.receivers[index as usize];
        let place = receiver.connection;
        let connection = &self.connections[place as usize];
        let is_done = connection.delivered == connection.total;
        let ends = now + connection.ack_gather;
        let ends_now = is_last || is_done || receiver.has_full_echo(connection.echo_limit);
        match receiver.gather(index, packet, ends_now, ends, out) {
            Some(true) => {
                let saying = Saying::now(connection, packet.feedback);
                answer_with_blocks(receiver, connection, index, saying, out);
            }
            Some(false) => delay_acknowledgement(receiver, connection, index, now, out),
            None => {}
        }
        if is_done {
            self.finish_if_delivered(place, out);
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn on_syn(&mut self, index: u32, syn: Segment, out: &mut impl Output) {
        let receiver = &mut self.receivers[index as usize];
        let config = &self.connections[receiver.connection as usize].config;
        receiver.in_network = receiver.in_network.wrapping_add(1);
        let shape = PacketShape {
            size: config.ack_packet,
            ecn_capable: false,
            protected: config.handshake == Handshake::SynNeverLost,
            feedback: Feedback::None,
        };
        let segment = Segment {
            number: syn.number,
            ..Segment::of_handshake(receiver.to, Kind::SynAck, syn.sent)
        };
        out.send(Receiving::end(index), shape, segment, NO_BLOCKS);
    }

    pub(super) fn on_ack_timer(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let receiver = &mut self.receivers[index as usize];
        if !receiver.timer_is_set || receiver.timer_at != now {
            return; // set again for an earlier time
        }
        receiver.timer_is_set = false;
        if receiver.ack_deadline == Time::MAX {
            return;
        }
        if receiver.ack_deadline > now {
            wake_for_acknowledgement(receiver, index, out);
            return;
        }
        let connection = &self.connections[receiver.connection as usize];
        let delivered = connection.delivered;
        answer_late(receiver, connection, (index, delivered, false), out);
        if connection.gathers {
            receiver.end_gathering();
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn finish_if_delivered(&mut self, place: u32, out: &mut impl Output) {
        let connection = &mut self.connections[place as usize];
        if !connection.finished && connection.delivered == connection.total {
            connection.finished = true;
            out.finished(ReceivingId(place));
        }
    }
}

/// Runs before a packet with this number is taken in. `mark_changed` says that its CE mark differs from the last packet's.
#[inline(never)]
fn note_arrival(
    receiver: &mut Receiver,
    connection: &Connection,
    (index, number, mark_changed): (u32, u32, bool),
    now: Time,
    out: &mut impl Output,
) {
    if receiver.quick_acks_return {
        receiver.note_arrival(connection.config.minimum_rto, now);
    }
    if connection.gathers {
        let is_in_order = number == receiver.next && !receiver.has_sack_blocks();
        let continues = is_in_order && !mark_changed;
        let is_acknowledged = mark_changed && !connection.spans_marks;
        if !continues && receiver.end_gathering() && !is_acknowledged {
            acknowledge_gathered(receiver, connection, index, out);
        }
    }
}

/// Acknowledges a bundle.
fn acknowledge_gathered(
    receiver: &mut Receiver,
    connection: &Connection,
    index: u32,
    out: &mut impl Output,
) {
    answer_late(
        receiver,
        connection,
        (index, connection.delivered, true),
        out,
    );
}

/// An acknowledgement waits for more data.
#[inline(always)]
fn delay_acknowledgement(
    receiver: &mut Receiver,
    connection: &Connection,
    index: u32,
    now: Time,
    out: &mut impl Output,
) {
    if receiver.ack_deadline == Time::MAX {
        receiver.ack_deadline = connection.tick.due(now, connection.ack_timeout);
    }
    if !receiver.timer_is_set {
        wake_for_acknowledgement(receiver, index, &mut out.lend());
    }
}

/// The timer is set for when an acknowledgement is due.
#[cold]
#[inline(never)]
fn wake_for_acknowledgement(receiver: &mut Receiver, index: u32, out: &mut impl Output) {
    receiver.timer_is_set = true;
    receiver.timer_at = receiver.ack_deadline;
    out.wake(receiver.timer(index), receiver.timer_at);
}

/// Acknowledges everything so far when something is missing.
#[cold]
#[inline(never)]
fn answer_with_blocks(
    receiver: &mut Receiver,
    connection: &Connection,
    index: u32,
    saying: Saying,
    out: &mut impl Output,
) {
    let (blocks, count, has_dsack) = if connection.selective {
        receiver.take_sack_blocks()
    } else {
        (*NO_BLOCKS, 0, false)
    };
    let (shape, mut segment) = acknowledgement(receiver, connection, saying, count);
    if has_dsack {
        segment.flags = segment.flags.with_dsack();
    }
    out.send(Receiving::end(index), shape, segment, &blocks);
}

/// Acknowledges what has waited, as this subflow with this much delivered. `rtt_sample` as in [`Saying`].
#[cold]
#[inline(never)]
fn answer_late(
    receiver: &mut Receiver,
    connection: &Connection,
    (index, delivered, rtt_sample): (u32, u32, bool),
    out: &mut impl Output,
) {
    let saying = Saying {
        delivered,
        rtt_sample,
        // A packet whose field says something is never acknowledged late.
        feedback: Feedback::None,
    };
    answer_with_blocks(receiver, connection, index, saying, out);
}

#[inline(always)]
fn acknowledgement(
    receiver: &mut Receiver,
    connection: &Connection,
    saying: Saying,
    blocks: u8,
) -> (PacketShape, Segment) {
    receiver.in_network = receiver.in_network.wrapping_add(1);
    let Acknowledgement {
        next,
        ce_echo,
        sent,
        first_sent,
    } = receiver.acknowledge(connection.echo_limit);
    let shape = PacketShape {
        size: connection.ack_packet,
        ecn_capable: connection.ecn_on_acks,
        protected: false,
        feedback: saying.feedback,
    };
    let segment = Segment {
        to: receiver.to,
        number: next,
        data_number: saying.delivered,
        kind: Kind::Ack,
        flags: Flags::new(saying.rtt_sample, blocks),
        ce_echo,
        region: 0,
        sent,
        first_sent,
    };
    (shape, segment)
}

impl Receiver {
    fn timer(&self, place: u32) -> Timer {
        Timer {
            flow: self.flow,
            subflow: self.number,
            kind: TimerKind::DelayedAck,
            place,
        }
    }
}
