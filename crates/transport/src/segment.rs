//! What a packet carries for the transport.

use crate::ends::{End, ReceivingSubflow, SendingSubflow};
use pathweave_units::Time;

/// The kind of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
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

/// Room for the blocks of an acknowledgement. [`Segment::sack_blocks`] says how many of them are in use.
pub type SackBlocks = [SackBlock; SACK_BLOCKS];

/// The blocks of a segment that has none.
pub const NO_BLOCKS: &SackBlocks = &[SackBlock { start: 0, end: 0 }; SACK_BLOCKS];

/// The transport's part of a packet, but for the blocks of a selective acknowledgement, which few packets have:
/// whoever carries it carries those beside it if [`Segment::has_sack_blocks`]. Segments of a subflow are numbered
/// from zero, and a connection's data likewise, one number a packet.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Segment {
    /// The place of the half that it goes to: a receiving one for data and SYNs, a sending one for
    /// acknowledgements and SYN-ACKs.
    pub(crate) to: u32,
    /// Data: its number on the subflow. Acknowledgement: the lowest number not yet received. Handshake: the number of
    /// exchanges before this one.
    pub(crate) number: u32,
    /// Data: its number on the connection. Acknowledgement: the lowest not yet delivered in order.
    pub(crate) data_number: u32,
    /// What it is.
    pub kind: Kind,
    pub(crate) flags: Flags,
    /// Acknowledgement: how many marks it echoes.
    pub(crate) ce_echo: u8,
    /// For whoever carries it: where the half is that it goes to. The transport leaves it at zero.
    pub region: u8,
    /// When the data packet, or the SYN, was sent; an acknowledgement returns it, of the last packet that
    /// it covers.
    pub(crate) sent: Time,
    /// Acknowledgement: when the first packet that it covers was sent.
    pub(crate) first_sent: Time,
}

const _: () = assert!(size_of::<Segment>() == 32, "two segments fill a cache line");

/// Two bits, and the number of blocks in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags(u8);

/// Set where the first block is a D-SACK (RFC 2883).
const DSACK: u8 = 8;

impl Flags {
    /// `marked` is of data that it is the connection's last, and of an acknowledgement that `sent` may serve as
    /// an RTT sample.
    #[inline(always)]
    pub fn new(marked: bool, sack_count: u8) -> Flags {
        Flags(u8::from(marked) | sack_count << 1)
    }

    /// The same for an acknowledgement whose first block is a D-SACK.
    pub fn with_dsack(self) -> Flags {
        Flags(self.0 | DSACK)
    }
}

impl Segment {
    /// A data segment that is sent now.
    #[inline(always)]
    pub(crate) fn data(
        to: u32,
        (number, data_number): (u32, u32),
        is_last: bool,
        now: Time,
    ) -> Segment {
        Segment {
            to,
            number,
            data_number,
            kind: Kind::Data,
            flags: Flags::new(is_last, 0),
            ce_echo: 0,
            region: 0,
            sent: now,
            first_sent: now,
        }
    }

    /// A SYN that was sent at this time, or the SYN-ACK that returns its time.
    pub(crate) fn of_handshake(to: u32, kind: Kind, sent: Time) -> Segment {
        Segment {
            to,
            kind,
            sent,
            first_sent: sent,
            ..Segment::default()
        }
    }

    /// Another one like it: for a function that is called seldom, so that the first can stay in registers.
    #[inline(always)]
    pub fn copy(&self) -> Segment {
        *self
    }

    /// Where it goes.
    #[inline(always)]
    pub fn destination(&self) -> End {
        match self.kind {
            Kind::Data | Kind::Syn => End::Receiving(ReceivingSubflow(self.to)),
            Kind::Ack | Kind::SynAck => End::Sending(SendingSubflow(self.to)),
        }
    }

    /// Data: whether it is the connection's last.
    #[inline(always)]
    pub(crate) fn is_last(&self) -> bool {
        self.flags.0 & 1 != 0
    }

    /// Acknowledgement: whether `sent` may serve as an RTT sample.
    #[inline(always)]
    pub(crate) fn gives_rtt_sample(&self) -> bool {
        self.flags.0 & 1 != 0
    }

    /// Data: its number on the subflow. Acknowledgement: the lowest number not yet received.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Acknowledgement: how many marks it echoes.
    pub fn ce_echo(&self) -> u8 {
        self.ce_echo
    }

    /// Whether blocks go with it.
    #[inline(always)]
    pub fn has_sack_blocks(&self) -> bool {
        self.flags.0 > 1
    }

    /// Acknowledgement: the blocks in use of those that go with it, the latest first.
    pub fn sack_blocks<'a>(&self, blocks: &'a SackBlocks) -> &'a [SackBlock] {
        &blocks[..usize::from((self.flags.0 & !DSACK) >> 1)]
    }

    /// Acknowledgement: whether the first block is a D-SACK, which reports a duplicate segment (RFC 2883).
    #[inline(always)]
    pub(crate) fn has_dsack(&self) -> bool {
        self.flags.0 & DSACK != 0
    }
}
