//! Output ports and the wires behind them.

mod departure;
mod fifo;
mod rings;

pub use departure::DeparturePorts;
pub use fifo::FifoPorts;

use crate::agent::{AgentStatistics, PacketLabel};
use crate::arrivals::{Arrivals, Held};
use crate::histogram::QueueHistogram;
use crate::input_times::DueInputs;
use crate::inputs::Inputs;
use crate::packed_route::Step;
use crate::packet::Header;
use crate::places::{Places, PortId};
use crate::queue::Limit;
use crate::setup::{LinkSetup, QueuesCounted};
use crate::shared_buffer::SharedBuffer;
use crate::statistics::LinkStatistics;
use pathweave_random::Stream;
use pathweave_units::{Rate, Time};
use std::ops::Range;

/// What a link can be woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkEvent {
    /// The packet in service has been sent.
    Departure,
    /// The first packet on the wire reaches the far end.
    Arrival,
}

/// The schedule, as a network sees it: at most one time for each port and event.
///
/// At equal times departures come before arrivals, and both after changes of links.
pub trait LinkEvents {
    /// Wakes `port` for `event` at `at`. There is no other time set for the two.
    fn schedule(&mut self, port: PortId, event: LinkEvent, at: Time);
    /// Takes back what is scheduled for this time.
    fn cancel(&mut self, port: PortId, event: LinkEvent, at: Time);
}

/// Packets that a failing link lost, the first sent first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Purged {
    /// Those that other regions have, which were sent before the rest.
    pub elsewhere: Vec<Header>,
    /// The rest.
    pub lost: Vec<Header>,
}

impl Purged {
    /// All of them.
    #[cfg(feature = "checks")]
    pub(crate) fn all(&self) -> impl Iterator<Item = &Header> {
        self.elsewhere.iter().chain(&self.lost)
    }
}

/// A packet at the far end of its link.
#[derive(Clone, Copy, Debug)]
pub struct Delivered<L> {
    /// Its header.
    pub header: Header,
    /// Its label as the port left it.
    pub label: L,
    /// The first port of the node there.
    pub far: PortId,
}

impl<L> Delivered<L> {
    /// Whether the packet's path itself shows that it is at its host.
    #[inline(always)]
    pub fn is_at_host(&self) -> bool {
        matches!(self.header.path.step(), (Step::End, _))
    }
}

/// What is done with packets on links to other regions.
pub trait HandOver<L> {
    /// Packets of this port will be sent soon, so that what is known of its link can be fetched from memory.
    fn soon_of(&self, port: PortId);
    /// A port has sent a packet at a time.
    fn sent(&mut self, port: PortId, departure: Time, header: Header, label: L);
    /// It has arrived at the link's end at a time. Only a check has to hear of it.
    #[cfg(feature = "checks")]
    fn arrived(&mut self, port: PortId, arrival: Time, header: Header);
}

/// The time in which a node has its turn.
#[derive(Clone, Copy, Debug)]
pub struct TurnInterval {
    /// Everything has happened at the node before this time.
    pub from: Time,
    /// It handles what arrives before this time.
    pub before: Time,
    /// Everything has happened at its neighbours before this time. What arrives in the window has left them before.
    pub elsewhere: Time,
}

/// The output ports of a fabric with their queues and the wires to the next nodes.
///
/// Two implementations give the same results: [`FifoPorts`] needs one event per packet and hop, and
/// [`DeparturePorts`] two, but it sees every packet when it leaves. Changes of links (`set_rate`,
/// `fail`, `restore`) and observations (`statistics`, `waiting`) come before what else happens at
/// the same time; `enqueue` comes after the departures of that time.
pub trait Ports {
    /// What they read and write of packets besides their headers.
    type Label: PacketLabel;

    /// Whether they can say of all packets of a window when they arrive, before any of it has happened.
    const KNOW_ARRIVALS: bool;

    /// Whether agents see when packets come and leave.
    const HAVE_AGENTS: bool;

    /// The ports of these links, and the inlets, at these places. `stream` gives the randomness of each link, by its
    /// number.
    fn new(
        links: &[LinkSetup],
        places: &Places,
        counted: QueuesCounted,
        stream: impl Fn(u32) -> Stream,
    ) -> Self;

    /// A packet arrives at a port. Returns whether it was taken; if not, it is lost. It may have been marked, and
    /// its present link may lose it silently.
    fn enqueue<E: LinkEvents>(
        &mut self,
        port: PortId,
        now: Time,
        header: Header,
        label: Self::Label,
        events: &mut E,
    ) -> bool;

    /// [`LinkEvent::Departure`] is due.
    fn depart<E: LinkEvents>(&mut self, port: PortId, now: Time, events: &mut E);

    /// [`LinkEvent::Arrival`] is due: the packet that arrives.
    fn deliver<E: LinkEvents>(
        &mut self,
        port: PortId,
        now: Time,
        events: &mut E,
    ) -> Delivered<Self::Label>;

    /// Adds the packets that arrive within a window at inputs of a node, of those of a page, to those that arrive there.
    /// `times` are when the first one arrives at each input, and get when the next one does; `Time::MAX` if there is none.
    /// Nothing may be due.
    fn gather(
        &mut self,
        due: (DueInputs, &[PortId; Inputs::PAGE]),
        window: TurnInterval,
        times: &mut [Time; Inputs::PAGE],
        arrivals: &mut Arrivals,
    );

    /// The first packet on a port's wire reaches the far end: that, and when the next one will; `Time::MAX` if there is
    /// none. What happened at the port before a time has been noticed; it is no earlier than the packet's departure.
    fn take_first(&mut self, port: PortId, noticed: Time) -> (Delivered<Self::Label>, Time);

    /// A packet of [`Ports::gather`], before anything is enqueued at a port from which it came.
    fn held(&self, held: Held) -> (Header, Self::Label);

    /// Whether a packet of [`Ports::gather`] has come from this port.
    fn held_by(&self, port: PortId, held: Held) -> bool;

    /// Ports of links to other regions schedule no arrivals. Instead, at those that `of` names, everything before `now`
    /// has happened, and nothing from then on: `to` hears of the packets that have been sent and of which it has not heard
    /// before; for each port in their order.
    fn hand_over(
        &mut self,
        now: Time,
        of: impl Fn(PortId) -> bool,
        to: &mut impl HandOver<Self::Label>,
    );

    /// The same for the ports among these that lead to other regions, all of one node. It has had its turn: everything before
    /// `now` has happened there. [`Ports::hand_over`] has to follow for the same time before another packet joins one of them.
    fn hand_over_in_turn(
        &mut self,
        ports: Range<u32>,
        now: Time,
        to: &mut impl HandOver<Self::Label>,
    );

    /// When [`HandOver::sent`] will have the next packet; `Time::MAX` if ports of links to other regions
    /// hold nothing.
    fn next_to_leave(&self) -> Time;

    /// Packets that were handed over, but for those that had arrived when packets of their link were last handed over.
    fn handed_over(&self) -> u64;

    /// A packet that another region has sent will arrive at an inlet.
    fn receive<E: LinkEvents>(
        &mut self,
        inlet: PortId,
        departure: Time,
        header: Header,
        label: Self::Label,
        events: &mut E,
    );

    /// Packets will be received at these inlets: what that needs is fetched from memory. Changes nothing.
    fn prefetch_at(&self, _inlets: impl Iterator<Item = PortId> + Clone) {}

    /// Fetches from memory the packet that arrives next at each of these inputs of a page, if there is any. At those of them
    /// that belong to `hosts`, adds the headers of all packets that arrive before a time: hosts do not forward. Changes nothing.
    fn prefetch(
        &self,
        _due: (DueInputs, &[PortId; Inputs::PAGE]),
        _hosts: DueInputs,
        _before: Time,
        _at_hosts: &mut Vec<Header>,
    ) {
    }

    /// A link's rate changes: the packet in service goes on at the new rate, what waits follows.
    fn set_rate<E: LinkEvents>(&mut self, port: PortId, now: Time, rate: Rate, events: &mut E);

    /// A link loses packets with this probability from now on, silently: they are queued and sent.
    fn set_loss(&mut self, port: PortId, probability: f64);

    /// Whether a link loses every packet.
    fn loses_all(&self, port: PortId) -> bool;

    /// A link goes down: everything waiting, in service and on the wire is lost. At an inlet what is to arrive is lost.
    fn fail<E: LinkEvents>(&mut self, port: PortId, now: Time, events: &mut E) -> Purged;

    /// A link comes back, empty.
    fn restore(&mut self, port: PortId, now: Time);

    /// Whether a link is up.
    fn is_up(&self, port: PortId) -> bool;

    /// A link's present rate.
    fn rate(&self, port: PortId) -> Rate;

    /// Packets waiting now; the one in service does not count.
    fn waiting(&self, port: PortId, now: Time) -> u32;

    /// When all that a port holds now will have been sent, if its rate stays as it is.
    fn free_at(&self, port: PortId) -> Time;

    /// Whether a port's limit leaves no place for a packet of this many bytes, after the departures of this time. A link that
    /// is down is not full.
    fn is_full(&mut self, port: PortId, now: Time, size: u16) -> bool;

    /// What waits now, as a share of the limit.
    fn occupancy(&self, port: PortId, now: Time) -> f64;

    /// The limit of a port's queue.
    fn limit(&self, port: PortId) -> Limit;

    /// Whether a port shares its node's memory with others.
    fn shares_memory(&self, port: PortId) -> bool;

    /// Whether a port marks by an average of its queue, in which idle times count.
    fn averages(&self, port: PortId) -> bool;

    /// How long a port takes to send a packet of `size` bytes.
    fn transmission(&self, port: PortId, size: u16) -> Time;

    /// Adds `count` passing packets to the histogram; `times` are the arrival of the first and the time from one to the
    /// next. Packets pass an idle port without being enqueued if everything that happens to them is known in advance.
    /// The port must have no agent, no loss and no shared memory. [`Ports::hold_passing`] has to be called before
    /// another packet arrives during the transmission of one, [`Ports::slip_in`] before the link changes, and
    /// [`Ports::count_carried`] before counters are read.
    fn count_passing(&mut self, port: PortId, times: (Time, Time), count: u64);

    /// Enqueues the packet that is passing a port after all, as of its arrival at `since`. It has not departed, and
    /// nothing else has arrived since.
    fn hold_passing<E: LinkEvents>(
        &mut self,
        port: PortId,
        since: Time,
        header: Header,
        label: Self::Label,
        events: &mut E,
    );

    /// Puts the packet delivered last back on the wire, so that [`Ports::enqueue`] can be called for an earlier time,
    /// when it was still there. Nothing has arrived at the port since that time. Returns whether the port holds no
    /// other packet.
    fn take_back(&mut self, port: PortId) -> bool;

    /// Delivers the packet of [`Ports::take_back`] again; `was_last` is what that call returned.
    fn take_again<E: LinkEvents>(&mut self, port: PortId, was_last: bool, events: &mut E);

    /// Inserts a packet that has passed a port but not reached the far end among those that the port holds. `times` are
    /// its departure and the present time.
    fn slip_in<E: LinkEvents>(
        &mut self,
        port: PortId,
        times: (Time, Time),
        header: Header,
        label: Self::Label,
        events: &mut E,
    );

    /// Counts packets that have passed a port and reached the far end.
    fn count_carried(&mut self, port: PortId, packets: u64, bytes: u64);

    /// Packets that have reached the far end of a link.
    fn delivered(&self, port: PortId) -> u64;

    /// Packets in a port or on its wire.
    fn holds(&self, port: PortId) -> u32;

    /// Counters up to now; `waited` is exactly the integral of the waiting packets over time.
    fn statistics(&self, port: PortId, now: Time) -> LinkStatistics;

    /// Bits that a link has sent, those of the packet in service up to now included, times picoseconds a second:
    /// a whole number, whatever the rates were. What it sent and a failure lost on the wire counts.
    fn sent(&self, port: PortId, now: Time) -> u128;

    /// Queue lengths that arriving packets have found since [`Ports::clear_histogram`], all or a sample.
    fn histogram(&mut self, port: PortId) -> QueueHistogram;

    /// Those of all arriving packets; `None` where only a sample was counted.
    fn complete_histogram(&mut self, port: PortId) -> Option<QueueHistogram>;

    /// Queue lengths are counted from zero on.
    fn clear_histogram(&mut self, port: PortId);

    /// What a port's agent has kept and done. All that has happened by now has been noticed.
    fn agent_statistics(&mut self, port: PortId, now: Time) -> AgentStatistics;

    /// The memory that the ports of a node share, if they do.
    fn shared_buffer(&self, node: u32) -> Option<&SharedBuffer>;
}

/// One bit in the unit of [`Ports::sent`].
pub(crate) const BIT: u128 = 1_000_000_000_000;

/// What a port has sent of a packet of this many bytes that will have left in `remaining`, in the unit of
/// [`Ports::sent`].
pub(crate) fn sent_in_service(bytes: u16, remaining: Time, rate: Rate) -> u128 {
    let in_a_picosecond = u128::from(rate.as_bps());
    let unsent = u128::from(remaining.as_picos()) * in_a_picosecond;
    let sent = (u128::from(bytes) * 8 * BIT).saturating_sub(unsent);
    // Less than a picosecond is what rounding the transmission time left: the packet begins now.
    if sent < in_a_picosecond { 0 } else { sent }
}

/// Transmission times at one rate, by one multiplication.
#[derive(Clone, Copy, Debug, Default)]
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
