//! How long and how fast a scenario is: rates follow from the length, so that no scenario has more than
//! some thousands of packets, whether it lasts a millisecond or a minute.

use super::draw::Draw;
use pathweave_fabric::Fabric;
use serde_json::Value;

/// The length of a run in seconds and what goes with it.
pub struct Scale {
    /// How long the run is meant to be.
    pub length: f64,
    /// Bits per second that give a host its share of the packets.
    rate: f64,
    /// One-way delay of a link, in seconds.
    pub delay: f64,
    /// Whether the run ends with its traffic alone.
    pub ends: bool,
}

/// Packets of 1500 B that a host could send in a run.
const PACKETS: (f64, f64) = (20.0, 10_000.0);

/// The lowest rate of a link, as a part of the scale's.
const SLOWEST: f64 = 0.1;

impl Scale {
    pub fn new(draw: &mut Draw) -> Scale {
        let length = draw.log(1e-3, 20.0);
        let packets = draw.log(PACKETS.0, PACKETS.1);
        Scale {
            length,
            rate: packets * 12_000.0 / length,
            delay: length * draw.log(1e-4, 0.03),
            ends: draw.chance(0.2),
        }
    }

    /// Bytes that a host could send.
    pub fn bytes(&self) -> f64 {
        self.rate * self.length / 8.0
    }

    /// Seconds that 20 packets of 9000 B take at the lowest rate.
    pub fn longest_wait(&self) -> f64 {
        20.0 * 72_000.0 / (SLOWEST * self.rate)
    }

    pub fn rate(&self, draw: &mut Draw) -> Value {
        let factor = if draw.chance(0.4) {
            1.0
        } else {
            draw.log(SLOWEST, 3.0)
        };
        draw.rate(self.rate * factor)
    }

    /// A delay, or a range of delays; sometimes none.
    pub fn delay(&self, draw: &mut Draw) -> Value {
        if draw.chance(0.05) {
            return "0".into();
        }
        let delay = self.delay * draw.log(0.3, 3.0);
        if draw.chance(0.1) {
            let (from, to) = (draw.time(delay), draw.time(delay * 2.0));
            let (from, to) = (from.as_str().unwrap_or("0"), to.as_str().unwrap_or("0"));
            return format!("{from}..{to}").into();
        }
        draw.time(delay)
    }

    /// A time within the run.
    pub fn moment(&self, draw: &mut Draw) -> Value {
        let at = self.length * draw.uniform(0.0, 1.0);
        draw.time(at)
    }

    /// An interval at which something is recorded.
    pub fn interval(&self, draw: &mut Draw) -> Value {
        let interval = self.length * draw.log(3e-3, 0.5);
        draw.time(interval)
    }

    /// Seconds between two feedbacks of a switch, enough for the slowest link.
    pub fn feedback_period(&self, built: &Fabric) -> f64 {
        let slowest = built.links.iter().map(|link| link.rate.as_bps()).min();
        let bytes = 16.0 + 8.0 * built.nodes.len() as f64;
        let feedback = bytes * 8.0 / slowest.unwrap_or(1) as f64;
        (self.length * 1e-3).max(2.0 * feedback).max(1e-6)
    }
}
