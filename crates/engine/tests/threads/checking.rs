//! Runs a plan in many ways, and compares what comes out.

use crate::plans::{self, read};
use pathweave_engine::{
    Cut, Execution, Output, Prefetching, Progress, Turns, run_as, run_with_departure_ports,
};
use pathweave_scenario::Plan;

/// Enough events between two exchanges of regions that threads share them.
pub fn plan(fabric: &str, rest: &str) -> Plan {
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
pub fn everything(output: &Output) -> String {
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
pub fn check(fabric: &str, rest: &str) -> Output {
    check_plan(&plan(fabric, rest))
}

/// The same of any plan.
pub fn check_plan(plan: &Plan) -> Output {
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
        for (turns, prefetching) in [
            (Turns::ByTime, Prefetching::Never),
            (Turns::ByNode, Prefetching::Never),
            (Turns::ByNode, Prefetching::Always),
        ] {
            let cut = cut.clone();
            let execution = Execution {
                cut,
                turns,
                prefetching,
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
pub fn check_open_loops(plan: &Plan) -> Output {
    let output = check_plan(plan);
    let one_by_one = run_with_departure_ports(plan, &Progress::default());
    let one_by_one = one_by_one.expect("a run without defects");
    assert!(everything(&one_by_one) == everything(&output));
    output
}

pub const LARGE: &str = r#"
    [[traffic]]
    name = "large"
    pattern = "permutation"
    rounds = 1
    size = "unlimited"
    controller = "xmp"
    subflows = 4
"#;
