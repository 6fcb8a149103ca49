//! Where a packet needs more than a place in the queue.

use super::leaving_ports::LeavingPorts;
use super::state::{Cold, Hot};
use super::{FifoPorts, after};
use crate::agent::Agent;
use crate::histogram::ArrivalCounts;
use crate::packet::Header;
use crate::places::PortId;
use crate::port::LinkEvents;
use crate::port::rings::Rings;
use crate::queue::Verdict;
use crate::queue::Waiting;
use crate::shared_buffer::NodeMemory;
use pathweave_units::Time;

/// A port at which a packet arrives that needs more than a place in the queue, with all that it takes part in: each is looked
/// up once.
pub(super) struct Careful<'a, A: Agent> {
    port: PortId,
    pub hot: &'a mut Hot,
    pub cold: &'a mut Cold<A>,
    pub rings: &'a mut Rings<A::Label>,
    memory: Option<&'a mut NodeMemory>,
    leaving: &'a mut LeavingPorts,
}

impl<A: Agent> FifoPorts<A> {
    /// A packet arrives where it is not simply taken, and the port's departures have been noticed.
    #[inline(never)]
    pub(super) fn enqueue_carefully<E: LinkEvents>(
        &mut self,
        port: PortId,
        now: Time,
        header: Header,
        label: A::Label,
        events: &mut E,
    ) -> bool {
        let is_counted = self.arrivals.counts(now);
        let (mut at, arrivals) = self.careful(port);
        if !at.cold.up {
            at.cold.statistics.refused_down += 1;
            return false;
        }
        if !A::ACTS && at.cold.follows_service {
            at.cold.follow_service(at.hot, at.rings, after(now));
        }
        if is_counted {
            count_arrival(arrivals, port, at.in_port(), now);
        }
        at.release_own_memory();
        if at.is_memory_scarce(header.size()) {
            return self.enqueue_where_memory_is_scarce(port, now, header, label, events);
        }
        at.take(now, header, label, events)
    }

    /// Looks up all that a port takes part in.
    #[inline(always)]
    pub(super) fn careful(&mut self, port: PortId) -> (Careful<'_, A>, &mut ArrivalCounts) {
        let place = port.0 as usize;
        let cold = &mut self.cold[place];
        let memory = cold.memory;
        let careful = Careful {
            port,
            hot: &mut self.hot[place],
            cold,
            rings: &mut self.rings,
            memory: memory.and_then(|node| self.memories[node as usize].as_mut()),
            leaving: &mut self.leaving,
        };
        (careful, &mut self.arrivals)
    }

    /// The rest of [`FifoPorts::enqueue_carefully`] where it depends on departures that no port of the node has noticed whether
    /// there is memory.
    #[inline(never)]
    fn enqueue_where_memory_is_scarce<E: LinkEvents>(
        &mut self,
        port: PortId,
        now: Time,
        header: Header,
        label: A::Label,
        events: &mut E,
    ) -> bool {
        self.release_at_node_of(port, after(now));
        let (mut at, _) = self.careful(port);
        let must_be_taken = header.is_protected() || header.is_feedback();
        if let Some(memory) = at.memory.as_deref_mut()
            && !must_be_taken
            && !memory.buffer.admits(at.cold.held_bytes, header.size())
        {
            at.cold.statistics.dropped += 1;
            return false;
        }
        at.take(now, header, label, events)
    }
}

impl<A: Agent> Careful<'_, A> {
    /// Packets in the port that have not departed.
    #[inline(always)]
    fn in_port(&self) -> u32 {
        self.hot.tail.wrapping_sub(self.hot.served)
    }

    /// The rules decide about a packet that the memory does not keep out. Returns whether it was taken.
    #[inline(always)]
    pub fn take<E: LinkEvents>(
        self,
        now: Time,
        mut header: Header,
        mut label: A::Label,
        events: &mut E,
    ) -> bool {
        let in_port = self.in_port();
        let Careful { hot, cold, .. } = self;
        let waiting = Waiting {
            packets: in_port.saturating_sub(1),
            bytes: cold.waiting_bytes,
        };
        if let Some(average) = cold.admission.average()
            && in_port == 0
            && header.is_averaged()
        {
            average.decay_while_idle(hot.free_at, now, hot.serialisation.time(header.size()));
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
        if let Some(memory) = self.memory {
            memory.buffer.take(size);
            cold.held_bytes += u64::from(size);
        }
        if cold.follows_service {
            cold.see_arrival(hot, in_port, now, size, &mut label);
        }
        let has_counted_much = hot.join(
            self.rings,
            self.leaving,
            self.port,
            now,
            (header, label),
            events,
        );
        if has_counted_much {
            cold.count(hot);
        }
        true
    }

    /// Gives back the memory that the port has freed.
    #[inline(always)]
    fn release_own_memory(&mut self) {
        if let Some(memory) = self.memory.as_deref_mut() {
            let (from, to) = (self.cold.released, self.hot.served);
            let freed = self.hot.bytes(self.rings, from, to);
            self.cold.released = to;
            self.cold.held_bytes -= freed;
            memory.buffer.release(freed);
        }
    }

    /// Whether it depends on departures that no port of the node has noticed whether there is memory for a packet.
    #[inline(always)]
    fn is_memory_scarce(&self, packet: u16) -> bool {
        let memory = self.memory.as_deref();
        memory.is_some_and(|memory| !memory.is_plenty(self.cold.held_bytes, packet))
    }
}

/// Counts what a packet finds in a port. It is a function of its own: few packets are counted, and the others need the
/// registers.
#[inline(never)]
fn count_arrival(arrivals: &mut ArrivalCounts, port: PortId, in_port: u32, now: Time) {
    arrivals.add(port, in_port.saturating_sub(1), now);
}
