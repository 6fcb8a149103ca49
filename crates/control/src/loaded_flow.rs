//! A flow for the tests of controllers that hear from ports how loaded they are.

use crate::{Ack, Controller, Feedback, Path, PathState, Paths, SubflowId, Value, find};
use alloc::boxed::Box;
use alloc::string::String;
use pathweave_units::Time;

/// One subflow with an RTT of 200 us, which is t_rho too; `L` is what a port says of its load.
pub struct LoadedFlow<L> {
    pub controller: Box<dyn Controller>,
    pub paths: [Path; 1],
    field: fn(L) -> Feedback,
}

impl<L> LoadedFlow<L> {
    pub fn new(
        name: &str,
        window: f64,
        field: fn(L) -> Feedback,
        given: &[(String, Value)],
    ) -> LoadedFlow<L> {
        let entry = find(name).expect("in the registry");
        let mut path = Path::new(window, 2.0, f64::INFINITY);
        path.smoothed_rtt = Time::from_micros(200);
        path.minimum_rtt = Time::from_micros(200);
        path.state = PathState::Active;
        let parameters = entry.parameters(given).expect("accepted");
        LoadedFlow {
            controller: (entry.build)(&parameters),
            paths: [path],
            field,
        }
    }

    /// The window after an acknowledgement that tells of this load, at `micros` microseconds.
    pub fn after(&mut self, load: L, packets: u32, micros: u64) -> f64 {
        self.after_ack(load, packets, micros, false, true)
    }

    pub fn after_ack(
        &mut self,
        load: L,
        packets: u32,
        micros: u64,
        recovery: bool,
        window_limited: bool,
    ) -> f64 {
        let ack = Ack {
            now: Time::from_micros(micros),
            packets,
            ce: 0,
            rtt: None,
            recovery,
            window_limited,
            feedback: (self.field)(load),
        };
        let paths = &mut Paths::new(&mut self.paths);
        self.controller.on_ack(paths, SubflowId(0), &ack);
        self.paths[0].window
    }
}
