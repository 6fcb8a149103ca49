//! All connections of a run: packets and timers go in, packets and timers come out.

mod acknowledgements;
#[cfg(feature = "checks")]
mod checks;
mod data;
mod look_ahead;
mod opening;
mod retransmission;
mod sending;
mod view;

#[cfg(test)]
mod cut_tests;
#[cfg(test)]
mod failure_tests;
#[cfg(test)]
mod packet_tests;
#[cfg(test)]
mod tests;

pub use view::SubflowView;

use crate::Config;
use crate::connection::{Connection, Opening};
use crate::receiver::Receiver;
use crate::segment::{Kind, Segment};
use crate::sender::{Phase, Sender};
use pathweave_control::{Feedback, SubflowId};
use pathweave_units::Time;

/// A connection's place among all connections; used again when it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u32);

/// A subflow's place among all subflows; used again when its connection is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubflowIndex(pub u32);

/// Which way a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the connection's source to its destination: data and SYNs.
    Forward,
    /// Back: acknowledgements and SYN-ACKs.
    Back,
}

/// What the network needs to know of a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketShape {
    /// Bytes on the wire.
    pub size: u16,
    /// Whether it may be marked.
    pub ecn_capable: bool,
    /// Whether it must not be lost.
    pub protected: bool,
    /// The congestion field that switches may change.
    pub feedback: Feedback,
}

/// What the network tells of a packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrived {
    /// Bytes on the wire.
    pub size: u16,
    /// Whether it was marked.
    pub congestion_experienced: bool,
    /// The congestion field as the switches left it.
    pub feedback: Feedback,
}

/// A timer of a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// The sender's retransmission timer.
    Retransmission(SubflowIndex),
    /// The receiver's timer for a delayed acknowledgement.
    DelayedAck(SubflowIndex),
    /// The subflow opens.
    Open(SubflowIndex),
    /// The next packet of a paced subflow may leave.
    Pace(SubflowIndex),
}

/// What an endpoint wants done.
pub trait Output {
    /// Sends a packet now.
    fn send(
        &mut self,
        subflow: SubflowIndex,
        direction: Direction,
        shape: PacketShape,
        segment: Segment,
    );
    /// Wakes the endpoints for a timer. Timers are not taken back: one that is no longer wanted
    /// does nothing when it fires.
    fn wake(&mut self, timer: Timer, at: Time);
    /// A connection's last byte has been delivered in order.
    fn finished(&mut self, connection: ConnectionId);
    /// A subflow has failed, or has timed out again since.
    fn failed(&mut self, connection: ConnectionId, subflow: SubflowIndex);
    /// Nothing of a finished connection is left in hosts or network: its place may be used again
    /// once [`Endpoints::release`] has been called.
    fn gone(&mut self, connection: ConnectionId);
}

/// Both ends of all connections.
#[derive(Default)]
pub struct Endpoints {
    connections: Vec<Connection>,
    unused_connections: Vec<u32>,
    senders: Vec<Sender>,
    receivers: Vec<Receiver>,
    /// First subflows of unused blocks, by the blocks' length.
    unused_blocks: Vec<Vec<u32>>,
}

impl Endpoints {
    /// Makes room for a connection; it begins with [`Endpoints::start`].
    ///
    /// # Panics
    /// When the connection is to carry more than [`Config::largest_flow`].
    pub fn add(&mut self, opening: Opening) -> ConnectionId {
        let count = opening.subflows;
        let place = self
            .unused_connections
            .pop()
            .unwrap_or(self.connections.len() as u32);
        let first = self.take_block(count, place, &opening.config);
        if let Some(scatter) = opening.scatter {
            self.senders[first as usize].duplicate_threshold = scatter.duplicate_threshold;
        }
        let connection = Connection::new(opening, first);
        if place as usize == self.connections.len() {
            self.connections.push(connection);
        } else {
            self.connections[place as usize] = connection;
        }
        ConnectionId(place)
    }

    /// Starts a connection: its first packet leaves now, or when its first subflow is to open.
    pub fn start(&mut self, id: ConnectionId, now: Time, out: &mut impl Output) {
        let connection = &self.connections[id.0 as usize];
        let first = connection.first;
        let at = connection.subflow_starts.first().copied().unwrap_or(now);
        self.open_subflow_at(first, at, now, out);
    }

    fn take_block(&mut self, count: u32, connection: u32, config: &Config) -> u32 {
        let unused = self
            .unused_blocks
            .get_mut(count as usize)
            .and_then(Vec::pop);
        let first = unused.unwrap_or(self.senders.len() as u32);
        for number in 0..count {
            let index = (first + number) as usize;
            let id = SubflowId(number);
            if index == self.senders.len() {
                self.senders.push(Sender::new(connection, id, config));
                self.receivers.push(Receiver::default());
            } else {
                self.senders[index].reset(connection, id, config);
            }
            self.receivers[index].reset(config);
        }
        first
    }

    /// Gives the places of a connection that is gone back.
    pub fn release(&mut self, id: ConnectionId) {
        let connection = &self.connections[id.0 as usize];
        let count = connection.paths.len();
        if self.unused_blocks.len() <= count {
            self.unused_blocks.resize_with(count + 1, Vec::new);
        }
        self.unused_blocks[count].push(connection.first);
        self.unused_connections.push(id.0);
    }

    /// Ends an unlimited flow, or cuts a finite one short: no new data is sent from now on.
    pub fn stop(&mut self, id: ConnectionId, out: &mut impl Output) {
        let connection = &mut self.connections[id.0 as usize];
        if connection.closed || connection.next_data >= connection.total {
            return;
        }
        connection.total = connection.next_data;
        connection.last_payload = connection.full_payload(connection.total.saturating_sub(1));
        self.finish_if_delivered(id.0, out);
        self.close_if_acknowledged(id.0, out);
    }

    /// A packet arrived at its host, with what the network made of its shape.
    #[inline]
    pub fn on_packet(
        &mut self,
        segment: &Segment,
        arrived: Arrived,
        now: Time,
        out: &mut impl Output,
    ) {
        let index = segment.subflow.0;
        let sender = &mut self.senders[index as usize];
        sender.in_network -= 1;
        if sender.phase == Phase::Closed {
            self.leave_if_empty(index, out);
            return;
        }
        match segment.kind {
            Kind::Data => self.on_data(index, segment, arrived, now, out),
            Kind::Ack => {
                self.on_ack(index, segment, arrived.feedback, now, out);
                #[cfg(feature = "checks")]
                self.check_connection(index);
            }
            Kind::Syn => self.on_syn(index, segment, out),
            Kind::SynAck => self.on_syn_ack(index, segment, now, out),
        }
    }

    /// The network lost a packet.
    pub fn on_lost(&mut self, segment: &Segment, out: &mut impl Output) {
        let sender = &mut self.senders[segment.subflow.0 as usize];
        sender.in_network -= 1;
        if sender.phase == Phase::Closed {
            self.leave_if_empty(segment.subflow.0, out);
        }
    }

    /// A timer fired.
    pub fn on_timer(&mut self, timer: Timer, now: Time, out: &mut impl Output) {
        match timer {
            Timer::Retransmission(subflow) => self.on_retransmission_timer(subflow.0, now, out),
            Timer::DelayedAck(subflow) => self.on_ack_timer(subflow.0, now, out),
            Timer::Pace(subflow) => self.on_pace_timer(subflow.0, now, out),
            Timer::Open(subflow) => {
                let sender = &self.senders[subflow.0 as usize];
                // Otherwise the timer is of an earlier connection.
                if sender.phase == Phase::Unopened && sender.opened == now {
                    self.open_subflow(subflow.0, now, out);
                }
            }
        }
    }
}
