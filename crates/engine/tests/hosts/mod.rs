//! Compares hosts with Linux 6.18 in the cases of `validation/hosts/cases.toml`.

mod bundles;
mod incast;
mod own_port;
mod relay;

use pathweave_transport::{Config, HostPort};
use pathweave_units::{Rate, Time};
use relay::{Outcome, Relay, Rule};
use toml::{Table, Value};

const CASES: &str = include_str!("../../../../validation/hosts/cases.toml");
const RATE: Rate = Rate::from_mbps(100);
const TICK: Time = Time::from_millis(4);
/// Flows per case. Their start times are spread evenly over a tick.
const STARTS: u64 = 12;

/// Overhead of the programs and the relay in the measurement, in milliseconds: 1 MB without losses takes 86.0 ms, of which
/// handshake, transmission and delays account for 85.65.
const OVERHEAD: f64 = 0.35;
/// The router's token bucket passes 3,100 B without delay, which would take 0.248 ms at 100 Mbps.
const BURST: f64 = 0.248;

/// The hosts of preset `linux`. Packet sizes include the Ethernet header.
fn linux(controller: &str) -> Config {
    let presets = pathweave_scenario::presets().iter();
    let mut all = presets.filter(|preset| preset.name == "linux");
    let config = all.next().expect("the preset").config(controller, RATE);
    assert_eq!(config.tick, TICK);
    Config {
        data_packet: 1514,
        ack_packet: 66,
        // The harness has no ports.
        host_port: HostPort::Drops,
        ..config.of_controller(controller)
    }
}

/// The fabric of a host S1, a router and a host D1, with the rates of both links on the way.
fn through_router(of_host: &str, of_router: &str) -> String {
    format!(
        r#"
        [fabric]
        kind = "graph"
        hosts = ["S1", "D1"]
        switches = ["A"]
        cables = [
            {{ link = "S1-A", rate = "{of_host}" }},
            {{ link = "A-D1", rate = "{of_router}" }},
        ]
        delay = "25 us"
        "#
    )
}

fn number(case: &Table, key: &str) -> Option<f64> {
    let value = case.get(key)?;
    value
        .as_float()
        .or_else(|| Some(value.as_integer()? as f64))
}

/// A list of whole numbers.
fn numbers(value: &Value) -> Vec<u64> {
    let list = value.as_array().expect("a list");
    let number = |value: &Value| value.as_integer().expect("a whole number") as u64;
    list.iter().map(number).collect()
}

fn relay(case: &Table) -> Relay {
    let mut rules = Vec::new();
    for drop in case
        .get("drop")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let numbers = numbers(drop);
        rules.push(Rule::Drop(numbers[0] as u32, numbers[1] as u32));
    }
    if let Some(from) = case.get("drop_from").map(numbers) {
        rules.push(Rule::DropFrom(from[0] as u32, from[1] as u32));
    }
    if let Some(count) = number(case, "drop_syns") {
        rules.push(Rule::DropSyns(count as u32));
    }
    if let Some(count) = number(case, "drop_syn_acks") {
        rules.push(Rule::DropSynAcks(count as u32));
    }
    if let Some(late) = case.get("late").map(numbers) {
        rules.push(Rule::Late(late[0] as u32, Time::from_micros(late[1])));
    }
    Relay {
        rate: RATE,
        limit: number(case, "limit").unwrap_or(1000.0) as usize,
        delay: Time::from_micros(number(case, "delay_us").unwrap_or(500.0) as u64),
        rules,
    }
}

/// The flows of a case, the quickest first.
fn flows(case: &Table) -> Vec<Outcome> {
    let relay = relay(case);
    let controller = case
        .get("controller")
        .and_then(Value::as_str)
        .unwrap_or("cubic");
    let mut config = linux(controller);
    for off in case
        .get("off")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        match off.as_str() {
            Some("tail_loss_probe") => config.tail_loss_probe = false,
            other => panic!("{other:?} cannot be off"),
        }
    }
    let size = number(case, "size").expect("a size") as u64;
    let phases = (0..STARTS).map(|start| TICK * start / STARTS);
    let mut all: Vec<Outcome> = phases
        .map(|phase| relay::carry(&relay, controller, &config, size, phase))
        .collect();
    all.sort_by_key(|outcome| outcome.fct);
    all
}

/// The counters show how losses were repaired, the completion times how fast.
#[test]
fn losses_are_repaired_as_in_the_kernel() {
    let table: Table = CASES.parse().expect("TOML");
    let cases = table["case"].as_array().expect("cases");
    assert!(cases.len() > 30);
    let mut outside = Vec::new();
    for case in cases {
        let case = case.as_table().expect("a case");
        let row = case["row"].as_str().expect("a row");
        let all = flows(case);
        let ms = |place: usize| all[place].fct.as_secs_f64() * 1e3;
        let kernel = case["fct_ms"].as_array().expect("times")[1]
            .as_float()
            .expect("a time");
        let accept = number(case, "accept_ms").expect("what is accepted");
        let overhead = match case.get("through") {
            None => OVERHEAD,
            Some(_) => -BURST,
        };
        let middle = all.len() / 2;
        let mut line = format!(
            "{row:20} {:8.2} {:8.2} {:8.2} ms, kernel {kernel:8.2}",
            ms(0),
            ms(middle),
            ms(all.len() - 1)
        );
        let mut fits = (ms(middle) + overhead - kernel).abs() <= accept;
        let sum = |of: fn(&Outcome) -> u64| all.iter().map(of).sum::<u64>();
        let counts = [
            ("timeouts", sum(|outcome| outcome.timeouts)),
            ("probes", sum(|outcome| outcome.probes)),
            ("retransmissions", sum(|outcome| outcome.retransmits)),
            ("drops", sum(|outcome| outcome.queue_drops)),
        ];
        for (key, ours) in counts {
            let kernel = number(case, key).unwrap_or(0.0);
            let within = number(case, &format!("{key}_within")).unwrap_or(0.0);
            fits &= (ours as f64 - kernel).abs() <= within;
            line += &format!(", {key} {ours} {kernel}");
        }
        if let Some(largest) = case.get("largest_queue").map(numbers) {
            let ours = all[middle].largest_queue;
            fits &= ours.abs_diff(largest[0]) <= largest[1];
            line += &format!(", largest queue {ours} {}", largest[0]);
        }
        println!("{line}");
        if !fits {
            outside.push(row);
        }
    }
    assert!(outside.is_empty(), "{outside:?}");
}
