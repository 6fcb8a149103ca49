//! Where a packet needs more than a place in the queue.

use super::FifoPorts;
use crate::agent::Agent;
use crate::marking::{Verdict, Waiting};
use crate::packet::Header;
use crate::places::PortId;
use crate::port::LinkEvents;
use pathweave_units::Time;

impl<A: Agent> FifoPorts<A> {
    /// A packet arrives where it is not simply taken, and the port's departures have been noticed.
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
        if !A::ACTS && self.cold[place].follows_service {
            self.follow_service(port, super::after(now));
        }
        if self.arrivals.counts(now) {
            self.count_arrival(port, now);
        }
        let (hot, cold) = (&self.hot[place], &self.cold[place]);
        let in_port = hot.tail.wrapping_sub(hot.served);
        let waiting = Waiting {
            packets: in_port.saturating_sub(1),
            bytes: cold.waiting_bytes,
        };
        let size = header.size();
        if let Some(node) = cold.memory
            && !self.has_memory(node, port, size, now)
            && !(header.is_protected() || header.is_feedback())
        {
            if let Some(memory) = &mut self.memories[node as usize] {
                memory.buffer.refuse();
            }
            self.cold[place].statistics.dropped += 1;
            return false;
        }
        let cold = &mut self.cold[place];
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
        if let Some(node) = cold.memory
            && let Some(memory) = &mut self.memories[node as usize]
        {
            memory.buffer.take(size);
            cold.held_bytes += u64::from(size);
        }
        let hot = &mut self.hot[place];
        if cold.follows_service {
            cold.see_arrival(hot, now, size, &mut label);
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

    /// Counts what a packet finds. It is a function of its own: few packets are counted, and the others need the
    /// registers.
    #[inline(never)]
    fn count_arrival(&mut self, port: PortId, now: Time) {
        let hot = &self.hot[port.0 as usize];
        let waiting = hot.tail.wrapping_sub(hot.served).saturating_sub(1);
        self.arrivals.add(port, waiting, now);
    }
}
