//! Controllers that ports tell their load: what holds whatever the ports say.

use pathweave_control::{
    Ack, Change, Controller, Feedback, Load, Loss, Path, Paths, SubflowId, find,
};
use pathweave_units::Time;
use proptest::prelude::*;

const R: SubflowId = SubflowId(0);

/// An acknowledgement, or a loss.
#[derive(Clone, Debug)]
enum Event {
    Ack {
        level: u8,
        packets: u32,
        rtt: u64,
        after: u64,
        recovery: bool,
    },
    Loss(Loss),
}

fn event() -> impl Strategy<Value = Event> {
    let loss = prop_oneof![Just(Loss::FastRetransmit), Just(Loss::Timeout)];
    let ack = (
        0..16_u8,
        0..4_u32,
        1..5_000_u64,
        0..1_000_u64,
        prop::bool::weighted(0.1),
    );
    prop_oneof![
        20 => ack.prop_map(|(level, packets, rtt, after, recovery)| Event::Ack {
            level, packets, rtt, after, recovery,
        }),
        1 => loss.prop_map(Event::Loss),
    ]
}

/// What ports with this level of MLCP's say in a scheme.
fn feedback(name: &str, level: u8) -> Feedback {
    match (name, level) {
        ("mlcp", load) => Feedback::Mlcp { load, rtt: 0 },
        (_, 0..8) => Feedback::Vcp(Load::Low),
        (_, 8..10) => Feedback::Vcp(Load::High),
        _ => Feedback::Vcp(Load::Overload),
    }
}

fn happen(
    controller: &mut dyn Controller,
    path: &mut [Path; 1],
    name: &str,
    now: &mut Time,
    event: &Event,
) {
    match *event {
        Event::Ack {
            level,
            packets,
            rtt,
            after,
            recovery,
        } => {
            *now += Time::from_micros(after);
            let rtt = Time::from_micros(rtt);
            path[0].smoothed_rtt = rtt;
            path[0].minimum_rtt = path[0].minimum_rtt.min(rtt);
            let ack = Ack {
                now: *now,
                packets,
                ce: 0,
                rtt: Some(rtt),
                recovery,
                window_limited: true,
                feedback: feedback(name, level),
            };
            controller.on_ack(&mut Paths::new(path), R, &ack);
        }
        Event::Loss(loss) => controller.on_loss(&mut Paths::new(path), R, loss, *now),
    }
}

proptest! {
    #[test]
    fn windows_follow_the_loads(events in prop::collection::vec(event(), 1..300)) {
        for name in ["vcp", "mlcp"] {
            let entry = find(name).unwrap();
            let mut controller = (entry.build)(&entry.defaults());
            let mut path = [Path::new(10.0, 1.0, f64::INFINITY)];
            let mut now = Time::ZERO;
            controller.on_subflow(&mut Paths::new(&mut path), R, Change::Opened);
            for event in &events {
                let was = path[0].window;
                happen(controller.as_mut(), &mut path, name, &mut now, event);
                let is = path[0].window;
                prop_assert!(is.is_finite() && is >= 1.0, "{}: {}", name, is);
                match *event {
                    Event::Ack { recovery: true, .. } => prop_assert_eq!(is, was, "{}", name),
                    // No step is larger than that of an idle path, 0.35 times 9 a packet.
                    Event::Ack { level: 0..10, packets, .. } => {
                        let most = was + 3.15001 * f64::from(packets);
                        prop_assert!(is >= was && is <= most, "{}: {} {}", name, was, is);
                    }
                    // A cut leaves half at least.
                    Event::Ack { .. } => prop_assert!(is >= (was / 2.0).max(1.0), "{}", name),
                    Event::Loss(_) => prop_assert!(is <= was, "{}", name),
                }
            }
        }
    }

    #[test]
    fn lasting_overload_brings_the_window_to_a_packet_or_near(window in 1.0..1e4_f64) {
        for (name, most) in [("vcp", 16.0), ("mlcp", 1.0)] {
            let entry = find(name).unwrap();
            let mut controller = (entry.build)(&entry.defaults());
            let mut path = [Path::new(window, 1.0, f64::INFINITY)];
            let mut now = Time::ZERO;
            for _ in 0..2_000 {
                let event = Event::Ack { level: 15, packets: 1, rtt: 100, after: 50, recovery: false };
                happen(controller.as_mut(), &mut path, name, &mut now, &event);
            }
            prop_assert!(path[0].window <= most, "{}: {}", name, path[0].window);
        }
    }
}
