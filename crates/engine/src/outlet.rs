//! Carries out what the endpoints want: packets into the network, timers into the schedule.

use crate::scheduler::Scheduler;
use crate::spray::Sprays;
use pathweave_network::{Header, Network, PacketLabel, Ports, RouteId};
use pathweave_transport::{
    ConnectionId, Direction, Output, PacketShape, Segment, SubflowIndex, Timer,
};
use pathweave_units::Time;

/// The two routes of a subflow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubflowRoutes {
    pub forward: RouteId,
    pub back: RouteId,
    /// Each packet draws its own routes instead.
    pub sprayed: bool,
    /// Whether what its source sends is captured.
    pub captured: bool,
}

impl SubflowRoutes {
    #[inline]
    pub fn towards(&self, direction: Direction) -> RouteId {
        match direction {
            Direction::Forward => self.forward,
            Direction::Back => self.back,
        }
    }
}

/// What the run has to look at once the endpoints have done their work.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Notice {
    /// A host's own port dropped a packet.
    Lost(Segment),
    /// A packet of this subflow has arrived at a host, and what it changed is recorded.
    Arrived(SubflowIndex),
    /// A data packet has arrived that may have begun to arrive before an interval ended.
    Straddling(Straddler),
    /// The source of a captured flow sent a packet.
    Sent(Segment, PacketShape),
    Finished(ConnectionId),
    /// A subflow has failed, or timed out again since.
    Failed,
    Gone(ConnectionId),
}

/// A data packet that may have begun to arrive before an interval ended, and what had arrived before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Straddler {
    /// The link that brought it to its host.
    pub link: u32,
    /// Bytes on the wire.
    pub size: u16,
    pub subflow: SubflowIndex,
    /// Payload that had arrived for the first time on the subflow.
    pub first_bytes: u64,
}

/// Where the endpoints' packets and wishes go.
pub(crate) struct Outlet<'a, P: Ports> {
    pub now: Time,
    pub network: &'a mut Network<Segment, P>,
    pub scheduler: &'a mut Scheduler,
    pub routes: &'a [Option<SubflowRoutes>],
    pub sprays: &'a mut Sprays,
    pub notices: &'a mut Vec<Notice>,
}

impl<P: Ports> Outlet<'_, P> {
    #[cold]
    #[inline(never)]
    fn note_sent(&mut self, direction: Direction, shape: PacketShape, segment: &Segment) {
        if direction == Direction::Forward {
            self.notices.push(Notice::Sent(*segment, shape));
        }
    }
}

impl<P: Ports> Output for Outlet<'_, P> {
    #[inline]
    fn send(
        &mut self,
        subflow: SubflowIndex,
        direction: Direction,
        shape: PacketShape,
        segment: Segment,
    ) {
        let routes = self.routes[subflow.0 as usize].expect("a subflow has routes before it sends");
        let route = if routes.sprayed {
            self.sprays.draw(subflow, direction)
        } else {
            routes.towards(direction)
        };
        if routes.captured {
            self.note_sent(direction, shape, &segment);
        }
        let mut header = Header::new(shape.size, shape.ecn_capable);
        if shape.protected {
            header = header.protected();
        }
        let is_echo = direction == Direction::Back;
        let label = P::Label::new(shape.feedback, subflow.0, is_echo);
        if !self
            .network
            .send(self.now, route, header, label, segment, self.scheduler)
        {
            self.notices.push(Notice::Lost(segment));
        }
    }

    fn wake(&mut self, timer: Timer, at: Time) {
        self.scheduler.wake(timer.into(), at);
    }

    fn finished(&mut self, connection: ConnectionId) {
        self.notices.push(Notice::Finished(connection));
    }

    fn failed(&mut self, _connection: ConnectionId, _subflow: SubflowIndex) {
        self.notices.push(Notice::Failed);
    }

    fn gone(&mut self, connection: ConnectionId) {
        self.notices.push(Notice::Gone(connection));
    }
}
