//! What surrounds the traffic: stop, measurement, recording, events.

use crate::text::BytesText;
use crate::text::{Either, MapText, RateText, SamplingText, TimeText};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Whether flow starts are put off at random.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Jitter {
    /// By a seeded time within one base RTT: flows that start in step stay in step.
    #[default]
    Rtt,
    /// Not at all.
    None,
}

/// When a run ends: at the first of the given conditions, or else when all flows have finished.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct StopTable {
    /// At this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<TimeText>,
    /// The group whose flows, bytes or jobs are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traffic: Option<String>,
    /// This many flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<u64>,
    /// This many bytes in flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<BytesText>,
    /// This many jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u64>,
    /// Whether what is under way is waited for: started flows count then, no new ones start from `at`
    /// on or when there are enough, and the run ends with the last one. Otherwise finished flows
    /// count and the run ends at once.
    pub drain: bool,
    /// The latest end of a run that drains. Default: it goes on until all flows have ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<TimeText>,
}

impl StopTable {
    /// When the run is over at the latest, whatever its flows do.
    pub fn end(&self) -> Option<TimeText> {
        if self.drain { self.limit } else { self.at }
    }

    /// The key that says so.
    pub fn end_key(&self) -> &'static str {
        if self.drain { "stop.limit" } else { "stop.at" }
    }
}

/// Which time tables cover.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct MeasureTable {
    /// Tables count from here.
    pub from: TimeText,
    /// Tables count to here. Default: the end of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<TimeText>,
    /// Further windows by name: [from, to].
    pub phases: BTreeMap<String, (TimeText, TimeText)>,
}

impl Default for MeasureTable {
    fn default() -> MeasureTable {
        let from = TimeText(pathweave_units::Time::ZERO);
        MeasureTable {
            from,
            to: None,
            phases: BTreeMap::new(),
        }
    }
}

/// What a report answers. No result depends on it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ReportTable {
    /// The question, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// What decides: a quantity, and what is taken of it, such as "goodput", "p99 fct" or "mean fct of small".
    /// Default: what the traffic suggests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantity: Option<String>,
    /// The name of the variant that the others are compared with, or a list of such names, each on an axis of its own.
    /// Default: the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Either<String, Vec<String>>>,
    /// The order of the variants. Default: merit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<ReportOrder>,
}

/// The order of variants in a report.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ReportOrder {
    /// The best first.
    Merit,
    /// As in the file.
    File,
}

/// Which series are recorded. Default: none.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RecordTable {
    /// Windows, ssthresh and smoothed RTTs of subflows: an interval, or "on-change".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windows: Option<SamplingText>,
    /// Round-trip times of subflows: an interval, or "on-change" for every sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtts: Option<SamplingText>,
    /// Delivery rates of subflows, averaged over this interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rates: Option<TimeText>,
    /// Waiting packets at ports, at this interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queues: Option<TimeText>,
    /// The links of `queues`: "A->B", "A-B" (both directions), the name of a layer, or "all".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<Either<String, Vec<String>>>,
    /// `true`: when controllers suspend subflows, and when they let them go on.
    #[serde(skip_serializing_if = "is_false")]
    pub suspensions: bool,
    /// Utilisation, queues, marks and losses of all links over this interval, for the report's map of the fabric;
    /// "auto" is 1/200 of `stop.at`, or 1 ms where the end is open, and no more than 1/20 of the time between two events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map: Option<MapText>,
    /// Flows whose packets are captured: "group/number", from 0, or the name of a listed flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<Either<String, Vec<String>>>,
}

/// A change of links at a given time.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventTable {
    /// When.
    pub at: TimeText,
    /// "A->B", or "A-B" for both directions; one or a list. Give this, `node` or `layer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<Either<String, Vec<String>>>,
    /// All links from and to a node, one or a list: a switch or a host that goes down and comes back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<Either<String, Vec<String>>>,
    /// All links of a layer, one or a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<Either<String, Vec<String>>>,
    /// They take this rate. Give this, or one of the next two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateText>,
    /// `true`: they go down.
    #[serde(default, skip_serializing_if = "is_false")]
    pub down: bool,
    /// `true`: they come back.
    #[serde(default, skip_serializing_if = "is_false")]
    pub up: bool,
    /// They lose packets with this probability, silently; 0 ends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
}

fn is_false(truth: &bool) -> bool {
    !truth
}
