//! The memory that the ports of a node share.

use super::{FifoPorts, after};
use crate::agent::Agent;
use crate::places::PortId;
use pathweave_units::Time;

impl<A: Agent> FifoPorts<A> {
    /// Whether a node's shared memory has room for a packet at a port whose departures have been noticed. Gives back what
    /// they have freed, and what other ports' departures have freed where that makes a difference.
    #[inline(always)]
    pub(super) fn has_memory(&mut self, node: u32, port: PortId, packet: u16, now: Time) -> bool {
        let (hot, cold) = (&self.hot[port.0 as usize], &mut self.cold[port.0 as usize]);
        let Some(memory) = &mut self.memories[node as usize] else {
            return true;
        };
        let freed = hot.bytes(&self.rings, cold.released, hot.served);
        cold.released = hot.served;
        cold.held_bytes -= freed;
        memory.buffer.release(freed);
        memory.is_plenty(cold.held_bytes, packet) || self.has_memory_left(node, port, packet, now)
    }

    /// The same, where it depends on departures that no port of the node has noticed.
    #[inline(never)]
    fn has_memory_left(&mut self, node: u32, port: PortId, packet: u16, now: Time) -> bool {
        let Some(memory) = &self.memories[node as usize] else {
            return true;
        };
        for port in memory.ports.clone() {
            self.release(PortId(port), after(now));
        }
        let held = self.cold[port.0 as usize].held_bytes;
        let memory = self.memories[node as usize].as_ref();
        memory.is_none_or(|memory| memory.buffer.would_admit(held, packet))
    }

    /// Gives back the memory that a port's departures before a time have freed.
    pub(super) fn release(&mut self, port: PortId, before: Time) {
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
    pub(super) fn give_back(&mut self, port: PortId, bytes: u64) {
        let cold = &mut self.cold[port.0 as usize];
        cold.held_bytes -= bytes;
        if let Some(node) = cold.memory
            && let Some(memory) = &mut self.memories[node as usize]
        {
            memory.buffer.release(bytes);
        }
    }
}
