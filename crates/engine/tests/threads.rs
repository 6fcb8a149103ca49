//! Results are the same on any number of threads and in whatever order nodes have their turns.

mod plans;

use pathweave_engine::{
    Cut, Execution, Output, Progress, Turns, most_threads, run_as, run_on_threads,
};
use pathweave_scenario::Plan;

/// A plan from the text of a scenario.
fn read(text: &str) -> Plan {
    let scenario = pathweave_scenario::check(text)
        .unwrap_or_else(|error| panic!("{}", error.render(80, false)));
    scenario.variants()[0].plan(1)
}

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
        for turns in [Turns::ByTime, Turns::ByNode] {
            let cut = cut.clone();
            let execution = Execution {
                cut,
                turns,
                threads,
            };
            let output = run_as(plan, &Progress::default(), &execution);
            let output = output.expect("a run without defects");
            assert!(everything(&output) == expected, "{execution:?} differs");
        }
    }
    alone
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
