//! The memory that the ports of a node share.

use super::{FifoPorts, after};
use crate::agent::Agent;
use crate::places::PortId;
use pathweave_units::Time;

impl<A: Agent> FifoPorts<A> {
    /// Whether a port's node has memory for a packet.
    #[inline(always)]
    pub(super) fn has_memory(&mut self, port: PortId, packet: u16, now: Time) -> bool {
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
    #[inline]
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
