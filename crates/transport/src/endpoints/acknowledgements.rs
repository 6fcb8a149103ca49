//! Acknowledgements arrive: the controller hears of them, and a connection that has everything acknowledged closes.

use super::{ConnectionId, Endpoints, Output, SubflowIndex, Timer};
use crate::segment::Segment;
use crate::sender::{Phase, RecoveryState};
use pathweave_control::{Ack, Change, Feedback, PathState, Paths};
use pathweave_units::Time;

impl Endpoints {
    #[inline]
    pub(super) fn take_rtt(&mut self, index: u32, rtt: Time) {
        let sender = &mut self.senders[index as usize];
        let connection = &mut self.connections[sender.connection as usize];
        let path = &mut connection.paths[sender.number.0 as usize];
        path.smoothed_rtt = sender.timeout.sample(rtt, &connection.config);
        path.latest_rtt = rtt;
        path.minimum_rtt = path.minimum_rtt.min(rtt);
    }

    #[inline]
    pub(super) fn on_ack(
        &mut self,
        index: u32,
        segment: &Segment,
        feedback: Feedback,
        now: Time,
        out: &mut impl Output,
    ) {
        let sender = &mut self.senders[index as usize];
        let place = sender.connection;
        let connection = &mut self.connections[place as usize];
        let number = sender.number;
        let progress = sender.on_ack(segment, &connection.config);
        connection.acknowledge(segment.data_number);
        let mut rtt = None;
        if segment.flag {
            let sample = now - segment.sent;
            sender.rtts.add(sample);
            rtt = Some(sample);
        }
        if let Some(sample) = rtt {
            self.take_rtt(index, sample);
        }
        let sender = &mut self.senders[index as usize];
        let connection = &mut self.connections[place as usize];
        let path = &mut connection.paths[number.0 as usize];
        path.acked = u64::from(sender.board.una());
        path.in_flight = sender.board.in_flight();
        path.in_recovery = matches!(sender.recovery, RecoveryState::Fast(_));
        if progress.advanced {
            sender.timeout.reset_backoff();
            sender.timeouts_in_row = 0;
            if sender.board.outstanding() == 0 {
                sender.deadline = Time::MAX;
            } else {
                sender.deadline = now + sender.timeout.current(&connection.config);
                if sender.timer_at > sender.deadline {
                    // The timeout has shrunk: after a first sample, or when a backoff ends.
                    sender.timer_at = sender.deadline;
                    out.wake(Timer::Retransmission(SubflowIndex(index)), sender.timer_at);
                }
            }
        }
        sender.marks += u64::from(segment.ce_echo);
        if progress.advanced && connection.paths[number.0 as usize].state == PathState::Failed {
            connection.change(number, Change::Recovered);
        }
        let paths = &mut Paths::new(&mut connection.paths);
        if progress.loss {
            let loss = pathweave_control::Loss::FastRetransmit;
            connection.controller.on_loss(paths, number, loss, now);
        }
        let packets = match sender.recovery {
            // What a retransmission after a timeout fills may be a whole window: RFC 3465 lets
            // slow start count two.
            RecoveryState::Timeout(_) => progress.packets.min(2),
            _ if connection.config.count_acks => progress.packets.min(1),
            _ => progress.packets,
        };
        if packets > 0 || segment.ce_echo > 0 || feedback != Feedback::None {
            let ack = Ack {
                now,
                packets,
                ce: u32::from(segment.ce_echo),
                rtt,
                // Before recovery a duplicate acknowledgement lets a packet go but not the window
                // grow (RFC 3042): what it reports counts, as marks and packets, and no more.
                recovery: progress.in_recovery || progress.loss || !progress.advanced,
                window_limited: connection.window_limited,
                feedback,
            };
            connection.controller.on_ack(paths, number, &ack);
        }
        if connection.data_acked == connection.total {
            self.close_if_acknowledged(place, out);
            return;
        }
        if progress.send_first {
            self.send_lost(index, now, out);
        }
        self.send_what_may_be_sent(place, now, out);
    }

    pub(super) fn close_if_acknowledged(&mut self, place: u32, out: &mut impl Output) {
        let connection = &mut self.connections[place as usize];
        if connection.closed || connection.data_acked != connection.total {
            return;
        }
        connection.closed = true;
        let (first, count) = (connection.first, connection.count());
        for index in first..first + count {
            let sender = &mut self.senders[index as usize];
            if sender.phase == Phase::Open {
                self.connections[place as usize].change(sender.number, Change::Closed);
            }
            sender.phase = Phase::Closed;
            sender.deadline = Time::MAX;
            self.receivers[index as usize].ack_deadline = Time::MAX;
        }
        self.leave_if_empty(first, out);
    }

    pub(super) fn leave_if_empty(&mut self, index: u32, out: &mut impl Output) {
        let place = self.senders[index as usize].connection;
        let connection = &self.connections[place as usize];
        let block = connection.first as usize..(connection.first + connection.count()) as usize;
        if self.senders[block]
            .iter()
            .all(|sender| sender.in_network == 0)
        {
            out.gone(ConnectionId(place));
        }
    }
}
