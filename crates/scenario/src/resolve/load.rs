//! What capacity a load is a share of.
//!
//! Load is the mean utilisation that a group's flows offer to the links of a layer that they can use:
//! with a flow crossing n links of the layer on average, and C the sum of the rates of all its links
//! that some flow can cross, a rate of F bytes per second from all flows gives 8 F n / C. F is payload, or with
//! `load_counts = "wire"` payload, headers and ACKs.

use super::reach::Pairs;
use super::{Problems, Scene};
use crate::suggest;
use pathweave_fabric::routing::{PathRequest, Router, RoutingKind};
use pathweave_fabric::{Fabric, LinkId};
use pathweave_traffic::patterns::Arrivals;
use pathweave_transport::Config;
use pathweave_units::Rate;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Up to this many pairs of hosts each is looked at by itself.
const EXACT_PAIRS: usize = 20_000;

/// Paths of one pair of hosts that are looked at, and of all pairs of racks together.
const MOST_PATHS: u64 = 4096;
const ALL_PATHS: u64 = 200_000;

/// Paths on which a host's own cables are looked for.
const HOST_PATHS: u64 = 64;

pub(crate) fn load(
    load: f64,
    layer: Option<&str>,
    pairs: &Pairs,
    steps: &[&str],
    scene: &Scene<'_>,
    problems: &mut Problems<'_>,
) -> Option<Arrivals> {
    let at = |key| [steps, &[key]].concat();
    if !(load.is_finite() && load > 0.0 && load <= 100.0) {
        problems.wrong(
            &at("load"),
            format!("load is {load}; expected a number above 0, where 1 fills the layer"),
        );
        return None;
    }
    let fabric = scene.fabric;
    let layers: Vec<&str> = fabric.layers.iter().map(String::as_str).collect();
    let Some(name) = layer else {
        problems.wrong(
            &at("load"),
            format!(
                "load needs a layer that it is a share of; add layer = one of: {}",
                suggest::list(&layers)
            ),
        );
        return None;
    };
    let Some(layer) = layers.iter().position(|known| *known == name) else {
        problems.wrong(
            &at("layer"),
            format!(
                "this fabric has no layer \"{name}\"; {}",
                suggest::accepted(name, &layers)
            ),
        );
        return None;
    };
    let mut counting = Counting::new(fabric, layer)?;
    if pairs.sources.len().saturating_mul(pairs.destinations.len()) <= EXACT_PAIRS {
        for (source, destination) in pairs.each(fabric) {
            counting.look(source, destination, 1, MOST_PATHS);
        }
    } else {
        counting.by_racks(pairs);
    }
    let Counting {
        flows,
        crossings,
        used,
        ..
    } = counting;
    if crossings == 0 {
        problems.wrong(
            &at("layer"),
            format!(
                "no flow of this group crosses a link of layer \"{name}\"; give another of: {}",
                suggest::list(&layers)
            ),
        );
        return None;
    }
    let capacity: u128 = used
        .iter()
        .map(|&link| u128::from(fabric.link(link).rate.as_bps()))
        .sum();
    let capacity = capacity as f64 * flows as f64 / crossings as f64;
    Some(Arrivals::Load {
        load,
        capacity: Rate::from_bps(capacity as u64),
    })
}

/// The same load, if it counts what data packets and ACKs of these settings take on the wire: less payload fills the layer.
pub(super) fn on_the_wire(arrivals: &mut Arrivals, config: &Config) {
    if let Arrivals::Load { capacity, .. } = arrivals {
        *capacity = Rate::from_bps((capacity.as_bps() as f64 / config.wire_per_payload()) as u64);
    }
}

/// How often flows cross a layer, and which of its links they can use.
struct Counting<'a> {
    fabric: &'a Fabric,
    layer: usize,
    /// Distinct paths enumerate what a hash would choose from.
    router: Router,
    flows: u64,
    crossings: u64,
    used: HashSet<LinkId>,
    path: Vec<LinkId>,
}

impl<'a> Counting<'a> {
    fn new(fabric: &'a Fabric, layer: usize) -> Option<Counting<'a>> {
        // Links that are down count: the same load is the same traffic with and without them.
        let kind = RoutingKind::ecmp(true);
        let router = match fabric.down.is_empty() {
            true => Router::new(fabric, kind, 0),
            false => {
                let intact = Fabric {
                    down: BTreeSet::new(),
                    ..fabric.clone()
                };
                Router::new(&intact, kind, 0)
            }
        };
        let router = router.ok()?;
        let (used, path) = (HashSet::new(), Vec::new());
        Some(Counting {
            fabric,
            layer,
            router,
            flows: 0,
            crossings: 0,
            used,
            path,
        })
    }

    /// Looks at up to `most` paths between two hosts, which stand for `flows` flows.
    fn look(&mut self, source: u32, destination: u32, flows: u64, most: u64) {
        let count = self.router.path_count(source, destination).min(most);
        for subflow in 0..count {
            let request = PathRequest {
                source,
                destination,
                connection: 0,
                subflow: subflow as u32,
                pinned: None,
            };
            self.router.data_path(&request, &mut self.path);
            let (fabric, layer) = (self.fabric, self.layer);
            let in_layer = |link: &LinkId| usize::from(fabric.link(*link).layer.0) == layer;
            if subflow == 0 {
                let crossed = self.path.iter().filter(|link| in_layer(link)).count() as u64;
                self.crossings += crossed * flows;
            }
            self.used.extend(self.path.iter().copied().filter(in_layer));
        }
        self.flows += flows;
    }

    /// In a large fabric the hosts of a rack count as alike but for their own cables: between two
    /// racks one pair stands for all, and every host is looked at once at either end.
    fn by_racks(&mut self, pairs: &Pairs) {
        let fabric = self.fabric;
        let racks = |hosts: &[u32]| {
            let mut racks: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for &host in hosts {
                racks.entry(fabric.host(host).rack).or_default().push(host);
            }
            racks
        };
        let (sources, destinations) = (racks(&pairs.sources), racks(&pairs.destinations));
        let most = (ALL_PATHS / (sources.len() * destinations.len()) as u64).clamp(1, MOST_PATHS);
        let receiving: HashSet<&u32> = pairs.destinations.iter().collect();
        let (mut seen_sources, mut seen_destinations) = (HashSet::new(), HashSet::new());
        for (from_rack, from) in &sources {
            for (to_rack, to) in &destinations {
                let same = from_rack == to_rack;
                if same && pairs.different_racks {
                    continue;
                }
                let both = if same {
                    from.iter().filter(|host| receiving.contains(host)).count()
                } else {
                    0
                };
                let flows = (from.len() * to.len() - both) as u64;
                let other = |host: u32, side: &[u32]| side.iter().copied().find(|&b| b != host);
                let pair = from.iter().find_map(|&a| Some((a, other(a, to)?)));
                let Some((source, destination)) = pair else {
                    continue;
                };
                self.look(source, destination, flows, most);
                for (seen, side, opposite, swap) in [
                    (&mut seen_sources, from, to, false),
                    (&mut seen_destinations, to, from, true),
                ] {
                    if !seen.insert(if swap { to_rack } else { from_rack }) {
                        continue;
                    }
                    for &host in side {
                        if let Some(peer) = other(host, opposite) {
                            let (a, b) = if swap { (peer, host) } else { (host, peer) };
                            self.look(a, b, 0, HOST_PATHS);
                        }
                    }
                }
            }
        }
    }
}
