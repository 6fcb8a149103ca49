//! Carries out what the endpoints want: packets into the network, timers into the schedule.

use super::Region;
use super::carried::Carried;
use super::departures::{Departure, Departures, Entry, Knows};
use super::spray::Sprays;
use crate::measurement::capture::SentPacket;
use crate::schedule::alarm::Alarm;
use crate::schedule::scheduler::Scheduler;
use pathweave_network::{Header, Network, PacketLabel, Ports, RouteId, RouteStart};
use pathweave_transport::{
    End, Kind, Output, PacketShape, ReceivingId, ReceivingSubflow, SackBlocks, Segment, SendingId,
    SendingSubflow, Timer,
};
use pathweave_units::Time;

impl<P: Ports> Region<P> {
    /// The port of a host has another rate or has lost what it held: packets that would have left it at a time leave when
    /// `moved` says.
    pub fn change_host_port(&mut self, link: u32, now: Time, moved: impl Fn(Time) -> Time + Copy) {
        let port = self.network.places().port_of(link);
        let entries = self.outgoing.departures.sending.entries.iter();
        let from_there: Vec<u32> = (0..)
            .zip(entries)
            .filter(|(_, entry)| entry.start.is_at(port))
            .map(|(place, _)| place)
            .collect();
        let (sending, _, mut out) = self.halves(now);
        for place in from_there {
            sending.change_port(SendingSubflow(place), now, moved, &mut out);
        }
    }

    /// From now on the packets of this end leave so.
    pub fn set_departure(&mut self, end: End, departure: Departure) {
        let start = self.network.start(departure.route);
        self.outgoing.departures.set(end, departure, start);
    }

    /// The same subflow's packets take another route from now on.
    pub fn change_departure(&mut self, end: End, route: RouteId, sprayed: bool) {
        let departure = self.outgoing.departures.of(end);
        self.set_departure(
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
    Sent(SendingSubflow, SentPacket),
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

/// What an outlet has besides the network and the schedule.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub departures: Departures,
    pub sprays: Sprays,
    pub notices: Vec<Notice>,
    /// The route of the last packet that was sent from an end of which more has to be known than where its packets set out.
    pub last_special: RouteId,
}

/// Where the endpoints' packets and wishes go.
pub(crate) struct Outlet<'a, P: Ports> {
    pub now: Time,
    pub network: &'a mut Network<Carried, P>,
    pub scheduler: &'a mut Scheduler,
    pub outgoing: &'a mut Outgoing,
}

impl Outgoing {
    /// The route of a packet from an end of which more has to be known than its route.
    #[cold]
    #[inline(never)]
    fn route_specially(&mut self, from: End, packet: SentPacket) -> RouteId {
        let departure = self.departures.of(from);
        if departure.captured
            && let End::Sending(subflow) = from
        {
            self.notices.push(Notice::Sent(subflow, packet));
        }
        self.last_special = if departure.sprayed {
            self.sprays.draw(from)
        } else {
            departure.route
        };
        self.last_special
    }

    #[cold]
    #[inline(never)]
    fn note_lost(&mut self, dropped: Carried) {
        self.notices.push(Notice::Lost(dropped));
    }
}

impl<P: Ports> Outlet<'_, P> {
    /// Where the packet set out that has just been sent from an end of which more has to be known than that.
    #[cold]
    #[inline(never)]
    fn start_of_last_special(&self) -> RouteStart {
        self.network.start(self.outgoing.last_special)
    }
}

impl<P: Ports> Output for Outlet<'_, P> {
    type Lent<'a>
        = Outlet<'a, P>
    where
        Self: 'a;

    #[inline(always)]
    fn send(&mut self, from: End, shape: PacketShape, mut segment: Segment, blocks: &SackBlocks) {
        let &Entry {
            mut start,
            to,
            knows,
            subflow,
        } = self.outgoing.departures.entry(from);
        if knows != Knows::Start {
            let packet = SentPacket {
                number: segment.number(),
                size: shape.size,
                is_syn: segment.kind == Kind::Syn,
                ecn_capable: shape.ecn_capable,
                feedback: shape.feedback,
            };
            let route = self.outgoing.route_specially(from, packet);
            start = self.network.start(route);
        }
        let mut header = Header::new(shape.size, shape.ecn_capable);
        if shape.protected {
            header = header.protected();
        }
        let is_echo = matches!(from, End::Receiving(_));
        let label = P::Label::new(shape.feedback, subflow, is_echo);
        segment.region = to.0;
        let dropped = self.network.send(
            self.now,
            start,
            (header, label),
            (Carried(segment), blocks),
            self.scheduler,
        );
        if let Some(dropped) = dropped {
            self.outgoing.note_lost(dropped);
        }
    }

    #[inline(always)]
    fn lend(&mut self) -> Outlet<'_, P> {
        Outlet {
            now: self.now,
            network: self.network,
            scheduler: self.scheduler,
            outgoing: self.outgoing,
        }
    }

    #[inline(always)]
    fn leaves_at(&self, from: End) -> Time {
        let entry = self.outgoing.departures.entry(from);
        let start = match entry.knows {
            Knows::Start => entry.start,
            _ => self.start_of_last_special(),
        };
        self.network.free_at(start)
    }

    fn port_is_full(&mut self, from: End, size: u16) -> bool {
        let start = self.outgoing.departures.entry(from).start;
        self.network.is_full(start, self.now, size)
    }

    fn wake(&mut self, timer: Timer, at: Time) {
        self.scheduler.wake(Alarm::Transport(timer), at);
    }

    fn finished(&mut self, connection: ReceivingId) {
        self.outgoing.notices.push(Notice::Finished(connection));
    }

    fn failed(&mut self, _: SendingId) {
        self.outgoing.notices.push(Notice::Failed);
    }

    fn closed(&mut self, connection: SendingId) {
        self.outgoing.notices.push(Notice::Closed(connection));
    }
}
