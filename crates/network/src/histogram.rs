//! Queue lengths as arriving packets find them.

/// Counts of queue lengths: exact below 64 packets, in steps of at most 1/16 above.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueHistogram {
    counts: Box<[u32]>,
}

const EXACT: u32 = 64;
const STEPS: u32 = 16;

#[inline]
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

    /// Counts one arrival that found so many packets waiting.
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
}
