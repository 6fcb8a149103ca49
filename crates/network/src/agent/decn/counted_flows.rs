//! The flows that a DECN port keeps apart: a bounded table in the order in which they were last seen.
//!
//! n, by which the port's rate is divided, is the number of flows of which a packet has arrived in the period t_p. It grows
//! with a flow's first packet, so that the flow is not told a share that others still have, and falls when a period is
//! over. Ruling: a flow with more than t_p between its packets counts until its next packet is overdue by half of that
//! time. Otherwise only some of the slow flows would count at a time, and all would be told too large a share.

use super::measurement::Measurement;
use pathweave_random::mix;
use pathweave_units::Time;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// No slot.
const NONE: u32 = u32::MAX;
/// In place of a slot: the flow has been turned away.
const TURNED_AWAY: u32 = u32::MAX - 1;

#[derive(Clone, Debug)]
struct Slot {
    flow: u32,
    older: u32,
    newer: u32,
    seen: Time,
    /// Whether it is one of the n.
    counts: bool,
    measurement: Measurement,
}

/// Hashes the numbers of flows, which are no secret and need no keyed hash.
#[derive(Clone, Debug, Default)]
struct FlowHasher(u64);

impl Hasher for FlowHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = mix(self.0 ^ u64::from(byte));
        }
    }
    fn write_u32(&mut self, flow: u32) {
        self.0 = mix(u64::from(flow));
    }
}

/// Flows seen within a time, at most this many.
#[derive(Clone, Debug)]
pub struct Flows {
    limit: usize,
    /// How long a flow is kept unseen.
    hold: Time,
    /// By flow. Only looked up, never walked through, so that its order cannot reach any result.
    places: HashMap<u32, u32, BuildHasherDefault<FlowHasher>>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    oldest: u32,
    newest: u32,
    /// No flow is given up until then.
    kept_until: Time,
    turned_away: u64,
    /// n.
    active: usize,
}

impl Flows {
    pub fn new(limit: usize, hold: Time) -> Flows {
        Flows {
            limit,
            hold,
            places: HashMap::default(),
            slots: Vec::new(),
            free: Vec::new(),
            oldest: NONE,
            newest: NONE,
            kept_until: Time::MAX,
            turned_away: 0,
            active: 0,
        }
    }

    /// Flows that are kept.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// A period that lasted `period` is over at `now`: flows that sent nothing in it give up their share.
    #[inline(never)]
    pub fn end_period(&mut self, now: Time, period: Time) {
        let mut place = self.newest;
        while let Some(slot) = self.slots.get_mut(place as usize) {
            let gap = slot.measurement.gap();
            let waits = slot.measurement.unit.is_some();
            if slot.counts && !waits && slot.seen + period.max(gap + gap / 2) < now {
                slot.counts = false;
                self.active -= 1;
            }
            place = slot.older;
        }
    }

    /// Bytes of the table when it was at its fullest.
    pub fn most_bytes(&self) -> u64 {
        (self.slots.len() * size_of::<Slot>()) as u64
    }

    /// Flows that found it full.
    pub fn turned_away(&self) -> u64 {
        self.turned_away
    }

    /// The flow, if it is kept.
    #[inline(always)]
    pub fn get(&mut self, flow: u32) -> Option<&mut Measurement> {
        let place = if self.is_newest(flow) {
            self.newest
        } else {
            *self.places.get(&flow)?
        };
        let slot = self.slots.get_mut(place as usize)?;
        Some(&mut slot.measurement)
    }

    /// Whether the flow is the one that was seen last: its place is known without a look into the table.
    #[inline(always)]
    fn is_newest(&self, flow: u32) -> bool {
        let newest = self.slots.get(self.newest as usize);
        newest.is_some_and(|slot| slot.flow == flow)
    }

    /// The flow, of which a packet arrives, and n; none if the table is full.
    #[inline(always)]
    pub fn see(&mut self, flow: u32, now: Time) -> Option<(&mut Measurement, usize)> {
        self.forget(now);
        let place = if self.is_newest(flow) {
            self.newest
        } else {
            self.place_as_newest(flow, now)?
        };
        let slot = &mut self.slots[place as usize];
        slot.seen = now;
        if !slot.counts {
            slot.counts = true;
            self.active += 1;
        }
        Some((&mut slot.measurement, self.active))
    }

    /// The place of the flow, which becomes the one that was seen last; none if the table is full.
    fn place_as_newest(&mut self, flow: u32, now: Time) -> Option<u32> {
        let known = self.places.get(&flow).copied().unwrap_or(NONE);
        let place = if known < TURNED_AWAY {
            self.unlink(known);
            known
        } else if let Some(place) = self.free.pop() {
            place
        } else if self.slots.len() < self.limit {
            self.slots.push(Slot {
                flow,
                older: NONE,
                newer: NONE,
                seen: now,
                counts: false,
                measurement: Measurement::default(),
            });
            (self.slots.len() - 1) as u32
        } else {
            self.turned_away += u64::from(known == NONE);
            self.places.insert(flow, TURNED_AWAY);
            return None;
        };
        if place != known {
            self.places.insert(flow, place);
            self.slots[place as usize].flow = flow;
            self.slots[place as usize].measurement = Measurement::default();
        }
        self.link(place, now);
        Some(place)
    }

    /// Gives up what has not been seen for long.
    #[inline(always)]
    pub fn forget(&mut self, now: Time) {
        if self.kept_until < now {
            self.forget_oldest(now);
        }
    }

    #[inline(never)]
    fn forget_oldest(&mut self, now: Time) {
        while let Some(slot) = self.slots.get(self.oldest as usize) {
            self.kept_until = slot.seen.saturating_add(self.hold);
            if self.kept_until >= now {
                return;
            }
            let (place, flow) = (self.oldest, slot.flow);
            self.active -= usize::from(slot.counts);
            self.slots[place as usize].counts = false;
            self.unlink(place);
            self.places.remove(&flow);
            self.free.push(place);
        }
    }

    fn unlink(&mut self, place: u32) {
        let Slot { older, newer, .. } = self.slots[place as usize];
        match self.slots.get_mut(older as usize) {
            Some(slot) => slot.newer = newer,
            None => self.oldest = newer,
        }
        match self.slots.get_mut(newer as usize) {
            Some(slot) => slot.older = older,
            None => self.newest = older,
        }
    }

    fn link(&mut self, place: u32, now: Time) {
        let newest = self.newest;
        match self.slots.get_mut(newest as usize) {
            Some(slot) => slot.newer = place,
            None => {
                self.oldest = place;
                self.kept_until = now.saturating_add(self.hold);
            }
        }
        self.newest = place;
        let slot = &mut self.slots[place as usize];
        (slot.older, slot.newer) = (newest, NONE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: fn(u64) -> Time = Time::from_micros;

    #[test]
    fn flows_are_kept_while_they_are_seen() {
        let mut flows = Flows::new(8, US(1000));
        for (at, flow) in [(0, 7), (100, 3), (600, 7)] {
            assert!(flows.see(flow, US(at)).is_some());
        }
        flows.forget(US(1100));
        assert_eq!(flows.len(), 2);
        flows.forget(US(1101));
        assert_eq!(flows.len(), 1);
        assert!(flows.get(3).is_none() && flows.get(7).is_some());
        flows.forget(US(1601));
        assert_eq!(flows.len(), 0);
        assert!(flows.see(3, US(1700)).is_some());
        assert_eq!(flows.len(), 1);
    }

    #[test]
    fn a_full_table_turns_flows_away_until_one_is_gone() {
        let mut flows = Flows::new(2, US(1000));
        assert!(flows.see(0, US(0)).is_some() && flows.see(1, US(500)).is_some());
        assert!(flows.see(2, US(600)).is_none() && flows.see(2, US(700)).is_none());
        assert!(flows.see(3, US(800)).is_none());
        assert!(flows.get(2).is_none() && flows.get(1).is_some());
        assert_eq!((flows.len(), flows.turned_away()), (2, 2));
        // Flow 0 has not been seen for long.
        assert!(flows.see(2, US(1001)).is_some());
        assert!(flows.get(0).is_none() && flows.get(2).is_some());
        assert_eq!((flows.len(), flows.turned_away()), (2, 2));
        assert_eq!(flows.most_bytes(), 2 * size_of::<Slot>() as u64);
    }
}
