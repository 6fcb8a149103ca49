//! Timeouts fall into steps of all lengths.

use super::checking::check_plan;
use crate::plans::read;
use pathweave_scenario::Plan;

/// Subflows fail, get new paths and recover, while a link is down and another one loses everything.
fn failing(down: &str, losing: &str) -> String {
    format!(
        r#"
        [[events]]
        at = "700 us"
        link = "{down}"
        down = true
        [[events]]
        at = "900 us"
        link = "{losing}"
        loss = 1
        [[events]]
        at = "2300 us"
        link = "{down}"
        up = true
        [[events]]
        at = "2600 us"
        link = "{losing}"
        loss = 0
        "#
    )
}

/// Connections of two subflows and short flows, whose timeouts are all this long.
fn with_timeouts(fabric: &str, rto: &str, rest: &str) -> Plan {
    read(&format!(
        r#"
        [fabric]
        rate = "1 Gbps"
        queue = {{ limit = 15, mark = {{ kind = "step", k = 5 }} }}
        {fabric}
        [transport]
        minimum_rto = "{rto}"
        initial_rto = "{rto}"
        maximum_rto = "{rto}"
        [routing]
        kind = "ecmp"
        detection_delay = "300 us"
        [[traffic]]
        name = "large"
        pattern = "permutation"
        rounds = 1
        size = "unlimited"
        controller = "lia"
        subflows = 2
        [[traffic]]
        name = "short"
        pattern = "random"
        size = "10 KB"
        controller = "dctcp"
        [stop]
        at = "4 ms"
        [record]
        windows = "on-change"
        rates = "900 us"
        packets = ["large/1", "short/2"]
        {rest}
        "#
    ))
}

/// A ring of switches, each with two hosts.
fn ring(switches: usize, delay: &str) -> String {
    let hosts = 2 * switches;
    let ring = (1..=switches).map(|one| format!("\"s{one}-s{}\", ", one % switches + 1));
    let edges = (1..=hosts).map(|host| format!("\"h{host}-s{}\", ", host.div_ceil(2)));
    let cables: String = ring.chain(edges).collect();
    format!(
        r#"
        kind = "graph"
        hosts = ["h1..h{hosts}"]
        switches = ["s1..s{switches}"]
        cables = [{cables}]
        delay = "{delay}"
        "#
    )
}

#[test]
fn with_a_cycle_of_five_and_one_of_six() {
    // Five switches have no two sides; with six there are hosts on both.
    for switches in [5, 6] {
        for delay in ["10 us", "10 us..40 us"] {
            let fabric = ring(switches, delay);
            let output = check_plan(&with_timeouts(
                &fabric,
                "400 us",
                &failing("s1-s2", "s3-s4"),
            ));
            assert!(output.counters.lost_to_failures > 0);
        }
    }
}

#[test]
fn with_timeouts_of_about_two_delays() {
    // Below 20 us they could be set and pass within a step of one side.
    for rto in [
        "1 us",
        "9 us",
        "19999999 ps",
        "20 us",
        "20000001 ps",
        "35 us",
    ] {
        for switches in [5, 6] {
            let rest = failing("s1-s2", "s3-s4");
            check_plan(&with_timeouts(&ring(switches, "10 us"), rto, &rest));
        }
    }
}

#[test]
fn with_timeouts_of_about_two_delays_where_hosts_are_on_one_side() {
    let fabric = r#"
        kind = "fat-tree"
        k = 4
        delay = { rack = "10 us", aggregation = "30 us", core = "14 us" }
    "#;
    for rto in ["9 us", "20 us", "31 us", "200 us"] {
        let rest = failing("agg0.0-core0.0", "edge1.0-agg1.1");
        check_plan(&with_timeouts(fabric, rto, &rest));
    }
}

#[test]
fn with_an_end_that_follows_from_a_timeout() {
    // The run ends a link's delay after the last subflow has failed. By then other subflows have sent again: nothing
    // of that may be handled that is later than the end.
    let dumbbell = r#"
        kind = "dumbbell"
        left = 7
        bottleneck_rate = "1 Gbps"
        bottleneck_delay = "10 us"
        host_rate = "1 Gbps"
    "#;
    let star = "kind = \"star\"\nsenders = 7\nrate = \"1 Gbps\"\ndelay = \"10 us\"";
    for (fabric, to, link) in [(dumbbell, "D", "A->B"), (star, "D1", "A->D1")] {
        let flows = (1..=7).map(|source| {
            let own = if to == "D" { source } else { 1 };
            format!(
                "{{ from = \"S{source}\", to = \"D{own}\", start = \"{} us\" }},",
                9 * source
            )
        });
        let flows: String = flows.collect();
        for rto in 1..50 {
            // At times at which more or less is under way when nothing arrives any more.
            let from = 300 + 17 * (rto % 9);
            let plan = read(&format!(
                r#"
                [fabric]
                {fabric}
                [transport]
                minimum_rto = "{rto} us"
                initial_rto = "{rto} us"
                reinjection = "timeouts"
                failed_after = 1
                [[traffic]]
                name = "stuck"
                pattern = "flows"
                flows = [{flows}]
                size = "1 MB"
                controller = "reno"
                [[events]]
                at = "{from} us"
                link = "{link}"
                loss = 1
                "#
            ));
            let output = check_plan(&plan);
            assert_eq!(output.verdict.as_str(), "stalled", "{rto} us");
        }
    }
}
