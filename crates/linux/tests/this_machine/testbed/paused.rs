//! What becomes of a suppressed subflow, which has fallen silent, when its controller is unloaded by force.

use super::{Scenario, numbers};
use crate::this_machine;
use pathweave_linux::kernel::{Pinned, Row};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Eight DCTCPs bring all windows to the minimum, until they stop.
const SUPPRESSED: &str = include_str!("../itself/suppression.toml");
/// In the scenario: when subflows are silent, and when the DCTCPs have stopped for long.
const SILENT: f64 = 10.0;
const ALONE: (f64, f64) = (13.0, 16.0);

fn kernel(arguments: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pathweave-linux"));
    let done = command.arg("kernel").args(arguments).output();
    let done = done.expect("the binary runs");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{arguments:?}: {said}");
}

/// Takes it away whatever comes.
struct Unloads;

impl Drop for Unloads {
    fn drop(&mut self) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pathweave-linux"));
        // It is gone where the test has come to its end.
        let _ = command
            .args(["kernel", "unload", "amp", "--force"])
            .output();
    }
}

fn rows() -> Vec<Row> {
    let pinned = Pinned::open("pw_amp").expect("it is pinned");
    let connections = pinned.connections().into_iter();
    connections.flat_map(|one| one.subflows).collect()
}

#[test]
fn a_paused_subflow_sends_again_under_another_control() {
    let Some(_only) = this_machine::with_testbed() else {
        return;
    };
    // The flow of four subflows is a group of its own, which takes a controller that is loaded for good.
    let amp = r#"{ name = "amp", from = "S5", to = "D5", controller = "amp","#;
    assert!(SUPPRESSED.contains(amp));
    let text = SUPPRESSED.replace(amp, r#"{ name = "amp", from = "S5", to = "D5","#);
    let (head, flows) = text.split_once("flows = [\n").expect("a list of flows");
    let (multipath, others) = flows.split_once('\n').expect("the first flow");
    let text = format!(
        "{}flows = [\n{multipath}\n]\n[[traffic]]\nname = \"dctcp\"\npattern = \"flows\"\nsize = \"unlimited\"\ncontroller = \"dctcp\"\nflows = [\n{others}",
        head.replace("name = \"flows\"", "name = \"multipath\"")
    );
    let scenario = Scenario::new("paused", &text);
    kernel(&["load", "amp"]);
    let unloads = Unloads;
    let mut run = scenario
        .command(&["--controller", "multipath=pw_amp"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let lines = BufReader::new(run.stdout.take().expect("a pipe")).lines();
    let mut unloaded = false;
    for line in lines {
        let progress: Value = serde_json::from_str(&line.expect("text")).expect("JSON");
        if !unloaded && progress["time_s"].as_f64() >= Some(SILENT) {
            let suppressed = rows().iter().filter(|row| row.suppressed).count();
            assert_eq!(suppressed, 3, "{:?}", rows());
            kernel(&["unload", "amp", "--force", "--instead", "reno"]);
            unloaded = true;
        }
    }
    assert!(unloaded && run.wait().expect("it ends").success());
    drop(unloads);
    let results: Value = {
        let text = std::fs::read_to_string(scenario.results_file()).expect("results");
        serde_json::from_str(&text).expect("JSON")
    };
    let flows = numbers(&results, "rates", "flow");
    let subflows = numbers(&results, "rates", "subflow");
    let times = numbers(&results, "rates", "time_s");
    let rates = numbers(&results, "rates", "rate_bps");
    let sum = |subflow: f64, (from, to): (f64, f64)| -> f64 {
        (0..rates.len())
            .filter(|&at| flows[at] == 0.0 && subflows[at] == subflow)
            .filter(|&at| (from..to).contains(&times[at]))
            .map(|at| rates[at])
            .sum()
    };
    for subflow in [1.0, 2.0, 3.0] {
        assert_eq!(
            sum(subflow, (SILENT - 0.5, SILENT)),
            0.0,
            "{subflow} is silent"
        );
        assert!(sum(subflow, ALONE) > 0.0, "{subflow} sends again");
    }
}
