//! Both sides from equal state, event by event: after each they are compared and made equal again.

use super::controllers;
use super::native::Native;
use super::side::{Event, Facts, Outcome, Side};
use super::simulator::Simulator;
use super::trace::LARGEST_WINDOW;
use pathweave_control::{Entry, Parameters};
use pathweave_linux::kernel::{SUBFLOWS, Settings};

/// Windows are compared up to this many packets.
const PACKETS: f64 = 1.0 / 1024.0;
/// Or up to this share of what the event has changed.
const SHARE: f64 = 0.005;
/// Both sides can hold multiples of this.
const UNIT: f64 = 1.0 / (1_u64 << 24) as f64;

/// How far the sides were apart.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deviations {
    pub events: u64,
    /// A whole packet, or an end of slow start, that came an event sooner on one side.
    pub ties: u64,
    /// The largest one that is no tie, in packets.
    pub packets: f64,
    /// The largest one of changes by a packet or more, as a share of the change.
    pub share: f64,
}

impl Deviations {
    pub fn add(&mut self, other: Deviations) {
        self.events += other.events;
        self.ties += other.ties;
        self.packets = f64::max(self.packets, other.packets);
        self.share = f64::max(self.share, other.share);
    }
}

/// A controller with parameters, in a connection whose subflows have a minimum window.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    pub entry: &'a Entry,
    pub parameters: &'a Parameters,
    pub minimum_window: u32,
}

/// Plays a trace to both sides, with these settings in the kernel's version. `next` gives the next event, if there
/// is one, and the subflow that it happens to; it is told what has been decided of each subflow.
///
/// # Errors
/// The first event after which the sides differ.
pub fn play(
    subject: Subject<'_>,
    settings: &Settings,
    mut next: impl FnMut(&[Outcome]) -> Option<(usize, Facts, Event)>,
) -> Result<Deviations, String> {
    let Subject {
        entry,
        parameters,
        minimum_window,
    } = subject;
    let mut simulator = Simulator::new(entry, parameters, minimum_window);
    let mut kernel = Native::new(controllers::find(entry.name), settings);
    let mut before: Vec<Outcome> = Vec::new();
    // Whole packets that the kernel has added sooner. One side adds one sooner when what it has added up comes
    // so close to the whole packet that the last bit decides: so the other is never more than one behind.
    let mut owed = [0.0; SUBFLOWS];
    let mut deviations = Deviations::default();
    while let Some((r, facts, event)) = next(&before) {
        let number = deviations.events;
        if let Event::Open { window, ssthresh } = event {
            let fresh = Outcome {
                window,
                ssthresh,
                may_send: true,
            };
            match before.get_mut(r) {
                Some(old) => *old = fresh,
                None => before.push(fresh),
            }
            owed[r] = 0.0;
        }
        simulator.happen(r, &facts, &event);
        kernel.happen(r, &facts, &event);
        deviations.events += 1;
        for (s, before) in before.iter_mut().enumerate() {
            let (expected, found) = (bounded(simulator.outcome(s)), bounded(kernel.outcome(s)));
            let differs = |what: &str| {
                format!(
                    "{} {parameters:?}, minimum window {minimum_window}, event {number}: {what} of \
                     subflow {s}: {before:?} became {expected:?} in the simulator and {found:?} in the kernel \
                     by {event:?} of subflow {r} with {facts:?}",
                    entry.name
                )
            };
            if expected.may_send != found.may_send {
                return Err(differs("suppression"));
            }
            let change = expected.window - before.window;
            let apart = found.window - expected.window;
            let mut tie = 0.0;
            if apart.abs() <= f64::max(PACKETS, SHARE * change.abs()) {
                deviations.packets = deviations.packets.max(apart.abs());
                if change.abs() >= 1.0 {
                    deviations.share = deviations.share.max((apart / change).abs());
                }
            } else {
                tie = apart.round();
                deviations.ties += 1;
                if (apart - tie).abs() > PACKETS {
                    return Err(differs("window"));
                }
            }
            owed[s] += tie;
            if owed[s].abs() > 1.0 {
                return Err(differs("another whole packet"));
            }
            if !ssthresh_agrees(before, &expected, &found) {
                let left = [expected.ssthresh, found.ssthresh].map(|new| new == before.ssthresh);
                deviations.ties += 1;
                if left[0] == left[1] {
                    return Err(differs("ssthresh"));
                }
            }
            *before = Outcome {
                window: (expected.window / UNIT).round() * UNIT,
                ssthresh: (expected.ssthresh / UNIT).round() * UNIT,
                ..expected
            };
            simulator.set(s, before.window, before.ssthresh);
            kernel.set(s, before.window, before.ssthresh);
        }
    }
    Ok(deviations)
}

fn ssthresh_agrees(before: &Outcome, expected: &Outcome, found: &Outcome) -> bool {
    let change = (expected.ssthresh - before.window).abs();
    expected.ssthresh == found.ssthresh
        || (expected.ssthresh - found.ssthresh).abs() <= f64::max(PACKETS, SHARE * change)
            && found.ssthresh.is_finite()
}

/// No window is left above the largest: what either side makes of more is all the same.
fn bounded(outcome: Outcome) -> Outcome {
    Outcome {
        window: outcome.window.min(LARGEST_WINDOW),
        ..outcome
    }
}
