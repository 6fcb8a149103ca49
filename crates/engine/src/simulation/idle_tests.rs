//! Regions do not take one short window after another while nothing happens.

use super::*;
use crate::execution::Cut;

/// A flow that could finish at any moment, and never does because its link is down for good.
fn waiting() -> Plan {
    let text = r#"
        [fabric]
        kind = "dumbbell"
        left = 2
        bottleneck_rate = "1 Gbps"
        bottleneck_delay = "10 ms"
        [[traffic]]
        name = "small"
        pattern = "random"
        size = "100 B"
        controller = "reno"
        transport = { minimum_rto = "10 ms", initial_rto = "100 ms", maximum_rto = "100 ms" }
        [[events]]
        at = "0 s"
        link = "S1->A"
        down = true
        [stop]
        at = "1 s"
    "#;
    let scenario = pathweave_scenario::check(text)
        .unwrap_or_else(|error| panic!("{}", error.render(80, false)));
    scenario.variants()[0].plan(1)
}

/// Windows until the run is over.
fn windows(run: &mut Simulation<'_, FifoPorts>) -> u32 {
    run.workload.schedule(&mut run.agenda.traffic);
    let mut windows = 0;
    while run.workload.ended.is_none() {
        let control = run.next_control();
        run.agenda.set_limit(control);
        while run.handled_before < run.agenda.limit() {
            let ran = run.run_regions(control, BETWEEN_LOOKS, &mut None);
            run.handled_before = ran.handled_before;
            run.hear_reports();
            windows += 1;
        }
        run.regions.take_in();
        let traffic = run.agenda.traffic.next();
        if control <= traffic {
            run.regions.advance(control);
            run.control(control);
        } else {
            run.regions.advance(traffic);
            while let Some(entry) = run.agenda.take_due(traffic) {
                run.follow(entry);
            }
        }
    }
    windows
}

#[test]
fn regions_that_have_nothing_to_do_go_on_to_what_is_next() {
    let (plan, progress) = (waiting(), Progress::default());
    let [one, two, three] = [1, 2, 3].map(|regions| {
        let execution = Execution {
            cut: Cut::Into(regions),
            ..Execution::PLAIN
        };
        let run = Simulation::new(&plan, &progress, &execution);
        windows(&mut run.expect("a run"))
    });
    // Each window with events may be followed by one without.
    let most = 4 * one;
    assert!(one > 100, "{one} windows of one region");
    assert!(two < most, "{two} windows of two regions, {one} of one");
    assert!(
        three < most,
        "{three} windows of three regions, {one} of one"
    );
}
