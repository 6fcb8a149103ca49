//! What arrives at one node within a window.

use crate::places::PortId;
use pathweave_units::Time;
use std::cell::Cell;
use wide::{CmpLt, i32x4};

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
    /// Keys that differ by less are at one time.
    const OTHER_TIME: u64 = 1 << 32;
    /// At least [`Key::OTHER_TIME`] if they are at different times.
    #[inline(always)]
    fn difference(self, other: Key) -> u64 {
        self.0 ^ other.0
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
    /// How many parts a picosecond spans, times 2^32, if the window is divided into [`MOST_PARTS`].
    parts_a_picosecond: u64,
    /// Room for keys that are put into parts.
    parted: Box<[Key]>,
}

/// Parts that a window is divided into at most.
const MOST_PARTS: usize = 128;

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
            parts_a_picosecond: 0,
            parted: Box::default(),
        }
    }

    /// A window begins, which ends at `before`.
    pub fn begin(&mut self, from: Time, before: Time) {
        self.from = from;
        let length = before.saturating_sub(from).as_picos().max(1);
        self.parts_a_picosecond = ((MOST_PARTS as u64) << 32) / length;
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
        const MANY: usize = 2 * MOST_PARTS;
        let count = self.count;
        let are_equal = match count {
            ..2 => false,
            2..=3 => sort_nearly_sorted(&mut self.keys[..count]),
            4..=8 => sort_by_counting::<2, 8>(&mut self.keys, count),
            9..=16 => sort_by_counting::<4, 16>(&mut self.keys, count),
            17..=24 => sort_six_vectors(&mut self.keys, count),
            25..=MANY => self.sort_in_parts(),
            _ => {
                self.keys[..count].sort_unstable();
                true
            }
        };
        if are_equal {
            self.sort_equals(rank);
        }
    }

    /// Sorts by time: first into parts of the window, each of which gets few. Returns whether times are equal.
    #[inline(never)]
    fn sort_in_parts(&mut self) -> bool {
        let keys = &self.keys[..self.count];
        // About one for each key.
        let parts = keys.len().next_power_of_two().min(MOST_PARTS);
        let (scale, shift) = (
            self.parts_a_picosecond,
            u32::BITS + MOST_PARTS.ilog2() - parts.ilog2(),
        );
        // No number is that large; the compiler does not know it.
        let part = |key: &Key| (((key.0 >> 32) * scale) >> shift) as usize % MOST_PARTS;
        // Few enough keys are sorted here that their number fits into 16 bits.
        let mut places = [0u16; MOST_PARTS];
        for key in keys {
            debug_assert!(part(key) < parts, "a packet arrives within the window");
            places[part(key)] += 1;
        }
        let mut before = 0;
        for place in &mut places[..parts] {
            before += std::mem::replace(place, before);
        }
        if self.parted.len() < keys.len() {
            self.parted = vec![Key(0); self.keys.len()].into();
        }
        let parted = &mut self.parted[..self.count];
        for key in keys {
            let place = &mut places[part(key)];
            parted[usize::from(*place)] = *key;
            *place += 1;
        }
        std::mem::swap(&mut self.keys, &mut self.parted);
        sort_nearly_sorted(&mut self.keys[..self.count])
    }

    #[inline(never)]
    fn sort_equals(&mut self, rank: impl Fn(Time, Held) -> (u64, u32)) {
        let same = |one: &Key, other: &Key| one.offset() == other.offset();
        let rank = |key: &Key| rank(self.from + key.offset(), key.held());
        for equals in self.keys[..self.count].chunk_by_mut(same) {
            match equals {
                [_] => {}
                // The library would ask for memory.
                [first, second] => {
                    if rank(second) < rank(first) {
                        std::mem::swap(first, second);
                    }
                }
                _ => equals.sort_by_cached_key(rank),
            }
        }
    }
}

/// Sorts by time: the place of each is the number of those that come before. Returns whether times are equal.
///
/// No branch depends on what is compared, unless times are equal; then insertion sorts them. Insertion makes a processor
/// guess how far each packet is moved, and the guess is often wrong. Four times are compared at once.
#[inline(always)]
fn sort_by_counting<const VECTORS: usize, const PLACES: usize>(
    keys: &mut [Key],
    count: usize,
) -> bool {
    const { assert!(PLACES == 4 * VECTORS) };
    debug_assert!((1..=PLACES).contains(&count));
    let Some(places) = keys.first_chunk_mut::<PLACES>() else {
        return sort_nearly_sorted(&mut keys[..count]);
    };
    let own = *places;
    // Processors compare signed numbers several at a time.
    let signed = |key: Key| ((key.0 >> 32) as u32 ^ (1 << 31)) as i32;
    let times: [i32x4; VECTORS] = std::array::from_fn(|vector| {
        i32x4::new([0, 1, 2, 3].map(|lane| signed(own[4 * vector + lane])))
    });
    let mut before = [i32x4::ZERO; VECTORS];
    for &key in &own[..count] {
        let time = i32x4::splat(signed(key));
        for (before, &others) in before.iter_mut().zip(&times) {
            *before -= time.cmp_lt(others); // -1 where it is less
        }
    }
    let before = before.map(i32x4::to_array);
    let mut sum = 0;
    for (&key, &before) in own[..count].iter().zip(before.as_flattened()) {
        places[before as usize % PLACES] = key;
        sum += before as usize;
    }
    // Where times are equal, several have one place.
    let are_equal = sum != count * (count - 1) / 2;
    if are_equal {
        *places = own;
        sort_nearly_sorted(&mut keys[..count]);
    }
    are_equal
}

/// Few turns have this many packets. Those with fewer are sorted by a shorter function because this one stands apart.
#[inline(never)]
fn sort_six_vectors(keys: &mut [Key], count: usize) -> bool {
    sort_by_counting::<6, 24>(keys, count)
}

/// Sorts by time, by insertion: those of one link are in order already. Returns whether times are equal.
#[inline(always)]
fn sort_nearly_sorted(keys: &mut [Key]) -> bool {
    let mut closest = u64::MAX;
    let keys = Cell::from_mut(keys).as_slice_of_cells();
    for end in 1..keys.len() {
        let key = keys[end].get();
        let mut place = &keys[end];
        for before in keys[..end].iter().rev() {
            let earlier = before.get();
            if earlier <= key.latest() {
                closest = closest.min(earlier.difference(key));
                break;
            }
            place.set(earlier);
            place = before;
        }
        place.set(key);
    }
    closest < Key::OTHER_TIME
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
    use proptest::prelude::*;

    const FROM: Time = Time::from_picos(1000);

    /// Puts packets that arrive so long after the window has begun in order; each is kept where its number says. Ranks
    /// go against the numbers.
    fn sorted(length: u64, offsets: &[u64]) -> Vec<(u64, u32)> {
        let mut arrivals = Arrivals::new();
        // What is left of other windows makes no difference.
        for length in [1, length] {
            arrivals.begin(FROM, FROM + Time::from_picos(length));
            let mut adding = arrivals.adding();
            for (place, &offset) in (0..).zip(offsets) {
                adding.add(Time::from_picos(offset % length), Held(place));
            }
            adding.end(PortId(0));
            arrivals.sort(|at, Held(place)| (at.as_picos() % 3, u32::MAX - place));
        }
        assert_eq!(arrivals.count(), offsets.len());
        let all = arrivals.all();
        let all: Vec<_> = all
            .map(|(at, Held(place))| ((at - FROM).as_picos(), place))
            .collect();
        let last = all
            .last()
            .map(|&(offset, _)| FROM + Time::from_picos(offset));
        assert_eq!(arrivals.last(), last);
        all
    }

    fn check(length: u64, offsets: &[u64]) {
        let mut expected: Vec<(u64, u32)> = (0..)
            .zip(offsets)
            .map(|(place, &offset)| (offset % length, place))
            .collect();
        expected.sort_by_key(|&(offset, place)| (offset, u32::MAX - place));
        assert_eq!(sorted(length, offsets), expected);
    }

    #[test]
    fn they_come_by_time_and_then_by_rank() {
        for count in [0, 1, 2, 7, 8, 9, 16, 17, 24, 25, 40, 65, 256, 257, 300] {
            let offsets: Vec<u64> = (0..count).map(|place| place * 37).collect();
            for length in [1, 2, 50, 20_000_000, u64::from(u32::MAX)] {
                check(length, &offsets);
            }
            // All at the end of a long window.
            let late: Vec<u64> = (0..count).map(|place| 20_000_000 - place % 7).collect();
            check(20_000_001, &late);
        }
    }

    proptest! {
        #[test]
        fn few_come_in_order_whatever_came_before(
            before in prop::collection::vec(0..u32::MAX, 0..30),
            times in prop_oneof![1..20u32, 1..=u32::MAX],
            offsets in prop::collection::vec(any::<u32>(), 0..=25),
        ) {
            let length = u64::from(u32::MAX);
            let mut arrivals = Arrivals::new();
            // Few different times make some of them equal.
            let offsets: Vec<u64> = offsets.iter().map(|&offset| u64::from(offset % times)).collect();
            let before: Vec<u64> = before.into_iter().map(u64::from).collect();
            for offsets in [&before, &offsets] {
                arrivals.begin(FROM, FROM + Time::from_picos(length));
                let mut adding = arrivals.adding();
                for (place, &offset) in (0..).zip(offsets) {
                    adding.add(Time::from_picos(offset), Held(place));
                }
                adding.end(PortId(0));
                arrivals.sort(|_, Held(place)| (0, u32::MAX - place));
            }
            let mut expected: Vec<(u64, u32)> = offsets.iter().copied().zip(0..).collect();
            expected.sort_by_key(|&(offset, place)| (offset, u32::MAX - place));
            let all = arrivals.all();
            let all: Vec<_> = all
                .map(|(at, Held(place))| ((at - FROM).as_picos(), place))
                .collect();
            prop_assert_eq!(all, expected);
        }

        #[test]
        fn they_come_in_order_whatever_the_window(
            length in 1..=u64::from(u32::MAX),
            spread in 1..=u64::from(u32::MAX),
            offsets in prop::collection::vec(any::<u64>(), 0..300),
        ) {
            let offsets: Vec<u64> = offsets.into_iter().map(|offset| offset % spread).collect();
            check(length, &offsets);
        }
    }
}
