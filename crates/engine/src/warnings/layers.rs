//! Open-loop load that links between switches cannot carry.

use super::Warning;
use super::arithmetic::rounded;
use super::load::{self, Offered};
use pathweave_fabric::routing::{PathRequest, Router, RoutingKind};
use pathweave_fabric::{Fabric, LinkId, NodeId};
use pathweave_scenario::Plan;
use pathweave_units::{Rate, Time};
use std::collections::BTreeMap;

/// Paths that are looked at. Fabrics with more are large, and are left alone.
const MOST_PATHS: u64 = 200_000;

/// The links of one layer that leave a switch, or lead to it, carry flows together: hashing and subflows choose among them. Each
/// switch is therefore judged by their sum, without the links that are down. Hosts' own ports are judged elsewhere.
pub(super) fn warnings(plan: &Plan) -> Vec<Warning> {
    let all = load::all_offered(plan);
    let mut starts: Vec<Time> = all.iter().map(Offered::start).collect();
    starts.sort_unstable();
    starts.dedup();
    let moments = starts.into_iter().filter_map(|now| {
        let offered: Vec<&Offered<'_>> = all.iter().filter(|each| each.is_under_way(now)).collect();
        let worst = most_loaded(&plan.fabric, &offered)?;
        Some((worst, offered))
    });
    let worst = moments.max_by(|(a, _), (b, _)| a.share().total_cmp(&b.share()));
    let Some((worst, offered)) = worst else {
        return Vec::new();
    };
    let Some(largest) = offered
        .iter()
        .max_by(|a, b| a.total().total_cmp(&b.total()))
    else {
        return Vec::new();
    };
    let about = |bps: f64| Rate::from_bps(rounded(bps) as u64);
    // Where several groups offer load, the largest is to give way.
    let all: f64 = offered.iter().map(|each| each.total()).sum();
    let fits = 1.0 - (1.0 - 1.0 / worst.share()) * all / largest.total();
    let (key, advice) = largest.advice(fits);
    vec![Warning {
        key,
        text: format!(
            "the links of layer \"{}\" {} \"{}\" are offered {} with headers, and carry {}: backlogs grow for as long as the run \
             lasts, and decide completion times",
            worst.layer,
            if worst.leave { "from" } else { "to" },
            worst.node,
            about(worst.load),
            about(worst.rate)
        ),
        advice,
    }]
}

/// The links of a layer on one side of a switch.
struct Side {
    layer: String,
    node: String,
    leave: bool,
    load: f64,
    rate: f64,
}

impl Side {
    fn share(&self) -> f64 {
        self.load / self.rate
    }
}

/// The most loaded side of a switch, if it is offered more than it carries.
fn most_loaded(fabric: &Fabric, offered: &[&Offered<'_>]) -> Option<Side> {
    if offered.is_empty() {
        return None;
    }
    let loads = loads(fabric, offered)?;
    let is_switch = |node: NodeId| fabric.node(node).host_index().is_none();
    let mut sides: BTreeMap<(u8, NodeId, bool), (f64, f64)> = BTreeMap::new();
    for (id, load) in (0u32..).map(LinkId).zip(&loads) {
        let link = fabric.link(id);
        if fabric.is_down(id) || !(is_switch(link.from) && is_switch(link.to)) {
            continue;
        }
        for (node, leaves) in [(link.from, true), (link.to, false)] {
            let side = sides.entry((link.layer.0, node, leaves)).or_default();
            side.0 += load;
            side.1 += link.rate.as_bps() as f64;
        }
    }
    let (&(layer, node, leave), &(load, rate)) = sides
        .iter()
        .max_by(|(_, a), (_, b)| (a.0 / a.1).total_cmp(&(b.0 / b.1)))?;
    (load > rate).then(|| Side {
        layer: fabric.layers[usize::from(layer)].clone(),
        node: fabric.node(node).name.clone(),
        leave,
        load,
        rate,
    })
}

/// The offered bit/s of each link, if all paths between two hosts get the same share; `None` for fabrics with too many.
fn loads(fabric: &Fabric, offered: &[&Offered<'_>]) -> Option<Vec<f64>> {
    // Distinct paths enumerate what a hash would choose from.
    let router = Router::new(fabric, RoutingKind::ecmp(true), 0).ok()?;
    let mut loads = vec![0.0; fabric.links.len()];
    let mut looked_at = 0;
    let mut path = Vec::new();
    for group in offered {
        for (source, destination, bps) in group.by_racks(fabric) {
            let count = router.path_count(source, destination);
            looked_at += count;
            if looked_at > MOST_PATHS {
                return None;
            }
            for subflow in 0..count as u32 {
                let request = PathRequest {
                    source,
                    destination,
                    connection: 0,
                    subflow,
                    pinned: None,
                };
                router.data_path(&request, &mut path);
                for link in &path {
                    loads[link.0 as usize] += bps / count as f64;
                }
            }
        }
    }
    Some(loads)
}
