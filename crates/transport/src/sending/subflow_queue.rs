//! Data that has been given to a subflow and waits there for room in its congestion window.

use super::Sending;
use super::connection::Connection;
use super::queued_bytes::Given;
use super::reinjection_timer::ReinjectionTimer;
use super::scheduling::may_send_given;
use super::subflow::{Phase, Sender};
use crate::output::Output;
use crate::{Config, Reinject, SegmentScheduler};
use pathweave_control::{Change, PathState, SubflowId};
use pathweave_units::Time;
use std::collections::VecDeque;
use std::ops::Range;

/// A subflow's queue, and what else only connections with queues need to know of a subflow.
#[derive(Clone, Debug, Default)]
pub(crate) struct SubflowQueue {
    /// The numbers of the data in the order in which they are to be sent.
    ranges: VecDeque<Range<u32>>,
    /// How many they are.
    segments: u32,
    /// Whether the subflow's window or its pace, and not a lack of data, is what last ended sending on it.
    window_limited: bool,
    /// What the scheduler keeps of it.
    pub given: Given,
    /// When a packet last arrived on it.
    pub heard: Time,
    /// Times in a row that the reinjection timer found data outstanding on it and nothing received.
    pub silences: u32,
    /// `heard` at the first of these.
    pub heard_at_first: Time,
    /// It gets no new data until a packet arrives on it.
    pub is_stale: bool,
}

impl SubflowQueue {
    /// Adds data at the end.
    pub fn push(&mut self, data: u32) {
        self.segments += 1;
        match self.ranges.back_mut() {
            Some(last) if last.end == data => last.end += 1,
            _ => self.ranges.push_back(data..data + 1),
        }
    }

    /// Takes out the first.
    pub fn take(&mut self) -> Option<u32> {
        let first = self.ranges.front_mut()?;
        let data = first.next();
        if first.start == first.end {
            self.ranges.pop_front();
        }
        self.segments -= 1;
        data
    }

    pub fn is_empty(&self) -> bool {
        self.segments == 0
    }

    /// Number of segments in it.
    pub fn segments(&self) -> u32 {
        self.segments
    }

    /// It counts its segments, all of which have been taken from the connection's data, of which `taken` have.
    ///
    /// # Errors
    /// What does not hold.
    #[cfg(feature = "checks")]
    pub fn check(&self, taken: u32) -> Result<(), String> {
        let counted: usize = self.ranges.iter().map(Range::len).sum();
        if counted != self.segments as usize {
            return Err(format!("{counted} in its queue, counted {}", self.segments));
        }
        if self
            .ranges
            .iter()
            .any(|range| range.is_empty() || range.end > taken)
        {
            return Err(format!("{:?} in its queue, {taken} taken", self.ranges));
        }
        Ok(())
    }

    /// Its data in order.
    pub fn data(&self) -> impl Iterator<Item = u32> {
        self.ranges.iter().cloned().flatten()
    }
}

/// The queues of a connection whose subflows have some.
#[derive(Debug)]
pub(crate) struct SubflowQueues {
    /// One for each subflow.
    pub of: Box<[SubflowQueue]>,
    /// Whether all new data goes through them: [`SegmentScheduler::QueuedBytes`].
    pub take_new_data: bool,
    /// With that scheduler: how much data the application has written.
    pub written: u32,
    /// The timer for sending data again on another subflow, with [`Reinject::Timer`].
    pub timer: Option<ReinjectionTimer>,
}

impl SubflowQueues {
    /// Those of a connection with this number of subflows, if it needs some. A single subflow needs none: all data is for it.
    pub fn new(config: &Config, subflows: u32) -> Option<Box<SubflowQueues>> {
        let take_new_data = config.scheduler == SegmentScheduler::QueuedBytes;
        let has_timer = config.reinjection == Reinject::Timer;
        (subflows > 1 && (take_new_data || has_timer)).then(|| {
            Box::new(SubflowQueues {
                of: vec![SubflowQueue::default(); subflows as usize].into(),
                take_new_data,
                written: 0,
                timer: has_timer.then(ReinjectionTimer::default),
            })
        })
    }

    pub fn queue(&mut self, number: SubflowId) -> &mut SubflowQueue {
        &mut self.of[number.0 as usize]
    }
}

impl Connection {
    /// Whether there is data that a subflow may send: in its queue, if it has one, or not yet given to any.
    pub fn has_data_for(&self, number: SubflowId) -> bool {
        match &self.queues {
            None => self.has_data(),
            Some(queues) => {
                !queues.of[number.0 as usize].is_empty()
                    || (!queues.take_new_data && self.has_data())
            }
        }
    }

    /// Takes the data that a subflow sends next, if there is any.
    pub fn take_data_for(&mut self, number: SubflowId) -> Option<u32> {
        if let Some(queues) = &mut self.queues {
            let taken = queues.queue(number).take();
            if taken.is_some() || queues.take_new_data {
                return taken;
            }
        }
        self.take_data()
    }

    /// The data that [`Connection::take_data_for`] will take, unless that has been delivered meanwhile.
    pub fn next_data_for(&self, number: SubflowId) -> u32 {
        let queues = self.queues.as_ref();
        let queued = queues.and_then(|queues| queues.of[number.0 as usize].data().next());
        let next = queued.or_else(|| self.reinjection.first());
        next.unwrap_or(self.next_data)
    }

    /// Whether a window, and not a lack of data, is what last ended sending on a subflow.
    #[cold]
    #[inline(never)]
    pub fn was_limited_by_window(&self, number: SubflowId) -> bool {
        match &self.queues {
            Some(queues) if queues.take_new_data => queues.of[number.0 as usize].window_limited,
            _ => self.window_limited,
        }
    }

    /// A packet has arrived on a subflow, which revives it if it was stale.
    pub fn note_packet(&mut self, number: SubflowId, now: Time) {
        let Some(queues) = &mut self.queues else {
            return;
        };
        let queue = queues.queue(number);
        queue.heard = now;
        if std::mem::take(&mut queue.is_stale) {
            queue.silences = 0;
            if self.paths[number.0 as usize].state == PathState::Failed {
                self.change(number, Change::Recovered);
            }
        }
    }

    /// All that a subflow holds, sent or not, is to be sent again on others. The subflow keeps it too: TCP does not take back
    /// what it was given.
    pub fn reinject_all_of(&mut self, sender: &mut Sender) {
        let data_acked = self.data_acked;
        let queues = self.queues.as_ref();
        let queued = queues.map(|queues| queues.of[sender.number.0 as usize].data());
        let all = sender
            .board
            .unacknowledged_data()
            .chain(queued.into_iter().flatten());
        let undelivered = all.filter(|&data| data >= data_acked);
        sender.reinjected += self.reinjection.add(undelivered);
    }
}

impl Sending {
    /// Gives new data to subflows, and sends what their windows allow of what they have. Returns whether all data goes through
    /// their queues, so that nothing else is left to send.
    #[cold]
    #[inline(never)]
    pub(super) fn send_queued(&mut self, place: u32, now: Time, out: &mut impl Output) -> bool {
        let connection = &self.connections[place as usize];
        let (first, count) = (connection.first, connection.count());
        loop {
            let connection = &mut self.connections[place as usize];
            let senders = &self.senders[first as usize..(first + count) as usize];
            let take_new_data = connection.give_to_subflows(senders);
            let mut buffers_grow = false;
            for index in first..first + count {
                self.send_lost_in_time(place, index, now, out);
                let window_limited = self.send_queue(index, now, out);
                let number = SubflowId(index - first);
                let connection = &mut self.connections[place as usize];
                let sender = &self.senders[index as usize];
                // Linux does not enlarge a send buffer that has filled the window (tcp_should_expand_sndbuf).
                let has_room = sender.room(&connection.paths[number.0 as usize]) > 0;
                if sender.phase == Phase::Open && has_room {
                    buffers_grow |= take_new_data && connection.grow_send_buffer(number);
                }
                if let Some(queues) = &mut connection.queues {
                    queues.queue(number).window_limited = window_limited;
                }
            }
            if !buffers_grow {
                self.wait_for_time(place, now, out);
                return take_new_data;
            }
        }
    }

    /// Sends what a subflow's window allows of its queue. Returns whether the window, and not a lack of data, ends that.
    fn send_queue(&mut self, index: u32, now: Time, out: &mut impl Output) -> bool {
        let place = self.senders[index as usize].connection;
        loop {
            let sender = &self.senders[index as usize];
            let number = sender.number;
            let connection = &mut self.connections[place as usize];
            let Some(queues) = &mut connection.queues else {
                return false;
            };
            let path = &connection.paths[number.0 as usize];
            if queues.queue(number).is_empty() {
                return path.is_active() && (sender.board.lost() > 0 || sender.room(path) == 0);
            }
            // A subflow that its controller suspends gets no new data, but sends what it has: no other one would.
            if sender.phase != Phase::Open || !may_send_given(connection, path, sender, now) {
                let window_limited = sender.room_in_port(connection, path, now) > 0;
                if window_limited && connection.sends_bundles {
                    self.note_deferrals(place, now);
                }
                return window_limited;
            }
            for _ in 0..sender.next_bundle(connection, path) {
                if !self.has_room(place, index) {
                    break; // after idle time the first packet may find a smaller window
                }
                if self.is_refused(index, now, out) {
                    return false;
                }
                let connection = &mut self.connections[place as usize];
                let queues = connection.queues.as_ref();
                if queues.is_none_or(|queues| queues.of[number.0 as usize].is_empty()) {
                    break; // what no subflow has been given is not for this one alone
                }
                if let Some(data) = connection.take_data_for(number) {
                    self.send_new(index, data, now, out);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_gives_out_what_it_was_given_in_order() {
        let mut queue = SubflowQueue::default();
        assert_eq!((queue.take(), queue.is_empty()), (None, true));
        let given = [5, 6, 7, 2, 3, 9, 4, 5];
        given.into_iter().for_each(|data| queue.push(data));
        assert_eq!(queue.segments(), 8);
        assert_eq!(queue.data().collect::<Vec<_>>(), given);
        let taken: Vec<u32> = std::iter::from_fn(|| queue.take()).collect();
        assert_eq!((taken.as_slice(), queue.segments()), (&given[..], 0));
    }
}
