//! Queues and marking.

use crate::read::tagged;
use crate::text::{PacketsOrBytes, QueueLimit};
use pathweave_network::{Limit, Marking, MarkingRule, QueueConfig, Threshold};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A port's queue.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct QueueTable {
    /// How much may wait, the packet in service not counted: packets, a size, or "none". Default 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<QueueLimit>,
    /// Which packets get a congestion mark. Default none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<MarkTable>,
    /// Whether packets that are not ECN-capable are dropped where others would be marked. Default:
    /// the preset's, no for most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drop_ecn_blind: Option<bool>,
}

tagged! {
    /// Which arriving packets get a congestion mark.
    pub(crate) enum MarkTable by "kind" {
        /// None.
        "none" => None(NoOptions),
        /// All that find more than K waiting.
        "step" => Step(StepTable),
        /// With a probability that grows linearly between two queue lengths.
        "linear" => Linear(LinearTable),
        /// With a probability equal to the share of the limit that waits (FCC's rule).
        "proportional" => Proportional(ProportionalTable),
        /// RED: as linear, by an average of the queue, with marks spread evenly.
        "red" => Red(RedTable),
    }
}

/// A kind without options.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoOptions {}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepTable {
    /// K: waiting packets, or a size.
    pub k: PacketsOrBytes,
    /// What happens at exactly K. Default: the preset's, above for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
}

/// Whether a queue exactly at the threshold marks.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Rule {
    /// Marks when more than K waits.
    Above,
    /// Marks when K or more waits.
    AtOrAbove,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LinearTable {
    /// Waiting packets up to which none is marked.
    pub from: f64,
    /// Waiting packets above which all are marked.
    pub to: f64,
    /// Probability at `to`.
    pub probability: f64,
}

/// Floyd and Jacobson 1993, whose recommendations the defaults are.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RedTable {
    /// Average queue up to which none is marked, in packets.
    #[serde(default = "red_from")]
    pub from: f64,
    /// Average queue above which all are marked, in packets. Equal to `from`, it makes a step.
    #[serde(default = "red_to")]
    pub to: f64,
    /// Probability at `to`, before marks are spread evenly.
    #[serde(default = "red_probability")]
    pub probability: f64,
    /// The part of the difference to the queue by which each arriving packet moves the average; 1 is the queue itself.
    #[serde(default = "red_weight")]
    pub weight: f64,
}

fn red_from() -> f64 {
    5.0
}

fn red_to() -> f64 {
    15.0
}

fn red_probability() -> f64 {
    0.02
}

fn red_weight() -> f64 {
    0.002
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProportionalTable {
    /// Share of the limit above which all are marked.
    #[serde(default = "high")]
    pub high: f64,
}

fn high() -> f64 {
    0.8
}

impl From<&QueueConfig> for QueueTable {
    fn from(queue: &QueueConfig) -> QueueTable {
        let limit = match queue.limit {
            Limit::None => QueueLimit::None,
            Limit::Packets(packets) => QueueLimit::Of(PacketsOrBytes::Packets(f64::from(packets))),
            Limit::Bytes(bytes) => QueueLimit::Of(PacketsOrBytes::Bytes(bytes)),
        };
        let mark = match queue.marking {
            Marking::None => MarkTable::None(NoOptions {}),
            Marking::Step { threshold, rule } => MarkTable::Step(StepTable {
                k: match threshold {
                    Threshold::Packets(packets) => PacketsOrBytes::Packets(packets),
                    Threshold::Bytes(bytes) => PacketsOrBytes::Bytes(bytes),
                },
                rule: Some(match rule {
                    MarkingRule::Above => Rule::Above,
                    MarkingRule::AtOrAbove => Rule::AtOrAbove,
                }),
            }),
            Marking::Linear {
                from,
                to,
                probability,
            } => MarkTable::Linear(LinearTable {
                from,
                to,
                probability,
            }),
            Marking::Red {
                from,
                to,
                probability,
                weight,
            } => MarkTable::Red(RedTable {
                from,
                to,
                probability,
                weight,
            }),
        };
        let drop_ecn_blind = Some(queue.drop_ecn_blind);
        QueueTable {
            limit: Some(limit),
            mark: Some(mark),
            drop_ecn_blind,
        }
    }
}
