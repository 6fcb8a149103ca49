//! Results are the same on any number of threads and in whatever order nodes have their turns.

mod plans;

use pathweave_engine::{
    Cut, Execution, Output, Progress, ReadAhead, Turns, most_threads, run_as, run_on_threads,
    run_with_departure_ports,
};
use pathweave_scenario::Plan;
use plans::read;

/// Enough events between two exchanges of regions that threads share them.
fn plan(fabric: &str, rest: &str) -> Plan {
    let text = format!(
        r#"
        [fabric]
        kind = "fat-tree"
        k = 4
        rate = "10 Gbps"
        delay = "10 us"
        queue = {{ limit = 60, mark = {{ kind = "step", k = 20 }} }}
        {fabric}
        [transport]
        minimum_rto = "200 us"
        [stop]
        at = "1 ms"
        {rest}
        "#
    );
    read(&text)
}

/// All that a run gives.
fn everything(output: &Output) -> String {
    let captures = output.captures.iter();
    let captured: Vec<(&str, &[u8])> = captures
        .map(|capture| (&*capture.name, &*capture.pcapng))
        .collect();
    format!(
        "{} {:?} {:?} {:?} {captured:?}",
        output.hash, output.counters, output.verdict, output.notes
    )
}

/// Runs a fat-tree on one thread, and holds the results on others against it.
fn check(fabric: &str, rest: &str) -> Output {
    check_plan(&plan(fabric, rest))
}

/// The same of any plan.
fn check_plan(plan: &Plan) -> Output {
    let alone = plans::run(plan);
    let expected = everything(&alone);
    // Neighbours are in different regions as often as can be.
    let nodes = 0..plan.fabric.nodes.len() as u32;
    let scattered = Cut::At(nodes.map(|node| (node % 5) as u8).collect());
    let cuts = [
        (1, Cut::NOWHERE),
        (2, Cut::Into(2)),
        (3, Cut::Into(3)),
        (8, Cut::Into(8)),
        (2, Cut::Into(5)),
        (3, scattered),
    ];
    for (threads, cut) in cuts {
        for (turns, read_ahead) in [
            (Turns::ByTime, ReadAhead::Never),
            (Turns::ByNode, ReadAhead::Never),
            (Turns::ByNode, ReadAhead::Always),
        ] {
            let cut = cut.clone();
            let execution = Execution {
                cut,
                turns,
                read_ahead,
                threads,
            };
            let output = run_as(plan, &Progress::default(), &execution);
            let output = output.expect("a run without defects");
            assert!(everything(&output) == expected, "{execution:?} differs");
        }
    }
    alone
}

/// The same where nothing waits for the ends of flows, and against ports for which all events come in the order of their
/// times: there each flow is opened when it starts, and each end is heard of at its time.
fn check_open_loops(plan: &Plan) -> Output {
    let output = check_plan(plan);
    let one_by_one = run_with_departure_ports(plan, &Progress::default());
    let one_by_one = one_by_one.expect("a run without defects");
    assert!(everything(&one_by_one) == everything(&output));
    output
}

const LARGE: &str = r#"
    [[traffic]]
    name = "large"
    pattern = "permutation"
    rounds = 1
    size = "unlimited"
    controller = "xmp"
    subflows = 4
"#;

#[test]
fn with_failures_and_recording() {
    let output = check(
        "",
        &format!(
            r#"{LARGE}
        [record]
        windows = "on-change"
        rtts = "50 us"
        rates = "70 us"
        queues = "30 us"
        map = "100 us"
        packets = ["large/3", "large/9"]
        [[events]]
        at = "300 us"
        link = "agg0.0-core0.0"
        down = true
        [[events]]
        at = "350 us"
        link = "agg1.0-core0.1"
        rate = "3 Gbps"
        [[events]]
        at = "500 us"
        node = "core1.0"
        down = true
        [[events]]
        at = "550 us"
        link = "edge2.0-agg2.1"
        loss = 0.02
        [[events]]
        at = "700 us"
        link = "agg0.0-core0.0"
        up = true
        "#
        ),
    );
    assert!(output.counters.lost_to_failures > 0 && output.counters.marked > 0);
    assert!(output.captures.iter().all(|capture| capture.packets > 20));
}

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

#[test]
fn with_sprayed_packets() {
    let large = LARGE.replace("subflows = 4", "").replace("xmp", "cubic");
    check("", &format!("{large}\n[routing]\nkind = \"spray\""));
}

#[test]
fn with_shared_buffers() {
    let output = check("shared_buffer = { size = \"100 KB\", alpha = 1 }", LARGE);
    let refused = plans::table(&output, "buffers").integers("refused");
    assert!(refused.iter().sum::<u64>() > 0);
}

#[test]
fn with_switches_that_take_part() {
    for controller in ["decn", "xcp"] {
        let large = LARGE.replace("xmp", controller);
        check("", &large.replace("subflows = 4", ""));
    }
}

#[test]
fn with_switches_that_choose_routes() {
    let output = check("", &format!("{LARGE}\n[routing]\nkind = \"fmp\""));
    let messages = plans::table(&output, "fmp").integers("feedback_packets");
    assert!(messages.iter().sum::<u64>() > 0);
}

#[test]
fn with_a_switch_of_more_links_than_are_looked_at_together() {
    // The inputs of the switch lie in four pages of 64, and those of its hosts in others.
    let star = read(
        r#"
        [fabric]
        kind = "star"
        senders = 150
        rate = "1 Gbps"
        delay = "10 us"
        queue = { limit = 30, mark = { kind = "step", k = 10 } }
        [transport]
        minimum_rto = "200 us"
        [[traffic]]
        name = "all"
        pattern = "permutation"
        rounds = 1
        size = "unlimited"
        controller = "dctcp"
        [[traffic]]
        name = "incast"
        pattern = "many-to-one"
        destination = "D1"
        concurrency = 40
        size = "20 KB"
        controller = "reno"
        [stop]
        at = "2 ms"
        "#,
    );
    let output = check_plan(&star);
    assert!(output.counters.dropped > 0 && output.counters.marked > 0);
}

#[test]
fn with_hosts_of_several_links() {
    let mut plan = plans::two_paths(plans::fixed(3_000_000));
    for link in &mut plan.fabric.links {
        // Their hosts' cables would leave windows of one packet.
        link.delay = link.delay.max(pathweave_units::Time::from_micros(30));
    }
    let output = check_plan(&plan);
    assert!(plans::finished(&output).iter().all(|&finished| finished));
}

#[test]
fn with_a_host_whose_links_lie_in_two_pages() {
    // The inputs of M are number 62 to 64: two are in the first page and one is in the second, and it has timers.
    let cables = (0..62).map(|host| format!("\"h{host}-X\", "));
    let graph = read(&format!(
        r#"
        [fabric]
        kind = "graph"
        hosts = ["h0..h61", "M"]
        switches = ["X", "Y", "Z"]
        rate = "1 Gbps"
        delay = "10 us"
        cables = [{} "M-X", "M-Y", "M-Z", "Y-X", "Z-X"]
        queue = {{ limit = 8 }}
        [transport]
        minimum_rto = "200 us"
        [[traffic]]
        name = "from M"
        pattern = "flows"
        size = "unlimited"
        controller = "lia"
        subflows = 3
        flows = [{{ from = "M", to = "h0" }}]
        [[traffic]]
        name = "to M"
        pattern = "many-to-one"
        destination = "M"
        concurrency = 40
        size = "20 KB"
        controller = "reno"
        [stop]
        at = "2 ms"
        "#,
        cables.collect::<String>()
    ));
    let to_others = graph.fabric.links.iter().filter(|link| link.to.0 < 62);
    assert_eq!(to_others.count(), 62);
    let output = check_plan(&graph);
    assert!(output.counters.dropped > 0);
}

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
fn with_hosts_on_both_sides_of_a_dumbbell() {
    let dumbbell = read(
        r#"
        [fabric]
        kind = "dumbbell"
        left = 6
        bottleneck_rate = "2 Gbps"
        bottleneck_delay = "20 us"
        host_rate = "1 Gbps"
        host_delay = "10 us"
        queue = { limit = 15, mark = { kind = "step", k = 5 } }
        [transport]
        minimum_rto = "100 us"
        initial_rto = "100 us"
        [[traffic]]
        name = "large"
        pattern = "permutation"
        rounds = 1
        size = "unlimited"
        controller = "cubic"
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
        [[events]]
        at = "1 ms"
        link = "A->B"
        loss = 0.2
        "#,
    );
    let output = check_plan(&dumbbell);
    assert!(output.counters.dropped > 0 && output.counters.flows_finished > 20);
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

#[test]
fn with_sides_of_several_pages() {
    // Hosts are the first nodes of one fabric, and switches those of the others.
    let fat_tree = "kind = \"fat-tree\"\nk = 8\nrate = \"1 Gbps\"\ndelay = \"10 us\"";
    let leaf_spine = r#"
        kind = "leaf-spine"
        leaves = 40
        spines = 4
        hosts_per_leaf = 3
        host_rate = "1 Gbps"
        host_delay = "10 us"
        uplink_delay = "12 us"
    "#;
    let names: Vec<String> = (1..=100).map(|host| format!("\"h{host}-s\"")).collect();
    let star = format!(
        r#"
        kind = "graph"
        hosts = ["h1..h100"]
        switches = ["s"]
        rate = "1 Gbps"
        delay = "10 us"
        cables = [{}]
        "#,
        names.join(", ")
    );
    for fabric in [fat_tree, leaf_spine, &star] {
        let plan = read(&format!(
            r#"
            [fabric]
            queue = {{ limit = 10, mark = {{ kind = "step", k = 5 }} }}
            {fabric}
            [transport]
            minimum_rto = "300 us"
            initial_rto = "300 us"
            [[traffic]]
            name = "all"
            pattern = "random"
            size = "20 KB"
            controller = "reno"
            [stop]
            at = "800 us"
            "#
        ));
        let output = check_plan(&plan);
        assert!(output.counters.dropped > 0);
    }
}

#[test]
fn with_acknowledgements_that_wait_and_paced_packets() {
    for controller in ["rcp", "reno"] {
        let output = check(
            "",
            &format!(
                r#"
                [[traffic]]
                name = "all"
                pattern = "permutation"
                size = "30 KB"
                controller = "{controller}"
                [traffic.transport]
                ack_every = 3
                ack_timeout = "15 us"
                ack_at_first = 0
                "#
            ),
        );
        assert!(output.counters.flows_finished > 20);
    }
}

#[test]
fn a_fabric_gets_no_more_threads_than_are_worth_it() {
    let large = plan("", LARGE);
    let most = most_threads(&large);
    assert!((1..255).contains(&most));
    let mut slow = plan("", LARGE);
    for link in &mut slow.fabric.links {
        link.rate = pathweave_units::Rate::from_mbps(100);
    }
    assert_eq!(most_threads(&slow), 1);
    let output = run_on_threads(&large, &Progress::default(), 64).expect("a run without defects");
    assert_eq!(everything(&output), everything(&plans::run(&large)));
}
