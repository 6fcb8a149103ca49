//! The ports that know, when a packet arrives, when it will leave.

mod careful;
mod changes;
mod leaving;
mod leaving_ports;
mod memory;
mod observed;
mod passing;
mod prefetch;
mod service;
mod state;

use super::rings::{Entry, Rings};
use super::{
    Delivered, HandOver, LinkEvent, LinkEvents, Ports, Purged, Serialisation, TurnInterval,
};
use crate::agent::{Agent, AgentStatistics, NoAgent};
use crate::arrivals::{Arrivals, Held};
use crate::histogram::{ArrivalCounts, QueueHistogram};
use crate::input_times::DueInputs;
use crate::inputs::Inputs;
use crate::marking::Admission;
use crate::packet::Header;
use crate::places::{Places, PortId};
use crate::queue::{Limit, Verdict};
use crate::setup::{LinkSetup, QueuesCounted};
use crate::shared_buffer::{NodeMemory, SharedBuffer, memories};
use crate::statistics::LinkStatistics;
use leaving_ports::LeavingPorts;
use pathweave_random::Stream;
use pathweave_units::{Rate, Time};
use state::{Cold, Hot};
use std::ops::Range;

/// FIFO ports with one event per packet and hop.
///
/// A port's ring holds, oldest first, the packets on the wire, the one in service and those that wait.
/// A packet's departure is fixed when it joins (the queue is FIFO and never idle while something
/// waits), so nothing has to happen at the departure itself. What nobody but the port and its node can see of a
/// departure is worked off when the port next looks: the place where service has come to, what the agent does when
/// a transmission begins, the shared memory that is free again.
#[derive(Debug)]
pub struct FifoPorts<A: Agent = NoAgent> {
    hot: Box<[Hot]>,
    cold: Box<[Cold<A>]>,
    rings: Rings<A::Label>,
    arrivals: ArrivalCounts,
    leaving: LeavingPorts,
    /// Of each node.
    memories: Vec<Option<NodeMemory>>,
}

/// The time after which a moment is over.
fn after(moment: Time) -> Time {
    moment + Time::from_picos(1)
}

impl<A: Agent> FifoPorts<A> {
    /// Takes over what [`Hot`] has counted.
    fn count(&mut self, port: PortId) {
        let place = port.0 as usize;
        self.cold[place].count(&mut self.hot[place]);
    }

    #[cfg(feature = "checks")]
    fn check_taken(cold: &Cold<A>, port: PortId, packets: u32, header: &Header, verdict: Verdict) {
        // Where it is simply taken no rule asks for bytes.
        let waiting = crate::queue::Waiting { packets, bytes: 0 };
        assert!(
            cold.up && !cold.admission.counts_bytes() && cold.memory.is_none(),
            "check: port {port:?} takes a packet without looking"
        );
        cold.admission.check(verdict, waiting, header);
    }

    /// What can be decided about a packet without a look at the rules follows from these and the port's state.
    fn follow_rules(&mut self, port: PortId) {
        let (hot, cold) = (
            &mut self.hot[port.0 as usize],
            &mut self.cold[port.0 as usize],
        );
        // Ports with agents decide as others do, but agents see every packet.
        let counts_bytes = cold.admission.counts_bytes();
        let is_simple = cold.up && !counts_bytes && cold.memory.is_none();
        (hot.taken_below, cold.marked_below) = if is_simple {
            (cold.admission.taken_below(), cold.admission.marked_below())
        } else {
            ([0; 2], 0)
        };
    }
}

impl<A: Agent> Ports for FifoPorts<A> {
    type Label = A::Label;
    const KNOW_ARRIVALS: bool = true;
    const HAVE_AGENTS: bool = A::ACTS;

    fn new(
        links: &[LinkSetup],
        places: &Places,
        counted: QueuesCounted,
        stream: impl Fn(u32) -> Stream,
    ) -> FifoPorts<A> {
        let memories = memories(links, places);
        let here = |port: PortId| port.0 < places.count();
        let setups = || {
            let all = places.links().iter().chain(places.inlets());
            (0..).map(PortId).zip(all.copied())
        };
        let cold: Box<[Cold<A>]> = setups()
            .map(|(port, link)| {
                let setup = &links[link as usize];
                let admission = Admission::new(&setup.queue, stream(link));
                let buffer = setup.buffer.filter(|_| here(port));
                let acts = A::ACTS || admission.counts_bytes();
                Cold {
                    marked: 0,
                    marked_below: 0,
                    up: true,
                    follows_service: here(port) && acts,
                    begun: 0,
                    begins: Time::ZERO,
                    waiting_bytes: 0,
                    released: 0,
                    held_bytes: 0,
                    memory: buffer.map(|_| setup.from),
                    counted: 0,
                    joined_bytes: 0,
                    rate: setup.rate,
                    admission,
                    agent: A::new(setup),
                    statistics: LinkStatistics::default(),
                    lost_after_sending: 0,
                }
            })
            .collect();
        let hot = setups().map(|(port, link)| {
            let setup = &links[link as usize];
            Hot {
                head: 0,
                tail: 0,
                served: 0,
                joined_bytes: 0,
                free_at: Time::ZERO,
                serialisation: Serialisation::new(setup.rate),
                delay: setup.delay,
                waited: 0,
                ring: Rings::<A::Label>::first(port.0),
                far: places.far(port),
                taken_below: [0; 2],
            }
        });
        let mut ports = FifoPorts {
            hot: hot.collect(),
            rings: Rings::new(places.count() + places.inlets().len() as u32),
            arrivals: ArrivalCounts::new(counted, links, places),
            leaving: LeavingPorts::new(places),
            memories,
            cold,
        };
        for port in 0..ports.hot.len() as u32 {
            ports.follow_rules(PortId(port));
        }
        ports
    }

    #[inline(always)]
    fn enqueue<E: LinkEvents>(
        &mut self,
        port: PortId,
        now: Time,
        mut header: Header,
        label: A::Label,
        events: &mut E,
    ) -> bool {
        if A::ACTS {
            return self.enqueue_with_agent(port, now, header, label, events);
        }
        let hot = &mut self.hot[port.0 as usize];
        let taken_below = u32::from(hot.taken_below[usize::from(header.ecn_capable())]);
        // How many of them wait makes no difference where all that the port holds are few enough.
        if hot.tail.wrapping_sub(hot.head) >= taken_below || self.arrivals.counts(now) {
            let served = hot.serve(&self.rings, now);
            let waiting = hot.tail.wrapping_sub(served).saturating_sub(1);
            let mut verdict = Verdict::Take;
            if waiting >= taken_below {
                let cold = &mut self.cold[port.0 as usize];
                if waiting >= cold.marked_below || !header.is_simply_marked() {
                    return self.enqueue_carefully(port, now, header, label, events);
                }
                verdict = Verdict::TakeAndMark;
                cold.marked += 1;
            }
            self.arrivals.add(port, waiting, now);
            #[cfg(feature = "checks")]
            Self::check_taken(&self.cold[port.0 as usize], port, waiting, &header, verdict);
            if verdict == Verdict::TakeAndMark {
                header.set_congestion_experienced();
            }
            if hot.ring.is_too_large(hot.tail.wrapping_sub(hot.head)) {
                hot.ring = self.rings.shrink(hot.ring, hot.head, hot.tail);
            }
        }
        let counts = hot.join(
            &mut self.rings,
            &mut self.leaving,
            port,
            now,
            (header, label),
            events,
        );
        if counts {
            self.count(port);
        }
        true
    }

    fn depart<E: LinkEvents>(&mut self, _port: PortId, _now: Time, _events: &mut E) {
        unreachable!("FIFO ports schedule no departures")
    }

    #[inline(always)]
    fn deliver<E: LinkEvents>(
        &mut self,
        port: PortId,
        now: Time,
        events: &mut E,
    ) -> Delivered<A::Label> {
        let (delivered, next) = self.take_first(port, after(now));
        if next < Time::MAX {
            events.schedule(port, LinkEvent::Arrival, next);
        }
        delivered
    }

    #[inline(always)]
    fn take_first(&mut self, port: PortId, noticed: Time) -> (Delivered<A::Label>, Time) {
        let hot = &mut self.hot[port.0 as usize];
        let head = hot.head;
        if A::ACTS {
            self.complete_labels(port, head.wrapping_add(1), noticed);
        }
        let hot = &mut self.hot[port.0 as usize];
        let Entry { header, label, .. } = *self.rings.get(hot.ring, head);
        let next = head.wrapping_add(1);
        hot.head = next;
        let at = if next == hot.tail {
            Time::MAX
        } else {
            self.rings.get(hot.ring, next).departure + hot.delay
        };
        let far = hot.far;
        (Delivered { header, label, far }, at)
    }

    // A function of its own has enough registers.
    #[inline(never)]
    fn gather(
        &mut self,
        (mut due, ports): (DueInputs, &[PortId; Inputs::PAGE]),
        window: TurnInterval,
        times: &mut [Time; Inputs::PAGE],
        arrivals: &mut Arrivals,
    ) {
        let TurnInterval {
            from,
            before: end,
            elsewhere,
        } = window;
        let mut far = arrivals.far;
        let mut adding = arrivals.adding();
        while let Some(input) = due.first() {
            due = due.rest();
            let mut arrival = times[input];
            // Some are listed because of timers.
            if arrival >= end {
                continue;
            }
            let port = ports[input];
            let hot = &mut self.hot[port.0 as usize];
            far = hot.far;
            let mut head = hot.head;
            let mut held = self.rings.held(hot.ring, head);
            loop {
                adding.add(arrival - from, held);
                head = head.wrapping_add(1);
                if head == hot.tail {
                    arrival = Time::MAX;
                    break;
                }
                held = self.rings.held(hot.ring, head);
                arrival = self.rings.at(held).departure + hot.delay;
                if arrival >= end {
                    break;
                }
            }
            hot.head = head;
            times[input] = arrival;
            if A::ACTS {
                self.complete_labels(port, head, elsewhere);
            }
        }
        adding.end(far);
    }

    fn held_by(&self, port: PortId, held: Held) -> bool {
        self.hot[port.0 as usize].ring.holds(held)
    }

    #[inline(always)]
    fn held(&self, held: Held) -> (Header, A::Label) {
        let entry = self.rings.at(held);
        (entry.header, entry.label)
    }

    fn hand_over(
        &mut self,
        now: Time,
        of: impl Fn(PortId) -> bool,
        to: &mut impl HandOver<A::Label>,
    ) {
        self.hand_over_leaving(now, of, to);
    }

    fn hand_over_in_turn(
        &mut self,
        ports: Range<u32>,
        now: Time,
        to: &mut impl HandOver<A::Label>,
    ) {
        self.hand_over_from_all(ports, now, to);
    }

    fn next_to_leave(&self) -> Time {
        self.next_of_leaving()
    }

    fn handed_over(&self) -> u64 {
        self.count_handed_over()
    }

    #[inline(always)]
    fn receive<E: LinkEvents>(
        &mut self,
        inlet: PortId,
        departure: Time,
        header: Header,
        label: A::Label,
        events: &mut E,
    ) {
        self.receive_at(inlet, departure, header, label, events);
    }

    fn prefetch_at(&self, inlets: impl Iterator<Item = PortId> + Clone) {
        self.prefetch_at_inlets(inlets);
    }

    fn prefetch(
        &self,
        due: (DueInputs, &[PortId; Inputs::PAGE]),
        hosts: DueInputs,
        before: Time,
        at_hosts: &mut Vec<Header>,
    ) {
        self.prefetch_on_wires(due, hosts, before, at_hosts);
    }

    fn set_rate<E: LinkEvents>(&mut self, port: PortId, now: Time, rate: Rate, events: &mut E) {
        self.change_rate(port, now, rate, events);
    }

    fn set_loss(&mut self, port: PortId, probability: f64) {
        self.cold[port.0 as usize].admission.set_loss(probability);
        self.follow_rules(port);
    }

    fn loses_all(&self, port: PortId) -> bool {
        self.cold[port.0 as usize].admission.loses_all()
    }

    fn fail<E: LinkEvents>(&mut self, port: PortId, now: Time, events: &mut E) -> Purged {
        self.lose_all(port, now, events)
    }

    fn restore(&mut self, port: PortId, now: Time) {
        let cold = &mut self.cold[port.0 as usize];
        cold.up = true;
        if let Some(average) = cold.admission.average() {
            average.restart();
        }
        self.hot[port.0 as usize].free_at = now;
        self.follow_rules(port);
    }

    fn is_up(&self, port: PortId) -> bool {
        self.cold[port.0 as usize].up
    }

    fn rate(&self, port: PortId) -> Rate {
        self.cold[port.0 as usize].rate
    }

    fn waiting(&self, port: PortId, now: Time) -> u32 {
        self.waiting_at(port, now)
    }

    #[inline(always)]
    fn free_at(&self, port: PortId) -> Time {
        self.hot[port.0 as usize].free_at
    }

    fn is_full(&mut self, port: PortId, now: Time, size: u16) -> bool {
        self.is_full_at(port, now, size)
    }

    fn occupancy(&self, port: PortId, now: Time) -> f64 {
        self.occupancy_at(port, now)
    }

    fn limit(&self, port: PortId) -> Limit {
        self.cold[port.0 as usize].admission.limit()
    }

    fn averages(&self, port: PortId) -> bool {
        self.cold[port.0 as usize].admission.averages()
    }

    fn shares_memory(&self, port: PortId) -> bool {
        self.cold[port.0 as usize].memory.is_some()
    }

    #[inline(always)]
    fn transmission(&self, port: PortId, size: u16) -> Time {
        self.hot[port.0 as usize].serialisation.time(size)
    }

    fn count_passing(&mut self, port: PortId, (first, period): (Time, Time), count: u64) {
        self.arrivals.add_idle(port, (first, period), count);
    }

    fn hold_passing<E: LinkEvents>(
        &mut self,
        port: PortId,
        since: Time,
        header: Header,
        label: A::Label,
        events: &mut E,
    ) {
        self.hold_passing_at(port, since, header, label, events);
    }

    fn take_back(&mut self, port: PortId) -> bool {
        let hot = &mut self.hot[port.0 as usize];
        let was_last = hot.head == hot.tail;
        hot.head = hot.head.wrapping_sub(1);
        was_last
    }

    fn take_again<E: LinkEvents>(&mut self, port: PortId, was_last: bool, events: &mut E) {
        let hot = &mut self.hot[port.0 as usize];
        hot.head = hot.head.wrapping_add(1);
        if was_last && hot.head != hot.tail {
            let next = self.rings.get(hot.ring, hot.head).departure;
            events.schedule(port, LinkEvent::Arrival, next + hot.delay);
        }
    }

    fn slip_in<E: LinkEvents>(
        &mut self,
        port: PortId,
        times: (Time, Time),
        header: Header,
        label: A::Label,
        events: &mut E,
    ) {
        self.slip_in_at(port, times, header, label, events);
    }

    fn count_carried(&mut self, port: PortId, packets: u64, bytes: u64) {
        let cold = &mut self.cold[port.0 as usize];
        cold.statistics.delivered += packets;
        cold.joined_bytes += bytes;
    }

    fn delivered(&self, port: PortId) -> u64 {
        let (hot, cold) = (&self.hot[port.0 as usize], &self.cold[port.0 as usize]);
        cold.statistics.delivered + u64::from(hot.head.wrapping_sub(cold.counted))
    }

    fn holds(&self, port: PortId) -> u32 {
        let hot = &self.hot[port.0 as usize];
        hot.tail.wrapping_sub(hot.head)
    }

    fn statistics(&self, port: PortId, now: Time) -> LinkStatistics {
        self.statistics_of(port, now)
    }

    fn sent(&self, port: PortId, now: Time) -> u128 {
        self.sent_by(port, now)
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

    fn agent_statistics(&mut self, port: PortId, now: Time) -> AgentStatistics {
        self.follow_service(port, now);
        self.cold[port.0 as usize].agent.statistics()
    }

    fn shared_buffer(&self, node: u32) -> Option<&SharedBuffer> {
        let memory = self.memories.get(node as usize)?.as_ref()?;
        Some(&memory.buffer)
    }
}
