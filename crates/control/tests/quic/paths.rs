//! Paths that open, change and go.

use super::stack::Stack;
use super::{MS, ZERO, after_slow_start, lose_one, one_path, times};
use pathweave_control::controllers::{Lia, Reno, Xmp};
use pathweave_control::{
    Ack, Acknowledged, Change, Connection, Ecn, Path, PathError, PathId, PathState, Paths, Start,
    SubflowId, registry,
};
use pathweave_units::{Bytes, Time};

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
