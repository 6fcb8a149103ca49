//! What the subflows of a connection share at its receiving end.

use super::reassembly::Reassembly;
use crate::segment::UNLIMITED;
use crate::{Config, PacketKey};
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
}

/// The receiving end of a connection, but for what belongs to a single subflow.
pub(crate) struct Connection {
    pub config: Arc<Config>,
    pub flow: u32,
    /// Index of the first subflow; the others follow it.
    pub first: u32,
    pub count: u32,
    pub ecn: bool,
    pub echo_limit: u8,
    pub header_bytes: u16,
    /// All data has been delivered.
    pub finished: bool,
    /// Payload of the last segment, once `total` is known.
    pub last_payload: u16,
    /// Number of data segments; `UNLIMITED` until the last one has arrived or the source has stopped.
    pub total: u32,
    /// Everything below this has been delivered in order.
    pub delivered: u32,
    /// When that last changed.
    pub delivered_at: Time,
    pub reassembly: Reassembly,
    /// Where packets differ in size.
    mixed: Option<Box<Mixed>>,
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
        Connection {
            flow: reception.flow,
            first,
            count: reception.subflows,
            ecn: reception.ecn_echo.is_some(),
            echo_limit: reception.ecn_echo.unwrap_or(u8::MAX),
            header_bytes: reception.header_bytes,
            finished: false,
            last_payload: 0,
            total: UNLIMITED,
            delivered: 0,
            delivered_at: Time::ZERO,
            reassembly: Reassembly::default(),
            mixed,
            config: reception.config,
        }
    }

    /// Everything below this has been delivered in order.
    #[inline]
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
