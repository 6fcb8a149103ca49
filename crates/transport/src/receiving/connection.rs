//! What the subflows of a connection share at its receiving end.

use super::at_once::AtOnce;
use super::reassembly::Reassembly;
use crate::segment::UNLIMITED;
use crate::{Config, PacketKey, Recovery, Tick};
use pathweave_units::{Bytes, Time};
use std::sync::Arc;

/// What the receiving half knows of a flow from its start.
pub struct Reception {
    /// The flow's number.
    pub flow: u32,
    /// Its transport's settings.
    pub config: Arc<Config>,
    /// Most marks that one acknowledgement may echo; `None` if data packets are not ECN-capable.
    pub ecn_echo: Option<u8>,
    /// Number of subflows.
    pub subflows: u32,
    /// What the sizes of its packets follow from, where the configuration lets them differ.
    pub packet_key: PacketKey,
    /// Bytes that the header of its scheme adds to each data packet.
    pub header_bytes: u16,
    /// When its host's timers fire.
    pub tick: Tick,
}

/// The receiving end of a connection, but for what belongs to a single subflow. What every packet needs comes first.
#[repr(C, align(64))]
pub(crate) struct Connection {
    pub reassembly: Reassembly,
    /// Everything below this has been delivered in order.
    pub delivered: u32,
    /// Number of data segments; `UNLIMITED` until the last one has arrived or the source has stopped.
    pub total: u32,
    /// When `delivered` last changed.
    pub delivered_at: Time,
    /// Data packets to one acknowledgement, and whether a change of the mark is acknowledged at once.
    every: u32,
    at_mark_change: bool,
    /// Whether an acknowledgement may cover a change of the mark.
    pub spans_marks: bool,
    /// Whether the last segment is acknowledged at once.
    at_last: bool,
    /// Whether packets are gathered: [`Config::ack_gather`] is not zero.
    pub gathers: bool,
    /// Whether something is looked at before a packet is taken in: quick ACKs may return, or packets are gathered.
    pub notes_arrivals: bool,
    /// One subflow carries the data, in its own order.
    pub is_single: bool,
    /// Header bytes of a data packet, those of its scheme included.
    pub header_bytes: u16,
    /// Bytes on the wire of an acknowledgement.
    pub ack_packet: u16,
    /// Most marks that one acknowledgement echoes.
    pub echo_limit: u8,
    /// Whether acknowledgements may be marked.
    pub ecn_on_acks: bool,
    /// The longest time that an acknowledgement waits for more data.
    pub ack_timeout: Time,
    /// [`Config::ack_gather`].
    pub ack_gather: Time,
    /// Whether acknowledgements have blocks.
    pub selective: bool,
    /// All data has been delivered.
    pub finished: bool,
    /// Number of subflows.
    pub count: u32,
    /// Payload of the last segment, once `total` is known.
    pub last_payload: u16,
    /// Where packets differ in size.
    mixed: Option<Box<Mixed>>,
    pub config: Arc<Config>,
    pub flow: u32,
    /// Index of the first subflow; the others follow it.
    pub first: u32,
    /// When its host's timers fire.
    pub tick: Tick,
}

const _: () = assert!(std::mem::offset_of!(Connection, ack_timeout) <= 64);

/// With a tick, the delayed-ACK timeout stays below the smallest retransmission timeout (tcp_delack_max of Linux).
fn longest_ack_wait(config: &Config) -> Time {
    if config.tick == Time::ZERO {
        return config.ack_timeout;
    }
    let most = config.minimum_rto.saturating_sub(config.tick);
    config.ack_timeout.min(most)
}

/// Payload of the segments that have been delivered, where they differ in size.
struct Mixed {
    key: PacketKey,
    counted: u32,
    bytes: u64,
}

impl Connection {
    pub fn new(reception: Reception, first: u32) -> Connection {
        let mixed = reception.config.packets.is_some().then(|| {
            Box::new(Mixed {
                key: reception.packet_key,
                counted: 0,
                bytes: 0,
            })
        });
        let config = reception.config;
        Connection {
            reassembly: Reassembly::default(),
            delivered: 0,
            total: UNLIMITED,
            delivered_at: Time::ZERO,
            every: config.ack_every,
            at_mark_change: config.ack_at_mark_change && !config.ack_spans_marks,
            spans_marks: config.ack_spans_marks,
            at_last: config.ack_last,
            gathers: config.ack_gather > Time::ZERO,
            notes_arrivals: config.ack_at_first_again || config.ack_gather > Time::ZERO,
            is_single: reception.subflows == 1,
            header_bytes: config.overhead() + reception.header_bytes,
            ack_packet: config.ack_packet,
            echo_limit: reception.ecn_echo.unwrap_or(u8::MAX),
            ecn_on_acks: reception.ecn_echo.is_some() && config.ecn_on_all_packets,
            ack_timeout: longest_ack_wait(&config),
            ack_gather: config.ack_gather,
            selective: config.recovery == Recovery::Sack,
            finished: false,
            count: reception.subflows,
            last_payload: 0,
            mixed,
            config,
            flow: reception.flow,
            first,
            tick: reception.tick,
        }
    }

    /// When a packet is acknowledged at once.
    #[inline(always)]
    pub fn at_once(&self) -> AtOnce {
        AtOnce {
            every: self.every,
            at_mark_change: self.at_mark_change,
            at_last: self.at_last,
        }
    }

    /// Everything below this has been delivered in order.
    #[inline(always)]
    pub fn deliver(&mut self, to: u32, now: Time) {
        if to == self.delivered {
            return;
        }
        self.delivered = to;
        self.delivered_at = now;
        if self.mixed.is_some() {
            self.count_bytes();
        }
    }

    #[cold]
    #[inline(never)]
    fn count_bytes(&mut self) {
        if let Some(mixed) = &mut self.mixed {
            for segment in mixed.counted..self.delivered {
                mixed.bytes += u64::from(self.config.full_payload(mixed.key, segment));
            }
            mixed.counted = self.delivered;
        }
    }

    /// Payload delivered in order.
    pub fn bytes(&self) -> Bytes {
        let payload = u64::from(self.config.maximum_segment);
        let mut bytes = match &self.mixed {
            Some(mixed) => mixed.bytes,
            None => u64::from(self.delivered) * payload,
        };
        if self.delivered == self.total && self.total > 0 {
            let full = match &self.mixed {
                Some(mixed) => u64::from(self.config.full_payload(mixed.key, self.total - 1)),
                None => payload,
            };
            bytes = bytes + u64::from(self.last_payload) - full;
        }
        Bytes::new(bytes)
    }
}
