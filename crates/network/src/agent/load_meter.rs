//! The load factor of a port, as VCP and MLCP measure it.

use crate::setup::{AgentSetup, LinkSetup};
use pathweave_units::{Rate, Time};

/// Samples of the queue in an interval: t_q = t_rho/20, as 10 ms are of the original's 200.
const SAMPLES: u32 = 20;
/// Share of a new sample in the steady queue.
const GAIN: f64 = 0.25;
/// A steady queue of less than this many bytes is none.
const NOTHING: f64 = 1.0;

/// Measures, over intervals t_rho,
///
/// > rho = (arrived + queue_weight * steady queue) / (target * C * t_rho)
///
/// in bytes. The steady queue is a moving average of what waits, sampled 20 times an interval. What was
/// measured in one interval counts until the next ends.
#[derive(Clone, Debug)]
pub(super) struct LoadMeter {
    /// C, bytes per second.
    capacity: f64,
    target: f64,
    queue_weight: f64,
    /// t_q.
    sampling: Time,
    next_sample: Time,
    /// When the last sample of this interval is due.
    interval_ends: Time,
    arrived_bytes: f64,
    waiting_bytes: f64,
    steady_bytes: f64,
    load: f64,
}

impl LoadMeter {
    /// Bytes of state that it keeps: the changing numbers above.
    pub(super) const STATE_BYTES: u64 = 6 * 8;

    /// Of a port, by its controller's parameters, which VCP and MLCP call alike.
    pub(super) fn of(setup: &LinkSetup) -> LoadMeter {
        let Some(AgentSetup {
            parameters,
            base_rtt,
            ..
        }) = setup.agent.as_deref()
        else {
            unreachable!("a port with an agent has the agent's setup")
        };
        let t_p = Time::from_secs_f64(parameters.number("t_p") / 1e3);
        LoadMeter::new(
            setup.rate,
            t_p.max(*base_rtt),
            parameters.number("target"),
            parameters.number("queue_weight"),
        )
    }

    /// Of a port with this rate, with t_rho of `interval`; see the equation for the others.
    fn new(rate: Rate, interval: Time, target: f64, queue_weight: f64) -> LoadMeter {
        let sampling = interval.as_picos() / u64::from(SAMPLES);
        let sampling = Time::from_picos(sampling.max(1));
        LoadMeter {
            capacity: rate.as_bps() as f64 / 8.0,
            target,
            queue_weight,
            sampling,
            next_sample: sampling,
            interval_ends: sampling * u64::from(SAMPLES),
            arrived_bytes: 0.0,
            waiting_bytes: 0.0,
            steady_bytes: 0.0,
            load: 0.0,
        }
    }

    /// rho of the last interval.
    pub(super) fn load(&self) -> f64 {
        self.load
    }

    /// A packet of this many bytes arrives, where `waiting` bytes have waited since the last event.
    #[inline(always)]
    pub(super) fn on_arrival(&mut self, now: Time, bytes: u16, waiting: u32) {
        self.waiting_bytes = f64::from(waiting);
        self.catch_up(now);
        self.arrived_bytes += f64::from(bytes);
        self.waiting_bytes += f64::from(bytes);
    }

    /// The transmission of a packet begins and leaves this many bytes waiting.
    #[inline(always)]
    pub(super) fn on_service(&mut self, now: Time, waiting: u32) {
        self.catch_up(now);
        self.waiting_bytes = f64::from(waiting);
    }

    /// The port's rate changes.
    pub(super) fn set_rate(&mut self, now: Time, rate: Rate) {
        self.catch_up(now);
        self.capacity = rate.as_bps() as f64 / 8.0;
    }

    /// Whether an interval is over that has not been ended.
    #[inline(always)]
    pub(super) fn is_behind(&self, now: Time) -> bool {
        self.interval_ends <= now
    }

    /// Takes the samples that are due: nothing has changed since the last event.
    #[inline(always)]
    fn catch_up(&mut self, now: Time) {
        if self.is_behind(now) {
            self.end_intervals(now);
        }
        self.take_samples(now);
    }

    /// Takes the samples up to a time of this interval.
    #[inline(always)]
    fn take_samples(&mut self, to: Time) {
        while self.next_sample <= to {
            self.steady_bytes += GAIN * (self.waiting_bytes - self.steady_bytes);
            self.next_sample += self.sampling;
        }
    }

    #[cold]
    #[inline(never)]
    fn end_intervals(&mut self, now: Time) {
        while self.is_behind(now) {
            self.take_samples(self.interval_ends);
            self.end_interval(now);
        }
    }

    fn end_interval(&mut self, now: Time) {
        let interval = self.sampling * u64::from(SAMPLES);
        let interval_seconds = self.sampling.as_secs_f64() * f64::from(SAMPLES);
        let bytes = self.arrived_bytes + self.queue_weight * self.steady_bytes;
        self.load = bytes / (self.target * self.capacity * interval_seconds);
        let idle =
            self.arrived_bytes == 0.0 && self.waiting_bytes == 0.0 && self.steady_bytes < NOTHING;
        self.arrived_bytes = 0.0;
        let ended = self.interval_ends;
        self.interval_ends += interval;
        if idle {
            // Nothing changes while nothing comes: on to the interval that `now` is in.
            (self.load, self.steady_bytes) = (0.0, 0.0);
            let whole = (now - ended).as_picos() / interval.as_picos();
            self.next_sample += interval * whole;
            self.interval_ends += interval * whole;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 Gbps, t_rho 200 us, sampled every 10 us; without a target below the rate.
    fn meter() -> LoadMeter {
        LoadMeter::new(Rate::from_gbps(1), Time::from_micros(200), 1.0, 0.5)
    }

    fn near(value: f64, expected: f64) -> bool {
        (value - expected).abs() < 1e-9
    }

    /// What this many samples leave of a steady queue.
    fn left_after(samples: u32) -> f64 {
        (0..samples).fold(1.0, |left, _| 0.75 * left)
    }

    #[test]
    fn the_load_is_what_arrived_over_what_could_leave() {
        // 25 000 bytes leave in 200 us; 10 packets of 1500 arrive, and each is served at once.
        let mut meter = meter();
        for packet in 0..10 {
            let now = Time::from_micros(20 * packet);
            meter.on_arrival(now, 1500, 0);
            meter.on_service(now, 0);
        }
        meter.on_service(Time::from_nanos(199_999), 0);
        assert_eq!(meter.load(), 0.0, "the interval is not over");
        meter.on_service(Time::from_micros(200), 0);
        assert!(near(meter.load(), 0.6), "{}", meter.load());
        meter.on_service(Time::from_micros(400), 0);
        assert_eq!(meter.load(), 0.0, "nothing came in the second");
    }

    #[test]
    fn the_target_is_full_load() {
        let mut meter = LoadMeter::new(Rate::from_gbps(1), Time::from_micros(200), 0.6, 0.5);
        for _ in 0..10 {
            meter.on_arrival(Time::ZERO, 1500, 0);
            meter.on_service(Time::ZERO, 0);
        }
        meter.on_service(Time::from_micros(200), 0);
        assert!(near(meter.load(), 1.0), "{}", meter.load());
    }

    #[test]
    fn the_steady_queue_is_the_moving_average_of_the_samples() {
        // 4000 bytes arrive and wait for 15 us: one sample of 4000, 19 of nothing.
        let mut meter = meter();
        meter.on_arrival(Time::ZERO, 4000, 0);
        meter.on_service(Time::from_micros(15), 0);
        assert!(near(meter.steady_bytes, 1000.0), "{}", meter.steady_bytes);
        meter.on_service(Time::from_micros(25), 0);
        assert!(near(meter.steady_bytes, 750.0), "{}", meter.steady_bytes);
        meter.on_service(Time::from_micros(200), 0);
        let steady = 1000.0 * left_after(19);
        assert!(near(meter.load(), (4000.0 + 0.5 * steady) / 25_000.0));
    }

    #[test]
    fn a_queue_that_stays_counts_by_its_weight() {
        // 10 000 bytes wait through two intervals: the second has no arrivals, only them.
        let mut meter = meter();
        meter.on_arrival(Time::ZERO, 10_000, 0);
        meter.on_arrival(Time::from_micros(400), 1500, 10_000);
        let steady = 10_000.0 * (1.0 - left_after(40));
        assert!(near(meter.load(), 0.5 * steady / 25_000.0));
    }

    #[test]
    fn an_idle_time_is_skipped_and_forgotten() {
        let mut meter = meter();
        meter.on_arrival(Time::ZERO, 1500, 0);
        meter.on_service(Time::ZERO, 0);
        meter.on_service(Time::from_micros(200), 0);
        assert!(meter.load() > 0.0);
        // An hour is 180 million samples: they are not taken one by one.
        let later = Time::from_secs(3600) + Time::from_micros(5);
        meter.on_arrival(later, 1500, 0);
        assert_eq!(meter.load(), 0.0);
        assert_eq!(
            meter.next_sample,
            Time::from_secs(3600) + Time::from_micros(10)
        );
        meter.on_service(later, 0);
        meter.on_service(Time::from_secs(3600) + Time::from_micros(200), 0);
        assert!(near(meter.load(), 0.06), "the interval has kept its place");
    }

    #[test]
    fn another_rate_counts_from_the_next_end_on() {
        let mut meter = meter();
        meter.on_arrival(Time::ZERO, 1250, 0);
        meter.on_service(Time::ZERO, 0);
        meter.set_rate(Time::from_micros(100), Rate::from_mbps(100));
        meter.on_service(Time::from_micros(200), 0);
        assert!(near(meter.load(), 0.5), "{}", meter.load());
    }
}
