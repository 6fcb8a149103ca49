//! When packets arrive at the ends of links, in windows: what lets one node after another have its turn.

use crate::due_link::DueLink;
use crate::ranks::Ranks;
use pathweave_network::{Inputs, LinkEvent, PortId};
use pathweave_units::Time;
use std::sync::Arc;

/// Most slots of a calendar.
const MOST_SLOTS: u64 = 1 << 12;
/// The longest slot: a time in it fits into 32 bits of picoseconds.
const LONGEST_SLOT: u64 = u32::MAX as u64;

/// Times for inputs, at most one an input, within a limited horizon.
///
/// A slot has a bit for each input that is due within it, so that setting a time always costs the same and nothing is
/// allocated. What is due in the present slot is either put in order when its turn comes, the earliest first and, at
/// equal times, the one with the lowest rank ([`Calendar::pop_before`]), or handed out in the order of the nodes where
/// links end ([`Calendar::take_marks`]).
#[derive(Clone, Debug)]
pub(crate) struct Calendar {
    /// Slots a picosecond, times 2^64.
    per_pico: u64,
    /// Number of slots, a power of two, less one.
    mask: u64,
    /// Words of a slot.
    words: usize,
    /// A bit for each input, slot by slot.
    marks: Box<[u64]>,
    /// A bit for each slot that has any.
    used: Box<[u64]>,
    /// When marked inputs are due.
    at: Box<[Time]>,
    /// The number of the present slot. Nothing is set for a time before it.
    present: u64,
    /// When it begins.
    begin: Time,
    /// Whether what is due in the present slot has been put in order: it is in `due` then, else among the marks.
    in_order: bool,
    /// The earliest last.
    due: Vec<Key>,
    inputs: Arc<Inputs>,
    pub ranks: Ranks,
}

/// A input that is due in the present slot: the time since its beginning in the upper half, so that keys sort by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key(u64);

impl Key {
    #[inline(always)]
    fn new(offset: Time, place: u32) -> Key {
        Key(offset.as_picos() << 32 | u64::from(place))
    }
    #[inline(always)]
    fn offset(self) -> Time {
        Time::from_picos(self.0 >> 32)
    }
    #[inline(always)]
    fn input(self) -> u32 {
        self.0 as u32
    }
}

/// An input whose turn has come, and its time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    pub at: Time,
    input: u32,
}

impl Calendar {
    /// A calendar for links that end at these inputs. `longest` is how far ahead it has to reach, and `slot` how long
    /// a slot should be.
    pub fn new(inputs: Arc<Inputs>, longest: Time, slot: Time, ranks: Ranks) -> Calendar {
        let ahead = |slot: u64| longest.as_picos() / slot + 3;
        let mut slot = slot.as_picos().clamp(2, LONGEST_SLOT);
        while ahead(slot) > MOST_SLOTS && slot < LONGEST_SLOT {
            slot = (2 * slot).min(LONGEST_SLOT);
        }
        let slots = ahead(slot).next_power_of_two().clamp(64, MOST_SLOTS);
        let words = inputs.count().div_ceil(64);
        Calendar {
            // No slot is longer than was asked for.
            per_pico: (u64::MAX / slot).saturating_add(1),
            mask: slots - 1,
            words,
            marks: vec![0; slots as usize * words].into(),
            used: vec![0; (slots / 64) as usize].into(),
            at: vec![Time::MAX; inputs.count()].into(),
            present: 0,
            begin: Time::ZERO,
            in_order: false,
            due: Vec::new(),
            inputs,
            ranks,
        }
    }

    /// The input where a port's packets arrive.
    #[inline(always)]
    pub fn input_of(&self, port: PortId) -> usize {
        self.inputs.of_port(port)
    }

    /// Whose an input is whose turn has come.
    #[inline(always)]
    pub fn due_link(&self, due: Due) -> DueLink {
        DueLink {
            at: due.at,
            port: self.inputs.port(due.input as usize),
            event: LinkEvent::Arrival,
        }
    }

    /// The number of the slot in which a time lies.
    #[inline(always)]
    fn slot_of(&self, at: Time) -> u64 {
        ((u128::from(at.as_picos()) * u128::from(self.per_pico)) >> 64) as u64
    }

    /// When a slot begins.
    fn begin_of(&self, slot: u64) -> Time {
        let begin = (u128::from(slot) << 64).div_ceil(u128::from(self.per_pico));
        Time::from_picos(u64::try_from(begin).unwrap_or(u64::MAX))
    }

    /// When the slot ends in which a time lies.
    pub fn end_of_slot(&self, at: Time) -> Time {
        self.begin_of(self.slot_of(at) + 1)
    }

    /// Where the marks of a slot begin.
    #[inline(always)]
    fn marks_of(&self, slot: u64) -> usize {
        (slot & self.mask) as usize * self.words
    }

    #[inline(always)]
    fn mark(&mut self, slot: u64, input: usize) {
        let word = &mut self.marks[(slot & self.mask) as usize * self.words + input / 64];
        let before = *word;
        *word = before | 1 << (input % 64);
        if before == 0 {
            let slot = slot & self.mask;
            self.used[slot as usize / 64] |= 1 << (slot % 64);
        }
    }

    fn is_used(&self, slot: u64) -> bool {
        let slot = slot & self.mask;
        self.used[slot as usize / 64] & 1 << (slot % 64) != 0
    }

    fn clear_used(&mut self, slot: u64) {
        let slot = slot & self.mask;
        self.used[slot as usize / 64] &= !(1 << (slot % 64));
    }

    /// Sets the time of an input that has none, or that has this one. Returns false if it is too far ahead, or before
    /// the present slot.
    #[inline(always)]
    pub fn insert(&mut self, input: usize, at: Time) -> bool {
        let slot = self.slot_of(at);
        // The first slot whose inputs are marked; times before it wrap around.
        let first = self.present + u64::from(self.in_order);
        if slot.wrapping_sub(first) >= self.mask {
            return self.insert_elsewhere(input, slot, at);
        }
        self.at[input] = at;
        self.mark(slot, input);
        true
    }

    /// Sets a time in the present slot, which is in order already; others are not for the calendar.
    #[inline(never)]
    fn insert_elsewhere(&mut self, input: usize, slot: u64, at: Time) -> bool {
        if slot != self.present || !self.in_order {
            return false;
        }
        let key = Key::new(at - self.begin, input as u32);
        let place = self.due.partition_point(|&other| self.is_after(other, key));
        self.due.insert(place, key);
        true
    }

    /// Whether one input of the present slot is due after another.
    #[inline(always)]
    fn is_after(&self, one: Key, other: Key) -> bool {
        if one.offset() == other.offset() {
            return self.rank(one) > self.rank(other);
        }
        one > other
    }

    #[inline(never)]
    fn rank(&self, key: Key) -> (u64, u32) {
        let port = self.inputs.port(key.input() as usize);
        let at = self.begin + key.offset();
        self.ranks.of(at, port, LinkEvent::Arrival)
    }

    /// Takes back the time of an input that has this one.
    pub fn remove(&mut self, input: usize, at: Time) {
        let slot = self.slot_of(at);
        if self.in_order && slot == self.present {
            self.due.retain(|key| key.input() as usize != input);
            return;
        }
        let begin = self.marks_of(slot);
        let marks = &mut self.marks[begin..begin + self.words];
        marks[input / 64] &= !(1 << (input % 64));
        if marks.iter().all(|&word| word == 0) {
            self.clear_used(slot);
        }
    }

    fn come_to(&mut self, slot: u64) {
        self.present = slot;
        self.begin = self.begin_of(slot);
        self.in_order = false;
    }

    /// Time has passed, and nothing is due before: the calendar reaches as far as it can from here on.
    pub fn advance(&mut self, now: Time) {
        let slot = self.slot_of(now);
        if slot > self.present && self.due.is_empty() {
            self.come_to(slot);
        }
    }

    /// If nothing is left in the present slot and the next slot in use begins before a time, its turn comes, in order.
    #[inline(always)]
    pub fn turn(&mut self, before: Time) {
        if self.due.is_empty() {
            self.turn_slot(before);
        }
    }

    #[inline(never)]
    fn turn_slot(&mut self, before: Time) {
        let Some(slot) = self.next_used() else {
            return;
        };
        if slot != self.present {
            if self.begin_of(slot) >= before {
                return;
            }
            self.come_to(slot);
        }
        self.put_in_order();
    }

    /// The marks of the present slot become what is due.
    fn put_in_order(&mut self) {
        let marks = self.marks_of(self.present);
        let mut due = std::mem::take(&mut self.due);
        for word in 0..self.words {
            let mut bits = std::mem::take(&mut self.marks[marks + word]);
            while bits != 0 {
                let input = (64 * word) as u32 + bits.trailing_zeros();
                bits &= bits - 1;
                due.push(Key::new(self.at[input as usize] - self.begin, input));
            }
        }
        self.clear_used(self.present);
        self.in_order = true;
        due.sort_unstable_by(|one, other| other.cmp(one));
        let same = |one: &Key, other: &Key| one.offset() == other.offset();
        for equals in due.chunk_by_mut(same).filter(|equals| equals.len() > 1) {
            equals.sort_by_key(|&key| std::cmp::Reverse(self.rank(key)));
        }
        self.due = due;
    }

    /// Takes out the first input of the present slot, if it is due before a time.
    #[inline(always)]
    pub fn pop_before(&mut self, limit: Time) -> Option<Due> {
        let due = self.first_due()?;
        if due.at >= limit {
            return None;
        }
        self.due.pop();
        Some(due)
    }

    /// The first input of the present slot.
    #[inline(always)]
    pub fn first_due(&self) -> Option<Due> {
        let &key = self.due.last()?;
        Some(Due {
            at: self.begin + key.offset(),
            input: key.input(),
        })
    }

    /// Takes out the marks of the slot in which a time lies, before which nothing is due: a bit for each input. Some of
    /// them may be due later.
    pub fn take_marks(&mut self, now: Time, into: &mut [u64]) {
        let slot = self.slot_of(now);
        while let Some(key) = self.due.pop() {
            let input = key.input() as usize;
            self.at[input] = self.begin + key.offset();
            self.mark(self.present, input);
        }
        self.come_to(slot);
        let marks = self.marks_of(slot);
        let marks = &mut self.marks[marks..marks + into.len()];
        into.copy_from_slice(marks);
        marks.fill(0);
        self.clear_used(slot);
    }

    /// Nothing is due before this time; `None` if nothing is due at all.
    pub fn nothing_before(&self) -> Option<Time> {
        if let Some(due) = self.first_due() {
            return Some(due.at);
        }
        self.next_used().map(|slot| self.begin_of(slot))
    }

    /// The earliest time of all.
    pub fn earliest(&self) -> Option<Time> {
        if let Some(due) = self.first_due() {
            return Some(due.at);
        }
        let marks = self.marks_of(self.next_used()?);
        let mut earliest = Time::MAX;
        for (word, &bits) in self.marks[marks..marks + self.words].iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let input = 64 * word + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                earliest = earliest.min(self.at[input]);
            }
        }
        Some(earliest)
    }

    /// The first slot in use, from the present one on.
    fn next_used(&self) -> Option<u64> {
        if self.is_used(self.present) {
            return Some(self.present);
        }
        let from = (self.present & self.mask) as usize;
        let words = self.used.len();
        let here = self.used[from / 64] & (!0 << (from % 64));
        // The words after the first one, and it once more.
        let others = (1..=words).map(|step| (from / 64 + step) % words);
        let (word, bits) = std::iter::once((from / 64, here))
            .chain(others.map(|word| (word, self.used[word])))
            .find(|(_, bits)| *bits != 0)?;
        let slot = word as u64 * 64 + u64::from(bits.trailing_zeros());
        Some(self.present + (slot.wrapping_sub(from as u64) & self.mask))
    }
}
