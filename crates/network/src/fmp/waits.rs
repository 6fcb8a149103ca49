//! Past queues: which packets waited at a port, and when.

use crate::queue::Waiting;
use pathweave_units::Time;

/// A packet that waits or has waited at a port.
#[derive(Clone, Copy, Debug)]
struct Waited {
    since: Time,
    /// When its transmission begins.
    until: Time,
    /// Bytes of all packets before it, modulo 2^32.
    bytes_before: u32,
}

/// The packets that have waited at a port, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Waits {
    packets: Vec<Waited>,
    bytes: u32,
}

impl Waits {
    /// Adds a packet that waits from `since` to `until`, neither earlier than the previous packet's. If there is no
    /// room, first forgets packets whose transmission began before `from()`.
    #[inline(always)]
    pub fn add(&mut self, (since, until): (Time, Time), size: u16, from: impl FnOnce() -> Time) {
        if self.packets.len() == self.packets.capacity() {
            self.make_room(from());
        }
        self.packets.push(Waited {
            since,
            until,
            bytes_before: self.bytes,
        });
        self.bytes = self.bytes.wrapping_add(u32::from(size));
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, from: Time) {
        let forgotten = self.packets.partition_point(|packet| packet.until < from);
        self.packets.drain(..forgotten);
        if self.packets.len() * 2 > self.packets.capacity() || self.packets.capacity() == 0 {
            self.packets.reserve(self.packets.len() + 16);
        }
    }

    /// What waits at `time`: the packets that joined before it and whose transmission begins at it or later.
    pub fn at(&self, time: Time) -> Waiting {
        let ended = self.packets.partition_point(|packet| packet.until < time);
        let begun = self.packets.partition_point(|packet| packet.since < time);
        let bytes_before = |place: usize| {
            let packet = self.packets.get(place);
            packet.map_or(self.bytes, |packet| packet.bytes_before)
        };
        Waiting {
            packets: (begun - ended) as u32,
            bytes: bytes_before(begun).wrapping_sub(bytes_before(ended)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waited_is_known_until_it_is_forgotten() {
        let picos = Time::from_picos;
        let mut waits = Waits::default();
        let mut all: Vec<(u64, u64, u16)> = Vec::new();
        for packet in 0..3000u64 {
            let (since, until) = (packet * 10, packet * 10 + 35 + packet % 4);
            let size = 40 + (packet % 97) as u16;
            waits.add((picos(since), picos(until)), size, || {
                picos(since.saturating_sub(500))
            });
            all.push((since, until, size));
            for time in [
                since.saturating_sub(480),
                since.saturating_sub(33),
                since,
                since + 20,
            ] {
                let there = all
                    .iter()
                    .filter(|&&(since, until, _)| since < time && until >= time);
                let waiting = waits.at(picos(time));
                assert_eq!(waiting.packets as usize, there.clone().count(), "{time}");
                let bytes: u32 = there.map(|&(.., size)| u32::from(size)).sum();
                assert_eq!(waiting.bytes, bytes, "{time}");
            }
        }
        // Fifty packets arrive within the time that is kept.
        assert!(
            waits.packets.capacity() < 250,
            "{}",
            waits.packets.capacity()
        );
    }
}
