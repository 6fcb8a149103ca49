//! Each side by itself over a thousand rounds of congestion avoidance, at windows from ten packets to a hundred thousand:
//! what an acknowledgement adds is small there, and what is lost of it each time adds up.
//!
//! A subflow has at most this many acknowledgements a round: all of a large window would take hours, and a share that each
//! acknowledgement loses is the same in fewer.

use super::native::Native;
use super::sender::Sender;
use super::side::{Acknowledgement, Event, Side};
use super::simulator::Simulator;
use super::{controllers, settings_of};
use pathweave_control::{Entry, Loss, Parameters};

const ROUNDS: u32 = 1_000;
/// Of a subflow in a round.
const MOST_ACKNOWLEDGEMENTS: u64 = 400;
/// In packets.
const WINDOWS: [f64; 4] = [10.0, 400.0, 1e4, 1e5];
const SUBFLOWS: [usize; 3] = [1, 2, 8];
/// Packets to an acknowledgement; 45 are what a receiver makes one of when its device hands it 64 KB at once.
const STRIDES: [u32; 2] = [1, 45];
/// How far changes of windows may be apart, and windows after a cut.
const APART: f64 = 0.001;
/// The same with the controllers whose kernel version has another arithmetic at large windows.
const SCALED_APART: f64 = 0.01;
const SCALED: [&str; 3] = ["lia", "olia", "balia"];

/// One connection on both sides.
struct Pair {
    simulator: Simulator,
    kernel: Native,
    senders: Vec<Sender>,
}

/// What was furthest apart, as a share of what it should have been.
#[derive(Clone, Copy, Debug, Default)]
pub struct Furthest {
    /// The change of a window over all rounds.
    pub change: f64,
    /// A window after a mark, a loss or a timeout.
    pub cut: f64,
}

impl Pair {
    fn new(entry: &Entry, parameters: &Parameters, window: f64, subflows: usize) -> Pair {
        let mut pair = Pair {
            simulator: Simulator::new(entry, parameters, 2),
            kernel: Native::new(
                controllers::find(entry.name),
                &settings_of(entry, parameters, 2),
            ),
            senders: vec![Sender::FRESH; subflows],
        };
        for r in 0..subflows {
            // No two are equal: on paths that are, the last bit decides which one OLIA takes for the best.
            pair.senders[r].sample(100 + 30 * r as u32);
            let opens = Event::Open {
                window: window + r as f64,
                ssthresh: 1.0,
            };
            pair.happen(r, &opens);
        }
        pair
    }

    fn happen(&mut self, r: usize, event: &Event) {
        let facts = self.senders[r].facts();
        self.simulator.happen(r, &facts, event);
        self.kernel.happen(r, &facts, event);
    }

    fn acknowledge(&mut self, r: usize, packets: u32, marks: u32) {
        let packets = self.senders[r].acknowledge(packets);
        let ack = Acknowledgement {
            packets,
            marks,
            recovery: false,
            window_limited: true,
            sampled: false,
        };
        self.happen(r, &Event::Acknowledge(ack));
    }

    /// All subflows send a round and have it acknowledged by turns, this many packets at a time.
    fn round(&mut self, stride: u32) {
        for (r, sender) in self.senders.iter_mut().enumerate() {
            let most = MOST_ACKNOWLEDGEMENTS * u64::from(stride);
            sender.fill(self.simulator.outcome(r).window.min(most as f64));
        }
        let ends: Vec<u64> = self.senders.iter().map(|s| s.facts().sent).collect();
        let mut waits = true;
        while waits {
            waits = false;
            for (r, &end) in ends.iter().enumerate() {
                let left = end - self.senders[r].facts().acked;
                if left > 0 {
                    self.acknowledge(r, stride.min(left as u32), 0);
                    waits |= left > u64::from(stride);
                }
            }
        }
    }

    fn windows(&self) -> Vec<(f64, f64)> {
        let both = |r| {
            (
                self.simulator.outcome(r).window,
                self.kernel.outcome(r).window,
            )
        };
        (0..self.senders.len()).map(both).collect()
    }

    /// How far windows are apart after each subflow has met this.
    fn cut(&mut self, mut meets: impl FnMut(&mut Pair, usize)) -> f64 {
        for r in 0..self.senders.len() {
            self.senders[r].fill(10.0);
            meets(self, r);
        }
        let apart = |(expected, found): (f64, f64)| (found / expected - 1.0).abs();
        self.windows().into_iter().map(apart).fold(0.0, f64::max)
    }
}

/// How far apart the sides come in all cases.
///
/// # Errors
/// The cases in which they are too far apart.
pub fn play(entry: &Entry, parameters: &Parameters) -> Result<Furthest, String> {
    let most = match SCALED.contains(&entry.name) {
        true => SCALED_APART,
        false => APART,
    };
    let mut all = Furthest::default();
    let mut differences = Vec::new();
    for window in WINDOWS {
        for subflows in SUBFLOWS {
            for stride in STRIDES {
                let mut pair = Pair::new(entry, parameters, window, subflows);
                let before = pair.windows();
                for _ in 0..ROUNDS {
                    pair.round(stride);
                }
                let mut apart: f64 = 0.0;
                for ((before, _), (expected, found)) in before.iter().zip(pair.windows()) {
                    assert!((expected - before).abs() > 1e-3, "windows move");
                    apart = apart.max(((found - expected) / (expected - before)).abs());
                }
                let mut cut = pair.cut(|pair, r| pair.acknowledge(r, 1, 1));
                let lose = |loss| {
                    move |pair: &mut Pair, r: usize| {
                        pair.senders[r].lose(loss);
                        pair.happen(r, &Event::Lose(loss));
                    }
                };
                cut = cut.max(pair.cut(lose(Loss::FastRetransmit)));
                cut = cut.max(pair.cut(lose(Loss::Timeout)));
                if apart.max(cut) > most {
                    differences.push(format!(
                        "{window} packets, {subflows} subflows, {stride} packets an acknowledgement: changes \
                         {apart:.2e} apart, cuts {cut:.2e}"
                    ));
                }
                all.change = all.change.max(apart);
                all.cut = all.cut.max(cut);
            }
        }
    }
    if differences.is_empty() {
        Ok(all)
    } else {
        Err(format!("{}: {}", entry.name, differences.join("; ")))
    }
}
