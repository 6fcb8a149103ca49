//! What a packet carries for the transport.

use crate::output::{End, ReceivingSubflow, SendingSubflow};
use pathweave_units::Time;

/// The kind of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Asks for a subflow to be opened.
    #[default]
    Syn,
    /// Agrees to it.
    SynAck,
    /// Carries data from the connection's source to its destination.
    Data,
    /// Acknowledges data, the other way.
    Ack,
}

/// A range of segment numbers that a selective acknowledgement reports: `start` up to, and without,
/// `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// First number in the block.
    pub start: u32,
    /// First number after it.
    pub end: u32,
}

/// A number of segments that no connection reaches.
pub(crate) const UNLIMITED: u32 = u32::MAX;

/// Most blocks that one acknowledgement carries: what fits beside a timestamp (RFC 2018).
pub const SACK_BLOCKS: usize = 3;

/// The transport's part of a packet. Segments of a subflow are numbered from zero, and a
/// connection's data likewise, one number a packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Segment {
    /// The place of the half that it goes to: a receiving one for data and SYNs, a sending one for
    /// acknowledgements and SYN-ACKs.
    pub(crate) to: u32,
    /// What it is.
    pub kind: Kind,
    /// Data: the connection's last. Acknowledgement: whether `sent` may serve as an RTT sample.
    pub(crate) flag: bool,
    /// Acknowledgement: how many marks it echoes.
    pub(crate) ce_echo: u8,
    /// Acknowledgement: how many of `sack` are in use.
    pub(crate) sack_count: u8,
    /// Data: its number on the subflow. Acknowledgement: the lowest number not yet received.
    pub(crate) number: u32,
    /// Data: its number on the connection. Acknowledgement: the lowest not yet delivered in order.
    pub(crate) data_number: u32,
    /// When the data packet, or the SYN, was sent; an acknowledgement returns it, of the last packet that
    /// it covers.
    pub(crate) sent: Time,
    /// Acknowledgement: when the first packet that it covers was sent.
    pub(crate) first_sent: Time,
    pub(crate) sack: [SackBlock; SACK_BLOCKS],
}

impl Segment {
    /// Where it goes.
    #[inline]
    pub fn destination(&self) -> End {
        match self.kind {
            Kind::Data | Kind::Syn => End::Receiving(ReceivingSubflow(self.to)),
            Kind::Ack | Kind::SynAck => End::Sending(SendingSubflow(self.to)),
        }
    }

    /// Data: its number on the subflow. Acknowledgement: the lowest number not yet received.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Acknowledgement: how many marks it echoes.
    pub fn ce_echo(&self) -> u8 {
        self.ce_echo
    }

    /// Acknowledgement: the blocks that it reports, the latest first.
    pub fn sack_blocks(&self) -> &[SackBlock] {
        &self.sack[..usize::from(self.sack_count)]
    }
}
