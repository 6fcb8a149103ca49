//! Acknowledgements take the paths that a scenario gives them.

use crate::plans::{self, counted, fixed, of_flows, table, two_paths};
use pathweave_engine::Output;
use pathweave_scenario::Plan;
use pathweave_units::Time;

/// Few enough for slow start to lose none.
const BYTES: u64 = 60_000;

/// What a link carried, in bytes.
fn carried(plan: &Plan, output: &Output, from: &str, to: &str) -> u64 {
    let link = plans::link(&plan.fabric, from, to);
    table(output, "links").integers("bytes")[link.0 as usize]
}

/// One subflow whose data goes along the first path.
fn data_on_the_first_path() -> Plan {
    let mut plan = two_paths(fixed(BYTES));
    plan.fabric = plans::parallel_paths(&[Time::from_micros(50), Time::from_micros(450)]);
    plan.groups[0].subflows = 1;
    plan.groups[0].listed[0].paths.truncate(1);
    plan
}

#[test]
fn without_paths_of_their_own_they_take_the_reverse_of_the_data() {
    let plan = data_on_the_first_path();
    let output = plans::run(&plan);
    let carried = |from, to| carried(&plan, &output, from, to);
    assert!(carried("A1", "B1") > BYTES);
    assert!(carried("B1", "A1") > 0);
    assert_eq!((carried("A2", "B2"), carried("B2", "A2")), (0, 0));
}

#[test]
fn they_take_their_own_path_and_its_delay() {
    let mut plan = data_on_the_first_path();
    let back = plans::path(&plan.fabric, &["D1", "B2", "A2", "S1"]);
    let same = plans::run(&plan);
    plan.groups[0].listed[0].ack_paths = vec![back];
    let output = plans::run(&plan);
    assert_eq!(counted(&output, "delivered_bytes"), [BYTES]);
    let carried_then = |from, to| carried(&plan, &same, from, to);
    let carried = |from, to| carried(&plan, &output, from, to);
    assert_eq!(carried("A1", "B1"), carried_then("A1", "B1"));
    assert_eq!((carried("B1", "A1"), carried("A2", "B2")), (0, 0));
    assert!(carried("B2", "A2") > 0);
    // 400 us more than along the first path both ways, and less queue.
    let rtt = |output: &Output| of_flows(output, "rtt_mean_s")[0];
    assert!(rtt(&same) < 500e-6 && rtt(&output) > 500e-6);
}

#[test]
fn subflows_can_swap_paths_or_share_one() {
    let mut plan = two_paths(fixed(BYTES));
    let back = [["D1", "B1", "A1", "S1"], ["D1", "B2", "A2", "S1"]]
        .map(|nodes| plans::path(&plan.fabric, &nodes));
    let run = |plan: &Plan| {
        let output = plans::run(plan);
        assert_eq!(counted(&output, "delivered_bytes"), [BYTES]);
        [["B1", "A1"], ["B2", "A2"]].map(|[from, to]| carried(plan, &output, from, to))
    };
    plan.groups[0].listed[0].ack_paths = vec![back[1].clone(), back[0].clone()];
    let [first, second] = run(&plan);
    assert!(first > 0 && second > 0);
    plan.groups[0].listed[0].ack_paths = vec![back[1].clone(); 2];
    let [first, both] = run(&plan);
    assert_eq!(first, 0);
    assert!(both > second);
}
