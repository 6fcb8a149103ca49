//! Every rank sends a piece of its buffer to every other one.

use super::{Making, Schedule, Shape};

/// Piece j of rank i's buffer goes to rank j. In both schedules rank i begins with rank i + 1.
pub(super) fn all_to_all(shape: &Shape, making: &mut Making) {
    let (ranks, chunks) = (shape.ranks, shape.chunks);
    let parts = u64::from(ranks) * u64::from(chunks);
    // By rank, the last that it sent in the round before.
    let mut before: Vec<Option<u32>> = vec![None; ranks as usize];
    for round in 1..ranks {
        let mut now = Vec::with_capacity(ranks as usize);
        for rank in 0..ranks {
            let to = (rank + round) % ranks;
            let own = making.computed[rank as usize];
            let mut after = vec![own];
            if shape.schedule == Schedule::Shifted && round > 1 {
                let from = (rank + ranks - (round - 1)) % ranks;
                after = [rank, from]
                    .into_iter()
                    .filter_map(|rank| before[rank as usize])
                    .collect();
            }
            let mut last = None;
            for chunk in 0..chunks {
                let part = to * chunks + chunk;
                let bytes = shape.piece(u64::from(part), parts);
                let after = after.iter().copied().chain(last);
                // Each rank's pieces are its own: those of rank i come after those of rank i - 1.
                let piece = rank * ranks * chunks + part;
                last = Some(making.send((rank, to), bytes, (piece, false), after));
            }
            now.push(last);
        }
        before = now;
    }
}
