//! Names in place of numbers.

use crate::table::Column;
use pathweave_fabric::{Fabric, LinkId};

/// Host and link names as labels.
pub(super) fn host_labels(fabric: &Fabric, codes: Vec<u32>) -> Column {
    Column::Labels {
        names: fabric
            .hosts
            .iter()
            .map(|&host| fabric.node(host).name.as_str())
            .collect(),
        codes,
    }
}

pub(super) fn link_labels(fabric: &Fabric, links: impl Iterator<Item = u32>) -> Column {
    let ids = (0..fabric.links.len() as u32).map(LinkId);
    let names = fabric.link_names();
    Column::Labels {
        names: ids.map(|id| names.link(id)).collect(),
        codes: links.collect(),
    }
}
