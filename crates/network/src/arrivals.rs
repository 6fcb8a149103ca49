//! What arrives at one node within a window.

use crate::places::PortId;
use pathweave_units::Time;
use std::cell::Cell;

/// Where a packet is kept that has come to the far end of its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held(pub(crate) u32);

/// A packet that arrives: the time since the window began in the upper half, so that keys sort by time, and where it is
/// kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u64);

impl Key {
    #[inline(always)]
    fn new(offset: Time, Held(place): Held) -> Key {
        Key(offset.as_picos() << 32 | u64::from(place))
    }
    #[inline(always)]
    fn offset(self) -> Time {
        Time::from_picos(self.0 >> 32)
    }
    #[inline(always)]
    fn held(self) -> Held {
        Held(self.0 as u32)
    }
    /// The last key of those at this time.
    #[inline(always)]
    fn latest(self) -> Key {
        Key(self.0 | u64::from(u32::MAX))
    }
    #[inline(always)]
    fn is_at_the_time_of(self, other: Key) -> bool {
        (self.0 ^ other.0) >> 32 == 0
    }
}

/// Packets that arrive at one node within a window, in their order once they are sorted.
#[derive(Clone, Debug)]
pub struct Arrivals {
    /// When the window begins.
    from: Time,
    /// The first port of the node.
    pub(crate) far: PortId,
    /// The first `count` are in use.
    keys: Box<[Key]>,
    count: usize,
}

impl Arrivals {
    /// A window is no longer.
    pub const LONGEST: Time = Time::from_picos(u32::MAX as u64);

    /// None yet.
    pub fn new() -> Arrivals {
        Arrivals {
            from: Time::ZERO,
            far: PortId(0),
            keys: vec![Key(0); 64].into(),
            count: 0,
        }
    }

    /// A window begins.
    pub fn begin(&mut self, from: Time) {
        self.from = from;
        self.clear();
    }

    /// The node's turn is over.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Some are to be added.
    #[inline(always)]
    pub(crate) fn adding(&mut self) -> Adding<'_> {
        Adding {
            count: self.count,
            arrivals: self,
        }
    }

    /// Adds a key for which there is no room.
    #[cold]
    #[inline(never)]
    fn push(&mut self, key: Key) {
        let mut keys = std::mem::take(&mut self.keys).into_vec();
        let count = keys.len();
        keys.push(key);
        keys.resize(2 * count, Key(0));
        self.keys = keys.into();
    }

    /// Those that came after this many.
    #[cfg(feature = "checks")]
    pub(crate) fn since(&self, before: usize) -> impl Iterator<Item = (Time, Held)> {
        let new = self.keys[before..self.count].iter();
        new.map(|key| (self.from + key.offset(), key.held()))
    }

    /// The first port of the node.
    pub fn first_port(&self) -> PortId {
        self.far
    }

    /// Number of packets.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.count
    }

    /// When the last one arrives, once they are sorted.
    #[inline(always)]
    pub fn last(&self) -> Option<Time> {
        let last = self.keys.get(self.count.wrapping_sub(1));
        last.map(|key| self.from + key.offset())
    }

    /// When each arrives, once they are sorted, and where it is kept.
    #[inline(always)]
    pub fn all(&self) -> impl Iterator<Item = (Time, Held)> {
        let (from, keys) = (self.from, &self.keys[..self.count]);
        keys.iter()
            .map(move |key| (from + key.offset(), key.held()))
    }

    /// Puts them into their order: by time, and by a rank where times are equal.
    #[inline(always)]
    pub fn sort(&mut self, rank: impl Fn(Time, Held) -> (u64, u32)) {
        /// More are sorted by the library.
        const FEW: usize = 40;
        let keys = &mut self.keys[..self.count];
        if keys.len() > FEW {
            keys.sort_unstable();
        } else if !sort_few(keys) {
            return;
        }
        self.sort_equals(rank);
    }

    #[inline(never)]
    fn sort_equals(&mut self, rank: impl Fn(Time, Held) -> (u64, u32)) {
        let same = |one: &Key, other: &Key| one.offset() == other.offset();
        for equals in self.keys[..self.count].chunk_by_mut(same) {
            if equals.len() > 1 {
                equals.sort_by_cached_key(|key| rank(self.from + key.offset(), key.held()));
            }
        }
    }
}

/// Sorts by time, by insertion: those of one link are in order already. Returns whether times are equal.
#[inline(always)]
fn sort_few(keys: &mut [Key]) -> bool {
    let mut equals = false;
    let keys = Cell::from_mut(keys).as_slice_of_cells();
    for end in 1..keys.len() {
        let key = keys[end].get();
        let mut place = &keys[end];
        for before in keys[..end].iter().rev() {
            let earlier = before.get();
            if earlier <= key.latest() {
                equals |= earlier.is_at_the_time_of(key);
                break;
            }
            place.set(earlier);
            place = before;
        }
        place.set(key);
    }
    equals
}

/// Packets that are being added. Their number is kept here and not in the list, so that it stays in a register.
#[derive(Debug)]
pub(crate) struct Adding<'a> {
    arrivals: &'a mut Arrivals,
    count: usize,
}

impl Adding<'_> {
    /// A packet that arrives this long after the window has begun.
    #[inline(always)]
    pub fn add(&mut self, offset: Time, held: Held) {
        let key = Key::new(offset, held);
        match self.arrivals.keys.get_mut(self.count) {
            Some(place) => *place = key,
            None => self.arrivals.push(key),
        }
        self.count += 1;
    }

    /// They have been added; the first port of their node is `far`.
    #[inline(always)]
    pub fn end(self, far: PortId) {
        self.arrivals.count = self.count;
        self.arrivals.far = far;
    }
}

impl Default for Arrivals {
    fn default() -> Arrivals {
        Arrivals::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_come_by_time_and_then_by_rank() {
        for count in [0u32, 1, 7, 40, 41, 300] {
            let mut arrivals = Arrivals::new();
            arrivals.begin(Time::from_picos(1000));
            let mut adding = arrivals.adding();
            for place in 0..count {
                let offset = Time::from_picos(u64::from(place * 37 % 50));
                adding.add(offset, Held(place));
            }
            adding.end(PortId(0));
            arrivals.sort(|at, Held(place)| (at.as_picos() % 3, u32::MAX - place));
            assert_eq!(arrivals.count(), count as usize);
            let mut seen = Vec::new();
            for (at, Held(place)) in arrivals.all() {
                assert_eq!(at.as_picos(), 1000 + u64::from(place * 37 % 50));
                seen.push((at.as_picos(), at.as_picos() % 3, u32::MAX - place));
            }
            assert_eq!(
                arrivals.last(),
                seen.last().map(|last| Time::from_picos(last.0))
            );
            assert!(seen.is_sorted(), "{seen:?}");
        }
    }
}
