//! The queues of all ports in one piece of memory.

use crate::arrivals::Held;
use crate::packet::Header;
use pathweave_units::Time;

/// A packet in a port or on its wire. Without a label it takes 24 bytes, so that rings take few cache lines. The departure
/// comes first: whoever asks whether the next packet is due usually finds the answer in a line of the packet before.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct Entry<L> {
    /// When it has been sent.
    pub departure: Time,
    pub header: Header,
    pub label: L,
}

const _: () = assert!(size_of::<Entry<()>>() == 24);

/// Where a port's ring lies. Positions in it count up and wrap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ring {
    place: u32,
    /// Its entries, a power of two, less one.
    mask: u32,
}

impl Ring {
    /// The entries that fit.
    #[inline(always)]
    pub fn room(self) -> u32 {
        self.mask + 1
    }
    /// Whether it is much too large for this many. A place comes round once in as many packets as there are places: a ring
    /// that is too large fills the cache with places that nobody needs soon.
    #[inline(always)]
    pub fn is_too_large(self, entries: u32) -> bool {
        self.mask >= SMALLEST && entries * 8 <= self.mask
    }
    /// Whether nothing fits any more when it has this many.
    #[inline(always)]
    pub fn is_full(self, entries: u32) -> bool {
        entries > self.mask
    }
    /// Whether an entry is one of this ring's.
    pub fn holds(self, Held(place): Held) -> bool {
        place.wrapping_sub(self.place) <= self.mask
    }
    #[inline(always)]
    fn place(self, position: u32) -> usize {
        self.place as usize + (position & self.mask) as usize
    }
}

/// Entries of the smallest ring.
const SMALLEST: u32 = 4;

/// Rings in one array. Rings that were outgrown are used again.
#[derive(Clone, Debug)]
pub(super) struct Rings<L> {
    entries: Vec<Entry<L>>,
    /// Places of unused rings, by the logarithm of their size.
    unused: [Vec<u32>; 32],
}

impl<L: Copy + Default> Rings<L> {
    /// The smallest ring for each of this many ports, one after the other.
    pub fn new(ports: u32) -> Rings<L> {
        let entries = (ports * SMALLEST) as usize;
        Rings {
            entries: vec![Entry::default(); entries],
            unused: std::array::from_fn(|_| Vec::new()),
        }
    }

    /// The ring that a port has at first.
    pub fn first(port: u32) -> Ring {
        Ring {
            place: port * SMALLEST,
            mask: SMALLEST - 1,
        }
    }

    /// Where an entry is.
    #[inline(always)]
    pub fn held(&self, ring: Ring, position: u32) -> Held {
        Held(ring.place(position) as u32)
    }

    #[inline(always)]
    pub fn at(&self, Held(place): Held) -> &Entry<L> {
        &self.entries[place as usize]
    }

    #[inline(always)]
    pub fn get(&self, ring: Ring, position: u32) -> &Entry<L> {
        &self.entries[ring.place(position)]
    }

    #[inline(always)]
    pub fn get_mut(&mut self, ring: Ring, position: u32) -> &mut Entry<L> {
        &mut self.entries[ring.place(position)]
    }

    /// A ring of twice the size with the same entries from `from` up to, and without, `to`.
    #[cold]
    #[inline(never)]
    pub fn grow(&mut self, old: Ring, from: u32, to: u32) -> Ring {
        self.replace(old, old.room() * 2, from, to)
    }

    /// A ring of half the size with the same entries, which fit into it.
    #[cold]
    #[inline(never)]
    pub fn shrink(&mut self, old: Ring, from: u32, to: u32) -> Ring {
        self.replace(old, old.room() / 2, from, to)
    }

    fn replace(&mut self, old: Ring, room: u32, from: u32, to: u32) -> Ring {
        let place = self.unused[room.ilog2() as usize].pop();
        let place = place.unwrap_or_else(|| {
            let place = self.entries.len();
            self.entries.resize(place + room as usize, Entry::default());
            u32::try_from(place).expect("fewer than 2^32 packets are held")
        });
        let new = Ring {
            place,
            mask: room - 1,
        };
        let mut position = from;
        while position != to {
            self.entries[new.place(position)] = self.entries[old.place(position)];
            position = position.wrapping_add(1);
        }
        self.unused[old.room().ilog2() as usize].push(old.place);
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    #[test]
    fn rings_keep_their_entries_as_they_grow() {
        let mut rings: Rings<u32> = Rings::new(2);
        let mut own = [Rings::<u32>::first(0), Rings::<u32>::first(1)];
        // Positions wrap on the way.
        let first = u32::MAX - 2;
        for step in 0..100u32 {
            for (port, ring) in (0u32..).zip(&mut own) {
                let position = first.wrapping_add(step);
                if step == ring.room() {
                    *ring = rings.grow(*ring, first, position);
                }
                let departure = Time::from_picos(u64::from(2 * step + port));
                rings.get_mut(*ring, position).departure = departure;
                rings.get_mut(*ring, position).label = 2 * step + port;
                for earlier in 0..=step {
                    let position = first.wrapping_add(earlier);
                    let entry = rings.get(*ring, position);
                    assert_eq!(entry.departure.as_picos(), u64::from(2 * earlier + port));
                    assert_eq!(entry.label, 2 * earlier + port);
                }
            }
        }
        // 4, 8, ... 128 twice: the second port's rings of up to 64 are the first one's outgrown ones, one step on.
        assert!(rings.entries.len() <= 2 * (4 + 8 + 16 + 32 + 64 + 128));
    }

    #[test]
    fn rings_keep_their_entries_as_they_grow_and_shrink() {
        const PORTS: u32 = 3;
        let mut rings: Rings<u32> = Rings::new(PORTS);
        // Each port's ring, and what it holds. Positions wrap on the way.
        let mut ports: Vec<(Ring, u32, VecDeque<u32>)> = (0..PORTS)
            .map(|port| (Rings::<u32>::first(port), u32::MAX - 300, VecDeque::new()))
            .collect();
        let (mut next, mut shrunk, mut largest) = (0, 0, 0);
        for _ in 0..10 {
            for step in 0..4000u32 {
                let (ring, head, held) = &mut ports[(step % PORTS) as usize];
                // Each port fills and empties, at its own time.
                let fills = (step / 500 + step % PORTS).is_multiple_of(2);
                for _ in 0..if fills { 0 } else { held.len().min(3) } {
                    assert_eq!(rings.get(*ring, *head).label, held[0]);
                    held.pop_front();
                    *head = head.wrapping_add(1);
                }
                let count = held.len() as u32;
                if fills || step.is_multiple_of(5) {
                    let tail = head.wrapping_add(count);
                    if ring.is_too_large(count) {
                        *ring = rings.shrink(*ring, *head, tail);
                        shrunk += 1;
                    }
                    if ring.is_full(count) {
                        *ring = rings.grow(*ring, *head, tail);
                    }
                    rings.get_mut(*ring, tail).label = next;
                    held.push_back(next);
                    next += 1;
                }
                largest = largest.max(ring.room());
                // Of each size there are as many rings as ports at most.
                assert!(rings.entries.len() < (2 * PORTS * largest) as usize);
                for (ring, head, held) in &ports {
                    for (place, &label) in (0..).zip(held) {
                        assert_eq!(rings.get(*ring, head.wrapping_add(place)).label, label);
                    }
                }
            }
        }
        assert!(shrunk > 100 && largest >= 64);
        let smallest = ports.iter().map(|(ring, ..)| ring.room()).min();
        assert!(smallest >= Some(SMALLEST));
    }

    #[test]
    fn a_ring_shrinks_only_if_its_entries_fit_with_room_to_spare() {
        let mut rings: Rings<u32> = Rings::new(1);
        let mut ring = Rings::<u32>::first(0);
        assert!(!ring.is_too_large(0));
        for _ in 0..10 {
            ring = rings.grow(ring, 0, 0);
            for entries in 0..=ring.room() {
                // It does not grow again before twice as many have come.
                assert!(!ring.is_too_large(entries) || 2 * entries < ring.room() / 2);
            }
            assert!(ring.is_too_large(0));
        }
    }
}
