//! Names in place of numbers.

use crate::simulation::Simulation;
use crate::table::Column;

/// Host and link names as labels.
pub(super) fn host_labels<P>(run: &Simulation<'_, P>, hosts: impl Iterator<Item = u32>) -> Column {
    let fabric = &run.plan.fabric;
    Column::Labels {
        names: fabric
            .hosts
            .iter()
            .map(|&host| fabric.node(host).name.clone())
            .collect(),
        codes: hosts.collect(),
    }
}

pub(super) fn link_labels<P>(run: &Simulation<'_, P>, links: impl Iterator<Item = u32>) -> Column {
    let fabric = &run.plan.fabric;
    let ids = (0..fabric.links.len() as u32).map(pathweave_fabric::LinkId);
    Column::Labels {
        names: ids.map(|id| fabric.link_name(id)).collect(),
        codes: links.collect(),
    }
}
