//! Traffic groups: patterns, sizes, flows.

use super::{CollectiveTable, ControllerTable, GoalTable, NoOptions, TraceTable, TransportTable};
use crate::read::tagged;
use crate::text::{BytesText, Either, RateText, TimeRangeText, TimeText};
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
    #[serde(default = "zero")]
    pub start: TimeText,
    /// From when on nothing new starts and flows stop sending. Default: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<TimeText>,
}

tagged! {
    /// Which hosts talk to which, and when.
    pub(crate) enum PatternTable by "pattern" {
        /// Each host sends to one random other host and receives from one; when all are done, a new permutation begins.
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
        /// Clients ask a random server, wait for its answer, and ask again.
        "request-response" => RequestResponse(RequestResponseTable),
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
    /// The pairs of every round: part of a permutation that groups share. In place of `hosts`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<PairsTable>,
}

/// Pairs of one random permutation, in which every host sends to one other host and receives from one. All groups that
/// name the same hosts share the permutation.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PairsTable {
    /// The hosts of the permutation.
    pub permutation: HostsText,
    /// The first of the pairs, counted from 0 in random order, and the one after the last.
    pub part: (u32, u32),
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
    /// Jobs under way at a time: each starts when another has ended. Default 8. Give this, or one of the next two, with which
    /// jobs arrive by a Poisson process, however many are under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u32>,
    /// Jobs per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs_per_second: Option<f64>,
    /// Mean utilisation that requests and answers offer to the links of `layer` that they use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// The layer that `load` is a share of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<String>,
    /// What `load` counts.
    #[serde(default, skip_serializing_if = "LoadCounts::is_payload")]
    pub load_counts: LoadCounts,
    /// Servers that a job asks.
    #[serde(default = "eight")]
    pub servers: u32,
    /// Size of a request. With "0 B" servers answer when the job starts.
    #[serde(default = "request")]
    pub request: BytesText,
    /// Size of an answer.
    #[serde(default = "response")]
    pub response: BytesText,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequestResponseTable {
    /// The hosts that ask. Default all.
    #[serde(default = "all")]
    pub clients: HostsText,
    /// The hosts that may be asked. Default all.
    #[serde(default = "all")]
    pub servers: HostsText,
    /// Exchanges that a client has under way or thinks about.
    #[serde(default = "one")]
    pub outstanding: u32,
    /// Size of a request.
    #[serde(default = "request")]
    pub request: BytesText,
    /// Size of an answer.
    #[serde(default = "response")]
    pub response: BytesText,
    /// How long a server takes from the end of a request to the start of its answer: a time, or a range from which it is drawn.
    #[serde(default = "no_time")]
    pub service_time: TimeRangeText,
    /// How long a client waits from the end of an answer to its next request: a time, or a range from which it is drawn.
    #[serde(default = "no_time")]
    pub think_time: TimeRangeText,
    /// Number of exchanges of all clients together. Default: without end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
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
    /// What `load` counts.
    #[serde(default, skip_serializing_if = "LoadCounts::is_payload")]
    pub load_counts: LoadCounts,
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
    /// Each flow is between one of these pairs: part of a permutation that groups share. In place of `sources`,
    /// `destinations` and `different_racks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<PairsTable>,
}

/// What a load counts.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LoadCounts {
    /// The sizes of the flows.
    #[default]
    Payload,
    /// What full data packets and their ACKs take on the wire.
    Wire,
}

impl LoadCounts {
    fn is_payload(&self) -> bool {
        *self == LoadCounts::Payload
    }
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

fn eight() -> u32 {
    8
}

fn zero() -> TimeText {
    TimeText(pathweave_units::Time::ZERO)
}

fn no_time() -> TimeRangeText {
    TimeRangeText::default()
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
