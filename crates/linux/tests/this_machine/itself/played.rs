//! A scenario played on this machine.

use crate::this_machine;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// Runs in which a claim may come true. Real sockets scatter; what Reno does is not within reach of a few.
const TRIES: u64 = 5;

pub struct Played(Value);

/// Plays a scenario of this folder until a claim about it holds; `claim` says why it does not.
///
/// Leaves it where the machine may not be used.
///
/// # Panics
/// When the claim holds in none of them, when the scenario cannot be played, and when `PATHWEAVE_REQUIRE_KERNEL`
/// is set and the machine may not be used.
pub fn holds(scenario: &str, claim: impl Fn(&Played) -> Result<(), String>) {
    holds_with(scenario, &[], claim);
}

/// The same with further options of the testbed.
pub fn holds_with(scenario: &str, options: &[&str], claim: impl Fn(&Played) -> Result<(), String>) {
    let Some(_turn) = this_machine::with_controllers() else {
        return;
    };
    let mut reasons = Vec::new();
    for seed in 1..=TRIES {
        match claim(&play(scenario, options, seed)) {
            Ok(()) => return,
            Err(reason) => reasons.push(reason),
        }
    }
    panic!("{scenario}: {}", reasons.join("; "));
}

fn play(scenario: &str, options: &[&str], seed: u64) -> Played {
    let output = env::temp_dir().join(format!("pathweave-{scenario}-{}.json", std::process::id()));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/this_machine/itself");
    let done = Command::new(env!("CARGO_BIN_EXE_pathweave-linux"))
        .arg("testbed")
        .arg(folder.join(format!("{scenario}.toml")))
        .args(options)
        .args(["--variant", "base", "--seed", &seed.to_string(), "--output"])
        .arg(&output)
        .output()
        .expect("the binary starts");
    assert!(
        done.status.success(),
        "{scenario}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
    let text = fs::read_to_string(&output).expect("a run leaves its results");
    fs::remove_file(&output).expect("they can be removed");
    let results: Value = serde_json::from_str(&text).expect("results are JSON");
    // Late runs count as well: a few late packets make no other controller of it.
    if results["testbed"]["valid"] != true {
        println!("{scenario}: {}", results["testbed"]["reason"]);
    }
    Played(results)
}

/// That it is so, or else what is so instead.
pub fn check(so: bool, instead: impl FnOnce() -> String) -> Result<(), String> {
    if so { Ok(()) } else { Err(instead()) }
}

impl Played {
    fn column(&self, table: &str, column: &str) -> Vec<f64> {
        let values = self.0["tables"][table][column].as_array();
        let values = values.unwrap_or_else(|| panic!("no column {column} in {table}"));
        values
            .iter()
            .map(|value| value.as_f64().unwrap_or(f64::NAN))
            .collect()
    }

    fn number(&self, flow: &str) -> f64 {
        let names = self.0["tables"]["flows"]["name"]
            .as_array()
            .expect("flows have names");
        let at = names.iter().position(|name| name == flow);
        self.column("flows", "id")[at.unwrap_or_else(|| panic!("no flow {flow}"))]
    }

    /// What each subflow of a flow delivered, in Mbps.
    pub fn subflows(&self, flow: &str) -> Vec<f64> {
        let number = self.number(flow);
        let of = self.column("subflows", "flow");
        let rates = self.column("subflows", "goodput_bps");
        let both = of.iter().zip(&rates);
        both.filter(|(of, _)| **of == number)
            .map(|(_, rate)| rate / 1e6)
            .collect()
    }

    /// What a flow delivered, in Mbps.
    pub fn goodput(&self, flow: &str) -> f64 {
        self.subflows(flow).iter().sum()
    }

    /// The mean of what the flows of this name delivered, with a number behind it or without, in Mbps.
    pub fn mean_goodput(&self, name: &str) -> f64 {
        let flows = self.subflows_of(name);
        flows.iter().flatten().sum::<f64>() / flows.len() as f64
    }

    /// What each subflow of these flows delivered, in Mbps.
    pub fn subflows_of(&self, name: &str) -> Vec<Vec<f64>> {
        let names = self.0["tables"]["flows"]["name"].as_array();
        let of_name = |flow: &&str| {
            let rest = flow.strip_prefix(name).map(str::trim_start);
            rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let flows = names.into_iter().flatten().filter_map(Value::as_str);
        let found: Vec<Vec<f64>> = flows
            .filter(of_name)
            .map(|flow| self.subflows(flow))
            .collect();
        assert!(!found.is_empty(), "no flow {name}");
        found
    }

    /// The share of a flow's packets that was marked.
    pub fn marked(&self, flow: &str) -> f64 {
        let number = self.number(flow);
        let of = self.column("subflows", "flow");
        let sum = |column| -> f64 {
            let values = self.column("subflows", column);
            let both = of.iter().zip(&values);
            both.filter(|(of, _)| **of == number)
                .map(|(_, value)| value)
                .sum()
        };
        sum("marks") / sum("sent_packets")
    }

    /// The mean queue of a link, in packets.
    pub fn queue(&self, link: &str) -> f64 {
        let names = self.0["tables"]["links"]["link"]
            .as_array()
            .expect("links have names");
        let at = names.iter().position(|name| name == link);
        self.column("links", "queue_mean")[at.unwrap_or_else(|| panic!("no link {link}"))]
    }

    /// Windows of a subflow over time (s, packets), from a time on.
    pub fn windows(&self, flow: &str, subflow: f64, from: f64) -> Vec<(f64, f64)> {
        self.series("windows", "window_packets", flow, subflow, from)
    }

    /// What a subflow delivered over time (s, bit/s), from a time on.
    pub fn rates(&self, flow: &str, subflow: f64, from: f64) -> Vec<(f64, f64)> {
        self.series("rates", "rate_bps", flow, subflow, from)
    }

    fn series(
        &self,
        table: &str,
        column: &str,
        flow: &str,
        subflow: f64,
        from: f64,
    ) -> Vec<(f64, f64)> {
        let number = self.number(flow);
        let (of, which) = (self.column(table, "flow"), self.column(table, "subflow"));
        let (time, value) = (self.column(table, "time_s"), self.column(table, column));
        (0..time.len())
            .filter(|&at| of[at] == number && which[at] == subflow && time[at] >= from)
            .map(|at| (time[at], value[at]))
            .collect()
    }
}
