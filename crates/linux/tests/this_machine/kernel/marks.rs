//! Marks: their exact echo, and what one does to those that have an answer to it and to those that have none.

use super::lifecycle::request;
use super::one_connection::{row, row_when, with_a_peer, with_each};
use super::peer::{Echo, INITIAL_WINDOW, Peer, SEGMENT};
use pathweave_control::{Value, find};
use pathweave_linux::kernel::{self, Loaded, Request};
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

/// Those that cut by marks: all that ask for ECN by default or with `ecn=on`, but for FCC, to which marks are a force.
fn that_cut_by_marks() -> Vec<Request> {
    let on = [("ecn".to_owned(), Value::Text("on".to_owned()))];
    let requests = kernel::names().filter(|name| *name != "fcc").map(|name| {
        let entry = find(name).expect("it is in the registry");
        let set = entry.parameters(&on).unwrap_or_else(|_| entry.defaults());
        Request::new(entry, &set, 2).expect("it has a counterpart")
    });
    requests
        .filter(|request| request.settings.needs_ecn)
        .collect()
}

/// Plays three rounds that begin with two marks; none where the test was held up until a timer of the host expired.
fn cut_once_in_each_of_three_rounds(peer: &Peer, loaded: &Loaded, name: &str) -> Option<()> {
    let mut connection = peer.connect(loaded.kernel_name());
    for round in 1..=3 {
        let begin = row(loaded);
        let first = begin.packets as u32 + 1;
        for packets in [first, first + 1] {
            connection.acknowledge_and_echo(packets * SEGMENT);
            // What the row says of the packets is written before the cut.
            let marked = row_when(loaded, |row| {
                let is_answered = row.cuts >= round || row.timeouts > 0;
                row.packets >= u64::from(packets) && is_answered
            });
            if marked.timeouts > 0 {
                return None;
            }
            assert_eq!(marked.cuts, round, "{name}, round {round}: {marked:?}");
        }
        // The round of the cut is over with the first packet that was sent after it.
        let end = first + begin.window.ceil() as u32 + 1;
        while connection.sent <= end * SEGMENT {
            let sent = connection.sent;
            connection.acknowledge(sent, None);
            connection.wait_for(sent + SEGMENT);
        }
        let sent = connection.sent;
        connection.acknowledge(sent, None);
        // It sends these when the acknowledgement has had its effect.
        connection.wait_for(sent + 2 * SEGMENT);
        let over = row(loaded);
        if over.timeouts > 0 {
            return None;
        }
        assert_eq!(over.cuts, round, "{name}, round {round}: {over:?}");
    }
    Some(())
}

#[test]
fn marks_cut_once_a_round() {
    with_a_peer(|peer| {
        let requests = that_cut_by_marks();
        let names: Vec<&str> = requests.iter().map(|one| one.controller.as_str()).collect();
        assert!(names.len() >= 8, "{names:?}");
        for request in &requests {
            let loaded = kernel::load(request).unwrap();
            let name = request.controller.as_str();
            let played =
                (0..TRIES).find_map(|_| cut_once_in_each_of_three_rounds(peer, &loaded, name));
            assert!(played.is_some(), "{name}: the machine holds tests up");
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
