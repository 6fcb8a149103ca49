//! Where a packet needs more than a place in the queue.

use super::{FifoPorts, after};
use crate::agent::{Agent, Backlog};
use crate::marking::{Verdict, Waiting};
use crate::packet::Header;
use crate::places::PortId;
use crate::port::LinkEvents;
use crate::port::rings::{Ring, Rings};
use pathweave_units::Time;

impl<A: Agent> FifoPorts<A> {
    /// A packet arrives where it is not simply taken.
    #[inline(never)]
    pub(super) fn enqueue_carefully<E: LinkEvents>(
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
    pub(super) fn follow_service(&mut self, port: PortId, before: Time) {
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
}

fn rings_size<L: Copy + Default>(rings: &Rings<L>, ring: Ring, position: u32) -> u16 {
    rings.get(ring, position).header.size()
}
