//! Collective operations as graphs of tasks, one algorithm a file.
//!
//! A graph has one task of computing for each rank, which all that the rank sends first waits for, and the
//! transfers of the algorithm. What a rank sends to one other rank, it sends one after the other: it is one
//! connection. `bytes` is the larger of a rank's buffers, as NCCL's tests count it.

mod all_to_all;
mod pipeline;
mod ring;
mod tree;

use crate::TrafficError;
use crate::tasks::{Action, Builder, Graph};
use pathweave_units::Bytes;

/// A collective operation and the algorithm that carries it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Every rank ends up with the sum of all buffers; by a ring: reduce-scatter, then all-gather.
    RingAllReduce,
    /// The same by two binary trees, each for one half of the buffer.
    TreeAllReduce,
    /// Every rank ends up with the sum of one piece of all buffers, on a ring.
    ReduceScatter,
    /// Every rank ends up with the pieces of all ranks, on a ring.
    AllGather,
    /// Every rank sends a piece to every other one.
    AllToAll,
    /// Stages send activations forward and gradients backward to their neighbours.
    Pipeline,
}

/// The operations by the names that scenarios use, with one line of help each.
pub const OPERATIONS: &[(&str, Operation, &str)] = &[
    (
        "ring-all-reduce",
        Operation::RingAllReduce,
        "every rank ends up with the sum of all buffers: reduce-scatter and all-gather on a ring",
    ),
    (
        "tree-all-reduce",
        Operation::TreeAllReduce,
        "the same by two binary trees, each for one half of the buffer (Sanders et al., 2009)",
    ),
    (
        "reduce-scatter",
        Operation::ReduceScatter,
        "every rank ends up with the sum of one piece of all buffers, on a ring",
    ),
    (
        "all-gather",
        Operation::AllGather,
        "every rank ends up with the pieces of all ranks, on a ring",
    ),
    (
        "all-to-all",
        Operation::AllToAll,
        "every rank sends a piece to every other one, at once or in shifted rounds",
    ),
    (
        "pipeline",
        Operation::Pipeline,
        "stages send activations forward and gradients backward, micro-batch by micro-batch (GPipe)",
    ),
];

impl Operation {
    /// The name that scenarios use for it.
    pub fn name(self) -> &'static str {
        let known = OPERATIONS
            .iter()
            .find(|(_, operation, _)| *operation == self);
        known.map_or("", |(name, ..)| name)
    }

    /// Parts into which a transfer is cut unless said otherwise.
    pub fn usual_chunks(self) -> u32 {
        match self {
            Operation::TreeAllReduce => 8,
            Operation::Pipeline => 4,
            _ => 1,
        }
    }

    /// What the bytes of a rank's buffer are multiplied with, so that over the time that the operation took they
    /// give the rate of the busiest links in the best case: NCCL's tests call it bus bandwidth. A pipeline moves
    /// `chunks` micro-batches between neighbours, there and back.
    pub fn bus_factor(self, ranks: u32, chunks: u32) -> f64 {
        let ranks = f64::from(ranks);
        match self {
            Operation::RingAllReduce | Operation::TreeAllReduce => 2.0 * (ranks - 1.0) / ranks,
            Operation::ReduceScatter | Operation::AllGather | Operation::AllToAll => {
                (ranks - 1.0) / ranks
            }
            Operation::Pipeline => 2.0 * f64::from(chunks),
        }
    }

    /// Into how many pieces the buffer is cut at least, each of one byte or more.
    fn pieces(self, ranks: u32, chunks: u32) -> u64 {
        match self {
            Operation::TreeAllReduce => 2 * u64::from(chunks),
            Operation::Pipeline => 1,
            _ => u64::from(ranks) * u64::from(chunks),
        }
    }
}

/// In which order a rank of an all-to-all serves the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// All transfers begin together.
    #[default]
    AtOnce,
    /// In round k, rank i sends to rank i + k; its next round begins when it has sent and received this one's.
    Shifted,
}

/// What a graph is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The operation.
    pub operation: Operation,
    /// Number of ranks, at least 2.
    pub ranks: u32,
    /// The larger of a rank's buffers; of a pipeline, one micro-batch's activations.
    pub bytes: Bytes,
    /// Parts into which each transfer is cut, so that one part can go on while the next one comes; of a pipeline
    /// the number of micro-batches.
    pub chunks: u32,
    /// The order in an all-to-all.
    pub schedule: Schedule,
}

/// A part of the buffers: which one it is, for those who follow what becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The transfer's task.
    pub task: u32,
    /// The number of the piece of the buffer.
    pub piece: u32,
    /// Whether the receiver adds it to what it has; otherwise it takes its place.
    pub added: bool,
}

/// A graph, and what each of its transfers moves.
#[derive(Clone, Debug)]
pub struct Built {
    /// The tasks.
    pub graph: Graph,
    /// By transfer.
    pub moved: Vec<Moved>,
}

impl Shape {
    /// The graph of one iteration.
    ///
    /// # Errors
    /// When there are too few ranks or bytes, or too many tasks; the text names the option.
    pub fn graph(&self) -> Result<Graph, TrafficError> {
        Ok(self.build()?.graph)
    }

    /// Which ranks send to which, each pair once; `None` where the graph cannot be built.
    pub fn pairs(&self) -> Option<Vec<(u32, u32)>> {
        // Chunks cut transfers, which changes no pair.
        let chunks = 1;
        let bytes = Bytes::new(self.operation.pieces(self.ranks, chunks));
        let whole = Shape {
            chunks,
            bytes,
            ..*self
        };
        Some(whole.graph().ok()?.pairs())
    }

    /// The graph of one iteration, with what each transfer moves.
    ///
    /// # Errors
    /// As [`Shape::graph`].
    pub fn build(&self) -> Result<Built, TrafficError> {
        let refuse = |text: String| Err(TrafficError(text));
        if self.ranks < 2 {
            return refuse(format!(
                "group_size is {}; a collective needs at least 2 ranks",
                self.ranks
            ));
        }
        if self.chunks == 0 {
            return refuse("chunks is 0; it must be at least 1".to_owned());
        }
        let pieces = self.operation.pieces(self.ranks, self.chunks);
        if self.bytes.get() < pieces {
            return refuse(format!(
                "bytes is {}, which cannot be cut into {pieces} pieces; give at least one byte for each",
                self.bytes
            ));
        }
        let transfers = self.transfers();
        if transfers > MOST_TRANSFERS {
            return refuse(format!(
                "chunks and group_size make {transfers} transfers in an iteration; give fewer, at most {MOST_TRANSFERS}"
            ));
        }
        let mut making = match self.operation {
            // Its stages compute for each micro-batch.
            Operation::Pipeline => Making::new(0),
            _ => Making::new(self.ranks),
        };
        match self.operation {
            Operation::RingAllReduce => {
                ring::steps(self, ring::Phase::REDUCE, &mut making);
                ring::steps(self, ring::Phase::GATHER_REDUCED, &mut making);
            }
            Operation::ReduceScatter => ring::steps(self, ring::Phase::REDUCE, &mut making),
            Operation::AllGather => ring::steps(self, ring::Phase::GATHER, &mut making),
            Operation::TreeAllReduce => tree::all_reduce(self, &mut making),
            Operation::AllToAll => all_to_all::all_to_all(self, &mut making),
            Operation::Pipeline => pipeline::pipeline(self, &mut making),
        }
        Ok(Built {
            graph: making.builder.build()?,
            moved: making.moved,
        })
    }

    /// Transfers of one iteration.
    fn transfers(&self) -> u64 {
        let (ranks, chunks) = (u64::from(self.ranks), u64::from(self.chunks));
        let of_a_ring = ranks.saturating_mul(ranks - 1).saturating_mul(chunks);
        match self.operation {
            Operation::RingAllReduce => of_a_ring.saturating_mul(2),
            Operation::ReduceScatter | Operation::AllGather | Operation::AllToAll => of_a_ring,
            Operation::TreeAllReduce => (4 * (ranks - 1)).saturating_mul(chunks),
            Operation::Pipeline => (2 * (ranks - 1)).saturating_mul(chunks),
        }
    }

    /// The size of one of `of` pieces of the buffer; they differ by a byte at most.
    fn piece(&self, piece: u64, of: u64) -> Bytes {
        let bytes = u128::from(self.bytes.get());
        let up_to = |piece: u64| (bytes * u128::from(piece) / u128::from(of)) as u64;
        Bytes::new(up_to(piece + 1) - up_to(piece))
    }
}

/// Transfers of one iteration at most: all flows of a run are in memory.
const MOST_TRANSFERS: u64 = 50_000_000;

/// A graph in the making.
struct Making {
    builder: Builder,
    /// By rank, its computing before all else.
    computed: Vec<u32>,
    moved: Vec<Moved>,
}

impl Making {
    fn new(ranks: u32) -> Making {
        let mut builder = Builder::default();
        let computed = (0..ranks)
            .map(|processor| {
                let time = None;
                builder.task(Action::Compute { processor, time }, [])
            })
            .collect();
        Making {
            builder,
            computed,
            moved: Vec::new(),
        }
    }

    /// A transfer that waits for the end of these.
    fn send(
        &mut self,
        (from, to): (u32, u32),
        bytes: Bytes,
        (piece, added): (u32, bool),
        after: impl IntoIterator<Item = u32>,
    ) -> u32 {
        let task = self.builder.task(Action::Send { from, to, bytes }, after);
        self.moved.push(Moved { task, piece, added });
        task
    }
}
