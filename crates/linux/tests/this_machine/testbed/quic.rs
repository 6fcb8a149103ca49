//! Flows over multipath QUIC between network namespaces.

use super::{Scenario, numbers, one_flow, two_paths};
use crate::this_machine;
use serde_json::Value;

/// A flow over two paths whose links mark.
fn marking_paths(controller: &str, size: &str, more: &str) -> String {
    let queue = "limit = 100, mark = { kind = \"step\", k = 20 }";
    two_paths(queue, controller, size, more)
}

fn text<'a>(results: &'a Value, key: &str) -> &'a str {
    results["testbed"]["controllers"][key]
        .as_str()
        .unwrap_or("none")
}

#[test]
fn a_flow_over_quic_takes_both_of_its_paths_and_arrives_whole() {
    let Some(_only) = this_machine::with_testbed() else {
        return;
    };
    let scenario = marking_paths("xmp", "10 MB", "");
    let results = Scenario::new("quic-sized", &scenario).run(&["--transport", "quic"]);
    assert_eq!(results["verdict"], "finished");
    assert_eq!(numbers(&results, "flows", "delivered_bytes"), [10e6]);
    // Each byte counts once, on the path that it came on first.
    let received = numbers(&results, "subflows", "received_bytes");
    assert_eq!(received.iter().sum::<f64>(), 10e6);
    assert!(received[0] > 5e6 && received[1] > 2e6, "{received:?}");
    // The links fill up, and their marks come back to where they belong: queues stay near the threshold.
    let marks = numbers(&results, "subflows", "marks");
    assert!(marks.iter().all(|&marks| marks > 0.0), "{marks:?}");
    let whole = numbers(&results, "flows", "goodput_bps")[0];
    assert!((0.75 * 50e6..50e6).contains(&whole), "{whole}");
    let counters = &results["counters"];
    let marked = counters["marked"].as_f64().expect("a number");
    assert_eq!(
        marks.iter().sum::<f64>(),
        marked,
        "all marks came to the far end"
    );
    assert_eq!(text(&results, "group flow"), "xmp over QUIC (noq 1.4)");
    assert_eq!(results["testbed"]["quic"], serde_json::json!(["flow"]));
}

#[test]
fn a_path_that_dies_returns() {
    let Some(_only) = this_machine::with_testbed() else {
        return;
    };
    let more = r#"
        [[events]]
        at = "1 s"
        link = "A2-B2"
        down = true
        [[events]]
        at = "2 s"
        link = "A2-B2"
        up = true
        [stop]
        at = "4 s"
        [measure]
        phases.before = ["0.5 s", "1 s"]
        phases.dead = ["1.5 s", "2 s"]
        phases.after = ["3.2 s", "4 s"]
    "#;
    let scenario = marking_paths("xmp", "unlimited", more);
    let results = Scenario::new("quic-dies", &scenario).run(&["--transport", "quic"]);
    // What was in flight on the path was sent again on the other, as in a simulation.
    let [none, moved] = numbers(&results, "subflows", "reinjected")[..] else {
        panic!("two subflows");
    };
    let lost = results["counters"]["lost_to_failures"].as_f64();
    let lost = lost.expect("a number");
    assert_eq!(none, 0.0);
    assert!(moved > 10.0 && moved <= lost, "{moved} of {lost}");
    let [a, b, c, d, e, f] = numbers(&results, "phase_subflows", "goodput_bps")[..] else {
        panic!("three phases of two subflows");
    };
    // Links of 30 and 20 Mbit/s. A machine that stands still for a moment takes some of it.
    let (fast, slow) = (21e6..30e6, 14e6..20e6);
    let others = [a, c, e];
    assert!(others.iter().all(|rate| fast.contains(rate)), "{others:?}");
    assert!(slow.contains(&b), "{b} before");
    assert_eq!(d, 0.0);
    // Until sockets close, all packets are of flows.
    assert_eq!(results["testbed"]["strangers"], 0);
    assert!(slow.contains(&f), "{f} after");
}

/// Both paths die, one a little after the other, and return one after the other.
fn both_die(name: &str, first: &str, second: &str) {
    let Some(_only) = this_machine::with_testbed() else {
        return;
    };
    let more = format!(
        r#"
        [[events]]
        at = "1 s"
        link = "A1-B1"
        down = true
        [[events]]
        at = "1.05 s"
        link = "A2-B2"
        down = true
        [[events]]
        at = "2 s"
        link = "{first}"
        up = true
        [[events]]
        at = "3.8 s"
        link = "{second}"
        up = true
        [stop]
        at = "5.8 s"
        [measure]
        phases.dead = ["1.5 s", "2 s"]
        phases.one = ["3 s", "3.8 s"]
        phases.both = ["4.8 s", "5.8 s"]
    "#
    );
    let scenario = marking_paths("xmp", "unlimited", &more);
    let results = Scenario::new(name, &scenario).run(&["--transport", "quic"]);
    let rates = numbers(&results, "phase_subflows", "goodput_bps");
    let [a, b, c, d, e, f] = rates[..] else {
        panic!("three phases of two subflows");
    };
    // Links of 30 and 20 Mbit/s. A machine that stands still for a moment takes some of it.
    let (fast, slow) = (21e6..30e6, 14e6..20e6);
    assert_eq!([a, b], [0.0, 0.0]);
    let alone = if first == "A1-B1" {
        fast.contains(&c) && d == 0.0
    } else {
        c == 0.0 && slow.contains(&d)
    };
    assert!(alone, "{rates:?}");
    assert!(fast.contains(&e) && slow.contains(&f), "{rates:?}");
    assert_eq!(results["testbed"]["strangers"], 0);
}

/// The receiver gives up the path that died first.
#[test]
fn a_flow_goes_on_over_the_first_path_that_was_given_up() {
    both_die("quic-first", "A1-B1", "A2-B2");
}

#[test]
fn a_flow_goes_on_over_the_last_path_that_died() {
    both_die("quic-last", "A2-B2", "A1-B1");
}

#[test]
fn a_flow_goes_on_after_links_that_fail_again_and_again() {
    let Some(_only) = this_machine::with_testbed() else {
        return;
    };
    let changes = [
        ("1 s", "A1-B1", "down"),
        ("1.05 s", "A2-B2", "down"),
        ("1.5 s", "A1-B1", "up"),
        ("1.8 s", "A1-B1", "down"),
        ("2.2 s", "A2-B2", "up"),
        ("2.25 s", "A2-B2", "down"),
        ("2.6 s", "A2-B2", "up"),
        ("3 s", "A2-B2", "down"),
        ("3.1 s", "A1-B1", "up"),
    ];
    let mut more = String::new();
    for (at, link, change) in changes {
        more += &format!("[[events]]\nat = \"{at}\"\nlink = \"{link}\"\n{change} = true\n");
    }
    more += "[stop]\nat = \"6 s\"\n[measure]\nphases.after = [\"5 s\", \"6 s\"]";
    let scenario = marking_paths("xmp", "unlimited", &more);
    let results = Scenario::new("quic-again", &scenario).run(&["--transport", "quic"]);
    let rates = numbers(&results, "phase_subflows", "goodput_bps");
    assert!((21e6..30e6).contains(&rates[0]), "{rates:?}");
    assert_eq!(rates[1], 0.0);
}

#[test]
fn a_single_path_flow_over_quic_shares_with_a_tcp_and_stops_when_it_is_told() {
    let Some(_only) = this_machine::with_testbed() else {
        return;
    };
    let second = r#"
        size = "unlimited"
        [[traffic]]
        name = "second"
        pattern = "flows"
        size = "unlimited"
        controller = "reno"
        flows = [{ from = "S1", to = "D1", stop = "2 s" }]
        [stop]
        at = "3 s"
        [measure]
        phases.both = ["0.5 s", "2 s"]
        phases.alone = ["2.2 s", "3 s"]
    "#;
    let scenario = Scenario::new("quic-single", &one_flow(second));
    let results = scenario.run(&["--transport", "second=quic"]);
    let flows = numbers(&results, "phases", "flow");
    let rates = numbers(&results, "phases", "goodput_bps");
    let together: f64 = rates[..2].iter().sum();
    assert!((43e6..49e6).contains(&together), "{rates:?}");
    // Both are Reno's, over one queue: neither starves the other.
    assert!(rates[..2].iter().all(|&rate| rate > 5e6), "{rates:?}");
    // What was left to send when it was stopped is a few windows.
    let left: f64 = (flows.iter().zip(&rates).skip(2))
        .filter_map(|(&flow, &rate)| (flow == 1.0).then_some(rate))
        .sum();
    assert!(left < 1e6, "{left}");
    assert_eq!(text(&results, "reno"), "reno");
    assert_eq!(text(&results, "group second"), "reno over QUIC (noq 1.4)");
    // A controller without an answer to marks sends packets that are not marked.
    assert_eq!(numbers(&results, "flows", "marks"), [0.0, 0.0]);
}

#[test]
fn what_quic_cannot_play_is_refused() {
    let Some(_only) = this_machine::with_testbed() else {
        return;
    };
    let refused =
        |scenario: &str, options: &[&str]| Scenario::new("quic-refused", scenario).refused(options);
    let single = one_flow("size = \"10 KB\"");
    let said = refused(&single, &["--transport", "quic"]);
    assert!(said.contains("flows of several subflows"), "{said}");
    let said = refused(&single, &["--transport", "sctp"]);
    assert!(said.contains("\"sctp\" is not a transport"), "{said}");
    let said = refused(&single, &["--transport", "flows=quic"]);
    assert!(said.contains("no traffic group \"flows\""), "{said}");
    assert!(said.contains("the scenario has flow"), "{said}");
    let both = ["--transport", "flow=quic", "--controller", "flow=bbr"];
    let said = refused(&single, &both);
    assert!(said.contains("played over QUIC"), "{said}");
    let small = one_flow(
        "size = \"10 KB\"\ntransport = { maximum_segment = \"948 B\", data_packet = \"1000 B\" }",
    );
    let said = refused(&small, &["--transport", "flow=quic"]);
    assert!(said.contains("needs at least 1228"), "{said}");
    let two = marking_paths("rcp", "10 KB", "");
    let said = refused(&two, &["--transport", "quic"]);
    assert!(said.contains("switches"), "{said}");
}
