//! Marks: their exact echo, and what one does to those that have an answer to it and to those that have none.

use crate::lifecycle::request;
use crate::one_connection::{row_when, with_a_peer, with_each};
use crate::peer::{Echo, INITIAL_WINDOW, SEGMENT};
use pathweave_linux::kernel;
use rustix::net::sockopt::set_tcp_quickack;
use std::time::{Duration, Instant};

/// Less than the kernel delays an acknowledgement, which is 40 ms at least.
const AT_ONCE: Duration = Duration::from_millis(25);
/// The machine may hold a test up for longer than that.
const TRIES: usize = 5;

/// RFC 8257, section 3.2: no acknowledgement speaks for marked and unmarked packets, and a change is told at once.
#[test]
fn marks_that_begin_or_end_are_echoed_at_once() {
    with_a_peer(|peer| {
        let loaded = kernel::load(&request("dctcp")).unwrap();
        let mut quickest = [Duration::MAX; 2];
        for _ in 0..TRIES {
            let mut connection = peer.open(loaded.kernel_name());
            // A connection acknowledges its first packets at once unless it is told not to.
            set_tcp_quickack(connection.socket(), false).expect("TCP_QUICKACK");
            for (change, marks) in [(0, [false, true]), (1, [true, false])] {
                let begin = Instant::now();
                for marked in marks {
                    connection.speak(SEGMENT, marked);
                }
                for (packet, marked) in (2 * change + 1..).zip(marks) {
                    let bytes = packet as u32 * SEGMENT;
                    assert_eq!(connection.echo(), Echo { bytes, marked });
                }
                quickest[change] = quickest[change].min(begin.elapsed());
            }
        }
        assert!(quickest.iter().all(|&time| time < AT_ONCE), "{quickest:?}");
    });
}

/// Those whose settings ask for ECN, or those whose settings do not.
fn controllers(that_answer: bool) -> impl Iterator<Item = &'static str> {
    kernel::names().filter(move |name| request(name).settings.needs_ecn == that_answer)
}

#[test]
fn every_mark_is_told_once_and_is_no_loss_to_who_answers_it() {
    with_each(controllers(true), |peer, loaded, name| {
        let mut connection = peer.connect(loaded.kernel_name());
        for (packets, marks, echoes) in [(2, 2, true), (4, 2, false), (6, 4, true), (7, 4, false)] {
            if echoes {
                connection.acknowledge_and_echo(packets * SEGMENT);
            } else {
                connection.acknowledge(packets * SEGMENT, None);
            }
            let row = row_when(loaded, |row| row.packets >= u64::from(packets));
            assert_eq!((row.marks, row.losses), (marks, 0), "{name}: {row:?}");
        }
    });
}

/// RFC 3168: where the hosts have agreed on ECN for other reasons.
#[test]
fn a_marked_round_is_one_loss_to_who_has_no_answer() {
    with_each(controllers(false), |peer, loaded, name| {
        peer.set("net/ipv4/tcp_ecn", "1");
        let mut connection = peer.connect(loaded.kernel_name());
        connection.acknowledge_and_echo(SEGMENT);
        let first = row_when(loaded, |row| row.packets >= 1);
        assert_eq!((first.marks, first.losses), (1, 1), "{name}: {first:?}");
        assert!(
            first.window < f64::from(INITIAL_WINDOW),
            "{name}: {first:?}"
        );
        assert_eq!(first.window, first.ssthresh, "{name}: {first:?}");
        // What echoes a mark grows no window.
        connection.acknowledge_and_echo(3 * SEGMENT);
        let second = row_when(loaded, |row| row.packets >= 3);
        assert_eq!((second.marks, second.losses), (3, 1), "{name}: {second:?}");
        assert_eq!(second.window, first.window, "{name}");
    });
}
