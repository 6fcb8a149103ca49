//! When packets arrive at the ends of links: what lets one node after another have its turn.

use crate::link_schedule::DueLink;
use crate::ranks::Ranks;
use pathweave_network::{Inputs, LinkEvent, LinkEvents, PortId};
use pathweave_units::Time;
use std::sync::Arc;

/// Inputs of a group, which share one look at whether anything is due.
const GROUP: usize = 16;
/// Groups that are looked through at a time.
const GROUPS_OF_PAGE: usize = 4;
/// Inputs of a page.
pub(crate) const PAGE: usize = GROUP * GROUPS_OF_PAGE;

/// The time of the first arrival at each input, as far ahead as it may be.
///
/// Setting a time is one store. What is due in a window is found by looking at all inputs, which costs less than keeping
/// them in order as long as most links are busy; groups of inputs at which nothing is due are passed over. Where
/// events are to come in the order of all nodes ([`ArrivalTimes::pop_before`]), those of a window are put in order
/// together: the earliest first and, at equal times, the one with the lowest rank.
#[derive(Clone, Debug)]
pub(crate) struct ArrivalTimes {
    /// By input; `Time::MAX` where nothing is to arrive.
    times: Box<[[Time; GROUP]]>,
    /// No input of a group is due before.
    bounds: Box<[Time]>,
    /// Inputs that are due before `ordered_before`, the earliest last.
    due: Vec<Due>,
    /// Zero while nothing is in order.
    ordered_before: Time,
    /// How much is put in order at a time.
    window: Time,
    inputs: Arc<Inputs>,
    pub ranks: Ranks,
    /// Nothing is set for a time before this.
    #[cfg(feature = "checks")]
    pub not_before: Time,
}

/// An input whose turn has come, and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    pub at: Time,
    input: u32,
}

impl ArrivalTimes {
    /// For links that end at these inputs, of which events of a window of this length are put in order together.
    pub fn new(inputs: Arc<Inputs>, window: Time, ranks: Ranks) -> ArrivalTimes {
        let pages = inputs.count().div_ceil(PAGE);
        let groups = pages * GROUPS_OF_PAGE;
        ArrivalTimes {
            times: vec![[Time::MAX; GROUP]; groups].into(),
            bounds: vec![Time::MAX; groups].into(),
            due: Vec::new(),
            ordered_before: Time::ZERO,
            window,
            inputs,
            ranks,
            #[cfg(feature = "checks")]
            not_before: Time::ZERO,
        }
    }

    /// How long windows are in which nodes can have their turns.
    pub fn window(&self) -> Time {
        self.window
    }

    /// Pages of inputs.
    pub fn pages(&self) -> usize {
        self.bounds.len() / GROUPS_OF_PAGE
    }

    /// Whose an input is whose turn has come.
    pub fn due_link(&self, due: Due) -> DueLink {
        DueLink {
            at: due.at,
            port: self.inputs.port(due.input as usize),
            event: LinkEvent::Arrival,
        }
    }

    /// When something arrives at an input.
    #[inline(always)]
    pub fn at(&self, input: usize) -> Time {
        self.times[input / GROUP][input % GROUP]
    }

    /// Sets the time of an input while its node has its turn, or `Time::MAX`. It is not within the window.
    #[inline(always)]
    pub fn set_again(&mut self, input: usize, at: Time) {
        self.times[input / GROUP][input % GROUP] = at;
        let bound = &mut self.bounds[input / GROUP];
        *bound = at.min(*bound);
    }

    /// Sets the time of an input that has none.
    #[inline(always)]
    pub fn set(&mut self, input: usize, at: Time) {
        #[cfg(feature = "checks")]
        assert!(
            at >= self.not_before,
            "check: an arrival at {at}, before {}",
            self.not_before
        );
        self.set_again(input, at);
        if at < self.ordered_before {
            self.set_in_order(input as u32, at);
        }
    }

    /// Sets a time among those that are in order.
    #[inline(never)]
    fn set_in_order(&mut self, input: u32, at: Time) {
        let due = Due { at, input };
        let key = self.key(due);
        let place = self.due.partition_point(|&other| self.key(other) > key);
        self.due.insert(place, due);
    }

    fn key(&self, Due { at, input }: Due) -> (Time, (u64, u32)) {
        let port = self.inputs.port(input as usize);
        (at, self.ranks.of(at, port, LinkEvent::Arrival))
    }

    /// Takes back the time of an input.
    pub fn clear(&mut self, port: PortId) {
        let input = self.inputs.of_port(port);
        self.times[input / GROUP][input % GROUP] = Time::MAX;
        self.bounds[input / GROUP] = self.earliest_of(input / GROUP);
        self.due.retain(|due| due.input as usize != input);
    }

    fn earliest_of(&self, group: usize) -> Time {
        let times = self.times[group].iter().copied();
        times.fold(Time::MAX, Time::min)
    }

    /// If nothing is left in order and something is due before a time, a window from there on is put in order.
    #[inline(always)]
    pub fn turn(&mut self, before: Time) {
        if self.due.is_empty() {
            self.put_in_order(before);
        }
    }

    #[inline(never)]
    fn put_in_order(&mut self, before: Time) {
        self.ordered_before = Time::ZERO;
        let Some(earliest) = self.earliest() else {
            return;
        };
        if earliest >= before {
            return;
        }
        let end = earliest.saturating_add(self.window);
        let mut due = std::mem::take(&mut self.due);
        for (group, times) in self.times.iter().enumerate() {
            if self.bounds[group] >= end {
                continue;
            }
            self.bounds[group] = self.earliest_of(group);
            let inputs = (group * GROUP) as u32..;
            let all = inputs.zip(times).map(|(input, &at)| Due { at, input });
            due.extend(all.filter(|due| due.at < end));
        }
        due.sort_unstable_by(|one, other| other.at.cmp(&one.at));
        for equals in due.chunk_by_mut(|one, other| one.at == other.at) {
            if equals.len() > 1 {
                equals.sort_by_cached_key(|&due| std::cmp::Reverse(self.key(due)));
            }
        }
        self.due = due;
        self.ordered_before = end;
    }

    /// Nothing is in order any more.
    pub fn forget_order(&mut self) {
        self.due.clear();
        self.ordered_before = Time::ZERO;
    }

    /// Takes out the first of what is in order, if it is due before a time.
    #[inline(always)]
    pub fn pop_before(&mut self, limit: Time) -> Option<Due> {
        let due = self.first_due()?;
        if due.at >= limit {
            return None;
        }
        self.due.pop();
        let input = due.input as usize;
        self.times[input / GROUP][input % GROUP] = Time::MAX;
        Some(due)
    }

    /// The first of what is in order.
    #[inline(always)]
    pub fn first_due(&self) -> Option<Due> {
        self.due.last().copied()
    }

    /// Nothing is due before this time; `None` if nothing is due at all.
    pub fn nothing_before(&self) -> Option<Time> {
        if let Some(due) = self.first_due() {
            return Some(due.at);
        }
        let bounds = self.bounds.iter().copied();
        Some(bounds.fold(Time::MAX, Time::min)).filter(|&bound| bound < Time::MAX)
    }

    /// The earliest time of all.
    pub fn earliest(&self) -> Option<Time> {
        if let Some(due) = self.first_due() {
            return Some(due.at);
        }
        let mut earliest = Time::MAX;
        for (group, &bound) in self.bounds.iter().enumerate() {
            if bound < earliest {
                earliest = earliest.min(self.earliest_of(group));
            }
        }
        Some(earliest).filter(|&earliest| earliest < Time::MAX)
    }

    /// The inputs of a page that are due before a time, in their order: how many, in `list`. While the window is under
    /// way their times have to be set again. Nothing is in order.
    #[inline(always)]
    pub fn list_due(&mut self, page: usize, before: Time, list: &mut [u32; PAGE]) -> usize {
        let groups = page * GROUPS_OF_PAGE..(page + 1) * GROUPS_OF_PAGE;
        let mut count = 0;
        for group in groups {
            if self.bounds[group] < before {
                count = self.list_group(group, before, list, count);
            }
        }
        count
    }

    #[inline(always)]
    fn list_group(
        &mut self,
        group: usize,
        before: Time,
        list: &mut [u32; PAGE],
        already: usize,
    ) -> usize {
        let mut count = already;
        let first = (group * GROUP) as u32;
        for (input, at) in (first..).zip(&self.times[group]) {
            // Without a jump, which the processor could not foresee.
            list[count % PAGE] = input;
            count += usize::from(*at < before);
        }
        self.bounds[group] = if count > already {
            before
        } else {
            self.earliest_of(group)
        };
        count
    }
}

impl LinkEvents for ArrivalTimes {
    #[inline(always)]
    fn schedule(&mut self, port: PortId, event: LinkEvent, at: Time) {
        debug_assert_eq!(event, LinkEvent::Arrival);
        self.set(self.inputs.of_port(port), at);
    }

    fn cancel(&mut self, port: PortId, _event: LinkEvent, _at: Time) {
        self.clear(port);
    }
}
