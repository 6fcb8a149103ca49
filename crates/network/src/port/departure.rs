//! The ports that act when a packet leaves: two events per packet and hop.

use super::{
    BIT, Delivered, HandOver, LinkEvent, LinkEvents, Ports, Purged, Serialisation, TurnInterval,
    sent_in_service,
};
use crate::agent::{Agent, AgentStatistics, Backlog, NoAgent};
use crate::arrivals::{Arrivals, Held};
use crate::histogram::{ArrivalCounts, QueueHistogram};
use crate::input_times::DueInputs;
use crate::inputs::Inputs;
use crate::marking::Admission;
use crate::packet::Header;
use crate::places::{Places, PortId};
use crate::queue::{Limit, Verdict, Waiting};
use crate::setup::{LinkSetup, QueuesCounted};
use crate::shared_buffer::SharedBuffer;
use crate::statistics::LinkStatistics;
use pathweave_random::Stream;
use pathweave_units::{Rate, Time};
use std::collections::VecDeque;
use std::ops::Range;

#[derive(Clone, Copy, Debug)]
struct WaitingPacket<L> {
    header: Header,
    label: L,
    since: Time,
}

#[derive(Clone, Copy, Debug)]
struct InService<L> {
    header: Header,
    label: L,
    departure: Time,
}

#[derive(Clone, Copy, Debug)]
struct OnWire<L> {
    header: Header,
    label: L,
    arrival: Time,
}

/// FIFO ports with an event at every departure, which see each packet when its transmission begins and ends: the
/// oracle for [`super::FifoPorts`].
#[derive(Debug)]
pub struct DeparturePorts<A: Agent = NoAgent> {
    ports: Vec<DeparturePort<A>>,
    arrivals: ArrivalCounts,
    /// Of each node.
    buffers: Vec<Option<SharedBuffer>>,
}

#[derive(Debug)]
struct DeparturePort<A: Agent> {
    number: PortId,
    far: PortId,
    node: u32,
    agent: A,
    waiting: VecDeque<WaitingPacket<A::Label>>,
    waiting_bytes: u32,
    in_service: Option<InService<A::Label>>,
    /// When it last began to wait for packets.
    idle_since: Time,
    wire: VecDeque<OnWire<A::Label>>,
    up: bool,
    serialisation: Serialisation,
    rate: Rate,
    delay: Time,
    admission: Admission,
    statistics: LinkStatistics,
    /// What was sent of packets that failures lost, in the unit of [`Ports::sent`].
    lost_after_sending: u128,
}

impl<A: Agent> DeparturePort<A> {
    fn new(number: PortId, far: PortId, setup: &LinkSetup, stream: Stream) -> DeparturePort<A> {
        let LinkSetup { rate, delay, .. } = *setup;
        let config = &setup.queue;
        DeparturePort {
            number,
            far,
            node: setup.from,
            agent: A::new(setup),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            in_service: None,
            idle_since: Time::ZERO,
            wire: VecDeque::new(),
            up: true,
            serialisation: Serialisation::new(rate),
            rate,
            delay,
            admission: Admission::new(config, stream),
            statistics: LinkStatistics::default(),
            lost_after_sending: 0,
        }
    }

    fn backlog(&self) -> Backlog {
        Backlog {
            packets: self.waiting.len() as u32,
            bytes: self.waiting_bytes,
        }
    }

    fn serve<E: LinkEvents>(&mut self, now: Time, next: WaitingPacket<A::Label>, events: &mut E) {
        let WaitingPacket {
            header, mut label, ..
        } = next;
        let backlog = self.backlog();
        self.agent
            .on_service(now, header.size(), &mut label, backlog);
        let departure = now + self.serialisation.time(header.size());
        self.in_service = Some(InService {
            header,
            label,
            departure,
        });
        events.schedule(self.number, LinkEvent::Departure, departure);
    }

    /// Bytes in the switch's memory: what waits, and what is being sent.
    fn held(&self) -> u64 {
        let in_service = self.in_service.map_or(0, |served| served.header.size());
        u64::from(self.waiting_bytes) + u64::from(in_service)
    }

    /// What has been sent of the packets that it holds, in the unit of [`Ports::sent`].
    fn sent_of_held(&self, now: Time) -> u128 {
        let on_wire = self.wire.iter().map(|held| u128::from(held.header.size()));
        let in_service = self.in_service.map_or(0, |served| {
            sent_in_service(served.header.size(), served.departure - now, self.rate)
        });
        on_wire.sum::<u128>() * 8 * BIT + in_service
    }

    fn waited_so_far(&self, now: Time) -> u128 {
        self.waiting
            .iter()
            .map(|w| u128::from(now.saturating_sub(w.since).as_picos()))
            .sum()
    }

    fn enqueue<E: LinkEvents>(
        &mut self,
        now: Time,
        mut header: Header,
        mut label: A::Label,
        mut buffer: Option<&mut SharedBuffer>,
        events: &mut E,
    ) -> bool {
        self.statistics.offered += 1;
        if !self.up {
            self.statistics.refused_down += 1;
            return false;
        }
        let size = header.size();
        let waiting = Waiting {
            packets: self.waiting.len() as u32,
            bytes: self.waiting_bytes,
        };
        let must_be_taken = header.is_protected() || header.is_feedback();
        if let Some(buffer) = &mut buffer
            && !must_be_taken
            && !buffer.admits(self.held(), size)
        {
            self.statistics.dropped += 1;
            return false;
        }
        if self.in_service.is_none()
            && header.is_averaged()
            && let Some(average) = self.admission.average()
        {
            average.decay_while_idle(self.idle_since, now, self.serialisation.time(size));
        }
        match self.admission.decide(waiting, &header) {
            Verdict::Take => {}
            Verdict::TakeAndMark => {
                header.set_congestion_experienced();
                self.statistics.marked += 1;
            }
            Verdict::Lose => {
                header.lose();
                self.statistics.lost_silently += 1;
            }
            Verdict::Drop => {
                self.statistics.dropped += 1;
                return false;
            }
        }
        if let Some(buffer) = buffer {
            buffer.take(size);
        }
        let backlog = self.backlog();
        self.agent.on_arrival(now, size, &mut label, backlog);
        let arrived = WaitingPacket {
            header,
            label,
            since: now,
        };
        if self.in_service.is_none() {
            self.serve(now, arrived, events);
        } else {
            self.waiting_bytes += u32::from(size);
            self.waiting.push_back(arrived);
        }
        true
    }

    fn depart<E: LinkEvents>(
        &mut self,
        now: Time,
        buffer: Option<&mut SharedBuffer>,
        events: &mut E,
    ) {
        let Some(served) = self.in_service.take() else {
            unreachable!("a departure is scheduled only while a packet is in service")
        };
        if let Some(buffer) = buffer {
            buffer.release(u64::from(served.header.size()));
        }
        let arrival = now + self.delay;
        if self.wire.is_empty() {
            events.schedule(self.number, LinkEvent::Arrival, arrival);
        }
        self.wire.push_back(OnWire {
            header: served.header,
            label: served.label,
            arrival,
        });
        if let Some(next) = self.waiting.pop_front() {
            self.waiting_bytes -= u32::from(next.header.size());
            self.statistics.waited += u128::from((now - next.since).as_picos());
            self.serve(now, next, events);
        } else {
            self.idle_since = now;
        }
    }

    fn deliver<E: LinkEvents>(&mut self, events: &mut E) -> Delivered<A::Label> {
        let Some(arrived) = self.wire.pop_front() else {
            unreachable!("an arrival is scheduled only while a packet is on the wire")
        };
        if let Some(next) = self.wire.front() {
            events.schedule(self.number, LinkEvent::Arrival, next.arrival);
        }
        self.statistics.delivered += 1;
        self.statistics.delivered_bytes += u64::from(arrived.header.size());
        Delivered {
            header: arrived.header,
            label: arrived.label,
            far: self.far,
        }
    }

    fn set_rate<E: LinkEvents>(&mut self, now: Time, rate: Rate, events: &mut E) {
        let new = Serialisation::new(rate);
        if let Some(served) = &mut self.in_service {
            let remaining = served.departure - now;
            events.cancel(self.number, LinkEvent::Departure, served.departure);
            served.departure = now + self.serialisation.rescale(remaining, &new);
            events.schedule(self.number, LinkEvent::Departure, served.departure);
        }
        self.serialisation = new;
        self.rate = rate;
        self.agent.set_rate(now, rate);
    }

    fn fail<E: LinkEvents>(
        &mut self,
        now: Time,
        buffer: Option<&mut SharedBuffer>,
        events: &mut E,
    ) -> Purged {
        self.statistics.waited += self.waited_so_far(now);
        self.lost_after_sending += self.sent_of_held(now);
        if let Some(served) = &self.in_service {
            events.cancel(self.number, LinkEvent::Departure, served.departure);
        }
        if let Some(first) = self.wire.front() {
            events.cancel(self.number, LinkEvent::Arrival, first.arrival);
        }
        self.statistics.lost_in_flight += self.wire.len() as u64;
        self.statistics.lost_in_service += u64::from(self.in_service.is_some());
        self.statistics.lost_waiting += self.waiting.len() as u64;
        if let Some(buffer) = buffer {
            buffer.release(self.held());
        }
        let on_wire = self.wire.drain(..).map(|on_wire| on_wire.header);
        let in_service = self.in_service.take().map(|served| served.header);
        let waiting = self.waiting.drain(..).map(|waiting| waiting.header);
        let purged = Purged {
            elsewhere: Vec::new(),
            lost: on_wire.chain(in_service).chain(waiting).collect(),
        };
        self.waiting_bytes = 0;
        self.up = false;
        self.idle_since = now;
        purged
    }
}

impl<A: Agent> DeparturePorts<A> {
    fn at(&self, PortId(port): PortId) -> &DeparturePort<A> {
        &self.ports[port as usize]
    }

    fn at_mut(&mut self, PortId(port): PortId) -> &mut DeparturePort<A> {
        &mut self.ports[port as usize]
    }

    /// A port, and the memory that it shares.
    fn with_buffer(
        &mut self,
        PortId(port): PortId,
    ) -> (&mut DeparturePort<A>, Option<&mut SharedBuffer>) {
        let port = &mut self.ports[port as usize];
        let buffer = self.buffers[port.node as usize].as_mut();
        (port, buffer)
    }
}

impl<A: Agent> Ports for DeparturePorts<A> {
    type Label = A::Label;
    const KNOW_ARRIVALS: bool = false;
    const HAVE_AGENTS: bool = A::ACTS;

    fn new(
        links: &[LinkSetup],
        places: &Places,
        counted: QueuesCounted,
        stream: impl Fn(u32) -> Stream,
    ) -> DeparturePorts<A> {
        let ports = (0..).map(PortId).zip(places.links());
        let nodes = links.iter().map(|link| link.from + 1).max().unwrap_or(0);
        let mut buffers = vec![None; nodes as usize];
        for link in links {
            if let Some(config) = link.buffer {
                buffers[link.from as usize] = Some(SharedBuffer::new(config));
            }
        }
        DeparturePorts {
            ports: ports
                .map(|(port, &link)| {
                    let setup = &links[link as usize];
                    DeparturePort::new(port, places.far(port), setup, stream(link))
                })
                .collect(),
            buffers,
            arrivals: ArrivalCounts::new(counted, links, places),
        }
    }

    fn enqueue<E: LinkEvents>(
        &mut self,
        port: PortId,
        now: Time,
        header: Header,
        label: A::Label,
        events: &mut E,
    ) -> bool {
        let found = self.at(port);
        if found.up {
            let packets = found.waiting.len() as u32;
            self.arrivals.add(port, packets, now);
        }
        let (port, buffer) = self.with_buffer(port);
        port.enqueue(now, header, label, buffer, events)
    }

    fn depart<E: LinkEvents>(&mut self, port: PortId, now: Time, events: &mut E) {
        let (port, buffer) = self.with_buffer(port);
        port.depart(now, buffer, events);
    }

    fn deliver<E: LinkEvents>(
        &mut self,
        port: PortId,
        _now: Time,
        events: &mut E,
    ) -> Delivered<A::Label> {
        self.at_mut(port).deliver(events)
    }

    fn take_first(&mut self, _port: PortId, _noticed: Time) -> (Delivered<A::Label>, Time) {
        unreachable!("departure ports run event by event")
    }

    fn gather(
        &mut self,
        _due: (DueInputs, &[PortId; Inputs::PAGE]),
        _window: TurnInterval,
        _times: &mut [Time; Inputs::PAGE],
        _arrivals: &mut Arrivals,
    ) {
        unreachable!("departure ports run event by event")
    }

    fn held_by(&self, _port: PortId, _held: Held) -> bool {
        unreachable!("departure ports run event by event")
    }

    fn held(&self, _held: Held) -> (Header, A::Label) {
        unreachable!("departure ports run event by event")
    }

    fn hand_over(
        &mut self,
        _now: Time,
        _of: impl Fn(PortId) -> bool,
        _to: &mut impl HandOver<A::Label>,
    ) {
        unreachable!("departure ports run event by event")
    }

    fn hand_over_in_turn(
        &mut self,
        _ports: Range<u32>,
        _now: Time,
        _to: &mut impl HandOver<A::Label>,
    ) {
        unreachable!("departure ports run event by event")
    }

    fn next_to_leave(&self) -> Time {
        Time::MAX
    }

    fn handed_over(&self) -> u64 {
        0
    }

    fn receive<E: LinkEvents>(
        &mut self,
        _inlet: PortId,
        _departure: Time,
        _header: Header,
        _label: A::Label,
        _events: &mut E,
    ) {
        unreachable!("departure ports run in one region")
    }

    fn set_rate<E: LinkEvents>(&mut self, port: PortId, now: Time, rate: Rate, events: &mut E) {
        self.at_mut(port).set_rate(now, rate, events);
    }

    fn set_loss(&mut self, port: PortId, probability: f64) {
        self.at_mut(port).admission.set_loss(probability);
    }

    fn loses_all(&self, port: PortId) -> bool {
        self.at(port).admission.loses_all()
    }

    fn fail<E: LinkEvents>(&mut self, port: PortId, now: Time, events: &mut E) -> Purged {
        let (port, buffer) = self.with_buffer(port);
        port.fail(now, buffer, events)
    }

    fn restore(&mut self, port: PortId, now: Time) {
        let port = self.at_mut(port);
        port.up = true;
        port.idle_since = now;
        if let Some(average) = port.admission.average() {
            average.restart();
        }
    }

    fn is_up(&self, port: PortId) -> bool {
        self.at(port).up
    }

    fn rate(&self, port: PortId) -> Rate {
        self.at(port).rate
    }

    fn waiting(&self, port: PortId, _now: Time) -> u32 {
        self.at(port).waiting.len() as u32
    }

    fn free_at(&self, port: PortId) -> Time {
        let port = self.at(port);
        let in_service = port
            .in_service
            .map_or(Time::ZERO, |served| served.departure);
        let waiting = port.waiting.iter();
        waiting.fold(in_service, |free_at, waiting| {
            free_at + port.serialisation.time(waiting.header.size())
        })
    }

    fn is_full(&mut self, port: PortId, _now: Time, size: u16) -> bool {
        let port = self.at(port);
        let Backlog { packets, bytes } = port.backlog();
        port.up && port.admission.is_full(Waiting { packets, bytes }, size)
    }

    fn occupancy(&self, port: PortId, _now: Time) -> f64 {
        let Backlog { packets, bytes } = self.at(port).backlog();
        self.at(port)
            .admission
            .occupancy(Waiting { packets, bytes })
    }

    fn limit(&self, port: PortId) -> Limit {
        self.at(port).admission.limit()
    }

    fn averages(&self, port: PortId) -> bool {
        self.at(port).admission.averages()
    }

    fn shares_memory(&self, port: PortId) -> bool {
        self.buffers[self.at(port).node as usize].is_some()
    }

    fn transmission(&self, port: PortId, size: u16) -> Time {
        self.at(port).serialisation.time(size)
    }

    fn count_passing(&mut self, _port: PortId, _times: (Time, Time), _count: u64) {
        unreachable!("departure ports carry all feedback")
    }

    fn hold_passing<E: LinkEvents>(
        &mut self,
        _port: PortId,
        _since: Time,
        _header: Header,
        _label: A::Label,
        _events: &mut E,
    ) {
        unreachable!("departure ports carry all feedback")
    }

    fn take_back(&mut self, _port: PortId) -> bool {
        unreachable!("departure ports carry all feedback")
    }

    fn take_again<E: LinkEvents>(&mut self, _port: PortId, _was_last: bool, _events: &mut E) {
        unreachable!("departure ports carry all feedback")
    }

    fn slip_in<E: LinkEvents>(
        &mut self,
        _port: PortId,
        _times: (Time, Time),
        _header: Header,
        _label: A::Label,
        _events: &mut E,
    ) {
        unreachable!("departure ports carry all feedback")
    }

    fn count_carried(&mut self, _port: PortId, _packets: u64, _bytes: u64) {
        unreachable!("departure ports carry all feedback")
    }

    fn delivered(&self, port: PortId) -> u64 {
        self.at(port).statistics.delivered
    }

    fn holds(&self, port: PortId) -> u32 {
        let port = self.at(port);
        (port.waiting.len() + port.wire.len()) as u32 + u32::from(port.in_service.is_some())
    }

    fn statistics(&self, port: PortId, now: Time) -> LinkStatistics {
        let port = self.at(port);
        let waited = port.statistics.waited + port.waited_so_far(now);
        LinkStatistics {
            waited,
            ..port.statistics
        }
    }

    fn sent(&self, port: PortId, now: Time) -> u128 {
        let port = self.at(port);
        let arrived = u128::from(port.statistics.delivered_bytes) * 8 * BIT;
        arrived + port.lost_after_sending + port.sent_of_held(now)
    }

    fn histogram(&mut self, port: PortId) -> QueueHistogram {
        self.arrivals.told(port)
    }

    fn complete_histogram(&mut self, port: PortId) -> Option<QueueHistogram> {
        self.arrivals.all(port)
    }

    fn clear_histogram(&mut self, port: PortId) {
        self.arrivals.clear(port);
    }

    fn agent_statistics(&mut self, port: PortId, _now: Time) -> AgentStatistics {
        self.at(port).agent.statistics()
    }

    fn shared_buffer(&self, node: u32) -> Option<&SharedBuffer> {
        self.buffers.get(node as usize)?.as_ref()
    }
}
