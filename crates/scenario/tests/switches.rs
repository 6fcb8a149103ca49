//! What happens to switches, and the memory that they share.

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
