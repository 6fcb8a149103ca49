//! A timing wheel over links: what makes one event a packet and hop cheap.

use crate::schedule::due_link::DueLink;
use crate::schedule::ranks::Ranks;
use crate::schedule::used_places::UsedPlaces;
use pathweave_network::{LinkEvent, PortId};
use pathweave_units::Time;

const NONE: u32 = u32::MAX;
/// Buckets of a page: a word of the bitmap has a bit for each.
const PAGE: u64 = 64;
/// Most pages of a wheel.
const MOST_PAGES: u64 = 1 << 9;
/// A page spans 2^32 ps at most, so that a place in it fits into 32 bits.
const LONGEST_SHIFT: u32 = 26;

/// A port's event: arrivals come first, then departures, each by port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotId(u32);

/// Times for slots, at most one a slot, within a limited horizon; the earliest comes out first and,
/// at equal times, the one with the lowest rank.
///
/// A bucket is a list threaded through the slots, in no order, so that nothing is allocated and setting a time
/// always costs the same. Most buckets hold one slot or none; the others are sorted when their turn comes. Buckets
/// make pages, which have a word of bits each.
#[derive(Clone, Debug)]
pub(crate) struct Wheel {
    /// A bucket spans 2^shift picoseconds.
    shift: u32,
    /// Number of buckets, a power of two, less one.
    mask: u64,
    /// How long a page is, a power of two in picoseconds, less one.
    page_mask: u64,
    /// When the present page begins. Nothing is set for a time before it.
    begin: Time,
    /// When it ends.
    end: Time,
    /// How far the wheel reaches from there.
    reach: Time,
    /// The first bucket of the present page.
    first_bucket: usize,
    /// The buckets of the present page in use: a bit for each.
    buckets: u64,
    /// The slots of a bucket whose turn has come, the earliest last; it comes before all in `buckets`.
    due: Vec<Key>,
    /// The slot of each bucket that was set last.
    heads: Box<[u32]>,
    /// The buckets in use of other pages: one bit a bucket, one word a page.
    used: Box<[u64]>,
    /// Pages that have some.
    pages_used: UsedPlaces,
    slots: Box<[Slot]>,
    ports: u32,
    pub ranks: Ranks,
}

/// A slot in the list of a bucket.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Picoseconds from the beginning of the page.
    offset: u32,
    next: u32,
}

/// A slot whose turn has come: its place in the page in the upper half, so that keys sort by time, and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key(u64);

impl Key {
    #[inline(always)]
    fn new(offset: u32, slot: u32) -> Key {
        Key(u64::from(offset) << 32 | u64::from(slot))
    }
    #[inline(always)]
    fn offset(self) -> Time {
        Time::from_picos(self.0 >> 32)
    }
    #[inline(always)]
    fn slot(self) -> SlotId {
        SlotId(self.0 as u32)
    }
}

/// A slot whose turn has come, and its time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    pub at: Time,
    pub slot: SlotId,
}

/// Whose a slot is, of a wheel for this many ports.
#[inline(always)]
fn event_of(SlotId(slot): SlotId, ports: u32) -> (PortId, LinkEvent) {
    if slot < ports {
        (PortId(slot), LinkEvent::Arrival)
    } else {
        (PortId(slot - ports), LinkEvent::Departure)
    }
}

impl Wheel {
    /// A wheel for these ports. `longest` is how far ahead it has to reach, and `span` how long a bucket should be.
    pub fn new(ports: u32, longest: Time, span: Time, ranks: Ranks) -> Wheel {
        let fine = span.as_picos().max(2).ilog2().min(LONGEST_SHIFT);
        let pages = |shift: u32| (longest.as_picos() >> shift) / PAGE + 2;
        let shift = (fine..LONGEST_SHIFT)
            .find(|&shift| pages(shift) <= MOST_PAGES)
            .unwrap_or(LONGEST_SHIFT);
        let pages = pages(shift).next_power_of_two().min(MOST_PAGES);
        let nothing = Slot {
            offset: 0,
            next: NONE,
        };
        Wheel {
            shift,
            mask: pages * PAGE - 1,
            page_mask: (PAGE << shift) - 1,
            begin: Time::ZERO,
            end: Time::from_picos(PAGE << shift),
            reach: Time::from_picos((pages - 1) * (PAGE << shift)),
            first_bucket: 0,
            buckets: 0,
            due: Vec::new(),
            heads: vec![NONE; (pages * PAGE) as usize].into(),
            used: vec![0; pages as usize].into(),
            pages_used: UsedPlaces::none(pages as usize),
            slots: vec![nothing; 2 * ports as usize].into(),
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

    /// Whose a slot is whose turn has come.
    #[inline(always)]
    pub fn due_link(&self, due: Due) -> DueLink {
        let (port, event) = self.event_of(due.slot);
        let at = due.at;
        DueLink { at, port, event }
    }

    /// Whose a slot is.
    #[inline(always)]
    fn event_of(&self, slot: SlotId) -> (PortId, LinkEvent) {
        event_of(slot, self.ports)
    }

    /// Whether one slot of the present page is due after another.
    #[inline(always)]
    fn is_after(&self, one: Key, other: Key) -> bool {
        if one.offset() == other.offset() {
            return self.rank(one) > self.rank(other);
        }
        one.0 > other.0
    }

    #[inline(never)]
    fn rank(&self, key: Key) -> (u64, u32) {
        let (port, event) = self.event_of(key.slot());
        self.ranks.of(self.begin + key.offset(), port, event)
    }

    /// When the page begins in which a time lies.
    #[inline(always)]
    fn page_of(&self, at: Time) -> Time {
        Time::from_picos(at.as_picos() & !self.page_mask)
    }

    /// The place of the bucket in which a time lies.
    #[inline(always)]
    fn bucket_of(&self, at: Time) -> usize {
        ((at.as_picos() >> self.shift) & self.mask) as usize
    }

    /// The page at this place, which begins at this time, is the present one.
    #[inline]
    fn come_to(&mut self, page: usize, begin: Time) {
        self.begin = begin;
        self.end = begin + Time::from_picos(self.page_mask + 1);
        self.first_bucket = page * PAGE as usize;
        self.pages_used.remove(page);
        self.buckets = std::mem::take(&mut self.used[page]);
    }

    /// Nothing is due in the present page.
    #[inline(always)]
    fn page_is_over(&self) -> bool {
        self.buckets == 0 && self.due.is_empty()
    }

    /// Time has passed, and nothing is due before: the wheel reaches as far as it can from here on.
    pub fn advance(&mut self, now: Time) {
        if now >= self.end && self.page_is_over() {
            self.come_to(self.bucket_of(now) / PAGE as usize, self.page_of(now));
        }
    }

    /// Sets the time of a slot that has none. Returns false if it is too far ahead, or before the present page.
    #[inline(always)]
    pub fn insert(&mut self, SlotId(slot): SlotId, at: Time) -> bool {
        // Times before the end wrap around.
        if at.as_picos().wrapping_sub(self.end.as_picos()) >= self.reach.as_picos() {
            return self.insert_elsewhere(SlotId(slot), at);
        }
        self.add(slot, at);
        true
    }

    /// Puts a slot into a bucket of a later page.
    #[inline(always)]
    fn add(&mut self, slot: u32, at: Time) {
        let bucket = self.bucket_of(at);
        let offset = (at.as_picos() & self.page_mask) as u32;
        let next = std::mem::replace(&mut self.heads[bucket], slot);
        self.slots[slot as usize] = Slot { offset, next };
        let page = bucket / PAGE as usize;
        let used = &mut self.used[page];
        if *used == 0 {
            self.pages_used.add(page);
        }
        *used |= 1 << (bucket % PAGE as usize);
    }

    /// Sets a time of the present page; others are not for the wheel. (It may have turned to a page that has not begun
    /// when it was asked what is due before some time.)
    #[inline(never)]
    fn insert_elsewhere(&mut self, SlotId(slot): SlotId, at: Time) -> bool {
        if at < self.begin || at >= self.end {
            return false;
        }
        let bucket = self.bucket_of(at);
        if let Some(&first) = self.due.last() {
            let due = self.bucket_of(self.begin + first.offset());
            if bucket == due {
                let key = Key::new((at - self.begin).as_picos() as u32, slot);
                let place = self.due.partition_point(|&other| self.is_after(other, key));
                self.due.insert(place, key);
                return true;
            }
            if bucket < due {
                self.put_back();
            }
        }
        let offset = (at - self.begin).as_picos() as u32;
        let next = std::mem::replace(&mut self.heads[bucket], slot);
        self.slots[slot as usize] = Slot { offset, next };
        self.buckets |= 1 << (bucket % PAGE as usize);
        true
    }

    /// The bucket whose turn had come is a bucket like others again.
    #[cold]
    fn put_back(&mut self) {
        while let Some(key) = self.due.pop() {
            let (SlotId(slot), at) = (key.slot(), self.begin + key.offset());
            let bucket = self.bucket_of(at);
            let next = std::mem::replace(&mut self.heads[bucket], slot);
            let offset = (at - self.begin).as_picos() as u32;
            self.slots[slot as usize] = Slot { offset, next };
            self.buckets |= 1 << (bucket % PAGE as usize);
        }
    }

    /// Takes back the time of a slot that has this one.
    pub fn remove(&mut self, SlotId(slot): SlotId, at: Time) {
        if let Some(place) = self.due.iter().position(|key| key.slot() == SlotId(slot)) {
            self.due.remove(place);
            return;
        }
        let bucket = self.bucket_of(at);
        let next = self.slots[slot as usize].next;
        let head = &mut self.heads[bucket];
        if *head == slot {
            *head = next;
        } else {
            let mut previous = *head;
            while self.slots[previous as usize].next != slot {
                previous = self.slots[previous as usize].next;
            }
            self.slots[previous as usize].next = next;
        }
        if self.heads[bucket] != NONE {
            return;
        }
        let bit = 1 << (bucket % PAGE as usize);
        if at < self.end {
            self.buckets &= !bit;
            return;
        }
        let page = bucket / PAGE as usize;
        self.used[page] &= !bit;
        if self.used[page] == 0 {
            self.pages_used.remove(page);
        }
    }

    /// Takes out the first slot of the present page, if it is due before a time.
    #[inline(always)]
    pub fn pop_before(&mut self, limit: Time) -> Option<Due> {
        if self.due.is_empty() {
            if self.buckets == 0 {
                return None;
            }
            let bucket = self.first_bucket + self.buckets.trailing_zeros() as usize;
            let slot = self.heads[bucket];
            let Slot { offset, next } = self.slots[slot as usize];
            if next == NONE {
                let at = self.begin + Time::from_picos(u64::from(offset));
                if at >= limit {
                    return None;
                }
                self.heads[bucket] = NONE;
                self.buckets &= self.buckets - 1;
                let slot = SlotId(slot);
                return Some(Due { at, slot });
            }
            self.sort_bucket();
        }
        let due = self.last_due()?;
        if due.at >= limit {
            return None;
        }
        self.due.pop();
        Some(due)
    }

    /// The first slot of the present page.
    pub fn first_due(&mut self) -> Option<Due> {
        if self.due.is_empty() && self.buckets != 0 {
            self.sort_bucket();
        }
        self.last_due()
    }

    #[inline(always)]
    fn last_due(&self) -> Option<Due> {
        let &key = self.due.last()?;
        Some(Due {
            at: self.begin + key.offset(),
            slot: key.slot(),
        })
    }

    /// The turn of the first bucket in use of the present page has come.
    #[inline(never)]
    fn sort_bucket(&mut self) {
        let bucket = self.first_bucket + self.buckets.trailing_zeros() as usize;
        self.buckets &= self.buckets - 1;
        let mut slot = std::mem::replace(&mut self.heads[bucket], NONE);
        let mut due = std::mem::take(&mut self.due);
        while slot != NONE {
            let Slot { offset, next } = self.slots[slot as usize];
            let key = Key::new(offset, slot);
            // By insertion: they are few.
            let mut place = due.len();
            due.push(key);
            while place > 0 && self.is_after(key, due[place - 1]) {
                due[place] = due[place - 1];
                place -= 1;
            }
            due[place] = key;
            slot = next;
        }
        self.due = due;
    }

    /// If the present page is over and the next page in use begins before a time, its turn comes.
    #[inline(never)]
    pub fn turn(&mut self, before: Time) {
        if !self.page_is_over() {
            return;
        }
        let Some(page) = self.next_page() else {
            return;
        };
        let begin = self.begin_of(page);
        if begin < before {
            self.come_to(page, begin);
        }
    }

    /// The earliest time of all.
    pub fn earliest(&self) -> Option<Time> {
        if let Some(due) = self.last_due() {
            return Some(due.at);
        }
        let (begin, page, buckets) = if self.buckets != 0 {
            let page = self.first_bucket / PAGE as usize;
            (self.begin, page, self.buckets)
        } else {
            let page = self.next_page()?;
            (self.begin_of(page), page, self.used[page])
        };
        let bucket = page * PAGE as usize + buckets.trailing_zeros() as usize;
        let mut slot = self.heads[bucket];
        let mut earliest = u32::MAX;
        while slot != NONE {
            let Slot { offset, next } = self.slots[slot as usize];
            earliest = earliest.min(offset);
            slot = next;
        }
        Some(begin + Time::from_picos(u64::from(earliest)))
    }

    /// When a page in use begins, which has this place.
    fn begin_of(&self, page: usize) -> Time {
        let here = self.first_bucket as u64;
        let ahead = (page as u64 * PAGE).wrapping_sub(here) & self.mask;
        self.begin + Time::from_picos(ahead << self.shift)
    }

    /// The place of the first page in use after the present one.
    #[inline(always)]
    fn next_page(&self) -> Option<usize> {
        let from = self.bucket_of(self.end) / PAGE as usize;
        self.pages_used.first_from(from)
    }
}
