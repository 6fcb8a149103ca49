//! Packets and the arena they live in.

use crate::forwarding::{FEEDBACK as FEEDBACK_POSITION, LOST};

/// What the network reads and writes of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Where it is on its route: a position in [`crate::Routes`].
    pub(crate) position: u32,
    /// Bytes on the wire.
    pub size: u16,
    flags: u8,
}

const ECN_CAPABLE: u8 = 1;
const CONGESTION_EXPERIENCED: u8 = 2;
const PROTECTED: u8 = 4;
const FEEDBACK: u8 = 8;

impl Header {
    /// A header for a packet of `size` bytes on the wire.
    #[inline]
    pub fn new(size: u16, ecn_capable: bool) -> Header {
        Header {
            position: 0,
            size,
            flags: if ecn_capable { ECN_CAPABLE } else { 0 },
        }
    }
    /// The same, never dropped by a full queue and never marked: for handshakes that a published
    /// code base does not let fail.
    #[inline]
    pub fn protected(self) -> Header {
        Header {
            flags: self.flags | PROTECTED,
            ..self
        }
    }
    /// What switches tell each other: never dropped by a full queue, but lost where links lose packets.
    pub(crate) fn feedback(size: u16) -> Header {
        Header {
            position: FEEDBACK_POSITION,
            size,
            flags: FEEDBACK,
        }
    }
    pub(crate) fn is_feedback(&self) -> bool {
        self.flags & FEEDBACK != 0
    }
    #[inline]
    pub(crate) fn at(self, position: u32) -> Header {
        Header { position, ..self }
    }
    /// Whether it may be marked (ECT).
    #[inline]
    pub fn ecn_capable(&self) -> bool {
        self.flags & ECN_CAPABLE != 0
    }
    /// Whether it has been marked (CE).
    #[inline]
    pub fn congestion_experienced(&self) -> bool {
        self.flags & CONGESTION_EXPERIENCED != 0
    }
    #[inline]
    pub(crate) fn set_congestion_experienced(&mut self) {
        self.flags |= CONGESTION_EXPERIENCED;
    }
    /// Its present link will lose it.
    pub(crate) fn lose(&mut self) {
        self.position = LOST;
    }
    pub(crate) fn is_lost(&self) -> bool {
        self.position == LOST
    }
    #[inline]
    pub(crate) fn is_protected(&self) -> bool {
        self.flags & PROTECTED != 0
    }
}

/// A packet: what the network needs, and what the transport put in.
#[derive(Clone, Copy, Debug)]
pub struct Packet<S, L> {
    /// The network's part.
    pub header: Header,
    /// What switches that take part in congestion control read and write; nothing where there are none.
    pub label: L,
    /// The transport's part.
    pub segment: S,
}

/// A packet's place in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketId(pub(crate) u32);

/// All packets in the network; the places of those that left are used again.
#[derive(Clone, Debug)]
pub struct Packets<S, L> {
    packets: Vec<Packet<S, L>>,
    free: Vec<u32>,
}

impl<S: Copy, L: Copy> Packets<S, L> {
    pub(crate) fn new() -> Packets<S, L> {
        Packets {
            packets: Vec::new(),
            free: Vec::new(),
        }
    }
    #[inline]
    pub(crate) fn insert(&mut self, packet: Packet<S, L>) -> PacketId {
        match self.free.pop() {
            Some(place) => {
                self.packets[place as usize] = packet;
                PacketId(place)
            }
            None => {
                self.packets.push(packet);
                PacketId(self.packets.len() as u32 - 1)
            }
        }
    }
    #[inline]
    pub(crate) fn remove(&mut self, id: PacketId) -> Packet<S, L> {
        self.free.push(id.0);
        self.packets[id.0 as usize]
    }
    /// What ports see of a packet.
    #[inline]
    pub(crate) fn visible(&mut self, id: PacketId) -> (&mut Header, &mut L) {
        let packet = &mut self.packets[id.0 as usize];
        (&mut packet.header, &mut packet.label)
    }
    /// Number of packets in the network.
    pub fn in_network(&self) -> usize {
        self.packets.len() - self.free.len()
    }
}
