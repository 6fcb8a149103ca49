//! Samples say what was between them: the least, mean and greatest value since the one before.

use crate::plans::{self, table};
use pathweave_engine::Output;
use pathweave_scenario::{Plan, Sampling};
use pathweave_traffic::Size;
use pathweave_units::Time;

const INTERVAL: Time = Time::from_millis(20);
const END: Time = Time::from_millis(400);

/// Two DCTCP flows on one bottleneck, whose windows go up and down within milliseconds.
fn plan() -> Plan {
    let pattern = plans::pairs(&[Time::ZERO, Time::from_millis(13)]);
    let group = plans::group("dctcp", &[], pattern, Size::Unlimited);
    let fabric = plans::dumbbell(2, Time::from_micros(50));
    let link = plans::link(&fabric, "A", "B");
    let mut plan = plans::plan(fabric, plans::queue(200, Some(20)), vec![group], None);
    plan.stop.at = Some(END);
    plan.record.queue_links = vec![link];
    plan
}

/// Rows of the first subflow of a flow: time and value.
fn series(output: &Output, name: &str, column: &str, flow: u64) -> Vec<(f64, f64)> {
    let rows = table(output, name);
    let times = rows.numbers("time_s").iter().zip(rows.numbers(column));
    times
        .zip(rows.integers("flow"))
        .filter(|(_, of)| **of == flow)
        .map(|((&time, &value), _)| (time, value))
        .collect()
}

#[test]
fn windows_between_samples_are_those_recorded_on_change() {
    let mut every = plan();
    every.record.windows = Some(Sampling::Every(INTERVAL));
    let mut changes = plan();
    changes.record.windows = Some(Sampling::OnChange);
    let (sampled, exact) = (plans::run(&every), plans::run(&changes));
    for flow in [0, 1] {
        let steps = series(&exact, "windows", "window_packets", flow);
        let extents: [Vec<(f64, f64)>; 3] = ["min", "mean", "max"].map(|which| {
            series(
                &sampled,
                "windows",
                &format!("window_{which}_packets"),
                flow,
            )
        });
        let mut swings = 0;
        // The first interval of a flow begins with its first packet, not with a sample.
        for place in 1..extents[0].len() {
            let (from, to) = (extents[0][place - 1].0, extents[0][place].0);
            let before = steps
                .iter()
                .rev()
                .find(|(time, _)| *time <= from)
                .unwrap()
                .1;
            let within: Vec<(f64, f64)> = [(from, before)]
                .into_iter()
                .chain(
                    steps
                        .iter()
                        .copied()
                        .filter(|(time, _)| *time > from && *time <= to),
                )
                .collect();
            let values = within.iter().map(|(_, value)| *value);
            let least = values.clone().fold(f64::INFINITY, f64::min);
            let most = values.fold(0.0, f64::max);
            assert_eq!((extents[0][place].1, extents[2][place].1), (least, most));
            let ends = within.iter().skip(1).map(|(time, _)| *time).chain([to]);
            let area: f64 = within
                .iter()
                .zip(ends)
                .map(|((time, value), end)| value * (end - time))
                .sum();
            let mean = extents[1][place].1;
            assert!(
                (mean - area / (to - from)).abs() < 1e-6 * mean,
                "{mean} {place}"
            );
            swings += u32::from(most > 1.05 * least);
        }
        // The samples alone would not show these.
        assert!(swings > 10, "{swings}");
    }
}

#[test]
fn round_trip_times_between_samples_are_all_of_them() {
    let mut every = plan();
    every.record.rtts = Some(Sampling::Every(INTERVAL));
    let mut all = plan();
    all.record.rtts = Some(Sampling::OnChange);
    let (sampled, exact) = (plans::run(&every), plans::run(&all));
    let samples = series(&exact, "rtts", "rtt_s", 0);
    let [least, mean, most] =
        ["min", "mean", "max"].map(|which| series(&sampled, "rtts", &format!("rtt_{which}_s"), 0));
    for place in 1..least.len() {
        let (from, to) = (least[place - 1].0, least[place].0);
        let within: Vec<f64> = samples
            .iter()
            .filter(|(time, _)| *time > from && *time <= to)
            .map(|(_, rtt)| *rtt)
            .collect();
        assert_eq!(least[place].1, within.iter().copied().fold(1.0, f64::min));
        assert_eq!(most[place].1, within.iter().copied().fold(0.0, f64::max));
        let expected = within.iter().sum::<f64>() / within.len() as f64;
        assert!((mean[place].1 / expected - 1.0).abs() < 1e-9);
    }
}

#[test]
fn queues_between_samples_are_what_arrivals_find_and_the_mean_is_exact() {
    let mut every = plan();
    every.record.queues = Some(INTERVAL);
    // The counts of arrivals begin again within an interval.
    every.measure.from = Time::from_millis(50);
    let mut fine = plan();
    fine.record.queues = Some(Time::from_nanos(500));
    let (sampled, exact) = (plans::run(&every), plans::run(&fine));
    let rows = table(&sampled, "queues");
    let steps = table(&exact, "queues");
    let (times, lengths) = (steps.numbers("time_s"), steps.integers("packets"));
    let mut swings = 0;
    for (place, &to) in rows.numbers("time_s").iter().enumerate() {
        let from = to - INTERVAL.as_secs_f64();
        let within = times
            .iter()
            .zip(lengths)
            .filter(|(time, _)| **time > from && **time <= to);
        let within: Vec<f64> = within.map(|(_, &length)| length as f64).collect();
        let least = within.iter().copied().fold(f64::INFINITY, f64::min);
        let most = within.iter().copied().fold(0.0, f64::max);
        let found = rows.numbers("packets_max")[place];
        assert!(most - found <= 1.0 && found <= most, "{found} of {most}");
        assert_eq!(rows.numbers("packets_min")[place], least, "at {to}");
        let mean = within.iter().sum::<f64>() / within.len() as f64;
        assert!((rows.numbers("packets_mean")[place] - mean).abs() < 0.05 + 0.01 * mean);
        swings += u32::from(most > least + 5.0);
    }
    assert!(swings > 10, "{swings}");
}

#[test]
fn the_means_of_all_intervals_are_the_mean_of_the_window() {
    let mut plan = plan();
    plan.record.queues = Some(INTERVAL);
    plan.measure.from = INTERVAL * 5;
    let output = plans::run(&plan);
    let means = table(&output, "queues").numbers("packets_mean");
    let measured = &means[5..];
    assert_eq!(measured.len(), 15);
    let mean = measured.iter().sum::<f64>() / measured.len() as f64;
    let expected = table(&output, "links").numbers("queue_mean")[0];
    assert!((mean / expected - 1.0).abs() < 1e-9, "{mean} {expected}");
}
