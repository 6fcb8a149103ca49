//! The retransmission timeout (RFC 6298).

use crate::Config;
use pathweave_units::Time;

/// Smoothed RTT, its variation, and the timeout that follows from them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RetransmissionTimeout {
    smoothed: u64,
    variation: u64,
    timeout: u64,
    /// Timeouts since the last progress.
    in_row: u32,
    /// How many times the timeout is doubled.
    doublings: u32,
}

impl RetransmissionTimeout {
    pub fn new(config: &Config) -> RetransmissionTimeout {
        RetransmissionTimeout {
            smoothed: 0,
            variation: 0,
            timeout: config.initial_rto.as_picos(),
            in_row: 0,
            doublings: 0,
        }
    }

    /// The handshake, which was not simulated, has measured the RTT: with those of data centres its timeout is
    /// the minimum. The smoothed RTT stays unknown.
    pub fn assume_handshake(&mut self, config: &Config) {
        self.timeout = config.minimum_rto.as_picos();
    }

    /// Takes an RTT sample and returns the smoothed RTT; the timeout is at least `minimum`. Gains are 1/8 and 1/4
    /// (section 2.3).
    #[inline(always)]
    pub fn sample(&mut self, rtt: Time, minimum: Time) -> Time {
        let rtt = rtt.as_picos();
        if self.smoothed == 0 {
            self.smoothed = rtt.max(1);
            self.variation = rtt / 2;
        } else {
            let error = self.smoothed.abs_diff(rtt);
            self.variation = self.variation - self.variation / 4 + error / 4;
            self.smoothed = (self.smoothed - self.smoothed / 8 + rtt / 8).max(1);
        }
        let spread = self.variation.saturating_mul(4);
        let timeout = self.smoothed.saturating_add(spread);
        self.timeout = timeout.max(minimum.as_picos());
        Time::from_picos(self.smoothed)
    }

    /// The time to wait now, backed off; at most `maximum`.
    #[inline]
    pub fn current(&self, maximum: Time) -> Time {
        let backed_off = self.timeout.saturating_mul(1 << self.doublings.min(32));
        Time::from_picos(backed_off).min(maximum)
    }

    /// The time to wait for the answer to a SYN: the first `linear` timeouts do not count.
    pub fn of_syn(&self, maximum: Time, linear: u32) -> Time {
        let doublings = self.doublings.saturating_sub(linear);
        RetransmissionTimeout { doublings, ..*self }.current(maximum)
    }

    /// The timeout is this for the smoothed RTT, without backing off.
    #[inline]
    pub fn set(&mut self, timeout: Time) {
        self.timeout = timeout.as_picos();
    }

    /// Timeouts since the last progress.
    #[inline]
    pub fn in_row(&self) -> u32 {
        self.in_row
    }

    /// The timer expired: the next one takes twice as long (section 5.5).
    pub fn back_off(&mut self) {
        self.in_row += 1;
        self.doublings += 1;
    }

    #[inline]
    pub fn is_backed_off(&self) -> bool {
        self.doublings > 0
    }

    /// New data was acknowledged: the timeout is backed off no longer.
    #[inline(always)]
    pub fn end_row(&mut self) {
        self.in_row = 0;
        self.doublings = 0;
    }

    /// New data was acknowledged, and the timeout stays backed off.
    pub fn end_row_backed_off(&mut self) {
        self.in_row = 0;
    }
}

/// The variation of RTTs as Linux has it, with a floor (tcp_rtt_estimator). All values are four times what is measured,
/// as the timeout wants them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct VarianceFloor {
    /// The smoothed RTT before the last sample; zero before the first.
    smoothed: u64,
    /// Of the samples (mdev).
    variation: u64,
    /// The largest variation of the round, and at least the floor (mdev_max).
    largest: u64,
    /// What comes on top of the smoothed RTT (rttvar).
    spread: u64,
    /// The round is over when this is acknowledged.
    round_ends: u32,
}

impl VarianceFloor {
    /// Takes a sample that came with everything below `acknowledged`, when `next` is sent next, and the smoothed RTT with
    /// that sample. Returns the timeout.
    pub fn sample(
        &mut self,
        rtt: Time,
        smoothed: Time,
        floor: Time,
        (acknowledged, next): (u32, u32),
    ) -> Time {
        let (rtt, floor) = (rtt.as_picos(), floor.as_picos());
        if self.smoothed == 0 {
            self.variation = rtt.saturating_mul(2);
            self.spread = self.variation.max(floor);
            self.largest = self.spread;
            self.round_ends = next;
        } else {
            let error = rtt.abs_diff(self.smoothed);
            let quarter = self.variation / 4;
            if rtt < self.smoothed && error > quarter {
                // An RTT that falls is no reason to wait longer: it counts an eighth of what one that rises does.
                self.variation += (error - quarter) / 8;
            } else {
                self.variation = self.variation - quarter + error;
            }
            if self.variation > self.largest {
                self.largest = self.variation;
                self.spread = self.spread.max(self.largest);
            }
            if acknowledged > self.round_ends {
                if self.largest < self.spread {
                    self.spread -= (self.spread - self.largest) / 4;
                }
                self.round_ends = next;
                self.largest = floor;
            }
        }
        self.smoothed = smoothed.as_picos();
        smoothed.saturating_add(Time::from_picos(self.spread))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_rfc_6298() {
        let config = Config {
            minimum_rto: Time::from_millis(1),
            ..Config::textbook()
        };
        let mut timeout = RetransmissionTimeout::new(&config);
        assert_eq!(timeout.current(config.maximum_rto), Time::from_secs(1));
        // First sample R: SRTT = R, RTTVAR = R/2, RTO = SRTT + 4 RTTVAR = 3 R.
        assert_eq!(
            timeout.sample(Time::from_millis(8), config.minimum_rto),
            Time::from_millis(8)
        );
        assert_eq!(timeout.current(config.maximum_rto), Time::from_millis(24));
        // R' = 16 ms: RTTVAR = 3/4 * 4 + 1/4 * 8 = 5, SRTT = 7/8 * 8 + 1/8 * 16 = 9, RTO = 29 ms.
        assert_eq!(
            timeout.sample(Time::from_millis(16), config.minimum_rto),
            Time::from_millis(9)
        );
        assert_eq!(timeout.current(config.maximum_rto), Time::from_millis(29));
        timeout.back_off();
        timeout.back_off();
        assert_eq!(timeout.current(config.maximum_rto), Time::from_millis(116));
        (0..40).for_each(|_| timeout.back_off());
        assert_eq!(timeout.current(config.maximum_rto), config.maximum_rto);
        timeout.end_row();
        assert_eq!(timeout.current(config.maximum_rto), Time::from_millis(29));
    }

    #[test]
    fn with_a_floor_on_the_variation_the_timeout_is_above_the_smoothed_rtt_by_it() {
        let floor = Time::from_millis(200);
        let ms = Time::from_millis;
        let mut variance = VarianceFloor::default();
        // First sample m: four times m/2, or the floor.
        assert_eq!(variance.sample(ms(1), ms(1), floor, (1, 10)), ms(201));
        let mut slow = VarianceFloor::default();
        assert_eq!(slow.sample(ms(300), ms(300), floor, (1, 10)), ms(900));
        // The same RTT again: the variation falls by a quarter a sample, the spread by a quarter of the difference once
        // a round.
        let mut spread = ms(600);
        for round in 1..30u32 {
            let timeout = slow.sample(ms(300), ms(300), floor, (10 * round + 1, 10 * round + 10));
            let at_most = spread - (spread.saturating_sub(floor)) / 4;
            assert!(timeout - ms(300) <= spread && timeout - ms(300) >= floor.min(at_most));
            spread = timeout - ms(300);
        }
        assert!(spread < ms(215), "{spread}");
        // A sudden rise counts at once: the variation is three quarters of the old and the whole error.
        let timeout = variance.sample(ms(401), ms(51), floor, (2, 10));
        assert_eq!(timeout, ms(51) + Time::from_micros(401_500));
    }

    #[test]
    fn the_first_timeouts_of_a_syn_may_not_count() {
        let config = Config::textbook();
        let mut timeout = RetransmissionTimeout::new(&config);
        let mut waits = Vec::new();
        for _ in 0..7 {
            waits.push(timeout.of_syn(config.maximum_rto, 4).as_secs_f64());
            timeout.back_off();
        }
        assert_eq!(waits, [1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 4.0]);
    }

    #[test]
    fn never_below_the_minimum() {
        let config = Config::textbook();
        let mut timeout = RetransmissionTimeout::new(&config);
        timeout.sample(Time::from_micros(200), config.minimum_rto);
        assert_eq!(timeout.current(config.maximum_rto), Time::from_millis(200));
    }
}
