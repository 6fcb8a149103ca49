//! A timing wheel over links: what makes one event a packet and hop cheap.

use pathweave_units::Time;

const NONE: u32 = u32::MAX;
/// Buckets of the wheel.
const BUCKETS: usize = 1 << 15;

/// Times for slots, at most one a slot, within a limited horizon; the earliest comes out first and,
/// at equal times, the one with the lowest slot number.
///
/// A bucket is a sorted list threaded through the slots, so nothing is allocated. Two levels of
/// bitmaps find the next bucket in use.
#[derive(Clone, Debug)]
pub(crate) struct Wheel {
    /// A bucket spans 2^shift picoseconds.
    shift: u32,
    heads: Box<[u32]>,
    /// One bit a bucket.
    used: Box<[u64]>,
    /// One bit a word of `used`.
    words_used: [u64; BUCKETS / 64 / 64],
    slots: Box<[Slot]>,
    len: usize,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    at: Time,
    next: u32,
}

impl Wheel {
    /// A wheel for so many slots whose buckets span 2^`shift` picoseconds.
    pub fn new(slots: usize, shift: u32) -> Wheel {
        Wheel {
            shift,
            heads: vec![NONE; BUCKETS].into_boxed_slice(),
            used: vec![0; BUCKETS / 64].into_boxed_slice(),
            words_used: [0; BUCKETS / 64 / 64],
            slots: vec![Slot { at: Time::MAX, next: NONE }; slots].into_boxed_slice(),
            len: 0,
        }
    }

    /// How far ahead a wheel with this shift reaches.
    pub fn horizon_of(shift: u32) -> Time {
        Time::from_picos(((BUCKETS - 1) as u64) << shift)
    }

    #[inline(always)]
    fn bucket(&self, at: Time) -> usize {
        (at.as_picos() >> self.shift) as usize & (BUCKETS - 1)
    }

    /// Whether a time can be held, seen from `now`.
    #[inline(always)]
    pub fn reaches(&self, now: Time, at: Time) -> bool {
        (at.as_picos() >> self.shift) - (now.as_picos() >> self.shift) < BUCKETS as u64
    }

    /// Sets a slot's time; it has none, and `reaches` holds.
    #[inline]
    pub fn insert(&mut self, slot: u32, at: Time) {
        let bucket = self.bucket(at);
        self.len += 1;
        let head = self.heads[bucket];
        if head == NONE {
            self.used[bucket / 64] |= 1 << (bucket % 64);
            self.words_used[bucket / 4096] |= 1 << (bucket / 64 % 64);
            self.heads[bucket] = slot;
            self.slots[slot as usize] = Slot { at, next: NONE };
            return;
        }
        let before = |other: u32, slots: &[Slot]| (slots[other as usize].at, other) < (at, slot);
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

    /// Takes a slot's time back; returns whether it had one.
    pub fn remove(&mut self, slot: u32) -> bool {
        let Slot { at, next } = self.slots[slot as usize];
        if at == Time::MAX {
            return false;
        }
        let bucket = self.bucket(at);
        if self.heads[bucket] == slot {
            self.unlink_head(bucket, next);
        } else {
            let mut previous = self.heads[bucket];
            while self.slots[previous as usize].next != slot {
                previous = self.slots[previous as usize].next;
            }
            self.slots[previous as usize].next = next;
        }
        self.slots[slot as usize].at = Time::MAX;
        self.len -= 1;
        true
    }

    #[inline(always)]
    fn unlink_head(&mut self, bucket: usize, next: u32) {
        self.heads[bucket] = next;
        if next == NONE {
            self.used[bucket / 64] &= !(1 << (bucket % 64));
            if self.used[bucket / 64] == 0 {
                self.words_used[bucket / 4096] &= !(1 << (bucket / 64 % 64));
            }
        }
    }

    /// The first bucket in use, from the one of `now` on and around.
    #[inline]
    fn first_bucket(&self, now: Time) -> usize {
        let from = self.bucket(now);
        let word = from / 64;
        let here = self.used[word] & (!0 << (from % 64));
        if here != 0 {
            return word * 64 + here.trailing_zeros() as usize;
        }
        self.first_bucket_after(word)
    }

    #[inline(never)]
    fn first_bucket_after(&self, word: usize) -> usize {
        let groups = self.words_used.len();
        let group = word / 64;
        // The words after `word` in its group, the other groups, and its own group once more.
        let here = self.words_used[group] & (!0u64 << (word % 64)) & !(1u64 << (word % 64));
        let mut found = (group, here);
        let mut step = 1;
        while found.1 == 0 {
            let group = (group + step) % groups;
            found = (group, self.words_used[group]);
            step += 1;
        }
        let word = found.0 * 64 + found.1.trailing_zeros() as usize;
        word * 64 + self.used[word].trailing_zeros() as usize
    }

    /// The earliest time and its slot. `now` is not later than any time held.
    #[inline]
    pub fn peek(&self, now: Time) -> Option<(Time, u32)> {
        if self.len == 0 {
            return None;
        }
        let slot = self.heads[self.first_bucket(now)];
        Some((self.slots[slot as usize].at, slot))
    }

    /// Takes out the slot that `peek` has just returned.
    #[inline]
    pub fn pop(&mut self, (at, slot): (Time, u32)) {
        let bucket = self.bucket(at);
        debug_assert_eq!(self.heads[bucket], slot);
        let next = self.slots[slot as usize].next;
        self.unlink_head(bucket, next);
        self.slots[slot as usize].at = Time::MAX;
        self.len -= 1;
    }
}
