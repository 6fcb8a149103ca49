//! RTT percentiles in bounded memory.

use pathweave_units::Time;

/// Counts of RTT samples in bins that are at most 1/16 wide: percentiles are within about 3 %.
#[derive(Clone, Debug)]
pub struct RttHistogram {
    counts: Box<[u32]>,
    samples: u64,
    sum: u128,
}

/// Everything below 2^16 ps (66 ns) shares the first bin.
const SMALLEST: u32 = 16;
/// Everything above 2^45 ps (35 s) shares the last one.
const LARGEST: u32 = 45;
const STEPS: u32 = 16;

impl Default for RttHistogram {
    fn default() -> RttHistogram {
        let bins = ((LARGEST - SMALLEST) * STEPS) as usize;
        RttHistogram {
            counts: vec![0; bins].into_boxed_slice(),
            samples: 0,
            sum: 0,
        }
    }
}

impl RttHistogram {
    /// Counts a sample.
    #[inline]
    pub fn add(&mut self, rtt: Time) {
        let picos = rtt.as_picos().clamp(1 << SMALLEST, (1 << LARGEST) - 1);
        let octave = picos.ilog2();
        let step = (picos >> (octave - 4)) as u32 & (STEPS - 1);
        self.counts[((octave - SMALLEST) * STEPS + step) as usize] += 1;
        self.samples += 1;
        self.sum += u128::from(rtt.as_picos());
    }

    /// Takes in everything that another one counted.
    pub fn merge(&mut self, other: &RttHistogram) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.samples += other.samples;
        self.sum += other.sum;
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        self.samples = 0;
        self.sum = 0;
    }

    /// Number of samples.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// The mean, exactly; `None` without samples.
    pub fn mean(&self) -> Option<Time> {
        (self.samples > 0).then(|| Time::from_picos((self.sum / u128::from(self.samples)) as u64))
    }

    /// The middle of the bin below which `share` of the samples lie; `None` without samples.
    pub fn percentile(&self, share: f64) -> Option<Time> {
        let wanted = share * self.samples as f64;
        let mut below = 0u64;
        for (bin, &count) in self.counts.iter().enumerate() {
            below += u64::from(count);
            if count > 0 && below as f64 >= wanted {
                let octave = bin as u32 / STEPS + SMALLEST;
                let step = bin as u64 % u64::from(STEPS);
                let width = 1u64 << (octave - 4);
                return Some(Time::from_picos(
                    (u64::from(STEPS) + step) * width + width / 2,
                ));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_within_the_stated_error() {
        let mut histogram = RttHistogram::default();
        assert_eq!(histogram.percentile(0.5), None);
        assert_eq!(histogram.mean(), None);
        for micros in 1..=10_000 {
            histogram.add(Time::from_micros(micros));
        }
        for (share, expected) in [(0.01, 100e-6), (0.5, 5e-3), (0.99, 9.9e-3)] {
            let found = histogram
                .percentile(share)
                .expect("there are samples")
                .as_secs_f64();
            assert!((found / expected - 1.0).abs() < 0.035, "{share}: {found}");
        }
        assert_eq!(histogram.mean(), Some(Time::from_nanos(5_000_500)));
        let mut both = RttHistogram::default();
        both.merge(&histogram);
        both.merge(&histogram);
        assert_eq!(both.mean(), histogram.mean());
        both.clear();
        assert_eq!(both.percentile(0.5), None);
    }

    #[test]
    fn extremes_fall_into_the_outer_bins() {
        let mut histogram = RttHistogram::default();
        histogram.add(Time::ZERO);
        histogram.add(Time::MAX);
        assert!(histogram.percentile(0.1).expect("a sample") < Time::from_micros(1));
        assert!(histogram.percentile(1.0).expect("a sample") > Time::from_secs(30));
    }
}
