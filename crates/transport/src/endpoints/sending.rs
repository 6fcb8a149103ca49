//! What may be sent, and on which subflow.

use super::{Direction, Endpoints, Output, PacketShape, SubflowIndex};
use crate::SegmentScheduler;
use crate::connection::Connection;
use crate::segment::{Kind, SACK_BLOCKS, SackBlock, Segment};
use pathweave_units::Time;

impl Endpoints {
    /// Sends everything that windows and data allow: lost segments on their own subflows first,
    /// then new data as the scheduler says.
    #[inline]
    pub(super) fn send_what_may_be_sent(&mut self, place: u32, now: Time, out: &mut impl Output) {
        let (first, count) = {
            let connection = &self.connections[place as usize];
            if connection.next_data >= connection.joins_from {
                self.open_joins(place, now, out);
            }
            let connection = &self.connections[place as usize];
            (connection.first, connection.count())
        };
        for index in first..first + count {
            while self.senders[index as usize].board.lost() > 0 && self.has_room(place, index) {
                self.send_lost(index, now, out);
            }
        }
        loop {
            if !self.connections[place as usize].has_data() {
                // Losses that wait for room are data too: without growth, what a timeout left to
                // send again would go out one packet at a time.
                let mut subflows = self.senders[first as usize..(first + count) as usize].iter();
                let losses_wait = subflows.any(|sender| sender.board.lost() > 0);
                self.connections[place as usize].window_limited = losses_wait;
                return;
            }
            let Some(index) = self.choose(place) else {
                self.connections[place as usize].window_limited = true;
                return;
            };
            let Some(data) = self.connections[place as usize].take_data() else {
                continue; // what was to be sent again has been delivered since
            };
            self.send_new(index, data, now, out);
        }
    }

    #[inline]
    pub(super) fn has_room(&self, place: u32, index: u32) -> bool {
        let connection = &self.connections[place as usize];
        let path = &connection.paths[(index - connection.first) as usize];
        path.established && f64::from(path.in_flight + 1) <= path.window
    }

    /// Whether a subflow may take new data.
    #[inline]
    pub(super) fn may_take(&self, connection: &Connection, number: u32) -> bool {
        let path = &connection.paths[number as usize];
        if !path.established || !path.may_send || f64::from(path.in_flight + 1) > path.window {
            return false;
        }
        let sender = &self.senders[(connection.first + number) as usize];
        !sender.dead && sender.board.outstanding() < connection.subflow_window
    }

    /// The subflow that gets the next new data, if any may take it.
    #[inline]
    pub(super) fn choose(&mut self, place: u32) -> Option<u32> {
        let connection = &self.connections[place as usize];
        let count = connection.count();
        if count == 1 {
            return self.may_take(connection, 0).then_some(connection.first);
        }
        let number = match connection.config.scheduler {
            SegmentScheduler::RoundRobin => {
                let turn = connection.turn;
                let number = (turn..count)
                    .chain(0..turn)
                    .find(|&number| self.may_take(connection, number))?;
                self.connections[place as usize].turn = (number + 1) % count;
                number
            }
            SegmentScheduler::LowestRtt => (0..count)
                .filter(|&number| self.may_take(connection, number))
                .min_by_key(|&number| connection.paths[number as usize].smoothed_rtt)?,
        };
        Some(self.connections[place as usize].first + number)
    }

    #[inline]
    pub(super) fn send_new(&mut self, index: u32, data: u32, now: Time, out: &mut impl Output) {
        let number = self.senders[index as usize].board.push(data);
        self.transmit(index, number, data, false, now, out);
    }

    pub(super) fn send_lost(&mut self, index: u32, now: Time, out: &mut impl Output) {
        if let Some((number, data)) = self.senders[index as usize].board.send_again() {
            self.senders[index as usize].retransmits += 1;
            self.transmit(index, number, data, true, now, out);
        }
    }

    #[inline]
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
        let path = &mut connection.paths[sender.number.0 as usize];
        path.sent = u64::from(sender.board.next());
        path.in_flight = sender.board.in_flight();
        sender.sent_packets += 1;
        sender.in_network += 1;
        let shape = PacketShape {
            size: connection.payload(data) + connection.config.overhead(),
            ecn_capable: connection.ecn && !again,
            protected: false,
        };
        let segment = Segment {
            subflow: SubflowIndex(index),
            kind: Kind::Data,
            flag: data + 1 == connection.total,
            ce_echo: 0,
            sack_count: 0,
            number,
            data_number: data,
            sent: now,
            sack: [SackBlock::default(); SACK_BLOCKS],
        };
        if sender.deadline == Time::MAX {
            self.start_retransmission_timer(index, now, out);
        }
        out.send(segment.subflow, Direction::Forward, shape, segment);
    }
}
