//! The memory that the ports of a node share.

use super::FifoPorts;
use crate::agent::Agent;
use crate::places::PortId;
use pathweave_units::Time;

impl<A: Agent> FifoPorts<A> {
    /// Gives back the memory that departures before a time have freed, at all ports of a port's node.
    pub(super) fn release_at_node_of(&mut self, port: PortId, before: Time) {
        let node = self.cold[port.0 as usize].memory;
        let memory = node.and_then(|node| self.memories[node as usize].as_ref());
        let ports = memory.map_or(0..0, |memory| memory.ports.clone());
        for port in ports {
            self.release(PortId(port), before);
        }
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
