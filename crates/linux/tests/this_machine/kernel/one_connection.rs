//! A controller with connections of one subflow to a peer without a kernel.

use super::inventory::Inventory;
use super::lifecycle::request;
use super::peer::Peer;
use crate::this_machine;
use pathweave_linux::kernel::{self, Loaded, Row};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(20);

/// Runs a test with a peer, if the machine may be used, and sees that nothing is left of it.
pub fn with_a_peer(test: impl FnOnce(&Peer)) {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let peer = Peer::new();
    test(&peer);
    drop(peer);
    before.assert_is_again();
}

/// The same with each of these controllers, by their names, loaded for as long as its turn takes.
pub fn with_each(
    names: impl IntoIterator<Item = &'static str>,
    test: impl Fn(&Peer, &Loaded, &str),
) {
    with_a_peer(|peer| {
        for name in names {
            println!("with {name}"); // A failed test shows it.
            let loaded = kernel::load(&request(name)).unwrap();
            test(peer, &loaded, name);
        }
    });
}

pub fn with_each_controller(test: impl Fn(&Peer, &Loaded, &str)) {
    with_each(kernel::names(), test);
}

/// Waits until the kernel has come to something.
pub fn wait_for<T>(look: impl Fn() -> Result<T, String>) -> T {
    wait_within(PATIENCE, look).unwrap_or_else(|instead| panic!("it stays {instead}"))
}

/// Like [`wait_for`], but gives up after `patience` and returns what it saw last.
fn wait_within<T>(patience: Duration, look: impl Fn() -> Result<T, String>) -> Result<T, String> {
    let begin = Instant::now();
    loop {
        let seen = look();
        if seen.is_ok() || begin.elapsed() >= patience {
            return seen;
        }
        std::thread::yield_now();
    }
}

/// All rows.
pub fn rows(loaded: &Loaded) -> Vec<Row> {
    let connections = loaded.connections().expect("the kernel shows its rows");
    connections.into_iter().flat_map(|c| c.subflows).collect()
}

/// The one subflow's row once it is as wanted.
pub fn row_when(loaded: &Loaded, wanted: impl Fn(&Row) -> bool) -> Row {
    row_within(PATIENCE, loaded, wanted).unwrap_or_else(|instead| panic!("it stays {instead}"))
}

/// Like [`row_when`], but gives up after `patience` and returns the row as it is then.
pub fn row_within(
    patience: Duration,
    loaded: &Loaded,
    wanted: impl Fn(&Row) -> bool,
) -> Result<Row, String> {
    wait_within(patience, || {
        let row = rows(loaded).into_iter().next();
        let row = row.expect("the connection has a row");
        if wanted(&row) {
            Ok(row)
        } else {
            Err(format!("{row:?}"))
        }
    })
}

/// The one subflow's row.
pub fn row(loaded: &Loaded) -> Row {
    row_when(loaded, |_| true)
}
