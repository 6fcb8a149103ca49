//! Both halves of connections together, for who plays both ends.

#[cfg(test)]
mod bundle_tests;
#[cfg(test)]
mod cut_tests;
#[cfg(test)]
mod failure_tests;
#[cfg(test)]
mod gather_tests;
#[cfg(test)]
mod half_tests;
#[cfg(test)]
mod idle_tests;
#[cfg(test)]
mod multipath;
#[cfg(test)]
mod paced_tests;
#[cfg(test)]
mod packet_tests;
#[cfg(test)]
mod port_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod timeout_tests;
#[cfg(test)]
mod upstream_tests;

use crate::ends::{End, ReceivingId, SendingId, SendingSubflow};
use crate::output::{Arrived, Output, Timer};
use crate::receiving::Receiving;
use crate::segment::{SackBlocks, Segment};
use crate::sending::{Opening, Sending, SendingView};
use pathweave_units::{Bytes, Time};

/// Opens both halves of a connection and tells each where the other is.
///
/// # Panics
/// When the connection is to carry more than [`crate::Config::largest_flow`].
pub fn open(
    sending: &mut Sending,
    receiving: &mut Receiving,
    opening: Opening,
) -> (SendingId, ReceivingId) {
    let destination = receiving.open(opening.reception());
    let mut to = receiving.subflows(destination);
    let source = sending.open(opening, to.next().unwrap_or_default());
    let mut back = sending.subflows(source);
    receiving.answer(destination, back.next().unwrap_or_default());
    (source, destination)
}

/// A connection of a pair; its number is that of its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionId(pub u32);

/// Both halves of all connections.
#[derive(Default)]
pub struct Endpoints {
    sending: Sending,
    receiving: Receiving,
    /// The halves of each connection.
    halves: Vec<(SendingId, ReceivingId)>,
}

impl Endpoints {
    /// Makes room for a connection; it begins with [`Endpoints::start`]. Connections are numbered from
    /// zero, whatever number the opening has.
    ///
    /// # Panics
    /// When the connection is to carry more than [`crate::Config::largest_flow`].
    pub fn add(&mut self, opening: Opening) -> ConnectionId {
        let flow = self.halves.len() as u32;
        let opening = Opening { flow, ..opening };
        let halves = open(&mut self.sending, &mut self.receiving, opening);
        self.halves.push(halves);
        ConnectionId(flow)
    }

    /// Starts a connection: its first packet leaves now, or when its first subflow is to open.
    pub fn start(&mut self, id: ConnectionId, now: Time, out: &mut impl Output) {
        let (source, _) = self.halves[id.0 as usize];
        self.sending.start(source, now, out);
    }

    /// Ends an unlimited flow, or cuts a finite one short; its destination hears of it at once.
    pub fn stop(&mut self, id: ConnectionId, out: &mut impl Output) {
        let (source, destination) = self.halves[id.0 as usize];
        if let Some(stopped) = self.sending.stop(source, out) {
            self.receiving.learn_end(destination, stopped, out);
        }
    }

    /// A packet arrived at its host, with what the network made of its shape. The blocks go with it if the segment says
    /// that it has some.
    pub fn on_packet(
        &mut self,
        segment: &Segment,
        blocks: &SackBlocks,
        arrived: Arrived,
        now: Time,
        out: &mut impl Output,
    ) {
        match segment.destination() {
            End::Sending(_) => self.sending.on_packet(*segment, blocks, arrived, now, out),
            End::Receiving(_) => self.receiving.on_packet(*segment, arrived, now, out),
        }
    }

    /// The network lost a packet.
    pub fn on_lost(&mut self, segment: &Segment) {
        match segment.destination() {
            End::Sending(_) => self.sending.on_lost(segment),
            End::Receiving(_) => self.receiving.on_lost(segment),
        }
    }

    /// A timer fired.
    pub fn on_timer(&mut self, timer: Timer, now: Time, out: &mut impl Output) {
        if timer.kind.is_of_receiver() {
            self.receiving.on_timer(timer, now, out);
        } else {
            self.sending.on_timer(timer, now, out);
        }
    }

    /// The sending halves of a connection's subflows.
    pub fn subflows(&self, id: ConnectionId) -> impl Iterator<Item = SendingSubflow> + use<> {
        self.sending.subflows(self.halves[id.0 as usize].0)
    }

    /// Counters and congestion state of a subflow's sending half.
    pub fn subflow(&self, subflow: SendingSubflow) -> SendingView<'_> {
        self.sending.subflow(subflow)
    }

    /// Payload delivered in order so far.
    pub fn delivered(&self, id: ConnectionId) -> Bytes {
        self.receiving.delivered(self.halves[id.0 as usize].1)
    }

    /// Whether a connection's data was delivered once and in order, as far as its counters tell.
    pub fn is_consistent(&self, id: ConnectionId) -> bool {
        let (source, destination) = self.halves[id.0 as usize];
        self.receiving.is_consistent(destination)
            && self
                .sending
                .agrees_with(source, &self.receiving, destination)
    }
}
