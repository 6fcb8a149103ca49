//! Random events for controllers, and a connection that they happen to.

use pathweave_control::{
    Ack, Change, Controller, Feedback, Loss, Path, Paths, SubflowId, Value, find,
};
use pathweave_units::Time;
use proptest::prelude::*;

/// Something that a transport may tell a controller.
#[derive(Clone, Debug)]
pub enum Event {
    Ack {
        packets: u32,
        ce: u32,
        recovery: bool,
        window_limited: bool,
        rtt: Option<u64>,
        after: u64,
    },
    Loss(Loss),
    Change(Change),
}

pub fn event() -> impl Strategy<Value = Event> {
    let loss = prop_oneof![
        Just(Loss::FastRetransmit),
        Just(Loss::Timeout),
        Just(Loss::PersistentCongestion)
    ];
    let change = prop_oneof![
        Just(Change::Opened),
        Just(Change::StoodBy),
        Just(Change::Failed),
        Just(Change::Recovered),
        Just(Change::Abandoned),
        Just(Change::Migrated),
        Just(Change::Closed)
    ];
    let ack = (
        prop_oneof![3 => Just(1_u32), 2 => 0..40_u32],
        prop_oneof![3 => Just(0_u32), 1 => 1..4_u32],
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.9),
        prop::option::of(1..10_000_u64),
        0..2_000_u64,
    );
    prop_oneof![
        20 => ack.prop_map(|(packets, ce, recovery, window_limited, rtt, after)| Event::Ack {
            packets, ce, recovery, window_limited, rtt, after
        }),
        1 => loss.prop_map(Event::Loss),
        1 => change.prop_map(Event::Change),
    ]
}

/// A controller with its paths, and a sender that always fills the window.
pub struct Connection {
    controller: Box<dyn Controller>,
    pub paths: Vec<Path>,
    pub now: Time,
}

impl Connection {
    /// Opens `subflows` with windows of 10 in slow start.
    pub fn new(
        controller: Box<dyn Controller>,
        subflows: usize,
        minimum_window: f64,
    ) -> Connection {
        let mut connection = Connection {
            controller,
            paths: vec![Path::new(10.0, minimum_window, f64::INFINITY); subflows],
            now: Time::ZERO,
        };
        for r in 0..subflows {
            connection.happen(r, &Event::Change(Change::Opened));
        }
        connection
    }

    pub fn happen(&mut self, r: usize, event: &Event) {
        let id = SubflowId(r as u32);
        let path = &mut self.paths[r];
        path.sent = path.sent.max(path.acked + path.window as u64);
        match *event {
            Event::Ack {
                packets,
                ce,
                recovery,
                window_limited,
                rtt,
                after,
            } => {
                self.now += Time::from_micros(after);
                // Not more than is in flight.
                let packets = packets.min((path.sent - path.acked) as u32);
                path.acked += u64::from(packets);
                path.in_recovery = recovery;
                let rtt = rtt.map(Time::from_micros);
                if let Some(rtt) = rtt {
                    path.smoothed_rtt = rtt;
                    path.latest_rtt = rtt;
                    path.minimum_rtt = path.minimum_rtt.min(rtt);
                }
                let ack = Ack {
                    now: self.now,
                    packets,
                    ce,
                    rtt,
                    recovery,
                    window_limited,
                    feedback: Feedback::None,
                };
                self.controller
                    .on_ack(&mut Paths::new(&mut self.paths), id, &ack);
            }
            Event::Loss(loss) => {
                self.controller
                    .on_loss(&mut Paths::new(&mut self.paths), id, loss, self.now);
            }
            Event::Change(change) => {
                path.state = change.state();
                self.controller
                    .on_subflow(&mut Paths::new(&mut self.paths), id, change);
            }
        }
    }

    /// The bits of all windows and slow-start thresholds.
    pub fn windows(&self) -> Vec<(u64, u64)> {
        let bits = |path: &Path| (path.window.to_bits(), path.ssthresh.to_bits());
        self.paths.iter().map(bits).collect()
    }
}

/// The controller of this name with these parameters.
pub fn build(name: &str, given: &[(String, Value)]) -> Box<dyn Controller> {
    let entry = find(name).unwrap();
    (entry.build)(&entry.parameters(given).unwrap())
}

/// Lets the same happen to both, and demands the same bits after every event.
pub fn side_by_side(
    mut a: Connection,
    mut b: Connection,
    events: impl IntoIterator<Item = (usize, Event)>,
) -> Result<(), TestCaseError> {
    for (r, event) in events {
        a.happen(r, &event);
        b.happen(r, &event);
        prop_assert_eq!(a.windows(), b.windows());
    }
    Ok(())
}

/// [`side_by_side`] with one subflow each.
pub fn step_by_step(
    a: Box<dyn Controller>,
    b: Box<dyn Controller>,
    events: &[Event],
) -> Result<(), TestCaseError> {
    // A subflow that closes and opens again is another story: there is one subflow.
    let events = events
        .iter()
        .filter(|event| !matches!(event, Event::Change(_)));
    let events = events.map(|event| (0, event.clone()));
    side_by_side(
        Connection::new(a, 1, 2.0),
        Connection::new(b, 1, 2.0),
        events,
    )
}
