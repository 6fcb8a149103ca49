//! When traffic hears of what has become of flows.

use crate::plans;
use pathweave_engine::run_with_departure_ports;
use pathweave_engine::{Output, Progress};
use pathweave_scenario::Plan;

fn plan(traffic: &str) -> Plan {
    let text = format!(
        r#"
        jitter = "none"
        [fabric]
        kind = "star"
        senders = 6
        rate = "1 Gbps"
        delay = "10 us"
        queue = {{ limit = 100 }}
        [transport]
        ack_packet = "52 B"
        {traffic}
        "#
    );
    let scenario = pathweave_scenario::check(&text)
        .unwrap_or_else(|error| panic!("{}", error.render(80, false)));
    scenario.variants()[0].plan(1)
}

/// Start and end of each flow, in picoseconds.
fn lives(output: &Output) -> Vec<(u64, u64)> {
    let flows = plans::table(output, "flows");
    let picos = |seconds: &f64| (seconds * 1e12).round() as u64;
    let starts = flows.numbers("start_s").iter().map(picos);
    starts
        .zip(flows.numbers("end_s").iter().map(picos))
        .collect()
}

/// 52 bytes at 1 Gbps.
const REACTION: u64 = 416_000;

#[test]
fn a_closed_loop_goes_on_a_reaction_time_after_an_end() {
    let plan = plan(
        r#"
        [[traffic]]
        name = "loop"
        pattern = "many-to-one"
        destination = "D1"
        concurrency = 2
        count = 12
        size = { kind = "uniform", min = "10 KB", max = "100 KB" }
        controller = "reno"
        "#,
    );
    let output = plans::run(&plan);
    let lives = lives(&output);
    assert_eq!(lives.len(), 12);
    let mut ends: Vec<u64> = lives.iter().map(|life| life.1).collect();
    ends.sort_unstable();
    // Two start at once, and then one with each end, but for the last two.
    let mut starts: Vec<u64> = lives.iter().skip(2).map(|life| life.0).collect();
    starts.sort_unstable();
    let expected: Vec<u64> = ends[..10].iter().map(|end| end + REACTION).collect();
    assert_eq!(starts, expected);
    let ended = output.counters.ended.as_picos();
    assert_eq!(
        ended,
        ends[11] + REACTION,
        "the run ends with the last news"
    );
}

#[test]
fn a_gap_counts_from_the_end_of_a_flow() {
    let plan = plan(
        r#"
        [[traffic]]
        name = "loop"
        pattern = "many-to-one"
        destination = "D1"
        concurrency = 1
        count = 5
        gap = "1 ms"
        size = "20 KB"
        controller = "reno"
        "#,
    );
    let lives = lives(&plans::run(&plan));
    for pair in lives.windows(2) {
        assert_eq!(pair[1].0, pair[0].1 + 1_000_000_000);
    }
}

/// Groups that start, end and stop at the same instants: the numbers of flows follow from the agenda, so that
/// another implementation of ports, which handles other events in another order, has the same flows.
#[test]
fn flows_are_numbered_alike_however_events_are_handled() {
    let plan = plan(
        r#"
        [[traffic]]
        name = "a"
        pattern = "permutation"
        rounds = 4
        size = "30 KB"
        controller = "dctcp"
        [[traffic]]
        name = "b"
        pattern = "random"
        size = "30 KB"
        controller = "dctcp"
        stop = "3 ms"
        [[traffic]]
        name = "c"
        pattern = "bursts"
        destination = "D1"
        flows = 6
        period = "1 ms"
        bursts = 3
        size = "1 MB"
        stop = "3 ms"
        controller = "reno"
        "#,
    );
    let one = plans::run(&plan);
    let other = run_with_departure_ports(&plan, &Progress::default()).expect("a run");
    assert_eq!(one.hash, other.hash);
    let groups = plans::table(&one, "flows").integers("id").len();
    assert!(groups > 50, "{groups} flows");
}
