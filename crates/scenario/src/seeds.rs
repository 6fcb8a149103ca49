//! Which seeds are run.

use crate::diagnostics::Problem;
use crate::read::read;
use crate::text::Either;
use crate::tree::{Node, Place};
use std::collections::HashSet;

/// Most seeds of one scenario.
const MOST_SEEDS: u32 = 100_000;

/// The seeds to run; none when they are wrong.
pub(crate) fn choose_seeds(
    root: &Node,
    wanted: Option<(u32, Place)>,
    problems: &mut Vec<Problem>,
) -> Vec<u64> {
    let seed = root.child("seed");
    let given: Either<u64, Vec<u64>> = match seed {
        None => Either::One(1),
        Some(node) => match read("seed", node, problems) {
            Some(seeds) => seeds,
            None => return Vec::new(),
        },
    };
    let place = root.place_of(&["seed"]);
    let in_file: Option<(u32, Place)> = match root.child("seeds") {
        None => None,
        Some(node) => match read("seeds", node, problems) {
            Some(count) => Some((count, node.place)),
            None => return Vec::new(),
        },
    };
    let seeds = given.as_slice();
    if seeds.is_empty() {
        problems
            .push(Problem::new(place, "the list of seeds is empty").help("give at least one seed"));
        return Vec::new();
    }
    let mut listed_seeds = HashSet::new();
    for (index, seed) in seeds.iter().enumerate() {
        if !listed_seeds.insert(*seed) {
            let place = root.place_of(&["seed", &index.to_string()]);
            problems.push(
                Problem::new(place, format!("the seed {seed} is listed twice"))
                    .help("the same seed gives the same run; list each once"),
            );
            return Vec::new();
        }
    }
    if let (Some((_, place)), Either::Many(_)) = (in_file, &given) {
        problems.push(
            Problem::new(place, "seeds counts from a single seed, but seed is a list")
                .help("give a list of seeds, or one seed and their number"),
        );
        return Vec::new();
    }
    let listed = u32::try_from(seeds.len()).unwrap_or(u32::MAX);
    let (count, count_place) = wanted.or(in_file).unwrap_or((listed, place));
    if count == 0 || count > MOST_SEEDS {
        problems.push(
            Problem::new(count_place, format!("{count} seeds cannot be run"))
                .help(format!("expected 1 to {MOST_SEEDS}")),
        );
        return Vec::new();
    }
    // Beyond a list the seeds count on from its last, past those that it has.
    let last = seeds[seeds.len() - 1];
    let further = (1..)
        .map(|step| last.wrapping_add(step))
        .filter(|seed| !listed_seeds.contains(seed));
    seeds
        .iter()
        .copied()
        .chain(further)
        .take(count as usize)
        .collect()
}
