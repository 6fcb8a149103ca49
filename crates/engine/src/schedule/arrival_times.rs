//! When packets arrive at the ends of links, and which comes first.

use crate::schedule::due_link::DueLink;
use crate::schedule::ranks::Ranks;
use pathweave_network::{
    DueInputs, InputSet, InputTimes, Inputs, LinkEvent, LinkEvents, PortId, TurnEvents,
};
use pathweave_units::Time;
use std::sync::Arc;

/// Arrivals that are put in order together. Looking for fewer costs more for each of them: all inputs are looked through.
/// With more of them, those that are set meanwhile take longer to find their places.
const FEWEST_IN_ORDER: usize = 128;
const MOST_IN_ORDER: usize = 512;

/// The time of the first arrival at each input, so that one node after another can have its turn.
///
/// Where events are to come in the order of all nodes ([`ArrivalTimes::pop_before`]), those of a window are put in order
/// together: the earliest first and, at equal times, the one with the lowest rank.
#[derive(Clone, Debug)]
pub(crate) struct ArrivalTimes {
    pub times: InputTimes,
    /// Inputs that are due before `ordered_before`, the earliest last.
    due: Vec<Due>,
    /// Entries of `due` that [`ArrivalTimes::next_in_order`] has not handed out; an estimate once others have been inserted.
    not_handed_out: usize,
    /// Zero while nothing is in order.
    ordered_before: Time,
    /// All inputs, and those that are put in order.
    all: InputSet,
    ordered: InputSet,
    /// How much is put in order at a time, and how much that may be.
    window: Time,
    longest: Time,
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
    /// For links that end at these inputs, of which events of a window of this length at most are put in order together.
    pub fn new(inputs: Arc<Inputs>, longest: Time, ranks: Ranks) -> ArrivalTimes {
        ArrivalTimes {
            times: InputTimes::new(inputs.count()),
            due: Vec::new(),
            not_handed_out: 0,
            ordered_before: Time::ZERO,
            all: InputSet::all(inputs.count()),
            ordered: InputSet::all(inputs.count()),
            window: longest,
            longest,
            inputs,
            ranks,
            #[cfg(feature = "checks")]
            not_before: Time::ZERO,
        }
    }

    /// Whose an input is whose turn has come.
    pub fn due_link(&self, due: Due) -> DueLink {
        DueLink {
            at: due.at,
            port: self.inputs.port(due.input as usize),
            event: LinkEvent::Arrival,
        }
    }

    /// Sets a time among those that are in order.
    #[inline(never)]
    fn set_in_order(&mut self, input: u32, at: Time) {
        let due = Due { at, input };
        let key = self.key(due);
        #[cfg(feature = "checks")]
        assert!(
            self.ordered.contains(input as usize),
            "check: an arrival at {at} among those of other nodes"
        );
        let place = self.due.partition_point(|&other| self.key(other) > key);
        self.due.insert(place, due);
    }

    fn key(&self, Due { at, input }: Due) -> (Time, (u64, u32)) {
        let port = self.inputs.port(input as usize);
        (at, self.rank_of_arrival(at, port))
    }

    /// Takes back the time of a port that has one.
    pub fn clear(&mut self, port: PortId) {
        let input = self.inputs.of_port(port);
        self.times.clear(input);
        self.due.retain(|due| due.input as usize != input);
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
        let earliest = self.times.earliest(&self.ordered);
        if earliest >= before {
            // Who asks when the next one is due hears of none that has been.
            self.times.look_again(before, &self.ordered);
            return;
        }
        let end = earliest.saturating_add(self.window);
        let mut due = std::mem::take(&mut self.due);
        let inputs = self.times.due_before(end, &self.ordered);
        due.extend(inputs.map(|(input, at)| Due { at, input }));
        due.sort_unstable_by_key(|due| std::cmp::Reverse(due.at));
        for equals in due.chunk_by_mut(|one, other| one.at == other.at) {
            if equals.len() > 1 {
                equals.sort_by_cached_key(|&due| std::cmp::Reverse(self.key(due)));
            }
        }
        if due.len() > MOST_IN_ORDER {
            self.window = (self.window / 2).max(Time::from_picos(1));
        } else if due.len() < FEWEST_IN_ORDER {
            self.window = (self.window * 2).min(self.longest);
        }
        self.not_handed_out = due.len();
        self.due = due;
        self.ordered_before = end;
    }

    /// Whether the first of what is in order has not been handed out by [`ArrivalTimes::next_in_order`].
    #[inline(always)]
    pub fn goes_on_with_new(&self) -> bool {
        self.due.len() <= self.not_handed_out && !self.due.is_empty()
    }

    /// The ports or inlets from which something arrives next in the order of times, and a time after that; a page of them at
    /// most.
    pub fn next_in_order(&mut self) -> (DueInputs, [PortId; Inputs::PAGE], Time) {
        let first = self.due.len().saturating_sub(Inputs::PAGE);
        let next = &self.due[first..];
        let mut ports = [PortId(0); Inputs::PAGE];
        for (port, due) in ports.iter_mut().zip(next) {
            *port = self.inputs.port(due.input as usize);
        }
        let last = next.first().map_or(Time::ZERO, |due| due.at);
        self.not_handed_out = first;
        let after = last.saturating_add(Time::from_picos(1));
        (DueInputs::first_ones(next.len()), ports, after)
    }

    /// From now on only these inputs are put in order. Nothing is in order any more. What leaves one of their nodes arrives
    /// nowhere within the longest window.
    pub fn order_only(&mut self, inputs: &InputSet) {
        self.forget_order();
        self.ordered.clone_from(inputs);
    }

    /// From now on all inputs are put in order again. Nothing is in order any more.
    pub fn order_all(&mut self) {
        self.forget_order();
        self.ordered.clone_from(&self.all);
    }

    /// Nothing is in order any more.
    pub fn forget_order(&mut self) {
        self.due.clear();
        self.not_handed_out = 0;
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
        self.times.set(due.input as usize, Time::MAX);
        Some(due)
    }

    /// The first of what is in order.
    #[inline(always)]
    pub fn first_due(&self) -> Option<Due> {
        self.due.last().copied()
    }

    /// Nothing is due before this time; `None` if nothing is due at all.
    pub fn nothing_before(&self) -> Option<Time> {
        let first = self.first_due().map(|due| due.at);
        first.or(Some(self.times.bound()).filter(|&bound| bound < Time::MAX))
    }

    /// The earliest time of all.
    pub fn earliest(&self) -> Option<Time> {
        let first = self.first_due().map(|due| due.at);
        let earliest = self.times.earliest(&self.all);
        first.or(Some(earliest).filter(|&earliest| earliest < Time::MAX))
    }
}

impl TurnEvents for ArrivalTimes {
    #[inline(always)]
    fn times(&mut self) -> &mut InputTimes {
        &mut self.times
    }

    fn rank_of_arrival(&self, at: Time, port: PortId) -> (u64, u32) {
        self.ranks.of(at, port, LinkEvent::Arrival)
    }
}

impl LinkEvents for ArrivalTimes {
    #[inline(always)]
    fn schedule(&mut self, port: PortId, event: LinkEvent, at: Time) {
        debug_assert_eq!(event, LinkEvent::Arrival);
        #[cfg(feature = "checks")]
        assert!(
            at >= self.not_before,
            "check: an arrival at {at}, before {}",
            self.not_before
        );
        let input = self.inputs.of_port(port);
        self.times.set(input, at);
        if at < self.ordered_before {
            self.set_in_order(input as u32, at);
        }
    }

    fn cancel(&mut self, port: PortId, _event: LinkEvent, _at: Time) {
        self.clear(port);
    }
}
