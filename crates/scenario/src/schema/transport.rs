//! The transport.

use crate::text::{BytesText, PacketsOrBytes, TimeText};
use crate::words::{CountOrNever, CountOrNone, SsthreshText, WindowText};
use pathweave_transport::{
    AckPolicy, Config, EcnUse, Handshake, Joins, ReceiveWindow, Recovery, Reduction,
    SegmentScheduler, SsthreshFrom,
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
    /// How a window that congestion has cut comes into force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduction: Option<ReductionName>,
    /// Whether the other acknowledgements of the round in which a window was cut may let it grow again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth_in_cut_round: Option<bool>,
    /// Whether acknowledgements that carry marks grow windows as others do, where the controller's source is an RFC or
    /// Linux.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth_by_marked_acks: Option<bool>,
    /// What a loss takes its share from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssthresh_from: Option<SsthreshFromName>,
    /// Initial window, in packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<f64>,
    /// Initial ssthresh: packets, a size, or "none".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<SsthreshText>,
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
    /// Data packets of a subflow that are acknowledged at once when it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_at_first: Option<u32>,
    /// Whether a packet whose CE mark differs from the last one's is acknowledged at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_at_mark_change: Option<bool>,
    /// Largest payload of a packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum_segment: Option<BytesText>,
    /// Size on the wire of a packet with that payload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_packet: Option<BytesText>,
    /// Size on the wire of an acknowledgement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_packet: Option<BytesText>,
    /// The receiver's window: "unlimited", a size for the whole connection, or a size "per subflow".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_window: Option<WindowText>,
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
    /// Whether acknowledgements and retransmissions of connections that use ECN are ECN-capable, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn_on_all_packets: Option<bool>,
    /// A subflow has failed after this many timeouts in a row without progress: it takes no new data, and
    /// controllers leave it out, until new data is acknowledged on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_after: Option<u32>,
    /// After this many timeouts in a row what a subflow had in flight is sent again on the others;
    /// "never" keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reinject_after: Option<CountOrNever>,
    /// Packets of one acknowledgement that slow start counts at most, and one after a timeout (RFC 3465); "none" counts
    /// all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_start_limit: Option<CountOrNone>,
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
    /// Cumulative acknowledgements, and one loss a window (RFC 5681).
    Reno,
}

/// How a window that congestion has cut comes into force.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ReductionName {
    /// Nothing leaves until the flight is below the new window.
    AtOnce,
    /// Packets leave in proportion to those that arrive, over a round (RFC 6937, RFC 9937).
    Prr,
}

/// What a loss takes its share from.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SsthreshFromName {
    /// From what was in flight (RFC 5681).
    Flight,
    /// From the window, as Linux does.
    Window,
}

/// How connections open.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum HandshakeName {
    /// SYN and SYN-ACK travel like other packets.
    Syn,
    /// SYN and SYN-ACK are never dropped or marked.
    SynNeverLost,
    /// Data leaves at once.
    None,
}

/// Which subflow gets the next segment.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SchedulerName {
    /// The next one in turn that may send.
    RoundRobin,
    /// The one with the smallest smoothed RTT that may send.
    LowestRtt,
}

/// Whether data packets are ECN-capable.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum EcnName {
    /// If the controller reacts to marks.
    ByController,
    /// Always.
    On,
    /// Never.
    Off,
}

/// What windows grow by.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CountName {
    /// Acknowledged packets.
    Packets,
    /// Acknowledgements.
    Acks,
}

impl TransportTable {
    /// Writes what the table gives into the configuration. Gives the key and the reason of what does
    /// not fit into it.
    pub fn apply(&self, config: &mut Config) -> Result<(), (&'static str, String)> {
        let size = |key: &'static str, size: BytesText| {
            u16::try_from(size.0.get()).map_err(|_| {
                (
                    key,
                    format!("{key} is {}; packets have at most 65535 B", size.0),
                )
            })
        };
        if let Some(size_text) = self.maximum_segment {
            config.maximum_segment = size("maximum_segment", size_text)?;
        }
        if let Some(size_text) = self.data_packet {
            config.data_packet = size("data_packet", size_text)?;
        }
        if let Some(size_text) = self.ack_packet {
            config.ack_packet = size("ack_packet", size_text)?;
        }
        if let Some(recovery) = self.recovery {
            config.recovery = match recovery {
                RecoveryName::Sack => Recovery::Sack,
                RecoveryName::NewReno => Recovery::NewReno,
                RecoveryName::Reno => Recovery::Reno,
            };
        }
        if let Some(reduction) = self.reduction {
            config.reduction = match reduction {
                ReductionName::AtOnce => Reduction::AtOnce,
                ReductionName::Prr => Reduction::Proportional,
            };
        }
        let growth = self.growth_in_cut_round;
        config.growth_in_cut_round = growth.unwrap_or(config.growth_in_cut_round);
        let growth = self.growth_by_marked_acks;
        config.growth_by_marked_acks = growth.unwrap_or(config.growth_by_marked_acks);
        if let Some(from) = self.ssthresh_from {
            config.ssthresh_from = match from {
                SsthreshFromName::Flight => SsthreshFrom::Flight,
                SsthreshFromName::Window => SsthreshFrom::Window,
            };
        }
        if let Some(ssthresh) = self.initial_ssthresh {
            config.initial_ssthresh = match ssthresh.0 {
                None => f64::INFINITY,
                Some(PacketsOrBytes::Packets(packets)) => packets,
                Some(PacketsOrBytes::Bytes(bytes)) => {
                    bytes.get() as f64 / f64::from(config.maximum_segment.max(1))
                }
            };
        }
        let set = |value: Option<TimeText>, time: &mut Time| {
            *time = value.map_or(*time, |text| text.0);
        };
        set(self.minimum_rto, &mut config.minimum_rto);
        set(self.initial_rto, &mut config.initial_rto);
        set(self.maximum_rto, &mut config.maximum_rto);
        set(self.ack_timeout, &mut config.ack.timeout);
        config.ack.at_first = self.ack_at_first.unwrap_or(config.ack.at_first);
        config.ack.at_mark_change = self.ack_at_mark_change.unwrap_or(config.ack.at_mark_change);
        config.ack.every = self.ack_every.unwrap_or(config.ack.every);
        config.limited_transmit = self.limited_transmit.unwrap_or(config.limited_transmit);
        config.ecn_on_all_packets = self.ecn_on_all_packets.unwrap_or(config.ecn_on_all_packets);
        config.initial_window = self.initial_window.unwrap_or(config.initial_window);
        config.minimum_window = self.minimum_window.unwrap_or(config.minimum_window);
        if let Some(window) = self.receive_window {
            config.receive_window = window.0;
        }
        if let Some(handshake) = self.handshake {
            config.handshake = match handshake {
                HandshakeName::Syn => Handshake::Syn,
                HandshakeName::SynNeverLost => Handshake::SynNeverLost,
                HandshakeName::None => Handshake::None,
            };
        }
        if let Some(spread) = self.join_spread {
            config.joins = match spread.0 {
                Time::ZERO => Joins::AfterHandshake,
                spread => Joins::WithinAfterHandshake(spread),
            };
        }
        if let Some(scheduler) = self.scheduler {
            config.scheduler = match scheduler {
                SchedulerName::RoundRobin => SegmentScheduler::RoundRobin,
                SchedulerName::LowestRtt => SegmentScheduler::LowestRtt,
            };
        }
        if let Some(ecn) = self.ecn {
            config.ecn = match ecn {
                EcnName::ByController => EcnUse::ByController,
                EcnName::On => EcnUse::On,
                EcnName::Off => EcnUse::Off,
            };
        }
        config.failed_after = self.failed_after.unwrap_or(config.failed_after);
        if let Some(count) = self.reinject_after {
            config.reinject_after = count.0;
        }
        if let Some(limit) = self.slow_start_limit {
            config.slow_start_limit = limit.0;
        }
        if let Some(count) = self.count {
            config.count_acks = matches!(count, CountName::Acks);
        }
        check(config)
    }
}

/// Refuses values that no transport can work with, by key.
fn check(config: &Config) -> Result<(), (&'static str, String)> {
    let refuse = |key: &'static str, text: String| Err((key, format!("{key} {text}")));
    for (key, packets) in [
        ("initial_window", config.initial_window),
        ("minimum_window", config.minimum_window),
    ] {
        if !(1.0..=1e6).contains(&packets) {
            return refuse(key, format!("is {packets}; expected 1 to 1000000 packets"));
        }
    }
    if config.initial_ssthresh.is_nan() || config.initial_ssthresh < 1.0 {
        let text = format!(
            "is {} packets; expected at least 1, or \"none\"",
            config.initial_ssthresh
        );
        return refuse("initial_ssthresh", text);
    }
    if config.ack.every == 0 {
        return refuse("ack_every", "is 0; expected at least 1".to_owned());
    }
    if config.maximum_segment == 0 {
        return refuse(
            "maximum_segment",
            "is 0 B; expected at least 1 B".to_owned(),
        );
    }
    if config.data_packet < config.maximum_segment {
        let text = format!(
            "is {} B, less than the payload in it; expected at least maximum_segment, {} B",
            config.data_packet, config.maximum_segment
        );
        return refuse("data_packet", text);
    }
    if config.ack_packet == 0 {
        return refuse("ack_packet", "is 0 B; expected at least 1 B".to_owned());
    }
    if config.minimum_rto == Time::ZERO {
        return refuse(
            "minimum_rto",
            "is zero; expected a time above zero".to_owned(),
        );
    }
    if config.initial_rto == Time::ZERO {
        return refuse(
            "initial_rto",
            "is zero; expected a time above zero".to_owned(),
        );
    }
    if config.maximum_rto < config.minimum_rto || config.maximum_rto < config.initial_rto {
        let text = format!(
            "is {}; expected at least minimum_rto, {}, and initial_rto, {}",
            config.maximum_rto, config.minimum_rto, config.initial_rto
        );
        return refuse("maximum_rto", text);
    }
    let window = match config.receive_window {
        ReceiveWindow::Unlimited => Bytes::MAX,
        ReceiveWindow::Connection(bytes) | ReceiveWindow::Subflow(bytes) => bytes,
    };
    if window.get() < u64::from(config.maximum_segment) {
        let text = format!(
            "is {window}, less than one segment; expected at least {} B",
            config.maximum_segment
        );
        return refuse("receive_window", text);
    }
    if config.failed_after == 0 {
        return refuse("failed_after", "is 0; expected at least 1".to_owned());
    }
    if config.reinject_after == Some(0) {
        return refuse(
            "reinject_after",
            "is 0; expected at least 1, or \"never\"".to_owned(),
        );
    }
    if config.slow_start_limit == Some(0) {
        return refuse(
            "slow_start_limit",
            "is 0; expected at least 1, or \"none\"".to_owned(),
        );
    }
    Ok(())
}

impl From<&Config> for TransportTable {
    /// Every value written out.
    fn from(config: &Config) -> TransportTable {
        let AckPolicy {
            every,
            timeout,
            at_first,
            at_mark_change,
        } = config.ack;
        let size = |size: u16| Some(BytesText(Bytes::new(u64::from(size))));
        TransportTable {
            preset: None,
            recovery: Some(match config.recovery {
                Recovery::Sack => RecoveryName::Sack,
                Recovery::NewReno => RecoveryName::NewReno,
                Recovery::Reno => RecoveryName::Reno,
            }),
            limited_transmit: Some(config.limited_transmit),
            reduction: Some(match config.reduction {
                Reduction::AtOnce => ReductionName::AtOnce,
                Reduction::Proportional => ReductionName::Prr,
            }),
            growth_in_cut_round: Some(config.growth_in_cut_round),
            growth_by_marked_acks: Some(config.growth_by_marked_acks),
            ssthresh_from: Some(match config.ssthresh_from {
                SsthreshFrom::Flight => SsthreshFromName::Flight,
                SsthreshFrom::Window => SsthreshFromName::Window,
            }),
            initial_window: Some(config.initial_window),
            initial_ssthresh: Some(SsthreshText(
                config
                    .initial_ssthresh
                    .is_finite()
                    .then_some(PacketsOrBytes::Packets(config.initial_ssthresh)),
            )),
            minimum_window: Some(config.minimum_window),
            minimum_rto: Some(TimeText(config.minimum_rto)),
            initial_rto: Some(TimeText(config.initial_rto)),
            maximum_rto: Some(TimeText(config.maximum_rto)),
            ack_every: Some(every),
            ack_timeout: Some(TimeText(timeout)),
            ack_at_first: Some(at_first),
            ack_at_mark_change: Some(at_mark_change),
            maximum_segment: size(config.maximum_segment),
            data_packet: size(config.data_packet),
            ack_packet: size(config.ack_packet),
            receive_window: Some(WindowText(config.receive_window)),
            handshake: Some(match config.handshake {
                Handshake::Syn => HandshakeName::Syn,
                Handshake::SynNeverLost => HandshakeName::SynNeverLost,
                Handshake::None => HandshakeName::None,
            }),
            join_spread: Some(TimeText(match config.joins {
                Joins::AfterHandshake => Time::ZERO,
                Joins::WithinAfterHandshake(spread) => spread,
            })),
            scheduler: Some(match config.scheduler {
                SegmentScheduler::RoundRobin => SchedulerName::RoundRobin,
                SegmentScheduler::LowestRtt => SchedulerName::LowestRtt,
            }),
            // Only where it is set: the others' hashes stay what they were before it was known.
            ecn_on_all_packets: config.ecn_on_all_packets.then_some(true),
            ecn: Some(match config.ecn {
                EcnUse::ByController => EcnName::ByController,
                EcnUse::On => EcnName::On,
                EcnUse::Off => EcnName::Off,
            }),
            failed_after: Some(config.failed_after),
            reinject_after: Some(CountOrNever(config.reinject_after)),
            slow_start_limit: Some(CountOrNone(config.slow_start_limit)),
            count: Some(if config.count_acks {
                CountName::Acks
            } else {
                CountName::Packets
            }),
        }
    }
}
