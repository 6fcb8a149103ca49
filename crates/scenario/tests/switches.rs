//! What happens to switches, and the memory that they share.

use pathweave_fabric::LinkId;
use pathweave_network::Limit;
use pathweave_scenario::{Change, Plan, Scenario, Selection};
use pathweave_units::{Bytes, Time};

#[test]
fn a_switch_that_comes_back_does_not_mend_a_link() {
    let text = r#"
        title = "outages"
        [fabric]
        kind = "leaf-spine"
        leaves = 2
        spines = 2
        hosts_per_leaf = 1
        host_rate = "1 Gbps"
        host_delay = "1 us"
        [[traffic]]
        name = "t"
        pattern = "permutation"
        size = "1 MB"
        controller = "xmp"
        subflows = 2
        rounds = 1
        [[events]]
        at = "1 ms"
        link = "leaf1-spine1"
        down = true
        [[events]]
        at = "2 ms"
        node = "spine1"
        down = true
        [[events]]
        at = "3 ms"
        node = "spine1"
        up = true
        [[events]]
        at = "4 ms"
        node = "spine1"
        up = true
        [[events]]
        at = "5 ms"
        link = "leaf1-spine1"
        up = true
    "#;
    let scenario =
        Scenario::from_text("outages.toml", text, None, &Selection::default()).expect("valid");
    let plan = scenario.variants()[0].plan(1);
    let of = |millis: u64, change: Change| -> Vec<String> {
        let at = Time::from_millis(millis);
        let events = plan.events.iter();
        events
            .filter(|event| event.at == at && event.change == change)
            .map(|event| plan.fabric.link_name(event.link))
            .collect()
    };
    let (own, other) = (
        ["leaf1->spine1", "spine1->leaf1"],
        ["leaf0->spine1", "spine1->leaf0"],
    );
    assert_eq!(of(1, Change::Down), own);
    assert_eq!(of(2, Change::Down), other);
    assert_eq!(of(3, Change::Up), other);
    assert_eq!(of(5, Change::Up), own);
    assert_eq!(plan.events.len(), 8);
}

/// Three cables between A and B, one of which is declared from B to A, with events on `subjects`.
fn parallel_cables(subjects: &[&str]) -> String {
    let events = subjects.iter().map(|subject| {
        format!(
            r#"
        [[events]]
        at = "1 ms"
        {subject}
        rate = "1 Gbps"
        "#
        )
    });
    let text = r#"
        [fabric]
        kind = "graph"
        hosts = ["S", "D"]
        switches = ["A", "B"]
        rate = "10 Gbps"
        delay = "1 us"
        cables = ["S-A", "A-B", "B-A", "A-B", "B-D"]
        [[traffic]]
        name = "t"
        pattern = "flows"
        size = "1 MB"
        controller = "reno"
        flows = [{ from = "S", to = "D", paths = [["A", "B#3"], ["S", "A", "B#1", "D"]], ack_paths = [["B", "A#2"]] }]
    "#;
    events.fold(text.to_owned(), |text, event| text + &event)
}

/// The names of the links that events change, event by event.
fn changed(text: &str) -> Vec<String> {
    let scenario = Scenario::from_text("cables.toml", text, None, &Selection::default());
    let plan = scenario.expect("valid").variants()[0].plan(1);
    let events = plan.events.iter();
    events
        .map(|event| plan.fabric.link_name(event.link))
        .collect()
}

#[test]
fn parallel_cables_have_numbers() {
    let of = |subject: &str| changed(&parallel_cables(&[&format!("link = \"{subject}\"")]));
    assert_eq!(of("A-B#1"), ["A->B", "B->A"]);
    assert_eq!(of("A-B#2"), ["B->A#2", "A->B#2"], "in the order of links");
    assert_eq!(of("B->A#3"), ["B->A#3"]);
    assert_eq!(of("A->B#*"), ["A->B", "A->B#2", "A->B#3"]);
    assert_eq!(of("B-A#*").len(), 6);
    assert_eq!(of("S-A#1"), of("S-A"), "a single cable may have its number");
    let scenario =
        Scenario::from_text("c.toml", &parallel_cables(&[]), None, &Selection::default());
    let plan = scenario.expect("valid").variants()[0].plan(1);
    let names = |paths: &[Vec<LinkId>]| -> Vec<Vec<String>> {
        let links = |path: &Vec<LinkId>| path.iter().map(|&id| plan.fabric.link_name(id)).collect();
        paths.iter().map(links).collect()
    };
    let flow = &plan.groups[0].listed[0];
    assert_eq!(
        names(&flow.paths),
        [["S->A", "A->B#3", "B->D"], ["S->A", "A->B", "B->D"]]
    );
    assert_eq!(names(&flow.ack_paths)[0], ["D->B", "B->A#2", "A->S"]);
}

#[test]
fn an_event_may_be_about_a_layer_or_a_list() {
    let of = |subject: &str| {
        changed(
            &parallel_cables(&[subject]).replace("\"S-A\"", "{ link = \"S-A\", layer = \"host\" }"),
        )
    };
    assert_eq!(of("layer = \"host\""), ["S->A", "A->S"]);
    assert_eq!(of("layer = \"link\"").len(), 8);
    assert_eq!(of("layer = [\"link\", \"host\"]").len(), 10);
    assert_eq!(
        of("link = [\"A->B#2\", \"A-B#2\"]"),
        ["A->B#2", "B->A#2"],
        "each once"
    );
    assert_eq!(
        of("node = [\"S\", \"A\"]"),
        of("node = \"A\""),
        "each link once"
    );
}

#[test]
fn switches_that_fail_together_come_back_one_by_one() {
    let down = "node = [\"A\", \"B\"]";
    let text = parallel_cables(&[down, "node = \"A\"", "layer = \"link\""])
        .replace("\"S-A\"", "{ link = \"S-A\", layer = \"host\" }")
        .replacen("rate = \"1 Gbps\"", "down = true", 1)
        .replacen("rate = \"1 Gbps\"", "up = true", 1)
        .replacen("rate = \"1 Gbps\"", "down = true", 1);
    let all = changed(&text);
    assert_eq!(all.len(), 10 + 2, "{all:?}");
    assert_eq!(
        all[10..],
        ["S->A", "A->S"],
        "B is down, and with it what the layer takes down"
    );
}

#[test]
fn ports_that_share_memory_have_limits_where_they_are_given() {
    let text = include_str!("valid/shared-buffer.toml");
    let plan_with = |host_port: &str| {
        let selection = Selection {
            sets: vec![format!("transport.host_port={host_port}")],
            ..Selection::default()
        };
        let scenario = Scenario::from_text("shared-buffer.toml", text, None, &selection);
        scenario.expect("valid").variants()[0].plan(1)
    };
    let limit = |plan: &Plan, from: &str, to: &str| {
        let node = |name| plan.fabric.node_named(name).expect("a node");
        let link = plan.fabric.link_between(node(from), node(to));
        plan.queues[link.expect("a link").0 as usize].limit
    };
    let plan = plan_with("drops");
    assert_eq!(limit(&plan, "S1", "A"), Limit::Packets(200));
    assert_eq!(
        limit(&plan_with("holds-back"), "S1", "A"),
        Limit::None,
        "whatever the switches have"
    );
    assert_eq!(limit(&plan, "A", "S1"), Limit::Bytes(Bytes::new(4_000_000)));
    assert_eq!(limit(&plan, "A", "B"), Limit::Packets(500));
    let shared = plan.shared_buffer.expect("shared memory");
    assert_eq!((shared.size, shared.alpha), (Bytes::new(4_000_000), 1.0));
}
