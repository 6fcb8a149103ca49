//! The table of what switches kept and did to route flows by feedback.

use crate::table::{Column, Table};
use pathweave_fabric::Fabric;
use pathweave_network::{Fmp, FmpStatistics};

pub(super) fn fmp(fabric: &Fabric, fmp: &Fmp) -> Table {
    let switches = 0..fmp.switches();
    let all: Vec<FmpStatistics> = switches
        .clone()
        .map(|switch| fmp.statistics(switch))
        .collect();
    let integers =
        |of: &dyn Fn(&FmpStatistics) -> u64| Column::Integers(all.iter().map(of).collect());
    let names = switches.map(|switch| fabric.node(fmp.node(switch)).name.as_str());
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
