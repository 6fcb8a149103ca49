//! The kernel's controllers do what the simulator's do.
//!
//! Each eBPF controller is compiled for this program too; both versions are told of the same events. What is
//! compared is what they make of equal state at every event, on random traces and on recorded ones, and the windows
//! that each has by itself. Floating point and fixed point agree but for rounding; a whole packet that one side adds an
//! event sooner because the last bit decides is counted, and there must be next to none.

mod controllers;
mod free_running;
mod large_windows;
mod lockstep;
mod native;
mod recording;
mod sender;
mod settings;
mod side;
mod simulator;
mod trace;

use lockstep::{Deviations, Subject};
use native::Native;
use pathweave_control::{Change, Ecn, Entry, Parameters};
use pathweave_linux::kernel::{Settings, entry};
use pathweave_units::{Rate, Time};
use recording::Link;
use side::Event;
use simulator::Simulator;
use trace::Trace;

/// Random traces of each controller, and events of each.
const TRACES: u64 = 1_000;
const EVENTS: u64 = 2_000;
/// At most one of this many events is one at which the last bit decides about a whole packet.
const EVENTS_PER_TIE: u64 = 50_000;
/// Runs of each controller, half of them on networks that mark, and how far mean windows, of some hundred packets at most,
/// may be apart.
const RUNS: u64 = 60;
const MEAN_WINDOWS: f64 = 0.001;
/// Events of a recorded trace.
const RECORDED: usize = 10_000;

#[test]
fn every_controller_of_the_kernel_is_listed() {
    assert!(pathweave_linux::kernel::names().eq(controllers::names()));
}

/// What the trace of this number is played with: every other one has the defaults of one of the controller's variants.
fn parameters(entry: &Entry, number: u64) -> (Parameters, u32) {
    if number % 2 == 1 {
        return settings::any(entry, number);
    }
    let mut variants = settings::variants(entry);
    let variant = (number / 2) as usize % variants.len();
    (variants.swap_remove(variant), 2)
}

fn settings_of(entry: &Entry, parameters: &Parameters, minimum_window: u32) -> Settings {
    Settings::of(entry, parameters, minimum_window).expect("it has a counterpart in the kernel")
}

fn play_random(subject: Subject<'_>, settings: &Settings, seed: u64) -> Result<Deviations, String> {
    let (mut trace, mut left) = (Trace::new(seed), EVENTS);
    lockstep::play(subject, settings, |outcomes| {
        left = left.checked_sub(1)?;
        Some(trace.next(outcomes))
    })
    .map_err(|difference| format!("trace {seed}: {difference}"))
}

fn does_the_same_at_every_event(name: &str) {
    let entry = entry(name).expect("a controller of the registry");
    let mut all = Deviations::default();
    for seed in 0..TRACES {
        let (parameters, minimum_window) = parameters(entry, seed);
        let subject = Subject {
            entry,
            parameters: &parameters,
            minimum_window,
        };
        let settings = settings_of(entry, &parameters, minimum_window);
        match play_random(subject, &settings, seed) {
            Ok(deviations) => all.add(deviations),
            Err(difference) => panic!("{difference}"),
        }
    }
    println!("{name}, random traces: {all:?}");
    assert_eq!(all.events, TRACES * EVENTS);
    assert!(all.ties <= all.events.div_ceil(EVENTS_PER_TIE), "{all:?}");
}

/// Two unequal paths, of some twenty packets each. Half of all networks have queues that mark, and half short ones that
/// drop. The second path is down for a while.
fn links(number: u64) -> [Link; 2] {
    let (capacity, threshold) = match number % 4 < 2 {
        true => (100, 20),
        false => (15, usize::MAX),
    };
    [(300, 450), (1_000, 100)].map(|(mbps, micros)| Link {
        rate: Rate::from_mbps(mbps / (1 + number / 4)),
        delay: Time::from_micros(micros),
        capacity,
        threshold,
        down: (mbps == 1_000).then(|| {
            let at = |millis: u64| Time::from_millis(millis * (1 + number / 4));
            (at(20), at(50))
        }),
    })
}

fn does_the_same_on_recorded_traces(name: &str) {
    let entry = entry(name).expect("a controller of the registry");
    let mut all = Deviations::default();
    let (mut marks, mut losses, mut failures, mut recoveries) = (0, 0, 0, 0);
    for number in 0..8 {
        let links = links(number);
        let (parameters, minimum_window) = parameters(entry, number);
        let subject = Subject {
            entry,
            parameters: &parameters,
            minimum_window,
        };
        let settings = settings_of(entry, &parameters, minimum_window);
        for recording in recording::record(entry, &parameters, minimum_window, &links, RECORDED) {
            for (_, _, event) in &recording {
                match event {
                    Event::Acknowledge(ack) => marks += ack.marks,
                    Event::Lose(_) => losses += 1,
                    Event::Change(Change::Failed) => failures += 1,
                    Event::Change(Change::Recovered) => recoveries += 1,
                    Event::Change(_) | Event::Open { .. } => {}
                }
            }
            let mut events = recording.into_iter();
            match lockstep::play(subject, &settings, |_| events.next()) {
                Ok(deviations) => all.add(deviations),
                Err(difference) => panic!("network {number}: {difference}"),
            }
        }
    }
    println!(
        "{name}, recorded traces: {all:?}, {marks} marks, {losses} losses, {failures} failures, {recoveries} recoveries"
    );
    assert!(all.events >= 11 * RECORDED as u64 && losses > 100);
    assert!(
        failures >= 16 && recoveries >= 16,
        "{failures} {recoveries}"
    );
    let ecn = (entry.ecn)(&settings::defaults(entry));
    assert!(ecn == Ecn::Off || marks > 1_000);
    assert!(all.ties <= all.events.div_ceil(EVENTS_PER_TIE), "{all:?}");
}

fn has_the_same_windows_by_itself(name: &str) {
    let entry = entry(name).expect("a controller of the registry");
    for parameters in settings::variants(entry) {
        let mut furthest: f64 = 0.0;
        let settings = settings_of(entry, &parameters, 2);
        for seed in 0..RUNS {
            let mut simulator = Simulator::new(entry, &parameters, 2);
            let mut kernel = Native::new(controllers::find(name), &settings);
            let marks = seed % 2 == 0;
            let expected = free_running::mean_windows(&mut simulator, seed, marks);
            let found = free_running::mean_windows(&mut kernel, seed, marks);
            for (expected, found) in expected.iter().zip(&found) {
                let apart = (found / expected - 1.0).abs();
                furthest = furthest.max(apart);
                assert!(
                    apart <= MEAN_WINDOWS,
                    "run {seed}, {parameters:?}: a mean window of {expected} in the simulator and {found} in the kernel"
                );
            }
        }
        println!("{name} {parameters:?}, by itself: mean windows up to {furthest} apart");
    }
}

/// Linux's modules lose what others add at large windows, and are compared with nothing but themselves.
fn grows_the_same_at_large_windows(name: &str) {
    let entry = entry(name).expect("a controller of the registry");
    match large_windows::play(entry, &settings::defaults(entry)) {
        Ok(furthest) => println!("{name}, at large windows: {furthest:?}"),
        Err(differences) => panic!("{differences}"),
    }
}

/// A kernel that has another value of any parameter is told from the simulator.
fn other_settings_are_noticed(name: &str) {
    let entry = entry(name).expect("a controller of the registry");
    let parameters = settings::defaults(entry);
    let subject = Subject {
        entry,
        parameters: &parameters,
        minimum_window: 2,
    };
    let right = settings_of(entry, &parameters, 2);
    let mut mutants = vec![("minimum_window", settings_of(entry, &parameters, 3))];
    for (parameter, other) in settings::mutants(entry) {
        mutants.push((parameter, settings_of(entry, &other, 2)));
    }
    for (parameter, settings) in mutants {
        assert_ne!(settings, right, "{parameter} reaches the kernel");
        let noticed = (0..TRACES).any(|seed| play_random(subject, &settings, seed).is_err());
        assert!(noticed, "another {parameter} is not noticed");
    }
}
