//! Everything about an endpoint in which published code bases differ, as explicit values.

use crate::packets::{PacketKey, PacketMix};
use crate::segment::UNLIMITED;
use pathweave_units::{Bytes, Time};

/// How lost packets are found and sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Selective acknowledgements (RFC 2018, RFC 6675).
    Sack,
    /// Cumulative acknowledgements only (RFC 6582).
    NewReno,
    /// Cumulative acknowledgements, and one loss a window (RFC 5681): fast recovery ends with the first
    /// new acknowledgement. Further losses of the same window wait for three more duplicates, which
    /// seldom come, or for the timeout.
    Reno,
}

/// How a window that congestion has cut comes into force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Nothing leaves until the flight is below the new window (RFC 5681, RFC 8257).
    AtOnce,
    /// Over the round of the cut packets leave in proportion to those that arrive (proportional rate
    /// reduction, RFC 6937 and RFC 9937).
    Proportional,
}

/// What a loss takes its share from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SsthreshFrom {
    /// From what was in flight, where that is less than the window (RFC 5681, section 3.1).
    Flight,
    /// From the window, as Linux does.
    Window,
}

/// How a connection's first subflow opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// SYN and SYN-ACK travel like other packets and can be lost.
    Syn,
    /// SYN and SYN-ACK travel but are never dropped or marked.
    SynNeverLost,
    /// Data leaves at once.
    None,
}

/// When the other subflows of a connection open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joins {
    /// As soon as the first handshake is done.
    AfterHandshake,
    /// A random time of at most this after the first handshake is done.
    WithinAfterHandshake(Time),
}

/// When a receiver acknowledges. Out-of-order data and a flow's last segment are acknowledged at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckPolicy {
    /// Data packets to one acknowledgement.
    pub every: u32,
    /// The longest time that an acknowledgement waits for more data.
    pub timeout: Time,
    /// This many data packets of a subflow are acknowledged at once when it begins: otherwise an
    /// initial window of one packet would wait for the timeout. Linux does so for 16.
    pub at_first: u32,
    /// Whether a packet whose CE mark differs from the last one's is acknowledged at once, as Linux
    /// does. What came before it always is (RFC 8257, section 3.2).
    pub at_mark_change: bool,
}

/// How much a receiver lets be sent ahead of what it could deliver in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveWindow {
    /// As much as the sender likes.
    Unlimited,
    /// This much on the whole connection.
    Connection(Bytes),
    /// This much on each subflow.
    Subflow(Bytes),
}

/// Which subflow gets the next segment of new data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentScheduler {
    /// The next one in turn that may send.
    RoundRobin,
    /// The one with the smallest smoothed RTT that may send.
    LowestRtt,
}

/// Whether data packets are ECN-capable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnUse {
    /// If the controller reacts to marks.
    ByController,
    /// Always.
    On,
    /// Never.
    Off,
}

/// A transport's settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Loss recovery.
    pub recovery: Recovery,
    /// Whether the first two duplicate acknowledgements release a new packet each (RFC 3042).
    pub limited_transmit: bool,
    /// How a window that was cut comes into force.
    pub reduction: Reduction,
    /// Whether the other acknowledgements of the round in which a window was cut may let it grow again.
    pub growth_in_cut_round: bool,
    /// Whether acknowledgements that carry marks grow windows as others do, against RFC 3168, section 6.1.2.
    pub growth_by_marked_acks: bool,
    /// What a loss takes its share from.
    pub ssthresh_from: SsthreshFrom,
    /// Initial window, in packets.
    pub initial_window: f64,
    /// Initial ssthresh, in packets; infinite for none.
    pub initial_ssthresh: f64,
    /// The window's floor in congestion avoidance, in packets.
    pub minimum_window: f64,
    /// Smallest retransmission timeout.
    pub minimum_rto: Time,
    /// Retransmission timeout before the first RTT sample.
    pub initial_rto: Time,
    /// Largest retransmission timeout.
    pub maximum_rto: Time,
    /// When receivers acknowledge.
    pub ack: AckPolicy,
    /// Largest payload of a packet.
    pub maximum_segment: u16,
    /// Bytes on the wire of a packet with that payload; the difference is every packet's overhead.
    pub data_packet: u16,
    /// The sizes of data packets that are not a flow's last, where they differ: more than the
    /// overhead, and at most `data_packet`. `None` when all have that.
    pub packets: Option<PacketMix>,
    /// Bytes on the wire of an acknowledgement, a SYN and a SYN-ACK.
    pub ack_packet: u16,
    /// The receiver's window.
    pub receive_window: ReceiveWindow,
    /// How connections open.
    pub handshake: Handshake,
    /// How further subflows open.
    pub joins: Joins,
    /// Which subflow sends next.
    pub scheduler: SegmentScheduler,
    /// ECN.
    pub ecn: EcnUse,
    /// Whether acknowledgements and retransmissions of a connection whose data packets are ECN-capable are so, too,
    /// against RFC 3168, sections 6.1.4 and 6.1.5.
    pub ecn_on_all_packets: bool,
    /// A subflow has failed after this many timeouts in a row without progress: it takes no new data, and
    /// controllers leave it out, until new data is acknowledged on it. At least 1.
    pub failed_after: u32,
    /// After this many timeouts in a row what a subflow had in flight is sent again on the others; `None`
    /// never does so.
    pub reinject_after: Option<u32>,
    /// The most packets of one acknowledgement that slow start counts (RFC 3465). After a timeout it counts one, until
    /// everything that was in flight at the timeout has been acknowledged. `None` counts all, as Linux does. At least 1.
    pub slow_start_limit: Option<u32>,
    /// Whether windows grow per acknowledgement, as some published code does, instead of per
    /// acknowledged packet.
    pub count_acks: bool,
}

impl Config {
    /// Header bytes of a data packet.
    pub fn overhead(&self) -> u16 {
        self.data_packet - self.maximum_segment
    }

    /// Packets of one acknowledgement that slow start counts at most, after a timeout or otherwise.
    #[inline]
    pub(crate) fn packets_in_slow_start(&self, after_timeout: bool) -> u32 {
        match self.slow_start_limit {
            None => u32::MAX,
            Some(_) if after_timeout => 1,
            Some(limit) => limit,
        }
    }

    /// Mean size on the wire of data packets that are not a flow's last, in bytes.
    pub fn mean_packet(&self) -> f64 {
        match &self.packets {
            None => f64::from(self.data_packet),
            Some(mix) => mix.mean(),
        }
    }

    /// Whether the round of a cut differs from others.
    #[inline]
    pub(crate) fn has_cut_rounds(&self) -> bool {
        self.reduction == Reduction::Proportional || !self.growth_in_cut_round
    }

    /// The largest flow whose segments can all be numbered.
    pub fn largest_flow(&self) -> Bytes {
        let smallest = match &self.packets {
            None => self.maximum_segment,
            Some(mix) => mix.smallest().saturating_sub(self.overhead()),
        };
        Bytes::new(u64::from(UNLIMITED - 1) * u64::from(smallest))
    }

    /// Payload of a connection's segment that is not its last.
    #[inline]
    pub(crate) fn full_payload(&self, key: PacketKey, segment: u32) -> u16 {
        match &self.packets {
            None => self.maximum_segment,
            Some(mix) => mix.size(key, segment) - self.overhead(),
        }
    }

    /// Sizes on the wire of all data packets of a flow, in the order of its data.
    pub fn packets_of(&self, key: PacketKey, size: Bytes) -> impl Iterator<Item = Bytes> {
        let overhead = u64::from(self.overhead());
        let mut left = Some(size.get());
        let mut segment = 0;
        std::iter::from_fn(move || {
            let payload = u64::from(self.full_payload(key, segment)).min(left?);
            segment += 1;
            left = left.and_then(|left| left.checked_sub(payload).filter(|&left| left > 0));
            Some(Bytes::new(payload + overhead))
        })
    }
}

impl Default for Config {
    /// A current Linux host.
    fn default() -> Config {
        Config {
            recovery: Recovery::Sack,
            limited_transmit: true,
            reduction: Reduction::AtOnce,
            growth_in_cut_round: true,
            growth_by_marked_acks: false,
            ssthresh_from: SsthreshFrom::Window,
            initial_window: 10.0,
            initial_ssthresh: f64::INFINITY,
            minimum_window: 2.0,
            minimum_rto: Time::from_millis(200),
            initial_rto: Time::from_secs(1),
            maximum_rto: Time::from_secs(120),
            ack: AckPolicy {
                every: 2,
                timeout: Time::from_millis(40),
                at_first: 16,
                at_mark_change: true,
            },
            maximum_segment: 1448,
            data_packet: 1500,
            packets: None,
            ack_packet: 52,
            receive_window: ReceiveWindow::Unlimited,
            handshake: Handshake::Syn,
            joins: Joins::AfterHandshake,
            scheduler: SegmentScheduler::LowestRtt,
            ecn: EcnUse::ByController,
            ecn_on_all_packets: false,
            failed_after: 2,
            reinject_after: Some(2),
            slow_start_limit: None,
            count_acks: false,
        }
    }
}
