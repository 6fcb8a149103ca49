//! Size distributions against theory.

use pathweave_random::Stream;
use pathweave_traffic::{Beyond, CDFS, Cdf, Size};
use pathweave_units::Bytes;
use proptest::prelude::*;

const DRAWS: usize = 200_000;

fn draws(size: &Size, seed: u64) -> Vec<f64> {
    let mut stream = Stream::new(seed, "sizes", 0);
    (0..DRAWS)
        .map(|_| size.draw(&mut stream).unwrap().get() as f64)
        .collect()
}

/// The sample's mean and its standard error.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values
        .iter()
        .map(|value| (value - mean) * (value - mean))
        .sum();
    (mean, (squares / count / count).sqrt())
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

fn published_pareto(beyond: Beyond) -> Size {
    Size::Pareto {
        shape: 1.5,
        mean: Bytes::new(192_000_000),
        maximum: Some(Bytes::new(768_000_000)),
        beyond,
    }
}

#[test]
fn means_agree_with_draws() {
    let sizes = [
        Size::Fixed(Bytes::new(70_000)),
        Size::Uniform {
            min: Bytes::new(64_000_000),
            max: Bytes::new(512_000_000),
        },
        Size::Pareto {
            shape: 3.0,
            mean: Bytes::new(100_000),
            maximum: None,
            beyond: Beyond::Redraw,
        },
        published_pareto(Beyond::Redraw),
        published_pareto(Beyond::Clip),
        Size::Empirical(Cdf::named("web-search").unwrap()),
        Size::Empirical(Cdf::named("data-mining").unwrap()),
        Size::Empirical(Cdf::named("hadoop").unwrap()),
        Size::Empirical(Cdf::named("cache-follower").unwrap()),
    ];
    for size in sizes {
        assert_eq!(size.check(), Ok(()));
        let (mean, error) = mean_and_error(&draws(&size, 1));
        let expected = size.mean().unwrap();
        assert!(
            (mean - expected).abs() <= 4.0 * error + 0.5,
            "{size:?}: {mean} against {expected}"
        );
    }
    assert_eq!(Size::Unlimited.mean(), None);
    assert_eq!(Size::Unlimited.draw(&mut Stream::new(1, "", 0)), None);
}

#[test]
fn published_means() {
    // Redrawn above 768 MB the mean is about 140 MB, cut there 155 MB.
    let redraw = published_pareto(Beyond::Redraw).mean().unwrap();
    let clip = published_pareto(Beyond::Clip).mean().unwrap();
    assert!((redraw / 1e6 - 139.94).abs() < 0.01, "{redraw}");
    assert!((clip / 1e6 - 155.05).abs() < 0.01, "{clip}");
    let mean = |name: &str| Cdf::named(name).unwrap().mean();
    assert_eq!(mean("web-search").round(), 1_711_250.0);
    // 5117 packets of 1460 B, as simulation scripts that use it state.
    assert_eq!((mean("data-mining") / 1460.0).round(), 5_117.0);
}

#[test]
fn cache_follower_has_the_published_shares() {
    // 45 % below 10 KB, 15 % between 10 and 100 KB, 18 % between 100 KB and 1 MB, the rest larger.
    let values = draws(&Size::Empirical(Cdf::named("cache-follower").unwrap()), 3);
    let up_to =
        |size: f64| values.iter().filter(|&&value| value <= size).count() as f64 / DRAWS as f64;
    for (size, share) in [(10e3, 0.45), (100e3, 0.60), (1e6, 0.78)] {
        assert!(
            (up_to(size) - share).abs() < 0.012,
            "{size}: {}",
            up_to(size)
        );
    }
}

#[test]
fn pareto_distribution() {
    let below = 1.0 - libm::pow(64.0 / 768.0, 1.5);
    let redrawn = draws(&published_pareto(Beyond::Redraw), 2);
    let cdf = |x: f64| (1.0 - libm::pow(64e6 / x, 1.5)) / below;
    assert!(kolmogorov(redrawn.clone(), cdf) < 1.95);
    assert!(redrawn.iter().all(|&size| (64e6..=768e6).contains(&size)));
    let clipped = draws(&published_pareto(Beyond::Clip), 2);
    let cut = clipped.iter().filter(|&&size| size == 768e6).count() as f64 / DRAWS as f64;
    assert!((cut - (1.0 - below)).abs() < 0.002, "{cut}");
}

#[test]
fn uniform_distribution() {
    let size = Size::Uniform {
        min: Bytes::new(1_000),
        max: Bytes::new(1_000_000),
    };
    assert!(kolmogorov(draws(&size, 5), |x| (x - 999.5) / 999_001.0) < 1.95);
}

#[test]
fn impossible_sizes() {
    let pareto = |shape, mean, maximum: Option<u64>| Size::Pareto {
        shape,
        mean: Bytes::new(mean),
        maximum: maximum.map(Bytes::new),
        beyond: Beyond::Redraw,
    };
    let cases = [
        (Size::Fixed(Bytes::ZERO), "nothing to send"),
        (
            Size::Uniform {
                min: Bytes::new(2_000),
                max: Bytes::new(1_000),
            },
            "min = 2 KB to max = 1 KB",
        ),
        (
            Size::Uniform {
                min: Bytes::ZERO,
                max: Bytes::new(1),
            },
            "the smallest flow has 1 B",
        ),
        (pareto(1.0, 1_000, None), "shape is 1;"),
        (pareto(f64::NAN, 1_000, None), "shape is NaN;"),
        (pareto(1.5, 0, None), "mean is 0 B"),
        (pareto(2.0, 1_000, Some(500)), "maximum is 500 B"),
    ];
    for (size, text) in cases {
        let error = size.check().unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
}

#[test]
fn reading_a_distribution() {
    let cdf =
        Cdf::parse("bytes,cumulative\n# a comment\n100, 0.5\n\n200,0.5 # flat\n300,1\n").unwrap();
    assert_eq!(cdf.points(), [(100.0, 0.5), (200.0, 0.5), (300.0, 1.0)]);
    // Half the flows are exactly 100 B, the others spread over 200 to 300 B.
    assert_eq!(cdf.mean(), 0.5 * 100.0 + 0.5 * 250.0);
    assert_eq!(cdf.quantile(0.0), 100.0);
    assert_eq!(cdf.quantile(0.499), 100.0);
    assert_eq!(cdf.quantile(0.5), 200.0);
    assert_eq!(cdf.quantile(0.75), 250.0);

    let cases = [
        ("", "has no points"),
        (
            "1,0\n2;1",
            "line 2 of the distribution, \"2;1\": two values",
        ),
        ("1,0\nx,1", "line 2 of the distribution, \"x,1\": the size"),
        ("1,0\n2,y", "the cumulative probability is not a number"),
        ("1,0\n2,50\n", "the last must be 1, or 100 in percent"),
        ("-1,0\n2,1\n", "at least 0"),
        ("5,0\n2,1\n", "the size is below"),
        ("1,0.5\n2,0.4\n3,1", "the cumulative probability is below"),
        ("1,0\n2,0.9\n", "ends at the cumulative probability 0.9"),
        ("0,0\n0,1\n", "the largest size"),
        ("bytes,cumulative\nsize,share\n1,1", "line 2"),
        ("nan,1", "the size must be"),
    ];
    for (text, expected) in cases {
        let error = Cdf::parse(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text:?}: {error}");
    }
}

#[test]
fn distributions_that_come_along_name_their_source() {
    let names: Vec<&str> = CDFS.iter().map(|&(name, _, _)| name).collect();
    assert_eq!(
        names,
        [
            "web-search",
            "data-mining",
            "hadoop",
            "cache-follower",
            "memcached-etc"
        ]
    );
    for (name, _, text) in CDFS {
        assert!(text.starts_with("# ") && text.contains(" 20"), "{name}");
        assert!(Cdf::named(name).is_some());
    }
    assert_eq!(Cdf::named("nothing"), None);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn draws_stay_in_range(seed: u64, min in 1u64..1_000_000, span in 0u64..1_000_000) {
        let mut stream = Stream::new(seed, "range", 0);
        let size = Size::Uniform { min: Bytes::new(min), max: Bytes::new(min + span) };
        let drawn = size.draw(&mut stream).unwrap().get();
        prop_assert!((min..=min + span).contains(&drawn));
    }

    #[test]
    fn quantiles_never_fall(steps in prop::collection::vec((0u32..1_000, 0u32..1_000), 1..20)) {
        let total: u32 = steps.iter().map(|step| step.1).sum::<u32>() + 1;
        let (mut size, mut cumulative, mut text) = (0, 0, String::new());
        for (grow, share) in steps {
            size += grow;
            cumulative += share;
            text += &format!("{size},{}\n", f64::from(cumulative) / f64::from(total));
        }
        text += &format!("{},1\n", size + 1);
        let cdf = Cdf::parse(&text).unwrap();
        let mut last = 0.0;
        for index in 0..1_000 {
            let quantile = cdf.quantile(f64::from(index) / 1_000.0);
            prop_assert!(quantile >= last && quantile <= f64::from(size + 1));
            last = quantile;
        }
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "[-0-9.,a-z# \n]{0,60}") {
        let _ = Cdf::parse(&text);
    }
}

/// The share of sizes above `size`, by the points of a distribution.
fn exceeded(points: &[(f64, f64)], size: f64) -> f64 {
    let above = points.partition_point(|&(known, _)| known <= size);
    if above == points.len() {
        return 0.0;
    }
    let Some(&(below, from)) = above.checked_sub(1).map(|place| &points[place]) else {
        return 1.0;
    };
    let (next, to) = points[above];
    1.0 - (from + (to - from) * (size - below) / (next - below))
}

#[test]
fn a_distribution_of_many_points_is_thinned_and_stays_what_it_is() {
    // A heavy tail with noise, and a tenth of all sizes alike: no line fits it from end to end.
    let count = 200_000;
    let mut state = 1_u64;
    let mut sizes: Vec<f64> = (0..count)
        .map(|place| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let uniform = ((state >> 11) as f64 + 1.0) / (1_u64 << 53) as f64;
            if place % 10 == 0 {
                5000.0
            } else {
                1000.0 * libm::pow(uniform, -0.8)
            }
        })
        .collect();
    sizes.sort_by(f64::total_cmp);
    let text: String = (1..=count)
        .map(|rank| format!("{},{}\n", sizes[rank - 1], rank as f64 / count as f64))
        .collect();
    let whole = Cdf::parse(&text).unwrap();
    let thin = whole.clone().thinned();
    assert!(thin.points().len() < 60_000, "{}", thin.points().len());
    assert!((thin.mean() / whole.mean() - 1.0).abs() < 1e-4);
    for &(size, _) in whole.points().iter().step_by(7) {
        let (before, after) = (
            exceeded(whole.points(), size),
            exceeded(thin.points(), size),
        );
        assert!(
            (before - after).abs() <= 1.001e-4 * before,
            "{size}: {before} {after}"
        );
    }
    assert_eq!(thin.points().last(), whole.points().last());
    // Few points stay as they are.
    let few = Cdf::parse("1,0.25\n2,0.5\n3,0.75\n4,1\n").unwrap();
    assert_eq!(few.clone().thinned(), few);
}

/// Files as HPCC and its simulations with ns-3 have them: white space, percent, blanks at the ends of lines.
#[test]
fn distributions_in_percent_are_read() {
    let percent = "# flow sizes\n0 0\n10000\t15 \n\n  20000   20\r\n30000 30.5\n1000000 100\n \n";
    let shares = "0,0\n10000,0.15\n20000,0.2\n30000,0.305\n1000000,1\n";
    assert_eq!(Cdf::parse(percent), Cdf::parse(shares));
    assert_eq!(
        Cdf::parse("size cdf\n100 0.5\n200 1\n"),
        Cdf::parse("100,0.5\n200,1\n"),
        "shares with white space"
    );
    assert_eq!(Cdf::parse("1000 100\n"), Cdf::parse("1000,1\n"));
    let refused = [
        ("0 0\n10 1 15\n20 100\n", "line 2"),
        ("0 0\n10\n20 100\n", "line 2"),
        ("0 0\n10 101\n20 100\n", "line 2"),
        ("0 0\n10 40\n20 30\n30 100\n", "line 3"),
        ("0 0\n10 x\n20 100\n", "line 2"),
        (
            "0 0\n10 40\n20 99.9\n",
            "ends at the cumulative probability 99.9",
        ),
        (
            "0 0\n10 0.5\n20 0.9\n",
            "ends at the cumulative probability 0.9",
        ),
    ];
    for (text, said) in refused {
        let error = Cdf::parse(text).expect_err(text).to_string();
        assert!(error.contains(said), "{text}: {error}");
    }
}
