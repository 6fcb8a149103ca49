//! What an endpoint asks of the network and the clock, and by which names.

use crate::ends::{End, ReceivingId, ReceivingSubflow, SendingId, SendingSubflow};
use crate::segment::{SackBlocks, Segment};
use pathweave_control::Feedback;
use pathweave_units::Time;

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

/// What a timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TimerKind {
    /// The sender's retransmission timer.
    Retransmission,
    /// The receiver's timer for a delayed acknowledgement.
    DelayedAck,
    /// The subflow opens.
    Open,
    /// The next packet of a paced subflow may leave.
    Pace,
    /// A packet of a subflow has left its host's port, and the next one may follow.
    Port,
    /// The connection's timer for sending data again on another subflow; its first subflow has it.
    Reinjection,
    /// The receiver's timer for the end of a bundle.
    Gathering,
    /// The connection's application writes; its first subflow has it.
    Write,
}

impl TimerKind {
    /// Whether the timer is a receiving half's.
    #[inline]
    pub fn is_of_receiver(self) -> bool {
        matches!(self, TimerKind::DelayedAck | TimerKind::Gathering)
    }
}

/// A timer of a subflow. Flow, subflow and kind name it; the place says where it is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timer {
    /// The flow's number.
    pub flow: u32,
    /// The subflow's number in the flow.
    pub subflow: u16,
    /// What it is for.
    pub kind: TimerKind,
    /// The place of the subflow's half: the receiving one of a delayed acknowledgement or of a bundle, and else the
    /// sending one.
    pub(crate) place: u32,
}

impl Timer {
    /// The end of the subflow that is woken.
    pub fn end(&self) -> End {
        match self.kind {
            TimerKind::DelayedAck | TimerKind::Gathering => {
                End::Receiving(ReceivingSubflow(self.place))
            }
            _ => End::Sending(SendingSubflow(self.place)),
        }
    }

    /// A timer of the first subflow of a flow that no endpoint has: tests of a schedule need no endpoints.
    #[cfg(feature = "checks")]
    pub fn without_endpoint(flow: u32, kind: TimerKind) -> Timer {
        Timer {
            flow,
            subflow: 0,
            kind,
            place: flow,
        }
    }
}

/// What an endpoint wants done.
pub trait Output {
    /// The same output for as long as a call takes.
    type Lent<'a>: Output
    where
        Self: 'a;

    /// Sends a packet from this end of a subflow now. The blocks go with it if the segment says that it has some.
    fn send(&mut self, from: End, shape: PacketShape, segment: Segment, blocks: &SackBlocks);
    /// When the host's port will have sent the packet that this end sent last.
    fn leaves_at(&self, _from: End) -> Time {
        Time::ZERO
    }
    /// Whether the host's port has no place for a packet of this many bytes.
    fn port_is_full(&mut self, _from: End, _size: u16) -> bool {
        false
    }
    /// Wakes the half whose timer this is. Timers are not taken back: one that is no longer wanted
    /// does nothing when it fires.
    fn wake(&mut self, timer: Timer, at: Time);
    /// A connection's last byte has been delivered in order.
    fn finished(&mut self, connection: ReceivingId);
    /// A subflow of a connection has failed, or has timed out again since.
    fn failed(&mut self, connection: SendingId);
    /// Everything that a connection had to send has been acknowledged: its sending half does nothing more.
    fn closed(&mut self, connection: SendingId);
    /// For a function that is called seldom by one that is called for every packet: the caller's own can then stay in
    /// registers, because no pointer to it is handed on.
    fn lend(&mut self) -> Self::Lent<'_>;
}

impl<O: Output> Output for &mut O {
    type Lent<'a>
        = O::Lent<'a>
    where
        Self: 'a;

    fn send(&mut self, from: End, shape: PacketShape, segment: Segment, blocks: &SackBlocks) {
        (**self).send(from, shape, segment, blocks);
    }
    fn leaves_at(&self, from: End) -> Time {
        (**self).leaves_at(from)
    }
    fn port_is_full(&mut self, from: End, size: u16) -> bool {
        (**self).port_is_full(from, size)
    }
    fn wake(&mut self, timer: Timer, at: Time) {
        (**self).wake(timer, at);
    }
    fn finished(&mut self, connection: ReceivingId) {
        (**self).finished(connection);
    }
    fn failed(&mut self, connection: SendingId) {
        (**self).failed(connection);
    }
    fn closed(&mut self, connection: SendingId) {
        (**self).closed(connection);
    }
    fn lend(&mut self) -> Self::Lent<'_> {
        (**self).lend()
    }
}
