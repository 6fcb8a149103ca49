//! RCP's port: one rate for all flows (Dukkipati, "Rate Control Protocol", 2008).
//!
//! With C the port's rate, y the rate at which bytes arrived in the last interval, q the bytes that
//! wait, d the mean RTT of the packets that arrived, and T <= d the interval:
//!
//!   R <- R (1 + (T/d) (a (C - y) - b q/d) / C),   a = 0.1, b = 1
//!
//! R stays between a packet per d and C. A packet's field is lowered to R when its transmission begins.
//! T is half of d here; d starts with the fabric's base RTT, and R with C over 10.

use super::{Agent, AgentStatistics, Backlog, Label};
use crate::setup::LinkSetup;
use pathweave_control::Feedback;
use pathweave_units::{Rate, Time};

const A: f64 = 0.1;
const B: f64 = 1.0;
/// Share of a new RTT in the mean.
const GAIN: f64 = 0.02;
const FIRST_SHARE: f64 = 0.1;
const SMALLEST_PACKETS: f64 = 1.0;
const PACKET_BITS: f64 = 8.0 * 1500.0;

/// RCP at one port.
#[derive(Clone, Debug)]
pub struct Rcp {
    /// C, bit/s.
    capacity: f64,
    /// R, bit/s.
    rate: f64,
    /// d, seconds.
    rtt: f64,
    interval_ends: Time,
    arrived_bits: f64,
    statistics: AgentStatistics,
}

impl Rcp {
    fn interval(&self) -> f64 {
        self.rtt / 2.0
    }

    /// Ends the intervals that are over.
    #[inline(always)]
    fn catch_up(&mut self, now: Time, backlog: Backlog) {
        if self.is_behind(now) {
            self.end_intervals(now, backlog);
        }
    }

    #[cold]
    #[inline(never)]
    fn end_intervals(&mut self, now: Time, backlog: Backlog) {
        while self.interval_ends <= now {
            let (interval, d) = (self.interval(), self.rtt);
            let spare = self.capacity - self.arrived_bits / interval;
            let queue = 8.0 * f64::from(backlog.bytes);
            let change = (interval / d) * (A * spare - B * queue / d) / self.capacity;
            let smallest = SMALLEST_PACKETS * PACKET_BITS / d;
            self.rate =
                (self.rate * (1.0 + change)).clamp(smallest.min(self.capacity), self.capacity);
            self.arrived_bits = 0.0;
            if self.rate == self.capacity && backlog.bytes == 0 {
                // Nothing changes while nothing comes.
                let left = (now - self.interval_ends).as_secs_f64();
                let whole = (left / interval).floor();
                self.interval_ends += Time::from_secs_f64(whole * interval);
            }
            self.interval_ends += Time::from_secs_f64(interval);
        }
    }
}

impl Agent for Rcp {
    type Label = Label;

    fn new(setup: &LinkSetup) -> Rcp {
        let capacity = setup.rate.as_bps() as f64;
        let rtt = setup
            .agent
            .as_ref()
            .map_or(100e-6, |agent| agent.base_rtt.as_secs_f64())
            .max(1e-6);
        Rcp {
            capacity,
            rate: FIRST_SHARE * capacity,
            rtt,
            interval_ends: Time::from_secs_f64(rtt / 2.0),
            arrived_bits: 0.0,
            statistics: AgentStatistics {
                state_bytes: 4 * 8,
                ..AgentStatistics::default()
            },
        }
    }

    #[inline(always)]
    fn on_arrival(&mut self, now: Time, bytes: u16, label: &mut Label, backlog: Backlog) {
        self.catch_up(now, backlog);
        self.arrived_bits += 8.0 * f64::from(bytes);
        if let (Feedback::Rcp { rtt, .. }, false) = (label.feedback, label.is_echo)
            && rtt > 0.0
        {
            self.rtt += GAIN * (f64::from(rtt) - self.rtt);
        }
    }

    #[inline(always)]
    fn on_service(&mut self, now: Time, _bytes: u16, label: &mut Label, backlog: Backlog) {
        self.catch_up(now, backlog);
        if let (Feedback::Rcp { rate, .. }, false) = (&mut label.feedback, label.is_echo)
            && f64::from(*rate) > self.rate
        {
            *rate = self.rate as f32;
            self.statistics.feedback += 1;
        }
    }

    #[inline(always)]
    fn is_behind(&self, now: Time) -> bool {
        self.interval_ends <= now
    }

    fn set_rate(&mut self, now: Time, rate: Rate) {
        self.catch_up(now, Backlog::default());
        self.capacity = rate.as_bps() as f64;
        self.rate = self.rate.min(self.capacity);
    }

    fn statistics(&self) -> AgentStatistics {
        self.statistics
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent() -> Rcp {
        Rcp::new(&LinkSetup::plain((0, 1), Rate::from_gbps(1), Time::ZERO))
    }

    fn field(rate: f32) -> Label {
        Label {
            feedback: Feedback::Rcp { rate, rtt: 0.0 },
            ..Label::default()
        }
    }

    fn rate_of(label: &Label) -> f32 {
        match label.feedback {
            Feedback::Rcp { rate, .. } => rate,
            _ => f32::NAN,
        }
    }

    #[test]
    fn a_field_is_lowered_and_never_raised() {
        let mut agent = agent();
        let mut label = field(f32::INFINITY);
        agent.on_service(Time::ZERO, 1500, &mut label, Backlog::default());
        assert_eq!(rate_of(&label), 1e8);
        let mut label = field(5e7);
        agent.on_service(Time::ZERO, 1500, &mut label, Backlog::default());
        assert_eq!(rate_of(&label), 5e7);
    }

    #[test]
    fn echoes_are_left_alone() {
        let mut label = Label {
            is_echo: true,
            ..field(f32::INFINITY)
        };
        agent().on_service(Time::ZERO, 60, &mut label, Backlog::default());
        assert_eq!(rate_of(&label), f32::INFINITY);
    }

    #[test]
    fn an_interval_changes_the_rate_by_the_equation() {
        // T = 50 us, d = 100 us; 2500 bytes arrived: y = 0.4 Gbps; 1250 bytes wait: q/d = 0.1 Gbps.
        let mut agent = agent();
        agent.rate = 5e8;
        agent.on_arrival(
            Time::from_micros(10),
            2500,
            &mut field(1.0),
            Backlog::default(),
        );
        let backlog = Backlog {
            packets: 1,
            bytes: 1250,
        };
        agent.catch_up(Time::from_micros(50), backlog);
        let expected = 5e8 * (1.0 + 0.5 * (0.1 * 0.6 - 0.1));
        assert!((agent.rate - expected).abs() < 1.0, "{}", agent.rate);
    }

    #[test]
    fn an_idle_port_offers_all_it_has_in_the_end() {
        let mut agent = agent();
        agent.catch_up(Time::from_secs(100), Backlog::default());
        assert_eq!(agent.rate, 1e9);
        assert!(agent.interval_ends > Time::from_secs(100));
    }
}
