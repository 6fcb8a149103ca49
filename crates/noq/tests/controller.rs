//! The controllers as noq calls them.

use noq_proto::congestion::ControllerFactory;
use pathweave_control::registry;
use pathweave_noq::{Coupled, CoupledError};
use std::time::{Duration, Instant};

const MTU: u64 = 1200;

#[test]
fn connections_share_nothing_and_paths_of_one_do() {
    let coupled = Coupled::new("xmp", &[("beta", 4)]).unwrap();
    let (first, second) = (coupled.connection(), coupled.connection());
    let now = Instant::now();
    let path = first.clone().build(now, 1200);
    let other = first.clone().build(now, 1200);
    let _elsewhere = second.clone().build(now, 1200);
    assert_eq!((first.windows().len(), second.windows().len()), (2, 1));
    // NAT rebinding: the clone is the same path, and it is not closed with the one before it.
    let clone = path.clone_box();
    drop(path);
    assert_eq!(first.windows().len(), 2);
    drop(clone);
    assert_eq!(first.windows().len(), 1);
    drop(other);
    assert_eq!((first.windows().len(), second.windows().len()), (0, 1));
}

#[test]
fn a_larger_mtu_leaves_the_window_in_bytes() {
    let mut path = Coupled::with_defaults("lia")
        .unwrap()
        .connection()
        .build(Instant::now(), 1200);
    let before = path.window();
    path.on_mtu_update(1440);
    assert_eq!((before, path.window()), (12_000, 12_000));
}

#[test]
fn marks_and_losses_cut_and_what_was_sent_before_a_cut_does_not_cut_again() {
    // LIA has no answer to marks: to it they are losses.
    for ecn in [false, true] {
        let start = Instant::now();
        let mut path = Coupled::with_defaults("lia")
            .unwrap()
            .connection()
            .build(start, 1200);
        let sent = start + Duration::from_millis(1);
        for number in 0..10 {
            path.on_packet_sent(sent, 1200, number);
        }
        let now = start + Duration::from_millis(20);
        path.on_congestion_event(now, sent, false, ecn, MTU, 3);
        assert_eq!(path.window(), 6_000);
        path.on_congestion_event(now, sent, false, ecn, MTU, 4);
        assert_eq!(path.window(), 6_000);
        path.on_congestion_event(now, sent, true, false, MTU, 5);
        assert_eq!(path.window(), 2 * MTU, "persistent congestion");
    }
}

#[test]
fn what_noq_cannot_carry_is_refused() {
    for entry in registry() {
        let refused = matches!(
            Coupled::with_defaults(entry.name),
            Err(CoupledError::Unsupported(_))
        );
        assert_eq!(
            refused,
            entry.scheme.is_some() || entry.scatter.is_some(),
            "{}",
            entry.name
        );
    }
    assert!(Coupled::new("xmp", &[("betta", 4)]).is_err());
}
