//! The crate as a QUIC stack drives it: see [`stack`].

mod stack;

use pathweave_control::controllers::{Bos, Dctcp, Fcc, Lia, Rcp, Reno, Settings, Uncoupled, Xmp};
use pathweave_control::{
    Ack, Acknowledged, Change, Connection, Ecn, Feedback, Path, PathError, PathId, PathState,
    Paths, Start, SubflowId, registry,
};
use pathweave_units::{Bytes, Rate, Time};
use stack::Stack;

const MS: Time = Time::from_millis(1);
const ZERO: PathId = PathId(0);

fn times(count: u64) -> Time {
    MS.saturating_mul(count)
}

/// A connection with one path of 10 ms.
fn one_path(settings: &impl Settings) -> Stack {
    let connection = Connection::of(settings, Start::default()).expect("in range");
    let mut stack = Stack::new(connection);
    stack.open(0, times(10));
    stack
}

/// One in congestion avoidance, its window `packets`.
fn after_slow_start(settings: &impl Settings, rounds: u32) -> Stack {
    let mut stack = one_path(settings);
    for _ in 0..rounds {
        stack.round(0);
    }
    lose_one(&mut stack);
    stack
}

/// Loses one packet of a window and brings all of it to an end.
fn lose_one(stack: &mut Stack) {
    stack.fill(0, |_| true);
    stack.drain(0);
    let lost = stack.send(0, false);
    stack.fill(0, |number| number != lost);
    stack.drain(0);
}

#[test]
fn connections_can_be_cloned_and_shared() {
    fn all<T: Clone + Send + Sync + std::fmt::Debug>() {}
    all::<Connection>();
    for entry in registry() {
        let controller = (entry.build)(&entry.defaults());
        let connection = Connection::new(controller, Ecn::Off, Start::default());
        let mut stack = Stack::new(connection);
        stack.open(0, times(10));
        stack.open(1, times(20));
        for r in [0, 1, 0, 1] {
            stack.round(r);
        }
        let mut copy = stack.clone();
        let before = (stack.window(0), stack.window(1));
        copy.round(0);
        lose_one(&mut copy);
        copy.round(1);
        assert_eq!((stack.window(0), stack.window(1)), before, "{}", entry.name);
        stack.round(0);
        lose_one(&mut stack);
        stack.round(1);
        for id in [0, 1] {
            assert_eq!(
                stack.window(id).to_bits(),
                copy.window(id).to_bits(),
                "{}",
                entry.name
            );
        }
    }
}

#[test]
fn packets_lost_from_one_window_are_one_loss() {
    let mut stack = one_path(&Reno::default());
    stack.round(0);
    stack.drain(0);
    // 20 packets in slow start, of which the 2nd, 5th and 9th get lost: found one after another.
    let window = stack.window(0);
    let first = stack.send(0, true);
    stack.fill(0, |number| ![1, 4, 8].contains(&(number - first)));
    let grown = stack.window(0);
    assert_eq!(window, grown);
    stack.drain(0);
    assert_eq!((stack.lost, stack.losses), (3, 3));
    // The first packet was acknowledged before a loss was seen, as were those up to the 2nd + 3.
    assert!(stack.window(0) <= (window + 4.0) / 2.0 && stack.window(0) >= window / 2.0);
    assert_eq!(stack.window(0), stack.ssthresh(0));
    // A packet sent since then is another matter.
    let cut = stack.window(0);
    lose_one(&mut stack);
    assert!(stack.window(0) < 0.6 * cut + 1.0);
    assert_eq!(stack.losses, 4);
}

#[test]
fn ten_thousand_paths_take_the_place_of_two() {
    for entry in registry() {
        let connection = Connection::new(
            (entry.build)(&entry.defaults()),
            (entry.ecn)(&entry.defaults()),
            Start::default(),
        );
        let mut stack = Stack::new(connection);
        stack.open(0, times(10));
        // The whole state is in what is shown of it.
        let mut size = None;
        for id in 1..10_000_u64 {
            stack.open(id, times(10));
            stack.fill(id, |_| true);
            stack.acknowledge(id, 0);
            stack.connection.abandon(PathId(id));
            assert_eq!(
                stack.connection.state(PathId(id)),
                Some(PathState::Abandoned)
            );
            assert!(!stack.connection.may_send(PathId(id)));
            stack.drain(id);
            stack.forget(id);
            assert_eq!(stack.connection.state(PathId(id)), None);
            assert_eq!(stack.connection.slots(), 2);
            if id % 5000 == 1 {
                let now = format!("{:?}", stack.connection).matches('{').count();
                assert_eq!(*size.get_or_insert(now), now, "{}", entry.name);
            }
        }
        assert!(stack.connection.ids().eq([ZERO]));
    }
}

/// One life of a subflow: losses, marks, acknowledgements.
fn live(
    controller: &mut dyn pathweave_control::Controller,
    paths: &mut [Path],
    r: u32,
    steps: std::ops::Range<u32>,
) {
    let id = SubflowId(r);
    for step in steps {
        let path = &mut paths[r as usize];
        path.sent = path.sent.max(path.acked + path.window as u64);
        path.in_flight = (path.sent - path.acked) as u32;
        let now = Time::from_millis(u64::from(step) + 1);
        if step % 23 == 17 {
            let loss = pathweave_control::Loss::FastRetransmit;
            controller.on_loss(&mut Paths::new(paths), id, loss, now);
            continue;
        }
        path.acked += 1;
        let rtt = Time::from_micros(10_000 + u64::from(step % 7));
        (path.smoothed_rtt, path.latest_rtt) = (rtt, rtt);
        path.minimum_rtt = path.minimum_rtt.min(rtt);
        let ack = Ack {
            now,
            ce: u32::from(step % 13 == 5),
            rtt: Some(rtt),
            ..Ack::default()
        };
        controller.on_ack(&mut Paths::new(paths), id, &ack);
    }
}

#[test]
fn a_number_that_is_given_again_is_as_good_as_a_new_one() {
    let change = |controller: &mut dyn pathweave_control::Controller,
                  paths: &mut [Path],
                  r: u32,
                  change: Change| {
        paths[r as usize].state = change.state();
        controller.on_subflow(&mut Paths::new(paths), SubflowId(r), change);
    };
    for entry in registry() {
        for end in [Change::Closed, Change::Abandoned, Change::Migrated] {
            // Subflow 1 lives and ends; then one begins with its number, or with number 2.
            let windows = |again: u32| {
                let mut controller = (entry.build)(&entry.defaults());
                let mut paths = vec![Path::new(10.0, 2.0, f64::INFINITY); 3];
                change(&mut *controller, &mut paths, 0, Change::Opened);
                change(&mut *controller, &mut paths, 1, Change::Opened);
                for round in 0..20 {
                    live(&mut *controller, &mut paths, 0, round * 20..round * 20 + 9);
                    live(
                        &mut *controller,
                        &mut paths,
                        1,
                        round * 20 + 9..round * 20 + 20,
                    );
                }
                if end != Change::Migrated {
                    change(&mut *controller, &mut paths, 1, end);
                    change(&mut *controller, &mut paths, 1, Change::Closed);
                } else if again != 1 {
                    change(&mut *controller, &mut paths, 1, Change::Closed);
                }
                paths[again as usize] = Path::new(10.0, 2.0, f64::INFINITY);
                let begins = if end == Change::Migrated && again == 1 {
                    Change::Migrated
                } else {
                    Change::Opened
                };
                change(&mut *controller, &mut paths, again, begins);
                let mut seen = vec![];
                for round in 20..40 {
                    live(
                        &mut *controller,
                        &mut paths,
                        again,
                        round * 20..round * 20 + 11,
                    );
                    live(
                        &mut *controller,
                        &mut paths,
                        0,
                        round * 20 + 11..round * 20 + 20,
                    );
                    for r in [0, again as usize] {
                        let path = &paths[r];
                        seen.push((
                            path.window.to_bits(),
                            path.ssthresh.to_bits(),
                            path.may_send,
                        ));
                    }
                }
                seen
            };
            assert_eq!(windows(1), windows(2), "{} after {end:?}", entry.name);
        }
    }
}

#[test]
fn a_loss_before_the_first_acknowledgement_finds_nothing_of_an_earlier_path() {
    for entry in registry().iter().filter(|entry| entry.scheme.is_none()) {
        let connection = Connection::new(
            (entry.build)(&entry.defaults()),
            Ecn::Count { limit: 255 },
            Start::default(),
        );
        let mut fresh = Stack::new(connection);
        let mut again = fresh.clone();
        again.open(0, times(10));
        for _ in 0..3 {
            again.round(0);
        }
        again.acknowledge(0, 1);
        let now = again.now;
        again.connection.on_loss(ZERO, now, false, now);
        again.connection.close(ZERO);
        fresh.now = now;
        let windows = [&mut fresh, &mut again].map(|stack| {
            stack.open(1, times(10));
            stack.fill(1, |_| true);
            stack.connection.on_loss(PathId(1), now, false, now);
            (stack.window(1), stack.ssthresh(1))
        });
        assert_eq!(windows[0], windows[1], "{}", entry.name);
        assert!(windows[0].0 < 10.0, "{}", entry.name);
    }
}

#[test]
fn what_was_not_sent_cannot_be_acknowledged() {
    let mut stack = one_path(&Reno::default());
    let now = stack.now;
    for _ in 0..5 {
        stack
            .connection
            .on_packet_acked(ZERO, Bytes::new(1000), now);
        stack.connection.on_packet_gone(ZERO, Bytes::new(1000));
    }
    stack.connection.on_window_limited(ZERO);
    stack.connection.on_ack(
        ZERO,
        &Acknowledged {
            now,
            rtt: Some(MS),
            ..Acknowledged::default()
        },
    );
    assert_eq!(stack.window(0), 10.0);
    assert_eq!(stack.connection.in_flight(ZERO), Some(Bytes::ZERO));
}

#[test]
fn only_active_paths_couple_and_a_failed_one_comes_back_by_an_acknowledgement() {
    let connection = Connection::of(&Lia::default(), Start::default()).unwrap();
    let mut stack = Stack::new(connection);
    stack.open(0, times(10));
    stack.open(7, times(10));
    stack.round(7);
    stack.round(0);
    lose_one(&mut stack);
    // What a round of path 0 adds beside path 7, and without it.
    let gain = |stack: &Stack| {
        let mut copy = stack.clone();
        let before = copy.window(0);
        copy.round(0);
        copy.window(0) - before
    };
    let beside = gain(&stack);
    assert!(beside < 0.8, "{beside}");
    let alone = |stack: &Stack| gain(stack) > 0.85;
    for change in [Connection::stand_by, Connection::fail, Connection::abandon] {
        let mut other = stack.clone();
        other.fill(7, |_| true);
        change(&mut other.connection, PathId(7));
        assert!(alone(&other));
        other.acknowledge(7, 0);
        let failed_before = other.connection.state(PathId(7)) == Some(PathState::Active);
        assert_eq!(gain(&other) < 0.8, failed_before);
    }
    stack.connection.close(PathId(7));
    assert!(alone(&stack));
    assert_eq!(stack.connection.window(PathId(7)), None);
}

#[test]
fn a_path_that_migrates_starts_again_and_forgets_what_was_sent_before() {
    let mut stack = after_slow_start(&Xmp::default(), 4);
    stack.fill(0, |_| true);
    stack.connection.on_ecn_failed(ZERO);
    assert!(!stack.connection.is_ecn_capable(ZERO));
    stack.now = stack.now.saturating_add(MS);
    let now = stack.now;
    stack.connection.migrate(ZERO, now);
    let fresh = |stack: &Stack| {
        let path = stack.connection.path(ZERO).unwrap();
        (
            path.window,
            path.ssthresh,
            path.has_rtt(),
            path.in_flight,
            path.is_active(),
        )
    };
    assert_eq!(fresh(&stack), (10.0, f64::INFINITY, false, 0, true));
    assert!(stack.connection.is_ecn_capable(ZERO));
    // Acknowledgements and losses of what was sent before say nothing of the new path.
    stack
        .connection
        .on_packet_acked(ZERO, Bytes::new(1000), times(500));
    stack.connection.on_ack(
        ZERO,
        &Acknowledged {
            now,
            rtt: Some(MS),
            ..Acknowledged::default()
        },
    );
    stack.connection.on_loss(ZERO, times(500), false, now);
    stack.connection.on_loss(ZERO, times(500), true, now);
    assert_eq!(fresh(&stack), (10.0, f64::INFINITY, false, 0, true));
}

#[test]
fn another_packet_size_keeps_the_window_in_bytes() {
    for entry in registry().iter().filter(|entry| entry.scheme.is_none()) {
        let connection =
            Connection::new((entry.build)(&entry.defaults()), Ecn::Off, Start::default());
        let mut stack = Stack::new(connection);
        stack.open(0, times(10));
        for _ in 0..3 {
            stack.round(0);
        }
        lose_one(&mut stack);
        stack.round(0);
        let bytes = |stack: &Stack| (1000.0 * stack.window(0), 1000.0 * stack.ssthresh(0));
        let (window, ssthresh) = bytes(&stack);
        stack.set_packet_size(0, 1250);
        let rescaled = (1250.0 * stack.window(0), 1250.0 * stack.ssthresh(0));
        assert!(
            (rescaled.0 - window).abs() < 1e-6 * window,
            "{}",
            entry.name
        );
        assert!(
            (rescaled.1 - ssthresh).abs() < 1e-6 * ssthresh,
            "{}",
            entry.name
        );
        // Growth goes on from there: at most a packet or so a round in congestion avoidance.
        stack.drain(0);
        stack.round(0);
        let after = 1250.0 * stack.window(0);
        assert!(
            after >= 0.8 * window && after < window + 5.0 * 1250.0,
            "{}: {after} of {window}",
            entry.name
        );
    }
    // The window does not fall below the minimum in packets.
    let mut stack = one_path(&Reno::default());
    stack.set_packet_size(0, 9000);
    assert_eq!(stack.window(0), 2.0);
    stack.set_packet_size(0, 0);
    assert_eq!(stack.window(0), 2.0, "there are no packets without bytes");
}

#[test]
fn persistent_congestion_starts_again_from_the_minimum_window() {
    for entry in registry().iter().filter(|entry| entry.scheme.is_none()) {
        let connection =
            Connection::new((entry.build)(&entry.defaults()), Ecn::Off, Start::default());
        let mut stack = Stack::new(connection);
        stack.open(0, times(10));
        for _ in 0..3 {
            stack.round(0);
        }
        let (window, now) = (stack.window(0), stack.now);
        stack.connection.on_loss(ZERO, now, true, now);
        assert_eq!(stack.window(0), 2.0, "{}", entry.name);
        assert!(
            stack.ssthresh(0) >= 2.0 && stack.ssthresh(0) < window,
            "{}",
            entry.name
        );
        let path = stack.connection.path(ZERO).unwrap();
        assert!(!path.in_recovery, "slow start begins at once");
    }
    // Where the same packets were a loss already, ssthresh is halved once.
    let mut stack = one_path(&Reno::default());
    stack.round(0);
    let now = stack.now;
    stack.connection.on_loss(ZERO, now, false, now);
    assert_eq!((stack.window(0), stack.ssthresh(0)), (10.0, 10.0));
    stack.connection.on_loss(ZERO, now, true, now);
    assert_eq!((stack.window(0), stack.ssthresh(0)), (2.0, 10.0));
}

#[test]
fn a_loss_that_was_none_is_undone_unless_the_window_was_cut_since() {
    for entry in registry().iter().filter(|entry| entry.scheme.is_none()) {
        let connection = Connection::new(
            (entry.build)(&entry.defaults()),
            Ecn::Count { limit: 255 },
            Start::default(),
        );
        let mut stack = Stack::new(connection);
        stack.open(0, times(10));
        stack.round(0);
        let before = (stack.window(0), stack.ssthresh(0));
        let now = stack.now;
        stack.connection.on_loss(ZERO, now, false, now);
        assert!(stack.window(0) < before.0, "{}", entry.name);
        let mut cut_again = stack.clone();
        assert!(stack.connection.on_spurious_loss(ZERO));
        assert_eq!(
            (stack.window(0), stack.ssthresh(0)),
            before,
            "{}",
            entry.name
        );
        assert!(!stack.connection.on_spurious_loss(ZERO), "only once");
        let later = now.saturating_add(MS);
        cut_again.now = later;
        cut_again.drain(0);
        cut_again.send(0, true);
        let second = cut_again.now;
        cut_again.connection.on_loss(ZERO, second, true, second);
        let left = cut_again.window(0);
        assert!(!cut_again.connection.on_spurious_loss(ZERO));
        assert_eq!(cut_again.window(0), left);
    }
    // A mark cuts as well.
    let mut stack = after_slow_start(&Bos::default(), 3);
    let sent = stack.now.saturating_add(MS);
    stack.now = sent;
    stack.connection.on_loss(ZERO, sent, false, sent);
    stack.now = sent.saturating_add(MS);
    stack.fill(0, |_| true);
    stack.drain(0);
    stack.fill(0, |_| true);
    let left = stack.ssthresh(0);
    stack.acknowledge(0, 1);
    assert_ne!(stack.ssthresh(0), left);
    assert!(!stack.connection.on_spurious_loss(ZERO));
}

#[test]
fn marks_count_for_nothing_once_ecn_has_failed() {
    // What lives on marks then grows as without them, and halves at losses.
    fn check(settings: &impl Settings, name: &str) {
        let mut marked = after_slow_start(settings, 3);
        let mut unmarked = marked.clone();
        marked.connection.on_ecn_failed(ZERO);
        unmarked.connection.on_ecn_failed(ZERO);
        assert!(!marked.connection.is_ecn_capable(ZERO), "{name}");
        for _ in 0..100 {
            for stack in [&mut marked, &mut unmarked] {
                stack.fill(0, |_| true);
            }
            marked.acknowledge(0, 1);
            unmarked.acknowledge(0, 0);
            assert_eq!(
                marked.window(0).to_bits(),
                unmarked.window(0).to_bits(),
                "{name}"
            );
        }
        lose_one(&mut marked);
        lose_one(&mut unmarked);
        assert_eq!(
            marked.window(0).to_bits(),
            unmarked.window(0).to_bits(),
            "{name}"
        );
        let before = marked.window(0);
        let now = marked.now.saturating_add(MS);
        marked.connection.on_loss(ZERO, now, false, now);
        let left = marked.window(0) / before;
        assert!((0.45..=0.55).contains(&left), "{name}: {left}");
    }
    check(&Dctcp::default(), "dctcp");
    check(&Bos::default(), "bos");
    check(&Xmp::default(), "xmp");
    check(&pathweave_control::controllers::Dcm::default(), "dcm");
    check(&pathweave_control::controllers::Amp::default(), "amp");
    check(&Fcc::default(), "fcc");
    // Before it has failed a mark does something.
    let mut stack = after_slow_start(&Dctcp::default(), 3);
    stack.fill(0, |_| true);
    let before = stack.window(0);
    stack.acknowledge(0, 1);
    assert!(stack.window(0) < before);
}

#[test]
fn pacing_is_the_controllers_or_a_little_faster_than_the_window() {
    let mut stack = one_path(&Reno::default());
    assert_eq!(stack.connection.pacing_rate(ZERO), None, "no RTT yet");
    stack.round(0);
    // 20 packets of 8,000 bits in 10 ms: 16 Mbps, and twice that in slow start.
    assert_eq!(stack.window(0), 20.0);
    assert_eq!(
        stack.connection.pacing_rate(ZERO),
        Some(Rate::from_mbps(32))
    );
    let now = stack.now;
    stack.connection.on_loss(ZERO, now, false, now);
    assert_eq!(
        stack.connection.pacing_rate(ZERO),
        Some(Rate::from_mbps(10))
    );
    // RCP paces at what switches say.
    let mut stack = one_path(&Rcp::default());
    stack.round(0);
    let sent = stack.now;
    stack
        .connection
        .on_packet_sent(ZERO, Bytes::new(1000), sent);
    stack
        .connection
        .on_packet_acked(ZERO, Bytes::new(1000), sent);
    let feedback = Feedback::Rcp {
        rate: 5e6,
        rtt: 0.01,
    };
    let told = Acknowledged {
        now: sent,
        feedback,
        ..Acknowledged::default()
    };
    stack.connection.on_ack(ZERO, &told);
    assert_eq!(stack.connection.pacing_rate(ZERO), Some(Rate::from_mbps(5)));
    assert!(matches!(
        stack.connection.header(ZERO, sent),
        Feedback::Rcp { .. }
    ));
}

#[test]
fn a_silent_path_starts_again_with_the_initial_window() {
    let mut stack = one_path(&Uncoupled::default());
    for _ in 0..3 {
        stack.round(0);
    }
    stack.drain(0);
    let (window, ssthresh) = (stack.window(0), stack.ssthresh(0));
    assert!(window > 70.0);
    // The last packet left 10 ms ago. A probe timeout is at least 36 ms: the RTT, 1 ms, and 25 ms that the peer may wait.
    let mut soon = stack.clone();
    soon.now = soon.now.saturating_add(times(20));
    soon.send(0, true);
    assert_eq!(soon.window(0), window);
    stack.now = stack.now.saturating_add(times(100));
    let mut kept = stack.clone();
    stack.send(0, true);
    assert_eq!((stack.window(0), stack.ssthresh(0)), (10.0, ssthresh));
    // What is still in flight keeps the clock going.
    kept.now = stack.now;
    let mut busy = soon;
    busy.now = busy.now.saturating_add(times(100));
    busy.send(0, true);
    assert_eq!(busy.window(0), window);
    // And a transport may do without.
    let start = Start {
        after_idle: false,
        ..Start::default()
    };
    let mut never = Stack::new(Connection::of(&Reno::default(), start).unwrap());
    never.open(0, times(10));
    for _ in 0..3 {
        never.round(0);
    }
    never.drain(0);
    let window = never.window(0);
    never.now = never.now.saturating_add(times(10_000));
    never.send(0, true);
    assert_eq!(never.window(0), window);
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    let mut stack = one_path(&Reno::default());
    for _ in 0..50 {
        stack.send(0, true);
        stack.acknowledge(0, 0);
    }
    assert_eq!(stack.window(0), 10.0);
    // Unless pacing is what keeps it from being used.
    for _ in 0..5 {
        stack.send(0, true);
        stack.connection.on_window_limited(ZERO);
        stack.acknowledge(0, 0);
    }
    assert_eq!(stack.window(0), 15.0);
    stack.round(0);
    assert_eq!(stack.window(0), 30.0);
}

#[test]
fn many_small_packets_open_the_window_as_their_bytes_do() {
    let mut stack = one_path(&Reno::default());
    let (now, small) = (stack.now, Bytes::new(50));
    for _ in 0..200 {
        stack.connection.on_packet_sent(ZERO, small, now);
    }
    for _ in 0..200 {
        stack.connection.on_packet_acked(ZERO, small, now);
    }
    stack.connection.on_window_limited(ZERO);
    stack.connection.on_ack(
        ZERO,
        &Acknowledged {
            now,
            rtt: Some(MS),
            ..Acknowledged::default()
        },
    );
    // 10,000 bytes.
    assert!(stack.window(0) <= 20.0, "{}", stack.window(0));
}

#[test]
fn ids_are_of_paths_that_are_alive() {
    let mut stack = one_path(&Reno::default());
    let again = stack.connection.open(ZERO, Bytes::new(1200), stack.now);
    assert_eq!(again, Err(PathError::Alive(ZERO)));
    assert_eq!(
        again.unwrap_err().to_string(),
        "path 0 is open; close it before its id is used again"
    );
    let none = stack.connection.open(PathId(1), Bytes::ZERO, stack.now);
    assert_eq!(
        none.unwrap_err().to_string(),
        "path 1 must have packets of at least 1 byte, got 0"
    );
    let unknown = Connection::named("xpm", &[], Start::default()).unwrap_err();
    assert_eq!(
        unknown.message,
        "there is no controller \"xpm\"; registry() lists them"
    );
    // Calls for what is gone do nothing.
    let (gone, before) = (PathId(u64::MAX), format!("{:?}", stack.connection));
    let now = stack.now;
    let connection = &mut stack.connection;
    connection.on_packet_sent(gone, Bytes::new(1), now);
    connection.on_packet_acked(gone, Bytes::new(1), now);
    connection.on_ack(gone, &Acknowledged::default());
    connection.on_packet_gone(gone, Bytes::new(1));
    connection.on_loss(gone, now, true, now);
    connection.migrate(gone, now);
    connection.abandon(gone);
    connection.close(gone);
    connection.set_packet_size(gone, Bytes::new(9000));
    assert!(!connection.on_spurious_loss(gone) && !connection.may_send(gone));
    assert_eq!(format!("{connection:?}"), before);
}

#[test]
fn an_acknowledgement_is_of_one_packet_on_a_full_window_unless_it_says_otherwise() {
    let ack = Ack::default();
    assert_eq!((ack.packets, ack.ce, ack.rtt), (1, 0, None));
    assert!(ack.lets_window_grow() && ack.feedback == Feedback::None);
}
