//! What a load of a layer asks of a Poisson process.

use pathweave_scenario::{Scenario, check};
use pathweave_traffic::Pattern;
use pathweave_traffic::patterns::Arrivals;

/// The rate of arrivals in bytes per second that a load asks for.
fn offered(text: &str) -> f64 {
    let scenario = check(text).unwrap_or_else(|error| panic!("{error}"));
    let plan = scenario.variants()[0].plan(1);
    let arrivals = match &plan.groups[0].pattern {
        Pattern::Poisson(poisson) => poisson.arrivals,
        Pattern::Incast(incast) => incast.arrivals.expect("a Poisson process"),
        other => panic!("{other:?}"),
    };
    match arrivals {
        Arrivals::Load { load, capacity } => load * capacity.as_bps() as f64 / 8.0,
        other => panic!("{other:?}"),
    }
}

const POISSON: &str = r#"
    [[traffic]]
    name = "short"
    pattern = "poisson"
    size = "10 KB"
    controller = "reno"
    load = 0.5
    [stop]
    at = "1 s"
"#;

#[test]
fn a_load_counts_the_links_that_flows_can_use() {
    // Leaves of 4 hosts: of 15 destinations 12 are in other racks. 16 up-links of 1 Gbps.
    let leaf_spine = r#"
        [fabric]
        kind = "leaf-spine"
        leaves = 4
        spines = 4
        hosts_per_leaf = 4
        host_rate = "1 Gbps"
        host_delay = "1 us"
    "#;
    let uplink = POISSON.replace("load = 0.5", "load = 0.5\nlayer = \"uplink\"");
    let expected = 0.5 * 16e9 / 8.0 * 15.0 / 12.0;
    let got = offered(&format!("{leaf_spine}{uplink}"));
    assert!((got / expected - 1.0).abs() < 1e-6, "{got} {expected}");
    let rack = POISSON.replace("load = 0.5", "load = 0.5\nlayer = \"rack\"");
    let got = offered(&format!("{leaf_spine}{rack}"));
    assert!((got / (0.5 * 16e9 / 8.0) - 1.0).abs() < 1e-6, "{got}");
    // Left to right only one direction of the bottleneck is used.
    let dumbbell = r#"
        [fabric]
        kind = "dumbbell"
        left = 3
        bottleneck_rate = "1 Gbps"
        bottleneck_delay = "1 us"
    "#;
    let one_way = POISSON.replace(
        "load = 0.5",
        "load = 0.5\nlayer = \"bottleneck\"\nsources = \"S1..S3\"\ndestinations = \"D1..D3\"",
    );
    let got = offered(&format!("{dumbbell}{one_way}"));
    assert!((got / (0.5 * 1e9 / 8.0) - 1.0).abs() < 1e-6, "{got}");
}

#[test]
fn a_large_fabric_is_counted_by_racks() {
    // 256 hosts make more pairs than are looked at one by one.
    let text = r#"
        [fabric]
        kind = "leaf-spine"
        leaves = 8
        spines = 4
        hosts_per_leaf = 32
        host_rate = "1 Gbps"
        host_delay = "1 us"
    "#;
    let uplink = POISSON.replace("load = 0.5", "load = 0.5\nlayer = \"uplink\"");
    let expected = 0.5 * 32e9 / 8.0 * 255.0 / 224.0;
    let got = offered(&format!("{text}{uplink}"));
    assert!((got / expected - 1.0).abs() < 1e-6, "{got} {expected}");
    let rack = POISSON.replace("load = 0.5", "load = 0.5\nlayer = \"rack\"");
    let got = offered(&format!("{text}{rack}"));
    assert!((got / (0.5 * 256e9 / 8.0) - 1.0).abs() < 1e-6, "{got}");
}

/// Three senders and three receivers on either side of a link with 1 Gbps, and a load of that.
fn over_a_gigabit(group: &str, rest: &str) -> String {
    let fabric = r#"
        [fabric]
        kind = "dumbbell"
        left = 3
        bottleneck_rate = "1 Gbps"
        bottleneck_delay = "1 us"
    "#;
    let keys = format!(
        "load = 0.8\nlayer = \"bottleneck\"\nsources = \"S1..S3\"\ndestinations = \"D1..D3\"\n{group}"
    );
    format!("{fabric}{}{rest}", POISSON.replace("load = 0.5", &keys))
}

const DECN: &str = "[transport]\npreset = \"decn\"";

#[test]
fn a_load_may_count_headers_and_acks() {
    for (group, rest, expected) in [
        ("", DECN, 1.0),
        (r#"load_counts = "payload""#, DECN, 1.0),
        // 1460 B of payload in packets of 1500 B, and an ACK of 40 B for each or for every second one.
        (r#"load_counts = "wire""#, DECN, 1460.0 / 1540.0),
        (
            r#"load_counts = "wire""#,
            "[transport]\npreset = \"xmp-2013\"",
            1460.0 / 1520.0,
        ),
        (
            "load_counts = \"wire\"\ntransport = { ack_every = 4 }",
            DECN,
            1460.0 / 1510.0,
        ),
        (
            "load_counts = \"wire\"\npackets = \"406 B\"",
            DECN,
            366.0 / 446.0,
        ),
        // 100 B and 1500 B, 800 B on average.
        (
            "load_counts = \"wire\"\npackets = { kind = \"cdf\", points = [[100, 0.5], [1500, 0.5], [1500, 1.0]] }",
            DECN,
            760.0 / 840.0,
        ),
    ] {
        let got = offered(&over_a_gigabit(group, rest)) / (0.8 * 1e9 / 8.0);
        assert!(
            (got / expected - 1.0).abs() < 1e-6,
            "{group}: {got} {expected}"
        );
    }
}

#[test]
fn a_resolved_scenario_says_what_a_load_counts_where_it_is_not_payload() {
    let resolved = |counts: &str| {
        let scenario = check(&over_a_gigabit(counts, DECN));
        let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
        scenario.variants()[0].resolved.clone()
    };
    let plain = resolved("");
    assert!(plain["traffic"][0]["load_counts"].is_null());
    assert_eq!(resolved(r#"load_counts = "payload""#), plain);
    let wire = resolved(r#"load_counts = "wire""#);
    assert_eq!(wire["traffic"][0]["load_counts"], "wire");
    let again = Scenario::from_resolved(&wire).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again.variants()[0].resolved, wire);
}

#[test]
fn jobs_offer_the_load_of_flows_between_the_same_hosts() {
    let fabric = r#"
        [fabric]
        kind = "leaf-spine"
        leaves = 4
        spines = 4
        hosts_per_leaf = 4
        host_rate = "1 Gbps"
        host_delay = "1 us"
    "#;
    for (layer, counts) in [("uplink", "payload"), ("rack", "wire")] {
        let load = format!("load = 0.5\nlayer = \"{layer}\"\nload_counts = \"{counts}\"");
        let flows = POISSON.replace("load = 0.5", &load);
        let jobs = flows
            .replace("\"poisson\"", "\"incast\"")
            .replace("size = \"10 KB\"", "");
        assert_eq!(
            offered(&format!("{fabric}{flows}")),
            offered(&format!("{fabric}{jobs}"))
        );
    }
}
