//! What happens next: links in a timing wheel, timers and everything far away in a heap.
//!
//! The order at equal times is a rule ([`Ranks`]), so that it does not depend on how the events are
//! kept.

use crate::ranks::Ranks;
use crate::wheel::{First, Wheel};
use pathweave_network::{LinkEvent, LinkEvents};
use pathweave_transport::{Timer, TimerKind};
use pathweave_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Something that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// A link's departure or arrival.
    Link(u32, LinkEvent),
    /// A timer.
    Timer(Alarm),
}

/// A timer of the transport or of the run itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Alarm {
    /// One of a subflow's.
    Transport(Timer),
    /// A feedback period of the switch with this number is over.
    Feedback(u32),
}

impl Alarm {
    /// What names it: its kind, its flow or switch, and its subflow.
    fn name(self) -> (u64, u32, u16) {
        match self {
            Alarm::Transport(timer) => {
                let kind = match timer.kind {
                    TimerKind::Retransmission => 0,
                    TimerKind::DelayedAck => 1,
                    TimerKind::Open => 2,
                    TimerKind::Pace => 3,
                };
                (kind, timer.flow, timer.subflow)
            }
            Alarm::Feedback(switch) => (4, switch, 0),
        }
    }
}

/// An entry of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Later {
    at: Time,
    rank: (u64, u32),
    event: Event,
}

/// The schedule of a run.
#[derive(Clone, Debug)]
pub(crate) struct Scheduler {
    now: Time,
    ranks: Ranks,
    links: u32,
    /// Slots below `links` are departures, those above arrivals.
    wheel: Wheel,
    heap: BinaryHeap<Reverse<Later>>,
    /// The time of the heap's first entry; `Time::MAX` when it is empty.
    heap_first: Time,
    /// Times of links that lie beyond the wheel; `Time::MAX` for none. An entry of the heap that
    /// does not agree was cancelled.
    far: Vec<Time>,
}

impl Scheduler {
    /// For so many links. `longest` is the longest that a link usually schedules ahead, and
    /// `spacing` the mean time between events when all links are busy.
    pub fn new(links: u32, longest: Time, spacing: Time, seed: u64) -> Scheduler {
        // About one event a bucket, unless the wheel would then be too short.
        let fine = spacing.as_picos().max(2).ilog2().clamp(6, 40);
        let reaching = (fine..40).find(|&shift| Wheel::horizon_of(shift) > longest * 2);
        let slots = 2 * links as usize;
        let ranks = Ranks::new(seed, links);
        Scheduler {
            now: Time::ZERO,
            ranks,
            links,
            wheel: Wheel::new(slots, reaching.unwrap_or(40), ranks),
            heap: BinaryHeap::new(),
            heap_first: Time::MAX,
            far: vec![Time::MAX; slots],
        }
    }

    /// The time of the last event that came out.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// When anything is due next; `Time::MAX` for nothing.
    pub fn next_due(&self) -> Time {
        let near = self.wheel.peek().map_or(Time::MAX, |first| first.at);
        near.min(self.heap_first)
    }

    /// Timers that are set, and links that are scheduled far ahead.
    pub fn timers(&self) -> usize {
        self.heap.len()
    }

    /// Moves the clock without an event; nothing is due before.
    pub fn advance(&mut self, to: Time) {
        debug_assert!(to >= self.now);
        self.set_now(to);
    }

    fn set_now(&mut self, now: Time) {
        self.now = now;
        self.wheel.advance(now);
    }

    /// Sets a timer. Timers are not taken back.
    pub fn wake(&mut self, alarm: Alarm, at: Time) {
        let (kind, flow, subflow) = alarm.name();
        #[cfg(feature = "checks")]
        self.check_not_past(at);
        let at = at.max(self.now);
        self.push(Later {
            at,
            rank: self.ranks.of_timer(at, kind, flow, subflow),
            event: Event::Timer(alarm),
        });
    }

    fn push(&mut self, later: Later) {
        self.heap_first = self.heap_first.min(later.at);
        self.heap.push(Reverse(later));
    }

    #[inline(always)]
    fn slot(&self, link: u32, event: LinkEvent) -> u32 {
        match event {
            LinkEvent::Departure => link,
            LinkEvent::Arrival => link + self.links,
        }
    }

    #[inline(always)]
    fn link_event(&self, slot: u32) -> Event {
        if slot < self.links {
            Event::Link(slot, LinkEvent::Departure)
        } else {
            Event::Link(slot - self.links, LinkEvent::Arrival)
        }
    }

    /// The next event, if it is due before `limit`.
    #[inline(always)]
    pub fn pop_before(&mut self, limit: Time) -> Option<(Time, Event)> {
        let near = self.wheel.peek();
        if let Some(first) = near
            && first.at < self.heap_first.min(limit)
        {
            self.wheel.pop(first);
            #[cfg(feature = "checks")]
            self.check_not_past(first.at);
            self.now = first.at;
            return Some((first.at, self.link_event(first.slot)));
        }
        self.pop_with_heap(near, limit)
    }

    /// The same, when the heap's first entry may be the next.
    #[inline(never)]
    fn pop_with_heap(&mut self, near: Option<First>, limit: Time) -> Option<(Time, Event)> {
        loop {
            let first = self
                .heap
                .peek()
                .map(|Reverse(later)| (later.at, later.rank));
            if let Some(near) = near
                && first.is_none_or(|later| (near.at, self.ranks.of(near.at, near.slot)) < later)
            {
                if near.at >= limit {
                    return None;
                }
                self.wheel.pop(near);
                #[cfg(feature = "checks")]
                self.check_not_past(near.at);
                self.now = near.at;
                return Some((near.at, self.link_event(near.slot)));
            }
            if first?.0 >= limit {
                return None;
            }
            let Reverse(later) = self.heap.pop()?;
            self.heap_first = self
                .heap
                .peek()
                .map_or(Time::MAX, |Reverse(first)| first.at);
            if let Event::Link(link, event) = later.event {
                let slot = self.slot(link, event) as usize;
                if self.far[slot] != later.at {
                    continue; // cancelled
                }
                self.far[slot] = Time::MAX;
            }
            #[cfg(feature = "checks")]
            self.check_not_past(later.at);
            self.set_now(later.at);
            return Some((later.at, later.event));
        }
    }

    /// No event is set for, or comes out at, a time before the last one's.
    #[cfg(feature = "checks")]
    fn check_not_past(&self, at: Time) {
        assert!(
            at >= self.now,
            "check: an event at {at}, when it is {} already",
            self.now
        );
    }

    #[cold]
    #[inline(never)]
    fn schedule_far(&mut self, slot: u32, at: Time) {
        self.far[slot as usize] = at;
        let event = self.link_event(slot);
        self.push(Later {
            at,
            rank: self.ranks.of(at, slot),
            event,
        });
    }
}

impl LinkEvents for Scheduler {
    #[inline(always)]
    fn schedule(&mut self, link: u32, event: LinkEvent, at: Time) {
        #[cfg(feature = "checks")]
        self.check_not_past(at);
        let slot = self.slot(link, event);
        if !self.wheel.insert(slot, at) {
            self.schedule_far(slot, at);
        }
    }

    fn cancel(&mut self, link: u32, event: LinkEvent) {
        let slot = self.slot(link, event);
        if self.far[slot as usize] == Time::MAX {
            self.wheel.remove(slot);
        } else {
            self.far[slot as usize] = Time::MAX;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[derive(Clone, Debug)]
    enum Step {
        Link(u32, bool, u64),
        Timer(u32, u64),
        Cancel(u32, bool),
        Pop(u64),
    }

    fn delay() -> impl Strategy<Value = u64> {
        // Equal times, near ones, and some far beyond the wheel's horizon.
        prop_oneof![Just(0), 0u64..20, 0u64..100_000, 0u64..100_000_000_000]
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (0u32..20, any::<bool>(), delay()).prop_map(|(l, d, t)| Step::Link(l, d, t)),
            2 => (0u32..20, delay()).prop_map(|(id, t)| Step::Timer(id, t)),
            1 => (0u32..20, any::<bool>()).prop_map(|(l, d)| Step::Cancel(l, d)),
            5 => delay().prop_map(Step::Pop),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        /// Against a map ordered by the rule itself.
        #[test]
        fn events_come_out_in_the_order_of_the_rule(
            steps in prop::collection::vec(step(), 1..400), shift in 6u64..16,
        ) {
            let spacing = Time::from_picos(1 << shift);
            let mut scheduler = Scheduler::new(20, Time::from_picos(1000), spacing, 7);
            let mut oracle: BTreeMap<(Time, (u64, u32), u32), Event> = BTreeMap::new();
            let mut serial = 0;
            for step in steps {
                match step {
                    Step::Link(link, departure, delay) => {
                        let event =
                            if departure { LinkEvent::Departure } else { LinkEvent::Arrival };
                        if oracle.values().any(|&other| other == Event::Link(link, event)) {
                            continue;
                        }
                        let at = scheduler.now() + Time::from_picos(delay);
                        scheduler.schedule(link, event, at);
                        let slot = if departure { link } else { link + 20 };
                        let rank = Ranks::new(7, 20).of(at, slot);
                        oracle.insert((at, rank, 0), Event::Link(link, event));
                    }
                    Step::Timer(id, delay) => {
                        let at = scheduler.now() + Time::from_picos(delay);
                        let alarm = Alarm::Feedback(id);
                        scheduler.wake(alarm, at);
                        serial += 1;
                        let rank = Ranks::new(7, 20).of_timer(at, 4, id, 0);
                        oracle.insert((at, rank, serial), Event::Timer(alarm));
                    }
                    Step::Cancel(link, departure) => {
                        let event =
                            if departure { LinkEvent::Departure } else { LinkEvent::Arrival };
                        if oracle.values().all(|&other| other != Event::Link(link, event)) {
                            continue;
                        }
                        scheduler.cancel(link, event);
                        oracle.retain(|_, other| *other != Event::Link(link, event));
                    }
                    Step::Pop(delay) => {
                        let limit = scheduler.now() + Time::from_picos(delay);
                        let expected = oracle
                            .first_key_value()
                            .filter(|((at, ..), _)| *at < limit)
                            .map(|((at, ..), event)| (*at, *event));
                        if expected.is_some() {
                            oracle.pop_first();
                        }
                        prop_assert_eq!(scheduler.pop_before(limit), expected);
                    }
                }
            }
            while let Some(((at, ..), event)) = oracle.pop_first() {
                prop_assert_eq!(scheduler.pop_before(Time::MAX), Some((at, event)));
            }
            prop_assert_eq!(scheduler.pop_before(Time::MAX), None);
        }
    }
}
