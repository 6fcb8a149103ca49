//! Random scenarios over every key of the scenario file: each is accepted, runs to its end, keeps what
//! holds for every run, and gives the same bits twice.
//!
//! `PATHWEAVE_SCENARIOS` is their number, `PATHWEAVE_FIRST_SCENARIO` the seed of the first one. What fails
//! is written to a folder from which `pathweave run` repeats it.

mod coverage;
mod draw;
mod fabric;
mod properties;
mod running;
mod scale;
mod scenario;
mod traffic;
mod transport;
mod work;

use coverage::Coverage;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where the files are that scenarios name.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenario/tests/valid")
}

fn schema() -> Value {
    pathweave_scenario::schema_of_types()
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{variable} is \"{text}\"; give a whole number"))
    })
}

/// Controllers in files need Python or a compiler: the tests of the Python package have them.
const IN_FILES: [&str; 4] = [
    "Controller/object/library",
    "Controller/object/one",
    "Controller/object/python",
    "Controller/object/sha256",
];

/// What is generated is what people could write: nearly all of it is accepted, and nothing that a file
/// can say is left out.
#[test]
fn every_key_is_produced() {
    let schema = schema();
    let mut coverage = Coverage::new(schema.clone());
    let scenarios = 2_000;
    let mut refused = Vec::new();
    for seed in 1..=scenarios {
        let generated = scenario::generate(seed, &schema);
        coverage.count(&generated.tree);
        refused.extend(generated.refused);
    }
    let mut missing = coverage.missing();
    missing.retain(|part| !IN_FILES.contains(part));
    assert!(
        missing.is_empty(),
        "{} of {} parts of the schema are in no scenario; teach the generator: {missing:#?}",
        missing.len(),
        coverage.parts_in_all()
    );
    let most = scenarios as usize / 20;
    assert!(
        refused.len() <= most,
        "{} attempts were refused, more than {most}; the first ones:\n{}",
        refused.len(),
        refused[..5].join("\n")
    );
}

#[test]
fn what_holds_for_every_run_holds_for_random_scenarios() {
    let first = number("PATHWEAVE_FIRST_SCENARIO", 1);
    let count = number("PATHWEAVE_SCENARIOS", 50);
    let failures = running::run_all(first..first + count, &schema());
    if failures.is_empty() {
        return;
    }
    let mut kinds: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for failure in &failures {
        kinds.entry(&failure.kind).or_default().push(failure.seed);
    }
    let kinds: Vec<String> = kinds
        .iter()
        .map(|(kind, seeds)| {
            format!(
                "  {}: {kind}: seeds {:?}",
                seeds.len(),
                &seeds[..seeds.len().min(8)]
            )
        })
        .collect();
    let examples: Vec<String> = failures
        .iter()
        .take(3)
        .map(|failure| failure.to_string())
        .collect();
    panic!(
        "{} of {count} random scenarios failed:\n{}\n\n{}",
        failures.len(),
        kinds.join("\n"),
        examples.join("\n")
    );
}
