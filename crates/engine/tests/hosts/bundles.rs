//! Bundles follow the rate of the sender's fastest port.

use crate::plans::{read, run, table};

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
    let papers = outcome("10 Gbps", "eutcp-2022", "");
    assert_eq!(papers, outcome("10 Gbps", "eutcp-2022", "send_bundle = 1"));
}
