//! Warnings before a run, on both sides of their bounds.

use pathweave_engine::{Warning, warnings};

/// A star of 8 senders at 1 Gbps with a base RTT of 105 us: BDP 8.7 packets of 1500 bytes.
fn star(mark: &str, traffic: &str) -> Vec<Warning> {
    let text = format!(
        r#"
        [fabric]
        kind = "star"
        senders = 8
        rate = "1 Gbps"
        delay = "20 us"
        queue = {{ limit = 100, mark = {mark} }}
        {traffic}
        [stop]
        at = "1 s"
        "#
    );
    let scenario = pathweave_scenario::check(&text)
        .unwrap_or_else(|error| panic!("{}", error.render(80, false)));
    warnings(&scenario.variants()[0].plan(1))
}

fn keys(found: &[Warning]) -> Vec<&str> {
    found.iter().map(|warning| warning.key.as_str()).collect()
}

fn crowd(controller: &str, concurrency: u32, subflows: u32) -> String {
    format!(
        r#"
        [transport]
        minimum_window = 1
        [[traffic]]
        name = "all"
        pattern = "many-to-one"
        destination = "D1"
        size = "1 MB"
        concurrency = {concurrency}
        controller = {controller}
        subflows = {subflows}
        "#
    )
}

/// The AMP paper: n cwnd_min above BDP + K. BDP + K is 28.7 packets here.
#[test]
fn more_subflows_than_the_bdp_and_k_hold() {
    let step = r#"{ kind = "step", k = 20 }"#;
    assert_eq!(star(step, &crowd("\"xmp\"", 7, 4)), []);
    let found = star(step, &crowd("\"xmp\"", 8, 4));
    assert_eq!(keys(&found), ["traffic.all.subflows"]);
    assert!(
        found[0].text.starts_with(
            "32 subflows send to one host, each with a window of at least 1 packet: 32"
        )
    );
    assert!(
        found[0]
            .advice
            .starts_with("at most 28 subflows to one host at a time, or amp"),
        "{}",
        found[0].advice
    );
    assert_eq!(star(step, &crowd("\"amp\"", 8, 4)), []);
    let without = r#"{ name = "amp", suppression = "off" }"#;
    assert_eq!(
        keys(&star(step, &crowd(without, 8, 4))),
        ["traffic.all.subflows"]
    );
}

#[test]
fn without_marks_the_limit_counts() {
    let none = r#"{ kind = "none" }"#;
    assert_eq!(star(none, &crowd("\"lia\"", 27, 4)), []);
    let found = star(none, &crowd("\"lia\"", 28, 4));
    assert_eq!(keys(&found), ["traffic.all.subflows"]);
    assert!(found[0].text.contains("overflows"));
}

/// N alpha_total / C against high_thresh: 80 % of 83,333 packets per second.
#[test]
fn more_flows_of_fcc_than_its_price_has_room_for() {
    let proportional = r#"{ kind = "proportional", high = 0.8 }"#;
    let fcc = |alpha: u32| format!("{{ name = \"fcc\", alpha_total = {alpha} }}");
    assert_eq!(star(proportional, &crowd(&fcc(8_000), 8, 1)), []);
    let found = star(proportional, &crowd(&fcc(8_500), 8, 1));
    assert_eq!(keys(&found), ["traffic.all.controller"]);
    assert!(
        found[0].text.contains("82 % of packets are marked"),
        "{}",
        found[0].text
    );
    assert_eq!(found[0].advice, "alpha_total below 8333 (per second)");
    // By default it is one over the base RTT: N over the BDP of 8.7 packets.
    assert_eq!(star(proportional, &crowd("\"fcc\"", 6, 1)), []);
    assert_eq!(
        keys(&star(proportional, &crowd("\"fcc\"", 8, 1))),
        ["traffic.all.controller"]
    );
}

/// The XMP paper's equation 1: BDP / (beta - 1) is 2.9 packets with a beta of 4.
#[test]
fn a_threshold_that_leaves_the_link_idle() {
    let step = |k: u32| format!("{{ kind = \"step\", k = {k} }}");
    assert_eq!(star(&step(3), &crowd("\"bos\"", 1, 1)), []);
    let found = star(&step(2), &crowd("\"bos\"", 1, 1));
    assert_eq!(keys(&found), ["fabric.queue.mark.k"]);
    assert_eq!(found[0].advice, "k = 3");
    assert_eq!(star(&step(2), &crowd("\"dctcp\"", 1, 1)), []);
    assert_eq!(
        keys(&star(&step(1), &crowd("\"dctcp\"", 1, 1))),
        ["fabric.queue.mark.k"]
    );
    // Others have no such rule.
    assert_eq!(star(&step(1), &crowd("\"reno\"", 1, 1)), []);
}

#[test]
fn only_listed_flows_that_overlap_count() {
    let listed = |start: &str, stop: &str| {
        let flows: String = (1..=8)
            .map(|n| {
                format!(
                    "{{ from = \"S{n}\", to = \"D1\", start = \"{start}\", stop = \"{stop}\" }},"
                )
            })
            .collect();
        let later = flows.replace(start, "500 ms").replace(stop, "900 ms");
        format!(
            r#"
            [transport]
            minimum_window = 2
            [[traffic]]
            name = "listed"
            pattern = "flows"
            size = "unlimited"
            controller = "xmp"
            flows = [{flows} {later}]
            "#
        )
    };
    let step = r#"{ kind = "step", k = 20 }"#;
    assert_eq!(star(step, &listed("0 s", "400 ms")), []);
    let found = star(step, &listed("0 s", "600 ms"));
    assert_eq!(keys(&found), ["traffic.listed.subflows"]);
    assert!(found[0].text.starts_with("16 flows send to one host"));
}
