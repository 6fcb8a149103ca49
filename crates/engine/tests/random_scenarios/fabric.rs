//! Fabrics, their queues and their routing.

use super::draw::{Draw, Table, table};
use super::scale::Scale;
use pathweave_fabric::{Fabric, LinkId};
use serde_json::Value;

/// A fabric's table without its queues.
pub fn fabric(draw: &mut Draw, scale: &Scale) -> Table {
    let kinds = [
        "dumbbell",
        "star",
        "parallel-paths",
        "ring",
        "graph",
        "fat-tree",
        "leaf-spine",
    ];
    let kind = *draw.pick(&kinds);
    let mut fabric = table("kind", kind);
    let count = |draw: &mut Draw, most| draw.log_integer(1, most);
    match kind {
        "dumbbell" => {
            fabric.set("left", count(draw, 6));
            fabric.maybe(draw, 0.5, "right", |draw| draw.between(1, 6).into());
            fabric.set("bottleneck_rate", scale.rate(draw));
            fabric.set("bottleneck_delay", scale.delay(draw));
            fabric.maybe(draw, 0.7, "host_rate", |draw| scale.rate(draw));
            fabric.maybe(draw, 0.7, "host_delay", |draw| scale.delay(draw));
        }
        "star" => {
            fabric.set("senders", count(draw, 10));
            fabric.set("rate", scale.rate(draw));
            fabric.set("delay", scale.delay(draw));
            fabric.maybe(draw, 0.5, "receiver_rate", |draw| scale.rate(draw));
        }
        "parallel-paths" => {
            let paths = draw.between(1, 4);
            fabric.maybe(draw, 0.7, "pairs", |draw| count(draw, 4).into());
            fabric.set("rates", list(draw, paths, |draw| scale.rate(draw)));
            let delays = if draw.chance(0.5) {
                list(draw, paths, |draw| scale.delay(draw))
            } else {
                scale.delay(draw)
            };
            fabric.set("delays", delays);
            fabric.maybe(draw, 0.7, "host_rate", |draw| scale.rate(draw));
            fabric.set("host_delay", scale.delay(draw));
        }
        "ring" => {
            let rates = draw.between(2, 5);
            fabric.set("rates", list(draw, rates, |draw| scale.rate(draw)));
            let delay = if draw.chance(0.3) {
                list(draw, rates, |draw| scale.delay(draw))
            } else {
                scale.delay(draw)
            };
            fabric.set("delay", delay);
            fabric.maybe(draw, 0.5, "host_rate", |draw| scale.rate(draw));
            fabric.maybe(draw, 0.5, "host_delay", |draw| scale.delay(draw));
            fabric.maybe(draw, 0.5, "background", |draw| {
                let most = draw.between(1, rates);
                list(draw, most, |draw| draw.between(0, 2).into())
            });
        }
        "graph" => graph(draw, scale, &mut fabric),
        "fat-tree" => {
            fabric.set("k", *draw.pick(&[2, 4, 4]));
            fabric.maybe(draw, 0.5, "hosts_per_edge", |draw| {
                draw.between(1, 3).into()
            });
            let layers = ["rack", "aggregation", "core"];
            let each = |draw: &mut Draw, one: fn(&Scale, &mut Draw) -> Value| {
                if draw.chance(0.6) {
                    return one(scale, draw);
                }
                let mut by_layer = Table::default();
                for layer in layers {
                    by_layer.set(layer, one(scale, draw));
                }
                by_layer.into()
            };
            fabric.set("rate", each(draw, Scale::rate));
            fabric.set("delay", each(draw, Scale::delay));
        }
        _ => {
            fabric.set("leaves", draw.between(1, 4));
            fabric.set("spines", draw.between(1, 3));
            fabric.set("hosts_per_leaf", draw.between(2, 4));
            fabric.set("host_rate", scale.rate(draw));
            fabric.maybe(draw, 0.6, "uplink_rate", |draw| scale.rate(draw));
            fabric.set("host_delay", scale.delay(draw));
            fabric.maybe(draw, 0.6, "uplink_delay", |draw| scale.delay(draw));
        }
    }
    fabric
}

/// Switches in a tree with some cables more, hosts on one or two of them.
fn graph(draw: &mut Draw, scale: &Scale, fabric: &mut Table) {
    let (switches, hosts) = (draw.between(1, 5), draw.between(2, 6));
    let node = |draw: &mut Draw, name: String| -> Value {
        if draw.chance(0.7) {
            return name.into();
        }
        let mut node = table("name", name);
        node.maybe(draw, 0.7, "rack", |draw| draw.between(0, 3).into());
        node.maybe(draw, 0.7, "pod", |draw| draw.between(0, 2).into());
        node.into()
    };
    let mut pairs = Vec::new();
    for switch in 1..switches {
        pairs.push((
            format!("w{switch}"),
            format!("w{}", draw.between(0, switch - 1)),
        ));
    }
    for _ in 0..draw.between(0, 3) {
        let (a, b) = (draw.between(0, switches - 1), draw.between(0, switches - 1));
        if a != b {
            pairs.push((format!("w{a}"), format!("w{b}")));
        }
    }
    for host in 0..hosts {
        let first = draw.between(0, switches - 1);
        pairs.push((format!("h{host}"), format!("w{first}")));
        if switches > 1 && draw.chance(0.3) {
            let second = (first + draw.between(1, switches - 1)) % switches;
            pairs.push((format!("h{host}"), format!("w{second}")));
        }
    }
    // Layers are counted by name; cables without one are in the layer "link".
    let rates_and_delays_of_all = draw.chance(0.6);
    let cables: Vec<Value> = pairs
        .into_iter()
        .map(|(a, b)| {
            let link = format!("{a}-{b}");
            if rates_and_delays_of_all && draw.chance(0.6) {
                return link.into();
            }
            let mut cable = table("link", link);
            let own = if rates_and_delays_of_all { 0.5 } else { 1.0 };
            cable.maybe(draw, own, "rate", |draw| scale.rate(draw));
            cable.maybe(draw, own, "delay", |draw| scale.delay(draw));
            cable.maybe(draw, 0.3, "layer", |draw| {
                (*draw.pick(&["near", "far"])).into()
            });
            cable.into()
        })
        .collect();
    if rates_and_delays_of_all {
        fabric.set("rate", scale.rate(draw));
        fabric.set("delay", scale.delay(draw));
    }
    let hosts = if draw.chance(0.3) {
        vec![format!("h0..h{}", hosts - 1).into()]
    } else {
        (0..hosts)
            .map(|host| node(draw, format!("h{host}")))
            .collect()
    };
    let switches: Vec<Value> = (0..switches)
        .map(|switch| node(draw, format!("w{switch}")))
        .collect();
    fabric
        .set("hosts", hosts)
        .set("switches", switches)
        .set("cables", cables);
}

fn list(draw: &mut Draw, count: u64, mut one: impl FnMut(&mut Draw) -> Value) -> Value {
    (0..count).map(|_| one(draw)).collect()
}

/// Fills in the queues.
pub fn queues(draw: &mut Draw, built: &Fabric, table: &mut Table) {
    let in_bytes = draw.chance(0.2);
    table.maybe(draw, 0.8, "queue", |draw| queue(draw, in_bytes));
    table.maybe(draw, 0.2, "host_queue", |draw| {
        let mut queue = queue(draw, in_bytes);
        // Hosts that hold packets back have no limit unless this gives one, and some marks depend on it.
        if let Value::Object(queue) = &mut queue
            && !queue.contains_key("limit")
        {
            queue.insert("limit".to_owned(), 100.into());
        }
        queue
    });
    table.maybe(draw, 0.2, "layer_queue", |draw| {
        let mut by_layer = Table::default();
        for layer in draw.some(&built.layers, 1) {
            by_layer.set(&layer, queue(draw, in_bytes));
        }
        by_layer.into()
    });
    table.maybe(draw, 0.15, "shared_buffer", |draw| {
        let bytes = draw.log(6e3, 1e6);
        let mut shared = super::draw::table("size", draw.bytes(bytes));
        shared.maybe(draw, 0.6, "alpha", |draw| draw.number(0.05, 16.0).into());
        shared.into()
    });
}

/// A queue. Thresholds are never above the limit.
fn queue(draw: &mut Draw, in_bytes: bool) -> Value {
    let mut queue = Table::default();
    let packets = draw.log_integer(1, 300);
    let bytes = packets as f64 * 1600.0;
    if in_bytes {
        queue.set("limit", draw.bytes(bytes.max(12e3)));
    } else if draw.chance(0.9) {
        queue.set("limit", packets);
    }
    let has_limit = queue.get("limit").is_some();
    let is_unlimited = !has_limit && draw.chance(0.3);
    if is_unlimited {
        queue.set("limit", "none");
    }
    let most = if has_limit { packets } else { 100 };
    queue.maybe(draw, 0.7, "mark", |draw| {
        let kinds = [
            "none",
            "step",
            "step",
            "step",
            "linear",
            "red",
            "proportional",
        ];
        let kind = *draw.pick(&kinds[..if in_bytes || is_unlimited { 6 } else { 7 }]);
        let mut mark = table("kind", kind);
        match kind {
            "step" => {
                let k: Value = if in_bytes {
                    let k = draw.log(1.0, 12e3);
                    draw.bytes(k)
                } else if draw.chance(0.1) {
                    draw.number(0.0, most as f64).into()
                } else {
                    draw.between(0, most).into()
                };
                mark.set("k", k);
                mark.maybe(draw, 0.4, "rule", |draw| {
                    (*draw.pick(&["above", "at-or-above"])).into()
                });
            }
            "linear" => {
                let from = draw.number(0.0, 30.0);
                mark.set("from", from);
                mark.set("to", from + draw.number(0.5, 60.0));
                mark.set("probability", draw.number(0.01, 1.0));
            }
            "red" => {
                let from = draw.number(0.0, 30.0);
                mark.set("from", from);
                mark.set("to", from + draw.number(0.0, 60.0));
                mark.maybe(draw, 0.7, "probability", |draw| {
                    draw.number(0.01, 1.0).into()
                });
                mark.maybe(draw, 0.7, "weight", |draw| draw.log(1e-4, 1.0).into());
            }
            "proportional" => {
                mark.maybe(draw, 0.6, "high", |draw| draw.number(0.05, 1.0).into());
            }
            _ => {}
        }
        mark.into()
    });
    queue.maybe(draw, 0.3, "drop_ecn_blind", |draw| draw.chance(0.5).into());
    queue.into()
}

/// Takes down cables and switches without which all hosts still reach each other, if there are any.
pub fn take_down(draw: &mut Draw, built: &mut Fabric, table: &mut Table) {
    let mut down: Vec<Value> = Vec::new();
    for _ in 0..draw.between(1, 3) {
        let link = LinkId(draw.between(0, built.links.len() as u64 - 1) as u32);
        let node = built.link(link).to;
        let (name, links): (String, Vec<LinkId>) = if draw.chance(0.7) {
            let names = built.link_names();
            let (cable, number) = (names.cable(link), names.number(link));
            let ends = (built.link(link).from, built.link(link).to);
            let has_parallel = built.links_between(ends.0, ends.1).count() > 1;
            let name = match number {
                1 if has_parallel => format!("{cable}#1"),
                _ => cable,
            };
            (name, vec![link, link.reverse()])
        } else {
            let ends = |id: &LinkId| [built.link(*id).from, built.link(*id).to].contains(&node);
            let all = (0..built.links.len() as u32).map(LinkId);
            (built.node(node).name.clone(), all.filter(ends).collect())
        };
        let mut less = built.clone();
        less.down.extend(links);
        if less.reachability().first_gap().is_none() {
            *built = less;
            down.push(name.into());
        }
    }
    match down.as_slice() {
        [] => {}
        [one] if draw.chance(0.5) => {
            table.set("down", one.clone());
        }
        _ => {
            table.set("down", down);
        }
    }
}

/// How paths are chosen.
pub fn routing(draw: &mut Draw, scale: &Scale, built: &Fabric) -> Table {
    let is_fat_tree = built.layers.iter().any(|layer| layer == "aggregation");
    let mut kinds = vec!["ecmp", "ecmp", "spray", "pinned", "fmp"];
    if is_fat_tree {
        kinds.extend(["two-level"; 2]);
    }
    let kind = *draw.pick(&kinds);
    let mut routing = table("kind", kind);
    match kind {
        "ecmp" => {
            routing.maybe(draw, 0.5, "distinct", |draw| draw.chance(0.6).into());
            routing.maybe(draw, 0.5, "detection_delay", |draw| scale.moment(draw));
        }
        "spray" => {
            routing.maybe(draw, 0.5, "detection_delay", |draw| scale.moment(draw));
        }
        "fmp" => {
            // Two prices need certain queues, but few attempts are refused for lack of them.
            routing.maybe(draw, 0.35, "price", |draw| {
                let prices = ["occupancy", "averaged-occupancy", "marks", "utilisation"];
                (*draw.pick(&prices)).into()
            });
            let period = scale.feedback_period(built);
            let period = period * draw.log(1.0, 10.0);
            routing.set("feedback_period", draw.time(period));
            routing.maybe(draw, 0.4, "silence_timeout", |draw| {
                let timeout = period * draw.log(1.1, 10.0);
                draw.time(timeout)
            });
            routing.maybe(draw, 0.4, "idle_expiry", |draw| scale.moment(draw));
        }
        _ => {}
    }
    routing
}
