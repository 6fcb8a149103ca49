//! The controllers of `pathweave_control`.

use super::side::{Event, Facts, Outcome, Side, grows_by_marked_acks};
use pathweave_control::{
    Ack, Change, Controller, Entry, Feedback, Parameters, Path, Paths, SubflowId,
};
use pathweave_units::Time;

/// A connection with a controller of the registry.
pub struct Simulator {
    name: &'static str,
    controller: Box<dyn Controller>,
    minimum_window: f64,
    paths: Vec<Path>,
}

impl Simulator {
    pub fn new(entry: &Entry, parameters: &Parameters, minimum_window: u32) -> Simulator {
        Simulator {
            name: entry.name,
            controller: (entry.build)(parameters),
            minimum_window: f64::from(minimum_window),
            paths: Vec::new(),
        }
    }

    fn learn(&mut self, r: usize, facts: &Facts) {
        let path = &mut self.paths[r];
        (path.sent, path.acked, path.in_flight) = (facts.sent, facts.acked, facts.in_flight);
        path.smoothed_rtt = Time::from_nanos(125).saturating_mul(u64::from(facts.srtt));
        path.latest_rtt = Time::from_micros(u64::from(facts.latest_rtt));
        path.minimum_rtt = match facts.min_rtt {
            u32::MAX => Time::MAX,
            micros => Time::from_micros(u64::from(micros)),
        };
        path.in_recovery = facts.in_recovery;
    }
}

impl Side for Simulator {
    fn happen(&mut self, r: usize, facts: &Facts, event: &Event) {
        if let Event::Open { window, ssthresh } = *event {
            self.paths.truncate(self.paths.len().max(r));
            let mut path = Path::new(window, self.minimum_window, ssthresh);
            path.growth_by_marked_acks = grows_by_marked_acks(self.name, r);
            match self.paths.get_mut(r) {
                Some(old) => *old = path,
                None => self.paths.push(path),
            }
        }
        self.learn(r, facts);
        let change = match event {
            Event::Open { .. } => Some(Change::Opened),
            Event::Change(change) => Some(*change),
            Event::Acknowledge(_) | Event::Lose(_) => None,
        };
        if let Some(change) = change {
            self.paths[r].state = change.state();
        }
        let mut paths = Paths::new(&mut self.paths);
        let number = SubflowId(r as u32);
        match *event {
            Event::Open { .. } | Event::Change(_) => {
                let change = change.expect("the event is a change");
                self.controller.on_subflow(&mut paths, number, change);
            }
            Event::Lose(loss) => self
                .controller
                .on_loss(&mut paths, number, loss, Time::ZERO),
            Event::Acknowledge(ack) => {
                let ack = Ack {
                    now: Time::ZERO,
                    packets: ack.packets,
                    ce: ack.marks,
                    rtt: ack
                        .sampled
                        .then(|| Time::from_micros(u64::from(facts.latest_rtt))),
                    recovery: ack.recovery,
                    window_limited: ack.window_limited,
                    feedback: Feedback::None,
                };
                self.controller.on_ack(&mut paths, number, &ack);
            }
        }
    }

    fn outcome(&self, r: usize) -> Outcome {
        let path = &self.paths[r];
        Outcome {
            window: path.window,
            ssthresh: path.ssthresh,
            may_send: path.may_send,
        }
    }

    fn set(&mut self, r: usize, window: f64, ssthresh: f64) {
        (self.paths[r].window, self.paths[r].ssthresh) = (window, ssthresh);
    }
}
