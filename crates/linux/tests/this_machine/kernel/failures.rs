//! A subflow fails by timeouts in a row without progress, and recovers with the first new acknowledgement.

use super::lifecycle::request;
use super::one_connection::{row, row_when, with_a_peer};
use super::peer::{Connection, Peer, SEGMENT};
use pathweave_linux::kernel::{self, Pinned, Request};

const TRIES: usize = 3;

/// After how many timeouts in a row the connection of a silent peer has failed, and how many losses its
/// controller has heard of by then.
fn timeouts_until_failure(peer: &Peer, request: &Request) -> (u32, u32) {
    let loaded = kernel::load(request).unwrap();
    let mut connection = peer.connect(loaded.kernel_name());
    assert!(!row(&loaded).failed);
    // A probe of the tail is no timeout, and sends the last segment, not the first.
    let mut timeouts = 0;
    while !row(&loaded).failed {
        connection.wait_for_retransmission(0);
        timeouts += 1;
    }
    let heard = row(&loaded).timeouts;
    connection.acknowledge(SEGMENT, None);
    row_when(&loaded, |row| !row.failed);
    (timeouts, heard)
}

/// After how many timeouts in a row a pinned controller's only connection has failed.
pub fn timeouts_in_a_row_until_failure(connection: &mut Connection<'_>) -> u32 {
    let has_failed = || {
        let all = Pinned::open("pw_xmp").expect("it is pinned").connections();
        let mut rows = all.into_iter().flat_map(|connection| connection.subflows);
        rows.next().expect("the connection has a row").failed
    };
    let mut timeouts = 0;
    while !has_failed() {
        connection.wait_for_retransmission(0);
        timeouts += 1;
    }
    timeouts
}

/// Whether it fails at this timeout, and hears of one loss however often the timer expires. A test that is held up until
/// the timer expires again, 400 ms and more, counts one too few.
fn fails_at(timeout: u32, peer: &Peer, request: &Request) -> bool {
    (0..TRIES).any(|_| timeouts_until_failure(peer, request) == (timeout, 1))
}

#[test]
fn a_subflow_fails_at_the_second_timeout_in_a_row_and_recovers_with_new_data() {
    with_a_peer(|peer| {
        for name in kernel::names() {
            assert!(fails_at(2, peer, &request(name)), "{name}");
        }
        let later = Request {
            failed_after: 3,
            ..request("xmp")
        };
        assert!(fails_at(3, peer, &later));
    });
}
