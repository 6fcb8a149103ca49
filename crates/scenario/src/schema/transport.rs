//! The transport.

use crate::text::{BytesText, Either, PacketsOrBytes, TimeText};
use pathweave_transport::{
    AckPolicy, Config, EcnUse, Handshake, Joins, ReceiveWindow, Recovery, SegmentScheduler,
};
use pathweave_units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A transport: a preset and what differs from it. Defaults are the preset's.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct TransportTable {
    /// Where all other values come from: a name from the table of presets. Default "linux".
    #[serde(skip_serializing)]
    pub preset: Option<String>,
    /// Loss recovery.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<RecoveryName>,
    /// Whether the first two duplicate acknowledgements release a new packet each (RFC 3042).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_transmit: Option<bool>,
    /// Initial window, in packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<f64>,
    /// Initial ssthresh: packets, a size, or "none".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<Ssthresh>,
    /// The window's floor in congestion avoidance, in packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum_window: Option<f64>,
    /// Smallest retransmission timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum_rto: Option<TimeText>,
    /// Retransmission timeout before the first RTT sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_rto: Option<TimeText>,
    /// Largest retransmission timeout.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum_rto: Option<TimeText>,
    /// Data packets to one acknowledgement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_every: Option<u32>,
    /// The longest time that an acknowledgement waits for more data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_timeout: Option<TimeText>,
    /// Largest payload of a packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum_segment: Option<BytesText>,
    /// Size on the wire of a packet with that payload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_packet: Option<BytesText>,
    /// Size on the wire of an acknowledgement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_packet: Option<BytesText>,
    /// The receiver's window: "unlimited", or a table that limits the connection or each subflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_window: Option<Either<Unlimited, WindowTable>>,
    /// How connections open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handshake: Option<HandshakeName>,
    /// Further subflows open a random time of at most this after the first handshake.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub join_spread: Option<TimeText>,
    /// Which subflow gets the next segment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<SchedulerName>,
    /// Whether data packets are ECN-capable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<EcnName>,
    /// After so many timeouts in a row what a subflow had in flight is sent again on the others;
    /// "never" keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reinject_after: Option<Either<CountOrNever, ()>>,
    /// Whether windows grow per acknowledged packet or per acknowledgement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<CountName>,
}

/// Loss recovery.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RecoveryName {
    /// Selective acknowledgements (RFC 6675).
    Sack,
    /// Cumulative acknowledgements only (RFC 6582).
    NewReno,
}
