//! Warnings before a run, on both sides of their bounds.

use pathweave_engine::{Warning, warnings};

/// What is said of a scenario, but for the default's timeouts of 200 ms, which are long for all that is tried here.
fn of_scenario(text: &str) -> Vec<Warning> {
    let mut found = all_of_scenario(text);
    found.retain(|warning| warning.key != "transport.minimum_rto");
    found
}

fn all_of_scenario(text: &str) -> Vec<Warning> {
    let scenario = pathweave_scenario::check(text)
        .unwrap_or_else(|error| panic!("{}", error.render(80, false)));
    warnings(&scenario.variants()[0].plan(1))
}

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
    of_scenario(&text)
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

/// A leaf-spine of 64 hosts at 25 Gbps under 32 uplinks of 100 Gbps.
fn leaf_spine(rest: &str) -> Vec<Warning> {
    let text = format!(
        r#"
        [fabric]
        kind = "leaf-spine"
        leaves = 8
        spines = 4
        hosts_per_leaf = 8
        host_rate = "25 Gbps"
        uplink_rate = "100 Gbps"
        host_delay = "1 us"
        uplink_delay = "1 us"
        queue = {{ limit = 1000, mark = {{ kind = "step", k = 60 }} }}
        {rest}
        "#
    );
    of_scenario(&text)
}

fn web_search(load: &str) -> String {
    format!(
        r#"
        [[traffic]]
        name = "web"
        pattern = "poisson"
        {load}
        size = {{ kind = "cdf", name = "web-search" }}
        controller = "dctcp"
        [stop]
        at = "100 ms"
        "#
    )
}

/// 0.6 of 32 uplinks of 100 Gbps is more than 64 hosts of 25 Gbps can send.
#[test]
fn load_that_hosts_cannot_carry() {
    let of_uplinks = |load: f64| web_search(&format!("load = {load}\nlayer = \"uplink\""));
    let found = leaf_spine(&of_uplinks(0.6));
    assert_eq!(keys(&found), ["traffic.web.load"]);
    // One flow in nine stays in its rack and crosses no uplink: 0.6 x 3200 Gbps x 63/56 / 64 hosts, and headers.
    assert!(
        found[0]
            .text
            .starts_with("\"h63\" is to send 35 Gbps with headers, and has 25 Gbps"),
        "{}",
        found[0].text
    );
    let advice = found[0].advice.strip_prefix("load below ").expect("a load");
    let fits: f64 = advice.parse().expect("a number");
    assert_eq!(leaf_spine(&of_uplinks(fits)), []);
    assert_eq!(
        keys(&leaf_spine(&of_uplinks(fits + 0.02))),
        ["traffic.web.load"]
    );
}

#[test]
fn groups_are_offered_together() {
    let half = web_search("load = 0.25\nlayer = \"uplink\"");
    assert_eq!(leaf_spine(&half), []);
    let (group, stop) = half.split_once("[stop]").expect("a stop");
    let second = group.replace("\"web\"", "\"more\"");
    let found = leaf_spine(&format!("{group}{second}[stop]{stop}"));
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn receivers_can_be_the_narrow_side() {
    let rate = |flows: u32| {
        web_search(&format!(
            "flows_per_second = {flows}\ndestinations = [\"h0\", \"h1\"]"
        ))
    };
    // The mean flow of web search has about 1.7 MB: two hosts receive 50 Gbps, or 3,600 flows a second.
    let found = leaf_spine(&rate(4500));
    assert_eq!(keys(&found), ["traffic.web.flows_per_second"]);
    assert!(found[0].text.contains("is to receive"), "{}", found[0].text);
    assert_eq!(leaf_spine(&rate(3000)), []);
}

#[test]
fn a_first_timeout_that_was_forgotten() {
    let with = |transport: &str| {
        let load = web_search("load = 0.1\nlayer = \"uplink\"");
        leaf_spine(&format!("[transport]\n{transport}\n{load}"))
    };
    assert_eq!(with(""), []);
    let found = with("minimum_rto = \"1 ms\"");
    assert_eq!(keys(&found), ["transport.initial_rto"]);
    assert_eq!(found[0].advice, "initial_rto = \"1 ms\"");
    assert_eq!(with("minimum_rto = \"1 ms\"\ninitial_rto = \"9 ms\""), []);
    assert_eq!(
        with("minimum_rto = \"1 ms\"\nhandshake = \"syn-never-lost\""),
        []
    );
}

#[test]
fn flows_that_fit_into_the_initial_windows_of_their_subflows() {
    let flows = |packets: u32, subflows: u32, rest: &str| {
        leaf_spine(&format!(
            r#"
            [transport]
            initial_window = 10
            {rest}
            [[traffic]]
            name = "small"
            pattern = "poisson"
            flows_per_second = 1000
            size = "{} B"
            controller = "xmp"
            subflows = {subflows}
            [stop]
            at = "100 ms"
            "#,
            packets * 1448
        ))
    };
    assert_eq!(flows(10, 4, ""), []);
    let found = flows(11, 4, "");
    assert_eq!(keys(&found), ["traffic.small.subflows"]);
    assert_eq!(
        found[0].advice,
        "initial_window_per = \"connection\", or a single path with initial_window = 40, which burst_of gives it"
    );
    assert_eq!(keys(&flows(40, 4, "")), ["traffic.small.subflows"]);
    assert_eq!(flows(41, 4, ""), []);
    assert_eq!(flows(20, 1, ""), []);
    assert_eq!(flows(20, 4, "initial_window_per = \"connection\""), []);
}

#[test]
fn a_failure_before_traffic_that_routing_has_yet_to_notice() {
    let down = |at: &str, delay: &str| {
        let load = web_search("load = 0.1\nlayer = \"uplink\"");
        leaf_spine(&format!(
            r#"
            {load}
            [routing]
            kind = "ecmp"
            detection_delay = "{delay}"
            [[events]]
            at = "{at}"
            link = "leaf0-spine0"
            down = true
            "#
        ))
    };
    let found = down("0 s", "10 ms");
    assert_eq!(keys(&found), ["routing.detection_delay"]);
    let text = &found[0].text;
    assert!(text.contains("is down from the start on"), "{text}");
    let advice = &found[0].advice;
    assert!(
        advice.starts_with("fabric.down = \"leaf0-spine0\""),
        "{advice}"
    );
    assert_eq!(down("0 s", "0 s"), []);
    // A failure while traffic runs is meant as one.
    assert_eq!(down("1 ms", "10 ms"), []);
    // That of a host's own cable stalls its flows, whatever routing knows.
    let host = |link: &str| {
        let load = web_search("load = 0.1\nlayer = \"uplink\"\nstart = \"2 ms\"");
        leaf_spine(&format!(
            r#"
            {load}
            [routing]
            kind = "ecmp"
            detection_delay = "10 ms"
            [[events]]
            at = "1 ms"
            link = "{link}"
            down = true
            "#
        ))
    };
    assert_eq!(host("h0-leaf0"), []);
    assert_eq!(keys(&host("leaf0-spine0")), ["routing.detection_delay"]);
    let up = "\ndown = true\n[[events]]\nat = \"1.5 ms\"\nlink = \"leaf0-spine0\"\nup = true";
    let load = web_search("load = 0.1\nlayer = \"uplink\"\nstart = \"2 ms\"");
    let again = format!(
        "{load}[routing]\nkind = \"ecmp\"\ndetection_delay = \"10 ms\"\n[[events]]\nat = \"1 ms\"\nlink = \"leaf0-spine0\"{up}"
    );
    assert_eq!(leaf_spine(&again), []);
}

/// 125 MB take 40 ms at 25 Gbps, and 41.4 ms with headers.
#[test]
fn runs_that_end_before_their_flows_can() {
    let until = |at: &str| {
        leaf_spine(&format!(
            r#"
            [[traffic]]
            name = "large"
            pattern = "permutation"
            size = "125 MB"
            controller = "dctcp"
            [stop]
            at = "{at}"
            "#
        ))
    };
    assert_eq!(until("42 ms"), []);
    let found = until("41 ms");
    assert_eq!(keys(&found), ["stop.at"]);
    assert!(found[0].text.contains("takes 41.4 ms"), "{}", found[0].text);
}

/// Parts of one permutation have different hosts, and groups may follow each other.
#[test]
fn load_counts_where_and_when_it_is_offered() {
    let group = |name: &str, part: &str, rest: &str| {
        format!(
            r#"
            [[traffic]]
            name = "{name}"
            pattern = "poisson"
            {part}
            flows_per_second = 60000
            size = "1 MB"
            controller = "dctcp"
            {rest}
            "#
        )
    };
    let with =
        |first: &str, second: &str| leaf_spine(&format!("{first}{second}[stop]\nat = \"60 ms\""));
    // 32 hosts with 15 Gbps each.
    let part =
        |from: u32, to: u32| format!("pairs = {{ permutation = \"all\", part = [{from}, {to}] }}");
    assert_eq!(
        with(
            &group("a", &part(0, 32), ""),
            &group("b", &part(32, 64), "")
        ),
        []
    );
    let half = "sources = \"h0..h31\"";
    assert_eq!(with(&group("a", half, ""), ""), []);
    let both = with(&group("a", half, ""), &group("b", half, ""));
    assert_eq!(both.len(), 1, "{both:?}");
    let (early, late) = ("stop = \"20 ms\"", "start = \"25 ms\"");
    assert_eq!(with(&group("a", half, early), &group("b", half, late)), []);
    assert_eq!(
        with(&group("a", half, ""), &group("b", half, "count = 5")),
        []
    );
}

/// Flows of 2 ms that arrive for 3 ms: those of the first millisecond finish at best. With `drain` all do, if the limit lets them.
#[test]
fn runs_that_cut_off_most_flows() {
    let until = |stop: &str| {
        leaf_spine(&format!(
            r#"
            [[traffic]]
            name = "web"
            pattern = "poisson"
            flows_per_second = 1000
            size = "6 MB"
            controller = "dctcp"
            [stop]
            {stop}
            "#
        ))
    };
    assert_eq!(until("at = \"5 ms\""), []);
    let found = until("at = \"3 ms\"");
    assert_eq!(keys(&found), ["stop.at"]);
    assert!(found[0].text.starts_with("66 % of the flows of \"web\""));
    assert_eq!(until("at = \"3 ms\"\ndrain = true\nlimit = \"5 ms\""), []);
    let found = until("at = \"3 ms\"\ndrain = true\nlimit = \"4 ms\"");
    assert_eq!(keys(&found), ["stop.limit"]);
    assert_eq!(found[0].advice, "limit = \"22.9 ms\" or later");
}

/// A queue at K that takes more than five RTTs to drain, beyond a bundle, and one that loses packets before any is marked.
#[test]
fn a_threshold_that_is_many_times_too_large() {
    let step = |k: u32| format!("{{ kind = \"step\", k = {k} }}");
    assert_eq!(star(&step(44), &crowd("\"dctcp\"", 1, 1)), []);
    let found = star(&step(45), &crowd("\"dctcp\"", 1, 1));
    assert_eq!(keys(&found), ["fabric.queue.mark.k"]);
    assert!(
        found[0].text.contains("takes 5.2 base RTTs to drain"),
        "{}",
        found[0].text
    );
    assert_eq!(found[0].advice, "k = 2");
    let found = star(&step(100), &crowd("\"dcm\"", 1, 4));
    assert!(
        found[0]
            .text
            .starts_with("K is 100 packets and the queue's limit is 100"),
        "{}",
        found[0].text
    );
    assert_eq!(
        keys(&star(&step(2), &crowd("\"amp\"", 1, 4))),
        ["fabric.queue.mark.k"]
    );
}

/// The base RTT is 105 us, and a full queue of 100 packets drains in 1.2 ms.
#[test]
fn timeouts_that_do_not_fit_the_round_trip_time() {
    let with = |transport: &str| {
        all_of_scenario(&format!(
            r#"
            [fabric]
            kind = "star"
            senders = 8
            rate = "1 Gbps"
            delay = "20 us"
            [transport]
            {transport}
            {}
            [stop]
            at = "1 s"
            "#,
            crowd("\"reno\"", 1, 1)
                .replace("[transport]", "")
                .replace("minimum_window = 1", "")
        ))
    };
    let given = |minimum: &str, initial: &str| {
        with(&format!(
            "preset = \"textbook\"\nminimum_rto = \"{minimum}\"\ninitial_rto = \"{initial}\""
        ))
    };
    assert_eq!(given("10 ms", "10 ms"), []);
    // The default, 1900 base RTTs, is worth a word where nobody chose it.
    let found = with("");
    assert_eq!(keys(&found), ["transport.minimum_rto"]);
    assert!(
        found[0]
            .text
            .contains("200 ms, 1908 times the base RTT of 105 us"),
        "{}",
        found[0].text
    );
    assert!(found[0].advice.starts_with("minimum_rto = \"2 ms\""));
    assert_eq!(
        keys(&with("preset = \"textbook\"")),
        ["transport.minimum_rto"]
    );
    assert_eq!(with("preset = \"xmp-2013\""), []);
    assert_eq!(with("minimum_rto = \"200 ms\""), []);
    let found = given("50 us", "10 ms");
    assert_eq!(
        keys(&found),
        ["transport.initial_rto", "transport.minimum_rto"]
    );
    assert_eq!(found[1].advice, "minimum_rto = \"2 ms\"");
    let found = given("1 ms", "1.2 ms");
    assert_eq!(keys(&found), ["transport.initial_rto"]);
    assert_eq!(found[0].advice, "initial_rto = \"2 ms\"");
    let own = "[[traffic]]\nname = \"b\"\npattern = \"permutation\"\nsize = \"1 MB\"\nrounds = 1\ncontroller = \"reno\"\n\
               transport = { minimum_rto = \"1 s\", initial_rto = \"1 s\" }";
    assert_eq!(with(own), []);
}

/// 400 Gbps are 33 million packets of 1500 B a second, and 5.6 million of 9000 B.
#[test]
fn packets_that_are_small_for_their_link_or_their_headers() {
    let at = |rate: &str, transport: &str| {
        let text = format!(
            r#"
            [fabric]
            kind = "star"
            senders = 2
            rate = "{rate}"
            delay = "20 us"
            [transport]
            {transport}
            minimum_rto = "10 ms"
            initial_rto = "10 ms"
            [[traffic]]
            name = "all"
            pattern = "many-to-one"
            destination = "D1"
            size = "100 MB"
            concurrency = 1
            controller = "reno"
            [stop]
            at = "1 s"
            "#
        );
        of_scenario(&text)
    };
    assert_eq!(at("100 Gbps", ""), []);
    let found = at("400 Gbps", "");
    assert_eq!(keys(&found), ["transport.data_packet"]);
    assert!(
        found[0].text.contains("33.3 million") || found[0].text.contains("33 million"),
        "{}",
        found[0].text
    );
    assert!(
        found[0]
            .advice
            .starts_with("data_packet = \"9000 B\" and maximum_segment = \"8948 B\"")
    );
    let jumbo = "data_packet = \"9000 B\"\nmaximum_segment = \"8948 B\"";
    assert_eq!(at("400 Gbps", jumbo), []);
    assert_eq!(
        at(
            "10 Gbps",
            "data_packet = \"400 B\"\nmaximum_segment = \"348 B\""
        ),
        []
    );
    let small = at(
        "10 Gbps",
        "data_packet = \"200 B\"\nmaximum_segment = \"148 B\"",
    );
    assert_eq!(keys(&small), ["transport.data_packet"]);
    assert!(
        small[0].text.contains("headers and ACKs are 35 %"),
        "{}",
        small[0].text
    );
}

/// 64 hosts at 25 Gbps under 4 uplinks of 40 Gbps a leaf: hosts carry a load that the layer above them does not.
#[test]
fn load_that_the_layer_above_hosts_cannot_carry() {
    let fabric = |load: f64, layer: &str, rest: &str| {
        let text = format!(
            r#"
            [fabric]
            kind = "leaf-spine"
            leaves = 8
            spines = 4
            hosts_per_leaf = 8
            host_rate = "25 Gbps"
            uplink_rate = "40 Gbps"
            host_delay = "1 us"
            uplink_delay = "1 us"
            queue = {{ limit = 1000, mark = {{ kind = "step", k = 60 }} }}
            {rest}
            {}
            "#,
            web_search(&format!("load = {load}\nlayer = \"{layer}\""))
        );
        let mut found = of_scenario(&text);
        found.retain(|warning| warning.key.ends_with(".load"));
        found
    };
    assert_eq!(fabric(0.8, "rack", ""), []);
    let found = fabric(0.92, "rack", "");
    assert_eq!(keys(&found), ["traffic.web.load"]);
    assert!(
        found[0]
            .text
            .contains("are offered 169 Gbps with headers, and carry 160 Gbps"),
        "{}",
        found[0].text
    );
    assert_eq!(found[0].advice, "load below 0.86");
    // One of four uplinks of a leaf is down, so that the same load is too much for the three that are left.
    let found = fabric(0.8, "rack", "down = \"leaf2-spine1\"");
    assert_eq!(keys(&found), ["traffic.web.load"]);
    assert!(
        found[0].text.starts_with("the links of layer \"uplink\"")
            && found[0].text.contains("\"leaf2\""),
        "{}",
        found[0].text
    );
}

/// A single path with the same burst is there to compare with.
#[test]
fn initial_windows_that_a_variant_of_a_single_path_has_too() {
    let text = |burst: &str| {
        format!(
            r#"
            [fabric]
            kind = "leaf-spine"
            leaves = 2
            spines = 4
            hosts_per_leaf = 2
            host_rate = "10 Gbps"
            host_delay = "2 us"
            [[traffic]]
            name = "web"
            pattern = "permutation"
            rounds = 1
            size = "50 KB"
            controller = "reno"
            [variants.scheme."LIA-4"]
            traffic.web.controller = "lia"
            traffic.web.subflows = 4
            [variants.scheme."Reno"]
            {burst}
            "#
        )
    };
    assert_eq!(keys(&of_scenario(&text(""))), ["traffic.web.subflows"]);
    assert_eq!(of_scenario(&text("burst_of = \"LIA-4\"")), []);
}
