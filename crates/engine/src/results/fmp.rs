//! The table of what switches kept and did to route flows by feedback.

use crate::table::{Column, Table};
use pathweave_fabric::{Fabric, NodeId};
use pathweave_network::FmpStatistics;

pub(super) fn fmp(fabric: &Fabric, all: &[(NodeId, FmpStatistics)]) -> Table {
    let integers = |of: &dyn Fn(&FmpStatistics) -> u64| {
        Column::Integers(all.iter().map(|(_, switch)| of(switch)).collect())
    };
    let names = all.iter().map(|(node, _)| &fabric.node(*node).name);
    let columns = vec![
        ("switch", Column::texts(names.collect())),
        ("prices", integers(&|switch| switch.prices)),
        ("routes", integers(&|switch| switch.routes)),
        (
            "feedback_packets",
            integers(&|switch| switch.feedback_packets),
        ),
        ("feedback_bytes", integers(&|switch| switch.feedback_bytes)),
        ("notices", integers(&|switch| switch.notices)),
        ("silences", integers(&|switch| switch.silences)),
        ("reroutes", integers(&|switch| switch.reroutes)),
        ("unroutable", integers(&|switch| switch.unroutable)),
    ];
    Table {
        name: "fmp",
        columns,
    }
}
