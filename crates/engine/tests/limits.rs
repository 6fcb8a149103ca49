//! What does not fit the types that a run counts in is refused, while it runs.

use crate::plans::{self, fixed, group, queue};
use pathweave_engine::{Progress, RunError, run};
use pathweave_traffic::{Beyond, Size};
use pathweave_units::{Bytes, Time};

#[test]
fn a_run_that_comes_to_the_end_of_time_is_refused() {
    let late = plans::flows(&[(0, 1, Time::ZERO), (0, 1, Time::from_secs(10_000_000))]);
    let flows = group("reno", &[], late, fixed(1000));
    let fabric = plans::dumbbell(1, Time::from_micros(10));
    let plan = plans::plan(fabric, queue(100, None), vec![flows], None);
    let Err(RunError::Plan(text)) = run(&plan, &Progress::default()) else {
        panic!("it runs");
    };
    assert!(
        text.contains("9223372 s") && text.contains("stop.at"),
        "{text}"
    );
}

#[test]
fn a_flow_that_draws_more_than_can_be_numbered_is_refused() {
    // The largest flow is of 2^32 - 2 packets, and a Pareto distribution without a maximum has no bound.
    let size = Size::Pareto {
        shape: 1.01,
        mean: Bytes::new(10_u64.pow(15)),
        maximum: None,
        beyond: Beyond::Redraw,
    };
    assert_eq!(size.largest(), None);
    let flows = group("reno", &[], plans::single(), size);
    let largest = flows.transport.largest_flow();
    assert_eq!(largest.get(), (u64::from(u32::MAX) - 1) * 1448);
    let fabric = plans::dumbbell(1, Time::from_micros(10));
    let mut plan = plans::plan(fabric, queue(100, None), vec![flows], None);
    let Err(RunError::Plan(text)) = run(&plan, &Progress::default()) else {
        panic!("it runs");
    };
    assert!(
        text.contains("\"flows\"") && text.contains(&largest.to_string()),
        "{text}"
    );
    // One that can just be numbered runs.
    plan.groups[0].size = Size::Fixed(largest);
    plan.stop.at = Some(Time::from_millis(10));
    assert_eq!(plans::endings(&plans::run(&plan)), ["unfinished"]);
}
