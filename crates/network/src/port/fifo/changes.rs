//! Links that change.

use super::FifoPorts;
use crate::agent::Agent;
use crate::places::PortId;
use crate::port::{LinkEvent, LinkEvents, Purged, Serialisation};
use pathweave_units::{Rate, Time};

impl<A: Agent> FifoPorts<A> {
    /// [`Ports::set_rate`](crate::port::Ports::set_rate).
    pub(super) fn change_rate<E: LinkEvents>(
        &mut self,
        port: PortId,
        now: Time,
        rate: Rate,
        events: &mut E,
    ) {
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
            // Where `begun` is `served`, the entry before it has departed: its time stays, and its place may be used again.
            if cold.begun != hot.served {
                let before = cold.begun.wrapping_sub(1);
                cold.begins = self.rings.get(hot.ring, before).departure;
            }
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

    /// [`Ports::fail`](crate::port::Ports::fail).
    pub(super) fn lose_all<E: LinkEvents>(
        &mut self,
        port: PortId,
        now: Time,
        events: &mut E,
    ) -> Purged {
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
        } else if let Some(next) = self.leaving.remove(port) {
            handed_over = next;
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
}
