//! Marks of several ports of a path (FMPTCP paper, section V-A.1).

use crate::plans::{self, read, table};
use pathweave_control::{Ack, Algorithm, Change, Controller, Ecn, Loaded, Loss, Paths, SubflowId};
use pathweave_units::Time;
use std::sync::Arc;

/// Keeps the initial window, whatever comes.
#[derive(Debug)]
struct Constant;

impl Controller for Constant {
    fn on_ack(&mut self, _: &mut Paths<'_>, _: SubflowId, _: &Ack) {}
    fn on_loss(&mut self, _: &mut Paths<'_>, _: SubflowId, _: Loss, _: Time) {}
    fn on_subflow(&mut self, _: &mut Paths<'_>, _: SubflowId, _: Change) {}
}

fn constant() -> Algorithm {
    Algorithm::Loaded(Arc::new(Loaded {
        name: "constant".to_owned(),
        summary: String::new(),
        source: String::new(),
        explanation: String::new(),
        coupled: false,
        ecn: Box::new(|_| Ecn::Count { limit: 255 }),
        parameters: Vec::new(),
        one_thread: false,
        build: Box::new(|_, _| Box::new(Constant)),
    }))
}

/// A packet has a mark at the end of its path if any port has marked it: 1 - (1 - p1)(1 - p2). Two flows of constant windows
/// keep a standing queue at one port each, and a third crosses both.
#[test]
fn two_ports_mark_as_one_that_marks_by_the_product() {
    for windows in [(30, 60), (50, 50), (20, 40)] {
        let (first, second) = windows;
        let mut plan = read(&format!(
            r#"
            [fabric]
            kind = "graph"
            hosts = ["S1", "S2", "S3", "D1", "D2", "D3"]
            switches = ["A", "B", "C"]
            rate = "10 Gbps"
            delay = "1 us"
            queue = {{ limit = 100, mark = {{ kind = "proportional" }} }}
            cables = [
                "S1-A", "S2-A", "A-D2", "S3-B", "B-D2", "B-D3", "C-D1", "C-D3",
                {{ link = "A-B", rate = "1 Gbps" }},
                {{ link = "B-C", rate = "1 Gbps" }},
            ]
            [routing]
            kind = "pinned"
            [transport]
            preset = "textbook"
            [[traffic]]
            name = "both"
            pattern = "flows"
            size = "unlimited"
            controller = "reno"
            flows = [{{ from = "S1", to = "D1", paths = [["A", "B", "C"]] }}]
            transport = {{ initial_window = 7 }}
            [[traffic]]
            name = "one"
            pattern = "flows"
            size = "unlimited"
            controller = "reno"
            flows = [{{ from = "S2", to = "D2", paths = [["A", "B"]] }}]
            transport = {{ initial_window = {first} }}
            [[traffic]]
            name = "two"
            pattern = "flows"
            size = "unlimited"
            controller = "reno"
            flows = [{{ from = "S3", to = "D3", paths = [["B", "C"]] }}]
            transport = {{ initial_window = {second} }}
            [stop]
            at = "1 s"
            "#
        ));
        for group in &mut plan.groups {
            group.controller = constant();
        }
        let links = [["A", "B"], ["B", "C"]].map(|[from, to]| plans::link(&plan.fabric, from, to));
        let output = plans::run(&plan);
        let counted = table(&output, "links");
        let [p1, p2] = links.map(|link| {
            let of = |column| counted.integers(column)[link.0 as usize] as f64;
            of("marks") / of("packets")
        });
        let subflows = table(&output, "subflows");
        let marks = subflows.integers("marks")[0] as f64;
        let packets = subflows.integers("received_bytes")[0] as f64 / 1448.0;
        assert!(
            p1 > 0.1 && p2 > 0.1 && packets > 5000.0,
            "{p1} {p2} {packets}"
        );
        let expected = 1.0 - (1.0 - p1) * (1.0 - p2);
        // Four standard deviations.
        let tolerance = 4.0 * (expected * (1.0 - expected) / packets).sqrt();
        let share = marks / packets;
        assert!(
            (share - expected).abs() < tolerance,
            "{share} {expected} {tolerance}"
        );
    }
}
