//! Paths that die: what the others carry, and when a run ends.

use crate::plans::{self, counted, fixed, flags, of_flows};
use pathweave_engine::Verdict;
use pathweave_traffic::Size;
use pathweave_transport::{Recovery, SegmentScheduler};
use pathweave_units::Time;

const DATA: u64 = 1500;
const MSS: u64 = 1448;

#[test]
fn what_a_dead_path_held_is_sent_on_the_other() {
    for recovery in [Recovery::Sack, Recovery::NewReno] {
        for scheduler in [SegmentScheduler::RoundRobin, SegmentScheduler::LowestRtt] {
            for dies in [["A1", "B1"], ["A2", "B2"]] {
                let mut plan = plans::two_paths(fixed(2_000_000));
                plan.groups[0].transport.recovery = recovery;
                plan.groups[0].transport.scheduler = scheduler;
                plans::down_between(&mut plan, dies, Time::from_millis(4), None);
                let output = plans::run(&plan);
                assert_eq!(output.verdict, Verdict::Finished);
                assert_eq!(counted(&output, "delivered_bytes"), [2_000_000]);
                assert!(counted(&output, "reinjected")[0] > 0);
                // Two timeouts, 10 and 20 ms, until the path counts as dead, and no third.
                let end = of_flows(&output, "end_s")[0];
                assert!((0.034..0.045).contains(&end), "{end}");
                assert!(output.notes.is_empty(), "{:?}", output.notes);
            }
        }
    }
}

#[test]
fn without_reinjection_a_dead_path_keeps_what_it_held() {
    let mut plan = plans::two_paths(fixed(2_000_000));
    plan.groups[0].transport.reinject_after = None;
    plans::down_between(&mut plan, ["A1", "B1"], Time::from_millis(4), None);
    plan.stop.at = Some(Time::from_secs(2));
    let output = plans::run(&plan);
    assert_eq!(plans::finished(&output), [false]);
    assert!(counted(&output, "delivered_bytes")[0] < 2_000_000);
    assert_eq!(counted(&output, "reinjected"), [0]);
    // When the path returns, so does the data.
    plans::down_between(
        &mut plan,
        ["A1", "B1"],
        Time::from_millis(4),
        Some(Time::from_secs(1)),
    );
    let output = plans::run(&plan);
    assert_eq!(counted(&output, "delivered_bytes"), [2_000_000]);
}

/// Nothing else is left to happen when the path has failed, but its data goes to the other path later.
#[test]
fn reinjection_may_come_later_than_failure() {
    let mut plan = plans::two_paths(fixed(2_000_000));
    plan.groups[0].transport.failed_after = 2;
    plan.groups[0].transport.reinject_after = Some(4);
    plans::down_between(&mut plan, ["A1", "B1"], Time::from_millis(4), None);
    let output = plans::run(&plan);
    assert_eq!(output.verdict, Verdict::Finished);
    assert_eq!(counted(&output, "delivered_bytes"), [2_000_000]);
    // Timeouts of 10, 20, 40 and 80 ms.
    let end = of_flows(&output, "end_s")[0];
    assert!((0.154..0.17).contains(&end), "{end}");
}

#[test]
fn a_flow_whose_only_path_dies_is_stalled_and_the_run_ends() {
    let mut plan = plans::lone_flow(fixed(2_000_000), plans::queue(50, None));
    let died = Time::from_millis(4);
    plans::down_between(&mut plan, ["A", "B"], died, None);
    let output = plans::run(&plan);
    assert_eq!(output.verdict, Verdict::Stalled);
    assert_eq!(flags(&output, "stalled"), [true]);
    assert_eq!(plans::finished(&output), [false]);
    let delivered = counted(&output, "delivered_bytes")[0];
    assert!(delivered > 100_000 && delivered < 2_000_000, "{delivered}");
    assert!(output.counters.ended >= died && output.counters.ended < Time::from_secs(10));
    assert!(
        output.notes.iter().any(|note| note.contains("flows/0")),
        "{:?}",
        output.notes
    );
    assert!(of_flows(&output, "fct_s")[0].is_nan());
}

#[test]
fn the_others_go_on_when_one_flow_stalls() {
    let fabric = plans::dumbbell(2, Time::from_micros(100));
    let pattern = plans::pairs(&[Time::ZERO, Time::ZERO]);
    let group = plans::group("reno", &[], pattern, fixed(1_000_000));
    let mut plan = plans::plan(fabric, plans::queue(100, None), vec![group], None);
    plans::down_between(&mut plan, ["S1", "A"], Time::from_millis(2), None);
    let output = plans::run(&plan);
    assert_eq!(output.verdict, Verdict::Stalled);
    assert_eq!(flags(&output, "stalled"), [true, false]);
    assert_eq!(plans::finished(&output), [false, true]);
}

#[test]
fn a_path_that_returns_is_used_again() {
    let mut plan = plans::two_paths(Size::Unlimited);
    plans::down_between(
        &mut plan,
        ["A2", "B2"],
        Time::from_millis(5),
        Some(Time::from_millis(50)),
    );
    plan.stop.at = Some(Time::from_millis(300));
    plan.measure.from = Time::from_millis(200);
    let output = plans::run(&plan);
    let rates = plans::table(&output, "subflows").numbers("goodput_bps");
    let full = 1e9 * MSS as f64 / DATA as f64;
    assert!(rates.iter().all(|rate| *rate > 0.5 * full), "{rates:?}");
}

#[test]
fn without_reinjection_the_run_still_ends() {
    let mut plan = plans::two_paths(fixed(2_000_000));
    plan.groups[0].transport.reinject_after = None;
    plans::down_between(&mut plan, ["A1", "B1"], Time::from_millis(4), None);
    assert_eq!(plans::run(&plan).verdict, Verdict::Stalled);
}

#[test]
fn a_late_return_of_another_link_does_not_keep_a_stalled_run_going() {
    let group = plans::group(
        "reno",
        &[],
        plans::flows(&[(0, 2, Time::ZERO)]),
        fixed(2_000_000),
    );
    let fabric = plans::dumbbell(2, Time::from_micros(100));
    let mut plan = plans::plan(fabric, plans::queue(50, None), vec![group], None);
    plans::down_between(
        &mut plan,
        ["S2", "A"],
        Time::from_millis(1),
        Some(Time::from_secs(30)),
    );
    plans::down_between(&mut plan, ["S1", "A"], Time::from_millis(4), None);
    assert_eq!(plans::run(&plan).verdict, Verdict::Stalled);
}
