//! Nodes of all kinds have their turns.

use super::checking::check_plan;
use crate::plans::{self, read};

#[test]
fn with_a_switch_of_more_links_than_are_looked_at_together() {
    // The inputs of the switch lie in four pages of 64, and those of its hosts in others.
    let star = read(
        r#"
        [fabric]
        kind = "star"
        senders = 150
        rate = "1 Gbps"
        delay = "10 us"
        queue = { limit = 30, mark = { kind = "step", k = 10 } }
        [transport]
        minimum_rto = "200 us"
        [[traffic]]
        name = "all"
        pattern = "permutation"
        rounds = 1
        size = "unlimited"
        controller = "dctcp"
        [[traffic]]
        name = "incast"
        pattern = "many-to-one"
        destination = "D1"
        concurrency = 40
        size = "20 KB"
        controller = "reno"
        [stop]
        at = "2 ms"
        "#,
    );
    let output = check_plan(&star);
    assert!(output.counters.dropped > 0 && output.counters.marked > 0);
}

#[test]
fn with_hosts_of_several_links() {
    let mut plan = plans::two_paths(plans::fixed(3_000_000));
    for link in &mut plan.fabric.links {
        // Their hosts' cables would leave windows of one packet.
        link.delay = link.delay.max(pathweave_units::Time::from_micros(30));
    }
    let output = check_plan(&plan);
    assert!(plans::finished(&output).iter().all(|&finished| finished));
}

#[test]
fn with_a_host_whose_links_lie_in_two_pages() {
    // The inputs of M are number 62 to 64: two are in the first page and one is in the second, and it has timers.
    let cables = (0..62).map(|host| format!("\"h{host}-X\", "));
    let graph = read(&format!(
        r#"
        [fabric]
        kind = "graph"
        hosts = ["h0..h61", "M"]
        switches = ["X", "Y", "Z"]
        rate = "1 Gbps"
        delay = "10 us"
        cables = [{} "M-X", "M-Y", "M-Z", "Y-X", "Z-X"]
        queue = {{ limit = 8 }}
        [transport]
        minimum_rto = "200 us"
        [[traffic]]
        name = "from M"
        pattern = "flows"
        size = "unlimited"
        controller = "lia"
        subflows = 3
        flows = [{{ from = "M", to = "h0" }}]
        [[traffic]]
        name = "to M"
        pattern = "many-to-one"
        destination = "M"
        concurrency = 40
        size = "20 KB"
        controller = "reno"
        [stop]
        at = "2 ms"
        "#,
        cables.collect::<String>()
    ));
    let to_others = graph.fabric.links.iter().filter(|link| link.to.0 < 62);
    assert_eq!(to_others.count(), 62);
    let output = check_plan(&graph);
    assert!(output.counters.dropped > 0);
}

#[test]
fn with_hosts_on_both_sides_of_a_dumbbell() {
    let dumbbell = read(
        r#"
        [fabric]
        kind = "dumbbell"
        left = 6
        bottleneck_rate = "2 Gbps"
        bottleneck_delay = "20 us"
        host_rate = "1 Gbps"
        host_delay = "10 us"
        queue = { limit = 15, mark = { kind = "step", k = 5 } }
        [transport]
        minimum_rto = "100 us"
        initial_rto = "100 us"
        [[traffic]]
        name = "large"
        pattern = "permutation"
        rounds = 1
        size = "unlimited"
        controller = "cubic"
        [[traffic]]
        name = "short"
        pattern = "random"
        size = "10 KB"
        controller = "dctcp"
        [stop]
        at = "4 ms"
        [record]
        windows = "on-change"
        rates = "900 us"
        packets = ["large/1", "short/2"]
        [[events]]
        at = "1 ms"
        link = "A->B"
        loss = 0.2
        "#,
    );
    let output = check_plan(&dumbbell);
    assert!(output.counters.dropped > 0 && output.counters.flows_finished > 20);
}

#[test]
fn with_sides_of_several_pages() {
    // Hosts are the first nodes of one fabric, and switches those of the others.
    let fat_tree = "kind = \"fat-tree\"\nk = 8\nrate = \"1 Gbps\"\ndelay = \"10 us\"";
    let leaf_spine = r#"
        kind = "leaf-spine"
        leaves = 40
        spines = 4
        hosts_per_leaf = 3
        host_rate = "1 Gbps"
        host_delay = "10 us"
        uplink_delay = "12 us"
    "#;
    let names: Vec<String> = (1..=100).map(|host| format!("\"h{host}-s\"")).collect();
    let star = format!(
        r#"
        kind = "graph"
        hosts = ["h1..h100"]
        switches = ["s"]
        rate = "1 Gbps"
        delay = "10 us"
        cables = [{}]
        "#,
        names.join(", ")
    );
    for fabric in [fat_tree, leaf_spine, &star] {
        let plan = read(&format!(
            r#"
            [fabric]
            queue = {{ limit = 10, mark = {{ kind = "step", k = 5 }} }}
            {fabric}
            [transport]
            minimum_rto = "300 us"
            initial_rto = "300 us"
            [[traffic]]
            name = "all"
            pattern = "random"
            size = "20 KB"
            controller = "reno"
            [stop]
            at = "800 us"
            "#
        ));
        let output = check_plan(&plan);
        assert!(output.counters.dropped > 0);
    }
}
