//! Acknowledgements that report packets and acknowledge nothing cumulatively.

use super::lifecycle::request;
use super::one_connection::{row_when, with_a_peer};
use super::peer::{Connection, SEGMENT};
use pathweave_linux::kernel::{self, Loaded};

/// The kernel may take a late packet for lost before the test has looked: so often it is tried again.
const TRIES: usize = 20;

/// Windows before and after a duplicate that reports two packets, and after the late one has come: none when the kernel
/// has found a loss meanwhile.
fn windows(loaded: &Loaded, mut connection: Connection<'_>) -> Option<[f64; 3]> {
    let arrived = |packets| row_when(loaded, |row| row.packets >= packets);
    connection.acknowledge(2 * SEGMENT, None);
    let before = arrived(2);
    connection.wait_for((before.window as u32 + 2) * SEGMENT);
    connection.acknowledge(2 * SEGMENT, Some((3 * SEGMENT, 5 * SEGMENT)));
    let duplicate = arrived(before.packets + 2);
    connection.acknowledge(5 * SEGMENT, None);
    let after = arrived(duplicate.packets + 1);
    let rows = [before, duplicate, after];
    let unharmed = rows.iter().all(|row| (row.losses, row.timeouts) == (0, 0));
    unharmed.then(|| rows.map(|row| row.window))
}

#[test]
fn duplicates_that_report_packets_do_not_grow_windows() {
    with_a_peer(|peer| {
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
    });
}
