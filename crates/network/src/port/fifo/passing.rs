//! Packets that pass an idle port without being enqueued, until something gets in their way.

use super::{FifoPorts, after};
use crate::agent::Agent;
use crate::packet::Header;
use crate::places::PortId;
use crate::port::rings::Entry;
use crate::port::{LinkEvent, LinkEvents};
use pathweave_units::Time;

impl<A: Agent> FifoPorts<A> {
    /// [`Ports::hold_passing`](crate::port::Ports::hold_passing).
    pub(super) fn hold_passing_at<E: LinkEvents>(
        &mut self,
        port: PortId,
        since: Time,
        header: Header,
        label: A::Label,
        events: &mut E,
    ) {
        let (at, _) = self.careful(port);
        at.hot.serve(at.rings, since);
        if at.cold.follows_service {
            at.cold.follow_service(at.hot, at.rings, after(since));
        }
        let taken = at.take(since, header, label, events);
        debug_assert!(taken, "no full queue drops feedback");
    }

    /// [`Ports::slip_in`](crate::port::Ports::slip_in).
    pub(super) fn slip_in_at<E: LinkEvents>(
        &mut self,
        port: PortId,
        (departure, now): (Time, Time),
        header: Header,
        label: A::Label,
        events: &mut E,
    ) {
        self.follow_service(port, now);
        let (hot, cold) = (
            &mut self.hot[port.0 as usize],
            &mut self.cold[port.0 as usize],
        );
        if hot.head != hot.tail {
            let first = self.rings.get(hot.ring, hot.head).departure;
            events.cancel(port, LinkEvent::Arrival, first + hot.delay);
        }
        let entry = Entry {
            departure,
            header,
            label,
        };
        let mut place = hot.tail;
        hot.push(&mut self.rings, entry);
        while place != hot.head {
            let before = place.wrapping_sub(1);
            let other = *self.rings.get(hot.ring, before);
            if other.departure <= departure {
                break;
            }
            *self.rings.get_mut(hot.ring, place) = other;
            place = before;
        }
        *self.rings.get_mut(hot.ring, place) = entry;
        hot.free_at = hot.free_at.max(departure);
        hot.joined_bytes += u32::from(header.size());
        // Which packets have departed has to be determined again.
        hot.served = hot.head;
        // Its transmission has begun, and so have those of all packets before it.
        cold.begun = cold.begun.wrapping_add(1);
        let first = self.rings.get(hot.ring, hot.head).departure;
        events.schedule(port, LinkEvent::Arrival, first + hot.delay);
    }
}
