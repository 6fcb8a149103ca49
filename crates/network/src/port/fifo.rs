//! The ports that know, when a packet arrives, when it will leave.

use super::rings::{Entry, Ring, Rings};
use super::{
    BIT, Delivered, HandOver, LinkEvent, LinkEvents, Ports, Purged, Serialisation, sent_in_service,
};
use crate::agent::{Agent, AgentStatistics, Backlog, NoAgent};
use crate::arrivals::{Arrivals, Held};
use crate::histogram::{ArrivalCounts, QueueHistogram, QueuesCounted};
use crate::marking::{Admission, Verdict, Waiting};
use crate::network::LinkSetup;
use crate::packet::Header;
use crate::path::Step;
use crate::places::{Places, PortId};
use crate::shared_buffer::{NodeMemory, SharedBuffer, memories};
use crate::statistics::LinkStatistics;
use pathweave_random::Stream;
use pathweave_units::{Rate, Time};
use std::hint::black_box;

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
    /// Ports of links to other regions that hold packets.
    leaving: Vec<Leaving>,
    /// Of each node.
    memories: Vec<Option<NodeMemory>>,
}

/// A port of a link to another region that holds packets.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    port: PortId,
    /// The first entry of its ring that was not handed over to the region at the link's end.
    handed_over: u32,
}

/// What every packet touches of a port: one cache line. Of an inlet there is only the wire.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Hot {
    /// Oldest entry: the next to arrive at the far end.
    head: u32,
    /// One past the newest entry.
    tail: u32,
    /// First entry that had not departed when last looked, or one before `head`.
    served: u32,
    /// Bytes that have joined and that [`Cold`] does not count yet.
    joined_bytes: u32,
    free_at: Time,
    serialisation: Serialisation,
    delay: Time,
    /// Times that packets waited, in picoseconds, that [`Cold`] does not count yet.
    waited: u64,
    ring: Ring,
    /// The first port of the node at the link's end, or [`PortId::ELSEWHERE`].
    far: PortId,
    /// [`Admission::taken_below`]; zero where every packet needs more than a place in the queue.
    taken_below: [u16; 2],
}

const _: () = assert!(size_of::<Hot>() == 64);

/// What the careful cases need besides. The first cache line is what packets need that are marked.
#[derive(Debug)]
#[repr(C, align(64))]
struct Cold<A> {
    /// Packets marked that `statistics` does not count.
    marked: u64,
    /// [`Admission::marked_below`]; zero where every packet needs more than a place in the queue.
    marked_below: u32,
    up: bool,
    /// Whether [`Cold::begun`] and what follows from it is kept: the rules count bytes, or an agent acts.
    follows_service: bool,
    /// First entry whose transmission had not begun when last looked.
    begun: u32,
    /// Bytes from there on.
    waiting_bytes: u32,
    /// First entry whose bytes still took shared memory when last looked.
    released: u32,
    /// Bytes from there on.
    held_bytes: u64,
    /// The node whose memory is shared.
    memory: Option<u32>,
    /// The `head` up to which `statistics` counts.
    counted: u32,
    /// Bytes of all packets that joined and that no failure lost.
    joined_bytes: u64,
    rate: Rate,
    admission: Admission,
    agent: A,
    /// Without what [`Hot`] has counted since.
    statistics: LinkStatistics,
    /// What was sent of packets that failures lost, in the unit of [`Ports::sent`].
    lost_after_sending: u128,
}

/// Packets for which things are fetched from memory together: so many that their values stay in the fastest cache.
const AT_ONCE: usize = 64;

/// The time after which a moment is over.
fn after(moment: Time) -> Time {
    moment + Time::from_picos(1)
}

impl Hot {
    /// Packets that have departed: all before this entry.
    #[inline(always)]
    fn serve<L: Copy + Default>(&mut self, rings: &Rings<L>, now: Time) -> u32 {
        let mut served = self.first_maybe_unserved();
        while served != self.tail && rings.get(self.ring, served).departure <= now {
            served = served.wrapping_add(1);
        }
        self.served = served;
        served
    }

    #[inline(always)]
    fn first_maybe_unserved(&self) -> u32 {
        // Deliveries leave `served` behind.
        if (self.served.wrapping_sub(self.head) as i32) < 0 {
            self.head
        } else {
            self.served
        }
    }

    /// The first entry that has not departed before `now`, for what comes first at a time.
    fn first_unserved_before<L: Copy + Default>(&self, rings: &Rings<L>, now: Time) -> u32 {
        let mut index = self.first_maybe_unserved();
        while index != self.tail && rings.get(self.ring, index).departure < now {
            index = index.wrapping_add(1);
        }
        index
    }

    /// Sum over the waiting packets of the time until their service starts.
    fn still_to_wait<L: Copy + Default>(&self, rings: &Rings<L>, now: Time) -> u128 {
        let mut index = self.first_unserved_before(rings, now);
        let mut sum = 0;
        while index != self.tail && index.wrapping_add(1) != self.tail {
            let left = rings.get(self.ring, index).departure.saturating_sub(now);
            sum += u128::from(left.as_picos());
            index = index.wrapping_add(1);
        }
        sum
    }

    /// Bytes of these entries.
    fn bytes<L: Copy + Default>(&self, rings: &Rings<L>, from: u32, to: u32) -> u64 {
        let mut index = from;
        let mut bytes = 0;
        while index != to {
            bytes += u64::from(rings.get(self.ring, index).header.size());
            index = index.wrapping_add(1);
        }
        bytes
    }

    /// A packet takes its place in the queue. Returns whether what [`Hot`] counts has to be taken over.
    #[inline(always)]
    fn join<L: Copy + Default, E: LinkEvents>(
        &mut self,
        rings: &mut Rings<L>,
        leaving: &mut Vec<Leaving>,
        port: PortId,
        now: Time,
        (header, label): (Header, L),
        events: &mut E,
    ) -> bool {
        let start = self.free_at.max(now);
        let departure = start + self.serialisation.time(header.size());
        self.free_at = departure;
        self.waited += (start - now).as_picos();
        self.joined_bytes += u32::from(header.size());
        if self.push(rings, Entry { departure, header }, label) {
            if self.far == PortId::ELSEWHERE {
                let handed_over = self.head;
                leaving.push(Leaving { port, handed_over });
            } else {
                events.schedule(port, LinkEvent::Arrival, departure + self.delay);
            }
        }
        self.has_counted_much()
    }

    /// Whether counters will soon be full.
    #[inline(always)]
    fn has_counted_much(&self) -> bool {
        (self.waited as i64) < 0 || (self.joined_bytes as i32) < 0
    }

    /// Puts a packet into the ring. Returns whether it is the first one.
    #[inline(always)]
    fn push<L: Copy + Default>(&mut self, rings: &mut Rings<L>, entry: Entry, label: L) -> bool {
        let (head, tail) = (self.head, self.tail);
        self.tail = tail.wrapping_add(1);
        if tail.wrapping_sub(head) == self.ring.room() {
            self.ring = rings.grow(self.ring, head, tail);
        }
        *rings.get_mut(self.ring, tail) = entry;
        if size_of::<L>() != 0 {
            *rings.label_mut(self.ring, tail) = label;
        }
        head == tail
    }
}

impl<A: Agent> FifoPorts<A> {
    /// What [`Ports::hand_over`] needs of these ports is fetched from memory.
    #[inline(always)]
    fn look_ahead_to_leave(&self, leaving: &[Leaving], now: Time, to: &impl HandOver<A::Label>) {
        for Leaving { port, .. } in leaving {
            black_box(self.hot[port.0 as usize].tail);
        }
        for Leaving { port, handed_over } in leaving {
            let hot = &self.hot[port.0 as usize];
            black_box(self.rings.get(hot.ring, hot.head).departure);
            black_box(self.rings.get(hot.ring, *handed_over).departure);
        }
        for Leaving { port, handed_over } in leaving {
            let hot = &self.hot[port.0 as usize];
            let entry = self.rings.get(hot.ring, *handed_over);
            if *handed_over != hot.tail && entry.departure < now {
                to.soon(entry.header);
            }
        }
    }

    /// A packet arrives where it is not simply taken.
    #[inline(never)]
    fn enqueue_carefully<E: LinkEvents>(
        &mut self,
        port: PortId,
        now: Time,
        mut header: Header,
        mut label: A::Label,
        events: &mut E,
    ) -> bool {
        let place = port.0 as usize;
        if !self.cold[place].up {
            self.cold[place].statistics.refused_down += 1;
            return false;
        }
        self.follow_service(port, after(now));
        let must_be_taken = header.is_protected() || header.is_feedback();
        let has_memory = self.has_memory(port, header.size(), now);
        let (hot, cold) = (&mut self.hot[place], &mut self.cold[place]);
        let served = hot.serve(&self.rings, now);
        let in_port = hot.tail.wrapping_sub(served);
        let waiting = Waiting {
            packets: in_port.saturating_sub(1),
            bytes: cold.waiting_bytes,
        };
        self.arrivals.add(port, waiting.packets, now);
        let memory = cold.memory.map(|node| &mut self.memories[node as usize]);
        let mut memory = memory.and_then(Option::as_mut);
        if let Some(memory) = &mut memory
            && !has_memory
            && !must_be_taken
        {
            memory.buffer.refuse();
            cold.statistics.dropped += 1;
            return false;
        }
        match cold.admission.decide(waiting, &header) {
            Verdict::Take => {}
            Verdict::TakeAndMark => {
                header.set_congestion_experienced();
                cold.statistics.marked += 1;
            }
            Verdict::Lose => {
                header.lose();
                cold.statistics.lost_silently += 1;
            }
            Verdict::Drop => {
                cold.statistics.dropped += 1;
                return false;
            }
        }
        let size = header.size();
        if cold.follows_service {
            let backlog = Backlog {
                packets: waiting.packets,
                bytes: waiting.bytes,
            };
            cold.agent.on_arrival(now, size, &mut label, backlog);
            if in_port == 0 {
                let backlog = Backlog::default();
                cold.agent.on_service(now, size, &mut label, backlog);
                cold.begun = hot.tail.wrapping_add(1);
            } else {
                cold.waiting_bytes += u32::from(size);
            }
        }
        if let Some(memory) = memory {
            memory.buffer.take(size);
            cold.held_bytes += u64::from(size);
        }
        let hot = &mut self.hot[place];
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

    /// Works off the beginnings of transmissions before a time.
    #[inline(always)]
    fn follow_service(&mut self, port: PortId, before: Time) {
        let place = port.0 as usize;
        let (hot, cold) = (&self.hot[place], &mut self.cold[place]);
        if !cold.follows_service {
            return;
        }
        while cold.begun != hot.tail {
            let previous = self.rings.get(hot.ring, cold.begun.wrapping_sub(1));
            let start = previous.departure;
            if start >= before {
                return;
            }
            let size = rings_size(&self.rings, hot.ring, cold.begun);
            cold.waiting_bytes -= u32::from(size);
            let backlog = Backlog {
                packets: hot.tail.wrapping_sub(cold.begun) - 1,
                bytes: cold.waiting_bytes,
            };
            let label = self.rings.label_mut(hot.ring, cold.begun);
            cold.agent.on_service(start, size, label, backlog);
            cold.begun = cold.begun.wrapping_add(1);
        }
    }

    /// Whether a port's node has memory for a packet.
    #[inline(always)]
    fn has_memory(&mut self, port: PortId, packet: u16, now: Time) -> bool {
        match self.cold[port.0 as usize].memory {
            Some(node) => self.has_shared_memory(node, port, packet, now),
            None => true,
        }
    }

    /// Whether a node's shared memory has room for a packet. Gives back what departures have freed, as far as it makes a
    /// difference.
    #[inline]
    fn has_shared_memory(&mut self, node: u32, port: PortId, packet: u16, now: Time) -> bool {
        self.release(port, after(now));
        let held = self.cold[port.0 as usize].held_bytes;
        let Some(memory) = &self.memories[node as usize] else {
            return true;
        };
        if memory.is_plenty(held, packet) {
            return true;
        }
        for port in memory.ports.clone() {
            self.release(PortId(port), after(now));
        }
        let memory = self.memories[node as usize].as_ref();
        memory.is_none_or(|memory| memory.buffer.would_admit(held, packet))
    }

    /// Gives back the memory that a port's departures before a time have freed.
    #[inline]
    fn release(&mut self, port: PortId, before: Time) {
        let (hot, cold) = (&self.hot[port.0 as usize], &mut self.cold[port.0 as usize]);
        let mut released = 0;
        while cold.released != hot.tail {
            let entry = self.rings.get(hot.ring, cold.released);
            if entry.departure >= before {
                break;
            }
            released += u64::from(entry.header.size());
            cold.released = cold.released.wrapping_add(1);
        }
        if released > 0 {
            self.give_back(port, released);
        }
    }

    /// This many bytes of a port do not take memory any more.
    #[inline]
    fn give_back(&mut self, port: PortId, bytes: u64) {
        let cold = &mut self.cold[port.0 as usize];
        cold.held_bytes -= bytes;
        if let Some(node) = cold.memory
            && let Some(memory) = &mut self.memories[node as usize]
        {
            memory.buffer.release(bytes);
        }
    }

    /// Takes over what [`Hot`] has counted.
    #[cold]
    #[inline(never)]
    fn count(&mut self, port: PortId) {
        let (hot, cold) = (
            &mut self.hot[port.0 as usize],
            &mut self.cold[port.0 as usize],
        );
        cold.statistics.waited += u128::from(std::mem::take(&mut hot.waited));
        cold.joined_bytes += u64::from(std::mem::take(&mut hot.joined_bytes));
        cold.statistics.delivered += u64::from(hot.head.wrapping_sub(cold.counted));
        cold.counted = hot.head;
    }

    /// A change of a link: what came before it is worked off and counted.
    fn before_change(&mut self, port: PortId, now: Time) {
        self.follow_service(port, now);
        if self.cold[port.0 as usize].memory.is_some() {
            self.release(port, now);
        }
        self.count(port);
        let hot = &mut self.hot[port.0 as usize];
        hot.served = hot.first_unserved_before(&self.rings, now);
    }

    /// Bytes of all packets that have reached the end of a port's link.
    fn delivered_bytes(&self, port: PortId) -> u64 {
        let (hot, cold) = (&self.hot[port.0 as usize], &self.cold[port.0 as usize]);
        let joined = cold.joined_bytes + u64::from(hot.joined_bytes);
        joined - hot.bytes(&self.rings, hot.head, hot.tail)
    }

    /// What has been sent of the packets that a port holds, in the unit of [`Ports::sent`].
    fn sent_of_held(&self, port: PortId, now: Time) -> u128 {
        let (hot, rate) = (&self.hot[port.0 as usize], self.cold[port.0 as usize].rate);
        let first = hot.first_unserved_before(&self.rings, now);
        let on_wire = hot.bytes(&self.rings, hot.head, first);
        let in_service = if first == hot.tail {
            0
        } else {
            let entry = self.rings.get(hot.ring, first);
            sent_in_service(entry.header.size(), entry.departure - now, rate)
        };
        u128::from(on_wire) * 8 * BIT + in_service
    }

    #[cfg(feature = "checks")]
    fn check_taken(cold: &Cold<A>, port: PortId, packets: u32, header: &Header, verdict: Verdict) {
        // Where it is simply taken no rule asks for bytes.
        let waiting = Waiting { packets, bytes: 0 };
        assert!(
            cold.up && !cold.follows_service && cold.memory.is_none(),
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
        let is_simple = cold.up && !cold.follows_service && cold.memory.is_none();
        (hot.taken_below, cold.marked_below) = if is_simple {
            (cold.admission.taken_below(), cold.admission.marked_below())
        } else {
            ([0; 2], 0)
        };
    }
}

fn rings_size<L: Copy + Default>(rings: &Rings<L>, ring: Ring, position: u32) -> u16 {
    rings.get(ring, position).header.size()
}

impl<A: Agent> Ports for FifoPorts<A> {
    type Label = A::Label;
    const KNOW_ARRIVALS: bool = true;

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
            leaving: Vec::new(),
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
        if A::ACTS {
            self.follow_service(port, noticed);
        }
        let hot = &mut self.hot[port.0 as usize];
        let head = hot.head;
        let header = self.rings.get(hot.ring, head).header;
        let label = self.rings.label(hot.ring, head);
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

    #[inline(always)]
    fn gather(
        &mut self,
        port: PortId,
        first: Time,
        (from, end): (Time, Time),
        arrivals: &mut Arrivals,
    ) -> Time {
        if A::ACTS {
            // All that arrive have left before the window: their labels are those of their transmissions.
            self.follow_service(port, from);
        }
        let hot = &mut self.hot[port.0 as usize];
        arrivals.begin_input(hot.far, hot.tail.wrapping_sub(hot.head));
        let mut head = hot.head;
        let mut arrival = first;
        loop {
            arrivals.add(arrival, self.rings.held(hot.ring, head));
            head = head.wrapping_add(1);
            if head == hot.tail {
                hot.head = head;
                return Time::MAX;
            }
            arrival = self.rings.get(hot.ring, head).departure + hot.delay;
            if arrival >= end {
                hot.head = head;
                return arrival;
            }
        }
    }

    fn held_by(&self, port: PortId, held: Held) -> bool {
        self.hot[port.0 as usize].ring.holds(held)
    }

    #[inline(always)]
    fn held(&self, held: Held) -> (Header, A::Label) {
        (self.rings.at(held).header, self.rings.label_at(held))
    }

    fn hand_over(&mut self, now: Time, to: &mut impl HandOver<A::Label>) {
        let mut leaving = std::mem::take(&mut self.leaving);
        for chunk in leaving.chunks_mut(AT_ONCE) {
            self.look_ahead_to_leave(chunk, now, to);
            for Leaving {
                port: of_port,
                handed_over,
            } in chunk
            {
                let port = *of_port;
                if A::ACTS {
                    // What leaves has its label when its transmission begins.
                    self.follow_service(port, now);
                }
                let hot = &mut self.hot[port.0 as usize];
                while *handed_over != hot.tail {
                    let Entry { departure, header } = *self.rings.get(hot.ring, *handed_over);
                    if departure >= now {
                        break;
                    }
                    let label = self.rings.label(hot.ring, *handed_over);
                    to.sent(port, departure, header, label);
                    *handed_over = handed_over.wrapping_add(1);
                }
                while hot.head != *handed_over {
                    let Entry { departure, header } = *self.rings.get(hot.ring, hot.head);
                    let arrival = departure + hot.delay;
                    if arrival >= now {
                        break;
                    }
                    to.arrived(port, arrival, header);
                    hot.head = hot.head.wrapping_add(1);
                }
                if hot.head == hot.tail {
                    *of_port = PortId::ELSEWHERE;
                }
            }
        }
        leaving.retain(|leaving| leaving.port != PortId::ELSEWHERE);
        self.leaving = leaving;
    }

    fn next_to_leave(&self) -> Time {
        let next = self.leaving.iter().filter_map(|leaving| {
            let hot = &self.hot[leaving.port.0 as usize];
            let entry = self.rings.get(hot.ring, leaving.handed_over);
            (leaving.handed_over != hot.tail).then_some(entry.departure)
        });
        next.min().unwrap_or(Time::MAX)
    }

    fn handed_over(&self) -> u64 {
        let each = self.leaving.iter().map(|leaving| {
            let hot = &self.hot[leaving.port.0 as usize];
            u64::from(leaving.handed_over.wrapping_sub(hot.head))
        });
        each.sum()
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
        let hot = &mut self.hot[inlet.0 as usize];
        hot.joined_bytes += u32::from(header.size());
        if hot.push(&mut self.rings, Entry { departure, header }, label) {
            events.schedule(inlet, LinkEvent::Arrival, departure + hot.delay);
        }
        if hot.has_counted_much() {
            self.count(inlet);
        }
    }

    fn look_ahead_at(&self, inlets: impl Iterator<Item = PortId> + Clone) {
        for inlet in inlets.clone() {
            black_box(self.hot[inlet.0 as usize].tail);
        }
        for inlet in inlets {
            let hot = &self.hot[inlet.0 as usize];
            black_box(self.rings.get(hot.ring, hot.tail).departure);
        }
    }

    fn look_ahead(&self, ports: &[PortId], at_hosts: &mut Vec<Header>) {
        for ports in ports.chunks(AT_ONCE) {
            // Each loop asks for one thing of every packet, and needs only what the loop before has fetched.
            let mut firsts = [Held(0); AT_ONCE];
            for (port, first) in ports.iter().zip(&mut firsts) {
                let hot = &self.hot[port.0 as usize];
                *first = self.rings.held(hot.ring, hot.head);
            }
            let mut nexts = [PortId(0); AT_ONCE];
            for ((&port, next), first) in ports.iter().zip(&mut nexts).zip(firsts) {
                let header = self.rings.at(first).header;
                let hot = &self.hot[port.0 as usize];
                black_box(self.rings.get(hot.ring, hot.head.wrapping_add(1)).departure);
                *next = match header.path.step().0 {
                    Step::Port(next) => PortId(hot.far.0 + next),
                    // What the host sends in answer leaves by its first port.
                    Step::End if hot.head != hot.tail => {
                        at_hosts.push(header);
                        hot.far
                    }
                    Step::End | Step::Special => port,
                };
            }
            let mut lasts = [Held(0); AT_ONCE];
            for (next, last) in nexts[..ports.len()].iter().zip(&mut lasts) {
                let Some(hot) = self.hot.get(next.0 as usize) else {
                    continue;
                };
                *last = self.rings.held(hot.ring, hot.tail);
                if hot.tail.wrapping_sub(hot.head) >= u32::from(hot.taken_below[1]) {
                    black_box(self.cold[next.0 as usize].marked);
                }
            }
            for last in &lasts[..ports.len()] {
                black_box(self.rings.at(*last).departure);
            }
        }
    }

    fn set_rate<E: LinkEvents>(&mut self, port: PortId, now: Time, rate: Rate, events: &mut E) {
        self.before_change(port, now);
        let place = port.0 as usize;
        let (hot, cold) = (&mut self.hot[place], &mut self.cold[place]);
        let new = Serialisation::new(rate);
        if hot.served != hot.tail {
            cold.statistics.waited -= hot.still_to_wait(&self.rings, now);
            let first = self.rings.get(hot.ring, hot.served).departure;
            let mut departure = now + hot.serialisation.rescale(first - now, &new);
            self.rings.get_mut(hot.ring, hot.served).departure = departure;
            let mut index = hot.served.wrapping_add(1);
            while index != hot.tail {
                let entry = self.rings.get_mut(hot.ring, index);
                departure += new.time(entry.header.size());
                entry.departure = departure;
                index = index.wrapping_add(1);
            }
            hot.free_at = departure;
            cold.statistics.waited += hot.still_to_wait(&self.rings, now);
            if hot.head == hot.served && hot.far != PortId::ELSEWHERE {
                events.cancel(port, LinkEvent::Arrival, first + hot.delay);
                let at = self.rings.get(hot.ring, hot.head).departure + hot.delay;
                events.schedule(port, LinkEvent::Arrival, at);
            }
        }
        hot.serialisation = new;
        cold.rate = rate;
        cold.agent.set_rate(now, rate);
    }

    fn set_loss(&mut self, port: PortId, probability: f64) {
        self.cold[port.0 as usize].admission.set_loss(probability);
        self.follow_rules(port);
    }

    fn loses_all(&self, port: PortId) -> bool {
        self.cold[port.0 as usize].admission.loses_all()
    }

    fn fail<E: LinkEvents>(&mut self, port: PortId, now: Time, events: &mut E) -> Purged {
        self.before_change(port, now);
        let lost_after_sending = self.sent_of_held(port, now);
        let place = port.0 as usize;
        let (hot, cold) = (&mut self.hot[place], &mut self.cold[place]);
        cold.lost_after_sending += lost_after_sending;
        cold.statistics.waited -= hot.still_to_wait(&self.rings, now);
        let unserved = u64::from(hot.tail.wrapping_sub(hot.served));
        cold.statistics.lost_in_flight += u64::from(hot.served.wrapping_sub(hot.head));
        cold.statistics.lost_in_service += unserved.min(1);
        cold.statistics.lost_waiting += unserved.saturating_sub(1);
        let mut handed_over = hot.head;
        if hot.far != PortId::ELSEWHERE {
            if hot.head != hot.tail {
                let at = self.rings.get(hot.ring, hot.head).departure + hot.delay;
                events.cancel(port, LinkEvent::Arrival, at);
            }
        } else if let Some(place) = self.leaving.iter().position(|other| other.port == port) {
            handed_over = self.leaving.swap_remove(place).handed_over;
        }
        let (ring, rings) = (hot.ring, &self.rings);
        let headers = |from: u32, to: u32| {
            let entries = 0..to.wrapping_sub(from);
            let entries = entries.map(|place| rings.get(ring, from.wrapping_add(place)));
            entries.map(|entry| entry.header).collect()
        };
        let purged = Purged {
            elsewhere: headers(hot.head, handed_over),
            lost: headers(handed_over, hot.tail),
        };
        cold.joined_bytes -= hot.bytes(&self.rings, hot.head, hot.tail);
        hot.head = hot.tail;
        hot.served = hot.tail;
        hot.free_at = now;
        cold.up = false;
        cold.counted = hot.tail;
        cold.begun = hot.tail;
        cold.waiting_bytes = 0;
        cold.released = hot.tail;
        let held = cold.held_bytes;
        self.give_back(port, held);
        self.follow_rules(port);
        purged
    }

    fn restore(&mut self, port: PortId, now: Time) {
        self.cold[port.0 as usize].up = true;
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
        let hot = &self.hot[port.0 as usize];
        let served = hot.first_unserved_before(&self.rings, now);
        hot.tail.wrapping_sub(served).saturating_sub(1)
    }

    fn occupancy(&self, port: PortId, now: Time) -> f64 {
        let (hot, cold) = (&self.hot[port.0 as usize], &self.cold[port.0 as usize]);
        let served = hot.first_unserved_before(&self.rings, now);
        let packets = hot.tail.wrapping_sub(served).saturating_sub(1);
        let bytes = match packets {
            0 => 0,
            _ => hot.bytes(&self.rings, served.wrapping_add(1), hot.tail),
        };
        cold.admission.occupancy(Waiting {
            packets,
            bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
        })
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
        let (hot, cold) = (&self.hot[port.0 as usize], &self.cold[port.0 as usize]);
        let counted = &cold.statistics;
        let delivered = self.delivered(port);
        let waited = counted.waited + u128::from(hot.waited);
        LinkStatistics {
            offered: delivered + counted.lost() + u64::from(self.holds(port)),
            delivered,
            delivered_bytes: self.delivered_bytes(port),
            marked: counted.marked + cold.marked,
            waited: waited - hot.still_to_wait(&self.rings, now),
            ..*counted
        }
    }

    fn sent(&self, port: PortId, now: Time) -> u128 {
        let lost_after_sending = self.cold[port.0 as usize].lost_after_sending;
        let arrived = self.delivered_bytes(port);
        u128::from(arrived) * 8 * BIT + lost_after_sending + self.sent_of_held(port, now)
    }

    fn histogram(&self, port: PortId) -> QueueHistogram {
        self.arrivals.told(port)
    }

    fn complete_histogram(&self, port: PortId) -> Option<QueueHistogram> {
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
