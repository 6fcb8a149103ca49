//! What a run gives back, as JSON.

use super::clock::Clock;
use super::fabric::Played;
use super::lateness::reason_against;
use super::quic::QuicGroups;
use crate::Failure;
use pathweave_engine::{Column, Output, Table};
use pathweave_units::Time;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// What is known of a run besides its tables.
pub struct About<'a> {
    pub clock: Clock,
    pub stretch: u32,
    pub gso: bool,
    pub base_rtt: Option<Time>,
    pub controllers: BTreeMap<String, String>,
    pub quic: &'a QuicGroups,
    pub wall: Duration,
    pub cpu: Duration,
    pub played: &'a Summary,
}

/// How the fabric was played.
pub struct Summary {
    pub lateness: super::lateness::Lateness,
    pub strangers: u64,
    pub refused: u64,
    pub ended: Time,
    pub carried_bytes: u64,
}

impl Summary {
    /// That of what was played.
    pub fn of(played: &Played) -> Summary {
        Summary {
            lateness: played.lateness.clone(),
            strangers: played.strangers,
            refused: played.refused,
            ended: played.ended,
            carried_bytes: played.record.carried_bytes(),
        }
    }
}

/// A number; what is none becomes null.
fn number(value: f64) -> Value {
    serde_json::Number::from_f64(value).map_or(Value::Null, Value::Number)
}

fn column(column: &Column) -> Value {
    match column {
        Column::Integers(values) => json!(values),
        Column::Numbers(values) => values.iter().map(|&value| number(value)).collect(),
        Column::Flags(values) => json!(values),
        Column::Labels { names, codes } => codes
            .iter()
            .map(|&code| json!(&names[code as usize]))
            .collect(),
    }
}

fn tables<'a>(tables: impl Iterator<Item = &'a Table>) -> Value {
    let table = |table: &Table| {
        let columns = table.columns.iter();
        let columns = columns.map(|(name, values)| ((*name).to_owned(), column(values)));
        (table.name.to_owned(), Value::Object(columns.collect()))
    };
    Value::Object(tables.map(table).collect::<Map<_, _>>())
}

/// The whole of a run's results. All times and rates are the plan's, converted back from the stretched
/// ones.
pub fn json(output: &Output, about: &About<'_>) -> Value {
    let played = about.played;
    let plan_time = |machine: Duration| about.clock.plan_time(machine);
    let late = |share| plan_time(played.lateness.percentile(share));
    let p99 = late(0.99);
    let reason = about
        .base_rtt
        .and_then(|base_rtt| reason_against(p99, base_rtt));
    let counters = &output.counters;
    let mut notes = output.notes.clone();
    if let Some(reason) = &reason {
        notes.insert(0, format!("this run is invalid: {reason}"));
    }
    if played.refused > 0 {
        notes.push(format!("hosts did not take {} packets", played.refused));
    }
    let load = played.carried_bytes as f64 * 8.0 / played.ended.as_secs_f64();
    json!({
        "verdict": output.verdict.as_str(),
        "notes": notes,
        "results_hash": output.hash,
        "counters": {
            "ended_s": counters.ended.as_secs_f64(),
            "packet_hops": counters.packet_hops,
            "dropped": counters.dropped,
            "lost_to_failures": counters.lost_to_failures,
            "marked": counters.marked,
            "flows_started": counters.flows_started,
            "flows_finished": counters.flows_finished,
            "flows_stopped": counters.flows_stopped,
            "delivered_bytes": counters.delivered_bytes,
            "goodput_share": number(output.goodput_share),
        },
        "tables": tables(output.tables.iter().chain(&output.explanations)),
        "wall_s": about.wall.as_secs_f64(),
        "cpu_s": about.cpu.as_secs_f64(),
        "peak_rss_mb": pathweave_engine::peak_rss_mb(),
        "testbed": {
            "valid": reason.is_none(),
            "reason": reason,
            "stretch": about.stretch,
            "gso": about.gso,
            "base_rtt_s": about.base_rtt.map(Time::as_secs_f64),
            "lateness_s": {
                "p50": late(0.5).as_secs_f64(),
                "p90": late(0.9).as_secs_f64(),
                "p99": p99.as_secs_f64(),
                "p999": late(0.999).as_secs_f64(),
                "max": plan_time(played.lateness.most()).as_secs_f64(),
            },
            "packets": played.lateness.packets(),
            "strangers": played.strangers,
            "kernel": kernel(),
            "controllers": about.controllers,
            "quic": about.quic.names().collect::<Vec<_>>(),
            "fabric_load_bps": number(load),
        },
    })
}

fn kernel() -> String {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    release.trim().to_owned()
}

/// Writes results so that the file is whole or not there.
///
/// # Errors
/// When it cannot be written.
pub fn write(path: &Path, results: &Value) -> Result<(), Failure> {
    let failed =
        |error: std::io::Error| Failure::new(format!("cannot write {}: {error}", path.display()));
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    let part = Path::new(&name);
    std::fs::write(part, results.to_string()).map_err(failed)?;
    std::fs::rename(part, path).map_err(failed)
}
