//! Topology and routing from their tables.

use super::Report;
use super::hosts::expand;
use crate::schema::{
    CableTable, GraphNodeTable, LayerDelays, LayerRates, RoutingTable, TopologyTable,
};
use crate::text::{DelayText, Either, RateText};
use pathweave_fabric::Fabric;
use pathweave_fabric::routing::{Router, RoutingKind};
use pathweave_fabric::topology::{
    Dumbbell, FatTree, Graph, GraphCable, GraphNode, LeafSpine, ParallelPaths, PerLayer, Ring,
    Star, Topology,
};

/// Fills in the defaults of a fabric and gives its builder.
pub(super) fn topology(table: &mut TopologyTable, report: &mut Report<'_>) -> Option<Topology> {
    Some(match table {
        TopologyTable::Dumbbell(t) => Topology::Dumbbell(Dumbbell {
            left: t.left,
            right: *t.right.get_or_insert(t.left),
            host_rate: t.host_rate.get_or_insert(t.bottleneck_rate).0,
            bottleneck_rate: t.bottleneck_rate.0,
            host_delay: t.host_delay.get_or_insert(t.bottleneck_delay).0,
            bottleneck_delay: t.bottleneck_delay.0,
        }),
        TopologyTable::Star(t) => Topology::Star(Star {
            senders: t.senders,
            rate: t.rate.0,
            receiver_rate: Some(t.receiver_rate.get_or_insert(t.rate).0),
            delay: t.delay.0,
        }),
        TopologyTable::ParallelPaths(t) => {
            let delays = match &t.delays {
                Either::One(delay) => vec![*delay; t.rates.len()],
                Either::Many(delays) => delays.clone(),
            };
            t.delays = Either::Many(delays.clone());
            Topology::ParallelPaths(ParallelPaths {
                pairs: t.pairs,
                rates: t.rates.iter().map(|rate| rate.0).collect(),
                delays: delays.iter().map(|delay| delay.0).collect(),
                host_rate: t.host_rate.get_or_insert(largest(&t.rates)).0,
                host_delay: t.host_delay.0,
            })
        }
        TopologyTable::Ring(t) => Topology::Ring(Ring {
            rates: t.rates.iter().map(|rate| rate.0).collect(),
            delay: t.delay.0,
            host_rate: t.host_rate.get_or_insert(largest(&t.rates)).0,
            host_delay: t.host_delay.get_or_insert(t.delay).0,
            background: t.background.clone(),
        }),
        TopologyTable::Graph(t) => {
            let before = report.problems.len();
            let mut nodes = graph_nodes(&mut t.hosts, "hosts", true, report);
            nodes.extend(graph_nodes(&mut t.switches, "switches", false, report));
            let known = |name: &str| nodes.iter().any(|node| node.name == name);
            let mut cables = Vec::new();
            for (index, cable) in t.cables.iter_mut().enumerate() {
                if let Some(cable) = graph_cable(cable, index, t.rate, t.delay, &known, report) {
                    cables.push(cable);
                }
            }
            t.rate = None;
            t.delay = None;
            if report.problems.len() > before {
                return None;
            }
            Topology::Graph(Graph { nodes, cables })
        }
        TopologyTable::FatTree(t) => {
            if let Either::One(rate) = t.rate {
                t.rate = Either::Many(LayerRates { rack: rate, aggregation: rate, core: rate });
            }
            if let Either::One(delay) = t.delay {
                t.delay =
                    Either::Many(LayerDelays { rack: delay, aggregation: delay, core: delay });
            }
            let (Either::Many(rate), Either::Many(delay)) = (&t.rate, &t.delay) else {
                return None; // both were just spread over the layers
            };
            Topology::FatTree(FatTree {
                k: t.k,
                hosts_per_edge: Some(*t.hosts_per_edge.get_or_insert(t.k / 2)),
                rate: PerLayer {
                    rack: rate.rack.0,
                    aggregation: rate.aggregation.0,
                    core: rate.core.0,
                },
                delay: PerLayer {
                    rack: delay.rack.0,
                    aggregation: delay.aggregation.0,
                    core: delay.core.0,
                },
            })
        }
        TopologyTable::LeafSpine(t) => Topology::LeafSpine(LeafSpine {
            leaves: t.leaves,
            spines: t.spines,
            hosts_per_leaf: t.hosts_per_leaf,
            host_rate: t.host_rate.0,
            uplink_rate: t.uplink_rate.get_or_insert(t.host_rate).0,
            host_delay: t.host_delay.0,
            uplink_delay: t.uplink_delay.get_or_insert(t.host_delay).0,
        }),
    })
}

fn largest(rates: &[RateText]) -> RateText {
    // An empty list is refused by the builder.
    rates.iter().copied().max().unwrap_or(RateText(pathweave_units::Rate::ZERO))
}

/// The nodes of a graph; ranges are written out.
fn graph_nodes(
    list: &mut Vec<Either<String, GraphNodeTable>>,
    key: &str,
    host: bool,
    report: &mut Report<'_>,
) -> Vec<GraphNode> {
    let mut tables = Vec::new();
    for (index, node) in list.iter().enumerate() {
        let table = match node {
            Either::One(name) => GraphNodeTable { name: name.clone(), rack: None, pod: None },
            Either::Many(table) => table.clone(),
        };
        match expand(&table.name) {
            Ok(names) => {
                tables.extend(names.into_iter().map(|name| GraphNodeTable { name, ..table }));
            }
            Err(text) => report.wrong(&["fabric", key, &index.to_string()], text),
        }
    }
    let node = |table: &GraphNodeTable| GraphNode {
        name: table.name.clone(),
        host,
        rack: table.rack,
        pod: table.pod,
    };
    let nodes = tables.iter().map(node).collect();
    *list = tables.into_iter().map(Either::Many).collect();
    nodes
}

fn graph_cable(
    cable: &mut Either<String, CableTable>,
    index: usize,
    rate: Option<RateText>,
    delay: Option<DelayText>,
    known: &impl Fn(&str) -> bool,
    report: &mut Report<'_>,
) -> Option<GraphCable> {
    let at = index.to_string();
    let mut table = match cable {
        Either::One(link) => CableTable { link: link.clone(), rate: None, delay: None, layer: None },
        Either::Many(table) => table.clone(),
    };
    let steps = ["fabric", "cables", &at, "link"];
    let ends = super::links::split_cable(&table.link, known);
    let (a, b) = match ends {
        Ok((a, b)) => (a.to_owned(), b.to_owned()),
        Err(text) => {
            report.wrong(&steps, text);
            return None;
        }
    };
    let (Some(rate), Some(delay)) = (table.rate.or(rate), table.delay.or(delay)) else {
        report.wrong(
            &steps[..3],
            format!(
                "cable \"{}\" has no rate or no delay; give it one, or give fabric.rate and fabric.delay for all",
                table.link
            ),
        );
        return None;
    };
    table.rate = Some(rate);
    table.delay = Some(delay);
    let layer = table.layer.get_or_insert_with(|| "link".to_owned()).clone();
    *cable = Either::Many(table);
    Some(GraphCable { a, b, rate: rate.0, delay: delay.0, layer: Some(layer) })
}

/// The routing, when the fabric can be routed so.
pub(super) fn routing(
    table: &RoutingTable,
    fabric: &Fabric,
    report: &mut Report<'_>,
) -> RoutingKind {
    match table {
        RoutingTable::Ecmp(ecmp) => RoutingKind::Ecmp { distinct: ecmp.distinct },
        RoutingTable::Pinned(_) => RoutingKind::Pinned,
        RoutingTable::TwoLevel(_) => {
            if let Err(error) = Router::new(fabric, RoutingKind::TwoLevel, 0) {
                report.wrong(&["routing", "kind"], error.to_string());
            }
            RoutingKind::TwoLevel
        }
    }
}
