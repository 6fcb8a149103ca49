//! How late packets left the fabric.

use pathweave_units::Time;
use std::time::Duration;

/// Everything below this shares the first bin.
const SMALLEST: u32 = 6; // 64 ns
const OCTAVES: u32 = 30; // up to 68 s
const STEPS: u32 = 16;

/// Counts of latenesses in bins that are at most 1/16 wide: percentiles are within about 3 %.
#[derive(Clone, Debug)]
pub struct Lateness {
    counts: Box<[u64]>,
    packets: u64,
    most: Duration,
}

impl Default for Lateness {
    fn default() -> Lateness {
        Lateness {
            counts: vec![0; (OCTAVES * STEPS) as usize].into_boxed_slice(),
            packets: 0,
            most: Duration::ZERO,
        }
    }
}

impl Lateness {
    /// A packet left so late.
    #[inline]
    pub fn add(&mut self, late: Duration) {
        let nanos = (late.as_nanos() as u64).clamp(1 << SMALLEST, (1 << (SMALLEST + OCTAVES)) - 1);
        let octave = nanos.ilog2();
        let step = (nanos >> (octave - 4)) as u32 & (STEPS - 1);
        self.counts[((octave - SMALLEST) * STEPS + step) as usize] += 1;
        self.packets += 1;
        self.most = self.most.max(late);
    }

    /// Packets that left.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// The latest.
    pub fn most(&self) -> Duration {
        self.most
    }

    /// The end of the bin below which this share of the packets were; zero without packets.
    pub fn percentile(&self, share: f64) -> Duration {
        let wanted = share * self.packets as f64;
        let mut below = 0;
        for (bin, &count) in (0u32..).zip(&self.counts) {
            below += count;
            if count > 0 && below as f64 >= wanted {
                let (octave, step) = (bin / STEPS + SMALLEST, u64::from(bin % STEPS));
                let end = ((u64::from(STEPS) + step + 1) << octave) / u64::from(STEPS);
                return Duration::from_nanos(end).min(self.most);
            }
        }
        Duration::ZERO
    }
}

/// The largest part of the RTT without queues that packets may be late, at the 99th percentile.
const TOLERATED: f64 = 0.1;

/// Why a run cannot be trusted, if it cannot: both times are the plan's.
pub fn reason_against(p99: Time, base_rtt: Time) -> Option<String> {
    let share = p99.as_secs_f64() / base_rtt.as_secs_f64();
    (share > TOLERATED).then(|| {
        format!(
            "one packet in a hundred left the fabric {:.3} ms late or later: {:.0} % of the shortest RTT without queues, {:.3} ms, and {:.0} % is the most that counts as valid; a larger --stretch helps",
            p99.as_secs_f64() * 1e3,
            share * 100.0,
            base_rtt.as_secs_f64() * 1e3,
            TOLERATED * 100.0,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_within_the_stated_error() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.percentile(0.99), Duration::ZERO);
        for micros in 1..=10_000 {
            lateness.add(Duration::from_micros(micros));
        }
        for (share, micros) in [(0.01, 100.0), (0.5, 5000.0), (0.99, 9900.0)] {
            let found = lateness.percentile(share).as_secs_f64() * 1e6;
            assert!(
                (0.999..1.0626).contains(&(found / micros)),
                "{share}: {found}"
            );
        }
        assert_eq!(lateness.packets(), 10_000);
        assert_eq!(lateness.most(), Duration::from_millis(10));
        assert_eq!(lateness.percentile(1.0), Duration::from_millis(10));
    }

    #[test]
    fn packets_in_time_share_the_first_bin() {
        let mut lateness = Lateness::default();
        lateness.add(Duration::ZERO);
        assert!(lateness.percentile(0.5) < Duration::from_nanos(100));
    }

    /// The rule: more than a tenth of the base RTT.
    #[test]
    fn a_run_that_was_not_in_time_is_invalid() {
        let rtt = Time::from_millis(2);
        assert_eq!(reason_against(Time::from_micros(200), rtt), None);
        let reason = reason_against(Time::from_micros(260), rtt).expect("it was too late");
        assert!(reason.contains("13 %"), "{reason}");
    }
}
