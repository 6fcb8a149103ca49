//! What happens next: links in a wheel or by input, timers by period. Timers that are due at once are in a heap, and so is
//! what lies beyond the wheel.
//!
//! The order at equal times is a rule ([`Ranks`]), so that it does not depend on how the events are
//! kept.

use crate::schedule::alarm::Alarm;
use crate::schedule::arrival_times::ArrivalTimes;
use crate::schedule::due_link::DueLink;
use crate::schedule::link_schedule::LinkSchedule;
use crate::schedule::ranks::Ranks;
use crate::schedule::waiting_timers::{DueTimer, WaitingTimers};
use pathweave_network::{LinkEvent, LinkEvents, PortId};
use pathweave_units::Time;
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

/// Something that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// A port's departure, or the arrival at the end of its link.
    Link(PortId, LinkEvent),
    /// A timer.
    Timer(Alarm),
}

/// An entry of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Later {
    at: Time,
    rank: (u64, u32),
    event: Event,
}

/// The schedule of a region.
#[derive(Clone, Debug)]
pub(crate) struct Scheduler {
    now: Time,
    links: LinkSchedule,
    heap: BinaryHeap<Reverse<Later>>,
    /// Timers that come into the heap before they are due, or are taken out when their hosts have their turns.
    waiting: WaitingTimers,
    /// Room for those that leave these.
    leaving: Vec<DueTimer>,
    /// No retransmission timer that has come into the heap since it was empty is due before; `Time::MAX` for none.
    retransmission_in_heap: Time,
    /// Connections that start later, in their order, which is that of their times. At one time they come after all else.
    starts: VecDeque<DueTimer>,
    /// The time of the heap's first entry or of the first start, or that from which something has to come into the heap if
    /// that is earlier; `Time::MAX` when there is none.
    heap_first: Time,
    /// Times of ports, arrivals and then departures, that lie too far ahead for that; `Time::MAX` for none. An entry of
    /// the heap that does not agree was cancelled.
    far: [Box<[Time]>; 2],
}

impl Scheduler {
    /// For this many ports and inlets, whose events are in here.
    pub fn new(ports: usize, links: LinkSchedule) -> Scheduler {
        let beyond = || vec![Time::MAX; ports].into_boxed_slice();
        Scheduler {
            now: Time::ZERO,
            links,
            heap: BinaryHeap::new(),
            waiting: WaitingTimers::new(),
            leaving: Vec::new(),
            retransmission_in_heap: Time::MAX,
            starts: VecDeque::new(),
            heap_first: Time::MAX,
            far: [beyond(), beyond()],
        }
    }

    /// The time of the last event that came out.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// When it has to be looked for what is due next, and nothing is due before; `Time::MAX` for nothing.
    pub fn next_due(&self) -> Time {
        let near = self.links.earliest().unwrap_or(Time::MAX);
        near.min(self.heap_first)
    }

    /// Nothing is due before this time; `Time::MAX` for nothing at all.
    pub fn nothing_before(&self) -> Time {
        let near = self.links.nothing_before().unwrap_or(Time::MAX);
        near.min(self.heap_first)
    }

    /// Timers that are set, and links that are scheduled far ahead.
    pub fn timers(&self) -> usize {
        self.heap.len() + self.waiting.count() + self.starts.len()
    }

    /// Moves the clock without an event; nothing is due before.
    pub fn advance(&mut self, to: Time) {
        debug_assert!(to >= self.now);
        self.set_now(to);
    }

    fn set_now(&mut self, now: Time) {
        self.now = now;
        self.links.advance(now);
    }

    /// Sets a timer. Timers are not taken back.
    pub fn wake(&mut self, alarm: Alarm, at: Time) {
        #[cfg(feature = "checks")]
        self.check_not_past(at);
        let at = at.max(self.now);
        if self.waiting.add(self.now, at, alarm) {
            self.heap_first = self.heap_first.min(self.waiting.from());
        } else {
            self.push_timer(at, alarm);
        }
    }

    /// A connection will start. Calls come in the order of the times.
    pub fn start_later(&mut self, alarm: Alarm, at: Time) {
        debug_assert!(self.starts.back().is_none_or(|last| last.at <= at));
        self.starts.push_back(DueTimer { at, alarm });
        self.heap_first = self.heap_first.min(at);
    }

    /// Timers that are due before a time and may be the next come into the heap.
    #[inline(always)]
    fn bring_near(&mut self, limit: Time) {
        while self.waiting.from() <= self.heap_first && self.heap_first < limit {
            self.take_in_period();
        }
    }

    #[cold]
    #[inline(never)]
    fn take_in_period(&mut self) {
        self.waiting.take_first(self.now, &mut self.leaving);
        self.take_in_leaving();
        self.find_first();
    }

    /// Timers that do not wait outside any more come into the heap.
    fn take_in_leaving(&mut self) {
        while let Some(DueTimer { at, alarm }) = self.leaving.pop() {
            self.push_timer(at, alarm);
        }
    }

    fn push_timer(&mut self, at: Time, alarm: Alarm) {
        if alarm.is_retransmission() {
            self.retransmission_in_heap = self.retransmission_in_heap.min(at);
        }
        self.push(Later {
            at,
            rank: rank_of_timer(self.links.ranks(), at, alarm),
            event: Event::Timer(alarm),
        });
    }

    #[inline(always)]
    fn find_first(&mut self) {
        let start = self.starts.front().map_or(Time::MAX, |start| start.at);
        self.heap_first = self.no_timer_before().min(start);
    }

    fn push(&mut self, later: Later) {
        self.heap_first = self.heap_first.min(later.at);
        self.heap.push(Reverse(later));
    }

    fn far(&mut self, PortId(port): PortId, event: LinkEvent) -> &mut Time {
        &mut self.far[event as usize][port as usize]
    }

    /// The next event, if it is due before `limit`.
    #[inline(always)]
    pub fn pop_before(&mut self, limit: Time) -> Option<(Time, Event)> {
        self.turn(limit);
        match self.pop_port(limit) {
            Some((at, port, event)) => Some((at, Event::Link(port, event))),
            // What is in order is due later, and all else begins later.
            None if self.heap_first >= limit => None,
            None => self.pop_elsewhere(limit),
        }
    }

    /// Whether what comes next in the order of times, before `limit`, has not been handed out by
    /// [`ArrivalTimes::next_in_order`].
    #[inline(always)]
    pub fn goes_on_with_new(&mut self, limit: Time) -> bool {
        self.turn(limit);
        self.arrivals().goes_on_with_new()
    }

    /// Ports that are due before `limit` and before any timer have their turn next.
    #[inline(always)]
    fn turn(&mut self, limit: Time) {
        // What begins when the heap's first entry is due can hold what comes before it.
        self.links
            .turn(limit.min(self.heap_first.saturating_add(Time::from_picos(1))));
    }

    /// The times of arrivals by input, while nodes have their turns.
    #[inline(always)]
    pub fn arrivals(&mut self) -> &mut ArrivalTimes {
        let times = self.links.by_input_mut();
        times.expect("nodes have turns only where times are kept by input")
    }

    /// The next timer that was set, if it is due before a time.
    #[inline(always)]
    pub fn take_timer(&mut self, limit: Time) -> Option<DueTimer> {
        if self.heap_first >= limit {
            return None;
        }
        self.bring_near(limit);
        if self.heap_first >= limit {
            return None;
        }
        match self.pop_later()? {
            (at, Event::Timer(alarm)) => Some(DueTimer { at, alarm }),
            (_, Event::Link(..)) => unreachable!("arrivals lie further ahead"),
        }
    }

    /// The order of two timers, which is that of [`Scheduler::take_timer`]. Of connections that start at one time it does not
    /// know which was told first.
    #[inline(always)]
    pub fn order(&self, one: &DueTimer, other: &DueTimer) -> Ordering {
        one.at
            .cmp(&other.at)
            .then_with(|| self.order_at_one_time(one, other))
    }

    #[cold]
    #[inline(never)]
    fn order_at_one_time(&self, one: &DueTimer, other: &DueTimer) -> Ordering {
        let ranks = self.links.ranks();
        let rank = |timer: &DueTimer| match timer.alarm {
            Alarm::Start(..) => RANK_OF_STARTS,
            alarm => rank_of_timer(ranks, timer.at, alarm),
        };
        rank(one).cmp(&rank(other))
    }

    /// The timers that are due before a time and have not come into the heap. The others are left to
    /// [`Scheduler::take_timer`].
    pub fn take_timers_outside_the_heap(&mut self, limit: Time, due: &mut Vec<DueTimer>) {
        if self.waiting.from() < limit {
            self.waiting.bring_near(self.now, limit, &mut self.leaving);
            self.take_in_leaving();
            self.waiting.take_before(limit, due);
            self.find_first();
        }
    }

    /// The first entry of the heap, or the first start if that comes before.
    fn pop_later(&mut self) -> Option<(Time, Event)> {
        let first = self.heap.peek().map(|Reverse(later)| later.at);
        let start = self
            .starts
            .front()
            .filter(|start| first.is_none_or(|first| start.at < first));
        let due = match start.copied() {
            Some(DueTimer { at, alarm }) => {
                self.starts.pop_front();
                (at, Event::Timer(alarm))
            }
            None => {
                let Reverse(later) = self.heap.pop()?;
                if self.heap.is_empty() {
                    self.retransmission_in_heap = Time::MAX;
                }
                (later.at, later.event)
            }
        };
        self.find_first();
        Some(due)
    }

    /// From here on something happens at this time, which may be earlier than what happened elsewhere.
    #[inline(always)]
    pub fn turn_to(&mut self, now: Time) {
        self.now = now;
    }

    /// A step is over, and what happened last in all steps happened at this time.
    pub fn end_step(&mut self, last: Time) {
        self.now = last;
    }

    /// No timer that is set is due before.
    #[inline(always)]
    fn no_timer_before(&self) -> Time {
        let first = self.heap.peek();
        let first = first.map_or(Time::MAX, |Reverse(first)| first.at);
        first.min(self.waiting.from())
    }

    /// No retransmission timer that is set is due before.
    pub fn no_retransmission_before(&self) -> Time {
        let first = self.heap.peek();
        let in_heap = first.map_or(Time::MAX, |Reverse(first)| {
            self.retransmission_in_heap.max(first.at)
        });
        in_heap.min(self.waiting.no_retransmission_before())
    }

    /// The next event, if it is due before `limit` and stands where everybody can see that it is the
    /// next. Otherwise [`Scheduler::pop_elsewhere`] has to look.
    #[inline(always)]
    pub fn pop_port(&mut self, limit: Time) -> Option<(Time, PortId, LinkEvent)> {
        let due = self.links.pop_before(self.heap_first.min(limit))?;
        Some(self.come_to(due))
    }

    #[inline(always)]
    fn come_to(&mut self, due: DueLink) -> (Time, PortId, LinkEvent) {
        #[cfg(feature = "checks")]
        self.check_not_past(due.at);
        self.now = due.at;
        (due.at, due.port, due.event)
    }

    /// The next event, if it is due before `limit`, when something else has to be put in order or the heap's first entry may be the
    /// next.
    #[inline(never)]
    pub fn pop_elsewhere(&mut self, limit: Time) -> Option<(Time, Event)> {
        loop {
            self.bring_near(limit);
            self.turn(limit);
            let first = self.first_later();
            if let Some(due) = self.links.first_due()
                && (due.at < self.heap_first || first.is_none_or(|first| self.key(due) < first))
            {
                let due = self.links.pop_before(limit)?;
                let (at, port, event) = self.come_to(due);
                return Some((at, Event::Link(port, event)));
            }
            if first?.0 >= limit {
                return None;
            }
            let (at, event) = self.pop_later()?;
            if let Event::Link(port, event) = event {
                let far = self.far(port, event);
                if *far != at {
                    continue; // cancelled
                }
                *far = Time::MAX;
            }
            #[cfg(feature = "checks")]
            self.check_not_past(at);
            self.set_now(at);
            return Some((at, event));
        }
    }

    /// The first entry of the heap, or the first start if that comes before.
    fn first_later(&self) -> Option<(Time, (u64, u32))> {
        let first = self.heap.peek();
        let first = first.map(|Reverse(later)| (later.at, later.rank));
        let start = self.starts.front().map(|start| (start.at, RANK_OF_STARTS));
        match (first, start) {
            (Some(first), Some(start)) => Some(first.min(start)),
            _ => first.or(start),
        }
    }

    /// What decides between a link and the heap's first entry.
    fn key(&self, due: DueLink) -> (Time, (u64, u32)) {
        (due.at, self.links.ranks().of(due.at, due.port, due.event))
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
    fn schedule_far(&mut self, port: PortId, event: LinkEvent, at: Time) {
        *self.far(port, event) = at;
        self.push(Later {
            at,
            rank: self.links.ranks().of(at, port, event),
            event: Event::Link(port, event),
        });
    }
}

/// Connections that start come last.
const RANK_OF_STARTS: (u64, u32) = (u64::MAX, u32::MAX);

/// What decides between timers of the same time.
fn rank_of_timer(ranks: &Ranks, at: Time, alarm: Alarm) -> (u64, u32) {
    let (kind, flow, subflow) = alarm.name();
    ranks.of_timer(at, kind, flow, subflow)
}

impl LinkEvents for Scheduler {
    #[inline(always)]
    fn schedule(&mut self, port: PortId, event: LinkEvent, at: Time) {
        #[cfg(feature = "checks")]
        self.check_not_past(at);
        if !self.links.insert(port, event, at) {
            self.schedule_far(port, event, at);
        }
    }

    fn cancel(&mut self, port: PortId, event: LinkEvent, at: Time) {
        let far = self.far(port, event);
        if *far == Time::MAX {
            self.links.remove(port, event, at);
        } else {
            *far = Time::MAX;
        }
    }
}

#[cfg(test)]
mod tests;
