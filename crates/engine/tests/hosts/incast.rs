//! Incasts at the start times that kernel 6.18 had, from `validation/hosts/incasts.toml`.

use crate::plans::{counted, of_flows, read, run};
use toml::{Table, Value};

const INCASTS: &str = include_str!("../../../../validation/hosts/incasts.toml");
/// Data timeouts per flow, and the share of late flows, may differ by this much.
const ACCEPT: f64 = 0.08;

/// What the flows of a case come to.
#[derive(Default)]
struct Counts {
    flows: u64,
    timeouts: u64,
    syn_timeouts: u64,
    late: u64,
    /// Completion times after the handshake, ms.
    fct: Vec<f64>,
}

/// The rate that the flows share.
fn rate(case: &Table) -> &str {
    let rate = case.get("rate").and_then(Value::as_str);
    rate.unwrap_or("100 Mbps")
}

/// One repetition: flows of one host with these start times.
fn repeat(case: &Table, starts: &[Value], counts: &mut Counts, seed: u64) {
    let list: Vec<String> = starts
        .iter()
        .map(|start| format!("{{ from = \"S1\", to = \"D1\", start = \"{start} us\" }}"))
        .collect();
    let mut plan = read(&format!(
        r#"
        {}
        queue = {{ limit = {} }}
        [transport]
        preset = "linux"
        data_packet = "1514 B"
        ack_packet = "66 B"
        send_bundle = 1
        [[traffic]]
        name = "flows"
        pattern = "flows"
        controller = {}
        size = "64000 B"
        flows = [{}]
        "#,
        super::through_router("10 Gbps", rate(case)),
        case["limit"],
        case["controller"],
        list.join(", ")
    ));
    plan.seed = seed;
    let output = run(&plan);
    let timeouts = counted(&output, "timeouts");
    for (&fct, &timeouts) in of_flows(&output, "fct_s").iter().zip(timeouts) {
        // A lost SYN costs a second, and other timeouts together less.
        let syns = fct.floor();
        let fct = fct - syns;
        counts.flows += 1;
        counts.syn_timeouts += syns as u64;
        counts.timeouts += timeouts.saturating_sub(syns as u64);
        counts.late += u64::from(fct > 0.15);
        counts.fct.push(fct * 1e3);
    }
}

#[test]
fn incasts_wait_for_timeouts_as_seldom_as_in_the_kernel() {
    let table: Table = INCASTS.parse().expect("TOML");
    let mut outside = Vec::new();
    for case in table["incast"].as_array().expect("cases") {
        let case = case.as_table().expect("a case");
        let mut counts = Counts::default();
        let repetitions = case["starts_us"].as_array().expect("repetitions");
        for (seed, starts) in (1..).zip(repetitions) {
            repeat(case, starts.as_array().expect("times"), &mut counts, seed);
        }
        let flows = counts.flows as f64;
        let of_kernel = |key: &str| case[key].as_integer().expect("a count") as f64 / flows;
        let ours = [counts.timeouts, counts.late, counts.syn_timeouts].map(|n| n as f64 / flows);
        let kernel = ["timeouts", "late", "syn_timeouts"].map(of_kernel);
        counts.fct.sort_by(f64::total_cmp);
        let name = format!(
            "{} {} {} limit {} {}",
            case["row"],
            case["controller"],
            case["flows"],
            case["limit"],
            rate(case)
        );
        println!(
            "{name}: timeouts {:.3} {:.3}, late {:.3} {:.3}, SYNs {:.3} {:.3}, median {:.1} {}",
            ours[0],
            kernel[0],
            ours[1],
            kernel[1],
            ours[2],
            kernel[2],
            counts.fct[counts.fct.len() / 2],
            case["median_ms"]
        );
        let fits = (0..2).all(|place| (ours[place] - kernel[place]).abs() <= ACCEPT);
        if !fits {
            outside.push(name);
        }
    }
    assert!(outside.is_empty(), "{outside:?}");
}
