//! When controllers suspend and resume subflows.

use crate::plans::{self, flags_of, read, table};
use pathweave_control::{
    Ack, Algorithm, Change, Controller, Ecn, Loaded, Loss, Paths, SubflowId, Value, find,
};
use pathweave_engine::Output;
use pathweave_scenario::{Plan, Sampling};
use pathweave_units::Time;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    pub at_s: f64,
    pub flow: u64,
    pub subflow: u64,
    pub suspended: bool,
}

/// The rows of the table, in order.
pub fn suspensions(output: &Output) -> Vec<Event> {
    let rows = table(output, "suspensions");
    let (flows, subflows) = (rows.integers("flow"), rows.integers("subflow"));
    let suspended = flags_of(rows, "suspended");
    let times = rows.numbers("time_s").iter().enumerate();
    times
        .map(|(row, &at_s)| Event {
            at_s,
            flow: flows[row],
            subflow: subflows[row],
            suspended: suspended[row],
        })
        .collect()
}

/// Four senders with four subflows each share the port of one receiver, as in figure 7 of the AMP paper.
pub fn incast(controller: &str, rest: &str) -> Plan {
    read(&format!(
        r#"
        [fabric]
        kind = "star"
        senders = 4
        rate = "10 Gbps"
        delay = "5 us"
        queue = {{ limit = 100, mark = {{ kind = "step", k = 10 }} }}
        [transport]
        preset = "amp-2019"
        [[traffic]]
        name = "multipath"
        pattern = "many-to-one"
        controller = {controller}
        subflows = 4
        destination = "D1"
        sources = "S1..S4"
        concurrency = 4
        {rest}
        [stop]
        at = "10 ms"
        [record]
        suspensions = true
        "#
    ))
}

/// The events of each subflow, by flow and subflow.
fn by_subflow(events: &[Event]) -> BTreeMap<(u64, u64), Vec<Event>> {
    let mut found: BTreeMap<_, Vec<Event>> = BTreeMap::new();
    for &event in events {
        let subflow = (event.flow, event.subflow);
        found.entry(subflow).or_default().push(event);
    }
    found
}

#[test]
fn amp_suspends_all_but_the_first_subflow_and_lets_them_go_on() {
    let plan = incast("{ name = \"amp\", tau = 1 }", "size = \"unlimited\"");
    let output = plans::run(&plan);
    let events = suspensions(&output);
    assert!(events.len() > 100, "{}", events.len());
    let subflows = by_subflow(&events);
    let expected = (0..4).flat_map(|flow| (1..4).map(move |subflow| (flow, subflow)));
    assert!(subflows.keys().copied().eq(expected));
    for own in subflows.values() {
        for (number, event) in own.iter().enumerate() {
            assert_eq!(event.suspended, number % 2 == 0, "{own:?}");
            assert!(event.at_s > 0.0 && event.at_s <= 0.01, "{event:?}");
        }
        assert!(own.windows(2).all(|pair| pair[0].at_s < pair[1].at_s));
    }
    // The subflows of a flow are suspended and resumed together.
    for ((flow, _), own) in &subflows {
        let times = |events: &[Event]| events.iter().map(|event| event.at_s).collect::<Vec<_>>();
        assert_eq!(times(own), times(&subflows[&(*flow, 1)]));
    }
}

/// Checks AMP's condition against the recorded windows.
#[test]
fn an_episode_begins_when_all_windows_are_at_the_minimum() {
    let mut plan = incast("\"amp\"", "size = \"unlimited\"");
    plan.record.windows = Some(Sampling::OnChange);
    let minimum = plan.groups[0].transport.minimum_window;
    let output = plans::run(&plan);
    let windows = table(&output, "windows");
    let (times, sizes) = (windows.numbers("time_s"), windows.numbers("window_packets"));
    let (flows, subflows) = (windows.integers("flow"), windows.integers("subflow"));
    let window_at = |at_s: f64, flow: u64, subflow: u64| {
        let rows = 0..times.partition_point(|&time| time <= at_s);
        let last = rows
            .rev()
            .find(|&row| (flows[row], subflows[row]) == (flow, subflow));
        sizes[last.expect("an open subflow has a window")]
    };
    let events = suspensions(&output);
    let begun: Vec<&Event> = events.iter().filter(|event| event.suspended).collect();
    assert!(begun.len() >= 12, "{events:?}");
    for event in begun {
        for subflow in 0..4 {
            let window = window_at(event.at_s, event.flow, subflow);
            assert_eq!(window.floor(), minimum, "{event:?}, subflow {subflow}");
        }
    }
    // Windows are not always at the minimum.
    let others = sizes.iter().filter(|window| window.floor() > minimum);
    assert!(others.count() > 1000);
}

#[test]
fn the_end_of_a_flow_ends_its_suspensions() {
    for (rest, end) in [
        ("size = \"200 KB\"", "finished"),
        ("size = \"unlimited\"\nstop = \"2 ms\"", "stopped"),
    ] {
        let plan = incast("\"amp\"", rest);
        let output = plans::run(&plan);
        let ends = plans::endings(&output);
        assert!(ends.len() >= 4 && ends.contains(&end), "{ends:?}");
        let events = suspensions(&output);
        assert!(!events.is_empty());
        for ((flow, _), own) in by_subflow(&events) {
            let last = own.last().expect("no subflow is there without an event");
            assert!(!last.suspended || ends[flow as usize] != end, "{own:?}");
        }
    }
}

#[test]
fn mmptcp_suspends_the_scattered_subflow_when_another_one_has_opened() {
    let plan = incast("\"mmptcp\"", "size = \"unlimited\"");
    let output = plans::run(&plan);
    let subflows = table(&output, "subflows");
    let opened = subflows.numbers("opened_s");
    let others = |flow: u64| {
        let all = subflows.integers("subflow").iter().enumerate();
        let own = all.filter(move |(row, _)| subflows.integers("flow")[*row] == flow);
        own.filter(|(_, subflow)| **subflow > 0).map(|(row, _)| row)
    };
    let received = subflows.integers("received_bytes");
    let moved_on = |flow: &u64| others(*flow).any(|row| received[row] > 0);
    let events = suspensions(&output);
    let mut suspended: Vec<u64> = events.iter().map(|event| event.flow).collect();
    suspended.sort_unstable();
    assert!(suspended.len() > 1);
    assert_eq!(suspended, (0..4).filter(moved_on).collect::<Vec<_>>());
    for event in &events {
        assert!(event.suspended && event.subflow == 0, "{event:?}");
        let first = others(event.flow).map(|row| opened[row]);
        // A handshake takes one round trip over two links.
        let first = first.fold(f64::INFINITY, f64::min) + 20e-6;
        assert!(event.at_s > first, "{event:?} {first}");
    }
}

#[test]
fn without_such_a_controller_the_table_is_empty_and_without_the_key_there_is_none() {
    let mut plan = incast("\"xmp\"", "size = \"1 MB\"");
    let output = plans::run(&plan);
    assert_eq!(suspensions(&output), []);
    plan.record.suspensions = false;
    let plain = plans::run(&plan);
    assert!(plain.table("suspensions").is_none());
    assert_eq!(plain.counters, output.counters);
    assert_eq!(plain.tables.len() + 1, output.tables.len());
}

/// Gives a plan's flows a controller that is not in the registry.
fn load(plan: &mut Plan, build: impl Fn(u32) -> Box<dyn Controller> + Send + Sync + 'static) {
    let loaded = Loaded {
        name: "loaded".to_owned(),
        summary: String::new(),
        source: String::new(),
        explanation: String::new(),
        coupled: true,
        ecn: Box::new(|_| Ecn::Count { limit: 255 }),
        parameters: Vec::new(),
        one_thread: false,
        build: Box::new(move |_, seat| build(seat.flow)),
    };
    plan.groups[0].controller = Algorithm::Loaded(Arc::new(loaded));
}

/// AMP with a log of what it does to its subflows.
#[derive(Debug)]
struct Watched {
    amp: Box<dyn Controller>,
    flow: u32,
    log: Arc<Mutex<Vec<Event>>>,
}

impl Watched {
    fn watch(
        &mut self,
        paths: &mut Paths<'_>,
        now: Option<Time>,
        act: impl FnOnce(&mut dyn Controller, &mut Paths<'_>),
    ) {
        let before: Vec<bool> = paths.iter().map(|path| path.may_send).collect();
        act(&mut *self.amp, paths);
        for (subflow, (path, before)) in (0..).zip(paths.iter().zip(before)) {
            if path.may_send != before {
                let event = Event {
                    at_s: now
                        .expect("subflows open before any is suspended")
                        .as_secs_f64(),
                    flow: u64::from(self.flow),
                    subflow,
                    suspended: !path.may_send,
                };
                self.log.lock().expect("no thread panicked").push(event);
            }
        }
    }
}

impl Controller for Watched {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        self.watch(paths, Some(ack.now), |amp, paths| amp.on_ack(paths, r, ack));
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, now: Time) {
        self.watch(paths, Some(now), |amp, paths| {
            amp.on_loss(paths, r, loss, now)
        });
    }

    fn on_subflow(&mut self, paths: &mut Paths<'_>, r: SubflowId, change: Change) {
        self.watch(paths, None, |amp, paths| amp.on_subflow(paths, r, change));
    }
}

#[test]
fn the_table_has_what_the_controller_did() {
    let mut plan = incast("\"amp\"", "size = \"unlimited\"");
    let log = Arc::new(Mutex::new(Vec::new()));
    let amp = find("amp").expect("a registered controller");
    let parameters = amp.parameters(&[("tau".to_owned(), Value::Number(1.0))]);
    let parameters = parameters.expect("a parameter of AMP");
    let kept = Arc::clone(&log);
    load(&mut plan, move |flow| {
        Box::new(Watched {
            amp: (amp.build)(&parameters),
            flow,
            log: Arc::clone(&kept),
        })
    });
    let events = suspensions(&plans::run(&plan));
    let mut did = log.lock().expect("no thread panicked").clone();
    did.sort_by(|one, other| {
        let key = |event: &Event| (event.flow, event.subflow);
        let in_time = one.at_s.total_cmp(&other.at_s);
        in_time.then(key(one).cmp(&key(other)))
    });
    assert!(did.len() > 20, "{did:?}");
    assert_eq!(events, did);
}

/// Never changes a window. Suspends further subflows as they open, or all subflows once some packets are acknowledged.
#[derive(Debug)]
struct Holding {
    further_as_they_open: bool,
    acked: u32,
}

impl Controller for Holding {
    fn on_ack(&mut self, paths: &mut Paths<'_>, _: SubflowId, ack: &Ack) {
        self.acked += ack.packets;
        if !self.further_as_they_open && self.acked > 100 {
            for r in (0..paths.len() as u32).map(SubflowId) {
                paths[r].may_send = false;
            }
        }
    }

    fn on_loss(&mut self, _: &mut Paths<'_>, _: SubflowId, _: Loss, _: Time) {}

    fn on_subflow(&mut self, paths: &mut Paths<'_>, r: SubflowId, change: Change) {
        if change == Change::Opened && self.further_as_they_open {
            paths[r].may_send = r.0 == 0;
        }
    }
}

/// Nothing is in flight when the flow stops, so no packet comes.
#[test]
fn a_flow_that_is_stopped_while_all_subflows_are_suspended_ends_their_suspensions() {
    let mut plan = incast("\"amp\"", "size = \"unlimited\"\nstop = \"2 ms\"");
    load(&mut plan, |_| {
        Box::new(Holding {
            further_as_they_open: false,
            acked: 0,
        })
    });
    let output = plans::run(&plan);
    let found = by_subflow(&suspensions(&output));
    assert_eq!(found.len(), 16);
    for own in found.values() {
        let [begun, ended] = own[..] else {
            panic!("{own:?}");
        };
        assert!(begun.suspended && begun.at_s < 0.002, "{own:?}");
        assert!(!ended.suspended && ended.at_s == 0.002, "{own:?}");
    }
}

/// Responses use connections that are already open: without a handshake, no packet precedes them.
#[test]
fn subflows_can_be_suspended_from_the_start() {
    let mut plan = read(
        r#"
        [fabric]
        kind = "star"
        senders = 4
        rate = "10 Gbps"
        delay = "5 us"
        [[traffic]]
        name = "jobs"
        pattern = "incast"
        jobs = 1
        servers = 3
        request = "2 KB"
        response = "64 KB"
        controller = "amp"
        subflows = 3
        [record]
        suspensions = true
        [stop]
        at = "10 ms"
        "#,
    );
    load(&mut plan, |_| {
        Box::new(Holding {
            further_as_they_open: true,
            acked: 0,
        })
    });
    let output = plans::run(&plan);
    let starts = plans::of_flows(&output, "start_s");
    let sizes = plans::of_flows(&output, "size_bytes");
    let events = suspensions(&output);
    let begun = events.iter().filter(|event| event.suspended);
    let answers: Vec<&Event> = begun
        .filter(|event| sizes[event.flow as usize] == 64_000.0)
        .collect();
    assert!(answers.len() > 10);
    for event in answers {
        assert!(event.subflow > 0);
        assert_eq!(event.at_s, starts[event.flow as usize]);
    }
}
