//! Bundles of real scenarios: by the rate of ports, with small receive windows, and gathered.

use crate::plans::{of_flows, read, run, table};

/// The hash of the results of two flows with bundles of at most this many packets, from a host with a port of this rate and
/// one of 1 Gbps, and the bytes that have arrived.
fn outcome(rate: &str, preset: &str, send_bundle: &str) -> (String, u64) {
    let output = run(&read(&format!(
        r#"
        [fabric]
        kind = "graph"
        hosts = ["S1", "D1"]
        switches = ["A", "B"]
        cables = [
            {{ link = "S1-A", rate = "{rate}" }},
            {{ link = "S1-B", rate = "1 Gbps" }},
            {{ link = "A-D1", rate = "10 Gbps" }},
            {{ link = "B-D1", rate = "10 Gbps" }},
        ]
        delay = "10 us"
        queue = {{ limit = 250, mark = {{ kind = "step", k = 20 }} }}
        [routing]
        kind = "pinned"
        [transport]
        preset = "{preset}"
        {send_bundle}
        [[traffic]]
        name = "flows"
        pattern = "flows"
        controller = "dctcp"
        size = "2 MB"
        flows = [
            {{ name = "1", from = "S1", to = "D1", paths = [["A"]] }},
            {{ name = "2", from = "S1", to = "D1", paths = [["A"], ["B"]] }},
        ]
        "#
    )));
    let received = table(&output, "subflows").integers("received_bytes");
    let received = received.iter().sum();
    (output.hash, received)
}

#[test]
fn bundles_follow_the_rate_of_the_fastest_port() {
    for preset in ["linux", "linux-bpf"] {
        for (rate, send_bundle) in [
            ("10 Gbps", "send_bundle = 45"),
            ("9 Gbps", "send_bundle = 1"),
        ] {
            let by_rate = outcome(rate, preset, "");
            assert!(by_rate.1 >= 4_000_000);
            assert_eq!(by_rate, outcome(rate, preset, send_bundle));
            let other = if send_bundle == "send_bundle = 1" {
                "send_bundle = 45"
            } else {
                "send_bundle = 1"
            };
            let other = outcome(rate, preset, other);
            assert_ne!(by_rate.0, other.0);
        }
    }
    let papers = outcome("10 Gbps", "fmptcp-2024", "");
    assert_eq!(papers, outcome("10 Gbps", "fmptcp-2024", "send_bundle = 1"));
}

/// A flow may be over on one subflow while another still gathers.
#[test]
fn connections_whose_receivers_gather_are_not_released() {
    for (controller, gather) in [("lia", "300 us"), ("xmp", "1 ms")] {
        let plan = read(&format!(
            r#"
            [fabric]
            kind = "fat-tree"
            k = 4
            rate = "10 Gbps"
            delay = "2 us"
            queue = {{ limit = 250, mark = {{ kind = "step", k = 65 }} }}
            [transport]
            ack_gather = "{gather}"
            scheduler = "round-robin"
            [[traffic]]
            name = "flows"
            pattern = "random"
            controller = "{controller}"
            subflows = 3
            size = "100 KB"
            [stop]
            at = "20 ms"
            "#
        ));
        // The feature `checks` watches.
        assert!(of_flows(&run(&plan), "fct_s").len() > 100);
    }
}

/// How long a flow of three subflows takes with a small receive window for all of them, in seconds.
fn with_receive_window(window: &str, send_bundle: u32) -> f64 {
    let output = run(&read(&format!(
        r#"
        [fabric]
        kind = "parallel-paths"
        pairs = 1
        rates = ["10 Gbps", "1 Gbps", "10 Gbps"]
        delays = ["5 us", "200 us", "40 us"]
        host_delay = "2 us"
        host_rate = "10 Gbps"
        [routing]
        kind = "pinned"
        [transport]
        scheduler = "lowest-rtt"
        receive_window = "{window}"
        send_bundle = {send_bundle}
        [[traffic]]
        name = "flows"
        pattern = "flows"
        size = "5 MB"
        controller = "reno"
        flows = [{{ from = "S1", to = "D1", paths = [["A1", "B1"], ["A2", "B2"], ["A3", "B3"]] }}]
        "#
    )));
    of_flows(&output, "fct_s")[0]
}

/// What siblings have in flight is no reason to wait for a larger bundle.
#[test]
fn subflows_do_not_wait_for_the_receive_window_that_siblings_fill() {
    for window in ["20 KB", "100 KB"] {
        let [alone, bundles] = [1, 45].map(|most| with_receive_window(window, most));
        assert!(bundles < 3.0 * alone, "{window}: {alone} s, {bundles} s");
    }
}
