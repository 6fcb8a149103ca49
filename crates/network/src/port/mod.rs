//! An output port and the wire behind it.

mod departure;
mod fifo;

pub use departure::DeparturePort;
pub use fifo::FifoPort;

use crate::agent::{AgentStatistics, PacketLabel};
use crate::histogram::QueueHistogram;
use crate::network::LinkSetup;
use crate::packet::{Header, PacketId};
use crate::queue::QueueConfig;
use crate::statistics::LinkStatistics;
use pathweave_random::Stream;
use pathweave_units::{Rate, Time};

/// What a link can be woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkEvent {
    /// The packet in service has been sent.
    Departure,
    /// The first packet on the wire reaches the far end.
    Arrival,
}

/// The schedule, as a network sees it: at most one time for each link and event.
///
/// At equal times departures come before arrivals, and both after changes of links.
pub trait LinkEvents {
    /// Wakes `link` for `event` at `at`. There is no other time set for the two.
    fn schedule(&mut self, link: u32, event: LinkEvent, at: Time);
    /// Takes back what is scheduled.
    fn cancel(&mut self, link: u32, event: LinkEvent);
}

/// Packets that a failing link lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Purged(pub Vec<PacketId>);

/// An output port with its queue and the wire to the next node.
///
/// Two implementations give the same results: [`FifoPort`] needs one event per packet, and
/// [`DeparturePort`] two, but it sees every packet when it leaves. Changes of the link (`set_rate`,
/// `fail`, `restore`) and observations (`statistics`, `waiting`) come before what else happens at
/// the same time; `enqueue` comes after the departures of that time.
pub trait Port {
    /// What it reads and writes of packets besides their headers.
    type Label: PacketLabel;

    /// A port at the given link. `stream` is its own randomness.
    fn new(setup: &LinkSetup, stream: Stream) -> Self;

    /// A packet arrives at the port. Returns whether it was taken; if not, it is lost.
    fn enqueue<E: LinkEvents>(
        &mut self,
        link: u32,
        now: Time,
        packet: PacketId,
        header: &mut Header,
        label: Self::Label,
        events: &mut E,
    ) -> bool;

    /// [`LinkEvent::Departure`] is due.
    fn depart<E: LinkEvents>(&mut self, link: u32, now: Time, events: &mut E);

    /// [`LinkEvent::Arrival`] is due: the packet that arrives, and its label as the port left it.
    fn deliver<E: LinkEvents>(
        &mut self,
        link: u32,
        now: Time,
        events: &mut E,
    ) -> (PacketId, Self::Label);

    /// Counts the bytes of the packet that was just delivered.
    fn count_delivered(&mut self, bytes: u16);

    /// The rate changes: the packet in service goes on at the new rate, what waits follows.
    fn set_rate<E: LinkEvents>(&mut self, link: u32, now: Time, rate: Rate, events: &mut E);

    /// The link loses packets with this probability from now on, silently: they are queued and sent.
    fn set_loss(&mut self, probability: f64);

    /// Whether the link loses every packet.
    fn loses_all(&self) -> bool;

    /// The link goes down: everything waiting, in service and on the wire is lost.
    fn fail<E: LinkEvents>(&mut self, link: u32, now: Time, events: &mut E) -> Purged;

    /// The link comes back, empty.
    fn restore(&mut self, now: Time);

    /// Whether the link is up.
    fn is_up(&self) -> bool;

    /// Its present rate.
    fn rate(&self) -> Rate;

    /// Packets waiting now; the one in service does not count.
    fn waiting(&self, now: Time) -> u32;

    /// What waits now, as a share of the limit.
    fn occupancy(&self, now: Time) -> f64;

    /// Packets that have reached the far end.
    fn delivered(&self) -> u64;

    /// Packets in the port or on the wire.
    fn holds(&self) -> u32;

    /// Counters up to now; `waited` is exactly the integral of the waiting packets over time.
    fn statistics(&self, now: Time) -> LinkStatistics;

    /// Bits that it has sent, those of the packet in service up to now included, times picoseconds a second:
    /// a whole number, whatever the rates were. What it sent and a failure lost on the wire counts.
    fn sent(&self, now: Time) -> u128;

    /// Queue lengths that arriving packets found.
    fn histogram(&mut self) -> &mut QueueHistogram;

    /// What its agent has kept and done.
    fn agent_statistics(&self) -> AgentStatistics {
        AgentStatistics::default()
    }
}

/// One bit in the unit of [`Port::sent`].
const BIT: u128 = 1_000_000_000_000;

/// What a port has sent of a packet of this many bytes that will have left in `remaining`, in the unit of
/// [`Port::sent`].
fn sent_in_service(bytes: u16, remaining: Time, rate: Rate) -> u128 {
    let unsent = u128::from(remaining.as_picos()) * u128::from(rate.as_bps());
    (u128::from(bytes) * 8 * BIT).saturating_sub(unsent)
}

/// Transmission times at one rate, by one multiplication.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Serialisation {
    /// Picoseconds a byte, times 2^32.
    per_byte: u64,
}

impl Serialisation {
    pub fn new(rate: Rate) -> Serialisation {
        let per_byte = ((8_000_000_000_000u128 << 32) + u128::from(rate.as_bps() / 2))
            / u128::from(rate.as_bps());
        Serialisation {
            per_byte: u64::try_from(per_byte).expect("scenarios refuse rates below 10 Kbps"),
        }
    }
    #[inline]
    pub fn time(&self, bytes: u16) -> Time {
        Time::from_picos(((u128::from(bytes) * u128::from(self.per_byte)) >> 32) as u64)
    }
    /// How long what would have taken `remaining` at this rate takes at `new`.
    pub fn rescale(&self, remaining: Time, new: &Serialisation) -> Time {
        let picos =
            u128::from(remaining.as_picos()) * u128::from(new.per_byte) / u128::from(self.per_byte);
        Time::from_picos(picos as u64)
    }
}

/// The longest queue a histogram tells apart.
pub(crate) fn longest_queue(config: &QueueConfig) -> u32 {
    match config.limit {
        crate::queue::Limit::Packets(packets) => packets.min(1 << 20),
        // The smallest packets are 40 bytes.
        crate::queue::Limit::Bytes(bytes) => (bytes.get() / 40).min(1 << 20) as u32,
    }
}
