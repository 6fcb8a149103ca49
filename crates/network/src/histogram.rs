//! Queue lengths as arriving packets find them.

use crate::places::{Places, PortId};
use crate::queue::{Limit, QueueConfig};
use crate::setup::{LinkSetup, QueuesCounted};
use pathweave_units::Time;

/// Counts of queue lengths: exact below 64 packets, in steps of at most 1/16 above.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueHistogram {
    counts: Box<[u32]>,
}

const EXACT: u32 = 64;
const STEPS: u32 = 16;

#[inline(always)]
fn bin(packets: u32) -> u32 {
    if packets < EXACT {
        return packets;
    }
    let octave = packets.ilog2(); // at least 6
    let step = (packets >> (octave - 4)) & (STEPS - 1);
    EXACT + (octave - 6) * STEPS + step
}

fn lowest_in(bin: u32) -> u32 {
    if bin < EXACT {
        return bin;
    }
    let octave = (bin - EXACT) / STEPS + 6;
    let step = (bin - EXACT) % STEPS;
    (STEPS + step) << (octave - 4)
}

impl QueueHistogram {
    /// An empty one for queues of at most `longest` packets; longer ones count as that.
    pub fn new(longest: u32) -> QueueHistogram {
        QueueHistogram {
            counts: vec![0; bin(longest) as usize + 1].into_boxed_slice(),
        }
    }

    /// Counts one arrival that found this many packets waiting.
    #[inline]
    pub fn add(&mut self, packets: u32) {
        match self.counts.get_mut(bin(packets) as usize) {
            Some(count) => *count += 1,
            None => self.add_to_last(),
        }
    }

    #[cold]
    #[inline(never)]
    fn add_to_last(&mut self) {
        if let Some(last) = self.counts.last_mut() {
            *last += 1;
        }
    }

    /// The shortest and the longest queue that arrivals have found since the counts were `before`, which
    /// become the present ones; `None` without arrivals. Lengths from 64 packets on are rounded down by at
    /// most 1/16.
    pub fn found_since(&self, before: &mut Vec<u32>) -> Option<(u32, u32)> {
        before.resize(self.counts.len(), 0);
        let mut found = None;
        for (bin, (&count, earlier)) in (0u32..).zip(self.counts.iter().zip(before)) {
            if count != *earlier {
                *earlier = count;
                let length = lowest_in(bin);
                found = Some((found.map_or(length, |(shortest, _)| shortest), length));
            }
        }
        found
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.counts.fill(0);
    }

    /// The smallest queue length that at least `share` of the arrivals did not exceed; zero when
    /// there were none.
    pub fn percentile(&self, share: f64) -> u32 {
        let total: u64 = self.counts.iter().map(|&count| u64::from(count)).sum();
        let wanted = share * total as f64;
        let mut below = 0u64;
        for (bin, &count) in self.counts.iter().enumerate() {
            below += u64::from(count);
            if count > 0 && below as f64 >= wanted {
                return lowest_in(bin as u32);
            }
        }
        0
    }
}

/// What the arrivals at all ports have found.
#[derive(Clone, Debug)]
pub(crate) struct ArrivalCounts {
    /// Those of which percentiles are told.
    told: QueueHistograms,
    /// All, where `told` is a sample and they are wanted.
    all: Option<QueueHistograms>,
    /// The times that are told: see [`ArrivalCounts::tells`].
    told_bits: u64,
    /// The times that are counted in one of both: no bits where `all` is kept.
    counted_bits: u64,
}

/// One of eight times is told.
const SAMPLE_BITS: u64 = 0b111 << 61;

/// Spreads times evenly over all numbers, equally spaced ones better than chance: 2^64 over the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

impl ArrivalCounts {
    /// For these ports.
    pub fn new(counted: QueuesCounted, links: &[LinkSetup], places: &Places) -> ArrivalCounts {
        let longest = || {
            let links = places.links().iter().map(|&link| &links[link as usize]);
            QueueHistograms::new(links.map(|link| longest_queue(&link.queue)).collect())
        };
        let (told_bits, counted_bits) = match counted {
            QueuesCounted::All => (0, 0),
            QueuesCounted::Sampled => (SAMPLE_BITS, SAMPLE_BITS),
            QueuesCounted::SampledAndAll => (SAMPLE_BITS, 0),
        };
        ArrivalCounts {
            told: longest(),
            all: (counted == QueuesCounted::SampledAndAll).then(longest),
            told_bits,
            counted_bits,
        }
    }

    /// Whether [`ArrivalCounts::add`] does anything at this time.
    #[inline(always)]
    pub fn counts(&self, now: Time) -> bool {
        now.as_picos().wrapping_mul(SPREAD) & self.counted_bits == 0
    }

    #[inline(always)]
    fn tells(&self, now: Time) -> bool {
        now.as_picos().wrapping_mul(SPREAD) & self.told_bits == 0
    }

    /// A packet arrives at a port and finds this many packets waiting.
    #[inline(always)]
    pub fn add(&mut self, port: PortId, packets: u32, now: Time) {
        if self.tells(now) {
            self.told.add(port, packets);
        }
        if let Some(all) = &mut self.all {
            all.add(port, packets);
        }
    }

    /// `count` packets arrive at a port and find none waiting: one at `first`, and another every `again` after it.
    pub fn add_idle(&mut self, port: PortId, (first, again): (Time, Time), count: u64) {
        for number in 0..count {
            let now = first + again * number;
            if self.counts(now) {
                self.add(port, 0, now);
            }
        }
    }

    /// What arrivals have found at one port, those that are told.
    pub fn told(&mut self, port: PortId) -> QueueHistogram {
        self.told.of(port)
    }

    /// What all arrivals have found at one port; `None` where they were not counted.
    pub fn all(&mut self, port: PortId) -> Option<QueueHistogram> {
        match &mut self.all {
            None => (self.told_bits == 0).then(|| self.told.of(port)),
            Some(all) => Some(all.of(port)),
        }
    }

    /// Forgets what was counted at one port.
    pub fn clear(&mut self, port: PortId) {
        self.told.clear(port);
        if let Some(all) = &mut self.all {
            all.clear(port);
        }
    }
}

/// Arrivals that are noted before they are counted.
const NOTED: usize = 256;

/// The histograms of all ports in one piece of memory.
///
/// Arrivals are noted first, and then counted together. A processor then fetches many counts from memory at the same time.
/// If each was counted at once, it would wait for one count after the other.
#[derive(Clone, Debug)]
struct QueueHistograms {
    counts: Box<[u32]>,
    /// Places of counts that are to become one higher. The first `noted_count` are in use: fewer than all, except within
    /// [`QueueHistograms::add`].
    noted: Box<[u32; NOTED]>,
    noted_count: usize,
    /// Bins of each.
    stride: usize,
    /// The longest queue that each tells apart.
    longest: Box<[u32]>,
}

impl QueueHistograms {
    /// Empty ones for queues of at most these lengths; longer ones count as that.
    fn new(longest: Box<[u32]>) -> QueueHistograms {
        let stride = longest.iter().map(|&longest| bin(longest) as usize + 1);
        let stride = stride.max().unwrap_or(0);
        let places = stride * longest.len();
        assert!(u32::try_from(places).is_ok(), "fewer than 2^32 counts");
        QueueHistograms {
            counts: vec![0; places].into(),
            noted: Box::new([0; NOTED]),
            noted_count: 0,
            stride,
            longest,
        }
    }

    /// Counts one arrival at a port that found this many packets waiting.
    #[inline(always)]
    fn add(&mut self, port: PortId, packets: u32) {
        let bin = (bin(packets) as usize).min(self.stride - 1);
        self.noted[self.noted_count % NOTED] = (port.0 as usize * self.stride + bin) as u32;
        self.noted_count += 1;
        if self.noted_count == NOTED {
            self.count_noted();
        }
    }

    #[cold]
    #[inline(never)]
    fn count_noted(&mut self) {
        for &place in &self.noted[..self.noted_count] {
            self.counts[place as usize] += 1;
        }
        self.noted_count = 0;
    }

    /// The histogram of one port.
    fn of(&mut self, port: PortId) -> QueueHistogram {
        self.count_noted();
        let own = &self.counts[port.0 as usize * self.stride..][..self.stride];
        let mut histogram = QueueHistogram::new(self.longest[port.0 as usize]);
        let last = histogram.counts.len() - 1;
        for (bin, &count) in own.iter().enumerate() {
            histogram.counts[bin.min(last)] += count;
        }
        histogram
    }

    /// Forgets what was counted at one port.
    fn clear(&mut self, port: PortId) {
        self.count_noted();
        self.counts[port.0 as usize * self.stride..][..self.stride].fill(0);
    }
}

/// The longest queue a histogram tells apart.
fn longest_queue(config: &QueueConfig) -> u32 {
    match config.limit {
        Limit::None => 1 << 20,
        Limit::Packets(packets) => packets.min(1 << 20),
        // The smallest packets are 40 bytes.
        Limit::Bytes(bytes) => (bytes.get() / 40).min(1 << 20) as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathweave_random::Stream;
    use pathweave_units::Rate;

    #[test]
    fn bins_are_contiguous_and_within_a_sixteenth() {
        let mut previous = 0;
        for packets in 0..100_000 {
            let b = bin(packets);
            assert!(b == previous || b == previous + 1);
            previous = b;
            let low = lowest_in(b);
            assert!(low <= packets && f64::from(packets - low) <= f64::from(packets) / 16.0);
        }
    }

    #[test]
    fn percentiles_of_known_counts() {
        let mut histogram = QueueHistogram::new(100);
        assert_eq!(histogram.percentile(0.5), 0);
        (0..100).for_each(|packets| histogram.add(packets % 50));
        assert_eq!(histogram.percentile(0.5), 24);
        assert_eq!(histogram.percentile(0.99), 49);
        histogram.add(1000);
        assert_eq!(histogram.percentile(1.0), 100);
        histogram.clear();
        assert_eq!(histogram.percentile(0.99), 0);
    }

    fn places(queues: &[u32]) -> (Vec<LinkSetup>, Places) {
        let links: Vec<LinkSetup> = queues
            .iter()
            .map(|&longest| LinkSetup {
                queue: QueueConfig {
                    limit: Limit::Packets(longest),
                    ..QueueConfig::default()
                },
                ..LinkSetup::plain((0, 1), Rate::from_gbps(1), Time::ZERO)
            })
            .collect();
        let places = Places::new(&links);
        (links, places)
    }

    #[test]
    fn a_sample_of_independent_queues_is_as_far_off_as_it_says() {
        let (links, places) = places(&[63]);
        let (arrivals, trials, share) = (10_000, 400, 0.99);
        // Packets at equal distances, as a source sends them, and at random ones.
        for distance in [12_000_000, 1_234_567] {
            let (mut squares, mut sampled) = (0.0, 0);
            for trial in 0..trials {
                let mut stream = Stream::new(trial, "queues of a sample", distance);
                let mut counts = ArrivalCounts::new(QueuesCounted::Sampled, &links, &places);
                let mut at = Time::from_picos(stream.below(1 << 40));
                for _ in 0..arrivals {
                    let step = if distance == 12_000_000 {
                        distance
                    } else {
                        stream.below(2 * distance)
                    };
                    at += Time::from_picos(step);
                    // With a probability of 0.99 there are fewer than 10.
                    let packets = if stream.uniform() < share { 5 } else { 10 };
                    counts.add(PortId(0), packets, at);
                }
                let found = counts.told(PortId(0));
                let total: u32 = found.counts.iter().sum();
                let longer: u32 = found.counts[10..].iter().sum();
                let error = f64::from(longer) / f64::from(total) - (1.0 - share);
                squares += error * error;
                sampled += total;
            }
            let one_in = trials as f64 * f64::from(arrivals) / f64::from(sampled);
            assert!((7.9..8.1).contains(&one_in), "one in {one_in}");
            // The standard deviation of 400 trials is known to four standard errors of a seventh.
            let stated = (8.0 * share * (1.0 - share) / f64::from(arrivals)).sqrt();
            let measured = (squares / trials as f64).sqrt();
            assert!(
                (0.86..1.14).contains(&(measured / stated)),
                "{measured} and {stated}"
            );
        }
    }

    #[test]
    fn all_arrivals_are_counted_beside_the_sample() {
        let (links, places) = places(&[30, 20]);
        let of = |counted| {
            let mut counts = ArrivalCounts::new(counted, &links, &places);
            for packet in 0..1000u32 {
                let at = Time::from_micros(u64::from(packet));
                counts.add(PortId(packet % 2), packet % 40, at);
                assert!(counted == QueuesCounted::Sampled || counts.counts(at));
            }
            counts
        };
        let mut all = of(QueuesCounted::All);
        let mut sampled = of(QueuesCounted::Sampled);
        let mut both = of(QueuesCounted::SampledAndAll);
        for port in [PortId(0), PortId(1)] {
            assert_eq!(all.all(port), Some(all.told(port)));
            assert_eq!(both.all(port), all.all(port));
            assert_eq!(both.told(port), sampled.told(port));
            assert_ne!(both.told(port), all.told(port));
            assert_eq!(sampled.all(port), None);
        }
        both.clear(PortId(0));
        assert_eq!(both.all(PortId(0)), Some(QueueHistogram::new(30)));
        assert_eq!(both.told(PortId(0)), QueueHistogram::new(30));
    }

    #[test]
    fn histograms_side_by_side_count_as_alone() {
        let longest = [3, 100, 5000];
        let mut together = QueueHistograms::new(longest.into());
        let mut alone = longest.map(QueueHistogram::new);
        for packets in (0..6000).step_by(7) {
            for (port, own) in (0..).zip(&mut alone) {
                together.add(PortId(port), packets);
                own.add(packets);
            }
        }
        for (port, own) in (0..).zip(&alone) {
            assert_eq!(&together.of(PortId(port)), own);
        }
        // What has just come is forgotten as well, and only there.
        for (port, own) in (0..).zip(&mut alone) {
            together.add(PortId(port), 2);
            own.add(2);
        }
        together.clear(PortId(1));
        assert_eq!(together.of(PortId(1)), QueueHistogram::new(100));
        assert_eq!(together.of(PortId(2)), alone[2]);
    }
}
