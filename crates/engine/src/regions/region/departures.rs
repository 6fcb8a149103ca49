//! How packets leave the ends of subflows: on which route, and to which region.

use super::carried::RegionId;
use pathweave_network::{RouteId, RouteStart};
use pathweave_transport::{End, ReceivingSubflow, Segment, SendingSubflow};

/// How packets leave one end of a subflow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    pub route: RouteId,
    /// The region of the other end.
    pub to: RegionId,
    /// The node of this end's host.
    pub host: u32,
    /// A number that no other subflow of the run has.
    pub subflow: u32,
    /// Each packet draws its own route instead.
    pub sprayed: bool,
    /// Whether what is sent here is captured.
    pub captured: bool,
}

/// What has to be known to send a packet from an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Knows {
    /// Nothing is known of the end.
    Nothing,
    /// Where its packets set out is enough.
    Start,
    /// It is sprayed or captured, or its route's start may change.
    More,
}

/// How packets leave an end, if it is known.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(super) struct Entry {
    pub start: RouteStart,
    /// The region of the other end.
    pub to: RegionId,
    pub knows: Knows,
    /// A number that no other subflow of the run has.
    pub subflow: u32,
}

/// How packets leave all ends, by their places.
#[derive(Debug, Default)]
pub(crate) struct Departures {
    pub(super) sending: Ends,
    pub(super) receiving: Ends,
}

/// Ends of one kind, by their places.
#[derive(Debug, Default)]
pub(super) struct Ends {
    pub entries: Vec<Entry>,
    pub departures: Vec<Option<Departure>>,
}

impl Departures {
    #[inline(always)]
    pub(super) fn entry(&self, end: End) -> &Entry {
        match end {
            End::Sending(SendingSubflow(place)) => &self.sending.entries[place as usize],
            End::Receiving(ReceivingSubflow(place)) => &self.receiving.entries[place as usize],
        }
    }

    pub(super) fn of(&self, end: End) -> Departure {
        let departure = match end {
            End::Sending(SendingSubflow(place)) => self.sending.departures[place as usize],
            End::Receiving(ReceivingSubflow(place)) => self.receiving.departures[place as usize],
        };
        departure.expect("a subflow has routes before it sends")
    }

    /// What these packets' receivers send in answer soon leaves: what has to be known is fetched from memory.
    pub fn prefetch(&self, segments: &[Segment]) {
        for segment in segments {
            let entry = match segment.destination() {
                End::Sending(SendingSubflow(place)) => self.sending.entries.get(place as usize),
                End::Receiving(ReceivingSubflow(place)) => {
                    self.receiving.entries.get(place as usize)
                }
            };
            std::hint::black_box(entry.map(|entry| entry.knows));
        }
    }

    /// The node of the host that has an end.
    pub fn host(&self, end: End) -> u32 {
        self.of(end).host
    }

    /// The packets of this end leave so, and set out there now: always, if the start is fixed.
    pub(super) fn set(&mut self, end: End, departure: Departure, start: RouteStart) {
        let (ends, place) = match end {
            End::Sending(SendingSubflow(place)) => (&mut self.sending, place as usize),
            End::Receiving(ReceivingSubflow(place)) => (&mut self.receiving, place as usize),
        };
        let is_all = start.is_fixed() && !departure.sprayed && !departure.captured;
        let entry = Entry {
            start,
            to: departure.to,
            knows: if is_all { Knows::Start } else { Knows::More },
            subflow: departure.subflow,
        };
        if ends.entries.len() <= place {
            let unknown = Entry {
                knows: Knows::Nothing,
                ..entry
            };
            ends.entries.resize(place + 1, unknown);
            ends.departures.resize(place + 1, None);
        }
        ends.entries[place] = entry;
        ends.departures[place] = Some(departure);
    }
}
