//! XCP's port: changes of windows (Katabi, Handley and Rohrs, SIGCOMM 2002).
//!
//! With C the port's rate, y that at which bytes arrived in the interval T, Q the smallest queue of the
//! interval, and rtt, w and s the RTT, window and length that packets tell:
//!
//!   d = sum(rtt^2 s/w) / sum(rtt s/w),   the next T = d
//!   phi = 0.4 d (C - y) - 0.226 Q
//!   h = max(0, 0.1 T y - |phi|)
//!   xi_p = (h + max(phi, 0)) / (d sum(rtt s/w)),   xi_n = (h + max(-phi, 0)) / (d sum(s))
//!
//! A packet's field is lowered to xi_p rtt^2 s/w - xi_n rtt s when its transmission begins. Each variant
//! bounds these in its own way. The first T is the fabric's base RTT. An interval without RTTs leaves the
//! coefficients as they are: they say how flows shared last. The sums weigh packets with s, so that each
//! flow counts once whatever its packets.

mod ns2;
mod paper;
mod variant;

use super::{Agent, AgentStatistics, Backlog, Label};
use crate::setup::LinkSetup;
pub use ns2::Reference;
pub use paper::Paper;
use pathweave_control::{Feedback, Value};
use pathweave_units::{Rate, Time};
use variant::Variant;

const ALPHA: f64 = 0.4;
const BETA: f64 = 0.226;
/// Share of the traffic that may move from flow to flow in an interval.
const GAMMA: f64 = 0.1;
const SHORTEST_INTERVAL: f64 = 1e-6;
/// d, T and its end, xi_p, xi_n, two counts of bytes and two sums, 8 bytes each.
const STATE_BYTES: u64 = 9 * 8;

/// XCP at one port, as a variant has it.
#[derive(Clone, Debug)]
pub struct Xcp<V> {
    /// C, byte/s.
    capacity: f64,
    /// d, seconds.
    rtt: f64,
    /// T, seconds.
    interval: f64,
    interval_ends: Time,
    /// When the next interval ends: the control interval or the one that only the variant has.
    first_ends: Time,
    /// Bytes/s^2.
    xi_p: f64,
    /// 1/s.
    xi_n: f64,
    /// Bytes in this interval, of all packets.
    arrived: f64,
    /// Bytes in this interval, of packets with a field.
    told: f64,
    /// sum(rtt s/w), seconds.
    weights: f64,
    /// sum(rtt^2 s/w), seconds^2.
    weighted_rtts: f64,
    /// Bytes that wait since the last packet came or went.
    queue: u32,
    variant: V,
    statistics: AgentStatistics,
}

/// What a packet's field says: window in bytes and RTT in seconds.
fn told_by(label: &Label) -> Option<(f64, f64)> {
    match label.feedback {
        Feedback::Xcp { window, rtt, .. } if !label.is_echo => {
            Some((larger(f64::from(window), 1.0), f64::from(rtt)))
        }
        _ => None,
    }
}

/// `f64::max` takes five more instructions, because it has a case for NaN.
#[inline(always)]
fn larger(one: f64, other: f64) -> f64 {
    if one > other { one } else { other }
}

#[inline(always)]
fn smaller(one: f64, other: f64) -> f64 {
    if one < other { one } else { other }
}

/// Whether the scenario asks for the reference code.
pub(super) fn is_reference(setup: &LinkSetup) -> bool {
    let agent = setup.agent.as_ref();
    let variant = agent.and_then(|agent| agent.parameters.value("variant"));
    variant == Some(&Value::Text("ns2".to_owned()))
}

impl<V: Variant> Xcp<V> {
    /// Ends the intervals that are over. Packets that come and go are all that changes the queue.
    #[inline(always)]
    fn catch_up(&mut self, now: Time) {
        if self.is_behind(now) {
            self.end_intervals(now);
        }
    }

    #[cold]
    #[inline(never)]
    fn end_intervals(&mut self, now: Time) {
        while self.interval_ends <= now {
            self.variant
                .catch_up(self.interval_ends, self.queue, self.rtt, self.capacity);
            let nothing_came = self.arrived == 0.0;
            self.end_interval();
            if nothing_came {
                // Nothing changes while nothing comes.
                let left = (now - self.interval_ends).as_secs_f64();
                let whole = (left / self.interval).floor();
                self.interval_ends += Time::from_secs_f64(whole * self.interval);
            }
            self.interval_ends += Time::from_secs_f64(self.interval);
        }
        self.variant
            .catch_up(now, self.queue, self.rtt, self.capacity);
        self.first_ends = self.interval_ends.min(self.variant.interval_ends());
    }

    fn end_interval(&mut self) {
        if self.weights > 0.0 {
            self.rtt = (self.weighted_rtts / self.weights).max(SHORTEST_INTERVAL);
            let spare = self.capacity - self.arrived / self.interval;
            let queue = f64::from(self.variant.persistent_queue());
            let phi = ALPHA * self.rtt * spare - BETA * queue;
            let shuffled = (GAMMA * self.arrived - phi.abs()).max(0.0);
            let (positive, negative) = (shuffled + phi.max(0.0), shuffled + (-phi).max(0.0));
            self.xi_p = V::FACTOR * (positive / (self.rtt * self.weights));
            self.xi_n = V::FACTOR * (negative / (self.rtt * self.told));
            self.variant.set_budgets(positive, negative);
        }
        self.interval = self.rtt;
        self.arrived = 0.0;
        self.told = 0.0;
        self.weights = 0.0;
        self.weighted_rtts = 0.0;
        self.variant.begin_interval(self.queue);
    }
}

impl<V: Variant> Agent for Xcp<V> {
    type Label = Label;

    fn new(setup: &LinkSetup) -> Xcp<V> {
        let first_rtt = V::first_interval(setup);
        let variant = V::new(setup);
        let interval_ends = Time::from_secs_f64(first_rtt);
        Xcp {
            capacity: setup.rate.as_bps() as f64 / 8.0,
            rtt: first_rtt,
            interval: first_rtt,
            interval_ends,
            first_ends: interval_ends.min(variant.interval_ends()),
            xi_p: V::FIRST_XI_P,
            xi_n: 0.0,
            arrived: 0.0,
            told: 0.0,
            weights: 0.0,
            weighted_rtts: 0.0,
            queue: 0,
            variant,
            statistics: AgentStatistics {
                state_bytes: STATE_BYTES + V::STATE_BYTES,
                ..AgentStatistics::default()
            },
        }
    }

    #[inline(always)]
    fn on_arrival(&mut self, now: Time, bytes: u16, label: &mut Label, backlog: Backlog) {
        // A failure may have emptied the queue unseen.
        self.queue = backlog.bytes;
        self.variant.see(self.queue);
        self.catch_up(now);
        self.queue += u32::from(bytes);
        let bytes = f64::from(bytes);
        self.arrived += bytes;
        if let Some((window, rtt)) = told_by(label) {
            self.told += bytes;
            self.weights += rtt * bytes / window;
            self.weighted_rtts += rtt * rtt * bytes / window;
        }
    }

    #[inline(always)]
    fn on_service(&mut self, now: Time, bytes: u16, label: &mut Label, backlog: Backlog) {
        self.catch_up(now);
        self.variant.see_before_service(self.queue);
        self.queue = backlog.bytes;
        self.variant.see(self.queue);
        let Some((window, rtt)) = told_by(label) else {
            return;
        };
        let bytes = f64::from(bytes);
        let positive = self.xi_p * rtt * rtt * bytes / window;
        let negative = self.xi_n * rtt * bytes;
        let Feedback::Xcp { change, .. } = &mut label.feedback else {
            return;
        };
        let elsewhere = f64::from(*change);
        let interval = self.interval;
        let intervals = || rtt * bytes / window / interval;
        let (positive, negative) = self.variant.grant(positive, negative, elsewhere, intervals);
        let granted = (positive - negative) as f32;
        if granted < *change {
            *change = granted;
            self.statistics.feedback += 1;
        }
    }

    #[inline(always)]
    fn is_behind(&self, now: Time) -> bool {
        self.first_ends <= now
    }

    fn set_rate(&mut self, now: Time, rate: Rate) {
        self.catch_up(now);
        self.capacity = rate.as_bps() as f64 / 8.0;
    }

    fn statistics(&self) -> AgentStatistics {
        self.statistics
    }
}

#[cfg(test)]
mod tests;
