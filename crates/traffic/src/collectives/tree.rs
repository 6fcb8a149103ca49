//! All-reduce by two binary trees.
//!
//! Sanders, Speck and Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan", Parallel
//! Computing 2009, in the form that NCCL has had since its version 2.4 (`ncclGetBtree` and `ncclGetDtree` in
//! `src/graph/trees.cc`): the leaves of one tree are the inner ranks of the other, so that all ranks send and
//! receive alike. Each tree has one half of the buffer: it adds up towards its root, then the root's sum goes down.

use super::{Making, Shape};

/// Both halves of the buffer.
pub(super) fn all_reduce(shape: &Shape, making: &mut Making) {
    let parents = [first_tree(shape.ranks), second_tree(shape.ranks)];
    for (half, parents) in (0u32..).zip(&parents) {
        one_tree(shape, half, parents, making);
    }
}

fn one_tree(shape: &Shape, half: u32, parents: &[Option<u32>], making: &mut Making) {
    let (ranks, chunks) = (shape.ranks as usize, shape.chunks);
    let parts = 2 * u64::from(chunks);
    let mut children = vec![Vec::new(); ranks];
    for (rank, parent) in (0u32..).zip(parents) {
        if let Some(parent) = *parent {
            children[parent as usize].push(rank);
        }
    }
    let downwards = from_the_root(parents, &children);
    // By rank, the last that it sent up, and that its parent sent down to it.
    let mut sent_up: Vec<Option<u32>> = vec![None; ranks];
    let mut sent_down: Vec<Option<u32>> = vec![None; ranks];
    for chunk in 0..chunks {
        let part = half * chunks + chunk;
        let bytes = shape.piece(u64::from(part), parts);
        // By rank, what came down to it.
        let mut came_down: Vec<Option<u32>> = vec![None; ranks];
        let mut root_waits = Vec::new();
        for &rank in downwards.iter().rev() {
            let own = making.computed[rank as usize];
            let came = children[rank as usize].iter();
            let came = came.filter_map(|&child| sent_up[child as usize]);
            let after: Vec<u32> = std::iter::once(own).chain(came).collect();
            match parents[rank as usize] {
                Some(parent) => {
                    let after = after.into_iter().chain(sent_up[rank as usize]);
                    let task = making.send((rank, parent), bytes, (part, true), after);
                    sent_up[rank as usize] = Some(task);
                }
                None => root_waits = after,
            }
        }
        for &rank in &downwards {
            for &child in &children[rank as usize] {
                let came = came_down[rank as usize];
                let after = match came {
                    Some(came) => vec![came],
                    None => root_waits.clone(),
                };
                let after = after.into_iter().chain(sent_down[child as usize]);
                let task = making.send((rank, child), bytes, (part, false), after);
                came_down[child as usize] = Some(task);
                sent_down[child as usize] = Some(task);
            }
        }
    }
}

/// The ranks in an order in which parents come before their children.
fn from_the_root(parents: &[Option<u32>], children: &[Vec<u32>]) -> Vec<u32> {
    let ranks = 0u32..;
    let root = ranks.zip(parents).find(|(_, parent)| parent.is_none());
    let mut order: Vec<u32> = root.map(|(rank, _)| rank).into_iter().collect();
    let mut next = 0;
    while let Some(&rank) = order.get(next) {
        order.extend(&children[rank as usize]);
        next += 1;
    }
    order
}

/// By rank, its parent in the first tree, whose root is rank 0. A rank's lowest bit that is 1 is its height;
/// odd ranks are leaves.
fn first_tree(ranks: u32) -> Vec<Option<u32>> {
    let parent = |rank: u32| {
        let bit = rank & rank.wrapping_neg();
        let up = (rank ^ bit) | (bit << 1);
        if up >= ranks { rank ^ bit } else { up }
    };
    let each = 0..ranks;
    each.map(|rank| (rank > 0).then(|| parent(rank))).collect()
}

/// By rank, its parent in the second tree: the first one mirrored, or moved on by one rank where their number is
/// odd.
fn second_tree(ranks: u32) -> Vec<Option<u32>> {
    let first = first_tree(ranks);
    let there = |rank: u32| {
        if ranks.is_multiple_of(2) {
            ranks - 1 - rank
        } else {
            (rank + ranks - 1) % ranks
        }
    };
    let back = |place: u32| {
        if ranks.is_multiple_of(2) {
            ranks - 1 - place
        } else {
            (place + 1) % ranks
        }
    };
    let each = 0..ranks;
    each.map(|rank| first[there(rank) as usize].map(back))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tree that the comment above NCCL's `ncclGetBtree` draws, for 14 ranks.
    #[test]
    fn the_first_tree_is_that_of_nccl() {
        let parents = first_tree(14);
        let expected = [
            (8, 0),
            (4, 8),
            (12, 8),
            (2, 4),
            (6, 4),
            (10, 12),
            (13, 12),
            (1, 2),
            (3, 2),
            (5, 6),
            (7, 6),
            (9, 10),
            (11, 10),
        ];
        for (rank, parent) in expected {
            assert_eq!(parents[rank], Some(parent), "of {rank}");
        }
        assert_eq!(parents[0], None);
    }

    /// The leaves of a tree are the inner ranks of the other, and no rank has more than two children.
    #[test]
    fn inner_ranks_of_one_tree_are_leaves_of_the_other() {
        for ranks in 2..70u32 {
            let trees = [first_tree(ranks), second_tree(ranks)];
            let mut inner = vec![0; ranks as usize];
            for parents in &trees {
                let mut children = vec![0; ranks as usize];
                for parent in parents.iter().flatten() {
                    children[*parent as usize] += 1;
                }
                assert_eq!(parents.iter().filter(|parent| parent.is_none()).count(), 1);
                assert!(children.iter().all(|&count| count <= 2));
                for (inner, &count) in inner.iter_mut().zip(&children) {
                    *inner += u32::from(count > 0);
                }
            }
            let twice = |rank: &u32| inner[*rank as usize] > 1;
            let both: Vec<u32> = (0..ranks).filter(twice).collect();
            // Of an odd number of ranks the first is the root of one tree and an inner rank of the other.
            let expected: &[u32] = if ranks.is_multiple_of(2) { &[] } else { &[0] };
            assert_eq!(both, expected, "of {ranks}");
        }
    }
}
