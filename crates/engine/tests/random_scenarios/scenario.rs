//! Whole scenarios: a table of every key that a scenario file can have.

use super::draw::{Draw, Table, table};
use super::scale::Scale;
use super::traffic::{self, Scene};
use super::transport::{self, Base};
use super::{fabric, folder};
use pathweave_fabric::{Fabric, LinkId, NodeId};
use pathweave_scenario::{Scenario, Selection};
use serde_json::{Value, json};

/// A scenario that was accepted.
pub struct Generated {
    /// Its file, as a tree.
    pub tree: Value,
    /// Its file.
    pub text: String,
    pub scenario: Scenario,
    /// What was wrong with earlier attempts.
    pub refused: Vec<String>,
}

/// Attempts for one seed. That even a second one is needed is rare.
const ATTEMPTS: u64 = 50;

/// The scenario of a seed: the first attempt that the reader accepts.
pub fn generate(seed: u64, schema: &Value) -> Generated {
    let mut refused = Vec::new();
    for attempt in 0..ATTEMPTS {
        let mut draw = Draw::new(seed, attempt);
        let tree = tree(&mut draw, schema, seed);
        let text = toml::to_string(&tree).expect("a tree without nulls");
        match read(&text) {
            Ok(scenario) => {
                return Generated {
                    tree,
                    text,
                    scenario,
                    refused,
                };
            }
            Err(message) => refused.push(format!("{message}\n{text}")),
        }
    }
    panic!(
        "seed {seed}: no attempt was accepted, the last for:\n{}",
        refused[refused.len() - 1]
    );
}

fn read(text: &str) -> Result<Scenario, String> {
    let selection = Selection::default();
    Scenario::from_text("random.toml", text, Some(&folder()), &selection)
        .map_err(|errors| errors.render(100, false))
}

/// The nodes and links that a table of a fabric stands for.
fn build(table: &Value) -> Fabric {
    let ends = match table["kind"].as_str() {
        Some("graph" | "fat-tree" | "leaf-spine") => ("h0", "h1"),
        _ => ("S1", "D1"),
    };
    let tree = json!({
        "fabric": table,
        "traffic": [{
            "name": "any",
            "pattern": "flows",
            "flows": [{ "from": ends.0, "to": ends.1, "size": "1 B", "controller": "reno" }],
        }],
    });
    let text = toml::to_string(&tree).expect("a tree without nulls");
    let scenario = read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    scenario.variants()[0].plan(1).fabric
}

fn tree(draw: &mut Draw, schema: &Value, seed: u64) -> Value {
    let mut scale = Scale::new(draw);
    let mut file = Table::default();
    file.maybe(draw, 0.5, "title", |_| {
        format!("Random scenario {seed}").into()
    });
    seeds(draw, &mut file);
    file.maybe(draw, 0.3, "jitter", |draw| {
        (*draw.pick(&["rtt", "none"])).into()
    });

    let mut fabric = fabric::fabric(draw, &scale);
    let mut built = build(&fabric.clone().into());
    fabric::queues(draw, &built, &mut fabric);
    let routing = fabric::routing(draw, &scale, &built);
    let kind = routing
        .get("kind")
        .and_then(Value::as_str)
        .unwrap_or("ecmp")
        .to_owned();
    if kind != "two-level" && draw.chance(0.25) {
        fabric::take_down(draw, &mut built, &mut fabric);
    }
    file.set("fabric", fabric);
    let distinct = routing.get("distinct") == Some(&Value::Bool(true));
    if kind != "ecmp" || draw.chance(0.6) {
        file.set("routing", routing);
    }
    // What goes on for ever beside the flows needs an end of the run.
    let scheme = draw.chance(0.25).then(|| {
        let entries = transport::with_switches();
        transport::controller(draw, &entries, 1)
    });
    scale.ends &= scheme.is_none() && kind != "fmp";
    let mut common = transport::transport(draw, &scale, schema, Base::None);
    if !common.table.is_empty() {
        file.set("transport", std::mem::take(&mut common.table));
    }

    let scene = Scene {
        scale: &scale,
        built: &built,
        schema,
        transport: &common,
        routing: &kind,
        distinct,
        scheme,
        router: traffic::shortest_paths(&built),
    };
    let mut groups = Vec::new();
    let mut listed = Vec::new();
    for number in 0..draw.between(1, 3) {
        let name = format!("group {number}");
        let (group, flows) = traffic::group(draw, &scene, &name);
        groups.push(group);
        listed.push((name, flows));
    }
    if groups.len() > 1 && draw.chance(0.1) {
        groups[0]["enabled"] = false.into();
        listed.remove(0);
    }
    let names: Vec<String> = listed.iter().map(|(name, _)| name.clone()).collect();
    stop(draw, &scale, &groups, &names, &mut file);
    file.set("traffic", groups);
    file.maybe(draw, 0.5, "measure", |draw| measure(draw, &scale));
    file.maybe(draw, 0.1, "report", report);
    if !scale.ends {
        file.maybe(draw, 0.4, "record", |draw| {
            record(draw, &scale, &built, &listed)
        });
    }
    file.maybe(draw, 0.4, "events", |draw| events(draw, &scale, &built));
    file.maybe(draw, 0.2, "variants", |draw| variants(draw, &scale, &names));
    file.maybe(draw, 0.1, "sweep", |draw| sweep(draw, &scale));
    file.maybe(draw, 0.15, "sizes", |draw| {
        let name = *draw.pick(&["quick", "large"]);
        let at = scale.length * draw.uniform(0.6, 1.0);
        table(name, table("stop.at", draw.time(at))).into()
    });
    file.into()
}

/// One seed, a list, or a number of seeds.
fn seeds(draw: &mut Draw, file: &mut Table) {
    match draw.between(0, 9) {
        0..=5 => {
            file.set("seed", draw.between(0, 1 << 40));
        }
        6 => {
            let seeds = draw.between(1, 3);
            let seeds: Vec<Value> = (1..=seeds).map(|seed| Value::from(seed * 7)).collect();
            file.set("seed", seeds);
        }
        7 => {
            file.set("seeds", draw.between(1, 3));
        }
        _ => {}
    }
}

/// What a report answers, which changes no result.
/// A list or a range of the values of a key that no variant sets.
fn sweep(draw: &mut Draw, scale: &Scale) -> Value {
    if draw.chance(0.5) {
        return table("transport.limited_transmit", json!([true, false])).into();
    }
    let from = scale.length * draw.uniform(0.01, 0.02);
    let to = from * draw.uniform(2.0, 3.0);
    let range = json!({ "from": draw.time(from), "to": draw.time(to), "count": 2 });
    table("transport.minimum_rto", range).into()
}

fn report(draw: &mut Draw) -> Value {
    let mut report = Table::default();
    report.maybe(draw, 0.5, "question", |_| "Which is faster?".into());
    report.maybe(draw, 0.5, "quantity", |_| "p99 fct".into());
    report.maybe(draw, 0.5, "baseline", |draw| {
        if draw.chance(0.5) {
            "a".into()
        } else {
            vec![Value::from("a")].into()
        }
    });
    report.maybe(draw, 0.5, "order", |draw| {
        (*draw.pick(&["merit", "file"])).into()
    });
    report.into()
}

/// When the run ends: at a time, by some group's traffic, or with the last flow.
fn stop(draw: &mut Draw, scale: &Scale, groups: &[Value], names: &[String], file: &mut Table) {
    let mut stop = Table::default();
    let mut at = 0.0;
    if !scale.ends {
        at = scale.length * draw.uniform(0.7, 1.0);
        stop.set("at", draw.time(at));
    }
    if draw.chance(0.3) {
        let name = draw.pick(names);
        let group = groups.iter().find(|group| group["name"] == **name);
        let group = group.expect("the names are those of groups");
        let unlimited = group["size"] == "unlimited" || group["size"]["kind"] == "unlimited";
        let listed = group["pattern"] == "flows";
        // Only what can come is accepted. What has an end of its own may come to it first.
        let limits = ["count", "rounds", "bursts", "stop"];
        let limited = limits.iter().any(|key| group.get(*key).is_some());
        let ends_before = scale.ends && limited;
        if !(unlimited || listed || ends_before) {
            stop.set("traffic", name.clone());
            match draw.between(0, 2) {
                0 if ["incast", "collective", "goal"]
                    .iter()
                    .any(|p| group["pattern"] == *p) =>
                {
                    stop.set("jobs", draw.log_integer(1, 10))
                }
                0 | 1 => stop.set("flows", draw.between(1, 2)),
                // More than all flows have is refused.
                _ if limited => stop.set("bytes", "1 B"),
                _ => {
                    let bytes = scale.bytes() * draw.log(0.01, 2.0);
                    stop.set("bytes", draw.bytes(bytes))
                }
            };
            stop.maybe(draw, 0.5, "drain", |draw| draw.chance(0.7).into());
        }
    }
    if !scale.ends && draw.chance(0.25) {
        stop.set("drain", true);
    }
    if stop.get("drain") == Some(&Value::Bool(true)) {
        // Flows of unlimited size are waited for as well.
        let limit = (at + scale.length * 0.01) * draw.uniform(1.01, 1.5);
        if !scale.ends || draw.chance(0.3) {
            stop.set("limit", draw.time(limit));
        }
    }
    if !stop.is_empty() {
        file.set("stop", stop);
    }
}

fn measure(draw: &mut Draw, scale: &Scale) -> Value {
    let mut measure = Table::default();
    let length = scale.length;
    let from = length * draw.uniform(0.0, 0.6);
    measure.maybe(draw, 0.7, "from", |draw| draw.time(from));
    measure.maybe(draw, 0.4, "to", |draw| {
        let to = from + length * draw.log(1e-3, 0.5);
        draw.time(to)
    });
    measure.maybe(draw, 0.5, "phases", |draw| {
        let mut phases = Table::default();
        for number in 0..draw.between(1, 3) {
            let from = length * draw.uniform(0.0, 0.65);
            let to = from + length * draw.log(1e-3, 0.5);
            let window = vec![draw.time(from), draw.time(to)];
            phases.set(&format!("phase {number}"), window);
        }
        phases.into()
    });
    measure.into()
}

fn record(
    draw: &mut Draw,
    scale: &Scale,
    built: &Fabric,
    listed: &[(String, Option<u64>)],
) -> Value {
    let mut record = Table::default();
    let sampling = |draw: &mut Draw| {
        if draw.chance(0.4) {
            "on-change".into()
        } else {
            scale.interval(draw)
        }
    };
    record.maybe(draw, 0.5, "windows", sampling);
    record.maybe(draw, 0.5, "rtts", sampling);
    record.maybe(draw, 0.5, "rates", |draw| scale.interval(draw));
    record.maybe(draw, 0.5, "suspensions", |draw| draw.chance(0.9).into());
    record.maybe(draw, 0.5, "queues", |draw| scale.interval(draw));
    if record.get("queues").is_some() {
        record.maybe(draw, 0.6, "links", |draw| {
            let one = |draw: &mut Draw| -> Value {
                match draw.between(0, 2) {
                    0 => draw.pick(&built.layers).clone().into(),
                    1 => "all".into(),
                    _ => link(draw, built).into(),
                }
            };
            if draw.chance(0.5) {
                one(draw)
            } else {
                (0..draw.between(1, 3)).map(|_| one(draw)).collect()
            }
        });
    }
    record.maybe(draw, 0.3, "map", |draw| {
        if draw.chance(0.3) {
            "auto".into()
        } else {
            scale.interval(draw)
        }
    });
    record.maybe(draw, 0.3, "packets", |draw| {
        let of = |draw: &mut Draw, (name, flows): &(String, Option<u64>)| {
            let most = flows.unwrap_or(3) - 1;
            Value::from(format!("{name}/{}", draw.between(0, most.min(3))))
        };
        if draw.chance(0.5) {
            let group = draw.pick(listed).clone();
            of(draw, &group)
        } else {
            let groups = draw.some(listed, 1);
            groups.iter().map(|group| of(draw, group)).collect()
        }
    });
    record.into()
}

/// A cable, or one direction of it; now and then all cables between two nodes.
fn link(draw: &mut Draw, built: &Fabric) -> String {
    let up: Vec<usize> = (0..built.links.len())
        .filter(|&link| !built.is_down(LinkId(link as u32)))
        .collect();
    let link = &built.links[*draw.pick(&up)];
    let (from, to) = (&built.node(link.from).name, &built.node(link.to).name);
    let joint = *draw.pick(&["-", "->"]);
    let all_up = || {
        built
            .links_between(link.from, link.to)
            .all(|link| !built.is_down(link))
    };
    let number = if draw.chance(0.1) && all_up() {
        "#*".to_owned()
    } else {
        cable_number(draw, built, link.from, link.to)
    };
    format!("{from}{joint}{to}{number}")
}

/// The number of one of the cables from one node to another that are up, which a single one need not have.
pub fn cable_number(draw: &mut Draw, built: &Fabric, from: NodeId, to: NodeId) -> String {
    let up: Vec<usize> = (1..)
        .zip(built.links_between(from, to))
        .filter(|&(_, link)| !built.is_down(link))
        .map(|(number, _)| number)
        .collect();
    match built.links_between(from, to).count() {
        1 if draw.chance(0.95) => String::new(),
        _ => format!("#{}", draw.pick(&up)),
    }
}

fn events(draw: &mut Draw, scale: &Scale, built: &Fabric) -> Value {
    let mut events: Vec<Value> = Vec::new();
    for _ in 0..draw.between(1, 4) {
        let mut event = Table::default();
        let (key, most) = *draw.pick(&[
            ("link", 3),
            ("link", 3),
            ("link", 3),
            ("node", 2),
            ("layer", 2),
        ]);
        let one = |draw: &mut Draw| -> Value {
            match key {
                "link" => link(draw, built).into(),
                "node" => draw.pick(&built.nodes).name.clone().into(),
                _ => draw.pick(&built.layers).clone().into(),
            }
        };
        if draw.chance(0.8) {
            event.set(key, one(draw));
        } else {
            let subjects: Vec<Value> = (0..draw.between(1, most)).map(|_| one(draw)).collect();
            event.set(key, subjects);
        }
        // An event when the run is over is refused, and a variant or size may end it at 0.6 lengths.
        let at = scale.length * draw.uniform(0.0, 0.5);
        let until = (at + scale.length * draw.log(1e-3, 0.5)).min(scale.length * 0.55);
        let mut end = event.clone();
        let mut must_end = false;
        event.set("at", draw.time(at));
        end.set("at", draw.time(until));
        match draw.between(0, 3) {
            0 => {
                event.set("rate", scale.rate(draw));
                end.set("rate", scale.rate(draw));
            }
            1 | 2 => {
                event.set("down", true);
                end.set("up", true);
                event.maybe(draw, 0.1, "up", |_| false.into());
                end.maybe(draw, 0.1, "down", |_| false.into());
            }
            _ => {
                let loss = *draw.pick(&[0.001, 0.01, 0.1, 0.5, 1.0]);
                event.set("loss", loss);
                end.set("loss", 0.0);
                // With timeouts of minutes, flows that lose half of their packets last longer than times can count.
                must_end = scale.ends && loss == 0.5;
            }
        }
        events.push(event.into());
        if draw.chance(0.6) || must_end {
            events.push(end.into());
        }
    }
    events.into()
}

/// One or two axes of overrides.
fn variants(draw: &mut Draw, scale: &Scale, names: &[String]) -> Value {
    let mut axes = Table::default();
    for axis in 0..draw.between(1, 2) {
        let mut axis_table = Table::default();
        for name in 0..draw.between(1, 2) {
            let mut overrides = Table::default();
            if name > 0 && draw.chance(0.3) {
                overrides.set("like", "name 0");
            }
            let group = draw.pick(names).clone();
            match draw.between(0, 3) {
                0 => {
                    let entries = transport::end_to_end();
                    let entry = *draw.pick(&entries);
                    overrides.set(&format!("traffic.{group}.controller"), entry.name);
                }
                1 => {
                    let at = scale.length * draw.uniform(0.65, 1.0);
                    overrides.set("stop.at", draw.time(at));
                }
                2 => {
                    overrides.set("jitter", "none");
                }
                _ => {
                    overrides.set(&format!("traffic.{group}.enabled"), true);
                }
            }
            axis_table.set(&format!("name {name}"), overrides);
        }
        axes.set(&format!("axis{axis}"), axis_table);
    }
    axes.into()
}
