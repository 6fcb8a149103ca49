//! The events of a flow that is watched, against the series of the same run.

use crate::plans::table;
use crate::suspensions::incast;
use pathweave_engine::{FlowEvent, Output, Progress, run};
use pathweave_scenario::{Plan, Sampling};

/// A run in which this flow is watched, and what was told of it.
fn watched(plan: &mut Plan, flow: u32) -> (Output, Vec<FlowEvent>) {
    plan.record.events = Some(flow);
    let progress = Progress::default();
    let output = run(plan, &progress).expect("a run");
    (output, progress.take_events())
}

/// The windows of a flow whenever one changes: time (s), subflow, packets.
fn windows(output: &Output, flow: u64) -> Vec<(f64, u64, f64)> {
    let rows = table(output, "windows");
    let (flows, subflows) = (rows.integers("flow"), rows.integers("subflow"));
    let (times, windows) = (rows.numbers("time_s"), rows.numbers("window_packets"));
    (0..flows.len())
        .filter(|&row| flows[row] == flow)
        .map(|row| (times[row], subflows[row], windows[row]))
        .collect()
}

#[test]
fn each_window_of_the_series_is_told_when_it_comes_about() {
    let mut plan = incast("\"amp\"", "size = \"200 KB\"");
    plan.record.windows = Some(Sampling::OnChange);
    let (output, events) = watched(&mut plan, 2);
    let series = windows(&output, 2);
    assert!(series.len() > 50, "{}", series.len());
    for &(at, subflow, window) in &series {
        let is_it = |event: &&FlowEvent| {
            (event.at.as_secs_f64(), u64::from(event.subflow)) == (at, subflow)
        };
        let told = events.iter().rfind(is_it);
        let told = told.unwrap_or_else(|| panic!("nothing told at {at} s of subflow {subflow}"));
        assert_eq!(told.window(), window);
    }
    assert!(events.is_sorted_by_key(|event| event.at));
}

#[test]
fn watching_changes_nothing_and_is_off_without_being_asked_for() {
    let mut plan = incast("\"xmp\"", "size = \"50 KB\"");
    let progress = Progress::default();
    let before = run(&plan, &progress).expect("a run");
    assert!(progress.take_events().is_empty());
    let (output, events) = watched(&mut plan, 0);
    assert_eq!(output.hash, before.hash);
    assert!(!events.is_empty());
    let (_, events) = watched(&mut plan, u32::MAX);
    assert!(events.is_empty());
}

#[test]
fn an_event_says_what_has_changed() {
    let mut plan = incast("\"dctcp\"", "size = \"200 KB\"");
    let (output, events) = watched(&mut plan, 1);
    let told: Vec<String> = events.iter().map(ToString::to_string).collect();
    assert!(told[0].contains("active"), "{}", told[0]);
    let acked = |text: &String| {
        let words = text.split("acked ").nth(1)?;
        words.split(',').next()?.parse::<u64>().ok()
    };
    let packets: u64 = told.iter().filter_map(acked).sum();
    let rows = table(&output, "subflows");
    let own = rows
        .integers("flow")
        .iter()
        .zip(rows.integers("sent_packets"));
    let retransmitted = rows
        .integers("flow")
        .iter()
        .zip(rows.integers("retransmits"));
    let of_flow = |pairs: &mut dyn Iterator<Item = (&u64, &u64)>| {
        pairs
            .filter(|(flow, _)| **flow == 1)
            .map(|(_, count)| *count)
            .sum::<u64>()
    };
    let sent = of_flow(&mut own.into_iter());
    assert_eq!(packets, sent - of_flow(&mut retransmitted.into_iter()));
    assert!(told.iter().any(|text| text.contains("marks ")));
}
