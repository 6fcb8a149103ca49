//! Data arrives: it is delivered in order, and acknowledged.

use super::{Acknowledgement, Arrival, Receiving};
use crate::Handshake;
use crate::output::{Arrived, Output, PacketShape, ReceivingId, Timer, TimerKind};
use crate::segment::{Kind, SACK_BLOCKS, SackBlock, Segment};
use pathweave_control::Feedback;
use pathweave_units::Time;

impl Receiving {
    #[inline]
    pub(super) fn on_data(
        &mut self,
        index: u32,
        segment: &Segment,
        arrived: Arrived,
        now: Time,
        out: &mut impl Output,
    ) {
        let receiver = &mut self.receivers[index as usize];
        let place = receiver.connection;
        let connection = &mut self.connections[place as usize];
        let arrival = Arrival {
            number: segment.number,
            sent: segment.sent,
            congestion_experienced: arrived.congestion_experienced,
            feedback: arrived.feedback,
            last: segment.flag,
        };
        let reaction = receiver.on_data(arrival, connection.echo_limit, &connection.config);
        let delivered_before = connection.delivered;
        if reaction.new {
            let payload = arrived.size - connection.config.overhead() - connection.header_bytes;
            receiver.received_bytes += u64::from(payload);
            if segment.flag {
                connection.total = segment.data_number + 1;
                connection.last_payload = payload;
            }
            if connection.count == 1 {
                // One subflow carries the data in its own order.
                let next = receiver.next;
                connection.deliver(next, now);
            } else {
                if !connection.reassembly.insert(segment.data_number) {
                    receiver.duplicate_bytes += u64::from(payload);
                }
                let next = connection.reassembly.next();
                connection.deliver(next, now);
            }
        }
        if reaction.delayed {
            let due = now + connection.config.ack.timeout;
            if receiver.ack_deadline == Time::MAX {
                receiver.ack_deadline = due;
            }
            if receiver.timer_at == Time::MAX {
                receiver.timer_at = receiver.ack_deadline;
                out.wake(receiver.timer(index), receiver.timer_at);
            }
        }
        if let Some(before) = reaction.before {
            // It must not know what this packet completed: it could end the flow before the
            // acknowledgement that echoes the last marks.
            self.send_ack(index, &before, delivered_before, out);
        }
        if let Some(now) = reaction.now {
            self.send_ack(index, &now, self.connections[place as usize].delivered, out);
        }
        if self.connections[place as usize].delivered == self.connections[place as usize].total {
            self.finish_if_delivered(place, out);
        }
    }

    #[inline]
    fn send_ack(
        &mut self,
        index: u32,
        ack: &Acknowledgement,
        delivered: u32,
        out: &mut impl Output,
    ) {
        let receiver = &mut self.receivers[index as usize];
        let connection = &self.connections[receiver.connection as usize];
        receiver.in_network = receiver.in_network.wrapping_add(1);
        let shape = PacketShape {
            size: connection.config.ack_packet,
            ecn_capable: connection.ecn && connection.config.ecn_on_all_packets,
            protected: false,
            feedback: ack.feedback,
        };
        let segment = Segment {
            to: receiver.to,
            kind: Kind::Ack,
            flag: ack.rtt_sample,
            ce_echo: ack.ce_echo,
            sack_count: ack.sack_count,
            number: ack.next,
            data_number: delivered,
            sent: ack.sent,
            first_sent: ack.first_sent,
            sack: ack.sack,
        };
        out.send(Receiving::end(index), shape, segment);
    }

    pub(super) fn on_syn(&mut self, index: u32, syn: &Segment, out: &mut impl Output) {
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
            to: receiver.to,
            kind: Kind::SynAck,
            flag: false,
            ce_echo: 0,
            sack_count: 0,
            number: 0,
            data_number: 0,
            sent: syn.sent,
            first_sent: syn.sent,
            sack: [SackBlock::default(); SACK_BLOCKS],
        };
        out.send(Receiving::end(index), shape, segment);
    }

    pub(super) fn on_ack_timer(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let receiver = &mut self.receivers[index as usize];
        if receiver.timer_at != now {
            return; // set again for an earlier time
        }
        receiver.timer_at = Time::MAX;
        if receiver.ack_deadline == Time::MAX {
            return;
        }
        if receiver.ack_deadline > now {
            receiver.timer_at = receiver.ack_deadline;
            out.wake(receiver.timer(index), receiver.timer_at);
            return;
        }
        let connection = &self.connections[receiver.connection as usize];
        let mut ack = receiver.acknowledge(connection.echo_limit, &connection.config);
        ack.rtt_sample = false;
        let delivered = connection.delivered;
        self.send_ack(index, &ack, delivered, out);
    }

    pub(super) fn finish_if_delivered(&mut self, place: u32, out: &mut impl Output) {
        let connection = &mut self.connections[place as usize];
        if !connection.finished && connection.delivered == connection.total {
            connection.finished = true;
            out.finished(ReceivingId(place));
        }
    }
}

impl super::Receiver {
    fn timer(&self, place: u32) -> Timer {
        Timer {
            flow: self.flow,
            subflow: self.number,
            kind: TimerKind::DelayedAck,
            place,
        }
    }
}
