//! What can be seen of ports from outside.

use super::{FifoPorts, after};
use crate::agent::Agent;
use crate::places::PortId;
use crate::port::{BIT, Ports, sent_in_service};
use crate::queue::Waiting;
use crate::statistics::LinkStatistics;
use pathweave_units::Time;

impl<A: Agent> FifoPorts<A> {
    /// Bytes of all packets that have reached the end of a port's link.
    pub(super) fn delivered_bytes(&self, port: PortId) -> u64 {
        let (hot, cold) = (&self.hot[port.0 as usize], &self.cold[port.0 as usize]);
        let joined = cold.joined_bytes + u64::from(hot.joined_bytes);
        joined - hot.bytes(&self.rings, hot.head, hot.tail)
    }

    /// What has been sent of the packets that a port holds, in the unit of [`Ports::sent`](crate::port::Ports::sent).
    pub(super) fn sent_of_held(&self, port: PortId, now: Time) -> u128 {
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

    /// [`Ports::waiting`](crate::port::Ports::waiting).
    pub(super) fn waiting_at(&self, port: PortId, now: Time) -> u32 {
        let hot = &self.hot[port.0 as usize];
        let served = hot.first_unserved_before(&self.rings, now);
        hot.tail.wrapping_sub(served).saturating_sub(1)
    }

    /// [`Ports::occupancy`](crate::port::Ports::occupancy).
    pub(super) fn occupancy_at(&self, port: PortId, now: Time) -> f64 {
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

    /// [`Ports::is_full`](crate::port::Ports::is_full).
    pub(super) fn is_full_at(&mut self, port: PortId, now: Time, size: u16) -> bool {
        self.follow_service(port, after(now));
        let (hot, cold) = (&mut self.hot[port.0 as usize], &self.cold[port.0 as usize]);
        let served = hot.serve(&self.rings, now);
        let waiting = Waiting {
            packets: hot.tail.wrapping_sub(served).saturating_sub(1),
            bytes: cold.waiting_bytes,
        };
        cold.up && cold.admission.is_full(waiting, size)
    }

    /// [`Ports::statistics`](crate::port::Ports::statistics).
    pub(super) fn statistics_of(&self, port: PortId, now: Time) -> LinkStatistics {
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

    /// [`Ports::sent`](crate::port::Ports::sent).
    pub(super) fn sent_by(&self, port: PortId, now: Time) -> u128 {
        let lost_after_sending = self.cold[port.0 as usize].lost_after_sending;
        let arrived = self.delivered_bytes(port);
        u128::from(arrived) * 8 * BIT + lost_after_sending + self.sent_of_held(port, now)
    }
}
