//! How flows end: they finish, they are stopped, or the run ends before.

use crate::plans::{self, counted, endings, of_flows};
use pathweave_engine::{Allocation, Allocator, Answer, Column, Output, Problem, Verdict, flow};
use pathweave_scenario::Plan;
use pathweave_units::Time;

fn plan(traffic: &str) -> Plan {
    let text = format!(
        r#"
        jitter = "none"
        [fabric]
        kind = "dumbbell"
        left = 4
        bottleneck_rate = "1 Gbps"
        bottleneck_delay = "50 us"
        host_rate = "10 Gbps"
        host_delay = "1 us"
        queue = {{ limit = 50 }}
        [transport]
        minimum_rto = "5 ms"
        {traffic}
        "#
    );
    let scenario = pathweave_scenario::check(&text)
        .unwrap_or_else(|error| panic!("{}", error.render(80, false)));
    scenario.variants()[0].plan(1)
}

const PAIRS: &str = r#"
    pattern = "flows"
    controller = "reno"
    flows = [{ from = "S1", to = "D1" }, { from = "S2", to = "D2", size = "100 KB" }]
"#;

fn flags<'a>(output: &'a Output, table: &str, column: &str) -> &'a [bool] {
    match plans::table(output, table).column(column) {
        Some(Column::Flags(values)) => values,
        _ => panic!("no flags {column}"),
    }
}

#[test]
fn a_group_that_stops_cuts_off_what_has_not_finished() {
    let group = |stop| format!("[[traffic]]\nname = \"a\"\nsize = \"10 MB\"\n{stop}\n{PAIRS}");
    let output = plans::run(&plan(&group("stop = \"20 ms\"")));
    assert_eq!(endings(&output), ["stopped", "finished"]);
    let times = of_flows(&output, "fct_s");
    assert!(times[0].is_nan() && times[1] > 0.0, "{times:?}");
    // What it had sent by then arrives all the same, and that is when it ends.
    let delivered = counted(&output, "delivered_bytes");
    assert!(
        (1_000_000..4_000_000).contains(&delivered[0]),
        "{delivered:?}"
    );
    assert_eq!(delivered[1], 100_000);
    let end = of_flows(&output, "end_s")[0];
    assert!((0.02..0.03).contains(&end), "{end}");
    let counters = output.counters;
    assert_eq!((counters.flows_finished, counters.flows_stopped), (1, 1));
    // Without the stop both finish; with an end of the run the first does not.
    assert_eq!(endings(&plans::run(&plan(&group("")))), ["finished"; 2]);
    let early = plan(&format!("{}\n[stop]\nat = \"20 ms\"", group("")));
    assert_eq!(endings(&plans::run(&early)), ["unfinished", "finished"]);
}

#[test]
fn a_flow_without_a_size_is_stopped_and_has_a_goodput() {
    let text = PAIRS.replace("to = \"D1\" }", "to = \"D1\", stop = \"20 ms\" }");
    let output = plans::run(&plan(&format!(
        "[[traffic]]\nname = \"a\"\nsize = \"unlimited\"\n{text}"
    )));
    assert_eq!(endings(&output), ["stopped", "finished"]);
    assert!(of_flows(&output, "fct_s")[0].is_nan());
    let goodput = of_flows(&output, "goodput_bps")[0];
    assert!(goodput > 0.5e9, "{goodput}");
}

/// Stops at every moment of several patterns' lives: the run's self-checks hold.
#[test]
fn any_group_may_stop_at_any_time() {
    let patterns = [
        r#"pattern = "permutation"
           size = "300 KB""#,
        r#"pattern = "incast"
           servers = 3
           jobs = 2"#,
        r#"pattern = "poisson"
           size = { kind = "uniform", min = "1 B", max = "200 KB" }
           flows_per_second = 20000"#,
        r#"pattern = "many-to-one"
           destination = "D1"
           concurrency = 3
           size = "50 KB""#,
    ];
    let mut found = std::collections::BTreeMap::new();
    for (pattern, subflows) in patterns.iter().flat_map(|p| [(p, 1), (p, 2)]) {
        for stop in (100..4000).step_by(300) {
            let plan = plan(&format!(
                r#"
                [[traffic]]
                name = "background"
                pattern = "flows"
                controller = "dctcp"
                size = "2 MB"
                flows = [{{ from = "S4", to = "D4" }}]
                [[traffic]]
                name = "stopped"
                controller = "xmp"
                subflows = {subflows}
                stop = "{stop} us"
                {pattern}
                "#
            ));
            let output = plans::run(&plan);
            let sizes = of_flows(&output, "size_bytes").iter();
            let delivered = counted(&output, "delivered_bytes").iter();
            for ((end, size), bytes) in endings(&output).into_iter().zip(sizes).zip(delivered) {
                assert_eq!(
                    end == "finished",
                    *bytes as f64 == *size,
                    "{pattern} {stop}"
                );
                assert_ne!(end, "unfinished", "{pattern} {stop}");
                *found.entry(end.to_owned()).or_insert(0) += 1;
            }
            let finished = endings(&output)
                .iter()
                .filter(|end| **end == "finished")
                .count();
            assert_eq!(output.counters.flows_finished, finished as u64);
            let ended = output.counters.flows_finished + output.counters.flows_stopped;
            assert_eq!(ended, output.counters.flows_started, "{pattern} {stop}");
        }
    }
    assert!(
        found["stopped"] > 100 && found["finished"] > 1000,
        "{found:?}"
    );
}

#[test]
fn a_job_that_is_cut_off_has_no_completion_time() {
    let incast = |stop: &str| {
        plan(&format!(
            r#"
            [[traffic]]
            name = "jobs"
            pattern = "incast"
            servers = 3
            jobs = 1
            response = "1 MB"
            controller = "reno"
            stop = "{stop}"
            "#
        ))
    };
    // 3 MB take 24 ms at 1 Gbps: one job is done by 60 ms, and another is under way.
    let output = plans::run(&incast("60 ms"));
    let jobs = flags(&output, "jobs", "finished");
    assert!(
        jobs.len() >= 2 && jobs[..jobs.len() - 1].iter().all(|done| *done),
        "{jobs:?}"
    );
    assert!(!jobs[jobs.len() - 1], "{jobs:?}");
    assert!(plans::table(&output, "jobs").numbers("jct_s")[jobs.len() - 1].is_nan());
    // Requests that were sent before the stop are delivered after it: their answers never start.
    let output = plans::run(&incast("120 us"));
    assert_eq!(flags(&output, "jobs", "finished"), [false]);
    let answers = endings(&output).into_iter().skip(3);
    let answers: Vec<(&str, u64)> = answers
        .zip(counted(&output, "delivered_bytes")[3..].iter().copied())
        .collect();
    assert!(answers.contains(&("stopped", 0)), "{answers:?}");
}

#[test]
fn jobs_count_where_they_start_in_the_measurement_window() {
    let traffic = r#"
        [[traffic]]
        name = "jobs"
        pattern = "incast"
        servers = 3
        jobs = 1
        response = "30 KB"
        controller = "reno"
        [stop]
        at = "60 ms"
        [measure]
        from = "10 ms"
        to = "40 ms"
    "#;
    let output = plans::run(&plan(traffic));
    let counts = flags(&output, "jobs", "in_window");
    let starts = plans::table(&output, "jobs").numbers("start_s");
    for (&start, &counts) in starts.iter().zip(counts) {
        assert_eq!(counts, (0.01..0.04).contains(&start), "{start}");
    }
    let inside = counts.iter().filter(|counts| **counts).count();
    assert!(inside > 2 && inside + 2 < counts.len(), "{counts:?}");
}

/// Every flow has a tenth of the bottleneck.
struct Tenth;

impl Allocator for Tenth {
    fn allocate(&mut self, problem: &Problem<'_>) -> Result<Answer, String> {
        let paths = problem.flows.iter().map(|flow| flow.paths.len()).sum();
        Ok(Answer::Rates(Allocation {
            rates: vec![1e8; paths],
            split_unique: vec![true; problem.flows.len()],
        }))
    }
}

#[test]
fn flows_of_an_optimum_end_in_the_same_ways() {
    let text = format!("[[traffic]]\nname = \"a\"\nsize = \"1 MB\"\nstop = \"20 ms\"\n{PAIRS}");
    let output = flow(&plan(&text), &mut Tenth).expect("a fluid run");
    assert_eq!(endings(&output), ["stopped", "finished"]);
    let times = of_flows(&output, "fct_s");
    assert!(times[0].is_nan() && times[1] > 0.0, "{times:?}");
}

/// Beside a group that goes on for ever, one whose traffic falls short of the stop condition: the run ends with it.
#[test]
fn a_group_that_falls_short_of_the_stop_condition_ends_the_run_when_nothing_is_left_of_it() {
    let endless = r#"
        [[traffic]]
        name = "endless"
        pattern = "permutation"
        hosts = ["S3", "D3"]
        size = "unlimited"
        controller = "reno"
    "#;
    let cases = [
        // Sizes that are random: at most 30 MB, of which no seed draws nearly as much.
        (
            r#"pattern = "many-to-one"
            destination = "D1"
            sources = ["S1", "S2"]
            concurrency = 2
            count = 30
            size = { kind = "uniform", min = "1 B", max = "1 MB" }"#,
            "bytes = \"30 MB\"",
        ),
        // A stop, before a thousand flows have finished, of a group that would go on.
        (
            r#"pattern = "permutation"
            hosts = ["S1", "D1"]
            stop = "20 ms"
            size = "1 MB""#,
            "flows = 1000",
        ),
        // Flows that are stopped do not count; one that has no size never will.
        (
            r#"pattern = "flows"
            size = "1 MB"
            flows = [
                { from = "S1", to = "D1" },
                { from = "S2", to = "D2", size = "100 MB", stop = "20 ms" },
                { from = "S4", to = "D4", size = "unlimited" },
            ]"#,
            "flows = 2",
        ),
    ];
    for (keys, amount) in cases {
        let plan = plan(&format!(
            "{endless}\n[[traffic]]\nname = \"short\"\ncontroller = \"reno\"\n{keys}\n\
             [stop]\ntraffic = \"short\"\n{amount}"
        ));
        let rates = plan.fabric.links.iter().map(|link| link.rate);
        let fastest = rates.max().expect("links").as_bps() as f64;
        let reaction = f64::from(plan.groups[0].transport.ack_packet) * 8.0 / fastest + 1e-12;
        let output = plans::run(&plan);
        assert_eq!(output.verdict, Verdict::Stopped, "{keys}");
        let flows = plans::table(&output, "flows");
        let sizes = flows.numbers("size_bytes");
        let left = endings(&output);
        let with_a_size: Vec<_> = (0..sizes.len()).filter(|&flow| sizes[flow] > 0.0).collect();
        assert!(
            with_a_size.iter().all(|&flow| left[flow] != "unfinished"),
            "{keys}: {left:?}"
        );
        let last = with_a_size.iter().map(|&flow| flows.numbers("end_s")[flow]);
        let last = last.fold(0.0, f64::max);
        let ended = output.counters.ended.as_secs_f64();
        // Hosts are heard of after a reaction time: a destination of its source's stop, and the run of the end.
        assert!(
            ended > last && ended <= last + 2.0 * reaction,
            "{keys}: {ended} after {last}"
        );
    }
}

const CLOSED_LOOP: &str = r#"
    [[traffic]]
    name = "a"
    controller = "dctcp"
    pattern = "permutation"
    size = { kind = "uniform", min = "50 KB", max = "2 MB" }
"#;
const ARRIVALS: &str = r#"
    [[traffic]]
    name = "a"
    controller = "dctcp"
    pattern = "poisson"
    size = { kind = "uniform", min = "1 KB", max = "400 KB" }
    flows_per_second = 500
"#;

#[test]
fn a_run_that_drains_starts_no_flow_and_waits_for_those_under_way() {
    for traffic in [CLOSED_LOOP, ARRIVALS] {
        let output = plans::run(&plan(&format!(
            "{traffic}\n[stop]\nat = \"60 ms\"\ndrain = true"
        )));
        let ends = endings(&output);
        let starts = of_flows(&output, "start_s");
        let in_window = flags(&output, "flows", "in_window");
        let mut late = 0;
        for ((end, &start), &counts) in ends.iter().zip(starts).zip(in_window) {
            assert_eq!(*end == "finished", start < 0.06, "{start} {end}");
            assert_eq!(*end == "unstarted", start >= 0.06, "{start} {end}");
            assert_eq!(counts, start < 0.06, "{start}");
        }
        for end in of_flows(&output, "end_s") {
            late += u32::from(*end > 0.06);
        }
        assert!(late > 0, "some flows were under way");
        let ended = output.counters.ended.as_secs_f64();
        assert!(ended > 0.06 && ended < 0.2, "{ended}");
        assert_eq!(
            output.counters.flows_started,
            output.counters.flows_finished
        );
        assert_eq!(output.verdict, Verdict::Finished);
    }
}

/// Arrivals do not depend on what has finished, so the same flows start in a longer run. Those that end before the
/// last start see nothing of the end; others are slowed by what still comes in the longer run only.
#[test]
fn flows_that_end_before_the_last_start_are_those_of_a_longer_run() {
    let drained = plans::run(&plan(&format!(
        "{ARRIVALS}\n[stop]\nat = \"60 ms\"\ndrain = true"
    )));
    let longer = plans::run(&plan(&format!("{ARRIVALS}\n[stop]\nat = \"200 ms\"")));
    let starts = of_flows(&drained, "start_s");
    let started = starts.iter().filter(|start| **start < 0.06).count();
    assert!(started > 20);
    assert_eq!(starts[..started], of_flows(&longer, "start_s")[..started]);
    let ends = (of_flows(&drained, "end_s"), of_flows(&longer, "end_s"));
    let early = (0..started).filter(|&flow| ends.1[flow] < 0.06);
    assert!(early.clone().count() > 10);
    for flow in early {
        assert_eq!(ends.0[flow], ends.1[flow], "flow {flow}");
    }
    // What is measured is what was before the drain.
    let carried = |output: &Output| plans::table(output, "links").numbers("utilisation")[0];
    let window = "[measure]\nto = \"60 ms\"";
    let cut = plans::run(&plan(&format!(
        "{ARRIVALS}\n{window}\n[stop]\nat = \"200 ms\""
    )));
    assert_eq!(carried(&drained), carried(&cut));
}

#[test]
fn a_limit_ends_what_does_not_drain() {
    let unlimited = r#"
        [[traffic]]
        name = "b"
        controller = "dctcp"
        pattern = "flows"
        size = "unlimited"
        flows = [{ from = "S4", to = "D4" }]
    "#;
    let stop = "[stop]\nat = \"60 ms\"\ndrain = true\nlimit = \"150 ms\"";
    let output = plans::run(&plan(&format!("{CLOSED_LOOP}\n{unlimited}\n{stop}")));
    assert_eq!(output.counters.ended, Time::from_millis(150));
    assert_eq!(output.verdict, Verdict::Stopped);
    let sizes = of_flows(&output, "size_bytes");
    for (end, size) in endings(&output).iter().zip(sizes) {
        assert_eq!(*end == "unfinished", size.is_nan(), "{end} {size}");
    }
    // Without unlimited flows the run ends before the limit.
    let drained = plans::run(&plan(&format!("{CLOSED_LOOP}\n{stop}")));
    assert!(drained.counters.ended < Time::from_millis(150));
    // At a limit that comes too early, flows are left.
    let early = stop.replace("150 ms", "61 ms");
    let cut = plans::run(&plan(&format!("{CLOSED_LOOP}\n{early}")));
    assert_eq!(cut.counters.ended, Time::from_millis(61));
    assert!(endings(&cut).contains(&"unfinished"));
}

#[test]
fn the_optimum_drains_too() {
    let plan = plan(&format!(
        "{CLOSED_LOOP}\n[stop]\nat = \"60 ms\"\ndrain = true"
    ));
    let output = flow(&plan, &mut Tenth).expect("a fluid run");
    let starts = of_flows(&output, "start_s");
    for (end, &start) in endings(&output).iter().zip(starts) {
        assert_eq!(*end == "finished", start < 0.06, "{start} {end}");
    }
    assert!(output.counters.ended > Time::from_millis(60));
}
