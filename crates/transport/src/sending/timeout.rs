//! The retransmission timeout (RFC 6298).

use crate::Config;
use pathweave_units::Time;

/// Smoothed RTT, its variation, and the timeout that follows from them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RetransmissionTimeout {
    smoothed: u64,
    variation: u64,
    timeout: u64,
    backoff: u32,
}

impl RetransmissionTimeout {
    pub fn new(config: &Config) -> RetransmissionTimeout {
        RetransmissionTimeout {
            smoothed: 0,
            variation: 0,
            timeout: config.initial_rto.as_picos(),
            backoff: 0,
        }
    }

    /// The handshake, which was not simulated, has measured the RTT: with those of data centres its timeout is
    /// the minimum. The smoothed RTT stays unknown.
    pub fn assume_handshake(&mut self, config: &Config) {
        self.timeout = config.minimum_rto.as_picos();
    }

    /// Takes an RTT sample and returns the smoothed RTT. Gains are 1/8 and 1/4 (section 2.3).
    #[inline]
    pub fn sample(&mut self, rtt: Time, config: &Config) -> Time {
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
        self.timeout = timeout.max(config.minimum_rto.as_picos());
        Time::from_picos(self.smoothed)
    }

    /// The time to wait now, backed off.
    #[inline]
    pub fn current(&self, config: &Config) -> Time {
        let backed_off = self.timeout.saturating_mul(1 << self.backoff.min(32));
        Time::from_picos(backed_off).min(config.maximum_rto)
    }

    /// The timer expired: the next one takes twice as long (section 5.5).
    pub fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// New data was acknowledged.
    #[inline]
    pub fn reset_backoff(&mut self) {
        self.backoff = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_rfc_6298() {
        let config = Config {
            minimum_rto: Time::from_millis(1),
            ..Config::default()
        };
        let mut timeout = RetransmissionTimeout::new(&config);
        assert_eq!(timeout.current(&config), Time::from_secs(1));
        // First sample R: SRTT = R, RTTVAR = R/2, RTO = SRTT + 4 RTTVAR = 3 R.
        assert_eq!(
            timeout.sample(Time::from_millis(8), &config),
            Time::from_millis(8)
        );
        assert_eq!(timeout.current(&config), Time::from_millis(24));
        // R' = 16 ms: RTTVAR = 3/4 * 4 + 1/4 * 8 = 5, SRTT = 7/8 * 8 + 1/8 * 16 = 9, RTO = 29 ms.
        assert_eq!(
            timeout.sample(Time::from_millis(16), &config),
            Time::from_millis(9)
        );
        assert_eq!(timeout.current(&config), Time::from_millis(29));
        timeout.back_off();
        timeout.back_off();
        assert_eq!(timeout.current(&config), Time::from_millis(116));
        (0..40).for_each(|_| timeout.back_off());
        assert_eq!(timeout.current(&config), config.maximum_rto);
        timeout.reset_backoff();
        assert_eq!(timeout.current(&config), Time::from_millis(29));
    }

    #[test]
    fn never_below_the_minimum() {
        let config = Config::default();
        let mut timeout = RetransmissionTimeout::new(&config);
        timeout.sample(Time::from_micros(200), &config);
        assert_eq!(timeout.current(&config), Time::from_millis(200));
    }
}
