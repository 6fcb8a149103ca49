//! Single elements of a random permutation, without storing it.

use pathweave_random::{hash, mix};

/// A number below `count` that depends on `bits` only, all equally likely.
#[inline]
pub(super) fn reduce(bits: u64, count: u64) -> u64 {
    ((u128::from(bits) * u128::from(count)) >> 64) as u64
}

/// The element at `index` of a permutation of 0, 1, ..., `count` - 1 chosen by `key`; all
/// permutations are equally likely. Takes time in proportion to `index` and no memory.
///
/// Fisher and Yates fill place 0, 1, 2, ... by exchanging place t with a random place s(t) >= t. What
/// ends up at `index` stood at s(index) before the last exchange; going back through the exchanges
/// finds where it came from.
pub(super) fn permuted(key: u64, count: u64, index: u64) -> u64 {
    debug_assert!(index < count);
    let exchanged = |place: u64| place + reduce(mix(hash(&[key, place])), count - place);
    let mut at = exchanged(index);
    for place in (0..index).rev() {
        if at == exchanged(place) {
            at = place;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::permuted;

    #[test]
    fn gives_every_element_once() {
        for count in 1..20 {
            for key in 0..50 {
                let mut seen = vec![false; count as usize];
                for index in 0..count {
                    let element = permuted(key, count, index) as usize;
                    assert!(!std::mem::replace(&mut seen[element], true));
                }
            }
        }
    }

    #[test]
    fn all_permutations_are_equally_likely() {
        // 24 permutations of four, 24,000 keys: chi-square with 23 degrees of freedom stays below 49.7
        // with probability 0.999.
        let mut counts = std::collections::BTreeMap::new();
        for key in 0..24_000 {
            let order: Vec<u64> = (0..4).map(|index| permuted(key, 4, index)).collect();
            *counts.entry(order).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 24);
        let chi_square: f64 = counts
            .values()
            .map(|&count| (f64::from(count) - 1000.0) * (f64::from(count) - 1000.0) / 1000.0)
            .sum();
        assert!(chi_square < 49.7, "{chi_square}");
    }
}
