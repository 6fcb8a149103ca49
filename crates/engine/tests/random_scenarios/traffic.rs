//! Traffic groups.

use super::draw::{Draw, Table, table};
use super::scale::Scale;
use super::scenario::cable_number;
use super::transport::{self, Base, Transport};
use super::work;
use pathweave_control::Entry;
use pathweave_fabric::routing::{Router, RoutingKind};
use pathweave_fabric::{Fabric, LinkId, NodeId};
use serde_json::Value;
use std::collections::BTreeSet;

/// What groups are drawn for.
pub struct Scene<'a> {
    pub scale: &'a Scale,
    pub built: &'a Fabric,
    pub schema: &'a Value,
    pub transport: &'a Transport,
    /// The kind of routing.
    pub routing: &'a str,
    /// Whether the subflows of a connection must take different paths.
    pub distinct: bool,
    /// The controller for which switches take part, and its table.
    pub scheme: Option<Value>,
    /// Counts the shortest paths between hosts.
    pub router: Router,
}

/// The patterns that are not lists.
const PATTERNS: [&str; 11] = [
    "permutation",
    "random",
    "incast",
    "request-response",
    "poisson",
    "many-to-one",
    "many-to-many",
    "bursts",
    "collective",
    "trace",
    "goal",
];

/// Counts the shortest paths between hosts.
pub fn shortest_paths(built: &Fabric) -> Router {
    Router::new(built, RoutingKind::ecmp(true), 0).expect("a fabric with routes")
}

impl Scene<'_> {
    pub fn hosts(&self) -> u32 {
        self.built.hosts.len() as u32
    }

    pub fn host(&self, host: u32) -> String {
        self.built.host(host).name.clone()
    }

    /// Hosts that all reach each other, in random order: as many as there are beside the first one.
    fn peers(&self, draw: &mut Draw) -> Vec<u32> {
        let reachability = self.built.reachability();
        let joined = |a: u32, b: u32| reachability.between(a, b) && reachability.between(b, a);
        loop {
            let all: Vec<u32> = (0..self.hosts()).collect();
            let mut peers: Vec<u32> = Vec::new();
            for host in draw.some(&all, all.len()) {
                if peers.iter().all(|&peer| joined(peer, host)) {
                    peers.push(host);
                }
            }
            if peers.len() > 1 {
                return peers;
            }
        }
    }

    fn paths(&self, from: u32, to: u32) -> u64 {
        self.router.path_count(from, to)
    }

    fn controller(&self, draw: &mut Draw, subflows: u64) -> Value {
        match &self.scheme {
            Some(scheme) if draw.chance(0.7) => scheme.clone(),
            _ => {
                let entries: Vec<&'static Entry> = transport::end_to_end();
                transport::controller(draw, &entries, subflows)
            }
        }
    }
}

/// A group and the number of flows that it lists, if it does.
pub fn group(draw: &mut Draw, scene: &Scene<'_>, name: &str) -> (Value, Option<u64>) {
    let mut group = table("name", name);
    let pattern = if scene.routing == "pinned" || draw.chance(0.3) {
        "flows"
    } else {
        *draw.pick(&PATTERNS)
    };
    group.set("pattern", pattern);
    let most = if scene.distinct {
        let hosts = 0..scene.hosts();
        let pairs = hosts
            .clone()
            .flat_map(|a| hosts.clone().map(move |b| (a, b)));
        let different = pairs.filter(|(a, b)| a != b);
        different.map(|(a, b)| scene.paths(a, b)).max().unwrap_or(1)
    } else {
        8
    };
    let subflows = if draw.chance(0.5) {
        let subflows = draw.log_integer(1, most.min(8));
        group.set("subflows", subflows);
        subflows
    } else {
        1
    };
    let sized = !["incast", "request-response", "collective", "trace", "goal"].contains(&pattern);
    let controlled_by_flows = pattern == "flows" && draw.chance(0.2);
    if !controlled_by_flows {
        group.set("controller", scene.controller(draw, subflows));
    }
    if sized && !controlled_by_flows {
        let ends = scene.scale.ends || pattern == "poisson";
        group.set("size", size(draw, scene.scale, ends));
    }
    let mut own = transport_of(draw, scene);
    if let Some(packets) = packets(draw, &own, scene.scale) {
        group.set("packets", packets);
    } else if !scene.scale.ends && draw.chance(0.1) {
        group.set("rate", scene.scale.rate(draw));
        group.maybe(draw, 0.5, "write", |draw| {
            let bytes = draw.log(100.0, 100e3);
            draw.bytes(bytes)
        });
    }
    if !own.table.is_empty() {
        group.set("transport", std::mem::take(&mut own.table));
    }
    let length = scene.scale.length;
    let mut start = 0.0;
    if pattern != "flows" && draw.chance(0.3) {
        start = length * draw.uniform(0.0, 0.7);
        group.set("start", draw.time(start));
    }
    group.maybe(draw, 0.3, "stop", |draw| {
        let stop = start + length * draw.log(0.01, 0.7);
        draw.time(stop)
    });
    group.maybe(draw, 0.1, "enabled", |_| true.into());
    let listed = if pattern == "flows" {
        Some(flows(
            draw,
            scene,
            &mut group,
            controlled_by_flows,
            subflows,
        ))
    } else {
        let peers = scene.peers(draw);
        self::pattern(draw, scene, pattern, &peers, &mut group);
        None
    };
    (group.into(), listed)
}

fn transport_of(draw: &mut Draw, scene: &Scene<'_>) -> Transport {
    if draw.chance(0.3) {
        return transport::transport(draw, scene.scale, scene.schema, Base::Of(scene.transport));
    }
    Transport {
        table: Table::default(),
        maximum_segment: scene.transport.maximum_segment,
        data_packet: scene.transport.data_packet,
    }
}

/// Sizes of data packets that a transport can have.
fn packets(draw: &mut Draw, transport: &Transport, scale: &Scale) -> Option<Value> {
    let overhead = transport.data_packet - transport.maximum_segment;
    let most = transport.data_packet;
    // As for the largest segments: a run that only ends with its last byte has to get there.
    let least = (overhead + if scale.ends { 200 } else { 1 }).min(most);
    if !draw.chance(0.15) {
        return None;
    }
    let size = |draw: &mut Draw| draw.log_integer(least, most);
    Some(match draw.between(0, 3) {
        0 => format!("{} B", size(draw)).into(),
        1 => {
            let mut packets = table("kind", "fixed");
            packets.set("bytes", format!("{} B", size(draw)));
            packets.into()
        }
        // The file's packets have 100 to 1500 B.
        2 if overhead < 100 && most >= 1500 => {
            let mut packets = table("kind", "cdf");
            packets.set("file", "packets.csv");
            packets.into()
        }
        _ => {
            let mut packets = table("kind", "cdf");
            packets.set("points", points(draw, least, most));
            packets.into()
        }
    })
}

/// Points of a distribution between two sizes.
fn points(draw: &mut Draw, least: u64, most: u64) -> Value {
    let mut sizes: Vec<u64> = (0..draw.between(1, 5))
        .map(|_| draw.log_integer(least, most))
        .collect();
    sizes.sort_unstable();
    let count = sizes.len();
    let each = sizes.into_iter().enumerate();
    each.map(|(at, size)| serde_json::json!([size as f64, (at + 1) as f64 / count as f64]))
        .collect()
}

/// How much a flow sends.
fn size(draw: &mut Draw, scale: &Scale, ends: bool) -> Value {
    let bytes = |draw: &mut Draw| (scale.bytes() * draw.log(0.01, 1.0)).max(1.0);
    let kinds = [
        "text",
        "text",
        "fixed",
        "uniform",
        "pareto",
        "cdf",
        "tiny",
        "unlimited",
    ];
    let kind = *draw.pick(&kinds[..if ends { 7 } else { 8 }]);
    if kind == "unlimited" && draw.chance(0.7) {
        return kind.into();
    }
    if kind == "text" || kind == "tiny" {
        let bytes = if kind == "text" {
            bytes(draw)
        } else {
            draw.log(1.0, 3000.0)
        };
        return draw.bytes(bytes);
    }
    let mut size = table("kind", kind);
    match kind {
        "fixed" => {
            let bytes = bytes(draw);
            size.set("bytes", draw.bytes(bytes));
        }
        "uniform" => {
            let least = bytes(draw).trunc();
            let most = least * draw.uniform(1.0, 10.0);
            size.set("min", format!("{least} B"));
            size.set("max", format!("{} B", most.trunc()));
        }
        "pareto" => {
            let mean = bytes(draw).max(100.0).trunc();
            size.set("shape", draw.number(1.05, 3.0));
            size.set("mean", format!("{mean} B"));
            size.maybe(draw, 0.7, "maximum", |draw| {
                let most = mean * draw.log(2.0, 100.0);
                draw.bytes(most)
            });
            if size.get("maximum").is_some() {
                size.maybe(draw, 0.6, "beyond", |draw| {
                    (*draw.pick(&["redraw", "clip"])).into()
                });
            }
        }
        "cdf" => match draw.between(0, 2) {
            0 => {
                let names = [
                    "web-search",
                    "data-mining",
                    "hadoop",
                    "cache-follower",
                    "memcached-etc",
                ];
                size.set("name", *draw.pick(&names));
            }
            1 => {
                size.set("file", "cdf.csv");
            }
            _ => {
                let most = bytes(draw).max(2.0) as u64;
                size.set("points", points(draw, 1, most));
            }
        },
        _ => {}
    }
    size.into()
}

/// Some of these hosts: by name, as a list, as a range, or all. `least` is the smallest number that makes
/// sense.
fn hosts(draw: &mut Draw, scene: &Scene<'_>, peers: &[u32], least: usize) -> Value {
    let complete = peers.len() == scene.hosts() as usize;
    match draw.between(0, 3) {
        0 if complete => "all".into(),
        1 if least == 1 => scene.host(*draw.pick(peers)).into(),
        2 if complete && scene.host(0) == "h0" => {
            let last = draw.between(least.max(2) as u64 - 1, peers.len() as u64 - 1);
            let range = format!("h0..h{last}");
            if draw.chance(0.5) {
                range.into()
            } else {
                vec![range].into()
            }
        }
        _ => {
            let some = draw.some(peers, least);
            some.into_iter()
                .map(|host| Value::from(scene.host(host)))
                .collect()
        }
    }
}

/// The keys of a pattern that is not a list.
fn pattern(draw: &mut Draw, scene: &Scene<'_>, pattern: &str, peers: &[u32], group: &mut Table) {
    let length = scene.scale.length;
    let complete = peers.len() == scene.hosts() as usize;
    // Where not all hosts reach each other, those that do are named.
    let named = |draw: &mut Draw, group: &mut Table, key: &str, least: usize| {
        if !complete || draw.chance(0.4) {
            group.set(key, hosts(draw, scene, peers, least));
        }
    };
    let different_racks = |draw: &mut Draw, group: &mut Table| {
        let racks: BTreeSet<u32> = peers
            .iter()
            .map(|&host| scene.built.host(host).rack)
            .collect();
        if complete && racks.len() > 1 && draw.chance(0.3) {
            group.set("different_racks", true);
        } else {
            named(draw, group, "sources", 1);
            named(draw, group, "destinations", 2);
            group.maybe(draw, 0.3, "different_racks", |_| false.into());
        }
    };
    let shared_pairs = |draw: &mut Draw, group: &mut Table| {
        let (permutation, count) = if complete && draw.chance(0.5) {
            (Value::from("all"), peers.len() as u64)
        } else {
            let hosts = draw.some(peers, 2);
            let names = hosts.iter().map(|&host| Value::from(scene.host(host)));
            (names.collect(), hosts.len() as u64)
        };
        let first = draw.between(0, count - 1);
        let mut pairs = table("permutation", permutation);
        pairs.set("part", vec![first, draw.between(first + 1, count)]);
        group.set("pairs", pairs);
    };
    let towards_one = |draw: &mut Draw, group: &mut Table| {
        let destination = *draw.pick(peers);
        group.set("destination", scene.host(destination));
        if !complete || draw.chance(0.3) {
            let others: Vec<u32> = peers
                .iter()
                .copied()
                .filter(|&host| host != destination)
                .collect();
            let sources = draw.some(&others, 1);
            let names: Vec<Value> = sources
                .iter()
                .map(|&host| scene.host(host).into())
                .collect();
            group.set("sources", names);
            return sources.len() as u64;
        }
        group.maybe(draw, 0.3, "sources", |_| "all".into());
        peers.len() as u64 - 1
    };
    let finite = if scene.scale.ends { 1.0 } else { 0.3 };
    match pattern {
        "permutation" => {
            if draw.chance(0.2) {
                shared_pairs(draw, group);
            } else {
                named(draw, group, "hosts", 2);
            }
            group.maybe(draw, finite, "rounds", |draw| draw.between(1, 3).into());
        }
        "random" => {
            different_racks(draw, group);
            group.maybe(draw, 0.3, "max_inbound", |draw| draw.between(1, 4).into());
            group.maybe(draw, 0.3, "flows_per_host", |draw| {
                draw.between(1, 3).into()
            });
        }
        "incast" => {
            let mut most = peers.len() as u64 - 1;
            if !complete || draw.chance(0.4) {
                let hosts = draw.some(peers, 2);
                let names: Vec<Value> = hosts.iter().map(|&host| scene.host(host).into()).collect();
                group.set("hosts", names);
                most = hosts.len() as u64 - 1;
            } else {
                group.maybe(draw, 0.3, "hosts", |_| "all".into());
            }
            group.set("servers", draw.between(1, most.min(8)));
            match draw.between(0, 3) {
                0 => {
                    let jobs = draw.log(1.0, 30.0) / length;
                    group.set("jobs_per_second", jobs);
                }
                1 => {
                    group.set("load", draw.number(0.05, 1.5));
                    group.maybe(draw, 0.5, "load_counts", |draw| {
                        (*draw.pick(&["payload", "wire"])).into()
                    });
                    group.set("layer", draw.pick(&scene.built.layers).clone());
                }
                _ => {
                    group.maybe(draw, 0.8, "jobs", |draw| draw.between(1, 4).into());
                }
            }
            group.maybe(draw, 0.5, "request", |draw| {
                if draw.chance(0.2) {
                    return "0 B".into();
                }
                let bytes = draw.log(1.0, 10e3);
                draw.bytes(bytes)
            });
            // Small jobs at a load would be as many as packets.
            let least = if group.get("load").is_some() {
                scene.scale.bytes() * 0.02
            } else {
                1.0
            };
            group.maybe(draw, 0.5, "response", |draw| {
                let bytes = draw.log(least, 300e3_f64.max(least * 2.0));
                draw.bytes(bytes)
            });
        }
        "request-response" => {
            named(draw, group, "clients", 1);
            named(draw, group, "servers", 2);
            group.maybe(draw, 0.3, "outstanding", |draw| draw.between(1, 3).into());
            for (key, most) in [("request", 10e3), ("response", 100e3)] {
                group.maybe(draw, 0.6, key, |draw| {
                    let bytes = draw.log(1.0, most);
                    draw.bytes(bytes)
                });
            }
            for key in ["service_time", "think_time"] {
                group.maybe(draw, 0.5, key, |draw| {
                    let least = length * draw.log(1e-3, 0.1);
                    let (least, most) = (draw.time(least), draw.time(least * 2.0));
                    match (least.as_str(), most.as_str()) {
                        (Some(least), Some(most)) if draw.chance(0.5) => {
                            format!("{least}..{most}").into()
                        }
                        _ => least,
                    }
                });
            }
            group.maybe(draw, finite, "count", |draw| draw.log_integer(1, 60).into());
        }
        "poisson" => {
            if draw.chance(0.2) {
                shared_pairs(draw, group);
            } else {
                different_racks(draw, group);
            }
            let flows = draw.log(1.0, 100.0) / length;
            match draw.between(0, 2) {
                0 => group.set("flows_per_second", flows),
                1 => group.set("flows_per_second_per_source", flows / peers.len() as f64),
                _ => {
                    // Small flows would be as many as packets.
                    let bytes = scene.scale.bytes() * draw.log(0.02, 0.5);
                    group.set("size", draw.bytes(bytes.max(2000.0)));
                    group.set("load", draw.number(0.05, 1.5));
                    group.maybe(draw, 0.5, "load_counts", |draw| {
                        (*draw.pick(&["payload", "wire"])).into()
                    });
                    group.set("layer", draw.pick(&scene.built.layers).clone())
                }
            };
            group.maybe(draw, finite, "count", |draw| {
                draw.log_integer(1, 100).into()
            });
        }
        "many-to-one" => {
            let sources = towards_one(draw, group);
            group.set("concurrency", draw.between(1, sources.min(8)));
            group.maybe(draw, 0.5, "gap", |draw| {
                let gap = length * draw.log(1e-3, 0.3);
                draw.time(gap)
            });
            group.maybe(draw, finite, "count", |draw| draw.log_integer(1, 30).into());
        }
        "many-to-many" => {
            named(draw, group, "sources", 1);
            named(draw, group, "destinations", 2);
            let gap = length * draw.log(0.01, 0.3);
            group.set("gap", draw.time(gap));
            group.maybe(draw, finite, "count", |draw| draw.log_integer(1, 30).into());
        }
        "collective" => work::collective(draw, scene, peers, group),
        "trace" => work::trace(draw, scene, peers, group),
        "goal" => work::goal(draw, scene, peers, group),
        _ => {
            towards_one(draw, group);
            group.set("flows", draw.between(1, 8));
            let period = length * draw.log(0.02, 0.5);
            group.maybe(draw, 0.5, "spacing", |draw| {
                let spacing = period * draw.log(1e-3, 0.1);
                draw.time(spacing)
            });
            group.set("period", draw.time(period));
            group.maybe(draw, finite, "bursts", |draw| draw.between(1, 4).into());
        }
    }
}

/// The flows of a list, and how many there are. Each has all that the group leaves out.
fn flows(
    draw: &mut Draw,
    scene: &Scene<'_>,
    group: &mut Table,
    bare: bool,
    group_subflows: u64,
) -> u64 {
    let count = draw.between(1, 4);
    let length = scene.scale.length;
    let mut flows = Vec::new();
    for number in 0..count {
        let mut flow = Table::default();
        let peers = scene.peers(draw);
        let (from, to) = (peers[0], peers[1]);
        flow.set("from", scene.host(from)).set("to", scene.host(to));
        flow.maybe(draw, 0.4, "name", |_| format!("number {number}").into());
        let own = if bare { 1.0 } else { 0.2 };
        flow.maybe(draw, own, "size", |draw| {
            size(draw, scene.scale, scene.scale.ends)
        });
        flow.maybe(draw, own, "controller", |draw| {
            scene.controller(draw, group_subflows)
        });
        let mut start = 0.0;
        if draw.chance(0.4) {
            start = length * draw.uniform(0.0, 0.6);
            flow.set("start", draw.time(start));
        }
        flow.maybe(draw, 0.25, "stop", |draw| {
            let stop = start + length * draw.log(0.01, 0.7);
            draw.time(stop)
        });
        let available = scene.paths(from, to);
        let most = if scene.distinct { available.min(6) } else { 6 };
        let mut subflows = group_subflows;
        if subflows > most || draw.chance(0.3) {
            subflows = draw.log_integer(1, most);
            flow.set("subflows", subflows);
        }
        if draw.chance(0.15) {
            let starts = (0..subflows).map(|_| {
                let at = start + length * draw.uniform(0.001, 0.3);
                draw.time(at)
            });
            flow.set("subflow_starts", starts.collect::<Vec<Value>>());
        }
        let must = scene.routing == "pinned" && available != 1;
        if must || draw.chance(0.15) {
            let paths = if draw.chance(0.3) { 1 } else { subflows };
            let paths: Vec<Value> = (0..paths).map(|_| path(draw, scene, from, to)).collect();
            flow.set("paths", paths);
            if draw.chance(0.4) {
                let back = if draw.chance(0.3) { 1 } else { subflows };
                let back = (0..back).map(|_| path(draw, scene, to, from));
                let back: Vec<Value> = back.collect();
                flow.set("ack_paths", back);
            }
            if !flow.get("subflows").is_some_and(|own| *own == subflows) {
                flow.set("subflows", subflows);
            }
        }
        flows.push(Value::from(flow));
    }
    group.set("flows", flows);
    count
}

/// The switches of a path without loops between two hosts, the hosts themselves left out or not.
fn path(draw: &mut Draw, scene: &Scene<'_>, from: u32, to: u32) -> Value {
    let built = scene.built;
    let (from, to) = (built.hosts[from as usize], built.hosts[to as usize]);
    loop {
        // A walk that does not come back to where it was; where it ends blind, another is tried.
        let mut walk = vec![from];
        while let Some(&last) = walk.last() {
            if last == to {
                let hosts_too = draw.chance(0.3);
                let inner = if hosts_too {
                    0..walk.len()
                } else {
                    1..walk.len() - 1
                };
                let name = |place: usize| {
                    let node = walk[place];
                    let name = &built.node(node).name;
                    match place.checked_sub(1) {
                        Some(before) => {
                            let number = cable_number(draw, built, walk[before], node);
                            Value::from(format!("{name}{number}"))
                        }
                        None => Value::from(name.clone()),
                    }
                };
                return inner.map(name).collect();
            }
            let up = (0u32..).zip(&built.links);
            let next: Vec<NodeId> = up
                .filter(|&(id, _)| !built.is_down(LinkId(id)))
                .map(|(_, link)| link)
                .filter(|link| link.from == last && !walk.contains(&link.to))
                .map(|link| link.to)
                .filter(|&node| node == to || built.node(node).host_index().is_none())
                .collect();
            if next.is_empty() {
                break;
            }
            walk.push(*draw.pick(&next));
        }
    }
}
