//! What the network knows of a packet, and where the rest of it waits meanwhile.

use crate::packed_route::PackedRoute;

/// What the network reads and writes of a packet: two words that queues hand on by value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    pub(crate) path: PackedRoute,
    /// The packet's number, its bytes on the wire and its flags, from the highest bits to the lowest.
    word: u64,
}

const ECN_CAPABLE: u64 = 1;
const CONGESTION_EXPERIENCED: u64 = 2;
const PROTECTED: u64 = 4;
const FEEDBACK: u64 = 8;
const SIZE_SHIFT: u32 = 8;
const ID_SHIFT: u32 = 32;

impl Header {
    /// A header for a packet of `size` bytes on the wire.
    #[inline]
    pub fn new(size: u16, ecn_capable: bool) -> Header {
        Header {
            path: PackedRoute::default(),
            word: u64::from(size) << SIZE_SHIFT | u64::from(ecn_capable),
        }
    }
    /// The same, never dropped by a full queue and never marked: for handshakes that a published
    /// code base does not let fail.
    #[inline]
    pub fn protected(self) -> Header {
        Header {
            word: self.word | PROTECTED,
            ..self
        }
    }
    /// What switches tell each other: never dropped by a full queue, but lost where links lose packets.
    pub(crate) fn feedback(size: u16) -> Header {
        Header {
            path: PackedRoute::of_feedback(),
            word: u64::from(size) << SIZE_SHIFT | FEEDBACK,
        }
    }
    /// Bytes on the wire.
    #[inline]
    pub fn size(&self) -> u16 {
        (self.word >> SIZE_SHIFT) as u16
    }
    /// The packet's number, which no other has as long as it is in the network.
    #[inline]
    pub(crate) fn id(&self) -> PacketId {
        PacketId((self.word >> ID_SHIFT) as u32)
    }
    #[inline]
    pub(crate) fn with_id(self, PacketId(id): PacketId) -> Header {
        let word = self.word & ((1 << ID_SHIFT) - 1);
        Header {
            word: u64::from(id) << ID_SHIFT | word,
            ..self
        }
    }
    #[inline]
    pub(crate) fn on(self, path: PackedRoute) -> Header {
        Header { path, ..self }
    }
    /// Whether it may be marked (ECT).
    #[inline]
    pub fn ecn_capable(&self) -> bool {
        self.word & ECN_CAPABLE != 0
    }
    /// Whether it has been marked (CE).
    #[inline]
    pub fn congestion_experienced(&self) -> bool {
        self.word & CONGESTION_EXPERIENCED != 0
    }
    /// Whether a queue that is long enough marks it, whatever else it is.
    #[inline]
    pub(crate) fn is_simply_marked(&self) -> bool {
        self.word & (ECN_CAPABLE | PROTECTED | FEEDBACK) == ECN_CAPABLE
    }
    #[inline]
    pub(crate) fn set_congestion_experienced(&mut self) {
        self.word |= CONGESTION_EXPERIENCED;
    }
    /// Its present link will lose it.
    pub(crate) fn lose(&mut self) {
        self.path = PackedRoute::lost();
    }
    #[inline]
    pub(crate) fn is_protected(&self) -> bool {
        self.word & PROTECTED != 0
    }
    pub(crate) fn is_feedback(&self) -> bool {
        self.word & FEEDBACK != 0
    }
    /// Whether a port's average queue sees the packet: those that are always taken are no load that it could answer.
    pub(crate) fn is_averaged(&self) -> bool {
        self.word & (PROTECTED | FEEDBACK) == 0
    }
}

/// A packet's number among those in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketId(u32);

/// What a packet carries, of which the network knows nothing else.
pub trait PacketContent: Copy + Default {
    /// What only some packets carry besides.
    type Options: Copy + Default;

    /// Whether this packet does.
    fn has_options(&self) -> bool;
}

/// What all packets carry in the same way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plain<S>(pub S);

impl<S: Copy + Default> PacketContent for Plain<S> {
    type Options = ();

    #[inline(always)]
    fn has_options(&self) -> bool {
        false
    }
}

/// What fits into half of a cache line does not straddle two.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
pub(crate) struct Slot<S>(pub S);

/// What all packets in the network carry; the places of those that left are used again.
///
/// Queues know only headers. What a packet carries is written when it sets out and read when it arrives.
#[derive(Clone, Debug)]
pub(crate) struct Contents<S: PacketContent> {
    contents: Vec<Slot<S>>,
    /// Of those packets that have some, at the same places; it is no longer than it has to be.
    options: Vec<S::Options>,
    /// Places that are vacant; the one that was vacated last is used next. They do not stand in the places themselves:
    /// whoever takes many at a time would wait for one after the other.
    vacant: Vec<u32>,
}

impl<S: PacketContent> Contents<S> {
    pub fn new() -> Contents<S> {
        Contents {
            contents: Vec::new(),
            options: Vec::new(),
            vacant: Vec::new(),
        }
    }

    /// The options are those of a packet that has some.
    #[inline(always)]
    pub fn insert(&mut self, content: S, options: &S::Options) -> PacketId {
        self.insert_copy(&Slot(content), options)
    }

    /// The same for what is in memory, which is copied as a whole.
    #[inline(always)]
    pub fn insert_copy(&mut self, slot: &Slot<S>, options: &S::Options) -> PacketId {
        let place = match self.vacant.pop() {
            Some(place) => place,
            None => self.make_place(),
        };
        self.contents[place as usize] = *slot;
        if slot.0.has_options() {
            if self.options.len() <= place as usize {
                self.make_room_for_options(place);
            }
            self.options[place as usize] = *options;
        }
        PacketId(place)
    }

    /// The places that this many packets will get are fetched from memory.
    #[inline(always)]
    pub fn prefetch_at_vacant(&self, count: usize) {
        for &place in self.vacant.iter().rev().take(count) {
            std::hint::black_box(self.contents[place as usize].0);
        }
    }

    #[cold]
    #[inline(never)]
    fn make_place(&mut self) -> u32 {
        let place = self.contents.len() as u32;
        self.contents.push(Slot(S::default()));
        place
    }

    #[cold]
    #[inline(never)]
    fn make_room_for_options(&mut self, place: u32) {
        self.options
            .resize(place as usize + 1, S::Options::default());
    }

    #[inline(always)]
    pub fn remove(&mut self, packet: PacketId) -> S {
        self.vacate(packet).0
    }

    /// The place of a packet is vacant from now on; what it carried can still be read there.
    #[inline(always)]
    pub fn vacate(&mut self, PacketId(place): PacketId) -> &Slot<S> {
        self.vacant.push(place);
        &self.contents[place as usize]
    }

    #[inline(always)]
    pub fn get(&self, PacketId(place): PacketId) -> S {
        self.contents[place as usize].0
    }

    /// The options of a packet that has some.
    pub fn options(&self, PacketId(place): PacketId) -> &S::Options {
        &self.options[place as usize]
    }
    /// Number of packets in the network.
    pub fn count(&self) -> usize {
        self.contents.len() - self.vacant.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_keeps_its_parts_apart() {
        let mut header = Header::new(u16::MAX, true).with_id(PacketId(u32::MAX));
        assert_eq!((header.size(), header.id()), (u16::MAX, PacketId(u32::MAX)));
        assert!(header.ecn_capable() && !header.congestion_experienced());
        assert!(!header.is_protected() && !header.is_feedback());
        header.set_congestion_experienced();
        let header = header.protected().with_id(PacketId(3));
        assert_eq!((header.size(), header.id()), (u16::MAX, PacketId(3)));
        assert!(header.congestion_experienced() && header.is_protected());
        assert!(Header::feedback(16).is_feedback() && !Header::feedback(16).ecn_capable());
    }

    #[test]
    fn places_are_used_again_and_counted() {
        let mut contents = Contents::new();
        let mut held = Vec::new();
        let mut places = 0;
        for step in 0..200u32 {
            if step % 5 < 3 || held.is_empty() {
                held.push((contents.insert(Plain(step), &()), step));
            } else {
                let (id, carried) = held.swap_remove(step as usize % held.len());
                assert_eq!(contents.remove(id).0, carried);
            }
            assert_eq!(contents.count(), held.len());
            places = places.max(held.len());
        }
        assert_eq!(contents.contents.len(), places);
        assert!(
            held.iter()
                .all(|&(id, carried)| contents.get(id).0 == carried)
        );
    }
}
