//! What capacity a load is a share of.
//!
//! Load is the mean utilisation that a group's flows offer to the links of a layer that they can use:
//! with a flow crossing n links of the layer on average, and C the sum of the rates of all its links
//! that some flow can cross, a rate of F bytes per second from all flows gives 8 F n / C.

use super::reach::Pairs;
use super::{Report, Scene};
use crate::suggest;
use pathweave_fabric::LinkId;
use pathweave_fabric::routing::{PathRequest, Router, RoutingKind};
use pathweave_traffic::patterns::Arrivals;
use pathweave_units::Rate;
use std::collections::HashSet;

/// Paths between two racks that are looked at.
const MOST_PATHS: u64 = 4096;

pub(super) fn load(
    load: f64,
    layer: Option<&str>,
    pairs: &Pairs,
    steps: &[&str],
    scene: &Scene<'_>,
    report: &mut Report<'_>,
) -> Option<Arrivals> {
    let at = |key| [steps, &[key]].concat();
    if !(load.is_finite() && load > 0.0 && load <= 100.0) {
        report.wrong(
            &at("load"),
            format!("load is {load}; expected a number above 0, where 1 fills the layer"),
        );
        return None;
    }
    let fabric = scene.fabric;
    let layers: Vec<&str> = fabric.layers.iter().map(String::as_str).collect();
    let Some(name) = layer else {
        report.wrong(
            &at("load"),
            format!(
                "load needs a layer that it is a share of; add layer = one of: {}",
                suggest::list(&layers)
            ),
        );
        return None;
    };
    let Some(layer) = layers.iter().position(|known| *known == name) else {
        report.wrong(
            &at("layer"),
            format!(
                "this fabric has no layer \"{name}\"; {}",
                suggest::accepted(name, &layers)
            ),
        );
        return None;
    };
    // Distinct paths enumerate what a hash would choose from.
    let router = Router::new(fabric, RoutingKind::Ecmp { distinct: true }, 0).ok()?;
    let in_layer = |link: &LinkId| usize::from(fabric.link(*link).layer.0) == layer;
    let (mut flows, mut crossings) = (0u64, 0u64);
    let mut used = HashSet::new();
    let mut racks = HashSet::new();
    let mut path = Vec::new();
    for (source, destination) in pairs.each(fabric) {
        let count = router.path_count(source, destination);
        // Hosts of a rack share all but their own cable: one pair for all paths between two racks.
        let first = racks.insert((fabric.host(source).rack, fabric.host(destination).rack));
        for subflow in 0..if first { count.min(MOST_PATHS) } else { 1 } {
            let request = PathRequest {
                source,
                destination,
                connection: 0,
                subflow: subflow as u32,
                pinned: None,
            };
            router.data_path(&request, &mut path);
            if subflow == 0 {
                flows += 1;
                crossings += path.iter().filter(|link| in_layer(link)).count() as u64;
            }
            used.extend(path.iter().copied().filter(in_layer));
        }
    }
    if crossings == 0 {
        report.wrong(
            &at("layer"),
            format!(
                "no flow of this group crosses a link of layer \"{name}\"; give another of: {}",
                suggest::list(&layers)
            ),
        );
        return None;
    }
    let capacity: u64 = used
        .iter()
        .map(|&link| fabric.link(link).rate.as_bps())
        .sum();
    let capacity = capacity as f64 * flows as f64 / crossings as f64;
    Some(Arrivals::Load {
        load,
        capacity: Rate::from_bps(capacity as u64),
    })
}
