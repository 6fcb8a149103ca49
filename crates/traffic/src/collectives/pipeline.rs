//! Stages of a pipeline: activations go forward, gradients backward.
//!
//! Huang et al., "GPipe: Efficient training of giant neural networks using pipeline parallelism", NeurIPS 2019: all
//! micro-batches go forward through the stages, one after the other, and when the last one is through, all go back.
//! A stage computes for each micro-batch before it sends it on, in both directions.

use super::{Making, Shape};
use crate::tasks::Action;

/// A micro-batch has `bytes` between all stages, in both directions.
pub(super) fn pipeline(shape: &Shape, making: &mut Making) {
    let stages = shape.ranks;
    let there: Vec<u32> = (0..stages).collect();
    let back: Vec<u32> = (0..stages).rev().collect();
    let through = pass(shape, &there, &[], 0, making);
    // A barrier, so that backward work does not push in before forward work.
    let flushed = making.builder.task(Action::Join, through);
    pass(shape, &back, &[flushed], shape.chunks, making);
}

/// One direction. Gives what the last stage has computed.
fn pass(
    shape: &Shape,
    stages: &[u32],
    begin: &[u32],
    first_piece: u32,
    making: &mut Making,
) -> Vec<u32> {
    let mut through = Vec::new();
    let mut before: Vec<Option<u32>> = vec![None; stages.len()];
    for batch in 0..shape.chunks {
        let mut came: Option<u32> = None;
        for (place, &stage) in stages.iter().enumerate() {
            let after = came.into_iter().chain(begin.iter().copied());
            let action = Action::Compute {
                processor: stage,
                time: None,
            };
            let computed = making.builder.task(action, after);
            let Some(&next) = stages.get(place + 1) else {
                through.push(computed);
                continue;
            };
            let after = std::iter::once(computed).chain(before[place]);
            let piece = (first_piece + batch, false);
            let task = making.send((stage, next), shape.bytes, piece, after);
            before[place] = Some(task);
            came = Some(task);
        }
    }
    through
}
