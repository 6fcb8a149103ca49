//! Links that are down from the start, which routing knows.

use crate::plans::{self, flags, of_flows};
use pathweave_engine::live::Run;
use pathweave_engine::{Output, Progress, candidates, run_on_threads};
use pathweave_fabric::{Fabric, LinkId};
use pathweave_scenario::Plan;
use pathweave_traffic::Pattern;
use pathweave_traffic::patterns::Arrivals;
use pathweave_units::Time;

fn text(down: &str, routing: &str, events: &str) -> String {
    format!(
        r#"
        [fabric]
        kind = "leaf-spine"
        leaves = 3
        spines = 3
        hosts_per_leaf = 2
        host_rate = "1 Gbps"
        host_delay = "2 us"
        {down}
        [routing]
        {routing}
        [[traffic]]
        name = "t"
        pattern = "permutation"
        size = "200 KB"
        start = "1 ms"
        controller = "dctcp"
        subflows = 2
        rounds = 3
        {events}
        "#
    )
}

const DOWN: &str = r#"down = ["leaf0-spine0", "spine1"]"#;

const EVENTS: &str = r#"
    [[events]]
    at = "0 s"
    link = "leaf0-spine0"
    down = true
    [[events]]
    at = "0 s"
    node = "spine1"
    down = true
"#;

fn down(fabric: &Fabric) -> Vec<String> {
    let links = fabric.down.iter();
    links.map(|&link| fabric.link_name(link)).collect()
}

fn packets(output: &Output) -> Vec<u64> {
    plans::table(output, "links").integers("packets").to_vec()
}

#[test]
fn it_is_like_a_failure_long_ago() {
    for kind in ["ecmp", "spray"] {
        let known = plans::run(&plans::read(&text(
            DOWN,
            &format!("kind = \"{kind}\"\ndetection_delay = \"10 ms\""),
            "",
        )));
        let failed = plans::run(&plans::read(&text(
            "",
            &format!("kind = \"{kind}\"\ndetection_delay = \"0 s\""),
            EVENTS,
        )));
        assert_eq!(
            of_flows(&known, "fct_s"),
            of_flows(&failed, "fct_s"),
            "{kind}"
        );
        assert_eq!(packets(&known), packets(&failed), "{kind}");
        assert!(
            !known.tables.iter().any(|table| table.name == "recoveries"),
            "nothing fails"
        );
    }
}

#[test]
fn no_flow_is_sent_onto_it() {
    let routings = [
        "kind = \"ecmp\"",
        "kind = \"ecmp\"\ndistinct = true",
        "kind = \"spray\"",
        "kind = \"fmp\"",
    ];
    for routing in routings {
        // Between the leaves that keep all of their cables one path is left, and two where distinct paths are asked for.
        let cables = match routing.contains("distinct") {
            true => "down = \"spine1\"",
            false => DOWN,
        };
        let plan = plans::read(&text(cables, routing, ""));
        let output = plans::run(&plan);
        assert!(
            plans::finished(&output).iter().all(|&done| done),
            "{routing}"
        );
        assert!(!flags(&output, "stalled").contains(&true), "{routing}");
        let longest = of_flows(&output, "fct_s")
            .iter()
            .copied()
            .fold(0.0, f64::max);
        assert!(longest < 0.1, "{routing}: a SYN was lost, {longest}");
        for &LinkId(link) in &plan.fabric.down {
            assert_eq!(packets(&output)[link as usize], 0, "{routing}");
        }
        for threads in [1, 2] {
            let again = run_on_threads(&plan, &Progress::default(), threads).expect("sound");
            assert_eq!(
                of_flows(&again, "fct_s"),
                of_flows(&output, "fct_s"),
                "{routing}"
            );
        }
    }
}

#[test]
fn a_node_stands_for_its_cables() {
    let plan = plans::read(&text(DOWN, "kind = \"ecmp\"", ""));
    assert_eq!(
        down(&plan.fabric),
        [
            "leaf0->spine0",
            "spine0->leaf0",
            "leaf0->spine1",
            "spine1->leaf0",
            "leaf1->spine1",
            "spine1->leaf1",
            "leaf2->spine1",
            "spine1->leaf2"
        ]
    );
}

#[test]
fn a_node_that_comes_back_leaves_its_links_that_are_down() {
    let events = r#"
        [[events]]
        at = "2 ms"
        node = "spine0"
        down = true
        [[events]]
        at = "3 ms"
        node = "spine0"
        up = true
        [[events]]
        at = "4 ms"
        layer = "uplink"
        rate = "500 Mbps"
    "#;
    let plan = plans::read(&text(DOWN, "kind = \"ecmp\"", events));
    let touched = plan
        .events
        .iter()
        .filter(|event| plan.fabric.is_down(event.link));
    assert_eq!(touched.count(), 0);
    let output = plans::run(&plan);
    assert!(plans::finished(&output).iter().all(|&done| done));
}

#[test]
fn allocators_and_the_testbed_know_it() {
    let plan = plans::read(&text(DOWN, "kind = \"ecmp\"", ""));
    let paths = candidates(&plan, &[(0, 2), (2, 4)]).expect("sound");
    assert_eq!(paths.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2]);
    let run = Run::new(&plan, Time::from_millis(1)).expect("sound");
    drop(run);
    let mut fabric = pathweave_engine::live::Fabric::<u32>::new(&plan).expect("sound");
    let dead = plan.fabric.down.iter().next().copied().expect("some");
    fabric.lay(0, 0, &[dead], &[dead.reverse()]);
    let mut lost = Vec::new();
    let heading = pathweave_engine::live::Heading::Forward;
    let taken = fabric.send(Time::ZERO, 0, 0, heading, 1500, false, 7);
    fabric.advance(
        Time::from_millis(1),
        |_, _, _| None,
        |packet| lost.push(packet),
    );
    assert!(
        taken == pathweave_engine::live::Taken::Dropped || lost == [7],
        "the emulated link is down, too"
    );
}

#[test]
fn load_means_the_same_traffic() {
    let capacity = |down: &str| {
        let plan: Plan = plans::read(&format!(
            r#"
            [fabric]
            kind = "leaf-spine"
            leaves = 3
            spines = 3
            hosts_per_leaf = 2
            host_rate = "1 Gbps"
            host_delay = "2 us"
            {down}
            [[traffic]]
            name = "t"
            pattern = "poisson"
            size = "10 KB"
            load = 0.3
            layer = "uplink"
            controller = "dctcp"
            [stop]
            at = "10 ms"
            "#
        ));
        match &plan.groups[0].pattern {
            Pattern::Poisson(poisson) => match poisson.arrivals {
                Arrivals::Load { capacity, .. } => capacity,
                _ => panic!("a load"),
            },
            _ => panic!("poisson"),
        }
    };
    assert_eq!(capacity(DOWN), capacity(""));
}
