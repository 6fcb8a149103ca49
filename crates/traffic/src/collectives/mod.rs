//! Collective operations as graphs of tasks, one algorithm a file.
//!
//! A graph has one task of computing for each rank, which all that the rank sends first waits for, and the
//! transfers of the algorithm. What a rank sends to one other rank, it sends one after the other: it is one
//! connection. `bytes` is the larger of a rank's buffers, as NCCL's tests count it.

mod all_to_all;
mod making;
mod pipeline;
mod ring;
mod shape;
mod tree;

pub use making::Moved;
pub use shape::{OPERATIONS, Operation, Schedule, Shape};

use crate::TrafficError;
use crate::tasks::Graph;
use making::Making;
use pathweave_units::Bytes;

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
