//! A connection for tests: a controller, its paths, and a sender that always fills the window.

use crate::{Ack, Change, Controller, Loss, Path, PathState, Paths, Round, SubflowId, Value, find};
use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;
use pathweave_units::Time;

pub struct GreedySender {
    pub paths: Vec<Path>,
    pub now: Time,
    controller: Box<dyn Controller>,
    rounds: Vec<Round>,
}

/// A numeric parameter.
pub fn number(name: &str, value: f64) -> (alloc::string::String, Value) {
    (name.to_string(), Value::Number(value))
}

/// A choice.
pub fn text(name: &str, value: &str) -> (alloc::string::String, Value) {
    (name.to_string(), Value::Text(value.to_string()))
}

impl GreedySender {
    /// Opens one subflow for each (window, RTT in microseconds), in congestion avoidance, with a
    /// minimum window of 2.
    pub fn new(
        name: &str,
        parameters: &[(alloc::string::String, Value)],
        subflows: &[(f64, u64)],
    ) -> GreedySender {
        let entry = find(name).expect("the controller is in the registry");
        let parameters = entry
            .parameters(parameters)
            .expect("the parameters are accepted");
        let mut connection = GreedySender {
            paths: Vec::new(),
            now: Time::ZERO,
            controller: (entry.build)(&parameters),
            rounds: std::vec![Round::STARTING; subflows.len()],
        };
        for (i, &(window, micros)) in subflows.iter().enumerate() {
            let mut path = Path::new(window, 2.0, 1.0);
            path.state = PathState::Active;
            path.smoothed_rtt = Time::from_micros(micros);
            connection.paths.push(path);
            let mut paths = Paths::new(&mut connection.paths);
            connection
                .controller
                .on_subflow(&mut paths, SubflowId(i as u32), Change::Opened);
        }
        connection
    }

    /// The same connection with something else in its controller's place.
    pub fn of(self, wrap: impl FnOnce(Box<dyn Controller>) -> Box<dyn Controller>) -> GreedySender {
        GreedySender {
            controller: wrap(self.controller),
            ..self
        }
    }

    /// Its controller, when it is over.
    pub fn into_controller(self) -> Box<dyn Controller> {
        self.controller
    }

    pub fn window(&self, r: usize) -> f64 {
        self.paths[r].window
    }

    pub fn ssthresh(&self, r: usize) -> f64 {
        self.paths[r].ssthresh
    }

    /// Sends what the window allows.
    fn fill(&mut self, r: usize) {
        let path = &mut self.paths[r];
        path.sent = path.sent.max(path.acked + path.window as u64);
        path.in_flight = (path.sent - path.acked) as u32;
    }

    /// An acknowledgement for `packets` that echoes `ce` marks.
    pub fn ack(&mut self, r: usize, packets: u32, ce: u32) {
        self.ack_as(r, packets, ce, false, true);
    }

    pub fn ack_as(&mut self, r: usize, packets: u32, ce: u32, recovery: bool, limited: bool) {
        self.paths[r].in_recovery = recovery;
        self.acknowledge(r, packets, ce, None, recovery, limited);
    }

    /// An acknowledgement outside fast recovery by which no window may grow: in the round of a cut, where the
    /// transport says so.
    pub fn ack_without_growth(&mut self, r: usize, packets: u32, ce: u32) {
        self.paths[r].in_recovery = false;
        self.acknowledge(r, packets, ce, None, true, true);
    }

    /// An acknowledgement for a packet, with an RTT sample that is also the smoothed RTT.
    /// Returns whether it ends a round.
    pub fn ack_after(&mut self, r: usize, rtt: Time) -> bool {
        self.sample(r, rtt, true)
    }

    /// The same for a sender that does not use its window.
    pub fn unlimited_ack_after(&mut self, r: usize, rtt: Time) {
        self.sample(r, rtt, false);
    }

    fn sample(&mut self, r: usize, rtt: Time, limited: bool) -> bool {
        let path = &mut self.paths[r];
        (path.smoothed_rtt, path.latest_rtt) = (rtt, rtt);
        path.minimum_rtt = path.minimum_rtt.min(rtt);
        path.in_recovery = false;
        self.acknowledge(r, 1, 0, Some(rtt), false, limited)
    }

    fn acknowledge(
        &mut self,
        r: usize,
        packets: u32,
        ce: u32,
        rtt: Option<Time>,
        recovery: bool,
        limited: bool,
    ) -> bool {
        self.fill(r);
        let path = &mut self.paths[r];
        path.acked += u64::from(packets);
        path.sent = path.sent.max(path.acked);
        let round_ends = self.rounds[r].advance(path);
        let ack = Ack {
            now: self.now,
            packets,
            ce,
            rtt,
            recovery,
            window_limited: limited,
            feedback: crate::Feedback::None,
        };
        let mut paths = Paths::new(&mut self.paths);
        self.controller
            .on_ack(&mut paths, SubflowId(r as u32), &ack);
        self.fill(r);
        round_ends
    }

    /// Acknowledges what is in flight, packet by packet; the first carries a mark if `marked`.
    pub fn round(&mut self, r: usize, marked: bool) {
        self.fill(r);
        let in_flight = self.paths[r].sent - self.paths[r].acked;
        assert!(in_flight < 1_000_000, "the window has got out of hand");
        for packet in 0..in_flight {
            self.ack(r, 1, u32::from(marked && packet == 0));
        }
    }

    /// Acknowledges packets with this RTT up to the one that ends the round.
    pub fn round_after(&mut self, r: usize, rtt: Time) {
        let ends = (0..1_000_000).any(|_| self.ack_after(r, rtt));
        assert!(ends, "the round does not end");
    }

    pub fn loss(&mut self, r: usize, loss: Loss) {
        self.fill(r);
        let mut paths = Paths::new(&mut self.paths);
        self.controller
            .on_loss(&mut paths, SubflowId(r as u32), loss, self.now);
    }

    /// The latest loss was none; the window is put back by the caller.
    pub fn spurious_loss(&mut self, r: usize) {
        let mut paths = Paths::new(&mut self.paths);
        self.controller
            .on_spurious_loss(&mut paths, SubflowId(r as u32));
    }

    /// New data is sent after a time with nothing in flight.
    pub fn idle(&mut self, r: usize) {
        self.controller.on_idle(SubflowId(r as u32), self.now);
    }

    /// Puts a subflow's path into the state that the change leads to.
    pub fn change(&mut self, r: usize, change: Change) {
        self.paths[r].state = change.state();
        let mut paths = Paths::new(&mut self.paths);
        self.controller
            .on_subflow(&mut paths, SubflowId(r as u32), change);
    }

    /// What an acknowledgement for one packet adds to a window of 10 packets, in packets.
    fn gain(&mut self, r: usize) -> f64 {
        self.paths[r].window = 10.0;
        self.ack(r, 1, 0);
        self.window(r) - 10.0
    }

    /// Puts subflow `changing` through changes, one after another. After each one an acknowledgement for one packet
    /// must add `gain` packets to a window of subflow `growing` that is 10.
    pub fn check_gains(&mut self, growing: usize, changing: usize, expected: &[(Change, f64)]) {
        for &(change, gain) in expected {
            self.change(changing, change);
            let gained = self.gain(growing);
            assert!(near(gained, gain, 1e-9), "{change:?}: {gained}, not {gain}");
        }
    }

    /// [`GreedySender::check_gains`] of the first of three subflows while the third fails, recovers and is put on
    /// standby: it gains `beside_one` where the third does not count and `beside_two` where it does.
    pub fn check_that_failed_subflows_do_not_count(mut self, beside_one: f64, beside_two: f64) {
        assert_eq!(self.paths.len(), 3);
        assert_ne!(beside_one, beside_two, "either would pass");
        let expected = [
            (Change::Failed, beside_one),
            (Change::Recovered, beside_two),
            (Change::StoodBy, beside_one),
        ];
        self.check_gains(0, 2, &expected);
    }
}

/// Whether two values agree to `tolerance`, relatively.
pub fn near(value: f64, expected: f64, tolerance: f64) -> bool {
    (value - expected).abs() <= tolerance * expected.abs()
}
