//! RTT percentiles in bounded memory.

use pathweave_units::Time;

/// Counts of RTT samples in bins that are at most 1/16 wide: percentiles are within about 3 %.
///
/// It keeps the octaves that it has seen: the samples of a flow lie within a few, and those of a short one within
/// one.
#[derive(Clone, Debug, Default)]
pub struct RttHistogram {
    /// Counts of the bins from `first` on, whole octaves.
    counts: Vec<u32>,
    samples: u64,
    /// The sum of all samples in picoseconds, and how often it has exceeded 64 bits.
    sum: u64,
    carries: u32,
    first: u32,
}

/// Everything below 2^16 ps (66 ns) shares the first bin.
const SMALLEST: u32 = 16;
/// Everything above 2^45 ps (35 s) shares the last one.
const LARGEST: u32 = 45;
const STEPS: u32 = 16;
/// Bins that are cleared rather than given up.
const KEPT: usize = 2 * STEPS as usize;
/// The first bin's exponent and step in a floating-point number.
const FIRST: u32 = (f64::MAX_EXP as u32 - 1 + SMALLEST) * STEPS;

/// The bin of a sample.
fn bin_of(rtt: Time) -> u32 {
    let picos = rtt.as_picos().clamp(1 << SMALLEST, (1 << LARGEST) - 1);
    let octave = picos.ilog2();
    let step = (picos >> (octave - STEPS.ilog2())) as u32 & (STEPS - 1);
    (octave - SMALLEST) * STEPS + step
}

impl RttHistogram {
    /// How many samples lie in the bin of this one.
    pub(crate) fn count_of(&self, rtt: Time) -> u32 {
        let place = bin_of(rtt).wrapping_sub(self.first) as usize;
        self.counts.get(place).copied().unwrap_or(0)
    }

    /// Counts a sample.
    #[inline(always)]
    pub fn add(&mut self, rtt: Time) {
        // A sample of fewer than 2^53 ps is a floating-point number: its exponent is the octave, and the first bits of
        // its fraction are the step. What is not one lies beyond the last bin, rounded or not.
        let bits = (rtt.as_picos() as i64 as f64).to_bits();
        let bin = ((bits >> (f64::MANTISSA_DIGITS - 1 - STEPS.ilog2())) as u32).wrapping_sub(FIRST);
        match self.counts.get_mut(bin.wrapping_sub(self.first) as usize) {
            Some(count) => *count += 1,
            None => self.add_beyond(bin_of(rtt), 1),
        }
        self.samples += 1;
        let (sum, carry) = self.sum.overflowing_add(rtt.as_picos());
        self.sum = sum;
        self.carries += u32::from(carry);
    }

    /// Counts samples in a bin, of an octave that has had none before or not.
    #[cold]
    #[inline(never)]
    fn add_beyond(&mut self, bin: u32, samples: u32) {
        if let Some(count) = self.counts.get_mut(bin.wrapping_sub(self.first) as usize) {
            *count += samples;
            return;
        }
        let octave = bin / STEPS * STEPS;
        if self.counts.is_empty() {
            self.first = octave;
        }
        if octave < self.first {
            let more = (self.first - octave) as usize;
            self.counts.splice(..0, std::iter::repeat_n(0, more));
            self.first = octave;
        }
        let end = (octave + STEPS - self.first) as usize;
        self.counts.resize(self.counts.len().max(end), 0);
        self.counts[(bin - self.first) as usize] += samples;
    }

    /// Takes in everything that another one counted.
    pub fn merge(&mut self, other: &RttHistogram) {
        for (bin, &more) in (other.first..).zip(&other.counts) {
            if more > 0 {
                self.add_beyond(bin, more);
            }
        }
        self.samples += other.samples;
        let (sum, carry) = self.sum.overflowing_add(other.sum);
        self.sum = sum;
        self.carries += other.carries + u32::from(carry);
    }

    /// Forgets everything. Its few bins are kept: what is counted next often lies in the same ones.
    pub fn clear(&mut self) {
        if self.counts.len() <= KEPT {
            self.counts.fill(0);
        } else {
            self.counts.clear();
        }
        self.samples = 0;
        (self.sum, self.carries) = (0, 0);
    }

    /// Number of samples.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// The mean, exactly; `None` without samples.
    pub fn mean(&self) -> Option<Time> {
        let sum = u128::from(self.carries) << u64::BITS | u128::from(self.sum);
        (self.samples > 0).then(|| Time::from_picos((sum / u128::from(self.samples)) as u64))
    }

    /// The middle of the bin below which `share` of the samples lie; `None` without samples.
    pub fn percentile(&self, share: f64) -> Option<Time> {
        if self.samples == 1 {
            return Some(middle(bin_of(Time::from_picos(self.sum))));
        }
        let wanted = share * self.samples as f64;
        let mut below = 0u64;
        for (bin, &count) in (self.first..).zip(&self.counts) {
            below += u64::from(count);
            if count > 0 && below as f64 >= wanted {
                return Some(middle(bin));
            }
        }
        None
    }
}

/// The middle of a bin.
fn middle(bin: u32) -> Time {
    let octave = bin / STEPS + SMALLEST;
    let step = u64::from(bin % STEPS);
    let width = 1u64 << (octave - 4);
    Time::from_picos((u64::from(STEPS) + step) * width + width / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_within_the_stated_error() {
        let mut histogram = RttHistogram::default();
        assert_eq!(histogram.percentile(0.5), None);
        assert_eq!(histogram.mean(), None);
        assert_eq!(histogram.count_of(Time::from_micros(5000)), 0);
        for micros in 1..=10_000 {
            histogram.add(Time::from_micros(micros));
        }
        // Its bin is the third of 16 in the octave from 2^32 ps on: from 4831.84 to 5100.27 us.
        assert_eq!(histogram.count_of(Time::from_micros(5000)), 269);
        assert_eq!(histogram.count_of(Time::ZERO), 0);
        assert_eq!(histogram.count_of(Time::MAX), 0);
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
    fn samples_may_come_in_any_order_and_histograms_be_merged_either_way() {
        let rtts = [700, 3, 40_000, 41, 3, 900_000].map(Time::from_micros);
        let of = |rtts: &[Time]| {
            let mut histogram = RttHistogram::default();
            rtts.iter().for_each(|&rtt| histogram.add(rtt));
            histogram
        };
        let (all, mut back) = (of(&rtts), of(&rtts[3..]));
        let mut forth = of(&rtts[..3]);
        forth.merge(&of(&rtts[3..]));
        back.merge(&of(&rtts[..3]));
        for share in [0.0, 0.2, 0.4, 0.6, 0.8, 0.99] {
            let expected = all.percentile(share);
            assert_eq!(forth.percentile(share), expected, "{share}");
            assert_eq!(back.percentile(share), expected, "{share}");
        }
        assert_eq!(back.samples(), 6);
    }

    #[test]
    fn both_ways_to_find_a_bin_agree() {
        // What surrounds each bound between bins of the octaves that a f64 holds exactly, and far beyond.
        let bounds = (0..64 * 16).map(|bin| (16 + bin % 16) << (bin / 16) >> 4);
        let picos = bounds.flat_map(|bound: u128| [bound.saturating_sub(1), bound, bound + 1]);
        let mut histogram = RttHistogram::default();
        histogram.add(Time::from_picos(1 << SMALLEST));
        histogram.add(Time::from_picos(1 << (LARGEST - 1)));
        for picos in picos.filter_map(|picos| u64::try_from(picos).ok()) {
            let rtt = Time::from_picos(picos);
            let mut other = histogram.clone();
            histogram.add(rtt);
            other.add_beyond(bin_of(rtt), 1);
            assert_eq!(histogram.counts, other.counts, "{picos}");
        }
        // The mean is exact beyond 64 bits, too.
        let mut long = RttHistogram::default();
        let rtts = [u64::MAX, u64::MAX, u64::MAX - 6].map(Time::from_picos);
        rtts.iter().for_each(|&rtt| long.add(rtt));
        assert_eq!(long.mean(), Some(Time::from_picos(u64::MAX - 2)));
        let mut both = long.clone();
        both.merge(&long);
        assert_eq!(both.mean(), long.mean());
    }

    #[test]
    fn a_lone_sample_is_found_as_one_of_several() {
        for picos in [0, 1 << 20, 123_456_789, 1 << 50] {
            let (mut one, mut two) = (RttHistogram::default(), RttHistogram::default());
            one.add(Time::from_picos(picos));
            two.merge(&one);
            two.merge(&one);
            assert_eq!(one.percentile(0.99), two.percentile(0.99));
            assert_eq!(one.percentile(0.0), two.percentile(0.0));
        }
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
