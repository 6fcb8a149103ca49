//! Losses and marks.

use super::stack::Stack;
use super::{MS, ZERO, after_slow_start, lose_one, one_path, times};
use pathweave_control::controllers::{Bos, Dctcp, Fcc, Reno, Settings, Xmp};
use pathweave_control::{Connection, Ecn, Start, registry};

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
