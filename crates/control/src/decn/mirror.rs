//! What ports measure of a flow, found again by its sender.

use pathweave_units::Time;

/// How long a port keeps what it has measured of a flow that sends nothing, if t_p is shorter. The sender counts anew after
/// the same time.
pub const REMEMBERED: Time = Time::from_millis(1);

/// The mean rate of a flow over the last period that is over. Periods begin and end as at a port: the flow's first packet
/// begins one, and the first packet t_p or later ends it and begins the next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mirror {
    /// When the period that runs began; none before the first packet.
    began: Option<Time>,
    /// When the last packet left.
    last: Time,
    /// Bits sent in the period.
    sent: f64,
    /// Bit/s over the last period.
    rate: f64,
}

impl Mirror {
    /// A packet leaves.
    pub fn note_sent(&mut self, bits: f64, period: Time, now: Time) {
        if now.saturating_sub(self.last) > period.max(REMEMBERED) {
            *self = Mirror::default(); // ports have forgotten the flow
        }
        let began = *self.began.get_or_insert(now);
        let elapsed = now - began;
        if elapsed >= period {
            self.rate = self.sent / elapsed.as_secs_f64();
            self.began = Some(now);
            self.sent = 0.0;
        }
        self.sent += bits;
        self.last = now;
    }

    /// The mean rate of the last period, bit/s; zero before one is over.
    pub fn rate(&self) -> f64 {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Time = Time::from_micros(100);

    #[test]
    fn a_period_ends_with_the_first_packet_after_it() {
        let mut mirror = Mirror::default();
        let mut rate_at = |micros| {
            mirror.note_sent(12_000.0, PERIOD, Time::from_micros(micros));
            mirror.rate() / 1e6
        };
        assert_eq!(rate_at(7), 0.0);
        assert_eq!(rate_at(67), 0.0);
        // Two packets in 120 us.
        assert!((rate_at(127) - 200.0).abs() < 1e-9);
        assert!((rate_at(167) - 200.0).abs() < 1e-9);
        // Two in 150 us.
        assert!((rate_at(277) - 160.0).abs() < 1e-9);
        // After a millisecond of silence it counts anew.
        assert_eq!(rate_at(1278), 0.0);
    }
}
