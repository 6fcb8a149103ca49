//! Acknowledgements that report packets and acknowledge nothing cumulatively.

use crate::inventory::Inventory;
use crate::lifecycle::request;
use crate::machine;
use crate::peer::{Connection, Peer, SEGMENT};
use pathweave_linux::kernel::{self, Loaded, Row};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(20);
/// The kernel may take a late packet for lost before the test has looked: so often it is tried again.
const TRIES: usize = 20;

/// The one subflow's row once this many packets of it have arrived.
fn row(loaded: &Loaded, packets: u64) -> Row {
    let begin = Instant::now();
    loop {
        let connections = loaded.connections().expect("the kernel shows its rows");
        let rows = connections
            .into_iter()
            .flat_map(|connection| connection.subflows);
        let mut arrived = rows.filter(|row| row.packets >= packets);
        if let Some(row) = arrived.next() {
            return row;
        }
        assert!(begin.elapsed() < PATIENCE, "no row has {packets} packets");
        std::thread::yield_now();
    }
}

/// Windows before and after a duplicate that reports two packets, and after the late one has come: none when the kernel
/// has found a loss meanwhile.
fn windows(loaded: &Loaded, mut connection: Connection<'_>) -> Option<[f64; 3]> {
    connection.acknowledge(2 * SEGMENT, None);
    let before = row(loaded, 2);
    connection.wait_for((before.window as u32 + 2) * SEGMENT);
    connection.acknowledge(2 * SEGMENT, Some((3 * SEGMENT, 5 * SEGMENT)));
    let duplicate = row(loaded, before.packets + 2);
    connection.acknowledge(5 * SEGMENT, None);
    let after = row(loaded, duplicate.packets + 1);
    let rows = [before, duplicate, after];
    let unharmed = rows.iter().all(|row| (row.losses, row.timeouts) == (0, 0));
    unharmed.then(|| rows.map(|row| row.window))
}

#[test]
fn duplicates_that_report_packets_do_not_grow_windows() {
    let Some(_machine) = machine() else { return };
    let before_all = Inventory::before();
    let peer = Peer::new();
    for name in kernel::names() {
        let seen = (0..TRIES).find_map(|_| {
            let loaded = kernel::load(&request(name)).unwrap();
            windows(&loaded, peer.connect(loaded.kernel_name()))
        });
        let [before, duplicate, after] = seen.expect("the kernel does not always find a loss");
        assert_eq!(
            duplicate, before,
            "{name}: two packets arrived before a late one"
        );
        assert!(
            after > before,
            "{name}: the late one arrived at {before} packets"
        );
    }
    drop(peer);
    before_all.assert_is_again();
}
