use super::*;
use crate::AgentSetup;
use pathweave_control::Scheme;
use pathweave_control::Value;
use pathweave_control::decn::UNTOUCHED;
use std::sync::Arc;

/// 1 Gbps, t_p 0.1 ms, units of 1 Mbps.
fn port(table: f64) -> Decn {
    let given = [("table".to_owned(), Value::Number(table))];
    Decn::new(&LinkSetup {
        agent: Some(Arc::new(AgentSetup {
            scheme: Scheme::Decn,
            parameters: ENTRY.parameters(&given).expect("valid"),
            base_rtt: Time::from_micros(100),
        })),
        ..LinkSetup::plain((0, 1), Rate::from_gbps(1), Time::ZERO)
    })
}

/// A packet that finds the port idle; what it leaves with, if it is in a unit.
fn pass(
    port: &mut Decn,
    micros: u64,
    flow: u32,
    carried: Option<(u8, bool)>,
) -> Option<(u8, bool)> {
    let (nibble, first) = carried.unwrap_or_default();
    let mut label = Label {
        feedback: Feedback::Decn {
            nibble,
            first,
            in_unit: carried.is_some(),
        },
        flow,
        is_echo: false,
    };
    let now = Time::from_micros(micros);
    port.on_arrival(now, 1500, &mut label, Backlog::default());
    port.on_service(now, 1500, &mut label, Backlog::default());
    match label.feedback {
        Feedback::Decn {
            nibble,
            first,
            in_unit,
        } => in_unit.then_some((nibble, first)),
        _ => panic!("another scheme's field"),
    }
}

/// The difference that a unit of three packets at one time leaves with.
fn unit(port: &mut Decn, micros: u64, flow: u32) -> Option<i16> {
    let mut nibbles = [0; 3];
    for (packet, nibble) in (0..).zip(&mut nibbles) {
        (*nibble, _) = pass(port, micros, flow, Some((UNTOUCHED, packet == 0)))?;
    }
    Difference::from_nibbles(nibbles).map(Difference::units)
}

#[test]
fn a_flow_is_told_its_difference_from_the_fair_share() {
    let mut port = port(10.0);
    for at in [0, 50, 100] {
        pass(&mut port, at, 3, None);
    }
    // 3000 bytes in 100 us: 240 of 1000 Mbps.
    assert_eq!(unit(&mut port, 110, 3), Some(760));
    // Of two flows each has 500.
    pass(&mut port, 120, 4, None);
    assert_eq!(unit(&mut port, 130, 3), Some(260));
    // The second sends no more, and no longer counts. Seven packets in 1021 us: 82.3 Mbps.
    assert_eq!(unit(&mut port, 1121, 3), Some(917));
}

#[test]
fn a_flow_that_sends_too_much_is_told_so() {
    let mut port = port(10.0);
    for number in 0..11 {
        pass(&mut port, 10 * number, 0, None);
    }
    // 15,000 bytes in 100 us: 1200 Mbps.
    assert_eq!(unit(&mut port, 105, 0), Some(-200));
    assert_eq!(port.statistics().feedback, 3);
}

#[test]
fn the_difference_is_latched_with_the_first_packet() {
    let mut port = port(10.0);
    for at in [0, 50, 100] {
        pass(&mut port, at, 0, None);
    }
    // 760 is 0xaf8.
    assert_eq!(
        pass(&mut port, 110, 0, Some((0xf, true))),
        Some((0xa, true))
    );
    for flow in 1..5 {
        pass(&mut port, 120, flow, None);
    }
    assert_eq!(
        pass(&mut port, 130, 0, Some((0xf, false))),
        Some((0xf, false))
    );
    assert_eq!(
        pass(&mut port, 140, 0, Some((0xf, false))),
        Some((0x8, false))
    );
}

#[test]
fn a_smaller_difference_passes() {
    let mut port = port(10.0);
    for at in [0, 50, 100] {
        pass(&mut port, at, 0, None);
    }
    for carried in [(0xa, true), (0x1, false), (0xf, false)] {
        assert_eq!(pass(&mut port, 110, 0, Some(carried)), Some(carried));
    }
    assert_eq!(port.statistics().feedback, 0);
}

#[test]
fn a_flow_that_begins_is_told_its_share() {
    let mut port = port(10.0);
    assert_eq!(unit(&mut port, 0, 0), Some(1000));
    assert_eq!(unit(&mut port, 10, 1), Some(500));
    assert_eq!(unit(&mut port, 99, 0), Some(500));
}

#[test]
fn a_flow_gives_its_share_up_when_a_period_without_it_is_over() {
    // The port's periods end at 100, 200 us, and so on. What a third flow is told at this time:
    let told = |until| {
        let mut port = port(10.0);
        for at in (0..until).step_by(10) {
            pass(&mut port, at, 0, None);
            if at <= 130 {
                pass(&mut port, at, 1, None);
            }
        }
        unit(&mut port, until, 2)
    };
    assert_eq!(told(299), Some(333));
    assert_eq!(told(301), Some(500));
}

#[test]
fn a_flow_slower_than_a_packet_a_period_counts_between_its_packets() {
    let mut port = port(10.0);
    for at in [0, 330, 660] {
        pass(&mut port, at, 1, None);
    }
    let told = |port: &mut Decn, at| unit(port, at, at as u32);
    // A packet in 330 us: it is overdue by half of that at 1155 us.
    assert_eq!(told(&mut port, 1100), Some(500));
    assert_eq!(told(&mut port, 1301), Some(1000));
}

#[test]
fn broken_units_are_taken_out() {
    let mut port = port(10.0);
    pass(&mut port, 0, 0, None);
    pass(&mut port, 100, 0, None);
    // A packet outside comes between.
    assert!(pass(&mut port, 110, 0, Some((0xf, true))).is_some());
    assert_eq!(pass(&mut port, 111, 0, None), None);
    assert_eq!(pass(&mut port, 112, 0, Some((0xf, false))), None);
}

#[test]
fn flows_beyond_the_table_are_not_managed() {
    let mut port = port(1.0);
    for at in [0, 100] {
        pass(&mut port, at, 0, None);
        assert_eq!(unit(&mut port, at, 1), None);
    }
    assert_eq!(unit(&mut port, 110, 1), None);
    // Nor do they count: 1500 bytes in 100 us of 1000 Mbps.
    assert_eq!(unit(&mut port, 110, 0), Some(880));
    assert_eq!(port.statistics().unmanaged, 1);
}

#[test]
fn acknowledgements_are_no_flows() {
    let mut port = port(10.0);
    for at in [0, 100] {
        pass(&mut port, at, 0, None);
    }
    let mut label = Label {
        feedback: Feedback::Decn {
            nibble: 0xf,
            first: true,
            in_unit: true,
        },
        flow: 7,
        is_echo: true,
    };
    let echo = label;
    port.on_arrival(Time::from_micros(100), 60, &mut label, Backlog::default());
    port.on_service(Time::from_micros(100), 60, &mut label, Backlog::default());
    assert_eq!(label, echo);
    assert_eq!(unit(&mut port, 110, 0), Some(880));
}

#[test]
fn state_grows_with_flows() {
    let mut port = port(100.0);
    let none = port.statistics().state_bytes;
    for flow in 0..10 {
        pass(&mut port, 0, flow, None);
    }
    let ten = port.statistics().state_bytes - none;
    // What goes away stays in the maximum.
    for flow in 10..20 {
        pass(&mut port, 5000, flow, None);
    }
    assert_eq!(port.statistics().state_bytes - none, ten);
    assert!(ten >= 10 * size_of::<measurement::Measurement>() as u64);
}
