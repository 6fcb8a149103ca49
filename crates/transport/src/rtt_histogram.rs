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
    first: u32,
    samples: u64,
    sum: u128,
}

/// Everything below 2^16 ps (66 ns) shares the first bin.
const SMALLEST: u32 = 16;
/// Everything above 2^45 ps (35 s) shares the last one.
const LARGEST: u32 = 45;
const STEPS: u32 = 16;

impl RttHistogram {
    /// Counts a sample.
    #[inline]
    pub fn add(&mut self, rtt: Time) {
        let bin = bin_of(rtt.as_picos());
        match self.counts.get_mut(bin.wrapping_sub(self.first) as usize) {
            Some(count) => *count += 1,
            None => self.add_beyond(bin, 1),
        }
        self.samples += 1;
        self.sum += u128::from(rtt.as_picos());
    }

    /// Counts samples in a bin of an octave that has had none.
    #[cold]
    #[inline(never)]
    fn add_beyond(&mut self, bin: u32, samples: u32) {
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
            match self.counts.get_mut(bin.wrapping_sub(self.first) as usize) {
                Some(count) => *count += more,
                None if more > 0 => self.add_beyond(bin, more),
                None => {}
            }
        }
        self.samples += other.samples;
        self.sum += other.sum;
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.counts.clear();
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
        if self.samples == 1 {
            return Some(middle(bin_of(self.sum as u64)));
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

/// The bin that counts an RTT of so many picoseconds.
#[inline]
fn bin_of(picos: u64) -> u32 {
    let picos = picos.clamp(1 << SMALLEST, (1 << LARGEST) - 1);
    let octave = picos.ilog2();
    let step = (picos >> (octave - 4)) as u32 & (STEPS - 1);
    (octave - SMALLEST) * STEPS + step
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
