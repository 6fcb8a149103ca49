//! DECN, differential explicit congestion notification (Jiang, Huang, Liu, Hu and Wang, "Achieving Fast
//! Convergence and High Efficiency using Differential Explicit Feedback in Data Center"): switches tell
//! each flow by how much its rate differs from its fair share, in four bits of each of three packets.
//!
//! - Three new packets in a row are a unit. They leave with the largest difference there is; each
//!   switch lowers it to its own (how it measures that stands with the ports), deciding at the first
//!   four bits that differ. The receiver copies the bits into its acknowledgements.
//! - When the third acknowledgement of a unit has arrived, R <- max(R + difference, one packet per RTT); one
//!   packet per RTT follows the RTT. Packets are paced at R; the window is what R fills in two smoothed
//!   RTTs, so that the pace limits.
//! - R starts as the initial window per RTT of the handshake or, without one, of the first
//!   acknowledgement.
//! - Three duplicate acknowledgements halve R. A timeout sets one packet per RTT, and one packet until
//!   the next acknowledgement. What a unit that was on its way brings later counts from the R that it
//!   left with: it overrides the cut.
//!
//! A difference has 12 bits, the first of them the sign, and saturates at 2047 times `unit`. `unit` is a
//! parameter because a sender does not know the links: 1 Mbps is right up to 2 Gbps, beyond it is the
//! smallest power of two that covers the rate (8 for 10 Gbps). With less, a single unit moves R by less
//! than the link has, and it takes several.
//!
//! Ruling: a unit counts only if its three acknowledgements each acknowledge one packet more, in order.
//! A loss, on either way, or reordering drops it: R stays. Packets sent again belong to no unit.
//!
//! Ruling (`pace = "stable"`): a unit starts no sooner than two t_p and a packet at the present rate after
//! R has last changed, and after the one before it is over. By then every port has measured R over a
//! whole period (they end with packets, hence the packet). A flow that ends before that lives with the
//! initial rate. `pace = "paper"` starts a unit at most every t_p, whatever is on its way: differences
//! that were measured before R changed are then added on top, and R oscillates where the RTT exceeds t_p.
//!
//! A port whose table is full, or that has not yet measured a flow, takes the flow's packets out of
//! their unit: the flow keeps its rate.

mod codec;

pub use codec::{Difference, PACKETS, Passing, UNTOUCHED};

use crate::{
    Ack, Change, Controller, Ecn, Entry, Feedback, Loss, Parameter, ParameterKind, Path, Paths,
    PerSubflow, Scheme, SubflowId, loss,
};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use pathweave_units::{Rate, Time};

/// DECN in the registry.
pub const ENTRY: Entry = Entry {
    name: "decn",
    summary: "Paces at a rate that switches correct by its difference from the fair share.",
    source: "Jiang et al., Achieving Fast Convergence and High Efficiency using Differential Explicit \
             Feedback in Data Center",
    file: include_str!("mod.rs"),
    coupled: false,
    scatter: None,
    scheme: Some(Scheme::Decn),
    ecn: |_| Ecn::Off,
    parameters: &[
        Parameter {
            name: "t_p",
            kind: ParameterKind::Number {
                default: 0.1,
                minimum: 0.001,
                maximum: 10.0,
                integer: false,
            },
            help: "Time over which ports measure a flow's rate, in milliseconds.",
        },
        Parameter {
            name: "unit",
            kind: ParameterKind::Number {
                default: 1.0,
                minimum: 1.0,
                maximum: 1024.0,
                integer: true,
            },
            help: "Unit of differences of rates, in Mbps; 2047 of them should cover the fastest link.",
        },
        Parameter {
            name: "pace",
            kind: ParameterKind::Choice(&["stable", "paper"]),
            help: "A unit waits until the last change of rate has been measured (stable), or \
                   leaves every t_p (paper).",
        },
        Parameter {
            name: "table",
            kind: ParameterKind::Number {
                default: 4096.0,
                minimum: 1.0,
                maximum: 1_048_576.0,
                integer: true,
            },
            help: "Flows that a port can keep; others keep their rates.",
        },
    ],
    build: |parameters| {
        Box::new(Decn {
            period: Time::from_secs_f64(1e-3 * parameters.number("t_p")),
            unit: 1e6 * parameters.number("unit"),
            literal: parameters.choice("pace") == "paper",
            senders: PerSubflow::new(Sender::default()),
        })
    },
};

#[derive(Clone, Debug)]
struct Decn {
    period: Time,
    /// Bit/s.
    unit: f64,
    /// Whether units leave as the paper says.
    literal: bool,
    senders: PerSubflow<Sender>,
}

/// A subflow's rate and its units.
#[derive(Clone, Debug, Default)]
struct Sender {
    /// R in bit/s; zero until an RTT is known.
    rate: f64,
    /// Whether it is the least, one packet per RTT.
    least: bool,
    /// When it last changed.
    changed: Time,
    /// When the last unit started.
    started: Option<Time>,
    /// New packets sent, with the latest.
    sent: u64,
    /// Units on their way, the oldest first.
    units: VecDeque<Unit>,
}

#[derive(Clone, Debug)]
struct Unit {
    /// What its first packet's acknowledgement acknowledges.
    first: u64,
    sent: u8,
    returned: u8,
    nibbles: [u8; PACKETS as usize],
    /// R when it started.
    rate: f64,
}

/// RTTs that the window lets the rate go on for without acknowledgements.
const WINDOW_RTTS: f64 = 2.0;

fn packet_bits(path: &Path) -> f64 {
    8.0 * path.packet.get() as f64
}

impl Sender {
    fn set_rate(&mut self, path: &mut Path, rate: f64, now: Time) {
        let least = packet_bits(path) / path.rtt_seconds();
        self.least = rate <= least;
        self.rate = rate.max(least);
        self.changed = now;
        path.pacing_rate = Some(Rate::from_bps(self.rate as u64));
    }

    /// The window that lets the rate limit.
    fn window(&self, path: &Path) -> f64 {
        let packets = WINDOW_RTTS * self.rate * path.rtt_seconds() / packet_bits(path);
        packets.max(path.minimum_window)
    }

    fn start(&mut self, path: &mut Path, now: Time) {
        if path.has_rtt() {
            let base = path.minimum_rtt.min(path.smoothed_rtt).as_secs_f64();
            let rate = path.window * packet_bits(path) / base;
            self.set_rate(path, rate, now);
        }
    }

    fn may_start_unit(&self, path: &Path, period: Time, literal: bool, now: Time) -> bool {
        if self.rate == 0.0 {
            return false;
        }
        if literal {
            return self.started.is_none_or(|started| now >= started + period);
        }
        let packet = Time::from_secs_f64(packet_bits(path) / self.rate);
        self.units.is_empty() && now >= self.changed.saturating_add(period * 2 + packet)
    }

    /// What the packet that leaves carries; `is_new` unless it was sent before.
    fn next_field(&mut self, start: bool, is_new: bool, now: Time) -> Feedback {
        let mut first = false;
        match self.units.back_mut() {
            Some(unit) if unit.sent < PACKETS && is_new => unit.sent += 1,
            Some(unit) if unit.sent < PACKETS => {
                self.units.pop_back();
                return outside();
            }
            _ if start && is_new => {
                first = true;
                self.started = Some(now);
                self.units.push_back(Unit {
                    first: self.sent,
                    sent: 1,
                    returned: 0,
                    nibbles: [UNTOUCHED; PACKETS as usize],
                    rate: self.rate,
                });
            }
            _ => return outside(),
        }
        Feedback::Decn {
            nibble: UNTOUCHED,
            first,
            in_unit: true,
        }
    }

    /// The unit that an acknowledgement completes. `acked` packets have arrived in order.
    fn completed(&mut self, acked: u64, feedback: Feedback) -> Option<Unit> {
        if let Some(unit) = self.units.front_mut()
            && let Feedback::Decn {
                nibble,
                first,
                in_unit: true,
            } = feedback
            && acked == unit.first + u64::from(unit.returned)
            && unit.returned < unit.sent
            && first == (unit.returned == 0)
        {
            unit.nibbles[usize::from(unit.returned)] = nibble;
            unit.returned += 1;
            if unit.returned == PACKETS {
                return self.units.pop_front();
            }
        }
        // All has arrived, and it is not complete: it never will be.
        while self.units.front().is_some_and(|unit| {
            unit.sent == PACKETS && acked >= unit.first + u64::from(PACKETS - 1)
        }) {
            self.units.pop_front();
        }
        None
    }
}

fn outside() -> Feedback {
    Feedback::Decn {
        nibble: 0,
        first: false,
        in_unit: false,
    }
}

impl Controller for Decn {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        if !matches!(ack.feedback, Feedback::Decn { .. }) {
            return;
        }
        let (path, sender) = (&mut paths[r], self.senders.get(r));
        if sender.rate == 0.0 {
            sender.start(path, ack.now);
        }
        if let Some(unit) = sender.completed(path.acked, ack.feedback)
            && let Some(difference) = Difference::from_nibbles(unit.nibbles)
        {
            let from = if self.literal { sender.rate } else { unit.rate };
            let change = f64::from(difference.units()) * self.unit;
            sender.set_rate(path, from + change, ack.now);
        }
        if sender.rate > 0.0 {
            if sender.least {
                // Many flows fill queues even so: the RTT then slows them down together.
                let changed = sender.changed;
                sender.set_rate(path, 0.0, changed);
            }
            path.window = sender.window(path);
            path.ssthresh = path.window;
        }
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, now: Time) {
        let (path, sender) = (&mut paths[r], self.senders.get(r));
        match loss {
            Loss::Timeout | Loss::PersistentCongestion => {
                sender.units.clear();
                path.window = loss::first_window(path, loss);
                if sender.rate > 0.0 {
                    sender.set_rate(path, 0.0, now);
                }
            }
            Loss::FastRetransmit if sender.rate > 0.0 => {
                sender.set_rate(path, sender.rate / 2.0, now);
                path.window = sender
                    .window(path)
                    .min(path.window)
                    .max(path.minimum_window);
                path.ssthresh = path.window;
            }
            Loss::FastRetransmit => {}
        }
    }

    fn on_subflow(&mut self, paths: &mut Paths<'_>, r: SubflowId, change: Change) {
        if change.begins() {
            self.senders.restart(r);
            let (path, sender) = (&mut paths[r], self.senders.get(r));
            sender.start(path, Time::ZERO);
        }
    }

    fn on_send(&mut self, paths: &Paths<'_>, r: SubflowId, now: Time) -> Feedback {
        let (path, sender) = (&paths[r], self.senders.get(r));
        let is_new = path.sent > sender.sent;
        if sender.sent == 0 && sender.rate > 0.0 {
            // The flow's first packet: ports know nothing of its rate.
            sender.changed = now;
        }
        sender.sent = path.sent;
        let start = sender.may_start_unit(path, self.period, self.literal, now);
        sender.next_field(start, is_new, now)
    }
}

#[cfg(test)]
mod tests;
