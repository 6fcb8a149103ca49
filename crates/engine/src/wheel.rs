//! A timing wheel over links: what makes one event a packet and hop cheap.

use crate::ranks::Ranks;
use pathweave_units::Time;

const NONE: u32 = u32::MAX;
/// Buckets of the wheel.
const BUCKETS: usize = 1 << 15;

/// Times for slots, at most one a slot, within a limited horizon; the earliest comes out first and,
/// at equal times, the one with the lowest rank.
///
/// A bucket is a sorted list threaded through the slots, so nothing is allocated. Two levels of
/// bitmaps find the next bucket in use.
#[derive(Clone, Debug)]
pub(crate) struct Wheel {
    /// A bucket spans 2^shift picoseconds: a tick.
    shift: u32,
    /// The tick of the latest time known to have passed; no slot's time lies before it.
    now: u64,
    /// The first slot of each bucket's list.
    heads: Box<[u32; BUCKETS]>,
    /// One bit a bucket.
    used: Box<[u64; WORDS]>,
    /// One bit a word of `used`.
    words_used: [u64; GROUPS],
    slots: Box<[Slot]>,
    ranks: Ranks,
}

const WORDS: usize = BUCKETS / 64;
const GROUPS: usize = WORDS / 64;

#[derive(Clone, Copy, Debug)]
struct Slot {
    at: Time,
    next: u32,
}

/// The earliest slot, and where it is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct First {
    pub at: Time,
    pub slot: u32,
    next: u32,
    bucket: usize,
}

/// An array on the heap, never on the stack.
fn boxed<T: Copy, const N: usize>(value: T) -> Box<[T; N]> {
    match vec![value; N].into_boxed_slice().try_into() {
        Ok(array) => array,
        Err(_) => unreachable!("the vector has N items"),
    }
}

impl Wheel {
    /// A wheel for so many slots whose buckets span 2^`shift` picoseconds.
    pub fn new(slots: usize, shift: u32, ranks: Ranks) -> Wheel {
        Wheel {
            shift,
            now: 0,
            heads: boxed(NONE),
            used: boxed(0),
            words_used: [0; GROUPS],
            slots: vec![
                Slot {
                    at: Time::MAX,
                    next: NONE
                };
                slots
            ]
            .into_boxed_slice(),
            ranks,
        }
    }

    /// How far ahead a wheel with this shift reaches.
    pub fn horizon_of(shift: u32) -> Time {
        Time::from_picos(((BUCKETS - 1) as u64) << shift)
    }

    #[inline(always)]
    fn tick(&self, at: Time) -> u64 {
        at.as_picos() >> self.shift
    }

    /// Time has passed: the wheel reaches as far as it can from here on.
    #[inline(always)]
    pub fn advance(&mut self, now: Time) {
        self.now = self.tick(now);
    }

    /// Sets the time of a slot that has none. Returns false if it is too far ahead.
    #[inline(always)]
    pub fn insert(&mut self, slot: u32, at: Time) -> bool {
        let tick = self.tick(at);
        if tick - self.now >= BUCKETS as u64 {
            return false;
        }
        let bucket = tick as usize % BUCKETS;
        let head = self.heads[bucket];
        if head == NONE {
            self.heads[bucket] = slot;
            self.slots[slot as usize] = Slot { at, next: NONE };
            let word = &mut self.used[bucket / 64];
            if *word == 0 {
                self.words_used[bucket / 4096] |= 1 << (bucket / 64 % 64);
            }
            *word |= 1 << (bucket % 64);
        } else {
            self.insert_behind(bucket, head, slot, at);
        }
        true
    }

    #[inline(never)]
    fn insert_behind(&mut self, bucket: usize, head: u32, slot: u32, at: Time) {
        let ranks = self.ranks;
        let before = |other: u32, slots: &[Slot]| {
            let other_at = slots[other as usize].at;
            other_at < at || (other_at == at && ranks.of(at, other) < ranks.of(at, slot))
        };
        if !before(head, &self.slots) {
            self.heads[bucket] = slot;
            self.slots[slot as usize] = Slot { at, next: head };
            return;
        }
        let mut previous = head;
        loop {
            let next = self.slots[previous as usize].next;
            if next == NONE || !before(next, &self.slots) {
                self.slots[slot as usize] = Slot { at, next };
                self.slots[previous as usize].next = slot;
                return;
            }
            previous = next;
        }
    }

    /// Takes back the time of a slot that has one.
    pub fn remove(&mut self, slot: u32) {
        let Slot { at, next } = self.slots[slot as usize];
        let bucket = self.tick(at) as usize % BUCKETS;
        if self.heads[bucket] == slot {
            self.unlink_head(bucket, next);
        } else {
            let mut previous = self.heads[bucket];
            while self.slots[previous as usize].next != slot {
                previous = self.slots[previous as usize].next;
            }
            self.slots[previous as usize].next = next;
        }
    }

    #[inline(always)]
    fn unlink_head(&mut self, bucket: usize, next: u32) {
        self.heads[bucket] = next;
        if next == NONE {
            let word = &mut self.used[bucket / 64];
            *word &= !(1 << (bucket % 64));
            if *word == 0 {
                self.words_used[bucket / 4096] &= !(1 << (bucket / 64 % 64));
            }
        }
    }

    /// The first bucket in use, from the present one on and around.
    #[inline(always)]
    fn first_bucket(&self) -> Option<usize> {
        let from = self.now as usize % BUCKETS;
        let word = from / 64;
        let here = self.used[word] & (!0 << (from % 64));
        if here != 0 {
            return Some(word * 64 + here.trailing_zeros() as usize);
        }
        self.first_bucket_after(word)
    }

    #[inline(never)]
    fn first_bucket_after(&self, word: usize) -> Option<usize> {
        let own = word / 64;
        // The words after `word` in its group, the other groups, and its own group once more.
        let after = self.words_used[own] & (!0u64 << (word % 64)) & !(1u64 << (word % 64));
        let others = (1..=GROUPS).map(|step| (own + step) % GROUPS);
        let (group, words) = std::iter::once((own, after))
            .chain(others.map(|group| (group, self.words_used[group])))
            .find(|(_, words)| *words != 0)?;
        let word = group * 64 + words.trailing_zeros() as usize;
        Some(word * 64 + self.used[word].trailing_zeros() as usize)
    }

    /// The earliest time and its slot.
    #[inline(always)]
    pub fn peek(&self) -> Option<First> {
        let bucket = self.first_bucket()?;
        let slot = self.heads[bucket];
        let Slot { at, next } = self.slots[slot as usize];
        Some(First {
            at,
            slot,
            next,
            bucket,
        })
    }

    /// Takes out the slot that `peek` has just returned.
    #[inline(always)]
    pub fn pop(&mut self, first: First) {
        debug_assert_eq!(self.heads[first.bucket], first.slot);
        self.unlink_head(first.bucket, first.next);
        self.advance(first.at);
    }
}
