//! How a cut comes into force: over a round under the kernel's own Reno, at once under a controller that has
//! `cong_control`, and in the simulation as the preset `linux` says of each.

use super::played::{Played, check, holds_with};
use pathweave_engine::{Column, Output, Progress};

/// The largest share that a window lost from one sample to the next, on average over its cuts. A cut is a
/// stretch of samples in which the window falls.
fn steepest_falls(windows: &[(f64, f64)]) -> Vec<f64> {
    let mut falls = Vec::new();
    let mut steepest: Option<f64> = None;
    for pair in windows.windows(2) {
        let fall = 1.0 - pair[1].1 / pair[0].1;
        if fall > 0.0 {
            steepest = Some(steepest.unwrap_or(0.0).max(fall));
        } else if let Some(fall) = steepest.take() {
            falls.push(fall);
        }
    }
    falls
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The same scenario, simulated with the settings of the preset or with others.
fn simulated(settings: &str) -> Output {
    let text = include_str!("cut-rounds.toml");
    let text = text.replace("ack_every = 1\n", &format!("ack_every = 1\n{settings}"));
    let scenario = pathweave_scenario::check(&text)
        .unwrap_or_else(|error| panic!("{}", error.render(80, false)));
    let plan = scenario.variants()[0].plan(1);
    pathweave_engine::run(&plan, &Progress::default()).expect("a run without defects")
}

/// Mean queues of the two links, in packets.
fn queues(output: &Output) -> [f64; 2] {
    let links = output.table("links").expect("a table of links");
    let Some(Column::Labels { names, codes }) = links.column("link") else {
        panic!("links have names");
    };
    ["A1->B1", "A2->B2"].map(|link| {
        let at = codes.iter().position(|&code| &names[code as usize] == link);
        links.numbers("queue_mean")[at.expect("the link")]
    })
}

fn near(seen: f64, expected: f64) -> bool {
    (seen - expected).abs() <= (0.1 * expected).max(1.0)
}

#[test]
fn the_kernel_s_own_reno_reduces_proportionally_and_a_loaded_controller_at_once() {
    let [kernel, loaded] = queues(&simulated(""));
    let [at_once, _] = queues(&simulated(
        "reduction = \"at-once\"\ngrowth_in_cut_round = true\n",
    ));
    println!("simulated: {kernel:.1} and {loaded:.1} packets; Reno at once {at_once:.1}");
    let options = ["--no-gso", "--controller", "kernel=reno"];
    holds_with("cut-rounds", &options, |played: &Played| {
        let falls = |flow| steepest_falls(&played.windows(flow, 0.0, 3.0));
        let (slow, quick) = (falls("kernel"), falls("loaded"));
        let seen = [played.queue("A1->B1"), played.queue("A2->B2")];
        println!(
            "played: {} cuts of at most {:.2} from sample to sample, and {} of {:.2}; {:.1} and {:.1} packets",
            slow.len(),
            mean(&slow),
            quick.len(),
            mean(&quick),
            seen[0],
            seen[1]
        );
        check(slow.len() > 3 && quick.len() > 3, || {
            "too few cuts".to_owned()
        })?;
        check(mean(&slow) < 0.2, || {
            format!("the kernel's own cuts fall by {slow:?}")
        })?;
        check(mean(&quick) > 0.4, || {
            format!("cuts at once fall by {quick:?}")
        })?;
        check(near(seen[0], kernel) && near(seen[1], loaded), || {
            format!("queues of {seen:?} packets instead of {kernel:.1} and {loaded:.1}")
        })
    });
}
