//! OLIA's sets of paths: B, the presumably best, M, those with the largest window, and C, the collected ones, which are
//! in B and not in M; and delta, which follows from them.

use core::ops::Mul;

/// What windows, RTTs and l are counted in.
pub trait Quantity: Copy + PartialOrd {
    const ZERO: Self;
    const ONE: Self;
    fn times(self, other: Self) -> Self;
}

impl Quantity for f64 {
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;
    #[inline]
    fn times(self, other: f64) -> f64 {
        self.mul(other)
    }
}

/// The lowest 64 bits are kept, as in Linux.
impl Quantity for u64 {
    const ZERO: u64 = 0;
    const ONE: u64 = 1;
    #[inline]
    fn times(self, other: u64) -> u64 {
        self.wrapping_mul(other)
    }
}

/// By what a path is best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Best {
    /// l / tau^2.
    Linux,
    /// l^2 / tau.
    LSquaredOverTau,
}

/// A path as the sets see it.
#[derive(Clone, Copy, Debug)]
pub struct Member<T> {
    window: T,
    /// l / tau^2 or l^2 / tau, as a fraction: equal paths must compare equal.
    merit: (T, T),
}

impl Best {
    #[inline]
    pub fn member<T: Quantity>(self, window: T, l: T, tau: T) -> Member<T> {
        let merit = match self {
            Best::Linux => (l, tau.times(tau)),
            Best::LSquaredOverTau => (l.times(l), tau),
        };
        Member { window, merit }
    }
}

/// The sets of a connection, after it has shown them all its paths twice.
#[derive(Debug)]
pub struct Sets<T> {
    /// m, the number of paths.
    pub paths: u32,
    largest: T,
    best: (T, T),
    /// |M|.
    widest: u32,
    /// |C|, C = B \ M.
    collected: u32,
}

impl<T: Quantity> Sets<T> {
    pub fn new() -> Sets<T> {
        Sets {
            paths: 0,
            largest: T::ZERO,
            best: (T::ZERO, T::ONE),
            widest: 0,
            collected: 0,
        }
    }

    /// The first walk finds the largest window and the best merit.
    #[inline]
    pub fn find(&mut self, path: &Member<T>) {
        self.paths += 1;
        if path.window > self.largest {
            self.largest = path.window;
        }
        if path.merit.0.times(self.best.1) >= self.best.0.times(path.merit.1) {
            self.best = path.merit;
        }
    }

    /// The second walk counts who has them.
    #[inline]
    pub fn count(&mut self, path: &Member<T>) {
        if self.is_widest(path) {
            self.widest += 1;
        } else if self.is_best(path) {
            self.collected += 1;
        }
    }

    #[inline]
    fn is_widest(&self, path: &Member<T>) -> bool {
        path.window == self.largest
    }

    #[inline]
    fn is_best(&self, path: &Member<T>) -> bool {
        path.merit.0.times(self.best.1) == self.best.0.times(path.merit.1)
    }

    /// delta of the path among `m` subflows, as numerator and denominator: 1 / (m |C|) in C, -1 / (m |M|) in M,
    /// and 0 elsewhere and where C is empty.
    #[inline]
    pub fn delta(&self, path: &Member<T>, m: u32) -> (i32, u32) {
        if self.collected == 0 {
            (0, 1)
        } else if self.is_widest(path) {
            (-1, m * self.widest)
        } else if self.is_best(path) {
            (1, m * self.collected)
        } else {
            (0, 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Best, Member, Quantity, Sets};
    use proptest::prelude::*;
    use std::vec::Vec;

    fn sets<T: Quantity>(members: &[Member<T>]) -> Sets<T> {
        let mut sets = Sets::new();
        for member in members {
            sets.find(member);
        }
        for member in members {
            sets.count(member);
        }
        sets
    }

    /// m delta of each (window, l, tau).
    fn deltas(best: Best, paths: &[(u64, u64, u64)]) -> Vec<(i32, u32)> {
        let members: Vec<_> = paths
            .iter()
            .map(|&(w, l, tau)| best.member(w, l, tau))
            .collect();
        let sets = sets(&members);
        assert_eq!(sets.paths as usize, paths.len());
        members.iter().map(|member| sets.delta(member, 1)).collect()
    }

    #[test]
    fn the_best_path_takes_from_the_widest() {
        assert_eq!(
            deltas(Best::Linux, &[(20, 5, 1), (10, 9, 1)]),
            [(-1, 1), (1, 1)]
        );
        assert_eq!(
            deltas(Best::Linux, &[(10, 9, 1), (20, 5, 1)]),
            [(1, 1), (-1, 1)]
        );
    }

    #[test]
    fn nothing_moves_when_the_best_are_the_widest() {
        for paths in [
            [(20, 9, 1), (10, 5, 1)],
            [(20, 9, 1), (20, 5, 1)],
            [(20, 5, 1), (20, 5, 1)],
        ] {
            assert_eq!(deltas(Best::Linux, &paths), [(0, 1), (0, 1)]);
        }
    }

    #[test]
    fn equal_paths_share() {
        let paths = [
            (20, 5, 1),
            (10, 9, 1),
            (12, 9, 1),
            (20, 9, 1),
            (15, 8, 1),
            (20, 9, 1),
        ];
        let expected = [(-1, 3), (1, 2), (1, 2), (-1, 3), (0, 1), (-1, 3)];
        assert_eq!(deltas(Best::Linux, &paths), expected);
    }

    #[test]
    fn every_subflow_shares_delta_with_those_of_its_set_and_all_subflows() {
        let paths = [(20_u64, 5, 1), (10, 9, 1), (12, 9, 1)];
        let members = paths.map(|(w, l, tau)| Best::Linux.member(w, l, tau));
        let of = sets(&members);
        assert_eq!(
            members.map(|member| of.delta(&member, 3)),
            [(-1, 3), (1, 6), (1, 6)]
        );
    }

    #[test]
    fn what_is_best_depends_on_the_form() {
        // 100 / 1 is more than 150 / 4, but 100^2 / 1 less than 150^2 / 2.
        let paths = [(10, 100, 1), (10, 150, 2), (20, 1, 1)];
        assert_eq!(deltas(Best::Linux, &paths), [(1, 1), (0, 1), (-1, 1)]);
        assert_eq!(
            deltas(Best::LSquaredOverTau, &paths),
            [(0, 1), (1, 1), (-1, 1)]
        );
        // 100 / 1 = 400 / 4, and 100^2 / 1 = 200^2 / 4.
        let paths = [(10, 100, 1), (10, 400, 2), (10, 200, 4), (20, 1, 1)];
        assert_eq!(deltas(Best::Linux, &paths)[..3], [(1, 2), (1, 2), (0, 1)]);
        let paths = [(10, 100, 1), (10, 200, 4), (20, 1, 1)];
        assert_eq!(deltas(Best::LSquaredOverTau, &paths)[..2], [(1, 2), (1, 2)]);
    }

    #[test]
    fn paths_that_have_carried_nothing_are_equally_good() {
        assert_eq!(
            deltas(Best::Linux, &[(20, 0, 1), (10, 0, 3)]),
            [(-1, 1), (1, 1)]
        );
    }

    proptest! {
        #[test]
        fn deltas_sum_to_zero(
            paths in prop::collection::vec((1..4_u64, 0..4_u64, 1..4_u64), 1..9),
            form in prop_oneof![Just(Best::Linux), Just(Best::LSquaredOverTau)],
        ) {
            let integers = deltas(form, &paths);
            let sum: f64 = integers.iter().map(|d| f64::from(d.0) / f64::from(d.1)).sum();
            prop_assert!(sum.abs() < 1e-12);

            let reals: Vec<_> = paths
                .iter()
                .map(|&(w, l, tau)| form.member(w as f64, l as f64, tau as f64))
                .collect();
            let of_reals = sets(&reals);
            let reals: Vec<_> = reals.iter().map(|member| of_reals.delta(member, 1)).collect();
            prop_assert_eq!(integers, reals);
        }
    }
}
