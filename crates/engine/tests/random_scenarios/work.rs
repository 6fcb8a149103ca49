//! Collective operations, recorded flows and schedules.

use super::draw::{Draw, Table, table};
use super::traffic::Scene;
use serde_json::Value;

/// Ranks of a job at most: an iteration's transfers grow with their square.
const MOST_RANKS: u64 = 6;

fn names(scene: &Scene<'_>, hosts: &[u32]) -> Value {
    let names = hosts.iter().map(|&host| Value::from(scene.host(host)));
    names.collect()
}

/// The hosts of a job: a list or, where that says the same, a range.
fn of_a_job(draw: &mut Draw, scene: &Scene<'_>, peers: &[u32], ranks: usize) -> Value {
    let complete = peers.len() == scene.hosts() as usize;
    if complete && scene.host(0) == "h0" && draw.chance(0.5) {
        return format!("h0..h{}", ranks - 1).into();
    }
    let hosts = draw.some(peers, ranks);
    names(scene, &hosts[..ranks])
}

/// The hosts that jobs get, all of these.
fn hosts(draw: &mut Draw, scene: &Scene<'_>, peers: &[u32], group: &mut Table) {
    if peers.len() == scene.hosts() as usize && draw.chance(0.5) {
        group.maybe(draw, 0.5, "hosts", |_| "all".into());
    } else {
        group.set("hosts", names(scene, peers));
    }
}

/// The keys of a group of collectives, on hosts that all reach each other.
pub fn collective(draw: &mut Draw, scene: &Scene<'_>, peers: &[u32], group: &mut Table) {
    let operation = *draw.pick(&[
        "ring-all-reduce",
        "tree-all-reduce",
        "reduce-scatter",
        "all-gather",
        "all-to-all",
        "pipeline",
    ]);
    group.set("operation", operation);
    let ranks = draw.between(2, (peers.len() as u64).min(MOST_RANKS));
    if draw.chance(0.3) {
        // Jobs may share hosts.
        let jobs = draw.between(1, 2);
        let lists = (0..jobs).map(|_| of_a_job(draw, scene, peers, ranks as usize));
        group.set("placement", lists.collect::<Vec<Value>>());
        group.maybe(draw, 0.3, "group_size", |_| ranks.into());
    } else {
        hosts(draw, scene, peers, group);
        group.set("group_size", ranks);
        group.maybe(draw, 0.6, "placement", |draw| {
            (*draw.pick(&["packed", "random"])).into()
        });
        let fit = peers.len() as u64 / ranks;
        group.set("jobs", draw.between(1, fit.min(2)));
    }
    let chunks = draw.between(1, 3);
    group.maybe(draw, 0.5, "chunks", |_| chunks.into());
    // Enough for eight chunks of each piece.
    let bytes = (scene.scale.bytes() * draw.log(0.02, 1.0)).max(8.0 * MOST_RANKS as f64);
    group.set("bytes", draw.bytes(bytes));
    group.maybe(draw, 0.5, "iterations", |draw| draw.between(1, 3).into());
    let length = scene.scale.length;
    if draw.chance(0.6) {
        let least = length * draw.log(1e-4, 0.05);
        let compute = if draw.chance(0.5) {
            draw.time(least)
        } else {
            let (least, most) = (draw.time(least), draw.time(3.0 * least));
            let text = |time: &Value| time.as_str().expect("a text").to_owned();
            format!("{}..{}", text(&least), text(&most)).into()
        };
        group.set("compute", compute);
        group.maybe(draw, 0.4, "stragglers", |draw| {
            let mut slow = table("factor", draw.number(1.0, 4.0));
            if draw.chance(0.5) {
                slow.set("count", draw.between(1, ranks));
            } else {
                let one = names(scene, &peers[..1]);
                slow.set(
                    "hosts",
                    if draw.chance(0.5) {
                        one[0].clone()
                    } else {
                        one
                    },
                );
            }
            slow.into()
        });
    }
    if operation == "all-to-all" {
        group.maybe(draw, 0.6, "schedule", |draw| {
            (*draw.pick(&["at-once", "shifted"])).into()
        });
    }
}

/// The keys of a group of recorded flows.
pub fn trace(draw: &mut Draw, scene: &Scene<'_>, peers: &[u32], group: &mut Table) {
    // The file names the first two hosts by their numbers.
    if peers.contains(&0) && peers.contains(&1) && draw.chance(0.4) {
        group.set("file", "trace.csv");
        return;
    }
    let mut text = "start,source,destination,bytes,after\n".to_owned();
    for row in 0..draw.between(1, 8) {
        let ends = draw.some(peers, 2);
        let start = scene.scale.length * draw.log(1e-6, 0.3);
        let bytes = (scene.scale.bytes() * draw.log(0.01, 0.5)).max(1.0) as u64;
        let after = if row > 0 && draw.chance(0.3) {
            draw.between(0, row - 1).to_string()
        } else {
            String::new()
        };
        let (source, destination) = (scene.host(ends[0]), scene.host(ends[1]));
        text += &format!("{start:.9},{source},{destination},{bytes},{after}\n");
    }
    group.set("content", text);
}

/// The keys of a group of GOAL schedules, on hosts that all reach each other.
pub fn goal(draw: &mut Draw, scene: &Scene<'_>, peers: &[u32], group: &mut Table) {
    if draw.chance(0.5) {
        group.set("file", "exchange.goal");
    } else {
        let bytes = (scene.scale.bytes() * draw.log(0.01, 0.5)).max(1.0) as u64;
        let nanos = (scene.scale.length * draw.log(1e-5, 0.05) * 1e9) as u64;
        group.set(
            "content",
            format!(
                "num_ranks 2\nrank 0 {{\na: calc {nanos}\nb: send {bytes}b to 1\nb requires a\nrecv 0b from 1\n}}\n\
                 rank 1 {{\na: recv {bytes}b from 0\nb: send 0b to 0\nb requires a\n}}\n"
            ),
        );
    }
    if draw.chance(0.3) {
        let job = of_a_job(draw, scene, peers, 2);
        group.set("placement", vec![job]);
    } else {
        hosts(draw, scene, peers, group);
        group.maybe(draw, 0.5, "placement", |draw| {
            (*draw.pick(&["packed", "random"])).into()
        });
        group.maybe(draw, 0.5, "jobs", |draw| {
            draw.between(1, (peers.len() as u64 / 2).min(2)).into()
        });
    }
    group.maybe(draw, 0.5, "iterations", |draw| draw.between(1, 3).into());
}
