//! Runs whose clock somebody else holds: against hand arithmetic, with hosts that do as they are told.

use pathweave_engine::live::{
    Fabric, FirstArrival, FlowOrder, FlowView, Heading, Hosts, Run, SenderLimits, SubflowView,
    Taken,
};
use pathweave_engine::{Column, Verdict};
use pathweave_fabric::LinkId;
use pathweave_scenario::Plan;
use pathweave_units::{Bytes, Time};
use std::collections::BTreeMap;

fn plan(more: &str) -> Plan {
    let text = format!(
        r#"
        jitter = "none"
        [fabric]
        kind = "dumbbell"
        left = 1
        bottleneck_rate = "12 Mbps"
        bottleneck_delay = "3 ms"
        host_rate = "120 Mbps"
        host_delay = "1 ms"
        queue = {{ limit = 4 }}
        {more}
        "#
    );
    let scenario = pathweave_scenario::check(&text)
        .unwrap_or_else(|error| panic!("{}", error.render(80, false)));
    scenario.variants()[0].plan(1)
}

const FLOW: &str = r#"
    [[traffic]]
    name = "flow"
    pattern = "flows"
    controller = "reno"
    size = "1 MB"
    flows = [{ from = "S1", to = "D1", start = "10 ms" }, { from = "D1", to = "S1", start = "20 ms" }]
"#;

/// Notes what it is asked, and has delivered a given share of every flow.
#[derive(Default)]
struct Puppets {
    paths: BTreeMap<u32, (Vec<LinkId>, Vec<LinkId>)>,
    started: Vec<(u32, u32, u32)>,
    closed: Vec<u32>,
    delivered: u64,
}

impl Hosts for Puppets {
    fn lay(&mut self, flow: u32, _subflow: u32, forward: &[LinkId], back: &[LinkId]) {
        self.paths.insert(flow, (forward.to_vec(), back.to_vec()));
    }
    fn start(&mut self, order: &FlowOrder<'_>) {
        assert!(self.paths.contains_key(&order.flow), "routes come first");
        self.started
            .push((order.flow, order.source, order.destination));
    }
    fn stop(&mut self, _flow: u32) {}
    fn look(&mut self, _flow: u32) -> FlowView {
        let subflow = SubflowView {
            opened: Some(Time::ZERO),
            received: self.delivered,
            retransmits: 3,
            reinjected: 2,
            smoothed_rtt: Some(Time::from_millis(12)),
            limits: Some(SenderLimits {
                busy: Time::from_millis(5),
                receive_window: Time::from_millis(2),
                send_buffer: Time::from_millis(1),
            }),
            ..SubflowView::default()
        };
        FlowView {
            delivered: Bytes::new(self.delivered),
            sent: Bytes::new(self.delivered),
            subflows: vec![subflow],
        }
    }
    fn close(&mut self, flow: u32) {
        self.closed.push(flow);
    }
}

fn numbers(output: &pathweave_engine::Output, table: &str, name: &str) -> Vec<f64> {
    match output.table(table).and_then(|table| table.column(name)) {
        Some(Column::Numbers(values)) => values.clone(),
        Some(Column::Integers(values)) => values.iter().map(|&value| value as f64).collect(),
        other => panic!("{name}: {other:?}"),
    }
}

/// The links of the plan's first flow, there and back, as the run chooses them.
fn paths(plan: &Plan) -> (Vec<LinkId>, Vec<LinkId>) {
    let mut hosts = Puppets::default();
    let mut run = Run::new(plan, Time::from_millis(5)).expect("a run");
    run.advance(Time::from_millis(10), &mut hosts);
    hosts.paths[&0].clone()
}

#[test]
fn packets_arrive_when_rates_and_delays_say() {
    let plan = plan(FLOW);
    let mut fabric: Fabric<'_, u32> = Fabric::new(&plan).expect("a fabric");
    let (forward, back) = paths(&plan);
    fabric.lay(7, 0, &forward, &back);
    let start = Time::from_micros(500);
    fabric.advance(start, |_, _, _| None, |_| {});
    let send = |fabric: &mut Fabric<'_, u32>, packet| {
        fabric.send(start, 7, 0, Heading::Forward, 1500, true, packet)
    };
    assert_eq!(send(&mut fabric, 1), Taken::Yes);
    assert_eq!(send(&mut fabric, 2), Taken::Yes);
    assert_eq!(
        fabric.send(start, 7, 1, Heading::Forward, 1500, true, 3),
        Taken::Unknown
    );
    let mut arrivals = Vec::new();
    fabric.advance(
        Time::from_millis(20),
        |at, packet, marked| {
            arrivals.push((at, packet, marked));
            None
        },
        |_| panic!("nothing is lost"),
    );
    // 100 us and 1 ms, 1 ms and 3 ms, 100 us and 1 ms; the second packet waits 1 ms for the first.
    let first = start + Time::from_micros(6200);
    let expected = [(first, 1, false), (first + Time::from_millis(1), 2, false)];
    assert_eq!(arrivals, expected);
    assert_eq!(fabric.next_due(), Time::MAX);
    let record = fabric.finish(Time::from_millis(30));
    assert_eq!((record.packet_hops, record.carried_bytes()), (6, 9000));
}

#[test]
fn what_the_queue_cannot_hold_and_what_a_failed_link_holds_is_lost() {
    let down = "[[events]]\nat = \"4 ms\"\nlink = \"A-B\"\ndown = true";
    let drops = "[transport]\nhost_port = \"drops\"\n";
    let plan = plan(&format!("{drops}{FLOW}{down}"));
    let mut fabric: Fabric<'_, u32> = Fabric::new(&plan).expect("a fabric");
    let (forward, back) = paths(&plan);
    fabric.lay(0, 0, &forward, &back);
    // One in service and four waiting; the others find the host's own port full.
    let taken =
        (0..8).map(|packet| fabric.send(Time::ZERO, 0, 0, Heading::Forward, 1500, false, packet));
    let taken: Vec<Taken> = taken.collect();
    assert_eq!(
        taken
            .iter()
            .filter(|&&taken| taken == Taken::Dropped)
            .count(),
        3
    );
    let (mut arrived, mut lost) = (0, Vec::new());
    fabric.advance(
        Time::from_secs(1),
        |_, _, _| {
            arrived += 1;
            None
        },
        |packet| lost.push(packet),
    );
    // The first would be through the bottleneck at 5.1 ms: the link fails before.
    assert_eq!(arrived, 0);
    lost.sort_unstable();
    assert_eq!(lost, [0, 1, 2, 3, 4]);
}

#[test]
fn flows_start_and_finish_when_they_are_said_to() {
    let plan = plan(FLOW);
    let (mut hosts, millis) = (Puppets::default(), Time::from_millis);
    let mut run = Run::new(&plan, millis(5)).expect("a run");
    assert_eq!(run.base_rtt(), None);
    run.advance(millis(9), &mut hosts);
    assert!(hosts.started.is_empty() && run.next_due() <= millis(10));
    run.advance(millis(30), &mut hosts);
    assert_eq!(hosts.started, [(0, 0, 1), (1, 1, 0)]);
    let (there, back) = (&hosts.paths[&0], &hosts.paths[&1]);
    assert_eq!((&there.0, &there.1), (&back.1, &back.0));
    // Both ways 5 ms of delays; 1500 bytes there take 1.2 ms, 52 bytes back a little.
    let base = run.base_rtt().expect("flows have started").as_secs_f64();
    assert!(base > 0.0112 && base < 0.0113, "{base}");
    hosts.delivered = 1_000_000;
    run.finished(0, Bytes::new(1_000_000), millis(1010), &mut hosts);
    assert_eq!((run.ended(), &hosts.closed[..]), (None, &[0][..]));
    assert_eq!(run.started_and_finished(), (2, 1));
    run.finished(1, Bytes::new(1_000_000), millis(2020), &mut hosts);
    assert_eq!(run.ended(), Some(Verdict::Finished));
    let mut fabric: Fabric<'_, u32> = Fabric::new(&plan).expect("a fabric");
    for flow in [0, 1] {
        let (forward, back) = &hosts.paths[&flow];
        fabric.lay(flow, 0, forward, back);
        fabric.send(millis(30), flow, 0, Heading::Forward, 1500, false, flow);
    }
    let arrived = |_, flow, _| {
        Some(FirstArrival {
            flow,
            subflow: 0,
            payload: 1_000_000,
        })
    };
    fabric.advance(millis(100), arrived, |_| panic!("nothing is lost"));
    let record = fabric.finish(millis(2020));
    let output = run
        .finish(millis(2020), record, &mut hosts)
        .expect("it has ended");
    assert_eq!(numbers(&output, "flows", "fct_s"), [1.0, 2.0]);
    assert_eq!(numbers(&output, "flows", "goodput_bps"), [8e6, 4e6]);
    assert_eq!(numbers(&output, "flows", "rtt_mean_s"), [0.012, 0.012]);
    assert_eq!(numbers(&output, "subflows", "retransmits"), [3.0, 3.0]);
    assert_eq!(numbers(&output, "subflows", "reinjected"), [2.0, 2.0]);
    assert_eq!(output.counters.flows_finished, 2);
    // By flow, whatever the order in which they ended.
    let limits = |name| numbers(&output, "sender_limits", name);
    assert_eq!(limits("flow"), [0.0, 1.0]);
    assert_eq!(limits("busy_s"), [0.005, 0.005]);
    assert_eq!(limits("receive_window_s"), [0.002, 0.002]);
    assert_eq!(limits("send_buffer_s"), [0.001, 0.001]);
}

/// An unlimited flow from 10 ms on, in windows that begin and end while it is under way, and while packets arrive.
#[test]
fn windows_and_rates_count_what_came_within_them() {
    let flow = FLOW.replace("1 MB", "unlimited");
    let more = "[stop]\nat = \"3 s\"\n[record]\nrates = \"800 ms\"\n[measure]\nfrom = \"1 s\"\n\
                phases.early = [\"1 s\", \"2 s\"]";
    let plan = plan(&format!("{flow}{more}"));
    let mut hosts = Puppets::default();
    let mut run = Run::new(&plan, Time::from_millis(5)).expect("a run");
    run.advance(Time::from_secs(3), &mut hosts);
    assert_eq!(run.ended(), Some(Verdict::Stopped));
    let mut fabric: Fabric<'_, u32> = Fabric::new(&plan).expect("a fabric");
    let (forward, back) = &hosts.paths[&0];
    fabric.lay(5, 0, forward, back);
    let arrived = |_, payload, _| {
        Some(FirstArrival {
            flow: 0,
            subflow: 0,
            payload: u64::from(payload),
        })
    };
    // It takes 6.2 ms, and 0.1 ms for the last link: half of the first packet comes before 1 s, three
    // quarters of the third before 2 s.
    for (micros, payload) in [
        (993_850, 1000),
        (1_500_000, 1000),
        (1_600_000, 0),
        (1_993_825, 1000),
    ] {
        let at = Time::from_micros(micros);
        fabric.advance(at, arrived, |_| panic!("nothing is lost"));
        let sent = fabric.send(at, 5, 0, Heading::Forward, 1500, false, payload);
        assert_eq!(sent, Taken::Yes);
    }
    let end = Time::from_secs(3);
    fabric.advance(end, arrived, |_| panic!("nothing is lost"));
    let output = run
        .finish(end, fabric.finish(end), &mut hosts)
        .expect("it has ended");
    assert_eq!(numbers(&output, "phases", "goodput_bps"), [18_000.0, 0.0]);
    assert_eq!(
        numbers(&output, "phase_subflows", "goodput_bps"),
        [18_000.0, 0.0]
    );
    assert_eq!(numbers(&output, "flows", "goodput_bps"), [10_000.0, 0.0]);
    // The last interval has 600 ms.
    let rates = [0.0, 0.0, 20_000.0, 0.0, 10_000.0, 0.0, 0.0, 0.0];
    assert_eq!(numbers(&output, "rates", "rate_bps"), rates);
    let ends = [0.8, 0.8, 1.6, 1.6, 2.4, 2.4, 3.0, 3.0];
    assert_eq!(numbers(&output, "rates", "time_s"), ends);
    assert_eq!(output.verdict, Verdict::Stopped);
}

#[test]
fn a_flow_that_is_stopped_has_no_completion_time() {
    let flow = FLOW.replace("start = \"10 ms\"", "start = \"10 ms\", stop = \"1 s\"");
    let plan = plan(&flow);
    let (mut hosts, millis) = (Puppets::default(), Time::from_millis);
    let mut run = Run::new(&plan, millis(5)).expect("a run");
    run.advance(millis(1000), &mut hosts);
    run.finished(0, Bytes::new(600_000), millis(1010), &mut hosts);
    run.finished(1, Bytes::new(1_000_000), millis(2020), &mut hosts);
    let fabric: Fabric<'_, u32> = Fabric::new(&plan).expect("a fabric");
    let record = fabric.finish(millis(2020));
    let output = run
        .finish(millis(2020), record, &mut hosts)
        .expect("it has ended");
    let times = numbers(&output, "flows", "fct_s");
    assert!(times[0].is_nan() && times[1] == 2.0, "{times:?}");
    assert_eq!(numbers(&output, "flows", "end_s"), [1.01, 2.02]);
    let Some(Column::Labels { names, codes }) = output.tables[0].column("end") else {
        panic!("no column end");
    };
    let words: Vec<&str> = codes.iter().map(|&code| &names[code as usize]).collect();
    assert_eq!(words, ["stopped", "finished"]);
    assert_eq!(output.counters.flows_finished, 1);
}

#[test]
fn queue_percentiles_end_with_the_window() {
    let plan = plan(&format!(
        "{FLOW}[stop]\nat = \"1 s\"\n[measure]\nto = \"20 ms\""
    ));
    let mut fabric: Fabric<'_, u32> = Fabric::new(&plan).expect("a fabric");
    let (forward, back) = paths(&plan);
    fabric.lay(0, 0, &forward, &back);
    for (at, packets) in [(0, 2), (30, 5)] {
        let at = Time::from_millis(at);
        fabric.advance(at, |_, _, _| None, |_| {});
        for packet in 0..packets {
            fabric.send(at, 0, 0, Heading::Forward, 1500, false, packet);
        }
    }
    let record = fabric.finish(Time::from_secs(1));
    let mut hosts = Puppets::default();
    let mut run = Run::new(&plan, Time::from_millis(5)).expect("a run");
    run.advance(Time::from_secs(1), &mut hosts);
    let output = run.finish(Time::from_secs(1), record, &mut hosts);
    let output = output.expect("it has ended");
    // In the window one packet found the port's other one in service, none waiting.
    let longest = numbers(&output, "links", "queue_p99");
    assert!(longest.iter().all(|&packets| packets == 0.0), "{longest:?}");
}

#[test]
fn flows_whose_links_lose_everything_are_stalled_once_nothing_is_under_way() {
    let lossy = "[[events]]\nat = \"100 ms\"\nlink = \"A->B\"\nloss = 1.0";
    let plan = plan(&format!("{FLOW}{lossy}"));
    let (mut hosts, millis) = (Puppets::default(), Time::from_millis);
    let mut run = Run::new(&plan, millis(5)).expect("a run");
    for at in (0..1100).step_by(5) {
        run.advance(millis(at), &mut hosts);
        assert_eq!(run.ended(), None);
    }
    run.advance(millis(1105), &mut hosts);
    assert_eq!(run.ended(), Some(Verdict::Stalled));
}
