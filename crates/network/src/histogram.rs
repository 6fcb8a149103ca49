//! Queue lengths as arriving packets find them.

use crate::places::PortId;

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

/// The histograms of all ports in one piece of memory.
#[derive(Clone, Debug)]
pub(crate) struct QueueHistograms {
    counts: Box<[u32]>,
    /// Bins of each.
    stride: usize,
    /// The longest queue that each tells apart.
    longest: Box<[u32]>,
}

impl QueueHistograms {
    /// Empty ones for queues of at most these lengths; longer ones count as that.
    pub fn new(longest: Box<[u32]>) -> QueueHistograms {
        let stride = longest.iter().map(|&longest| bin(longest) as usize + 1);
        let stride = stride.max().unwrap_or(0);
        QueueHistograms {
            counts: vec![0; stride * longest.len()].into(),
            stride,
            longest,
        }
    }

    /// Counts one arrival at a port that found this many packets waiting.
    #[inline(always)]
    pub fn add(&mut self, port: PortId, packets: u32) {
        let bin = (bin(packets) as usize).min(self.stride - 1);
        self.counts[port.0 as usize * self.stride + bin] += 1;
    }

    /// The histogram of one port.
    pub fn of(&self, port: PortId) -> QueueHistogram {
        let own = &self.counts[port.0 as usize * self.stride..][..self.stride];
        let mut histogram = QueueHistogram::new(self.longest[port.0 as usize]);
        let last = histogram.counts.len() - 1;
        for (bin, &count) in own.iter().enumerate() {
            histogram.counts[bin.min(last)] += count;
        }
        histogram
    }

    /// Forgets what was counted at one port.
    pub fn clear(&mut self, port: PortId) {
        self.counts[port.0 as usize * self.stride..][..self.stride].fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        together.clear(PortId(1));
        assert_eq!(together.of(PortId(1)), QueueHistogram::new(100));
        assert_eq!(together.of(PortId(2)), alone[2]);
    }
}
