//! Traffic groups: patterns, sizes, flows.

use super::{ControllerTable, NoOptions, TransportTable};
use crate::patterns::PatternTable;
use crate::read::tagged;
use crate::text::{BytesText, Either, RateText, TimeText};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A group of flows that share a pattern, sizes, a transport and a controller.
#[derive(Clone, Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
pub(crate) struct GroupTable {
    #[serde(flatten)]
    pub keys: GroupKeys,
    #[serde(flatten)]
    pub pattern: PatternTable,
}

impl GroupTable {
    /// The group's controller and those of its listed flows.
    pub fn controllers(&self) -> impl Iterator<Item = &ControllerTable> {
        let flows = match &self.pattern {
            PatternTable::Flows(table) => &table.flows[..],
            _ => &[],
        };
        let own = flows.iter().filter_map(|flow| flow.controller.as_ref());
        self.keys.controller.iter().chain(own)
    }
}

/// What every traffic group has.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub(crate) struct GroupKeys {
    /// Unique name: letters, digits, "-" and "_".
    pub name: String,
    /// `false` leaves the group out: for groups that only some variants have.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// How much a flow sends: a size, "unlimited", or a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Either<SizeText, SizeTable>>")]
    pub size: Option<SizeTable>,
    /// The congestion controller: its name, or a table with its name and parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<ControllerTable>,
    /// Subflows of a connection.
    #[serde(default = "one")]
    pub subflows: u32,
    /// Sizes of data packets on the wire that do not end a flow: one, or a table. Default: the
    /// transport's `data_packet`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Either<BytesText, PacketsTable>>")]
    pub packets: Option<PacketsTable>,
    /// Payload per second that a flow's application writes: the flow has data to send only as it is written. Default: all is there
    /// when the flow starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateText>,
    /// How much the application writes at a time, with `rate`. Default: a packet's payload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<BytesText>,
    /// What this group's transport has different from `[transport]`.
    #[serde(default)]
    pub transport: TransportTable,
    /// When the pattern begins. Not for listed flows, which have their own times.
    #[serde(default)]
    pub start: TimeText,
    /// From when on nothing new starts and flows stop sending. Default: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<TimeText>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FlowsTable {
    /// The flows.
    pub flows: Vec<FlowTable>,
}

/// One listed flow.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FlowTable {
    /// Unique name in its group. Default: flow-1, flow-2, ...
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The sending host.
    pub from: String,
    /// The receiving host.
    pub to: String,
    /// How much it sends. Default: the group's size.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Either<SizeText, SizeTable>>")]
    pub size: Option<SizeTable>,
    /// When it starts.
    #[serde(default)]
    pub start: TimeText,
    /// When it stops sending. Default: when it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<TimeText>,
    /// Its number of subflows. Default: as many as `paths` or `subflow_starts` has, or the group's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subflows: Option<u32>,
    /// When each subflow opens, from the start of the run. Default: as the transport says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subflow_starts: Vec<TimeText>,
    /// The path of each subflow by the names of its nodes; the two hosts may be left out. One path
    /// serves all subflows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<Vec<String>>,
    /// The path of each subflow's acknowledgements, from the receiving host to the sending one, written
    /// as `paths` are. One path serves all subflows. Default: the reverse of `paths`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ack_paths: Vec<Vec<String>>,
    /// Its controller. Default: the group's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<ControllerTable>,
}

tagged! {
    /// How much a flow sends.
    pub(crate) enum SizeTable by "kind", text SizeTable::from_text,
        "a size such as \"64 KB\", \"unlimited\", or a table with kind = fixed, uniform, pareto, cdf or unlimited"
    {
        /// All alike.
        "fixed" => Fixed(FixedTable),
        /// Every size between two is equally likely.
        "uniform" => Uniform(UniformTable),
        /// Pareto.
        "pareto" => Pareto(ParetoTable),
        /// Points of a cumulative distribution, by name, from a file, or written out.
        "cdf" => Cdf(CdfTable),
        /// Sends until it is stopped.
        "unlimited" => Unlimited(NoOptions),
    }
}

tagged! {
    /// How large data packets are.
    pub(crate) enum PacketsTable by "kind", text PacketsTable::from_text,
        "a size such as \"100 B\", or a table with kind = fixed or cdf"
    {
        /// All alike.
        "fixed" => Fixed(FixedTable),
        /// Points of a cumulative distribution, from a file or written out.
        "cdf" => Cdf(PacketCdfTable),
    }
}

impl PacketsTable {
    fn from_text(text: &str) -> Result<PacketsTable, String> {
        let bytes = text.parse().map_err(|error| format!("{error}"))?;
        Ok(PacketsTable::Fixed(FixedTable {
            bytes: BytesText(bytes),
        }))
    }
}

/// The short form of a size, for the schema: it is read as a [`SizeTable`].
#[derive(Serialize)]
struct SizeText;

impl JsonSchema for SizeText {
    fn schema_name() -> Cow<'static, str> {
        "SizeText".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let bytes = generator.subschema_for::<BytesText>();
        json_schema!({
            "description": "A size that all flows have, or \"unlimited\".",
            "anyOf": [{ "const": "unlimited" }, bytes],
        })
    }
}

impl SizeTable {
    fn from_text(text: &str) -> Result<SizeTable, String> {
        if text == "unlimited" {
            return Ok(SizeTable::Unlimited(NoOptions {}));
        }
        match text.parse() {
            Ok(bytes) => Ok(SizeTable::Fixed(FixedTable {
                bytes: BytesText(bytes),
            })),
            Err(error) => Err(format!("{error}, or write \"unlimited\"")),
        }
    }
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FixedTable {
    /// The size.
    pub bytes: BytesText,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UniformTable {
    /// Smallest size.
    pub min: BytesText,
    /// Largest size.
    pub max: BytesText,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ParetoTable {
    /// Tail exponent, above 1.
    pub shape: f64,
    /// Mean before `maximum` acts.
    pub mean: BytesText,
    /// Largest size. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<BytesText>,
    /// What becomes of larger ones.
    #[serde(default)]
    pub beyond: BeyondName,
}

/// What becomes of sizes above the maximum.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum BeyondName {
    /// They are drawn again.
    #[default]
    Redraw,
    /// They are cut to the maximum.
    Clip,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CdfTable {
    /// One that comes with Pathweave. Give this, or one of the next two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A file of lines "bytes,probability" or "bytes probability", relative to the scenario's folder. Probabilities end at 1, or at
    /// 100 where they are in percent.
    #[serde(skip_serializing)]
    pub file: Option<String>,
    /// The points themselves: [bytes, probability] pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<(f64, f64)>>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PacketCdfTable {
    /// A file of lines "bytes,probability" or "bytes probability", relative to the scenario's folder. Probabilities end at 1, or at
    /// 100 where they are in percent. Give this, or the next.
    #[serde(skip_serializing)]
    pub file: Option<String>,
    /// The points themselves: [bytes, probability] pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<(f64, f64)>>,
}

fn yes() -> bool {
    true
}

fn one() -> u32 {
    1
}
