//! A timing wheel over links: what makes one event a packet and hop cheap.

use crate::ranks::Ranks;
use pathweave_network::{LinkEvent, PortId};
use pathweave_units::Time;

const NONE: u32 = u32::MAX;
/// Most buckets of a wheel.
const MOST_BUCKETS: u64 = 1 << 15;
/// Fewest: one word of the bitmap.
const FEWEST_BUCKETS: u64 = 64;
/// A bucket spans 2^32 ps at most, so that a place in it fits into 32 bits.
const LONGEST_SHIFT: u32 = 32;

/// A port's event: arrivals come first, then departures, each by port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotId(u32);

/// Times for slots, at most one a slot, within a limited horizon; the earliest comes out first and,
/// at equal times, the one with the lowest rank.
///
/// A bucket is a list threaded through the slots, in the order in which they were set, so that nothing is
/// allocated and setting a time costs the same however many a bucket holds. When a bucket's turn comes, its slots
/// are sorted into a short list. Two levels of bitmaps find the next bucket in use.
#[derive(Clone, Debug)]
pub(crate) struct Wheel {
    /// A bucket spans 2^shift picoseconds: a tick.
    shift: u32,
    /// Number of buckets, a power of two, less one.
    mask: u64,
    /// The tick whose bucket is in `due`; all slots with times up to its end are there.
    tick: u64,
    /// The slots whose turn has come, the earliest last.
    due: Vec<Due>,
    /// The slot of each bucket that was set last.
    heads: Box<[u32]>,
    /// One bit a bucket.
    used: Box<[u64]>,
    /// One bit a word of `used`.
    words_used: Box<[u64]>,
    slots: Box<[Slot]>,
    ports: u32,
    pub ranks: Ranks,
}

/// A slot in the list of a bucket.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Picoseconds from the beginning of the bucket.
    offset: u32,
    next: u32,
}

/// A slot whose turn has come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    pub at: Time,
    pub slot: SlotId,
}

impl Wheel {
    /// A wheel for these ports. `longest` is how far ahead it has to reach, and `span` how long a bucket should be.
    pub fn new(ports: u32, longest: Time, span: Time, ranks: Ranks) -> Wheel {
        let fine = span.as_picos().max(2).ilog2().min(LONGEST_SHIFT);
        let ticks = |shift: u32| (longest.as_picos() >> shift) + 2;
        let shift = (fine..LONGEST_SHIFT)
            .find(|&shift| ticks(shift) <= MOST_BUCKETS)
            .unwrap_or(LONGEST_SHIFT);
        let buckets = ticks(shift)
            .next_power_of_two()
            .clamp(FEWEST_BUCKETS, MOST_BUCKETS);
        let words = buckets.div_ceil(64) as usize;
        Wheel {
            shift,
            mask: buckets - 1,
            tick: 0,
            due: Vec::new(),
            heads: vec![NONE; buckets as usize].into(),
            used: vec![0; words].into(),
            words_used: vec![0; words.div_ceil(64)].into(),
            slots: vec![
                Slot {
                    offset: 0,
                    next: NONE
                };
                2 * ports as usize
            ]
            .into(),
            ports,
            ranks,
        }
    }

    #[inline(always)]
    pub fn slot(&self, PortId(port): PortId, event: LinkEvent) -> SlotId {
        match event {
            LinkEvent::Arrival => SlotId(port),
            LinkEvent::Departure => SlotId(port + self.ports),
        }
    }

    /// Whose a slot is.
    #[inline(always)]
    pub fn event_of(&self, SlotId(slot): SlotId) -> (PortId, LinkEvent) {
        if slot < self.ports {
            (PortId(slot), LinkEvent::Arrival)
        } else {
            (PortId(slot - self.ports), LinkEvent::Departure)
        }
    }

    fn rank(&self, at: Time, slot: SlotId) -> (u64, u32) {
        let (port, event) = self.event_of(slot);
        self.ranks.of(at, port, event)
    }

    #[inline(always)]
    fn tick(&self, at: Time) -> u64 {
        at.as_picos() >> self.shift
    }

    fn begin(&self, tick: u64) -> Time {
        Time::from_picos(tick << self.shift)
    }

    /// Time has passed, and nothing is due before: the wheel reaches as far as it can from here on.
    pub fn advance(&mut self, now: Time) {
        if self.due.is_empty() {
            // The turn of the bucket in which `now` lies may still come.
            self.tick = self.tick.max(self.tick(now).saturating_sub(1));
        }
    }

    /// Sets the time of a slot that has none. Returns false if it is too far ahead.
    #[inline(always)]
    pub fn insert(&mut self, SlotId(slot): SlotId, at: Time) -> bool {
        let tick = self.tick(at);
        // One less for the comparison: the present tick and those before wrap around.
        if tick.wrapping_sub(self.tick).wrapping_sub(1) >= self.mask {
            return self.insert_elsewhere(SlotId(slot), at);
        }
        let bucket = (tick & self.mask) as usize;
        let offset = (at.as_picos() - (tick << self.shift)) as u32;
        let next = std::mem::replace(&mut self.heads[bucket], slot);
        self.slots[slot as usize] = Slot { offset, next };
        if next == NONE {
            self.use_bucket(bucket);
        }
        true
    }

    #[inline(always)]
    fn use_bucket(&mut self, bucket: usize) {
        self.used[bucket / 64] |= 1 << (bucket % 64);
        self.words_used[bucket / 4096] |= 1 << (bucket / 64 % 64);
    }

    #[inline(always)]
    fn leave_bucket(&mut self, bucket: usize) {
        let word = &mut self.used[bucket / 64];
        *word &= !(1 << (bucket % 64));
        if *word == 0 {
            self.words_used[bucket / 4096] &= !(1 << (bucket / 64 % 64));
        }
    }

    /// Sets a time of the present tick or before, which is due at once, or one that is too far ahead.
    #[inline(never)]
    fn insert_elsewhere(&mut self, slot: SlotId, at: Time) -> bool {
        if self.tick(at) > self.tick {
            return false;
        }
        self.due.push(Due { at, slot });
        self.sink(self.due.len() - 1);
        true
    }

    /// Moves a slot in the list of those whose turn has come to its place among those before it.
    #[inline(always)]
    fn sink(&mut self, from: usize) {
        let moved = self.due[from];
        let mut place = from;
        while place > 0 {
            let other = self.due[place - 1];
            if other.at > moved.at || (other.at == moved.at && self.is_later(&other, &moved)) {
                break;
            }
            self.due[place] = other;
            place -= 1;
        }
        self.due[place] = moved;
    }

    #[cold]
    #[inline(never)]
    fn is_later(&self, one: &Due, other: &Due) -> bool {
        self.rank(one.at, one.slot) > self.rank(other.at, other.slot)
    }

    /// Takes back the time of a slot that has this one.
    pub fn remove(&mut self, SlotId(slot): SlotId, at: Time) {
        let tick = self.tick(at);
        if tick <= self.tick {
            let place = self.due.iter().position(|due| due.slot == SlotId(slot));
            self.due.remove(place.expect("the slot has this time"));
            return;
        }
        let bucket = (tick & self.mask) as usize;
        let next = self.slots[slot as usize].next;
        if self.heads[bucket] != slot {
            let mut previous = self.heads[bucket];
            while self.slots[previous as usize].next != slot {
                previous = self.slots[previous as usize].next;
            }
            self.slots[previous as usize].next = next;
            return;
        }
        self.heads[bucket] = next;
        if next == NONE {
            self.leave_bucket(bucket);
        }
    }

    /// The earliest slot whose turn has come.
    #[inline(always)]
    pub fn first_due(&self) -> Option<Due> {
        self.due.last().copied()
    }

    /// Takes out what `first_due` has just returned.
    #[inline(always)]
    pub fn pop(&mut self) {
        self.due.pop();
    }

    /// If no slot's turn has come and the next bucket in use begins before a time, its turn comes.
    #[inline(never)]
    pub fn turn(&mut self, before: Time) {
        if !self.due.is_empty() {
            return;
        }
        let Some(bucket) = self.next_bucket() else {
            return;
        };
        let tick = self.tick_of(bucket);
        let begin = self.begin(tick);
        if begin >= before {
            return;
        }
        self.tick = tick;
        let mut slot = std::mem::replace(&mut self.heads[bucket], NONE);
        self.leave_bucket(bucket);
        while slot != NONE {
            let Slot { offset, next } = self.slots[slot as usize];
            self.due.push(Due {
                at: begin + Time::from_picos(u64::from(offset)),
                slot: SlotId(slot),
            });
            slot = next;
            // What was set later is usually due later: the list is almost sorted.
            self.sink(self.due.len() - 1);
        }
    }

    /// The tick of a bucket in use.
    fn tick_of(&self, bucket: usize) -> u64 {
        self.tick + ((bucket as u64).wrapping_sub(self.tick) & self.mask)
    }

    /// The earliest time of all.
    pub fn earliest(&self) -> Option<Time> {
        if let Some(due) = self.first_due() {
            return Some(due.at);
        }
        let bucket = self.next_bucket()?;
        let begin = self.begin(self.tick_of(bucket));
        let mut slot = self.heads[bucket];
        let mut earliest = u32::MAX;
        while slot != NONE {
            let Slot { offset, next } = self.slots[slot as usize];
            earliest = earliest.min(offset);
            slot = next;
        }
        Some(begin + Time::from_picos(u64::from(earliest)))
    }

    /// The first bucket in use after the present one, and around.
    #[inline(always)]
    fn next_bucket(&self) -> Option<usize> {
        let from = (self.tick.wrapping_add(1) & self.mask) as usize;
        let word = from / 64;
        let here = self.used[word] & (!0 << (from % 64));
        if here != 0 {
            return Some(word * 64 + here.trailing_zeros() as usize);
        }
        self.next_bucket_after(word)
    }

    #[inline(never)]
    fn next_bucket_after(&self, word: usize) -> Option<usize> {
        let groups = self.words_used.len();
        let own = word / 64;
        // The words after `word` in its group, the other groups, and its own group once more.
        let after = self.words_used[own] & (!0u64 << (word % 64)) & !(1u64 << (word % 64));
        let others = (1..=groups).map(|step| (own + step) % groups);
        let (group, words) = std::iter::once((own, after))
            .chain(others.map(|group| (group, self.words_used[group])))
            .find(|(_, words)| *words != 0)?;
        let word = group * 64 + words.trailing_zeros() as usize;
        Some(word * 64 + self.used[word].trailing_zeros() as usize)
    }
}
