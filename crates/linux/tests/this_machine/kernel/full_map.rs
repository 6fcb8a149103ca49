//! Connections for which there is no row: they behave as Reno until there is one.

use super::information::Information;
use super::lifecycle::request;
use super::one_connection::{rows, wait_for, with_a_peer};
use super::peer::{Connection, INITIAL_WINDOW, Peer, SEGMENT};
use pathweave_linux::kernel::{self, Loaded, Request};

/// XMP with room for one connection, which this one has.
fn full(peer: &Peer) -> (Loaded, Connection<'_>) {
    let one = Request {
        connections: 1,
        ..request("xmp")
    };
    let loaded = kernel::load(&one).unwrap();
    let first = peer.open(loaded.kernel_name());
    assert_eq!(rows(&loaded).len(), 1);
    (loaded, first)
}

fn window_becomes(connection: &Connection<'_>, packets: u32) {
    wait_for(|| {
        let now = Information::of(connection.socket());
        if now.window == u64::from(packets) {
            Ok(())
        } else {
            Err(format!("{now:?}, not {packets} packets"))
        }
    });
}

#[test]
fn without_a_row_windows_grow_and_halve() {
    with_a_peer(|peer| {
        let (loaded, _first) = full(peer);
        let mut second = peer.connect(loaded.kernel_name());
        second.acknowledge(2 * SEGMENT, None);
        window_becomes(&second, INITIAL_WINDOW + 2);
        second.wait_for((INITIAL_WINDOW + 4) * SEGMENT);
        second.acknowledge(
            2 * SEGMENT,
            Some((3 * SEGMENT, (INITIAL_WINDOW + 4) * SEGMENT)),
        );
        window_becomes(&second, (INITIAL_WINDOW + 2) / 2);
        second.wait_for_retransmission(2 * SEGMENT);
        // Nothing more arrives.
        window_becomes(&second, 1);
        assert_eq!(rows(&loaded).len(), 1);
    });
}

#[test]
fn a_row_that_becomes_free_is_taken() {
    with_a_peer(|peer| {
        let (loaded, first) = full(peer);
        let mut second = peer.connect(loaded.kernel_name());
        let of_first = rows(&loaded)[0].local;
        drop(first);
        wait_for(|| match rows(&loaded) {
            rows if rows.is_empty() => Ok(()),
            rows => Err(format!("{rows:?}")),
        });
        second.acknowledge(2 * SEGMENT, None);
        let row = wait_for(|| {
            rows(&loaded)
                .pop()
                .ok_or_else(|| "without a row".to_owned())
        });
        assert_ne!(row.local, of_first);
        second.acknowledge(4 * SEGMENT, None);
        wait_for(|| match rows(&loaded).pop() {
            Some(row) if row.packets >= 2 => Ok(()),
            row => Err(format!("{row:?}")),
        });
    });
}
