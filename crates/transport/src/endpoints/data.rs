//! Data arrives: it is delivered in order, and acknowledged.

use super::{
    Arrived, ConnectionId, Direction, Endpoints, Output, PacketShape, SubflowIndex, Timer,
};
use crate::receiver::{Acknowledgement, Arrival};
use crate::segment::{Kind, Segment};
use pathweave_units::Time;

impl Endpoints {
    #[inline]
    pub(super) fn on_data(
        &mut self,
        index: u32,
        segment: &Segment,
        arrived: Arrived,
        now: Time,
        out: &mut impl Output,
    ) {
        let place = self.senders[index as usize].connection;
        let connection = &mut self.connections[place as usize];
        let receiver = &mut self.receivers[index as usize];
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
            let payload =
                u64::from(arrived.size - connection.config.overhead() - connection.header_bytes);
            receiver.received_bytes += payload;
            if connection.paths.len() == 1 {
                // One subflow carries the data in its own order.
                connection.delivered = receiver.next;
            } else {
                if !connection.reassembly.insert(segment.data_number) {
                    receiver.duplicate_bytes += payload;
                }
                connection.delivered = connection.reassembly.next();
            }
        }
        if reaction.delayed {
            let due = now + connection.config.ack.timeout;
            if receiver.ack_deadline == Time::MAX {
                receiver.ack_deadline = due;
            }
            if receiver.timer_at == Time::MAX {
                receiver.timer_at = receiver.ack_deadline;
                out.wake(Timer::DelayedAck(segment.subflow), receiver.timer_at);
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
    pub(super) fn send_ack(
        &mut self,
        index: u32,
        ack: &Acknowledgement,
        delivered: u32,
        out: &mut impl Output,
    ) {
        let sender = &mut self.senders[index as usize];
        let connection = &self.connections[sender.connection as usize];
        sender.in_network += 1;
        let shape = PacketShape {
            size: connection.config.ack_packet,
            ecn_capable: connection.ecn && connection.config.ecn_on_all_packets,
            protected: false,
            feedback: ack.feedback,
        };
        let segment = Segment {
            subflow: SubflowIndex(index),
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
        out.send(segment.subflow, Direction::Back, shape, segment);
    }

    pub(super) fn on_ack_timer(&mut self, index: u32, now: Time, out: &mut impl Output) {
        let receiver = &mut self.receivers[index as usize];
        if receiver.timer_at != now {
            return; // of an earlier connection
        }
        receiver.timer_at = Time::MAX;
        if receiver.ack_deadline == Time::MAX {
            return;
        }
        if receiver.ack_deadline > now {
            receiver.timer_at = receiver.ack_deadline;
            out.wake(Timer::DelayedAck(SubflowIndex(index)), receiver.timer_at);
            return;
        }
        let connection = &self.connections[self.senders[index as usize].connection as usize];
        let mut ack = receiver.acknowledge(connection.echo_limit, &connection.config);
        ack.rtt_sample = false;
        let delivered = connection.delivered;
        self.send_ack(index, &ack, delivered, out);
    }

    pub(super) fn finish_if_delivered(&mut self, place: u32, out: &mut impl Output) {
        let connection = &mut self.connections[place as usize];
        if !connection.finished && connection.delivered == connection.total {
            connection.finished = true;
            out.finished(ConnectionId(place));
        }
    }
}
