//! Topology builders, one shape a file. Each shape's options are a plain struct whose `build` gives
//! a [`Fabric`] or an error that names the option.

mod delay;
mod dumbbell;
mod fat_tree;
mod graph;
mod leaf_spine;
mod parallel_paths;
mod ring;
mod star;

pub use delay::Delay;
pub use dumbbell::Dumbbell;
pub use fat_tree::{FatTree, PerLayer};
pub use graph::{Graph, GraphCable, GraphNode};
pub use leaf_spine::LeafSpine;
pub use parallel_paths::ParallelPaths;
pub use ring::Ring;
pub use star::Star;

use crate::{Fabric, FabricError};
use pathweave_random::Stream;
use pathweave_units::Rate;

/// Any of the shapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topology {
    /// Two switches and one bottleneck between them.
    Dumbbell(Dumbbell),
    /// Several senders and one receiver on one switch.
    Star(Star),
    /// Separate bottlenecks between multihomed hosts.
    ParallelPaths(ParallelPaths),
    /// Bottlenecks in a ring, neighbours joined by multihomed hosts.
    Ring(Ring),
    /// A list of nodes and cables.
    Graph(Graph),
    /// A three-layer fat-tree of equal switches.
    FatTree(FatTree),
    /// Two layers, fully meshed.
    LeafSpine(LeafSpine),
}

/// The shapes by the names that scenarios use, with one line of help each.
pub const TOPOLOGIES: &[(&str, &str)] = &[
    (
        "dumbbell",
        "two switches joined by one bottleneck, hosts S1.. on the left and D1.. on the right",
    ),
    (
        "star",
        "senders S1.. and one receiver D1 on one switch; the receiver's cable is the bottleneck",
    ),
    (
        "parallel-paths",
        "separate bottlenecks; every sender S1.. and receiver D1.. has a port to each",
    ),
    (
        "ring",
        "bottlenecks in a ring; flow host Si and Di have ports to bottleneck i and the next",
    ),
    ("graph", "an explicit list of nodes and cables"),
    (
        "fat-tree",
        "k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 core switches, hosts h0..",
    ),
    (
        "leaf-spine",
        "every leaf switch has a cable to every spine switch, hosts h0..",
    ),
];

impl Topology {
    /// The name that scenarios use for it.
    pub fn name(&self) -> &'static str {
        let index = match self {
            Topology::Dumbbell(_) => 0,
            Topology::Star(_) => 1,
            Topology::ParallelPaths(_) => 2,
            Topology::Ring(_) => 3,
            Topology::Graph(_) => 4,
            Topology::FatTree(_) => 5,
            Topology::LeafSpine(_) => 6,
        };
        TOPOLOGIES[index].0
    }

    /// How many cables the fabric has, or nodes where it has more of these: what building it costs, without building
    /// it. Saturates.
    pub fn size(&self) -> u64 {
        let product = |factors: &[u32]| {
            let factors = factors.iter().map(|&factor| u64::from(factor));
            factors.fold(1, u64::saturating_mul)
        };
        let sum = |parts: &[u64]| {
            parts
                .iter()
                .fold(0, |sum: u64, &part| sum.saturating_add(part))
        };
        let (nodes, cables) = match self {
            Topology::Dumbbell(dumbbell) => {
                let hosts = u64::from(dumbbell.left) + u64::from(dumbbell.right);
                (hosts + 2, hosts + 1)
            }
            Topology::Star(star) => (u64::from(star.senders) + 2, u64::from(star.senders) + 1),
            Topology::ParallelPaths(paths) => {
                let (count, hosts) = (paths.rates.len() as u64, 2 * u64::from(paths.pairs));
                (hosts + 2 * count, count.saturating_mul(hosts + 1))
            }
            Topology::Ring(ring) => {
                let pairs: u64 = ring.background.iter().map(|&pairs| u64::from(pairs)).sum();
                let count = ring.rates.len() as u64;
                (4 * count + 2 * pairs, 5 * count + 2 * pairs)
            }
            Topology::Graph(graph) => (graph.nodes.len() as u64, graph.cables.len() as u64),
            Topology::FatTree(tree) => {
                let half = tree.k / 2;
                let hosts = product(&[tree.k, half, tree.hosts_per_edge.unwrap_or(half)]);
                (
                    sum(&[hosts, product(&[2, tree.k, half]), product(&[half, half])]),
                    sum(&[hosts, product(&[2, tree.k, half, half])]),
                )
            }
            Topology::LeafSpine(mesh) => {
                let hosts = product(&[mesh.leaves, mesh.hosts_per_leaf]);
                (
                    sum(&[hosts, u64::from(mesh.leaves), u64::from(mesh.spines)]),
                    sum(&[hosts, product(&[mesh.leaves, mesh.spines])]),
                )
            }
        };
        nodes.max(cables)
    }

    /// Builds the fabric. `seed` decides the delays that are drawn from a range.
    ///
    /// # Errors
    /// When an option is impossible; the text names it and says what would be accepted.
    pub fn build(&self, seed: u64) -> Result<Fabric, FabricError> {
        match self {
            Topology::Dumbbell(options) => options.build(seed),
            Topology::Star(options) => options.build(seed),
            Topology::ParallelPaths(options) => options.build(seed),
            Topology::Ring(options) => options.build(seed),
            Topology::Graph(options) => options.build(seed),
            Topology::FatTree(options) => options.build(seed),
            Topology::LeafSpine(options) => options.build(seed),
        }
    }
}

/// The stream that a topology's delays are drawn from.
fn delay_stream(seed: u64) -> Stream {
    Stream::new(seed, "fabric.delay", 0)
}

/// Refuses a count of zero, or one so large that it can only be a slip.
fn check_count(option: &str, value: u32) -> Result<(), FabricError> {
    const MOST: u32 = 100_000;
    if value == 0 || value > MOST {
        return Err(FabricError(format!(
            "{option} is {value}; it must be at least 1 and at most {MOST}"
        )));
    }
    Ok(())
}

/// Refuses a fabric larger than the simulator's node numbers are meant for.
fn check_total(what: &str, total: u64) -> Result<(), FabricError> {
    const MOST: u64 = 2_000_000;
    if total > MOST {
        return Err(FabricError(format!(
            "{what} is {total}; at most {MOST} are accepted"
        )));
    }
    Ok(())
}

/// Refuses a rate of zero.
fn check_rate(option: &str, rate: Rate) -> Result<(), FabricError> {
    if rate == Rate::ZERO {
        return Err(FabricError(format!(
            "{option} is zero; give a rate above zero, for example \"1 Gbps\""
        )));
    }
    Ok(())
}
