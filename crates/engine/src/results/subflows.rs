//! The table of subflows.

use crate::flows::rows::SubflowColumns;
use crate::record::Record;
use crate::table::{Column, Table};
use crate::text_list::TextList;
use pathweave_fabric::{Fabric, LinkId};

/// A guess at the bytes of a path's name.
const NAME_BYTES: usize = 64;

pub(super) fn subflows(run: &Record<'_>, rows: SubflowColumns) -> Table {
    let goodput = goodput(run, &rows);
    // Where no port of a host can refuse packets there is no column.
    let hosts = run.plan.hosts_that_hold_packets();
    let held = hosts.contains(&true).then_some(rows.held);
    let mut columns = vec![
        ("flow", Column::Integers(rows.flow)),
        ("subflow", Column::Integers(rows.subflow)),
        (
            "path",
            Column::Labels {
                names: path_names(&run.plan.fabric, run.paths.iter()),
                codes: rows.path,
            },
        ),
        ("opened_s", Column::Numbers(rows.opened)),
        ("received_bytes", Column::Integers(rows.received)),
        ("goodput_bps", Column::Numbers(goodput)),
        ("sent_packets", Column::Integers(rows.sent_packets)),
        ("retransmits", Column::Integers(rows.retransmits)),
        ("reinjected", Column::Integers(rows.reinjected)),
        ("timeouts", Column::Integers(rows.timeouts)),
        ("marks", Column::Integers(rows.marks)),
        ("rtt_mean_s", Column::Numbers(rows.rtt_mean)),
        ("rtt_p99_s", Column::Numbers(rows.rtt_p99)),
    ];
    columns.extend(held.map(|held| ("held", Column::Integers(held))));
    Table {
        name: "subflows",
        columns,
    }
}

/// The goodput of each row in the main window; not a number where its flow was not under way.
fn goodput(run: &Record<'_>, rows: &SubflowColumns) -> Vec<f64> {
    let shares = run.main_window().into_iter();
    let mut shares = shares.flat_map(|window| window.flows.iter()).peekable();
    // Rows and shares are both in the order of flows.
    let of_row = |(&flow, &subflow): (&u64, &u64)| {
        while shares
            .next_if(|share| u64::from(share.flow) < flow)
            .is_some()
        {}
        let share = shares.peek().filter(|share| u64::from(share.flow) == flow);
        share.map_or(f64::NAN, |share| {
            let received = share.received.get(subflow as usize);
            received.map_or(f64::NAN, |&bytes| share.rate_of(bytes))
        })
    };
    rows.flow.iter().zip(&rows.subflow).map(of_row).collect()
}

/// Paths by the names of their nodes.
fn path_names<'a>(fabric: &Fabric, paths: impl ExactSizeIterator<Item = &'a [LinkId]>) -> TextList {
    // What each link adds to the name of a path, and what the name of one that begins with it begins with.
    let links = (0..fabric.links.len() as u32).map(LinkId);
    let names = fabric.link_names();
    let added: Vec<String> = links.map(|link| format!("-{}", names.step(link))).collect();
    let from = fabric.links.iter().map(|link| &fabric.node(link.from).name);
    let begun: Vec<String> = from
        .zip(&added)
        .map(|(name, to)| format!("{name}{to}"))
        .collect();
    let mut names = TextList::with_capacity(paths.len(), NAME_BYTES * paths.len());
    for path in paths {
        let Some((first, rest)) = path.split_first() else {
            names.push("spray");
            continue;
        };
        let rest = rest.iter().map(|link| added[link.0 as usize].as_str());
        names.push_parts(&begun[first.0 as usize], rest);
    }
    names
}
