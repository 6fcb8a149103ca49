//! Flows start and end, and traffic reacts to it or not.

use super::checking::{check, check_open_loops, plan};
use crate::plans::read;
use pathweave_engine::{Execution, Progress, Turns, run_as};

#[test]
fn with_closed_loops_and_jobs() {
    let output = check(
        "",
        r#"
        [[traffic]]
        name = "random"
        pattern = "random"
        size = "10 KB"
        controller = "lia"
        subflows = 2
        [[traffic]]
        name = "jobs"
        pattern = "incast"
        jobs = 4
        servers = 5
        controller = "dctcp"
        "#,
    );
    assert!(output.counters.flows_finished > 20);
}

/// Flows start at times of their own, and nothing follows from their ends: hosts start them in their turns.
#[test]
fn with_open_loops() {
    let plan = plan(
        "",
        r#"
        [[traffic]]
        name = "small"
        pattern = "poisson"
        load = 0.4
        layer = "rack"
        size = { kind = "pareto", shape = 1.2, mean = "8 KB", maximum = "200 KB" }
        controller = "dctcp"
        [[traffic]]
        name = "regular"
        pattern = "many-to-many"
        gap = "3 us"
        size = "2 KB"
        controller = "lia"
        subflows = 2
        stop = "800 us"
        [[traffic]]
        name = "bursts"
        pattern = "bursts"
        destination = "h3"
        flows = 6
        period = "100 us"
        size = "5 KB"
        controller = "reno"
        [record]
        windows = "on-change"
        rates = "70 us"
        queues = "30 us"
        packets = ["small/3", "bursts/4"]
        [[events]]
        at = "300 us"
        link = "agg0.0-core0.0"
        down = true
        "#,
    );
    let output = check_open_loops(&plan);
    let counters = output.counters;
    assert!(
        counters.flows_finished > 300 && counters.marked > 0,
        "{counters:?}"
    );
    assert!(output.captures.iter().all(|capture| capture.packets > 3));
}

/// The run is over when the last of its flows has come, which does not start because its group has ended.
#[test]
fn with_a_last_flow_that_does_not_start() {
    let text = r#"
        [fabric]
        kind = "dumbbell"
        left = 2
        bottleneck_rate = "1 Gbps"
        bottleneck_delay = "100 us"
        host_delay = "100 us"
        # No timer is left when the last start comes.
        [transport]
        initial_rto = "1 ms"
        minimum_rto = "1 ms"
        [[traffic]]
        name = "flows"
        pattern = "flows"
        controller = "dctcp"
        size = "10 KB"
        stop = "3 ms"
        flows = [
            { from = "S1", to = "D1", size = "1 MB" },
            { from = "S2", to = "D2", start = "700 us" },
            { from = "S1", to = "D2", start = "4.5 ms" },
        ]
        "#;
    let output = check_open_loops(&read(text));
    // What was under way at the stop has come before the last start, which was opened ahead.
    let counters = output.counters;
    assert_eq!((counters.flows_finished, counters.flows_stopped), (1, 2));
    let last_start = pathweave_units::Time::from_micros(4500);
    assert!(counters.ended >= last_start);
}

/// The last flow has drawn more than can be sent. It is opened ahead, and the first flow has left nothing to do until then.
#[test]
fn with_a_last_flow_that_is_refused() {
    let plan = read(
        r#"
        [fabric]
        kind = "dumbbell"
        left = 2
        bottleneck_rate = "1 Gbps"
        bottleneck_delay = "100 us"
        host_delay = "100 us"
        [transport]
        initial_rto = "1 ms"
        minimum_rto = "1 ms"
        [[traffic]]
        name = "flows"
        pattern = "flows"
        controller = "dctcp"
        size = { kind = "pareto", shape = 1.01, mean = "900000 TB" }
        flows = [
            { from = "S1", to = "D1", size = "10 KB" },
            { from = "S1", to = "D2", start = "3 ms" },
        ]
        "#,
    );
    for turns in [Turns::ByTime, Turns::ByNode] {
        let execution = Execution {
            turns,
            ..Execution::PLAIN
        };
        let Err(refused) = run_as(&plan, &Progress::default(), &execution) else {
            panic!("the flow is refused");
        };
        let text = refused.to_string();
        assert!(text.contains("more packets than can be numbered"), "{text}");
    }
}

/// A run that ends with a number of flows has to hear of them at their times once there may be enough.
#[test]
fn with_an_end_after_so_many_flows() {
    for drain in ["", "drain = true"] {
        let text = format!(
            r#"
            [fabric]
            kind = "fat-tree"
            k = 4
            rate = "10 Gbps"
            delay = "10 us"
            [[traffic]]
            name = "small"
            pattern = "poisson"
            load = 0.3
            layer = "rack"
            size = "6 KB"
            controller = "dctcp"
            [stop]
            traffic = "small"
            flows = 150
            {drain}
            "#
        );
        let output = check_open_loops(&read(&text));
        let drained = output.counters.flows_finished == output.counters.flows_started;
        assert_eq!(drained, !drain.is_empty());
    }
}
