//! Reduce-scatter and all-gather on a ring, and all-reduce as one after the other.
//!
//! Patarasu and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 2009. With n
//! ranks the buffer has n pieces. In each step every rank sends one piece to its right neighbour and receives
//! another one from its left. In step s of a reduce-scatter rank i sends piece i - 1 - s, to which it has added
//! its own, so that after n - 1 steps it has all of piece i. An all-gather moves complete pieces the same way:
//! rank i sends piece i - s.

use super::{Making, Shape};

/// One way around the ring.
#[derive(Clone, Copy)]
pub(super) struct Phase {
    /// The piece that rank i sends first is i less this.
    first: u32,
    /// Whether pieces are added to those of the receiver.
    added: bool,
    /// Whether the pieces that are sent first are those that came last in the phase before.
    goes_on: bool,
}

impl Phase {
    pub const REDUCE: Phase = Phase {
        first: 1,
        added: true,
        goes_on: false,
    };
    pub const GATHER: Phase = Phase {
        first: 0,
        added: false,
        goes_on: false,
    };
    pub const GATHER_REDUCED: Phase = Phase {
        goes_on: true,
        ..Phase::GATHER
    };
}

/// The n - 1 steps of a phase. A rank's transfers go one after the other: what it sends in a step waits for what it
/// sent before, and for the same part of the piece to have come.
pub(super) fn steps(shape: &Shape, phase: Phase, making: &mut Making) {
    let (ranks, chunks) = (shape.ranks, shape.chunks);
    let parts = u64::from(ranks) * u64::from(chunks);
    // By rank and chunk, what it sent in the step before.
    let mut before: Vec<Option<u32>> = vec![None; ranks as usize * chunks as usize];
    if phase.goes_on {
        let sent = making.moved.len() - before.len();
        let last = making.moved[sent..].iter();
        before = last.map(|moved| Some(moved.task)).collect();
    }
    // By rank, the last that it sent.
    let last = |rank: u32| before[((rank + 1) * chunks - 1) as usize];
    let mut latest: Vec<Option<u32>> = (0..ranks).map(last).collect();
    for step in 0..ranks - 1 {
        let mut now = Vec::with_capacity(before.len());
        for rank in 0..ranks {
            let (left, right) = ((rank + ranks - 1) % ranks, (rank + 1) % ranks);
            let piece = (rank + 2 * ranks - phase.first - step) % ranks;
            for chunk in 0..chunks {
                let came = before[(left * chunks + chunk) as usize];
                let came = came.unwrap_or(making.computed[rank as usize]);
                let part = piece * chunks + chunk;
                let bytes = shape.piece(u64::from(part), parts);
                let after = std::iter::once(came).chain(latest[rank as usize]);
                let task = making.send((rank, right), bytes, (part, phase.added), after);
                latest[rank as usize] = Some(task);
                now.push(Some(task));
            }
        }
        before = now;
    }
}
