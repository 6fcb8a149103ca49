//! HyStart ends CUBIC's slow start before packets are lost, as in Linux (`hystart_update` in tcp_cubic.c; S. Ha and I. Rhee,
//! "Taming the elephants: New TCP slow start", 2011).
//!
//! Once the window has 16 packets, either of two conditions ends slow start and sets ssthresh to the window:
//!
//! - ACK train: ACKs have arrived at most 2 ms apart for more than (D + d) / 2 since the round began. D is the minimum RTT, and
//!   d = min(1 ms, 256 KiB / pacing rate).
//! - Delay: after eight samples, the round's minimum RTT exceeds D by more than D/8, clamped to 4 to 16 ms.
//!
//! The pacing rate is Linux's estimate, which does not pace anything here: two windows per RTT below half of ssthresh, otherwise
//! 1.2.

use crate::{Ack, Path};
use pathweave_units::Time;

/// Smallest window that ends slow start, in packets (hystart_low_window).
const SMALLEST_WINDOW: f64 = 16.0;
/// Longest gap within an ACK train (hystart_ack_delta_us).
const LONGEST_GAP: Time = Time::from_millis(2);
/// RTT samples before the delay is checked (HYSTART_MIN_SAMPLES).
const SAMPLES: u32 = 8;
/// Upper limit of d.
const LONGEST_BURST: Time = Time::from_millis(1);
/// Four of the largest GSO packets, in bytes: d is their duration at the pacing rate.
const BURST: f64 = 4.0 * 65_536.0;
/// Limits of the delay threshold.
const DELAYS: (Time, Time) = (Time::from_millis(4), Time::from_millis(16));

/// The current round of slow start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HyStart {
    /// Minimum RTT since the connection began or since the last timeout (delay_min).
    smallest: Time,
    /// The round ends when more packets than this have been acknowledged; `None` before the first round.
    ends_at: Option<u64>,
    begin: Time,
    /// Arrival of the train's last ACK.
    last: Time,
    /// Minimum RTT of the round.
    smallest_of_round: Time,
    samples: u32,
    /// Slow start has ended; a timeout resets this.
    found: bool,
}

impl HyStart {
    pub const FRESH: HyStart = HyStart {
        smallest: Time::MAX,
        ends_at: None,
        begin: Time::ZERO,
        last: Time::ZERO,
        smallest_of_round: Time::MAX,
        samples: 0,
        found: false,
    };

    /// Processes an ACK before the window grows. Returns whether slow start ends.
    pub fn on_ack(&mut self, path: &Path, ack: &Ack) -> bool {
        let Some(rtt) = ack.rtt else {
            return false;
        };
        self.smallest = self.smallest.min(rtt);
        if self.found || !path.in_slow_start() {
            return false;
        }
        // Rounds start with the first ACK, not when the window reaches 16 packets. Only this explains where the kernel's slow
        // starts end: at 19 or 28 packets with an RTT of 1 ms at 100 Mbps, and at 127 with 10 ms.
        if self.ends_at.is_none_or(|end| path.acked > end) {
            self.begin_round(path, ack.now);
        }
        if path.window < SMALLEST_WINDOW {
            return false;
        }
        if ack.now.saturating_sub(self.last) <= LONGEST_GAP {
            self.last = ack.now;
            let threshold = (self.smallest + burst(path)) / 2;
            self.found |= ack.now.saturating_sub(self.begin) > threshold;
        }
        self.smallest_of_round = self.smallest_of_round.min(rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
        } else {
            let eighth = (self.smallest / 8).clamp(DELAYS.0, DELAYS.1);
            self.found |= self.smallest_of_round > self.smallest + eighth;
        }
        self.found
    }

    fn begin_round(&mut self, path: &Path, now: Time) {
        self.ends_at = Some(path.sent);
        self.begin = now;
        self.last = now;
        self.smallest_of_round = Time::MAX;
        self.samples = 0;
    }

    /// Starts over after a timeout.
    pub fn restart(&mut self) {
        self.found = false;
        self.ends_at = None;
        self.smallest = Time::MAX;
    }
}

/// d: allowance for bursts of the sender.
fn burst(path: &Path) -> Time {
    if !path.has_rtt() {
        return Time::ZERO;
    }
    let factor = if path.window < path.ssthresh / 2.0 {
        2.0
    } else {
        1.2
    };
    let rate = factor * path.window * path.packet.get() as f64 / path.rtt_seconds();
    Time::from_secs_f64(BURST / rate).min(LONGEST_BURST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// A path in slow start.
    fn path(window: f64, rtt: Time) -> Path {
        let mut path = Path::new(window, 2.0, f64::INFINITY);
        path.smoothed_rtt = rtt;
        path
    }

    fn ack(micros: u64, rtt: Time) -> Ack {
        Ack {
            now: Time::from_micros(micros),
            rtt: Some(rtt),
            ..Ack::default()
        }
    }

    #[test]
    fn a_train_longer_than_half_the_rtt_and_the_burst_ends_slow_start() {
        // 100 packets in 10 ms: 2 x 15 MB/s, so that four bundles of 64 KiB take longer than d may be.
        let rtt = Time::from_millis(10);
        let mut path = path(100.0, rtt);
        path.sent = 100;
        let mut hystart = HyStart::FRESH;
        // (10 ms + 1 ms) / 2 after the first.
        let ends = |micros: u64, hystart: &mut HyStart| hystart.on_ack(&path, &ack(micros, rtt));
        for micros in (20_000..=25_500).step_by(500) {
            assert!(!ends(micros, &mut hystart), "{micros}");
        }
        assert!(ends(25_501, &mut hystart));
        hystart.restart();
        assert!(!ends(40_000, &mut hystart));
        // A gap of more than 2 ms is the end of a train.
        assert!(!ends(42_001, &mut hystart));
        assert!(!ends(47_000, &mut hystart));
    }

    #[test]
    fn small_windows_stay_in_slow_start() {
        let rtt = Time::from_micros(100);
        let mut hystart = HyStart::FRESH;
        for micros in (0..100_000).step_by(1000) {
            assert!(!hystart.on_ack(&path(15.9, rtt), &ack(micros, rtt)));
        }
    }

    #[test]
    fn a_round_whose_rtts_are_longer_by_an_eighth_ends_slow_start() {
        // Acknowledgements too far apart for a train, of a round that does not end.
        let base = Time::from_millis(80);
        let mut path = path(100.0, base);
        path.sent = 1000;
        let mut hystart = HyStart::FRESH;
        assert!(!hystart.on_ack(&path, &ack(0, base)));
        path.acked = 1001;
        path.sent = 3000;
        let longer = base + Time::from_micros(10_001);
        let found: Vec<bool> = (1..=9u64)
            .map(|number| hystart.on_ack(&path, &ack(number * 3000, longer)))
            .collect();
        assert_eq!(
            found,
            [false, false, false, false, false, false, false, false, true]
        );
    }
}
