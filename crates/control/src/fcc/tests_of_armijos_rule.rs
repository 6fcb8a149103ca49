use super::{Totals, armijo_kappa};
use crate::greedy_sender::{GreedySender, near, text};
use crate::{Path, PathState, Paths};
use pathweave_units::Time;
use std::vec::Vec;

/// What the rule gives for subflows of (window, RTT in seconds, beta) with a minimum window of 2, and
/// whether that keeps enough: the objective, its gradient and the step written out.
fn expected(subflows: &[(f64, f64, f64)], alpha_total: f64) -> (f64, bool) {
    let shortest = subflows.iter().map(|s| s.1).fold(f64::INFINITY, f64::min);
    let mean = subflows.iter().map(|s| s.0).sum::<f64>() / subflows.len() as f64;
    let sum: f64 = subflows.iter().map(|s| s.0 / (s.1 * s.1)).sum();
    let y = |x: &[f64]| -> f64 {
        let each = x.iter().zip(subflows);
        each.map(|(x, s)| shortest / s.1 * x).sum()
    };
    let objective = |x: &[f64]| -> f64 {
        let each = x.iter().zip(subflows);
        libm::log(y(x)) - each.map(|(x, s)| s.2 / alpha_total * x).sum::<f64>()
    };
    let x: Vec<f64> = subflows.iter().map(|s| s.0 / s.1).collect();
    let mut kappa = 4.0;
    loop {
        let (mut moved, mut promise) = (Vec::new(), 0.0);
        for (x_s, &(window, tau, beta)) in x.iter().zip(subflows) {
            let alpha = alpha_total / tau / sum;
            let change = kappa * (alpha - beta) * tau * mean / shortest;
            let to = f64::max(window + change, 2.0) / tau;
            promise += (shortest / tau / y(&x) - beta / alpha_total) * (to - x_s);
            moved.push(to);
        }
        let enough = objective(&moved) - objective(&x) >= 0.1 * promise;
        if enough || kappa == 0.125 {
            return (kappa, enough);
        }
        kappa /= 2.0;
    }
}

fn paths(subflows: &[(f64, f64, f64)]) -> Vec<Path> {
    let path = |&(window, tau, _): &(f64, f64, f64)| {
        let mut path = Path::new(window, 2.0, 1.0);
        path.state = PathState::Active;
        path.smoothed_rtt = Time::from_secs_f64(tau);
        path
    };
    subflows.iter().map(path).collect()
}

#[test]
fn kappa_is_the_first_that_keeps_enough() {
    let mut seen = Vec::new();
    for betas in [[0.0, 0.0], [0.02, 0.3], [0.9, 0.6], [0.6, 0.9]] {
        for windows in [[3.0, 3.0], [3.0, 200.0], [80.0, 40.0]] {
            for rtts in [[1e-4, 1e-4], [1e-3, 1e-2], [1e-2, 3e-4]] {
                for alpha_total in [1e3, 1e4, 1e5, 1e6] {
                    let subflows = [0, 1].map(|r| (windows[r], rtts[r], betas[r]));
                    let expected = expected(&subflows, alpha_total);
                    let mut paths = paths(&subflows);
                    let totals = Totals::of(&Paths::new(&mut paths), Some(alpha_total * 1e-12));
                    let kappa = armijo_kappa(&totals, paths.iter().zip(betas));
                    assert_eq!(kappa, expected.0, "{subflows:?} {alpha_total}");
                    if !seen.contains(&expected) {
                        seen.push(expected);
                    }
                }
            }
        }
    }
    assert_eq!(
        seen.len(),
        7,
        "every size, and none that is enough: {seen:?}"
    );
}

#[test]
fn a_window_below_its_minimum_stays_rather_than_falls() {
    // alpha = 1/2 is below beta. Growing to the minimum would not keep enough.
    let mut paths = paths(&[(1.0, 1e-4, 0.9)]);
    let totals = Totals::of(&Paths::new(&mut paths), Some(0.5e-8));
    assert_eq!(armijo_kappa(&totals, paths.iter().zip([0.9])), 4.0);
}

#[test]
fn closed_subflows_do_not_count() {
    let subflows = [(3.0, 1e-3, 0.9), (200.0, 1e-2, 0.6)];
    let alone = expected(&subflows[..1], 1e4).0;
    assert_ne!(alone, expected(&subflows, 1e4).0);
    let mut paths = paths(&subflows);
    paths[1].state = PathState::Closed;
    let totals = Totals::of(&Paths::new(&mut paths), Some(1e-8));
    assert_eq!(armijo_kappa(&totals, paths.iter().zip([0.9, 0.6])), alone);
}

/// Rounds that an unmarked subflow takes from 10 to 30 packets.
fn rounds_to_grow(step: &str) -> f64 {
    let mut connection = GreedySender::new("fcc", &[text("step", step)], &[(10.0, 100)]);
    connection.paths[0].minimum_rtt = Time::from_micros(100);
    for rounds in 0..100 {
        if connection.window(0) >= 30.0 {
            return f64::from(rounds);
        }
        connection.round(0, false);
    }
    panic!("the window does not grow")
}

#[test]
fn it_grows_four_times_as_fast_where_nothing_is_marked() {
    assert!(near(rounds_to_grow("fixed"), 20.0, 0.1));
    assert!(near(rounds_to_grow("armijo"), 5.0, 0.2));
}
