//! Topology and routing from their tables.

use super::{Problems, graph};
use crate::schema::{FmpTable, LayerDelays, LayerRates, PriceName, RoutingTable, TopologyTable};
use crate::text::{Either, RateText, TimeText};
use pathweave_fabric::Fabric;
use pathweave_fabric::routing::{FmpConfig, FmpPrice, Router, RoutingKind};
use pathweave_fabric::topology::{
    Dumbbell, FatTree, LeafSpine, ParallelPaths, PerLayer, Ring, Star, Topology,
};
use pathweave_units::{Bytes, Time};

/// Fills in the defaults of a fabric and gives its builder.
pub(super) fn topology(table: &mut TopologyTable, problems: &mut Problems<'_>) -> Option<Topology> {
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
        TopologyTable::Ring(t) => {
            let delays = match &t.delay {
                Either::One(delay) => vec![*delay; t.rates.len()],
                Either::Many(delays) => delays.clone(),
            };
            let host_delay = match (t.host_delay, delays.first()) {
                (Some(delay), _) | (None, Some(&delay)) => delay,
                (None, None) => {
                    let text = "delay is an empty list; give one delay for each bottleneck";
                    problems.wrong(&["fabric", "delay"], text);
                    return None;
                }
            };
            t.host_delay = Some(host_delay);
            Topology::Ring(Ring {
                rates: t.rates.iter().map(|rate| rate.0).collect(),
                delays: delays.iter().map(|delay| delay.0).collect(),
                host_rate: t.host_rate.get_or_insert(largest(&t.rates)).0,
                host_delay: host_delay.0,
                background: t.background.clone(),
            })
        }
        TopologyTable::Graph(t) => Topology::Graph(graph::graph(t, problems)?),
        TopologyTable::FatTree(t) => {
            if let Either::One(rate) = t.rate {
                t.rate = Either::Many(LayerRates {
                    rack: rate,
                    aggregation: rate,
                    core: rate,
                });
            }
            if let Either::One(delay) = t.delay {
                t.delay = Either::Many(LayerDelays {
                    rack: delay,
                    aggregation: delay,
                    core: delay,
                });
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

/// Refuses a fabric that is larger than it may be here.
pub(super) fn is_small_enough(topology: &Topology, problems: &mut Problems<'_>) -> bool {
    let size = topology.size();
    let most = problems.largest_fabric.unwrap_or(u64::MAX);
    if size > most {
        problems.wrong(
            &["fabric"],
            format!("the fabric has {size} cables or nodes; at most {most} are accepted here"),
        );
    }
    size <= most
}

fn largest(rates: &[RateText]) -> RateText {
    // An empty list is refused by the builder.
    rates
        .iter()
        .copied()
        .max()
        .unwrap_or(RateText(pathweave_units::Rate::ZERO))
}

/// How long `ecmp` and `spray` take to notice a change of links: the order of failure detection in
/// hardware (BFD with 3 x 3.3 ms).
const DETECTION_DELAY: TimeText = TimeText(Time::from_millis(10));

/// The routing, when the fabric can be routed so. Fills in the defaults.
pub(super) fn routing(
    table: &mut RoutingTable,
    fabric: &Fabric,
    problems: &mut Problems<'_>,
) -> RoutingKind {
    match table {
        RoutingTable::Ecmp(ecmp) => RoutingKind::Ecmp {
            distinct: ecmp.distinct,
            detection_delay: ecmp.detection_delay.get_or_insert(DETECTION_DELAY).0,
        },
        RoutingTable::Spray(spray) => RoutingKind::Spray {
            detection_delay: spray.detection_delay.get_or_insert(DETECTION_DELAY).0,
        },
        RoutingTable::Pinned(_) => RoutingKind::Pinned,
        RoutingTable::Fmp(fmp) => RoutingKind::Fmp(fmp_config(fmp, fabric, problems)),
        RoutingTable::TwoLevel(_) => {
            if let Err(error) = Router::new(fabric, RoutingKind::TwoLevel, 0) {
                problems.wrong(&["routing", "kind"], error.to_string());
            }
            RoutingKind::TwoLevel
        }
    }
}

/// The shortest feedback period: feedback of a large fabric takes some microseconds of every link.
const SHORTEST_PERIOD: Time = Time::from_micros(1);

fn fmp_config(table: &mut FmpTable, fabric: &Fabric, problems: &mut Problems<'_>) -> FmpConfig {
    let given = table.feedback_period;
    let period = given.unwrap_or(TimeText(Time::from_micros(100)));
    table.feedback_period = Some(period);
    let timeout = *table.silence_timeout.get_or_insert(TimeText(period.0 * 3));
    let expiry = *table
        .idle_expiry
        .get_or_insert(TimeText(Time::from_secs(1)));
    if period.0 < SHORTEST_PERIOD {
        problems.wrong(
            &["routing", "feedback_period"],
            format!(
                "the feedback period is {}; give at least {SHORTEST_PERIOD}",
                period.0
            ),
        );
    } else if let Some(shortest) = shortest_period(fabric)
        && period.0 < shortest
    {
        let place: &[&str] = match given {
            Some(_) => &["routing", "feedback_period"],
            None => &["routing", "kind"],
        };
        problems.wrong(
            place,
            format!(
                "feedback in every {} could take more than half of the slowest link between switches; give a feedback_period of at least {shortest}",
                period.0
            ),
        );
    }
    if timeout.0 < period.0 {
        problems.wrong(
            &["routing", "silence_timeout"],
            format!(
                "a neighbour would count as dead before its next feedback; give at least the feedback period, {}",
                period.0
            ),
        );
    }
    FmpConfig {
        price: price(table.price),
        feedback_period: period.0,
        silence_timeout: timeout.0,
        idle_expiry: expiry.0,
    }
}

fn price(name: PriceName) -> FmpPrice {
    match name {
        PriceName::Occupancy => FmpPrice::Occupancy,
        PriceName::AveragedOccupancy => FmpPrice::AveragedOccupancy,
        PriceName::Marks => FmpPrice::Marks,
        PriceName::Utilisation => FmpPrice::Utilisation,
    }
}

/// The feedback period with which the feedback that a switch sends at most, of all other edge switches, takes
/// half of the slowest link between switches.
fn shortest_period(fabric: &Fabric) -> Option<Time> {
    let is_host = |node| fabric.node(node).host_index().is_some();
    let mut edges: Vec<_> = fabric
        .links
        .iter()
        .filter(|link| is_host(link.from) && !is_host(link.to))
        .map(|link| link.to)
        .collect();
    edges.sort_unstable();
    edges.dedup();
    let between = fabric
        .links
        .iter()
        .filter(|link| !is_host(link.from) && !is_host(link.to));
    let slowest = between.map(|link| link.rate).min()?;
    let feedback = Bytes::new(16 + 8 * edges.len() as u64);
    Some(slowest.time_for(feedback) * 2)
}
