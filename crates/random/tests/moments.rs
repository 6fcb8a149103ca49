//! The samplers against theory. Each bound is at least four standard errors wide; the streams are
//! fixed, so that a test that passes keeps passing.

use pathweave_random::{Stream, hash};
use proptest::prelude::*;

const DRAWS: usize = 200_000;

fn mean_and_variance(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    for value in values {
        count += 1.0;
        let off = value - mean;
        mean += off / count;
        squares += off * (value - mean);
    }
    (mean, squares / (count - 1.0))
}

/// Kolmogorov and Smirnov's distance times the square root of the number of draws; above 1.95 with
/// probability 0.001.
fn kolmogorov(mut values: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let count = values.len() as f64;
    let distances = values.iter().enumerate().map(|(index, &value)| {
        let expected = cdf(value);
        let (below, above) = (index as f64 / count, (index + 1) as f64 / count);
        (expected - below).max(above - expected)
    });
    distances.fold(0.0, f64::max) * count.sqrt()
}

#[test]
fn uniform() {
    let mut stream = Stream::new(7, "moments", 0);
    let values: Vec<f64> = (0..DRAWS).map(|_| stream.uniform()).collect();
    assert!(values.iter().all(|value| (0.0..1.0).contains(value)));
    let (mean, variance) = mean_and_variance(values.iter().copied());
    assert!((mean - 0.5).abs() < 0.003, "{mean}");
    assert!((variance - 1.0 / 12.0).abs() < 0.001, "{variance}");
    assert!(kolmogorov(values, |x| x) < 1.95);
}

#[test]
fn exponential() {
    let mut stream = Stream::new(7, "moments", 1);
    let values: Vec<f64> = (0..DRAWS).map(|_| stream.exponential(3.0)).collect();
    let (mean, variance) = mean_and_variance(values.iter().copied());
    assert!((mean - 3.0).abs() < 0.03, "{mean}");
    assert!((variance - 9.0).abs() < 0.3, "{variance}");
    assert!(kolmogorov(values, |x| 1.0 - libm::exp(-x / 3.0)) < 1.95);
}

#[test]
fn pareto() {
    let mut stream = Stream::new(7, "moments", 2);
    // Shape 3 has a variance, shape 1.5 has not and is compared as a distribution only.
    let values: Vec<f64> = (0..DRAWS).map(|_| stream.pareto(3.0, 2.0)).collect();
    let (mean, _) = mean_and_variance(values.iter().copied());
    assert!((mean - 3.0).abs() < 0.02, "{mean}");
    let values: Vec<f64> = (0..DRAWS).map(|_| stream.pareto(1.5, 2.0)).collect();
    assert!(kolmogorov(values, |x| 1.0 - libm::pow(2.0 / x, 1.5)) < 1.95);
}

#[test]
fn below_is_even() {
    let mut stream = Stream::new(7, "moments", 3);
    let mut counts = [0u32; 7];
    for _ in 0..70_000 {
        counts[stream.below(7) as usize] += 1;
    }
    let chi_square: f64 = counts
        .iter()
        .map(|&count| (f64::from(count) - 1e4) * (f64::from(count) - 1e4) / 1e4)
        .sum();
    // Six degrees of freedom: above 22.5 with probability 0.001.
    assert!(chi_square < 22.5, "{chi_square}");
}

#[test]
fn streams_are_unrelated() {
    // Neighbouring seeds, components and ids: no bit of one predicts that of another.
    let mut pairs = [
        (Stream::new(1, "a", 0), Stream::new(2, "a", 0)),
        (Stream::new(1, "a", 0), Stream::new(1, "b", 0)),
        (Stream::new(1, "a", 0), Stream::new(1, "a", 1)),
    ];
    for (first, second) in &mut pairs {
        let agreeing: u32 = (0..2_000)
            .map(|_| (!(first.bits() ^ second.bits())).count_ones())
            .sum();
        // 128,000 fair bits: standard deviation 179.
        assert!(agreeing.abs_diff(64_000) < 800, "{agreeing}");
    }
}

#[test]
fn hash_depends_on_order_and_length() {
    assert_ne!(hash(&[1, 2]), hash(&[2, 1]));
    assert_ne!(hash(&[1]), hash(&[1, 0]));
    assert_ne!(hash(&[0]), hash(&[0, 0]));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn between_stays_between(seed: u64, a: u64, b: u64) {
        let (low, high) = (a.min(b), a.max(b));
        let drawn = Stream::new(seed, "between", 0).between(low, high);
        prop_assert!(low <= drawn && drawn <= high);
    }

    #[test]
    fn shuffles_hold_everything(seed: u64, count in 0usize..200) {
        let mut order: Vec<u32> = (0..count as u32).collect();
        Stream::new(seed, "shuffle", 0).shuffle(&mut order);
        order.sort_unstable();
        prop_assert_eq!(order, (0..count as u32).collect::<Vec<_>>());
    }
}
