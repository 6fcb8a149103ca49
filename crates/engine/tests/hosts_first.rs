//! Where loops are closed, hosts can go first in the order of their times while switches have their turns. It makes no
//! difference to results.

use crate::plans::read;
use pathweave_engine::{
    Cut, Execution, Output, Prefetching, Progress, Turns, run_as, run_with_departure_ports,
};

fn everything(output: &Output) -> String {
    let captures = output.captures.iter();
    let captured: Vec<&[u8]> = captures.map(|capture| &*capture.pcapng).collect();
    format!("{} {:?} {captured:?}", output.hash, output.counters)
}

/// Holds a run in which hosts go first against others in which all events come in the order of their times. Gives the number
/// of flows that have finished.
fn check(fabric: &str, rest: &str) -> u64 {
    // Flows that wait for each other start at once, or a little later.
    let finished = ["none", "rtt"].map(|jitter| check_with(jitter, fabric, rest));
    finished[0].min(finished[1])
}

fn check_with(jitter: &str, fabric: &str, rest: &str) -> u64 {
    let plan = read(&format!(
        r#"
        jitter = "{jitter}"
        [fabric]
        {fabric}
        queue = {{ limit = 20, mark = {{ kind = "step", k = 5 }} }}
        [transport]
        minimum_rto = "500 us"
        [routing]
        kind = "ecmp"
        detection_delay = "100 us"
        {rest}
        "#
    ));
    let run = |turns, prefetching| {
        let execution = Execution {
            cut: Cut::NOWHERE,
            turns,
            prefetching,
            threads: 1,
        };
        run_as(&plan, &Progress::default(), &execution).expect("a run without defects")
    };
    let by_time = run(Turns::ByTime, Prefetching::Never);
    for prefetching in [Prefetching::Never, Prefetching::Always] {
        let by_node = run(Turns::ByNode, prefetching);
        assert_eq!(everything(&by_node), everything(&by_time), "{rest}");
    }
    let departures = run_with_departure_ports(&plan, &Progress::default());
    let departures = departures.expect("a run without defects");
    assert_eq!(everything(&departures), everything(&by_time), "{rest}");
    by_time.counters.flows_finished
}

const FABRICS: [&str; 3] = [
    "kind = \"fat-tree\"\nk = 4\nrate = \"1 Gbps\"\ndelay = \"5 us\"",
    "kind = \"fat-tree\"\nk = 4\nrate = \"1 Gbps\"\ndelay = { rack = \"2 us\", aggregation = \"9 us\", core = \"5 us\" }",
    "kind = \"leaf-spine\"\nleaves = 4\nspines = 2\nhosts_per_leaf = 5\nhost_rate = \"1 Gbps\"\nhost_delay = \"3 us\"",
];

#[test]
fn with_flows_that_start_when_others_end() {
    for fabric in FABRICS {
        for pattern in [
            "pattern = \"random\"\nsize = \"20 KB\"",
            "pattern = \"random\"\nsize = { kind = \"uniform\", min = \"1 KB\", max = \"60 KB\" }\nmax_inbound = 2",
            "pattern = \"permutation\"\nsize = \"40 KB\"",
            "pattern = \"incast\"\njobs = 3\nservers = 5\nresponse = \"9 KB\"",
            "pattern = \"many-to-one\"\nsize = \"9 KB\"\ndestination = \"h1\"\nconcurrency = 4\ngap = \"190 us\"",
        ] {
            let finished = check(
                fabric,
                &format!(
                    r#"
                    [[traffic]]
                    name = "closed"
                    controller = "xmp"
                    subflows = 2
                    {pattern}
                    [stop]
                    at = "5 ms"
                    "#
                ),
            );
            assert!(finished > 10, "{finished} with {pattern}");
        }
    }
}

/// What is not traffic brings all nodes to its time; so does the end, here at times between those of steps.
#[test]
fn with_measurements_failures_and_an_end_in_between() {
    for fabric in &FABRICS[..2] {
        for stop in ["3999999999 ps", "4 ms", "4003700001 ps"] {
            let finished = check(
                fabric,
                &format!(
                    r#"
                    [[traffic]]
                    name = "closed"
                    pattern = "random"
                    size = "30 KB"
                    controller = "dctcp"
                    [[traffic]]
                    name = "open"
                    pattern = "poisson"
                    flows_per_second = 30000
                    size = "5 KB"
                    controller = "reno"
                    stop = "3 ms"
                    [[traffic]]
                    name = "stays"
                    pattern = "permutation"
                    rounds = 1
                    size = "unlimited"
                    controller = "lia"
                    subflows = 2
                    start = "1 ms"
                    stop = "3500 us"
                    [[events]]
                    at = "700 us"
                    link = "agg0.0-core0.0"
                    down = true
                    [[events]]
                    at = "2300 us"
                    link = "agg0.0-core0.0"
                    up = true
                    [[events]]
                    at = "900 us"
                    link = "agg2.1-core1.0"
                    loss = 0.05
                    [[events]]
                    at = "1100 us"
                    link = "edge3.0-agg3.0"
                    loss = 1
                    [[events]]
                    at = "1234567 ns"
                    link = "edge1.0-agg1.1"
                    rate = "300 Mbps"
                    [stop]
                    at = "{stop}"
                    [measure]
                    phases.middle = ["1100001 ns", "2900007 ns"]
                    [record]
                    rates = "433 us"
                    queues = "17 us"
                    windows = "on-change"
                    packets = ["closed/1"]
                    "#
                ),
            );
            assert!(finished > 50, "{finished}");
        }
    }
}

/// Between flows that are far apart nothing happens anywhere.
#[test]
fn with_long_times_in_which_nothing_happens() {
    let finished = check(
        FABRICS[0],
        r#"
        [[traffic]]
        name = "closed"
        pattern = "many-to-one"
        destination = "h1"
        concurrency = 1
        gap = "3 ms"
        size = "3 KB"
        controller = "reno"
        [stop]
        at = "100 ms"
        "#,
    );
    assert!(finished > 20, "{finished}");
}

/// Ports of a switch share memory, so that a packet's fate depends on what the others hold.
#[test]
fn with_shared_memory() {
    let finished = check(
        "kind = \"fat-tree\"\nk = 4\nrate = \"1 Gbps\"\ndelay = \"5 us\"\nshared_buffer = { size = \"40 KB\", alpha = 1 }",
        r#"
        [[traffic]]
        name = "closed"
        pattern = "random"
        size = "50 KB"
        controller = "reno"
        [stop]
        at = "6 ms"
        "#,
    );
    assert!(finished > 20, "{finished}");
}
