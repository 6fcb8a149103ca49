//! The table of what senders on real hosts were limited by.

use crate::flows::rows::SenderLimitColumns;
use crate::table::{Column, Table};

/// A row for each subflow.
pub(super) fn sender_limits(rows: SenderLimitColumns) -> Table {
    let columns = vec![
        ("flow", Column::Integers(rows.flow)),
        ("subflow", Column::Integers(rows.subflow)),
        ("busy_s", Column::Numbers(rows.busy)),
        ("receive_window_s", Column::Numbers(rows.receive_window)),
        ("send_buffer_s", Column::Numbers(rows.send_buffer)),
    ];
    Table {
        name: "sender_limits",
        columns,
    }
}
