//! Flows whose slowest link is the host's own: the port holds packets back, as Linux 6.18 does.

use crate::plans::{of_flows, read, run, table, within};
use pathweave_engine::Output;
use pathweave_scenario::Plan;
use pathweave_units::Time;

/// A host with Linux 6.18; packets with their Ethernet headers.
const LINUX: &str = r#"
preset = "linux"
data_packet = "1514 B"
ack_packet = "66 B"
"#;

/// Flows of one host with 100 Mbps to one with 10 Gbps.
fn plan(flows: usize, controller: &str, size: &str, host_queue: &str, rest: &str) -> Plan {
    let list: Vec<String> = (0..flows)
        .map(|flow| format!("{{ name = \"f{flow}\", from = \"S1\", to = \"D1\" }}"))
        .collect();
    read(&format!(
        r#"
        {fabric}
        {host_queue}
        [transport]
        {LINUX}
        [[traffic]]
        name = "flows"
        pattern = "flows"
        controller = "{controller}"
        size = "{size}"
        flows = [{list}]
        {rest}
        "#,
        fabric = super::through_router("100 Mbps", "10 Gbps"),
        list = list.join(", ")
    ))
}

fn sum(output: &Output, column: &str) -> u64 {
    table(output, "subflows").integers(column).iter().sum()
}

/// Completion times (ms) and packets held, next to those of kernel 6.18 (row 15).
#[test]
fn a_flow_loses_nothing_at_its_own_port() {
    for (controller, size, queue, kernel, held) in [
        ("cubic", "100 KB", "", 8.4, 0),
        ("cubic", "1 MB", "", 83.66, 0),
        ("reno", "1 MB", "", 83.79, 0),
        ("cubic", "100 KB", "host_queue = { limit = 10 }", 8.41, 2),
        ("reno", "1 MB", "host_queue = { limit = 10 }", 83.75, 2),
    ] {
        let output = run(&plan(1, controller, size, queue, ""));
        let fct = of_flows(&output, "fct_s")[0] * 1e3;
        let ours = sum(&output, "held");
        println!(
            "{controller} {size} {queue}: {fct:.2} ms, kernel {kernel}; held {ours}, kernel {held}"
        );
        assert!(within(fct, 0.02, kernel), "{fct} ms");
        assert!(ours.abs_diff(held) <= 1, "{ours} held");
        assert_eq!(sum(&output, "retransmits"), 0);
    }
}

/// Four flows of 1 MB share a port with 30 places (row 16): the last of them ends when all bytes are through.
#[test]
fn flows_share_their_host_s_port() {
    let output = run(&plan(4, "cubic", "1 MB", "host_queue = { limit = 30 }", ""));
    let fct = of_flows(&output, "fct_s")
        .iter()
        .copied()
        .fold(0.0, f64::max)
        * 1e3;
    let held = sum(&output, "held");
    println!("{fct:.1} ms, kernel 334.6; held {held}, kernel 3.8");
    assert!(within(fct, 0.02, 334.6), "{fct} ms");
    assert!((2..=6).contains(&held), "{held} held");
    assert_eq!(sum(&output, "retransmits"), 0);
}

/// Without small queues, a flow that nothing limits would fill the port with all of its window. It has what leaves in about a
/// millisecond there, and not more.
#[test]
fn a_flow_keeps_its_port_s_queue_short() {
    let rest = r#"
        [record]
        queues = "1 ms"
        links = "S1-A"
    "#;
    let mut plan = plan(1, "reno", "20 MB", "", rest);
    for link in &mut plan.fabric.links {
        link.delay = Time::from_micros(2_500);
    }
    let output = run(&plan);
    let queues = table(&output, "queues").numbers("packets_max");
    let longest = queues.iter().copied().fold(0.0, f64::max);
    println!("longest queue: {longest} packets");
    // 100 Mbps send 8 packets in a millisecond. In slow start, the window may be twice what is outstanding, and its packets
    // leave at twice its rate.
    assert!((4.0..=24.0).contains(&longest), "{longest}");
    let fct = of_flows(&output, "fct_s")[0];
    assert!(
        within(fct, 0.04, 20e6 * 1514.0 / 1448.0 * 8.0 / 1e8),
        "{fct} s"
    );
}

/// What waits for the port goes on when its rate changes, and when it has been down.
#[test]
fn a_flow_goes_on_after_its_port_has_changed() {
    let time_of = |rest: &str| {
        let output = run(&plan(1, "reno", "1 MB", "", rest));
        (
            of_flows(&output, "fct_s")[0] * 1e3,
            sum(&output, "timeouts"),
        )
    };
    // 20 ms at 100 Mbps, then the rest at half of that.
    let (slower, timeouts) =
        time_of("[[events]]\nat = \"20 ms\"\nlink = \"S1-A\"\nrate = \"50 Mbps\"");
    assert_eq!(timeouts, 0);
    assert!(
        within(slower, 0.02, 20.0 + 2.0 * (83.8 - 20.0)),
        "{slower} ms"
    );
    let (faster, timeouts) =
        time_of("[[events]]\nat = \"20 ms\"\nlink = \"S1-A\"\nrate = \"1 Gbps\"");
    assert_eq!(timeouts, 0);
    assert!(
        within(faster, 0.05, 20.0 + (83.8 - 20.0) / 10.0),
        "{faster} ms"
    );
    // All that was in the port is lost: a timeout of 200 ms and at most two ticks repairs it.
    let (down, timeouts) = time_of(
        r#"
        [[events]]
        at = "20 ms"
        link = "S1-A"
        down = true
        [[events]]
        at = "21 ms"
        link = "S1-A"
        up = true
        "#,
    );
    assert!(timeouts <= 1);
    assert!((83.8..83.8 + 220.0).contains(&down), "{down} ms");
}

/// Flows whose port has refused a packet, and which then lose all that is in flight, go on after a timeout.
#[test]
fn a_refusal_does_not_outlast_a_timeout() {
    let rest = r#"
        [[events]]
        at = "30 ms"
        link = "A-D1"
        down = true
        [[events]]
        at = "1 s"
        link = "A-D1"
        up = true
        [stop]
        at = "20 s"
    "#;
    let output = run(&plan(
        6,
        "cubic",
        "1 MB",
        "host_queue = { limit = 1 }",
        rest,
    ));
    assert!(sum(&output, "held") > 0 && sum(&output, "timeouts") > 0);
    assert_eq!(output.counters.flows_finished, 6);
}
