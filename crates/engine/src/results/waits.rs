//! The table of what flows have waited for.

use crate::flows::rows::WaitColumns;
use crate::table::{Column, Table};
use pathweave_transport::Wait;

/// What the table calls a wait.
fn name(wait: Wait) -> &'static str {
    match wait {
        Wait::Handshake => "handshake",
        Wait::Timeout => "timeout",
        Wait::Recovery => "recovery",
        Wait::ReceiveWindow => "receive window",
        Wait::SendWindow => "send window",
        Wait::Pace => "pace",
        Wait::OwnPort => "own port",
        Wait::Window => "window",
        Wait::Network => "network",
        Wait::Data => "data",
    }
}

/// A row for each flow and each thing for which it has waited.
pub(super) fn waits(rows: WaitColumns) -> Table {
    let columns = vec![
        ("flow", Column::Integers(rows.flow)),
        (
            "wait",
            Column::Labels {
                names: Wait::ALL.map(name).into_iter().collect(),
                codes: rows.wait,
            },
        ),
        ("waited_s", Column::Numbers(rows.time)),
    ];
    Table {
        name: "waits",
        columns,
    }
}
