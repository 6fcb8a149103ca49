//! The table of what flows have waited for.

use crate::table::{Column, Table};
use pathweave_transport::{Wait, Waits};

/// The columns, by [`Wait::ALL`].
const COLUMNS: [(Wait, &str); Wait::ALL.len()] = [
    (Wait::Handshake, "handshake_s"),
    (Wait::Timeout, "timeout_s"),
    (Wait::Recovery, "recovery_s"),
    (Wait::ReceiveWindow, "receive_window_s"),
    (Wait::SendWindow, "send_window_s"),
    (Wait::Pace, "pace_s"),
    (Wait::OwnPort, "own_port_s"),
    (Wait::Window, "window_s"),
    (Wait::Network, "network_s"),
    (Wait::Data, "data_s"),
];

/// A row for each flow, by its number.
pub(super) fn waits(of: &[Waits]) -> Table {
    let times = COLUMNS.map(|(wait, name)| {
        let seconds = of.iter().map(|waits| waits[wait as usize].as_secs_f64());
        (name, Column::Numbers(seconds.collect()))
    });
    let mut columns = vec![("flow", Column::Integers((0..of.len() as u64).collect()))];
    columns.extend(times);
    Table {
        name: "waits",
        columns,
    }
}
