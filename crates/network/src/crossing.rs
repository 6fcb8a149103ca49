//! Packets on links from one region to another.

use crate::packet::{Contents, Header, PacketContent, Slot};
use crate::places::PortId;
use pathweave_units::Time;

/// Packets on their way from one region to another. Those of a link are in the order in which they left.
///
/// A link's own region counts a packet until it arrives; what it carries is in the region at the link's end, which has
/// it in time.
#[derive(Clone, Debug)]
pub struct Crossings<S: PacketContent, L> {
    packets: Vec<Crossing<L>>,
    /// What these packets carry, in their order. That of the last ones may still be in the region that they leave
    /// ([`Crossings::take_contents`]).
    contents: Vec<Slot<S>>,
    /// Of those packets that have some, in their order.
    options: Vec<S::Options>,
}

/// A packet's header on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossing<L> {
    /// Where it arrives.
    pub inlet: PortId,
    /// When the port had sent it.
    pub departure: Time,
    pub header: Header,
    pub label: L,
}

/// Packets for which things are fetched from memory together: so few that what they need stays in the fastest cache.
pub(crate) const AT_ONCE: usize = 64;

impl<S: PacketContent, L> Default for Crossings<S, L> {
    fn default() -> Crossings<S, L> {
        Crossings {
            packets: Vec::new(),
            contents: Vec::new(),
            options: Vec::new(),
        }
    }
}

impl<S: PacketContent, L> Crossings<S, L> {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Moves all packets of another list behind its own.
    pub fn append(&mut self, other: &mut Crossings<S, L>) {
        self.packets.append(&mut other.packets);
        self.contents.append(&mut other.contents);
        self.options.append(&mut other.options);
    }

    /// Adds a packet, but not what it carries.
    #[inline(always)]
    pub(crate) fn push(&mut self, packet: Crossing<L>) {
        self.packets.push(packet);
    }

    /// Takes what packets carry that have been added. One packet does not wait for another's memory.
    pub(crate) fn take_contents(&mut self, from: &mut Contents<S>) {
        let packets = &self.packets[self.contents.len()..];
        self.contents.reserve(packets.len());
        for packet in packets {
            let id = packet.header.id();
            let content = from.vacate(id);
            self.contents.push(*content);
            if content.0.has_options() {
                self.options.push(*from.options(id));
            }
        }
    }

    /// Takes all packets out; each comes with what it carries, and with its options if it has some. A number of them is
    /// shown to `soon` before.
    #[inline]
    pub(crate) fn drain<T>(
        &mut self,
        receiver: &mut T,
        soon: impl Fn(&T, &[Crossing<L>]),
        mut to: impl FnMut(&mut T, &Crossing<L>, &Slot<S>, &S::Options),
    ) {
        debug_assert_eq!(self.packets.len(), self.contents.len());
        let mut options = self.options.drain(..);
        let chunks = self.packets.chunks(AT_ONCE);
        for (packets, contents) in chunks.zip(self.contents.chunks(AT_ONCE)) {
            soon(receiver, packets);
            for (packet, content) in packets.iter().zip(contents) {
                let own = if content.0.has_options() {
                    options.next().unwrap_or_default()
                } else {
                    S::Options::default()
                };
                to(receiver, packet, content, &own);
            }
        }
        self.packets.clear();
        self.contents.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Odd numbers have options.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct Number(u32);

    impl PacketContent for Number {
        type Options = u64;

        fn has_options(&self) -> bool {
            self.0 % 2 == 1
        }
    }

    /// Each has ten times its number as options, if it has some.
    fn crossings(numbers: impl Iterator<Item = u32>) -> Crossings<Number, ()> {
        let mut crossings = Crossings::default();
        let mut contents = Contents::new();
        for number in numbers {
            let id = contents.insert(Number(number), &(10 * u64::from(number)));
            crossings.push(Crossing {
                inlet: PortId(7),
                departure: Time::from_nanos(u64::from(number)),
                header: Header::new(1500, false).with_id(id),
                label: (),
            });
        }
        crossings.take_contents(&mut contents);
        assert_eq!(contents.count(), 0);
        crossings
    }

    #[test]
    fn packets_are_shown_before_they_come_out() {
        let numbers = 0..3 * AT_ONCE as u32 + 1;
        let mut all = crossings(numbers.clone());
        let shown = std::cell::Cell::new(0);
        let mut seen = Vec::new();
        all.drain(
            &mut seen,
            |seen, packets| {
                assert_eq!(shown.get(), seen.len());
                shown.set(shown.get() + packets.len());
            },
            |seen, packet, content, &options| {
                assert!(seen.len() < shown.get());
                assert_eq!(packet.departure, Time::from_nanos(u64::from(content.0.0)));
                seen.push((content.0.0, options));
            },
        );
        let expected = numbers.map(|number| (number, u64::from(number % 2 * number * 10)));
        assert_eq!(seen, expected.collect::<Vec<_>>());
    }

    #[test]
    fn each_packet_comes_out_with_its_own_options() {
        let mut all = crossings([4, 1, 3, 2].into_iter());
        all.append(&mut crossings([6, 5, 8].into_iter()));
        assert!(!all.is_empty());
        let mut seen = Vec::new();
        let soon = |_: &Vec<_>, packets: &[Crossing<()>]| assert!(!packets.is_empty());
        let see = |seen: &mut Vec<_>, _: &Crossing<()>, content: &Slot<Number>, &options: &u64| {
            seen.push((content.0.0, options));
        };
        all.drain(&mut seen, soon, see);
        let expected = [(4, 0), (1, 10), (3, 30), (2, 0), (6, 0), (5, 50), (8, 0)];
        assert_eq!(seen, expected);
        assert!(all.is_empty());
        all.append(&mut crossings([9].into_iter()));
        seen.clear();
        all.drain(&mut seen, soon, see);
        assert_eq!(seen, [(9, 90)]);
    }

    #[test]
    fn what_is_added_later_gets_its_own_contents() {
        let (mut crossings, mut contents) = (Crossings::default(), Contents::new());
        for round in 0..3 {
            for number in 10 * round..10 * round + 4 {
                let id = contents.insert(Number(number), &u64::from(number));
                crossings.push(Crossing {
                    inlet: PortId(number),
                    departure: Time::ZERO,
                    header: Header::new(1500, false).with_id(id),
                    label: (),
                });
            }
            crossings.take_contents(&mut contents);
        }
        let see = |seen: &mut u32, packet: &Crossing<()>, content: &Slot<Number>, options: &u64| {
            assert_eq!(packet.inlet.0, content.0.0);
            assert_eq!(*options, u64::from(content.0.0 % 2 * content.0.0));
            *seen += 1;
        };
        let mut seen = 0;
        crossings.drain(&mut seen, |_, _| (), see);
        assert_eq!(seen, 12);
    }
}
