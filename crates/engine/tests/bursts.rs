//! What several initial windows are worth, and the baseline that has them, too.

use crate::plans::{self, of_flows};
use pathweave_engine::Verdict;

/// Completion times of one flow of `size` from rack to rack, by variant.
fn times(size: &str) -> Vec<(String, f64)> {
    let text = format!(
        r#"
        jitter = "none"
        [fabric]
        kind = "leaf-spine"
        leaves = 2
        spines = 4
        hosts_per_leaf = 1
        host_rate = "10 Gbps"
        host_delay = "2 us"
        [transport]
        preset = "textbook"
        handshake = "none"
        [[traffic]]
        name = "short"
        pattern = "flows"
        size = "{size}"
        controller = "dctcp"
        flows = [{{ from = "h0", to = "h1" }}]
        [variants.scheme."DCTCP"]
        traffic.short.controller = "dctcp"
        [variants.scheme."XMP-4"]
        traffic.short.controller = "xmp"
        traffic.short.subflows = 4
        [variants.scheme."DCTCP, same burst"]
        like = "DCTCP"
        burst_of = "XMP-4"
        "#
    );
    let scenario = pathweave_scenario::check(&text)
        .unwrap_or_else(|error| panic!("{}", error.render(80, false)));
    let variants = scenario.variants().iter();
    let time = variants.map(|variant| {
        let output = plans::run(&variant.plan(1));
        assert_eq!(output.verdict, Verdict::Finished);
        (variant.label.clone(), of_flows(&output, "fct_s")[0])
    });
    time.collect()
}

/// 40 packets fit into four initial windows: they leave at the rate of the host's port, over whatever paths. A single path with
/// one initial window waits for acknowledgements.
#[test]
fn flows_that_fit_take_as_long_with_the_same_burst() {
    for size in ["20 KB", "40 KB", "57.92 KB"] {
        let times = times(size);
        let [single, several, burst] = times.as_slice() else {
            panic!("{times:?}");
        };
        assert_eq!(several.1.to_bits(), burst.1.to_bits(), "{size}: {times:?}");
        assert!(single.1 > 1.1 * burst.1, "{size}: {times:?}");
    }
}
