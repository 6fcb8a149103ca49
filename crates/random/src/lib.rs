//! Random streams whose values never change: not with a library's features, not with the platform,
//! not with what other components draw.
//!
//! Every component of a run draws from its own [`Stream`], named by (seed, component, id). Samplers
//! are inverse transforms written here on top of PCG-64, with transcendental functions from libm.

#![forbid(unsafe_code)]

use rand_core::RngCore;
use rand_pcg::Pcg64;

/// A stream of random numbers that belongs to one component of a run.
#[derive(Clone, Debug)]
pub struct Stream(Pcg64);

/// Mixes 64 bits thoroughly (the finaliser of SplitMix64): nearby inputs give unrelated outputs.
#[inline]
pub fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Hashes a sequence of numbers into one, for choices that must be the same whenever asked again.
#[inline]
pub fn hash(values: &[u64]) -> u64 {
    hash_further(0x243f_6a88_85a3_08d3, values)
}

/// The hash of a sequence of numbers that begins with some whose hash this is, and goes on with these.
#[inline]
pub fn hash_further(hash: u64, values: &[u64]) -> u64 {
    let add = |hash: u64, &value: &u64| mix(hash ^ mix(value));
    values.iter().fold(hash, add)
}

impl Stream {
    /// The stream of the `id`-th instance of `component` in a run with this seed.
    pub fn new(seed: u64, component: &str, id: u64) -> Stream {
        let name = component
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
            });
        let state =
            u128::from(hash(&[seed, name, id, 0])) << 64 | u128::from(hash(&[seed, name, id, 1]));
        let stream =
            u128::from(hash(&[seed, name, id, 2])) << 64 | u128::from(hash(&[seed, name, id, 3]));
        Stream(Pcg64::new(state, stream))
    }

    /// 64 uniform bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in [0, 1), a multiple of 2^-53.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform among 0, 1, ..., `bound` - 1, without bias.
    ///
    /// # Panics
    /// When `bound` is zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "there is no number below zero");
        // Lemire's multiplication method; the retry removes the bias.
        let threshold = bound.wrapping_neg() % bound;
        loop {
            let product = u128::from(self.bits()) * u128::from(bound);
            if product as u64 >= threshold {
                return (product >> 64) as u64;
            }
        }
    }

    /// Uniform among `minimum`, ..., `maximum`, both included.
    ///
    /// # Panics
    /// When `minimum` is above `maximum`.
    pub fn between(&mut self, minimum: u64, maximum: u64) -> u64 {
        assert!(minimum <= maximum, "the range is empty");
        match (maximum - minimum).checked_add(1) {
            Some(count) => minimum + self.below(count),
            None => self.bits(),
        }
    }

    /// Exponential with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.uniform())
    }

    /// Pareto with the given shape and smallest value.
    pub fn pareto(&mut self, shape: f64, scale: f64) -> f64 {
        scale * libm::pow(1.0 - self.uniform(), -1.0 / shape)
    }

    /// Puts the items into a uniformly random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}
