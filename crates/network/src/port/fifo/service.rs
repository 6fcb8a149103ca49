//! Transmissions begin: what the port and its agent see of it.

use super::state::{Cold, Hot};
use super::{FifoPorts, after};
use crate::agent::{Agent, Backlog};
use crate::packet::Header;
use crate::places::PortId;
use crate::port::LinkEvents;
use crate::port::rings::Rings;
use crate::queue::Verdict;
use pathweave_units::Time;

impl<A: Agent> FifoPorts<A> {
    /// A packet arrives at a port with an agent.
    #[inline(always)]
    pub(super) fn enqueue_with_agent<E: LinkEvents>(
        &mut self,
        port: PortId,
        now: Time,
        mut header: Header,
        mut label: A::Label,
        events: &mut E,
    ) -> bool {
        let (hot, cold) = (
            &mut self.hot[port.0 as usize],
            &mut self.cold[port.0 as usize],
        );
        cold.begin_transmissions(hot, &mut self.rings, after(now));
        // All whose transmissions have begun have departed, but the last one perhaps.
        hot.served = if hot.free_at <= now {
            hot.tail
        } else {
            cold.begun.wrapping_sub(1)
        };
        let in_port = hot.tail.wrapping_sub(hot.served);
        let waiting = in_port.saturating_sub(1);
        let taken_below = u32::from(hot.taken_below[usize::from(header.ecn_capable())]);
        let mut verdict = Verdict::Take;
        if waiting >= taken_below {
            if waiting >= cold.marked_below || !header.is_simply_marked() {
                return self.enqueue_carefully(port, now, header, label, events);
            }
            verdict = Verdict::TakeAndMark;
            cold.marked += 1;
        }
        #[cfg(feature = "checks")]
        Self::check_taken(cold, port, waiting, &header, verdict);
        if verdict == Verdict::TakeAndMark {
            header.set_congestion_experienced();
        }
        if self.arrivals.counts(now) {
            self.arrivals.add(port, waiting, now);
        }
        cold.see_arrival(hot, in_port, now, header.size(), &mut label);
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

    /// Works off the beginnings of transmissions before a time, if they are followed.
    pub(super) fn follow_service(&mut self, port: PortId, before: Time) {
        let place = port.0 as usize;
        let (hot, cold) = (&self.hot[place], &mut self.cold[place]);
        if cold.follows_service {
            cold.follow_service(hot, &mut self.rings, before);
        }
    }

    /// Packets are delivered, all before an entry of a port's ring, whose transmissions have begun before a time: the
    /// agent has seen this.
    #[inline(always)]
    pub(super) fn complete_labels(&mut self, port: PortId, delivered: u32, before: Time) {
        let (hot, cold) = (&self.hot[port.0 as usize], &mut self.cold[port.0 as usize]);
        if cold.follows_service && (cold.begun.wrapping_sub(delivered) as i32) < 0 {
            cold.follow_service(hot, &mut self.rings, before);
        }
    }
}

impl<A: Agent> Cold<A> {
    /// [`Cold::begin_transmissions`] as a function of its own, for places where that is too large to be a part of them.
    #[inline(never)]
    pub(super) fn follow_service(&mut self, hot: &Hot, rings: &mut Rings<A::Label>, before: Time) {
        self.begin_transmissions(hot, rings, before);
    }

    /// Works off the beginnings of transmissions before a time.
    #[inline(always)]
    fn begin_transmissions(&mut self, hot: &Hot, rings: &mut Rings<A::Label>, before: Time) {
        while self.begun != hot.tail && self.begins < before {
            let entry = rings.get_mut(hot.ring, self.begun);
            let size = entry.header.size();
            let start = std::mem::replace(&mut self.begins, entry.departure);
            self.begun = self.begun.wrapping_add(1);
            self.waiting_bytes -= u32::from(size);
            let backlog = Backlog {
                packets: hot.tail.wrapping_sub(self.begun),
                bytes: self.waiting_bytes,
            };
            self.agent
                .on_service(start, size, &mut entry.label, backlog);
        }
    }

    /// A packet of this many bytes is about to take its place. `in_port` packets have not departed from the port, and what
    /// happened before has been worked off.
    #[inline(always)]
    pub(super) fn see_arrival(
        &mut self,
        hot: &Hot,
        in_port: u32,
        now: Time,
        size: u16,
        label: &mut A::Label,
    ) {
        if in_port == 0 {
            self.begun = hot.tail.wrapping_add(1);
            self.agent.on_passage(now, size, label);
            return;
        }
        if self.begun == hot.tail {
            self.begins = hot.free_at;
        }
        let backlog = Backlog {
            packets: in_port - 1,
            bytes: self.waiting_bytes,
        };
        self.waiting_bytes += u32::from(size);
        self.agent.on_arrival(now, size, label, backlog);
    }
}
