//! Groups that share one permutation.

use crate::network::{KB, MS, hosts, program, run};
use pathweave_traffic::patterns::{Arrivals, Permutation, PermutationPart, Poisson};
use pathweave_traffic::{Event, FlowStart, Pattern, Program, Size};
use pathweave_units::Time;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn part(hosts: &[u32], part: std::ops::Range<u32>) -> PermutationPart {
    PermutationPart {
        hosts: Some(hosts.to_vec()),
        part,
    }
}

fn permutation(pairs: PermutationPart) -> Pattern {
    Pattern::Permutation(Permutation {
        pairs: Some(pairs),
        rounds: Some(1),
        ..Permutation::default()
    })
}

fn poisson(pairs: PermutationPart, arrivals: Arrivals, count: u64) -> Poisson {
    Poisson {
        arrivals,
        sources: None,
        destinations: None,
        different_racks: false,
        count: Some(count),
        pairs: Some(pairs),
    }
}

fn pairs(flows: impl IntoIterator<Item = FlowStart>) -> Vec<(u32, u32)> {
    let pair = |flow: FlowStart| (flow.source, flow.destination);
    flows.into_iter().map(pair).collect()
}

/// The pairs between which a program of this pattern starts flows when it begins.
fn started(pattern: Pattern, seed: u64, group: u64) -> Vec<(u32, u32)> {
    let size = Size::Unlimited;
    let mut program = Program::new(pattern, size, &hosts(64, 4), seed, group, None).unwrap();
    let mut starts = Vec::new();
    program.on(Event::Begin, Time::ZERO, &mut starts);
    pairs(starts)
}

/// At least two of 64 hosts, and the bounds of the parts that their permutation is cut into.
fn cut_permutations() -> impl Strategy<Value = (Vec<u32>, Vec<u32>)> {
    let hosts = prop::collection::btree_set(0..64_u32, 2..40);
    hosts
        .prop_flat_map(|hosts| {
            let hosts: Vec<u32> = hosts.into_iter().collect();
            let cuts = prop::collection::btree_set(1..hosts.len() as u32, 0..4);
            (Just(hosts).prop_shuffle(), cuts)
        })
        .prop_map(|(hosts, cuts)| {
            let ends = std::iter::once(0).chain(cuts);
            let ends = ends.chain(std::iter::once(hosts.len() as u32)).collect();
            (hosts, ends)
        })
}

proptest! {
    #[test]
    fn parts_are_disjoint_and_together_a_permutation_without_fixed_points(
        seed in any::<u64>(), (hosts, ends) in cut_permutations()
    ) {
        let parts = ends.windows(2).zip(0..);
        let all: Vec<(u32, u32)> = parts
            .flat_map(|(ends, group)| started(permutation(part(&hosts, ends[0]..ends[1])), seed, group))
            .collect();
        let sources: BTreeSet<u32> = all.iter().map(|pair| pair.0).collect();
        let destinations: BTreeSet<u32> = all.iter().map(|pair| pair.1).collect();
        let expected: BTreeSet<u32> = hosts.iter().copied().collect();
        prop_assert_eq!(all.len(), hosts.len());
        prop_assert_eq!(&sources, &expected);
        prop_assert_eq!(&destinations, &expected);
        prop_assert!(all.iter().all(|(from, to)| from != to));
    }

    /// The group's number, the order in which hosts are listed and the bounds of other parts do not matter.
    #[test]
    fn the_seed_and_the_hosts_alone_make_the_permutation(
        seed in any::<u64>(), group in 0..9_u64, (hosts, ends) in cut_permutations()
    ) {
        let whole = started(permutation(part(&hosts, 0..hosts.len() as u32)), seed, 0);
        let mut sorted = hosts;
        sorted.sort_unstable();
        for ends in ends.windows(2) {
            let own = started(permutation(part(&sorted, ends[0]..ends[1])), seed, group);
            prop_assert_eq!(&own[..], &whole[ends[0] as usize..ends[1] as usize]);
        }
    }
}

#[test]
fn seeds_have_their_own_permutations_in_which_any_pair_may_come_first() {
    let all: Vec<u32> = (0..4).collect();
    let mut first: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for seed in 0..12_000 {
        let pair = started(permutation(part(&all, 0..1)), seed, 0)[0];
        *first.entry(pair).or_default() += 1.0;
    }
    // Twelve pairs of four hosts: chi-square with 11 degrees of freedom stays below 31.3 with probability 0.999.
    assert_eq!(first.len(), 12);
    let chi_square: f64 = first.values().map(|n| (n - 1e3) * (n - 1e3) / 1e3).sum();
    assert!(chi_square < 31.3, "{chi_square}");
}

#[test]
fn every_round_has_the_same_pairs() {
    let pattern = Pattern::Permutation(Permutation {
        pairs: Some(PermutationPart {
            hosts: None,
            part: 3..8,
        }),
        rounds: Some(3),
        ..Permutation::default()
    });
    let flows = run(&mut program(pattern, &hosts(16, 4)), Time::MAX, |_| MS);
    let all = pairs(flows.into_iter().map(|(flow, _)| flow));
    assert_eq!(all.len(), 15);
    assert_eq!(all[..5], all[5..10]);
    assert_eq!(all[..5], all[10..]);
}

#[test]
fn arrivals_are_between_the_pairs_of_the_part() {
    let own = |part| PermutationPart { hosts: None, part };
    let pattern = poisson(own(6..16), Arrivals::PerSecond(1e5), 10_000);
    let flows = run(
        &mut program(Pattern::Poisson(pattern), &hosts(16, 4)),
        Time::MAX,
        |_| MS,
    );
    let mut counts: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for pair in pairs(flows.into_iter().map(|(flow, _)| flow)) {
        *counts.entry(pair).or_default() += 1.0;
    }
    let expected = own(6..16).draw(&hosts(16, 4), 1).unwrap();
    assert!(
        counts
            .keys()
            .copied()
            .eq(expected.into_iter().collect::<BTreeSet<_>>())
    );
    // Ten pairs: chi-square with 9 degrees of freedom stays below 27.9 with probability 0.999.
    let chi_square: f64 = counts.values().map(|n| (n - 1e3) * (n - 1e3) / 1e3).sum();
    assert!(chi_square < 27.9, "{chi_square}");
}

#[test]
fn a_rate_of_each_source_is_of_each_pair() {
    let own = PermutationPart {
        hosts: None,
        part: 6..16,
    };
    let pattern = poisson(own, Arrivals::PerSourcePerSecond(3.0), 1);
    assert_eq!(pattern.senders(16), 10);
    let rate = pattern.flows_per_second(&hosts(16, 4), &Size::Fixed(KB));
    assert_eq!(rate, Ok(30.0));
}
