//! The port that acts when a packet leaves: two events per packet.

use super::{
    BIT, LinkEvent, LinkEvents, Port, Purged, Serialisation, longest_queue, sent_in_service,
};
use crate::agent::{Agent, AgentStatistics, Backlog, NoAgent};
use crate::histogram::QueueHistogram;
use crate::marking::{Admission, Verdict, Waiting};
use crate::network::LinkSetup;
use crate::packet::{Header, PacketId};
use crate::shared_buffer::SharedBuffer;
use crate::statistics::LinkStatistics;
use pathweave_random::Stream;
use pathweave_units::{Rate, Time};
use std::collections::VecDeque;
use std::rc::Rc;

#[derive(Clone, Copy, Debug)]
struct WaitingPacket<L> {
    packet: PacketId,
    label: L,
    size: u16,
    since: Time,
}

#[derive(Clone, Copy, Debug)]
struct InService<L> {
    packet: PacketId,
    size: u16,
    label: L,
    departure: Time,
}

#[derive(Clone, Copy, Debug)]
struct OnWire<L> {
    packet: PacketId,
    label: L,
    size: u16,
    arrival: Time,
}

/// A FIFO port with an event at every departure: what agents need, which act when a packet's
/// transmission begins, and what shared memory needs, which is free again when it ends; and the oracle for
/// [`super::FifoPort`].
#[derive(Debug)]
pub struct DeparturePort<A: Agent = NoAgent> {
    agent: A,
    waiting: VecDeque<WaitingPacket<A::Label>>,
    waiting_bytes: u32,
    in_service: Option<InService<A::Label>>,
    wire: VecDeque<OnWire<A::Label>>,
    up: bool,
    serialisation: Serialisation,
    rate: Rate,
    delay: Time,
    admission: Admission,
    buffer: Option<Rc<SharedBuffer>>,
    statistics: LinkStatistics,
    histogram: QueueHistogram,
    /// What was sent of packets that failures lost, in the unit of [`Port::sent`].
    lost_after_sending: u128,
}

impl<A: Agent> DeparturePort<A> {
    fn backlog(&self) -> Backlog {
        Backlog {
            packets: self.waiting.len() as u32,
            bytes: self.waiting_bytes,
        }
    }

    fn serve<E: LinkEvents>(
        &mut self,
        link: u32,
        now: Time,
        next: WaitingPacket<A::Label>,
        events: &mut E,
    ) {
        let WaitingPacket {
            packet,
            mut label,
            size,
            ..
        } = next;
        let backlog = self.backlog();
        self.agent.on_service(now, size, &mut label, backlog);
        let departure = now + self.serialisation.time(size);
        self.in_service = Some(InService {
            packet,
            size,
            label,
            departure,
        });
        events.schedule(link, LinkEvent::Departure, departure);
    }

    /// Bytes in the switch's memory: what waits, and what is being sent.
    fn held(&self) -> u64 {
        let in_service = self.in_service.map_or(0, |served| served.size);
        u64::from(self.waiting_bytes) + u64::from(in_service)
    }

    /// Whether the switch has memory for a packet.
    fn has_memory(&self, header: &Header) -> bool {
        let must_be_taken = header.is_protected() || header.is_feedback();
        let held = self.held();
        let buffer = self.buffer.as_ref();
        must_be_taken || buffer.is_none_or(|buffer| buffer.admits(held, header.size))
    }

    /// What has been sent of the packets that it holds, in the unit of [`Port::sent`].
    fn sent_of_held(&self, now: Time) -> u128 {
        let on_wire = self.wire.iter().map(|held| u128::from(held.size));
        let in_service = self.in_service.map_or(0, |served| {
            sent_in_service(served.size, served.departure - now, self.rate)
        });
        on_wire.sum::<u128>() * 8 * BIT + in_service
    }

    fn waited_so_far(&self, now: Time) -> u128 {
        self.waiting
            .iter()
            .map(|w| u128::from(now.saturating_sub(w.since).as_picos()))
            .sum()
    }
}

impl<A: Agent> Port for DeparturePort<A> {
    type Label = A::Label;

    fn new(setup: &LinkSetup, stream: Stream) -> DeparturePort<A> {
        let LinkSetup { rate, delay, .. } = *setup;
        let config = &setup.queue;
        DeparturePort {
            agent: A::new(setup),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            in_service: None,
            wire: VecDeque::new(),
            up: true,
            serialisation: Serialisation::new(rate),
            rate,
            delay,
            admission: Admission::new(config, stream),
            buffer: setup.buffer.clone(),
            statistics: LinkStatistics::default(),
            lost_after_sending: 0,
            histogram: QueueHistogram::new(longest_queue(config)),
        }
    }

    fn enqueue<E: LinkEvents>(
        &mut self,
        link: u32,
        now: Time,
        packet: PacketId,
        header: &mut Header,
        mut label: A::Label,
        events: &mut E,
    ) -> bool {
        self.statistics.offered += 1;
        if !self.up {
            self.statistics.refused_down += 1;
            return false;
        }
        let waiting = self.waiting.len() as u32;
        self.histogram.add(waiting);
        if !self.has_memory(header) {
            self.statistics.dropped += 1;
            return false;
        }
        let bytes = self.waiting_bytes;
        match self.admission.decide(waiting, || bytes, header) {
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
        if let Some(buffer) = &self.buffer {
            buffer.take(header.size);
        }
        let backlog = self.backlog();
        self.agent.on_arrival(now, header.size, &mut label, backlog);
        let arrived = WaitingPacket {
            packet,
            label,
            size: header.size,
            since: now,
        };
        if self.in_service.is_none() {
            self.serve(link, now, arrived, events);
        } else {
            self.waiting_bytes += u32::from(header.size);
            self.waiting.push_back(arrived);
        }
        true
    }

    fn depart<E: LinkEvents>(&mut self, link: u32, now: Time, events: &mut E) {
        let Some(served) = self.in_service.take() else {
            unreachable!("a departure is scheduled only while a packet is in service")
        };
        if let Some(buffer) = &self.buffer {
            buffer.release(u64::from(served.size));
        }
        let arrival = now + self.delay;
        if self.wire.is_empty() {
            events.schedule(link, LinkEvent::Arrival, arrival);
        }
        self.wire.push_back(OnWire {
            packet: served.packet,
            label: served.label,
            size: served.size,
            arrival,
        });
        if let Some(next) = self.waiting.pop_front() {
            self.waiting_bytes -= u32::from(next.size);
            self.statistics.waited += u128::from((now - next.since).as_picos());
            self.serve(link, now, next, events);
        }
    }

    fn deliver<E: LinkEvents>(
        &mut self,
        link: u32,
        _now: Time,
        events: &mut E,
    ) -> (PacketId, A::Label) {
        let Some(arrived) = self.wire.pop_front() else {
            unreachable!("an arrival is scheduled only while a packet is on the wire")
        };
        if let Some(next) = self.wire.front() {
            events.schedule(link, LinkEvent::Arrival, next.arrival);
        }
        self.statistics.delivered += 1;
        (arrived.packet, arrived.label)
    }

    fn count_delivered(&mut self, bytes: u16) {
        self.statistics.delivered_bytes += u64::from(bytes);
    }

    fn set_rate<E: LinkEvents>(&mut self, link: u32, now: Time, rate: Rate, events: &mut E) {
        let new = Serialisation::new(rate);
        if let Some(served) = &mut self.in_service {
            let remaining = served.departure - now;
            served.departure = now + self.serialisation.rescale(remaining, &new);
            events.cancel(link, LinkEvent::Departure);
            events.schedule(link, LinkEvent::Departure, served.departure);
        }
        self.serialisation = new;
        self.rate = rate;
        self.agent.set_rate(now, rate);
    }

    fn set_loss(&mut self, probability: f64) {
        self.admission.set_loss(probability);
    }

    fn loses_all(&self) -> bool {
        self.admission.loses_all()
    }

    fn fail<E: LinkEvents>(&mut self, link: u32, now: Time, events: &mut E) -> Purged {
        self.statistics.waited += self.waited_so_far(now);
        self.lost_after_sending += self.sent_of_held(now);
        if self.in_service.is_some() {
            events.cancel(link, LinkEvent::Departure);
        }
        if !self.wire.is_empty() {
            events.cancel(link, LinkEvent::Arrival);
        }
        self.statistics.lost_in_flight += self.wire.len() as u64;
        self.statistics.lost_in_service += u64::from(self.in_service.is_some());
        self.statistics.lost_waiting += self.waiting.len() as u64;
        if let Some(buffer) = &self.buffer {
            buffer.release(self.held());
        }
        let mut purged = Purged::default();
        purged
            .0
            .extend(self.wire.drain(..).map(|on_wire| on_wire.packet));
        purged
            .0
            .extend(self.in_service.take().map(|served| served.packet));
        purged
            .0
            .extend(self.waiting.drain(..).map(|waiting| waiting.packet));
        self.waiting_bytes = 0;
        self.up = false;
        purged
    }

    fn restore(&mut self, _now: Time) {
        self.up = true;
    }

    fn is_up(&self) -> bool {
        self.up
    }

    fn rate(&self) -> Rate {
        self.rate
    }

    fn waiting(&self, _now: Time) -> u32 {
        self.waiting.len() as u32
    }

    fn occupancy(&self, _now: Time) -> f64 {
        let Backlog { packets, bytes } = self.backlog();
        self.admission.occupancy(Waiting { packets, bytes })
    }

    fn delivered(&self) -> u64 {
        self.statistics.delivered
    }

    fn holds(&self) -> u32 {
        (self.waiting.len() + self.wire.len()) as u32 + u32::from(self.in_service.is_some())
    }

    fn statistics(&self, now: Time) -> LinkStatistics {
        let waited = self.statistics.waited + self.waited_so_far(now);
        LinkStatistics {
            waited,
            ..self.statistics
        }
    }

    fn sent(&self, now: Time) -> u128 {
        let arrived = u128::from(self.statistics.delivered_bytes) * 8 * BIT;
        arrived + self.lost_after_sending + self.sent_of_held(now)
    }

    fn histogram(&mut self) -> &mut QueueHistogram {
        &mut self.histogram
    }

    fn agent_statistics(&self) -> AgentStatistics {
        self.agent.statistics()
    }
}
