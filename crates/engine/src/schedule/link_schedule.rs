//! When links are due: in a wheel, or by input.

use crate::schedule::arrival_times::ArrivalTimes;
use crate::schedule::due_link::DueLink;
use crate::schedule::ranks::Ranks;
use crate::schedule::wheel::Wheel;
use pathweave_network::{LinkEvent, LinkEvents, PortId};
use pathweave_units::Time;

/// At most one time for each port and event.
#[derive(Clone, Debug)]
pub(crate) enum LinkSchedule {
    /// Puts all events in order, each at the same price, within a limited horizon.
    Wheel(Wheel),
    /// Hands out the arrivals of a window node by node. To put them in order costs more than in a wheel. There are no
    /// departures in it.
    ByInput(ArrivalTimes),
}

use LinkSchedule::{ByInput, Wheel as InWheel};

impl LinkSchedule {
    /// The order of events at one time.
    pub fn ranks(&self) -> &Ranks {
        match self {
            InWheel(wheel) => &wheel.ranks,
            ByInput(times) => &times.ranks,
        }
    }

    /// Sets a time that is not set. Returns false if it is too far ahead, or too early.
    #[inline(always)]
    pub fn insert(&mut self, port: PortId, event: LinkEvent, at: Time) -> bool {
        match self {
            InWheel(wheel) => wheel.insert(wheel.slot(port, event), at),
            ByInput(times) => {
                times.schedule(port, event, at);
                true
            }
        }
    }

    /// Takes back a time that is set.
    pub fn remove(&mut self, port: PortId, event: LinkEvent, at: Time) {
        match self {
            InWheel(wheel) => wheel.remove(wheel.slot(port, event), at),
            ByInput(times) => times.clear(port),
        }
    }

    /// If nothing is left of what has been put in order, what comes next is, unless it begins at or after a time.
    #[inline(always)]
    pub fn turn(&mut self, before: Time) {
        match self {
            InWheel(wheel) => wheel.turn(before),
            ByInput(times) => times.turn(before),
        }
    }

    /// Takes out the first of what has been put in order, if it is due before a time.
    #[inline(always)]
    pub fn pop_before(&mut self, limit: Time) -> Option<DueLink> {
        match self {
            InWheel(wheel) => wheel.pop_before(limit).map(|due| wheel.due_link(due)),
            ByInput(times) => times.pop_before(limit).map(|due| times.due_link(due)),
        }
    }

    /// The first of what has been put in order.
    pub fn first_due(&mut self) -> Option<DueLink> {
        match self {
            InWheel(wheel) => wheel.first_due().map(|due| wheel.due_link(due)),
            ByInput(times) => times.first_due().map(|due| times.due_link(due)),
        }
    }

    /// The earliest time of all.
    pub fn earliest(&self) -> Option<Time> {
        match self {
            InWheel(wheel) => wheel.earliest(),
            ByInput(times) => times.earliest(),
        }
    }

    /// Nothing is due before this time; `None` if nothing is due at all.
    pub fn nothing_before(&self) -> Option<Time> {
        match self {
            InWheel(wheel) => wheel.earliest(),
            ByInput(times) => times.nothing_before(),
        }
    }

    /// Time has passed, and nothing is due before.
    pub fn advance(&mut self, now: Time) {
        match self {
            InWheel(wheel) => wheel.advance(now),
            ByInput(_) => {}
        }
    }

    /// The times of arrivals by input, where they are kept so.
    #[inline(always)]
    pub fn by_input_mut(&mut self) -> Option<&mut ArrivalTimes> {
        match self {
            InWheel(_) => None,
            ByInput(times) => Some(times),
        }
    }
}
