//! Traffic groups: patterns, sizes, flows, controllers.

use super::{CollectiveTable, GoalTable, NoOptions, TraceTable, TransportTable};
use crate::read::tagged;
use crate::text::{BytesText, Either, TimeText};
use pathweave_control::Value as ParameterValue;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;
use std::borrow::Cow;
use std::fmt;

/// A group of flows that share a pattern, sizes, a transport and a controller.
#[derive(Clone, Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
pub(crate) struct GroupTable {
    #[serde(flatten)]
    pub keys: GroupKeys,
    #[serde(flatten)]
    pub pattern: PatternTable,
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
    /// What this group's transport has different from `[transport]`.
    #[serde(default)]
    pub transport: TransportTable,
    /// When the pattern begins. Not for listed flows, which have their own times.
    #[serde(default = "zero")]
    pub start: TimeText,
    /// From when on nothing new starts and flows stop sending. Default: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<TimeText>,
}

tagged! {
    /// Which hosts talk to which, and when.
    pub(crate) enum PatternTable by "pattern" {
        /// Each host sends to one random other host and receives from one; then anew.
        "permutation" => Permutation(PermutationTable),
        /// Each host sends to a random host and picks again when done.
        "random" => Random(RandomTable),
        /// Jobs: one client asks several servers, each answers, then the next job starts.
        "incast" => Incast(IncastTable),
        /// Flows between random pairs that arrive by a Poisson process.
        "poisson" => Poisson(PoissonTable),
        /// Several hosts send to one, a fixed number of flows at a time.
        "many-to-one" => ManyToOne(ManyToOneTable),
        /// A flow at regular times from a random host of one set to a random host of another.
        "many-to-many" => ManyToMany(ManyToManyTable),
        /// Every period a burst of flows towards one host.
        "bursts" => Bursts(BurstsTable),
        /// Flows listed one by one.
        "flows" => Flows(FlowsTable),
        /// Jobs that compute and carry out a collective operation in turn.
        "collective" => Collective(CollectiveTable),
        /// Flows from a file.
        "trace" => Trace(TraceTable),
        /// Jobs that carry out a GOAL schedule.
        "goal" => Goal(GoalTable),
    }
}

/// Hosts by name, by range ("h0..h15", both ends included), or "all".
pub(crate) type HostsText = Either<String, Vec<String>>;

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PermutationTable {
    /// The hosts that take part. Default all.
    #[serde(default = "all")]
    pub hosts: HostsText,
    /// Number of permutations one after another. Default: without end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RandomTable {
    /// The hosts that send. Default all.
    #[serde(default = "all")]
    pub sources: HostsText,
    /// The hosts that may be picked. Default all.
    #[serde(default = "all")]
    pub destinations: HostsText,
    /// A host that receives this many flows of the group is not picked. Default: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_inbound: Option<u32>,
    /// Whether source and destination must stand in different racks.
    #[serde(default)]
    pub different_racks: bool,
    /// Flows that a source has under way at a time.
    #[serde(default = "one")]
    pub flows_per_host: u32,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct IncastTable {
    /// The hosts that jobs pick from. Default all.
    #[serde(default = "all")]
    pub hosts: HostsText,
    /// Jobs under way at a time.
    #[serde(default = "eight")]
    pub jobs: u32,
    /// Servers that a job asks.
    #[serde(default = "eight")]
    pub servers: u32,
    /// Size of a request.
    #[serde(default = "request")]
    pub request: BytesText,
    /// Size of an answer.
    #[serde(default = "response")]
    pub response: BytesText,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PoissonTable {
    /// Flows per second from all sources together. Give this, or one of the next two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows_per_second: Option<f64>,
    /// Flows per second from each source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows_per_second_per_source: Option<f64>,
    /// Mean utilisation that the flows offer to the links of `layer` that they use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// The layer that `load` is a share of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<String>,
    /// The hosts that send. Default all.
    #[serde(default = "all")]
    pub sources: HostsText,
    /// The hosts that receive. Default all.
    #[serde(default = "all")]
    pub destinations: HostsText,
    /// Whether source and destination must stand in different racks.
    #[serde(default)]
    pub different_racks: bool,
    /// Number of flows. Default: without end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ManyToOneTable {
    /// The host that receives.
    pub destination: String,
    /// The hosts that send. Default: all but the destination.
    #[serde(default = "all")]
    pub sources: HostsText,
    /// Flows under way at a time.
    pub concurrency: u32,
    /// Time from the end of a flow to the start of the next.
    #[serde(default = "zero")]
    pub gap: TimeText,
    /// Number of flows. Default: without end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ManyToManyTable {
    /// The hosts that send. Default all.
    #[serde(default = "all")]
    pub sources: HostsText,
    /// The hosts that receive. Default all.
    #[serde(default = "all")]
    pub destinations: HostsText,
    /// Number of flows. Default: without end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Time from one start to the next.
    pub gap: TimeText,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BurstsTable {
    /// The host that receives.
    pub destination: String,
    /// The hosts that send, in turn. Default: all but the destination.
    #[serde(default = "all")]
    pub sources: HostsText,
    /// Flows in a burst.
    pub flows: u32,
    /// Time from one start to the next within a burst.
    #[serde(default = "zero")]
    pub spacing: TimeText,
    /// Time from one burst to the next.
    pub period: TimeText,
    /// Number of bursts. Default: without end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bursts: Option<u64>,
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
    #[serde(default = "zero")]
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
    /// A file of lines "bytes,probability", relative to the scenario's folder.
    #[serde(skip_serializing)]
    pub file: Option<String>,
    /// The points themselves: [bytes, probability] pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<(f64, f64)>>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PacketCdfTable {
    /// A file of lines "bytes,probability", relative to the scenario's folder. Give this, or the next.
    #[serde(skip_serializing)]
    pub file: Option<String>,
    /// The points themselves: [bytes, probability] pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<(f64, f64)>>,
}

/// A controller's name and parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ControllerTable {
    pub name: String,
    pub parameters: Vec<(String, ParameterValue)>,
}

impl<'de> Deserialize<'de> for ControllerTable {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<ControllerTable, D::Error> {
        struct Shape;
        impl<'de> Visitor<'de> for Shape {
            type Value = ControllerTable;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a controller's name, or a table with its name and parameters")
            }
            fn visit_str<E: Error>(self, name: &str) -> Result<ControllerTable, E> {
                Ok(ControllerTable {
                    name: name.to_owned(),
                    parameters: Vec::new(),
                })
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ControllerTable, A::Error> {
                let mut name = None;
                let mut parameters = Vec::new();
                while let Some(key) = map.next_key::<String>()? {
                    if key == "name" {
                        name = Some(map.next_value()?);
                    } else {
                        parameters.push((key, map.next_value::<Parameter>()?.0));
                    }
                }
                let name = name.ok_or_else(|| A::Error::missing_field("name"))?;
                Ok(ControllerTable { name, parameters })
            }
        }
        reader.deserialize_any(Shape)
    }
}

struct Parameter(ParameterValue);

impl<'de> Deserialize<'de> for Parameter {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Parameter, D::Error> {
        struct Shape;
        impl<'de> Visitor<'de> for Shape {
            type Value = Parameter;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a text, or a list of numbers")
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Parameter, E> {
                Ok(Parameter(ParameterValue::Number(number as f64)))
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<Parameter, E> {
                Ok(Parameter(ParameterValue::Number(number)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Parameter, E> {
                Ok(Parameter(ParameterValue::Text(text.to_owned())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Parameter, A::Error> {
                let mut numbers = Vec::new();
                while let Some(number) = list.next_element()? {
                    numbers.push(number);
                }
                Ok(Parameter(ParameterValue::Numbers(numbers)))
            }
        }
        reader.deserialize_any(Shape)
    }
}

impl Serialize for ControllerTable {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        let mut map = writer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        for (name, value) in &self.parameters {
            match value {
                ParameterValue::Number(number) => map.serialize_entry(name, number)?,
                ParameterValue::Text(text) => map.serialize_entry(name, text)?,
                ParameterValue::Numbers(numbers) => map.serialize_entry(name, numbers)?,
            }
        }
        map.end()
    }
}

impl JsonSchema for ControllerTable {
    fn schema_name() -> Cow<'static, str> {
        "Controller".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = pathweave_control::registry()
            .iter()
            .map(|entry| entry.name)
            .collect();
        json_schema!({
            "description": "A controller's name, or a table with its name and parameters.",
            "anyOf": [
                { "enum": names },
                {
                    "type": "object",
                    "properties": { "name": { "enum": names } },
                    "required": ["name"],
                    "additionalProperties": {
                        "type": ["number", "string", "array"],
                        "items": { "type": "number" },
                    },
                },
            ],
        })
    }
}

/// A controller's name, or a table with its name and its own parameters, for editors.
pub(super) fn controller_schema() -> serde_json::Value {
    let registry = pathweave_control::registry();
    let names: Vec<&str> = registry.iter().map(|entry| entry.name).collect();
    let summaries: Vec<&str> = registry.iter().map(|entry| entry.summary).collect();
    let name = json!({ "type": "string", "enum": names, "enumDescriptions": summaries });
    let parameters: Vec<serde_json::Value> = registry
        .iter()
        .map(|entry| {
            let described = entry
                .parameters
                .iter()
                .map(|parameter| (parameter.name.to_owned(), parameter_schema(parameter)));
            let properties: serde_json::Map<_, _> = described.collect();
            let keys: Vec<&str> = properties
                .keys()
                .map(String::as_str)
                .chain(["name"])
                .collect();
            json!({
                "if": { "properties": { "name": { "const": entry.name } }, "required": ["name"] },
                "then": { "propertyNames": { "enum": keys }, "properties": properties },
            })
        })
        .collect();
    json!({
        "description": "A controller's name, or a table with its name and parameters.",
        "type": ["string", "object"],
        "examples": ["dctcp", { "name": "xmp", "beta": 4 }],
        "allOf": [
            { "if": { "type": "string" }, "then": name },
            {
                "if": { "type": "object" },
                "then": {
                    "properties": { "name": name },
                    "required": ["name"],
                    "allOf": parameters,
                },
            },
        ],
    })
}

/// What a controller's parameter accepts.
fn parameter_schema(parameter: &pathweave_control::Parameter) -> serde_json::Value {
    use pathweave_control::ParameterKind;
    let number = |minimum: f64, maximum: f64| {
        let mut schema = json!({ "type": "number" });
        for (key, bound) in [("minimum", minimum), ("maximum", maximum)] {
            if bound.is_finite() {
                schema[key] = json!(bound);
            }
        }
        schema
    };
    let mut schema = match parameter.kind {
        ParameterKind::Number {
            minimum,
            maximum,
            integer,
            ..
        } => {
            let mut schema = number(minimum, maximum);
            if integer {
                schema["type"] = json!("integer");
            }
            schema
        }
        ParameterKind::Choice(choices) => json!({ "type": "string", "enum": choices }),
        ParameterKind::PerSubflow {
            minimum, maximum, ..
        } => {
            let one = number(minimum, maximum);
            json!({
                "type": ["number", "array"],
                "allOf": [
                    { "if": { "type": "number" }, "then": one },
                    { "if": { "type": "array" }, "then": { "items": one, "minItems": 1 } },
                ],
            })
        }
        ParameterKind::ChoiceOrNumber {
            choices,
            minimum,
            maximum,
        } => json!({
            "type": ["string", "number"],
            "allOf": [
                { "if": { "type": "string" }, "then": { "enum": choices } },
                { "if": { "type": "number" }, "then": number(minimum, maximum) },
            ],
        }),
    };
    schema["description"] = json!(parameter.help);
    schema
}

fn yes() -> bool {
    true
}

fn one() -> u32 {
    1
}

fn eight() -> u32 {
    8
}

fn zero() -> TimeText {
    TimeText(pathweave_units::Time::ZERO)
}

fn request() -> BytesText {
    BytesText(pathweave_units::Bytes::new(2_000))
}

fn response() -> BytesText {
    BytesText(pathweave_units::Bytes::new(64_000))
}

pub(super) fn all() -> HostsText {
    Either::One("all".to_owned())
}
