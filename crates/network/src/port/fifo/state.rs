//! What is kept of each port.

use super::leaving_ports::LeavingPorts;
use crate::marking::Admission;
use crate::packet::Header;
use crate::places::PortId;
use crate::port::rings::{Entry, Ring, Rings};
use crate::port::{LinkEvent, LinkEvents, Serialisation};
use crate::statistics::LinkStatistics;
use pathweave_units::{Rate, Time};

/// What every packet touches of a port: one cache line. Of an inlet there is only the wire.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Hot {
    /// Oldest entry: the next to arrive at the far end.
    pub head: u32,
    /// One past the newest entry.
    pub tail: u32,
    /// First entry that had not departed when last looked, or one before `head`.
    pub served: u32,
    /// Bytes that have joined and that [`Cold`] does not count yet.
    pub joined_bytes: u32,
    pub free_at: Time,
    pub serialisation: Serialisation,
    pub delay: Time,
    /// Times that packets waited, in picoseconds, that [`Cold`] does not count yet.
    pub waited: u64,
    pub ring: Ring,
    /// The first port of the node at the link's end, or [`PortId::ELSEWHERE`].
    pub far: PortId,
    /// [`Admission::taken_below`]; zero where every packet needs more than a place in the queue.
    pub taken_below: [u16; 2],
}

const _: () = assert!(size_of::<Hot>() == 64);

/// What the careful cases need besides. The first cache line is what packets need that are marked.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Cold<A> {
    /// Packets marked that `statistics` does not count.
    pub marked: u64,
    /// [`Admission::marked_below`]; zero where every packet needs more than a place in the queue.
    pub marked_below: u32,
    pub up: bool,
    /// Whether [`Cold::begun`] and what follows from it is kept: the rules count bytes, or an agent acts.
    pub follows_service: bool,
    /// First entry whose transmission had not begun when last looked.
    pub begun: u32,
    /// Bytes from there on.
    pub waiting_bytes: u32,
    /// When the transmission of the entry `begun` begins, which is when the one before it departs. It means nothing where
    /// `begun` is the port's `tail`.
    pub begins: Time,
    /// First entry whose bytes still took shared memory when last looked.
    pub released: u32,
    /// Bytes from there on.
    pub held_bytes: u64,
    /// The node whose memory is shared.
    pub memory: Option<u32>,
    /// The `head` up to which `statistics` counts.
    pub counted: u32,
    /// Bytes of all packets that joined and that no failure lost.
    pub joined_bytes: u64,
    pub rate: Rate,
    pub admission: Admission,
    pub agent: A,
    /// Without what [`Hot`] has counted since.
    pub statistics: LinkStatistics,
    /// What was sent of packets that failures lost, in the unit of [`Ports::sent`](crate::port::Ports::sent).
    pub lost_after_sending: u128,
}

impl<A> Cold<A> {
    /// Takes over what [`Hot`] has counted.
    #[cold]
    #[inline(never)]
    pub fn count(&mut self, hot: &mut Hot) {
        self.statistics.waited += u128::from(std::mem::take(&mut hot.waited));
        self.joined_bytes += u64::from(std::mem::take(&mut hot.joined_bytes));
        self.statistics.delivered += u64::from(hot.head.wrapping_sub(self.counted));
        self.counted = hot.head;
    }
}

impl Hot {
    /// Packets that have departed: all before this entry.
    #[inline(always)]
    pub fn serve<L: Copy + Default>(&mut self, rings: &Rings<L>, now: Time) -> u32 {
        let mut served = self.first_maybe_unserved();
        while served != self.tail && rings.get(self.ring, served).departure <= now {
            served = served.wrapping_add(1);
        }
        self.served = served;
        served
    }

    #[inline(always)]
    fn first_maybe_unserved(&self) -> u32 {
        // Deliveries leave `served` behind.
        if (self.served.wrapping_sub(self.head) as i32) < 0 {
            self.head
        } else {
            self.served
        }
    }

    /// The first entry that has not departed before `now`, for what comes first at a time.
    pub fn first_unserved_before<L: Copy + Default>(&self, rings: &Rings<L>, now: Time) -> u32 {
        let mut index = self.first_maybe_unserved();
        while index != self.tail && rings.get(self.ring, index).departure < now {
            index = index.wrapping_add(1);
        }
        index
    }

    /// Sum over the waiting packets of the time until their service starts.
    pub fn still_to_wait<L: Copy + Default>(&self, rings: &Rings<L>, now: Time) -> u128 {
        let mut index = self.first_unserved_before(rings, now);
        let mut sum = 0;
        while index != self.tail && index.wrapping_add(1) != self.tail {
            let left = rings.get(self.ring, index).departure.saturating_sub(now);
            sum += u128::from(left.as_picos());
            index = index.wrapping_add(1);
        }
        sum
    }

    /// Bytes of these entries.
    pub fn bytes<L: Copy + Default>(&self, rings: &Rings<L>, from: u32, to: u32) -> u64 {
        let mut index = from;
        let mut bytes = 0;
        while index != to {
            bytes += u64::from(rings.get(self.ring, index).header.size());
            index = index.wrapping_add(1);
        }
        bytes
    }

    /// A packet takes its place in the queue. Returns whether what [`Hot`] counts has to be taken over.
    #[inline(always)]
    pub fn join<L: Copy + Default, E: LinkEvents>(
        &mut self,
        rings: &mut Rings<L>,
        leaving: &mut LeavingPorts,
        port: PortId,
        now: Time,
        (header, label): (Header, L),
        events: &mut E,
    ) -> bool {
        let start = self.free_at.max(now);
        let departure = start + self.serialisation.time(header.size());
        self.free_at = departure;
        self.waited += (start - now).as_picos();
        self.joined_bytes += u32::from(header.size());
        let entry = Entry {
            departure,
            header,
            label,
        };
        if self.push(rings, entry) {
            if self.far == PortId::ELSEWHERE {
                leaving.add(port, self.head);
            } else {
                events.schedule(port, LinkEvent::Arrival, departure + self.delay);
            }
        }
        self.has_counted_much()
    }

    /// Whether counters will soon be full.
    #[inline(always)]
    pub fn has_counted_much(&self) -> bool {
        (self.waited as i64) < 0 || (self.joined_bytes as i32) < 0
    }

    /// Puts a packet into the ring. Returns whether it is the first one.
    #[inline(always)]
    pub fn push<L: Copy + Default>(&mut self, rings: &mut Rings<L>, entry: Entry<L>) -> bool {
        let (head, tail) = (self.head, self.tail);
        self.tail = tail.wrapping_add(1);
        if self.ring.is_full(tail.wrapping_sub(head)) {
            self.ring = rings.grow(self.ring, head, tail);
        }
        *rings.get_mut(self.ring, tail) = entry;
        head == tail
    }
}
