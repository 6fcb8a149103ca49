//! The table of links.

use super::labels::link_labels;
use crate::measurement::measurement_windows::LinkShare;
use crate::record::Record;
use crate::table::{Column, Table};
use pathweave_network::LinkStatistics;

pub(super) fn links(run: &Record<'_>) -> Table {
    let links = run.plan.fabric.links.len() as u32;
    let empty = LinkShare {
        statistics: LinkStatistics::default(),
        utilisation: f64::NAN,
        queue_mean: f64::NAN,
        queue_p99: f64::NAN,
    };
    let shares: Vec<LinkShare> = (0..links as usize)
        .map(|link| {
            run.main_window()
                .and_then(|window| window.links.get(link))
                .copied()
        })
        .map(|share| share.unwrap_or(empty))
        .collect();
    let fabric = &run.plan.fabric;
    let integers =
        |of: &dyn Fn(&LinkShare) -> u64| Column::Integers(shares.iter().map(of).collect());
    let columns = vec![
        ("link", link_labels(&run.plan.fabric, 0..links)),
        (
            "layer",
            Column::Labels {
                names: fabric.layers.iter().collect(),
                codes: fabric
                    .links
                    .iter()
                    .map(|link| u32::from(link.layer.0))
                    .collect(),
            },
        ),
        (
            "capacity_bps",
            Column::Numbers(
                fabric
                    .links
                    .iter()
                    .map(|link| link.rate.as_bps() as f64)
                    .collect(),
            ),
        ),
        ("bytes", integers(&|share| share.statistics.delivered_bytes)),
        ("packets", integers(&|share| share.statistics.delivered)),
        (
            "utilisation",
            Column::Numbers(shares.iter().map(|share| share.utilisation).collect()),
        ),
        ("drops", integers(&|share| share.statistics.dropped)),
        (
            "lost_to_failure",
            integers(&|share| share.statistics.lost() - share.statistics.dropped),
        ),
        (
            "lost_silently",
            integers(&|share| share.statistics.lost_silently),
        ),
        ("marks", integers(&|share| share.statistics.marked)),
        (
            "queue_mean",
            Column::Numbers(shares.iter().map(|share| share.queue_mean).collect()),
        ),
        (
            "queue_p99",
            Column::Numbers(shares.iter().map(|share| share.queue_p99).collect()),
        ),
    ];
    Table {
        name: "links",
        columns,
    }
}
