//! Applications that write at a rate: flows that have data only as it is written.

use crate::plans::{self, counted, flags, of_flows, table};
use pathweave_engine::{Output, Progress, Verdict, run_on_threads};
use pathweave_scenario::Plan;

/// One flow of `size` at `rate` over 1 Gbps and 100 us each way, and what else its group has.
fn alone(preset: &str, size: &str, rate: &str, more: &str) -> Plan {
    plans::read(&format!(
        r#"
        jitter = "none"
        [fabric]
        kind = "parallel-paths"
        rates = ["1 Gbps", "1 Gbps"]
        delays = "80 us"
        host_delay = "10 us"
        [transport]
        preset = "{preset}"
        [[traffic]]
        name = "paced"
        pattern = "flows"
        size = "{size}"
        rate = "{rate}"
        {more}
        flows = [{{ from = "S1", to = "D1" }}]
        "#
    ))
}

fn fct(plan: &Plan) -> f64 {
    let output = plans::run(plan);
    assert_eq!(output.verdict, Verdict::Finished);
    of_flows(&output, "fct_s")[0]
}

const RENO: &str = "controller = \"reno\"";
const XMP: &str = "controller = \"xmp\"\nsubflows = 2";

#[test]
fn a_flow_lasts_as_long_as_its_application_writes() {
    let presets = ["textbook", "linux", "xmp-2013", "ns3-mmptcp", "decn"];
    for preset in presets {
        for controller in [RENO, XMP] {
            // 2 MB at 80 Mbps take 200 ms; the last segment is written one interval before, and arrives within 2 ms.
            let took = fct(&alone(preset, "2 MB", "80 Mbps", controller));
            assert!(
                (0.199..0.202).contains(&took),
                "{preset}, {controller}: {took}"
            );
        }
    }
}

#[test]
fn large_writes_come_at_their_times() {
    // Four writes of 500 KB, the last one after 150 ms; it takes 4.2 ms and slow start.
    for preset in ["textbook", "linux"] {
        let more = format!("write = \"500 KB\"\n{RENO}");
        let took = fct(&alone(preset, "2 MB", "80 Mbps", &more));
        assert!((0.154..0.160).contains(&took), "{preset}: {took}");
    }
    // Writes that fill no segment: all of them together have the rate.
    let took = fct(&alone(
        "textbook",
        "2 MB",
        "80 Mbps",
        &format!("write = \"100 B\"\n{RENO}"),
    ));
    assert!((0.199..0.202).contains(&took), "{took}");
}

#[test]
fn a_slow_path_is_filled_whatever_the_application_writes() {
    let greedy = {
        let mut plan = alone("textbook", "2 MB", "1 Gbps", RENO);
        plan.groups[0].transport.source = None;
        fct(&plan)
    };
    let written = fct(&alone("textbook", "2 MB", "100 Gbps", RENO));
    assert!((written / greedy - 1.0).abs() < 0.02, "{written} {greedy}");
}

#[test]
fn a_source_without_end_sends_until_it_is_stopped() {
    for preset in ["textbook", "linux"] {
        for controller in [RENO, XMP] {
            let more = format!("stop = \"100 ms\"\n{controller}");
            let plan = alone(preset, "unlimited", "80 Mbps", &more);
            let output = plans::run(&plan);
            assert_eq!(output.verdict, Verdict::Finished, "{preset}, {controller}");
            assert_eq!(flags(&output, "stalled"), [false]);
            // 1 MB, up to the segments that are under way when it stops.
            let sent = counted(&output, "delivered_bytes")[0];
            assert!(
                (990_000..1_002_000).contains(&sent),
                "{preset}, {controller}: {sent}"
            );
        }
    }
}

#[test]
fn the_ideal_time_knows_the_rate() {
    let output = plans::run(&alone("textbook", "2 MB", "80 Mbps", RENO));
    let (took, ideal) = (
        of_flows(&output, "fct_s")[0],
        of_flows(&output, "fct_ideal_s")[0],
    );
    assert!(ideal <= took && ideal > 0.199, "{ideal} {took}");
}

#[test]
fn threads_and_executions_agree() {
    let plan = plans::read(
        r#"
        [fabric]
        kind = "leaf-spine"
        leaves = 2
        spines = 2
        hosts_per_leaf = 4
        host_rate = "1 Gbps"
        host_delay = "5 us"
        [[traffic]]
        name = "paced"
        pattern = "permutation"
        size = "300 KB"
        rate = "200 Mbps"
        write = "10 KB"
        rounds = 2
        controller = "xmp"
        subflows = 2
        [[events]]
        at = "3 ms"
        link = "leaf0-spine0"
        down = true
        [[events]]
        at = "30 ms"
        link = "leaf0-spine0"
        up = true
        "#,
    );
    let output: Output = plans::run(&plan);
    assert!(plans::finished(&output).iter().all(|&done| done));
    assert!(
        table(&output, "links")
            .integers("packets")
            .iter()
            .any(|&packets| packets > 0)
    );
    for threads in [2, 3] {
        let many = run_on_threads(&plan, &Progress::default(), threads).expect("sound");
        assert_eq!(many.hash, output.hash, "{threads} threads");
    }
}
