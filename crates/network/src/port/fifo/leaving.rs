//! Packets on links from one region to another.

use super::FifoPorts;
use crate::agent::Agent;
use crate::crossing::AT_ONCE;
use crate::packet::Header;
use crate::places::PortId;
use crate::port::rings::Entry;
use crate::port::{HandOver, LinkEvent, LinkEvents};
use pathweave_units::Time;
use std::hint::black_box;

/// A port of a link to another region that holds packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving {
    pub port: PortId,
    /// The first entry of its ring that was not handed over to the region at the link's end.
    pub handed_over: u32,
}

impl<A: Agent> FifoPorts<A> {
    /// [`Ports::hand_over`](crate::port::Ports::hand_over).
    pub(super) fn hand_over_leaving(
        &mut self,
        now: Time,
        of: impl Fn(PortId) -> bool,
        to: &mut impl HandOver<A::Label>,
    ) {
        let mut leaving = std::mem::take(&mut self.handing_over);
        leaving.extend(self.leaving.extract_if(.., |leaving| of(leaving.port)));
        for chunk in leaving.chunks_mut(AT_ONCE) {
            self.look_ahead_to_leave(chunk, now, to);
            for Leaving {
                port: of_port,
                handed_over,
            } in chunk
            {
                let port = *of_port;
                if A::ACTS {
                    // What leaves has its label when its transmission begins.
                    self.follow_service(port, now);
                }
                let hot = &mut self.hot[port.0 as usize];
                while *handed_over != hot.tail {
                    let entry = *self.rings.get(hot.ring, *handed_over);
                    let departure = entry.departure;
                    if departure >= now {
                        break;
                    }
                    to.sent(port, departure, entry.header, entry.label);
                    *handed_over = handed_over.wrapping_add(1);
                }
                while hot.head != *handed_over {
                    let entry = self.rings.get(hot.ring, hot.head);
                    let arrival = entry.departure + hot.delay;
                    if arrival >= now {
                        break;
                    }
                    to.arrived(port, arrival, entry.header);
                    hot.head = hot.head.wrapping_add(1);
                }
                if hot.head == hot.tail {
                    *of_port = PortId::ELSEWHERE;
                }
            }
        }
        leaving.retain(|leaving| leaving.port != PortId::ELSEWHERE);
        self.leaving.append(&mut leaving);
        self.handing_over = leaving;
    }

    /// What that needs of these ports is fetched from memory.
    #[inline(always)]
    fn look_ahead_to_leave(&self, leaving: &[Leaving], now: Time, to: &impl HandOver<A::Label>) {
        for Leaving { port, .. } in leaving {
            black_box(self.hot[port.0 as usize].tail);
            to.soon_of(*port);
        }
        for Leaving { port, handed_over } in leaving {
            let hot = &self.hot[port.0 as usize];
            black_box(self.rings.get(hot.ring, hot.head).departure);
            black_box(self.rings.get(hot.ring, *handed_over).departure);
        }
        for Leaving { port, handed_over } in leaving {
            let hot = &self.hot[port.0 as usize];
            let mut next = *handed_over;
            while next != hot.tail {
                let entry = self.rings.get(hot.ring, next);
                if entry.departure >= now {
                    break;
                }
                to.soon(entry.header);
                next = next.wrapping_add(1);
            }
        }
    }

    /// [`Ports::next_to_leave`](crate::port::Ports::next_to_leave).
    pub(super) fn next_of_leaving(&self) -> Time {
        let next = self.leaving.iter().filter_map(|leaving| {
            let hot = &self.hot[leaving.port.0 as usize];
            let entry = self.rings.get(hot.ring, leaving.handed_over);
            (leaving.handed_over != hot.tail).then_some(entry.departure)
        });
        next.min().unwrap_or(Time::MAX)
    }

    /// [`Ports::handed_over`](crate::port::Ports::handed_over).
    pub(super) fn count_handed_over(&self) -> u64 {
        let each = self.leaving.iter().map(|leaving| {
            let hot = &self.hot[leaving.port.0 as usize];
            u64::from(leaving.handed_over.wrapping_sub(hot.head))
        });
        each.sum()
    }

    /// [`Ports::receive`](crate::port::Ports::receive).
    #[inline(always)]
    pub(super) fn receive_at<E: LinkEvents>(
        &mut self,
        inlet: PortId,
        departure: Time,
        header: Header,
        label: A::Label,
        events: &mut E,
    ) {
        let hot = &mut self.hot[inlet.0 as usize];
        hot.joined_bytes += u32::from(header.size());
        let entry = Entry {
            departure,
            header,
            label,
        };
        if hot.push(&mut self.rings, entry) {
            events.schedule(inlet, LinkEvent::Arrival, departure + hot.delay);
        }
        if hot.has_counted_much() {
            self.count(inlet);
        }
    }

    /// [`Ports::look_ahead_at`](crate::port::Ports::look_ahead_at).
    pub(super) fn look_ahead_at_inlets(&self, inlets: impl Iterator<Item = PortId> + Clone) {
        for inlet in inlets.clone() {
            black_box(self.hot[inlet.0 as usize].tail);
        }
        for inlet in inlets {
            let hot = &self.hot[inlet.0 as usize];
            black_box(self.rings.get(hot.ring, hot.tail).departure);
        }
    }
}
