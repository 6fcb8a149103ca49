//! The port that knows, when a packet arrives, when it will leave.

use super::{
    BIT, LinkEvent, LinkEvents, Port, Purged, Serialisation, longest_queue, sent_in_service,
};
use crate::histogram::QueueHistogram;
use crate::marking::{Admission, Verdict, Waiting};
use crate::network::LinkSetup;
use crate::packet::{Header, PacketId};
use crate::statistics::LinkStatistics;
use pathweave_random::Stream;
use pathweave_units::{Rate, Time};

/// A packet in the port or on the wire.
#[derive(Clone, Copy, Debug)]
struct Entry {
    departure: Time,
    packet: PacketId,
    /// Bytes that ever entered the port up to and including this packet, wrapping: differences
    /// give the bytes that wait and the size of each packet.
    bytes_to_here: u32,
}

/// A FIFO port with one event per packet.
///
/// One ring holds, oldest first, the packets on the wire, the one in service and those that wait.
/// A packet's departure is fixed when it joins (the queue is FIFO and never idle while something
/// waits), so nothing has to happen at the departure itself: the ring's `served` index catches up
/// when the next packet arrives.
///
/// The order of the fields is the layout: what every packet touches fills the first two cache
/// lines.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct FifoPort {
    ring: Box<[Entry]>,
    /// Oldest entry: the next to arrive at the far end.
    head: u32,
    /// First entry that had not departed when last looked.
    served: u32,
    /// One past the newest entry.
    tail: u32,
    /// Bytes that ever entered, wrapping.
    bytes: u32,
    free_at: Time,
    serialisation: Serialisation,
    delay: Time,
    up: bool,
    admission: Admission,
    histogram: QueueHistogram,
    statistics: LinkStatistics,
    rate: Rate,
    /// What was sent of packets that failures lost, in the unit of [`Port::sent`].
    lost_after_sending: u128,
}

const EMPTY: Entry = Entry {
    departure: Time::ZERO,
    packet: PacketId(0),
    bytes_to_here: 0,
};

impl FifoPort {
    #[inline(always)]
    fn entry(&self, index: u32) -> &Entry {
        let mask = self.ring.len() - 1;
        &self.ring[index as usize & mask]
    }

    #[inline(always)]
    fn entry_mut(&mut self, index: u32) -> &mut Entry {
        let mask = self.ring.len() - 1;
        &mut self.ring[index as usize & mask]
    }

    /// The first entry that has not departed before `now`, for what comes first at a time.
    fn first_unserved_before(&self, now: Time) -> u32 {
        let mut index = self.served;
        while index != self.tail && self.entry(index).departure < now {
            index = index.wrapping_add(1);
        }
        index
    }

    fn size(&self, index: u32) -> u16 {
        let before = self.entry(index.wrapping_sub(1)).bytes_to_here;
        self.entry(index).bytes_to_here.wrapping_sub(before) as u16
    }

    /// What has been sent of the packets that it holds, in the unit of [`Port::sent`].
    fn sent_of_held(&self, now: Time) -> u128 {
        let first = self.first_unserved_before(now);
        let end = |index: u32| self.entry(index.wrapping_sub(1)).bytes_to_here;
        let on_wire = end(first).wrapping_sub(end(self.head));
        let in_service = if first == self.tail {
            0
        } else {
            let remaining = self.entry(first).departure - now;
            sent_in_service(self.size(first), remaining, self.rate)
        };
        u128::from(on_wire) * 8 * BIT + in_service
    }

    /// Sum over the waiting packets of the time until their service starts.
    fn still_to_wait(&self, now: Time) -> u128 {
        let mut index = self.first_unserved_before(now);
        let mut sum = 0;
        while index != self.tail && index.wrapping_add(1) != self.tail {
            let left = self.entry(index).departure.saturating_sub(now);
            sum += u128::from(left.as_picos());
            index = index.wrapping_add(1);
        }
        sum
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let mut larger = vec![EMPTY; self.ring.len() * 2].into_boxed_slice();
        let mask = larger.len() - 1;
        // The entry before the head stays readable: sizes are differences.
        let mut index = self.head.wrapping_sub(1);
        while index != self.tail {
            larger[index as usize & mask] = *self.entry(index);
            index = index.wrapping_add(1);
        }
        self.ring = larger;
    }
}

impl Port for FifoPort {
    type Label = ();

    fn new(setup: &LinkSetup, stream: Stream) -> FifoPort {
        let LinkSetup { rate, delay, .. } = *setup;
        let config = &setup.queue;
        FifoPort {
            ring: vec![EMPTY; 16].into_boxed_slice(),
            head: 0,
            served: 0,
            tail: 0,
            bytes: 0,
            up: true,
            free_at: Time::ZERO,
            serialisation: Serialisation::new(rate),
            rate,
            delay,
            admission: Admission::new(config, stream),
            statistics: LinkStatistics::default(),
            lost_after_sending: 0,
            histogram: QueueHistogram::new(longest_queue(config)),
        }
    }

    #[inline(always)]
    fn enqueue<E: LinkEvents>(
        &mut self,
        link: u32,
        now: Time,
        packet: PacketId,
        header: &mut Header,
        (): (),
        events: &mut E,
    ) -> bool {
        self.statistics.offered += 1;
        if !self.up {
            self.statistics.refused_down += 1;
            return false;
        }
        let mask = self.ring.len() - 1;
        let mut served = self.served;
        while served != self.tail && self.ring[served as usize & mask].departure <= now {
            served = served.wrapping_add(1);
        }
        self.served = served;
        let waiting = self.tail.wrapping_sub(served).saturating_sub(1);
        self.histogram.add(waiting);
        let (ring, bytes) = (&self.ring, self.bytes);
        let bytes_waiting = || match waiting {
            0 => 0,
            _ => bytes.wrapping_sub(ring[served as usize & mask].bytes_to_here),
        };
        match self.admission.decide(waiting, bytes_waiting, header) {
            Verdict::Take => {}
            Verdict::TakeAndMark => {
                header.set_congestion_experienced();
                self.statistics.marked += 1;
            }
            Verdict::Lose => {
                header.lose();
                self.statistics.lost_silently += 1;
            }
            Verdict::Drop => {
                self.statistics.dropped += 1;
                return false;
            }
        }
        let start = self.free_at.max(now);
        let departure = start + self.serialisation.time(header.size);
        self.free_at = departure;
        self.statistics.waited += u128::from((start - now).as_picos());
        let bytes_to_here = bytes.wrapping_add(u32::from(header.size));
        self.bytes = bytes_to_here;
        let tail = self.tail;
        self.tail = tail.wrapping_add(1);
        if self.head == tail {
            events.schedule(link, LinkEvent::Arrival, departure + self.delay);
        }
        self.ring[tail as usize & mask] = Entry {
            departure,
            packet,
            bytes_to_here,
        };
        // One place stays unused, for the entry before the head.
        if self.tail.wrapping_sub(self.head) as usize == mask {
            self.grow();
        }
        true
    }

    fn depart<E: LinkEvents>(&mut self, _link: u32, _now: Time, _events: &mut E) {
        unreachable!("a FIFO port schedules no departures")
    }

    #[inline(always)]
    fn deliver<E: LinkEvents>(&mut self, link: u32, _now: Time, events: &mut E) -> (PacketId, ()) {
        let packet = self.entry(self.head).packet;
        let next = self.head.wrapping_add(1);
        if self.served == self.head {
            self.served = next;
        }
        self.head = next;
        if next != self.tail {
            events.schedule(
                link,
                LinkEvent::Arrival,
                self.entry(next).departure + self.delay,
            );
        }
        self.statistics.delivered += 1;
        (packet, ())
    }

    #[inline]
    fn count_delivered(&mut self, bytes: u16) {
        self.statistics.delivered_bytes += u64::from(bytes);
    }

    fn set_rate<E: LinkEvents>(&mut self, link: u32, now: Time, rate: Rate, events: &mut E) {
        let new = Serialisation::new(rate);
        self.served = self.first_unserved_before(now);
        if self.served != self.tail {
            self.statistics.waited -= self.still_to_wait(now);
            let remaining = self.entry(self.served).departure - now;
            let mut departure = now + self.serialisation.rescale(remaining, &new);
            self.entry_mut(self.served).departure = departure;
            let mut index = self.served.wrapping_add(1);
            while index != self.tail {
                departure += new.time(self.size(index));
                self.entry_mut(index).departure = departure;
                index = index.wrapping_add(1);
            }
            self.free_at = departure;
            self.statistics.waited += self.still_to_wait(now);
            if self.head == self.served {
                events.cancel(link, LinkEvent::Arrival);
                let at = self.entry(self.head).departure + self.delay;
                events.schedule(link, LinkEvent::Arrival, at);
            }
        }
        self.serialisation = new;
        self.rate = rate;
    }

    fn set_loss(&mut self, probability: f64) {
        self.admission.set_loss(probability);
    }

    fn loses_all(&self) -> bool {
        self.admission.loses_all()
    }

    fn fail<E: LinkEvents>(&mut self, link: u32, now: Time, events: &mut E) -> Purged {
        self.served = self.first_unserved_before(now);
        self.lost_after_sending += self.sent_of_held(now);
        self.statistics.waited -= self.still_to_wait(now);
        let unserved = u64::from(self.tail.wrapping_sub(self.served));
        self.statistics.lost_in_flight += u64::from(self.served.wrapping_sub(self.head));
        self.statistics.lost_in_service += unserved.min(1);
        self.statistics.lost_waiting += unserved.saturating_sub(1);
        if self.head != self.tail {
            events.cancel(link, LinkEvent::Arrival);
        }
        let mut purged = Purged::default();
        while self.head != self.tail {
            purged.0.push(self.entry(self.head).packet);
            self.head = self.head.wrapping_add(1);
        }
        self.served = self.head;
        self.free_at = now;
        self.up = false;
        purged
    }

    fn restore(&mut self, now: Time) {
        self.up = true;
        self.free_at = now;
    }

    fn is_up(&self) -> bool {
        self.up
    }

    fn rate(&self) -> Rate {
        self.rate
    }

    fn waiting(&self, now: Time) -> u32 {
        self.tail
            .wrapping_sub(self.first_unserved_before(now))
            .saturating_sub(1)
    }

    fn occupancy(&self, now: Time) -> f64 {
        let served = self.first_unserved_before(now);
        let packets = self.tail.wrapping_sub(served).saturating_sub(1);
        let bytes = match packets {
            0 => 0,
            _ => self.bytes.wrapping_sub(self.entry(served).bytes_to_here),
        };
        self.admission.occupancy(Waiting { packets, bytes })
    }

    fn delivered(&self) -> u64 {
        self.statistics.delivered
    }

    fn holds(&self) -> u32 {
        self.tail.wrapping_sub(self.head)
    }

    fn statistics(&self, now: Time) -> LinkStatistics {
        let waited = self.statistics.waited - self.still_to_wait(now);
        LinkStatistics {
            waited,
            ..self.statistics
        }
    }

    fn sent(&self, now: Time) -> u128 {
        let arrived = u128::from(self.statistics.delivered_bytes) * 8 * BIT;
        arrived + self.lost_after_sending + self.sent_of_held(now)
    }

    fn histogram(&mut self) -> &mut QueueHistogram {
        &mut self.histogram
    }
}
