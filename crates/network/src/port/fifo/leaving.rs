//! Packets on links from one region to another.

use super::FifoPorts;
use super::leaving_ports::{HandedOver, LeavingPorts};
use super::state::Hot;
use crate::agent::Agent;
use crate::crossing::AT_ONCE;
use crate::packet::Header;
use crate::places::PortId;
use crate::port::rings::Entry;
use crate::port::{HandOver, LinkEvent, LinkEvents};
use pathweave_units::Time;
use std::hint::black_box;
use std::ops::Range;

impl<A: Agent> FifoPorts<A> {
    /// [`Ports::hand_over`](crate::port::Ports::hand_over).
    pub(super) fn hand_over_leaving(
        &mut self,
        now: Time,
        of: impl Fn(PortId) -> bool,
        to: &mut impl HandOver<A::Label>,
    ) {
        let mut meant = std::mem::take(&mut self.leaving.room);
        let LeavingPorts {
            listed,
            handed_over,
            ..
        } = &mut self.leaving;
        // Where that has been done in the node's turn nothing is left to be done.
        listed.retain(|&port| {
            if !of(port) {
                return true;
            }
            let HandedOver { holds_more, at, .. } = handed_over[port.0 as usize];
            if at != now {
                meant.push(port);
            }
            at == now && holds_more
        });
        for chunk in meant.chunks(AT_ONCE) {
            self.prefetch_to_leave(chunk, to);
            for &port in chunk {
                if self.hand_over_from(port, now, to) {
                    self.leaving.listed.push(port);
                }
            }
        }
        meant.clear();
        self.leaving.room = meant;
    }

    /// [`Ports::hand_over_in_turn`](crate::port::Ports::hand_over_in_turn).
    pub(super) fn hand_over_from_all(
        &mut self,
        ports: Range<u32>,
        now: Time,
        to: &mut impl HandOver<A::Label>,
    ) {
        let holds = |hot: &Hot| hot.far == PortId::ELSEWHERE && hot.head != hot.tail;
        for port in ports.clone().map(PortId) {
            let hot = &self.hot[port.0 as usize];
            if holds(hot) {
                let next = self.leaving.next_of(port);
                black_box(self.rings.get(hot.ring, next).departure);
            }
        }
        for port in ports.map(PortId) {
            if holds(&self.hot[port.0 as usize]) {
                self.hand_over_from(port, now, to);
            }
        }
    }

    /// Hands over what a port has sent before a time. Returns whether it still holds packets.
    #[inline(always)]
    fn hand_over_from(
        &mut self,
        port: PortId,
        now: Time,
        to: &mut impl HandOver<A::Label>,
    ) -> bool {
        if A::ACTS {
            // What leaves has its label when its transmission begins.
            self.follow_service(port, now);
        }
        let hot = &mut self.hot[port.0 as usize];
        let HandedOver { mut next, at, .. } = self.leaving.handed_over[port.0 as usize];
        if at + hot.delay <= now {
            // All that was handed over then has arrived. Only a check has to look at it.
            #[cfg(feature = "checks")]
            while hot.head != next {
                let entry = self.rings.get(hot.ring, hot.head);
                let arrival = entry.departure + hot.delay;
                assert!(arrival < now, "check: a packet has not arrived yet");
                to.arrived(port, arrival, entry.header);
                hot.head = hot.head.wrapping_add(1);
            }
            hot.head = next;
        }
        while next != hot.tail {
            let entry = *self.rings.get(hot.ring, next);
            let departure = entry.departure;
            if departure >= now {
                break;
            }
            to.sent(port, departure, entry.header, entry.label);
            next = next.wrapping_add(1);
        }
        while hot.head != next {
            let entry = self.rings.get(hot.ring, hot.head);
            let arrival = entry.departure + hot.delay;
            if arrival >= now {
                break;
            }
            #[cfg(feature = "checks")]
            to.arrived(port, arrival, entry.header);
            hot.head = hot.head.wrapping_add(1);
        }
        let holds_more = hot.head != hot.tail;
        self.leaving.handed_over[port.0 as usize] = HandedOver {
            next,
            holds_more,
            at: now,
        };
        holds_more
    }

    /// What that needs of these ports is fetched from memory.
    #[inline(always)]
    fn prefetch_to_leave(&self, leaving: &[PortId], to: &impl HandOver<A::Label>) {
        for &port in leaving {
            black_box(self.hot[port.0 as usize].tail);
            to.soon_of(port);
        }
        for &port in leaving {
            let hot = &self.hot[port.0 as usize];
            let next = self.leaving.next_of(port);
            black_box(self.rings.get(hot.ring, next).departure);
        }
    }

    /// [`Ports::next_to_leave`](crate::port::Ports::next_to_leave).
    pub(super) fn next_of_leaving(&self) -> Time {
        let next = self.leaving.listed.iter().filter_map(|&port| {
            let (hot, next) = (&self.hot[port.0 as usize], self.leaving.next_of(port));
            (next != hot.tail).then(|| self.rings.get(hot.ring, next).departure)
        });
        next.min().unwrap_or(Time::MAX)
    }

    /// [`Ports::handed_over`](crate::port::Ports::handed_over).
    pub(super) fn count_handed_over(&self) -> u64 {
        let each = self.leaving.listed.iter().map(|&port| {
            let head = self.hot[port.0 as usize].head;
            u64::from(self.leaving.next_of(port).wrapping_sub(head))
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

    /// [`Ports::prefetch_at`](crate::port::Ports::prefetch_at).
    pub(super) fn prefetch_at_inlets(&self, inlets: impl Iterator<Item = PortId> + Clone) {
        for inlet in inlets.clone() {
            black_box(self.hot[inlet.0 as usize].tail);
        }
        for inlet in inlets {
            let hot = &self.hot[inlet.0 as usize];
            black_box(self.rings.get(hot.ring, hot.tail).departure);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::NoAgent;
    use crate::places::Places;
    use crate::port::Ports;
    use crate::setup::LinkSetup;
    use crate::setup::QueuesCounted;
    use pathweave_random::Stream;
    use pathweave_units::Rate;
    use proptest::prelude::*;

    /// Links of one node to as many others, which are in another region.
    const LINKS: u32 = 5;

    struct NoSchedule;

    impl LinkEvents for NoSchedule {
        fn schedule(&mut self, port: PortId, _: LinkEvent, _: Time) {
            unreachable!("{port:?} leads to another region")
        }
        fn cancel(&mut self, _: PortId, _: LinkEvent, _: Time) {}
    }

    /// What has been told of each port, in its order: whether a packet was sent or arrived, when, and its size.
    #[derive(Debug, Default, PartialEq)]
    struct Told([Vec<(bool, Time, u16)>; LINKS as usize]);

    impl HandOver<()> for Told {
        fn soon_of(&self, _: PortId) {}
        fn sent(&mut self, port: PortId, departure: Time, header: Header, _: ()) {
            self.0[port.0 as usize].push((true, departure, header.size()));
        }
        #[cfg(feature = "checks")]
        fn arrived(&mut self, port: PortId, arrival: Time, header: Header) {
            self.0[port.0 as usize].push((false, arrival, header.size()));
        }
    }

    fn ports() -> FifoPorts<NoAgent> {
        let link = |to| LinkSetup::plain((0, to), Rate::from_gbps(1), Time::from_micros(10));
        let links: Vec<LinkSetup> = (1..=LINKS).map(link).collect();
        let places = Places::in_regions(&links, &[0, 1, 1, 1, 1, 1]).remove(0);
        FifoPorts::new(&links, &places, QueuesCounted::All, |link| {
            Stream::new(1, "port", link.into())
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        /// In some steps the node has a turn, and then hands over by itself. What is told at the end of each step is then the
        /// same.
        #[test]
        fn a_node_may_hand_over_in_its_turn(
            steps in prop::collection::vec(
                (
                    1u64..40,
                    prop::collection::vec((0..LINKS, 0u64..40, 64u16..1501), 0..12),
                    any::<bool>(),
                    0..LINKS + 1,
                ),
                1..60,
            ),
        ) {
            let (mut one, mut other) = (ports(), ports());
            let mut from = Time::ZERO;
            for (micros, mut packets, in_turn, from_port) in steps {
                let before = from + Time::from_micros(micros);
                packets.sort_by_key(|&(_, at, _)| at);
                for (port, at, size) in packets {
                    let at = from + Time::from_micros(at % micros);
                    for ports in [&mut one, &mut other] {
                        let header = Header::new(size, false);
                        ports.enqueue(PortId(port), at, header, (), &mut NoSchedule);
                    }
                }
                let (mut told, mut expected) = (Told::default(), Told::default());
                if in_turn {
                    other.hand_over_in_turn(from_port..LINKS, before, &mut told);
                }
                for (ports, told) in [(&mut one, &mut expected), (&mut other, &mut told)] {
                    ports.hand_over(before, |_| true, told);
                    // For a second time there is nothing to tell.
                    let mut nothing = Told::default();
                    ports.hand_over(before, |_| true, &mut nothing);
                    prop_assert_eq!(nothing, Told::default());
                }
                prop_assert_eq!(told, expected);
                prop_assert_eq!(one.next_to_leave(), other.next_to_leave());
                prop_assert_eq!(one.handed_over(), other.handed_over());
                for port in (0..LINKS).map(PortId) {
                    prop_assert_eq!(one.holds(port), other.holds(port));
                }
                from = before;
            }
        }
    }
}
