//! Collective operations, and what a graph of one is made of.

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
    pub(super) fn pieces(self, ranks: u32, chunks: u32) -> u64 {
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
