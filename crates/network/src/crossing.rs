//! Packets on links from one region to another.

use crate::packet::{Header, PacketContent};
use crate::places::PortId;
use pathweave_units::Time;

/// Packets on their way from one region to another, in the order in which they left.
///
/// A link's own region counts a packet until it arrives; what it carries is in the region at the link's end, which has
/// it in time.
#[derive(Clone, Debug)]
pub struct Crossings<S: PacketContent, L> {
    packets: Vec<Crossing<S, L>>,
    /// Of those packets that have some, in their order.
    options: Vec<S::Options>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossing<S, L> {
    /// Where it arrives there.
    pub inlet: PortId,
    /// When the port had sent it.
    pub departure: Time,
    pub header: Header,
    pub label: L,
    pub content: S,
}

/// Packets for which things are fetched from memory together: so many that what they need stays in the fastest cache.
pub(crate) const AT_ONCE: usize = 64;

impl<S: PacketContent, L> Default for Crossings<S, L> {
    fn default() -> Crossings<S, L> {
        Crossings {
            packets: Vec::new(),
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
        self.options.append(&mut other.options);
    }

    /// Adds a packet, and its options if it has some.
    #[inline]
    pub(crate) fn push(&mut self, packet: Crossing<S, L>, options: Option<&S::Options>) {
        self.packets.push(packet);
        self.options.extend(options);
    }

    /// Takes all packets out; each comes with its options if it has some. A number of them is shown to `soon` before.
    #[inline]
    pub(crate) fn drain<T>(
        &mut self,
        receiver: &mut T,
        soon: impl Fn(&T, &[Crossing<S, L>]),
        mut to: impl FnMut(&mut T, Crossing<S, L>, &S::Options),
    ) where
        L: Copy,
    {
        let mut options = self.options.drain(..);
        for packets in self.packets.chunks(AT_ONCE) {
            soon(receiver, packets);
            for &packet in packets {
                let own = if packet.content.has_options() {
                    options.next().unwrap_or_default()
                } else {
                    S::Options::default()
                };
                to(receiver, packet, &own);
            }
        }
        self.packets.clear();
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

    fn crossings(numbers: impl Iterator<Item = u32>) -> Crossings<Number, ()> {
        let mut crossings = Crossings::default();
        for number in numbers {
            let packet = Crossing {
                inlet: PortId(7),
                departure: Time::from_nanos(u64::from(number)),
                header: Header::new(1500, false),
                label: (),
                content: Number(number),
            };
            let options = 10 * u64::from(number);
            let has_options = packet.content.has_options();
            crossings.push(packet, has_options.then_some(&options));
        }
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
            |seen, packet, &options| {
                assert!(seen.len() < shown.get());
                seen.push((packet.content.0, options));
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
        let soon = |_: &Vec<_>, packets: &[Crossing<Number, ()>]| assert!(!packets.is_empty());
        let see = |seen: &mut Vec<_>, packet: Crossing<Number, ()>, &options: &u64| {
            seen.push((packet.content.0, options));
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
}
