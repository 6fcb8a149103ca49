//! The receiving halves of connections: data and timers go in, acknowledgements and timers come out.

mod at_once;
mod connection;
mod data;
mod gathering;
mod prefetch;
mod reassembly;
mod subflow;
mod view;

pub use connection::Reception;
pub use view::ReceivingView;

use crate::ends::{End, ReceivingId, ReceivingSubflow, SendingSubflow};
use crate::output::{Arrived, Output, Timer, TimerKind};
use crate::segment::{Kind, Segment};
#[cfg(feature = "checks")]
pub(crate) use at_once::AtOnce;
use connection::Connection;
use pathweave_units::Time;
pub(crate) use subflow::{Acknowledgement, Arrival, Receiver, Taken};

/// What the sending half says of its end when it is told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stopped {
    /// Number of data segments in all.
    pub(crate) total: u32,
    /// Payload of the last of them.
    pub(crate) last_payload: u16,
}

/// The receiving halves of all connections.
#[derive(Default)]
pub struct Receiving {
    pub(super) connections: Vec<Connection>,
    unused_connections: Vec<u32>,
    receivers: Vec<Receiver>,
    /// First subflows of unused blocks, by the blocks' length.
    unused_blocks: Vec<Vec<u32>>,
}

impl Receiving {
    /// Makes room for a connection. Before anything arrives it has to be told whom to answer, by
    /// [`Receiving::answer`].
    pub fn open(&mut self, reception: Reception) -> ReceivingId {
        let place = self
            .unused_connections
            .pop()
            .unwrap_or(self.connections.len() as u32);
        let first = self.take_block(&reception, place);
        let connection = Connection::new(reception, first);
        if place as usize == self.connections.len() {
            self.connections.push(connection);
        } else {
            self.connections[place as usize] = connection;
        }
        ReceivingId(place)
    }

    /// The subflows of a connection's sending half begin at this place.
    pub fn answer(&mut self, id: ReceivingId, SendingSubflow(to): SendingSubflow) {
        let connection = &self.connections[id.0 as usize];
        let block = connection.first as usize..(connection.first + connection.count) as usize;
        for (receiver, to) in self.receivers[block].iter_mut().zip(to..) {
            receiver.to = to;
        }
    }

    fn take_block(&mut self, reception: &Reception, connection: u32) -> u32 {
        let count = reception.subflows;
        let unused = self
            .unused_blocks
            .get_mut(count as usize)
            .and_then(Vec::pop);
        let first = unused.unwrap_or(self.receivers.len() as u32);
        for number in 0..count {
            let index = (first + number) as usize;
            if index == self.receivers.len() {
                self.receivers.push(Receiver::default());
            }
            let receiver = &mut self.receivers[index];
            receiver.reset(&reception.config);
            receiver.connection = connection;
            receiver.number = number as u16;
            receiver.flow = reception.flow;
        }
        first
    }

    /// Gives the places of a connection back. Nothing of it may be in the network.
    pub fn release(&mut self, id: ReceivingId) {
        let connection = &self.connections[id.0 as usize];
        let count = connection.count as usize;
        if self.unused_blocks.len() <= count {
            self.unused_blocks.resize_with(count + 1, Vec::new);
        }
        self.unused_blocks[count].push(connection.first);
        self.unused_connections.push(id.0);
    }

    /// The source has stopped sending.
    pub fn learn_end(&mut self, id: ReceivingId, stopped: Stopped, out: &mut impl Output) {
        let connection = &mut self.connections[id.0 as usize];
        connection.total = stopped.total;
        connection.last_payload = stopped.last_payload;
        self.finish_if_delivered(id.0, out);
    }

    /// A packet arrived at the connection's destination, with what the network made of its shape.
    #[inline(always)]
    pub fn on_packet(
        &mut self,
        segment: Segment,
        arrived: Arrived,
        now: Time,
        out: &mut impl Output,
    ) {
        let index = segment.to;
        let receiver = &mut self.receivers[index as usize];
        receiver.in_network = receiver.in_network.wrapping_sub(1);
        if segment.kind == Kind::Data {
            self.on_data(index, segment, arrived, now, out);
        } else {
            self.on_syn(index, segment.copy(), &mut out.lend());
        }
    }

    /// The network lost a packet on its way to this half.
    pub fn on_lost(&mut self, segment: &Segment) {
        let receiver = &mut self.receivers[segment.to as usize];
        receiver.in_network = receiver.in_network.wrapping_sub(1);
    }

    /// A timer fired.
    pub fn on_timer(&mut self, timer: Timer, now: Time, out: &mut impl Output) {
        debug_assert!(timer.kind.is_of_receiver());
        if self.receivers[timer.place as usize].flow != timer.flow {
            return; // its flow is done
        }
        if timer.kind == TimerKind::Gathering {
            self.on_gathering_timer(timer.place, now, out);
        } else {
            self.on_ack_timer(timer.place, now, out);
        }
    }

    fn end(index: u32) -> End {
        End::Receiving(ReceivingSubflow(index))
    }
}
