//! When a subflow fails and recovers, as its controller hears of it.

use super::tests::{Wishes, carry};
use super::*;
use crate::Config;
use crate::Handshake;
use crate::sending::Opening;
use pathweave_control::{Ack, Change, Controller, Loss, PathState, Paths, SubflowId};
use pathweave_units::Bytes;
use std::sync::{Arc, Mutex};

/// What a controller has heard.
#[derive(Clone, Debug, PartialEq)]
enum Heard {
    Loss(Loss),
    Change(Change),
}

/// Keeps its windows but for timeouts, and notes what it hears.
#[derive(Debug)]
struct Listener(Arc<Mutex<Vec<Heard>>>);

impl Listener {
    fn note(&self, heard: Heard) {
        self.0.lock().expect("no other thread").push(heard);
    }
}

impl Controller for Listener {
    fn on_ack(&mut self, _: &mut Paths<'_>, _: SubflowId, _: &Ack) {}
    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, _: Time) {
        paths[r].window = 1.0;
        self.note(Heard::Loss(loss));
    }
    fn on_subflow(&mut self, paths: &mut Paths<'_>, r: SubflowId, change: Change) {
        assert_eq!(paths[r].state, change.state());
        self.note(Heard::Change(change));
    }
}

/// A flow of ten packets, all of which are sent, and what its controller hears.
struct Flow {
    endpoints: Endpoints,
    subflow: SendingSubflow,
    wishes: Wishes,
    now: Time,
    heard: Arc<Mutex<Vec<Heard>>>,
}

impl Flow {
    fn new(config: Config) -> Flow {
        let handshake = Handshake::None;
        Flow::with_subflows(
            1,
            Config {
                handshake,
                ..config
            },
        )
    }

    fn with_subflows(subflows: u32, config: Config) -> Flow {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let mut endpoints = Endpoints::default();
        let id = endpoints.add(Opening {
            size: Some(Bytes::new(10 * u64::from(config.maximum_segment))),
            subflows,
            ..Opening::new(0, Arc::new(config), Box::new(Listener(Arc::clone(&heard))))
        });
        let mut wishes = Wishes::default();
        endpoints.start(id, Time::ZERO, &mut wishes);
        Flow {
            subflow: endpoints.subflows(id).next().expect("a subflow"),
            endpoints,
            wishes,
            now: Time::ZERO,
            heard,
        }
    }

    /// Loses all that is on its way, and lets the retransmission timer expire.
    fn time_out(&mut self) {
        for (_, segment) in std::mem::take(&mut self.wishes.packets) {
            self.endpoints.on_lost(&segment);
        }
        let sent = self.endpoints.subflow(self.subflow).timeouts;
        while self.endpoints.subflow(self.subflow).timeouts == sent {
            let next = self.wishes.timers.iter().copied().min_by_key(|&(_, at)| at);
            let (timer, at) = next.expect("a timer is set");
            self.wishes.timers.retain(|&set| set != (timer, at));
            self.now = at;
            self.endpoints.on_timer(timer, at, &mut self.wishes);
        }
    }

    /// Lets what is on its way arrive.
    fn arrive(&mut self) {
        self.now += Time::from_millis(1);
        carry(&mut self.endpoints, self.now, &[], &mut self.wishes);
    }

    fn state(&self) -> PathState {
        self.endpoints.subflow(self.subflow).path.state
    }

    /// What the controller has heard since this was last asked.
    fn heard(&self) -> Vec<Heard> {
        std::mem::take(&mut self.heard.lock().expect("no other thread"))
    }
}

#[test]
fn a_subflow_fails_with_the_timeouts_in_a_row_that_the_scenario_says() {
    for failed_after in [1, 2, 3] {
        // Whether anything is sent again elsewhere does not matter.
        for reinject_after in [None, Some(1)] {
            let mut flow = Flow::new(Config {
                failed_after,
                reinject_after,
                ..Config::textbook()
            });
            assert_eq!(flow.heard(), [Heard::Change(Change::Opened)]);
            for timeout in 1..failed_after {
                flow.time_out();
                assert_eq!(
                    flow.state(),
                    PathState::Active,
                    "{timeout} of {failed_after}"
                );
            }
            flow.time_out();
            assert_eq!(flow.state(), PathState::Failed);
            // The timeouts are for the same data: one loss. The failure comes once, too.
            flow.time_out();
            let both = [Heard::Loss(Loss::Timeout), Heard::Change(Change::Failed)];
            assert_eq!(flow.heard(), both);
        }
    }
}

#[test]
fn a_lone_timeout_is_no_failure_and_progress_starts_the_count_again() {
    let mut flow = Flow::new(Config::textbook());
    for _ in 0..3 {
        flow.time_out();
        assert_eq!(flow.state(), PathState::Active);
        // What was sent again arrives and is acknowledged.
        flow.arrive();
        flow.arrive();
    }
    let changes = flow
        .heard()
        .into_iter()
        .filter(|heard| matches!(heard, Heard::Change(_)));
    assert_eq!(changes.collect::<Vec<_>>(), [Heard::Change(Change::Opened)]);
}

#[test]
fn a_failed_only_path_is_probed_and_recovers_with_new_data() {
    let mut flow = Flow::new(Config::textbook());
    flow.time_out();
    flow.time_out();
    assert_eq!(flow.state(), PathState::Failed);
    assert_eq!(flow.wishes.packets.len(), 1, "one packet, with the timer");
    flow.heard();
    while !flow.wishes.packets.is_empty() {
        flow.arrive();
    }
    assert_eq!(
        flow.heard(),
        [
            Heard::Change(Change::Recovered),
            Heard::Change(Change::Closed)
        ]
    );
    assert_eq!(flow.wishes.finished, 1);
}

#[test]
fn a_flow_whose_first_handshake_cannot_be_done_waits_for_nothing() {
    let reinject_after = None;
    let mut flow = Flow::with_subflows(
        2,
        Config {
            reinject_after,
            ..Config::textbook()
        },
    );
    // The second subflow, whose path is alive, opens after the first.
    let [first, second]: [SendingSubflow; 2] = {
        let all: Vec<_> = flow.endpoints.subflows(ConnectionId(0)).collect();
        all.try_into().expect("two subflows")
    };
    let is_stuck = |flow: &Flow, alive: &[SendingSubflow]| {
        let live = |subflow| alive.contains(&subflow);
        flow.endpoints.sending.is_stuck(SendingId(0), live)
    };
    flow.time_out();
    assert!(!is_stuck(&flow, &[second]), "it tries once more");
    flow.time_out();
    assert!(is_stuck(&flow, &[second]));
    assert!(!is_stuck(&flow, &[first]));
}
