//! Packets on links from one region to another.

use crate::packet::{Header, PacketContent};
use crate::places::PortId;
use pathweave_units::Time;

/// Packets on their way from one region to another, in the order in which they left.
///
/// A link's own region counts a packet until it arrives; what it carries is in the region at the link's end, which has
/// it in time.
#[derive(Clone, Debug)]
pub struct Crossings<S: PacketContent, L> {
    packets: Vec<Crossing<S, L>>,
    /// Of those packets that have some, in their order.
    options: Vec<S::Options>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossing<S, L> {
    /// Where it arrives there.
    pub inlet: PortId,
    /// When the port had sent it.
    pub departure: Time,
    pub header: Header,
    pub label: L,
    pub content: S,
}

impl<S: PacketContent, L> Default for Crossings<S, L> {
    fn default() -> Crossings<S, L> {
        Crossings {
            packets: Vec::new(),
            options: Vec::new(),
        }
    }
}

impl<S: PacketContent, L> Crossings<S, L> {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Moves all packets of another list behind its own.
    pub fn append(&mut self, other: &mut Crossings<S, L>) {
        self.packets.append(&mut other.packets);
        self.options.append(&mut other.options);
    }

    /// Adds a packet, and its options if it has some.
    #[inline]
    pub(crate) fn push(&mut self, packet: Crossing<S, L>, options: Option<&S::Options>) {
        self.packets.push(packet);
        self.options.extend(options);
    }

    /// Takes all packets out; each comes with its options if it has some.
    #[inline]
    pub(crate) fn drain(&mut self, mut to: impl FnMut(Crossing<S, L>, &S::Options)) {
        let mut options = self.options.drain(..);
        for packet in self.packets.drain(..) {
            let own = if packet.content.has_options() {
                options.next().unwrap_or_default()
            } else {
                S::Options::default()
            };
            to(packet, &own);
        }
    }
}
