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
//! Ruling: a unit counts only if its three acknowledgements come in a row and each acknowledges one packet more. In fast
//! recovery, while a packet before the unit is missing, the row is enough: otherwise R would stay as it is until all
//! that was lost has been repaired. A loss within the unit, on either way, or reordering drops it: R stays. Packets sent
//! again belong to no unit.
//!
//! A unit leaves every t_p, the first one with the flow's first packet. Ports measure the flow over periods
//! that are over when the unit passes them, so that several units tell of the same difference where the RTT
//! is longer than t_p. What their differences are added to is a ruling:
//!
//! - `pace = "mean"`: the rate that the port has measured. Ports' periods begin and end with packets, so the
//!   sender finds them again among its own: it keeps the mean rate of the last one that was over when the unit
//!   left. R then comes to the share that the port offered, whatever has changed in the meantime. One unit takes at
//!   most 7/8 of the measured rate, and at most half of it where that leaves less than a unit per RTT.
//! - `pace = "paper"`: the present R, as the paper says. Differences that were measured before R changed are then
//!   added on top, and R oscillates where the RTT exceeds t_p.
//! - `pace = "stable"`: R when the unit left. It leaves no sooner than two t_p and a packet after the first packet
//!   at the present R, and after the one before it is over: by then every port has measured R over a whole
//!   period. A flow that ends before that lives with the initial rate.
//!
//! A port whose table is full takes a flow's packets out of their unit: the flow keeps its rate.

mod codec;
mod mirror;

pub use codec::{Difference, PACKETS, Passing, UNTOUCHED};
pub use mirror::REMEMBERED;

use crate::{
    Ack, Change, Controller, Ecn, Entry, Feedback, Loss, Parameter, ParameterKind, Path, Paths,
    PerSubflow, Scheme, SubflowId, loss,
};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use mirror::Mirror;
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
            kind: ParameterKind::Choice(&["mean", "stable", "paper"]),
            help: "What a difference is added to: the mean rate that it was measured against (mean), or the present \
                   rate (paper). With stable, a unit waits until the last change of rate has been measured.",
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
            pace: match parameters.choice("pace") {
                "paper" => Pace::Paper,
                "stable" => Pace::Stable,
                _ => Pace::Mean,
            },
            senders: PerSubflow::new(Sender::default()),
        })
    },
};

#[derive(Clone, Debug)]
struct Decn {
    period: Time,
    /// Bit/s.
    unit: f64,
    pace: Pace,
    senders: PerSubflow<Sender>,
}

/// How units leave, and what their differences are added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    /// One every t_p, added to the mean rate of the period that the port had measured.
    Mean,
    /// One at a time, two t_p after the last change.
    Stable,
    /// One every t_p, added to the present rate.
    Paper,
}

/// A subflow's rate and its units.
#[derive(Clone, Debug, Default)]
struct Sender {
    /// R in bit/s; zero until an RTT is known.
    rate: f64,
    /// Whether it is the least, one packet per RTT.
    least: bool,
    /// When the first packet left since it last changed.
    at_rate_since: Option<Time>,
    /// What ports measure.
    measured: Mirror,
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
    /// What its difference is added to, unless that is the present R.
    base: f64,
}

/// The lowest rate that one unit may bring, bit/s, where the port had measured this rate.
///
/// A port asks for its standing queue to be drained within t_p, and goes on asking for a whole feedback delay. Without a
/// limit flows that follow fall silent, a unit of theirs takes three RTTs, and ports count them out.
fn least_of_unit(measured: f64, path: &Path) -> f64 {
    let unit_per_rtt = f64::from(PACKETS) * packet_bits(path) / path.rtt_seconds();
    (measured / 8.0).max(unit_per_rtt.min(measured / 2.0))
}

/// RTTs that the window lets the rate go on for without acknowledgements.
const WINDOW_RTTS: f64 = 2.0;

fn packet_bits(path: &Path) -> f64 {
    8.0 * path.packet.get() as f64
}

impl Sender {
    /// A new R.
    fn set_rate(&mut self, path: &mut Path, rate: f64) {
        self.at_rate_since = None;
        self.limit_rate(path, rate);
    }

    /// R is this, or the least that it may be.
    fn limit_rate(&mut self, path: &mut Path, rate: f64) {
        let least = packet_bits(path) / path.rtt_seconds();
        self.least = rate <= least;
        self.rate = rate.max(least);
        path.pacing_rate = Some(Rate::from_bps(self.rate as u64));
    }

    /// The window that lets the rate limit.
    fn window(&self, path: &Path) -> f64 {
        let packets = WINDOW_RTTS * self.rate * path.rtt_seconds() / packet_bits(path);
        packets.max(path.minimum_window)
    }

    fn start(&mut self, path: &mut Path) {
        if path.has_rtt() {
            let base = path.minimum_rtt.min(path.smoothed_rtt).as_secs_f64();
            let rate = path.window * packet_bits(path) / base;
            self.set_rate(path, rate);
        }
    }

    fn may_start_unit(&self, path: &Path, period: Time, pace: Pace, now: Time) -> bool {
        if pace != Pace::Stable {
            return self.started.is_none_or(|started| now >= started + period);
        }
        let Some(since) = self.at_rate_since else {
            return false;
        };
        let packet = Time::from_secs_f64(packet_bits(path) / self.rate);
        self.units.is_empty() && now >= since.saturating_add(period * 2 + packet)
    }

    /// What the packet that leaves carries; `is_new` unless it was sent before.
    fn next_field(&mut self, start: bool, is_new: bool, base: f64, now: Time) -> Feedback {
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
                    base,
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

    /// The unit that an acknowledgement completes. `acked` packets have arrived in order; with `after_gap` one is missing
    /// among those that are on their way, and acknowledgements repeat that number.
    fn completed(&mut self, acked: u64, after_gap: bool, feedback: Feedback) -> Option<Unit> {
        let last = u64::from(PACKETS - 1);
        while self
            .units
            .front()
            .is_some_and(|unit| unit.sent == PACKETS && acked > unit.first + last)
        {
            self.units.pop_front(); // all of it has arrived, and it is not complete: it never will be
        }
        let unit = self.units.front_mut()?;
        let Feedback::Decn {
            nibble,
            first,
            in_unit,
        } = feedback
        else {
            return None;
        };
        let returned = u64::from(unit.returned);
        let is_next = in_unit && first == (returned == 0) && unit.returned < unit.sent;
        let in_order = acked == unit.first + returned || (after_gap && acked < unit.first);
        if !is_next || !in_order {
            let is_broken = returned > 0 || acked >= unit.first + last;
            if is_broken && unit.sent == PACKETS {
                self.units.pop_front();
            }
            return None;
        }
        unit.nibbles[usize::from(unit.returned)] = nibble;
        unit.returned += 1;
        if unit.returned == PACKETS {
            return self.units.pop_front();
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
            sender.start(path);
        }
        if let Some(unit) = sender.completed(path.acked, path.in_recovery, ack.feedback)
            && let Some(difference) = Difference::from_nibbles(unit.nibbles)
        {
            let from = match self.pace {
                Pace::Paper => sender.rate,
                Pace::Mean | Pace::Stable => unit.base,
            };
            let told = from + f64::from(difference.units()) * self.unit;
            let least = match self.pace {
                Pace::Mean => least_of_unit(from, path),
                Pace::Stable | Pace::Paper => 0.0,
            };
            sender.set_rate(path, told.max(least));
        }
        if sender.rate > 0.0 {
            if sender.least {
                // Many flows fill queues even so: the RTT then slows them down together.
                sender.limit_rate(path, 0.0);
            }
            path.window = sender.window(path);
            path.ssthresh = path.window;
        }
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, _now: Time) {
        let (path, sender) = (&mut paths[r], self.senders.get(r));
        match loss {
            Loss::Timeout | Loss::PersistentCongestion => {
                sender.units.clear();
                path.window = loss::first_window(path, loss);
                if sender.rate > 0.0 {
                    sender.set_rate(path, 0.0);
                }
            }
            Loss::FastRetransmit if sender.rate > 0.0 => {
                sender.set_rate(path, sender.rate / 2.0);
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
            sender.start(path);
        }
    }

    fn on_send(&mut self, paths: &Paths<'_>, r: SubflowId, now: Time) -> Feedback {
        let (path, sender) = (&paths[r], self.senders.get(r));
        let is_new = path.sent > sender.sent;
        if sender.rate > 0.0 {
            sender.at_rate_since.get_or_insert(now);
        }
        sender
            .measured
            .note_sent(packet_bits(path), self.period, now);
        sender.sent = path.sent;
        let base = match self.pace {
            Pace::Stable => sender.rate,
            Pace::Mean | Pace::Paper => sender.measured.rate(),
        };
        let start = sender.may_start_unit(path, self.period, self.pace, now);
        sender.next_field(start, is_new, base, now)
    }
}

#[cfg(test)]
mod tests;
