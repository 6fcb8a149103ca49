//! The kernel's controllers do what the simulator's do.
//!
//! Each eBPF controller is compiled for this program too; both versions are told of the same events.

mod controllers;
mod lockstep;
mod native;
mod sender;
mod settings;
mod side;
mod simulator;
mod trace;

use lockstep::{Deviations, Subject};
use pathweave_linux::kernel::{Settings, entry};

/// Traces of each controller.
const TRACES: u64 = 1_000;
/// Of so many events there is at most one at which the last bit decides about a whole packet.
const EVENTS_PER_TIE: u64 = 100_000;

#[test]
fn every_controller_of_the_kernel_is_listed() {
    assert!(pathweave_linux::kernel::names().eq(controllers::names()));
}

fn does_the_same_at_every_event(name: &str) {
    let entry = entry(name).expect("a controller of the registry");
    let mut all = Deviations::default();
    for seed in 0..TRACES {
        // Every other trace has the defaults.
        let (parameters, minimum_window) = match seed % 2 {
            0 => (settings::defaults(entry), 2),
            _ => settings::any(entry, seed),
        };
        let subject = Subject {
            entry,
            parameters: &parameters,
            minimum_window,
        };
        let settings = Settings::of(entry, &parameters, minimum_window).expect("settings");
        match lockstep::play(subject, &settings, seed, lockstep::EVENTS) {
            Ok(deviations) => all.add(deviations),
            Err(difference) => panic!("{difference}"),
        }
    }
    println!("{name}: {all:?}");
    assert!(all.ties * EVENTS_PER_TIE <= all.events, "{all:?}");
}
