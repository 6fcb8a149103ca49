//! Carries out what the endpoints want: packets into the network, timers into the schedule.

use super::spray::Sprays;
use crate::scheduler::{Alarm, Scheduler};
use pathweave_network::{Header, Network, PacketLabel, Ports, RouteId};
use pathweave_transport::{
    End, Output, PacketShape, ReceivingId, ReceivingSubflow, Segment, SendingId, SendingSubflow,
    Timer,
};
use pathweave_units::Time;

/// A region's number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RegionId(pub u8);

/// What a packet carries: the transport's part, and the region of the half that it goes to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Carried {
    pub segment: Segment,
    pub region: RegionId,
}

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

/// How packets leave all ends, by their places.
#[derive(Debug, Default)]
pub(crate) struct Departures {
    sending: Vec<Option<Departure>>,
    receiving: Vec<Option<Departure>>,
}

impl Departures {
    #[inline]
    fn of(&self, end: End) -> Departure {
        let departure = match end {
            End::Sending(SendingSubflow(place)) => self.sending[place as usize],
            End::Receiving(ReceivingSubflow(place)) => self.receiving[place as usize],
        };
        departure.expect("a subflow has routes before it sends")
    }

    /// How packets leave an end, if it is known.
    pub fn find(&self, end: End) -> Option<Departure> {
        let departure = match end {
            End::Sending(SendingSubflow(place)) => self.sending.get(place as usize),
            End::Receiving(ReceivingSubflow(place)) => self.receiving.get(place as usize),
        };
        *departure?
    }

    /// The node of the host that has an end.
    pub fn host(&self, end: End) -> u32 {
        self.of(end).host
    }

    /// From now on the packets of this end leave so.
    pub fn set(&mut self, end: End, departure: Departure) {
        let (all, place) = match end {
            End::Sending(SendingSubflow(place)) => (&mut self.sending, place as usize),
            End::Receiving(ReceivingSubflow(place)) => (&mut self.receiving, place as usize),
        };
        if all.len() <= place {
            all.resize(place + 1, None);
        }
        all[place] = Some(departure);
    }

    /// The same subflow's packets take another route from now on.
    pub fn change(&mut self, end: End, route: RouteId, sprayed: bool) {
        let departure = self.of(end);
        self.set(
            end,
            Departure {
                route,
                sprayed,
                ..departure
            },
        );
    }
}

/// What the region has to look at once the endpoints have done their work.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Notice {
    /// A host's own port dropped a packet.
    Lost(Carried),
    /// A packet has arrived at this end, and what it changed is recorded.
    Arrived(End),
    /// A data packet has arrived that may have begun to arrive before an interval ended.
    Straddling(Straddling),
    /// The source of a captured flow sent a packet.
    Sent(SendingSubflow, Segment, PacketShape),
    Finished(ReceivingId),
    /// A subflow has failed, or timed out again since.
    Failed,
    Closed(SendingId),
}

/// A data packet that may have begun to arrive before an interval ended, and what had arrived before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Straddling {
    /// The link that brought it to its host.
    pub link: u32,
    /// Bytes on the wire.
    pub size: u16,
    pub subflow: ReceivingSubflow,
    /// Payload that had arrived for the first time on the subflow.
    pub first_bytes: u64,
}

/// Where the endpoints' packets and wishes go.
pub(crate) struct Outlet<'a, P: Ports> {
    pub now: Time,
    pub network: &'a mut Network<Carried, P>,
    pub scheduler: &'a mut Scheduler,
    pub departures: &'a Departures,
    pub sprays: &'a mut Sprays,
    pub notices: &'a mut Vec<Notice>,
}

impl<P: Ports> Outlet<'_, P> {
    #[cold]
    #[inline(never)]
    fn note_sent(&mut self, from: End, shape: PacketShape, segment: &Segment) {
        if let End::Sending(subflow) = from {
            self.notices.push(Notice::Sent(subflow, *segment, shape));
        }
    }
}

impl<P: Ports> Output for Outlet<'_, P> {
    #[inline]
    fn send(&mut self, from: End, shape: PacketShape, segment: Segment) {
        let departure = self.departures.of(from);
        let route = if departure.sprayed {
            self.sprays.draw(from)
        } else {
            departure.route
        };
        if departure.captured {
            self.note_sent(from, shape, &segment);
        }
        let mut header = Header::new(shape.size, shape.ecn_capable);
        if shape.protected {
            header = header.protected();
        }
        let is_echo = matches!(from, End::Receiving(_));
        let label = P::Label::new(shape.feedback, departure.subflow, is_echo);
        let carried = Carried {
            segment,
            region: departure.to,
        };
        if !self
            .network
            .send(self.now, route, header, label, carried, self.scheduler)
        {
            self.notices.push(Notice::Lost(carried));
        }
    }

    fn wake(&mut self, timer: Timer, at: Time) {
        self.scheduler.wake(Alarm::Transport(timer), at);
    }

    fn finished(&mut self, connection: ReceivingId) {
        self.notices.push(Notice::Finished(connection));
    }

    fn failed(&mut self, _: SendingId) {
        self.notices.push(Notice::Failed);
    }

    fn closed(&mut self, connection: SendingId) {
        self.notices.push(Notice::Closed(connection));
    }
}
