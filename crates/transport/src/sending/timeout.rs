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
}

impl RetransmissionTimeout {
    pub fn new(config: &Config) -> RetransmissionTimeout {
        RetransmissionTimeout {
            smoothed: 0,
            variation: 0,
            timeout: config.initial_rto.as_picos(),
            in_row: 0,
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
        let backed_off = self.timeout.saturating_mul(1 << self.in_row.min(32));
        Time::from_picos(backed_off).min(maximum)
    }

    /// Timeouts since the last progress.
    #[inline]
    pub fn in_row(&self) -> u32 {
        self.in_row
    }

    /// The timer expired: the next one takes twice as long (section 5.5).
    pub fn back_off(&mut self) {
        self.in_row += 1;
    }

    /// New data was acknowledged.
    #[inline(always)]
    pub fn end_row(&mut self) {
        self.in_row = 0;
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
    fn never_below_the_minimum() {
        let config = Config::textbook();
        let mut timeout = RetransmissionTimeout::new(&config);
        timeout.sample(Time::from_micros(200), config.minimum_rto);
        assert_eq!(timeout.current(config.maximum_rto), Time::from_millis(200));
    }
}
