//! Fabric and routing.

use super::{NoOptions, QueueTable};
use crate::read::tagged;
use crate::text::{BytesText, DelayText, Either, RateText, TimeText};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Hosts, switches, cables and their queues.
#[derive(Clone, Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
pub(crate) struct FabricTable {
    #[serde(flatten)]
    pub queues: QueuesTable,
    #[serde(flatten)]
    pub topology: TopologyTable,
}

/// The memory of every switch, shared by its ports: a port takes a packet while it holds less than `alpha`
/// times what is free.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SharedBufferTable {
    /// The memory of a switch.
    pub size: BytesText,
    /// Default 1.
    #[serde(default = "one_half_of_the_memory")]
    pub alpha: f64,
}

/// The alpha with which a lone busy port gets half of the memory, as commodity switches come.
fn one_half_of_the_memory() -> f64 {
    1.0
}

/// What every kind of fabric has.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(default)]
pub(crate) struct QueuesTable {
    /// The queue of every port.
    pub queue: QueueTable,
    /// The queues of the hosts' own ports; keys left out are as in `queue`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_queue: Option<QueueTable>,
    /// The queues of a layer's ports, by the layer's name; keys left out are as in `queue`.
    pub layer_queue: BTreeMap<String, QueueTable>,
    /// The memory that the ports of a switch share. Default: each port has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_buffer: Option<SharedBufferTable>,
    /// What is down for the whole run, which routing knows from the start: cables "A-B", or switches and hosts with all of their
    /// cables; one or a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub down: Option<Either<String, Vec<String>>>,
}

tagged! {
    /// The shape of a fabric and its options.
    pub(crate) enum TopologyTable by "kind" {
        /// Two switches A and B joined by one bottleneck, hosts S1.. on A and D1.. on B.
        "dumbbell" => Dumbbell(DumbbellTable),
        /// Senders S1.. and one receiver D1 on one switch A.
        "star" => Star(StarTable),
        /// Separate bottlenecks A1-B1, A2-B2, ...; every host has a port to each.
        "parallel-paths" => ParallelPaths(ParallelPathsTable),
        /// Bottlenecks A1-B1, ... in a ring; hosts Si and Di have ports to the i-th and the next.
        "ring" => Ring(RingTable),
        /// A list of nodes and cables.
        "graph" => Graph(GraphTable),
        /// A three-layer fat-tree of k-port switches with hosts h0, h1, ...
        "fat-tree" => FatTree(FatTreeTable),
        /// Leaves and spines, fully meshed, with hosts h0, h1, ...
        "leaf-spine" => LeafSpine(LeafSpineTable),
    }
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DumbbellTable {
    /// Number of hosts on the left, S1, S2, ...
    pub left: u32,
    /// Number of hosts on the right, D1, D2, ... Default: as many as on the left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right: Option<u32>,
    /// Rate of the bottleneck.
    pub bottleneck_rate: RateText,
    /// Delay of the bottleneck.
    pub bottleneck_delay: DelayText,
    /// Rate of the hosts' cables. Default: that of the bottleneck.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_rate: Option<RateText>,
    /// Delay of the hosts' cables. Default: that of the bottleneck.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_delay: Option<DelayText>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StarTable {
    /// Number of senders S1, S2, ...
    pub senders: u32,
    /// Rate of every cable.
    pub rate: RateText,
    /// Rate of the receiver's cable. Default: `rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receiver_rate: Option<RateText>,
    /// Delay of every cable.
    pub delay: DelayText,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ParallelPathsTable {
    /// Number of sender and receiver pairs S1, D1, ...
    #[serde(default = "one")]
    pub pairs: u32,
    /// Rate of each bottleneck.
    pub rates: Vec<RateText>,
    /// Delay of each bottleneck, or one delay for all.
    pub delays: Either<DelayText, Vec<DelayText>>,
    /// Rate of the hosts' cables. Default: the largest of `rates`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_rate: Option<RateText>,
    /// Delay of the hosts' cables.
    pub host_delay: DelayText,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RingTable {
    /// Rate of each bottleneck, at least two.
    pub rates: Vec<RateText>,
    /// Delay of each bottleneck, or one delay for all.
    pub delay: Either<DelayText, Vec<DelayText>>,
    /// Rate of the hosts' cables. Default: the largest of `rates`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_rate: Option<RateText>,
    /// Delay of the hosts' cables. Default: `delay`, or the first of the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_delay: Option<DelayText>,
    /// Number of background pairs S1b1, D1b1, ... on each bottleneck; missing entries mean none.
    #[serde(default)]
    pub background: Vec<u32>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GraphTable {
    /// The hosts: names, ranges such as "S1..S4", or tables with name, rack and pod.
    pub hosts: Vec<Either<String, GraphNodeTable>>,
    /// The switches, alike.
    #[serde(default)]
    pub switches: Vec<Either<String, GraphNodeTable>>,
    /// The cables: "A-B", or tables.
    pub cables: Vec<Either<String, CableTable>>,
    /// Rate of the cables that do not give their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateText>,
    /// Delay of the cables that do not give their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<DelayText>,
}

/// A node of a graph.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GraphNodeTable {
    /// Unique name, or a range such as "S1..S4".
    pub name: String,
    /// Its rack, for tables by location. Default: a host's first switch's; a switch is its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rack: Option<u32>,
    /// Its pod, for tables by location. Default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod: Option<u32>,
}

/// A cable of a graph.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CableTable {
    /// The two nodes it joins, "A-B".
    pub link: String,
    /// Rate of each direction. Default: the graph's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateText>,
    /// Delay. Default: the graph's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<DelayText>,
    /// Layer under which tables count it. Default "link".
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<String>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FatTreeTable {
    /// Ports of a switch, even.
    pub k: u32,
    /// Hosts on an edge switch. Default k/2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts_per_edge: Option<u32>,
    /// Rate of all cables, or of each layer's.
    pub rate: Either<RateText, LayerRates>,
    /// Delay of all cables, or of each layer's.
    pub delay: Either<DelayText, LayerDelays>,
}

/// Rates by layer.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LayerRates {
    /// Between hosts and edge switches.
    pub rack: RateText,
    /// Between edge and aggregation switches.
    pub aggregation: RateText,
    /// Between aggregation and core switches.
    pub core: RateText,
}

/// Delays by layer.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LayerDelays {
    /// Between hosts and edge switches.
    pub rack: DelayText,
    /// Between edge and aggregation switches.
    pub aggregation: DelayText,
    /// Between aggregation and core switches.
    pub core: DelayText,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LeafSpineTable {
    /// Number of leaf switches.
    pub leaves: u32,
    /// Number of spine switches.
    pub spines: u32,
    /// Hosts on a leaf.
    pub hosts_per_leaf: u32,
    /// Rate of the hosts' cables.
    pub host_rate: RateText,
    /// Rate of the cables between leaves and spines. Default: `host_rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uplink_rate: Option<RateText>,
    /// Delay of the hosts' cables.
    pub host_delay: DelayText,
    /// Delay of the cables between leaves and spines. Default: `host_delay`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uplink_delay: Option<DelayText>,
}

tagged! {
    /// How paths are chosen.
    pub(crate) enum RoutingTable by "kind" {
        /// Every switch hashes a subflow and picks one of the shortest next hops.
        "ecmp" => Ecmp(EcmpTable),
        /// Fat-trees only: a subflow's addresses pick its core switch.
        "two-level" => TwoLevel(NoOptions),
        /// Every packet takes one of the shortest paths at random.
        "spray" => Spray(SprayTable),
        /// Listed flows give their paths.
        "pinned" => Pinned(NoOptions),
        /// Switches tell each other of congestion and delay, and give each subflow the best port (FMPTCP
        /// paper).
        "fmp" => Fmp(FmpTable),
    }
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EcmpTable {
    /// Whether the subflows of a connection take different paths. Default false.
    #[serde(default)]
    pub distinct: bool,
    /// How long switches take to notice that a link went down or came back; then they hash over the
    /// shortest paths that are left. Default 10 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detection_delay: Option<TimeText>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SprayTable {
    /// How long switches take to notice that a link went down or came back; then packets are spread
    /// over the shortest paths that are left. Default 10 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detection_delay: Option<TimeText>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FmpTable {
    /// What a port adds to the congestion degree of the paths over it.
    #[serde(default, skip_serializing_if = "PriceName::is_occupancy")]
    pub price: PriceName,
    /// How often switches send feedback. Default 100 us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback_period: Option<TimeText>,
    /// A neighbour that sends nothing for longer counts as dead. Default three feedback periods.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silence_timeout: Option<TimeText>,
    /// A subflow that sends nothing for longer gets a new port. Default 1 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_expiry: Option<TimeText>,
}

/// What a port adds to the congestion degree of the paths over it: a share, zero for an idle port.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PriceName {
    /// Its queue when feedback comes, as a share of the limit (FMPTCP paper).
    #[default]
    Occupancy,
    /// The mean of its queue over the last feedback period, as a share of the limit, which has to be in packets.
    AveragedOccupancy,
    /// The packets that it marked in the last feedback period, as a share of all that were offered to it.
    Marks,
    /// What it sent in the last feedback period, as a share of what the link can carry.
    Utilisation,
}

impl PriceName {
    fn is_occupancy(&self) -> bool {
        *self == PriceName::Occupancy
    }
}

impl Default for RoutingTable {
    fn default() -> RoutingTable {
        RoutingTable::Ecmp(EcmpTable::default())
    }
}

fn one() -> u32 {
    1
}
