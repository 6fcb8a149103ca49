//! Controllers that are, in some case, another one: to the last bit where both compute the same.

use crate::driver::{Connection, Event, build, event, side_by_side, step_by_step};
use pathweave_control::{PathState, Value};
use pathweave_units::Time;
use proptest::prelude::*;

fn number(name: &str, value: f64) -> (String, Value) {
    (name.to_string(), Value::Number(value))
}

fn text(name: &str, value: &str) -> (String, Value) {
    (name.to_string(), Value::Text(value.to_string()))
}

fn connection(name: &str, given: &[(String, Value)]) -> Connection {
    Connection::new(build(name, given), 3, 2.0)
}

/// Events on three subflows, which come and go.
fn events() -> impl Strategy<Value = Vec<(usize, Event)>> {
    prop::collection::vec((0..3_usize, event()), 1..400)
}

fn ecn() -> impl Strategy<Value = (String, Value)> {
    prop_oneof![Just("off"), Just("on")].prop_map(|word| text("ecn", word))
}

/// The same event without a mark.
fn unmarked(event: Event) -> Event {
    match event {
        Event::Ack {
            packets,
            recovery,
            window_limited,
            rtt,
            after,
            ..
        } => Event::Ack {
            packets,
            ce: 0,
            recovery,
            window_limited,
            rtt,
            after,
        },
        other => other,
    }
}

/// The same event without a sample of the RTT.
fn unsampled(event: Event) -> Event {
    match event {
        Event::Ack {
            packets,
            ce,
            recovery,
            window_limited,
            after,
            ..
        } => Event::Ack {
            packets,
            ce,
            recovery,
            window_limited,
            rtt: None,
            after,
        },
        other => other,
    }
}

/// One packet is acknowledged.
const PACKET: Event = Event::Ack {
    packets: 1,
    ce: 0,
    recovery: false,
    window_limited: true,
    rtt: None,
    after: 0,
};

/// Subflows of these windows, all with an RTT of 100 us, in congestion avoidance.
fn equal_rtts(name: &str, given: &[(String, Value)], windows: &[u32]) -> Connection {
    let mut connection = Connection::new(build(name, given), windows.len(), 2.0);
    for (path, &window) in connection.paths.iter_mut().zip(windows) {
        (path.window, path.ssthresh, path.sent) = (f64::from(window), 2.0, 0);
        path.smoothed_rtt = Time::from_micros(100);
        path.minimum_rtt = path.smoothed_rtt;
    }
    connection
}

/// What an acknowledged packet adds to the window of subflow `r`.
fn gain(mut connection: Connection, r: usize) -> f64 {
    let before = connection.paths[r].window;
    connection.happen(r, &PACKET);
    connection.paths[r].window - before
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn eutcp_of_one_is_semicoupled(ecn in ecn(), events in events()) {
        let eutcp = connection("eutcp", &[number("gamma", 1.0), ecn.clone()]);
        side_by_side(eutcp, connection("semicoupled", &[ecn]), events)?;
    }

    #[test]
    fn wutcp_of_one_over_m_squared_is_ewtcp(ecn in ecn(), events in events()) {
        let wutcp = connection("wutcp", &[text("omega", "1/m^2"), ecn.clone()]);
        let weighted = text("slow_start", "weighted");
        side_by_side(wutcp, connection("ewtcp", &[weighted, ecn]), events)?;
    }

    #[test]
    fn ewtcp_is_wutcp_of_one_over_m_squared_but_for_slow_start(
        ecn in ecn(),
        events in events(),
    ) {
        // No event finds a window below ssthresh, so that there is no slow start.
        let mut wutcp = connection("wutcp", &[text("omega", "1/m^2"), ecn.clone()]);
        let mut ewtcp = connection("ewtcp", &[ecn]);
        for (r, event) in events {
            for connection in [&mut wutcp, &mut ewtcp] {
                let path = &mut connection.paths[r];
                path.ssthresh = path.ssthresh.min(path.window);
                connection.happen(r, &event);
            }
            prop_assert_eq!(wutcp.windows(), ewtcp.windows());
        }
    }

    #[test]
    fn one_subflow_of_any_of_these_is_reno(events in prop::collection::vec(event(), 1..500)) {
        let reno = || build("reno", &[]);
        for name in ["ewtcp", "semicoupled", "wutcp"] {
            step_by_step(build(name, &[]), reno(), &events)?;
        }
        for omega in ["1/m", "1/m^2", "1/sqrt(m)"] {
            step_by_step(build("wutcp", &[text("omega", omega)]), reno(), &events)?;
        }
        step_by_step(build("wutcp", &[number("omega", 1.0)]), reno(), &events)?;
        step_by_step(build("eutcp", &[number("gamma", 1.0)]), reno(), &events)?;
    }

    #[test]
    fn wutcp_of_weights_one_is_reno_on_each_subflow(events in events()) {
        let wutcp = connection("wutcp", &[number("omega", 1.0)]);
        side_by_side(wutcp, connection("reno", &[]), events)?;
    }

    #[test]
    fn dcm_on_one_path_is_dctcp(
        alpha in 0.0..=1.0,
        g in 0.0..=1.0,
        events in prop::collection::vec(event(), 1..500),
    ) {
        let given = [number("alpha", alpha), number("g", g)];
        step_by_step(build("dcm", &given), build("dctcp", &given), &events)?;
    }

    #[test]
    fn dcm_without_marks_is_lia(alpha in 0.0..=1.0, events in events()) {
        let events = events.into_iter().map(|(r, event)| (r, unmarked(event)));
        side_by_side(connection("dcm", &[number("alpha", alpha)]), connection("lia", &[]), events)?;
    }

    #[test]
    fn amp_on_one_path_is_reno_with_a_cut_by_a_constant(
        beta in 2.0..64.0,
        events in prop::collection::vec(event(), 1..500),
    ) {
        // LIA on one path is Reno, and its cut can be a constant.
        let cut = build("lia", &[number("ecn_cut", 1.0 / beta)]);
        step_by_step(build("amp", &[number("beta", beta)]), cut, &events)?;
        let clean: Vec<Event> = events.into_iter().map(unmarked).collect();
        step_by_step(build("amp", &[number("beta", beta)]), build("reno", &[]), &clean)?;
    }

    #[test]
    fn amp_that_halves_is_semicoupled_with_ecn_at_equal_rtts(events in events()) {
        let windows = [10, 20, 30];
        let amp = [number("beta", 2.0), text("suppression", "off")];
        let amp = equal_rtts("amp", &amp, &windows);
        let semicoupled = equal_rtts("semicoupled", &[text("ecn", "on")], &windows);
        let leaves = |event: &Event| {
            matches!(event, Event::Change(change) if change.state() != PathState::Active)
        };
        // AMP also grows by marked acknowledgements of the round of a cut, Semicoupled does not (RFC 3168).
        let grows_nothing = |(r, event)| match event {
            Event::Ack { ce, packets, recovery, window_limited, rtt, after } => {
                let recovery = recovery || ce > 0;
                (r, Event::Ack { ce, packets, recovery, window_limited, rtt, after })
            }
            other => (r, other),
        };
        let events = events
            .into_iter()
            .filter(|(_, event)| !leaves(event))
            .map(grows_nothing);
        side_by_side(amp, semicoupled, events.map(|(r, event)| (r, unsampled(event))))?;
    }

    #[test]
    fn amp_semicoupled_and_xmp_grow_alike_at_equal_rtts(
        windows in prop::collection::vec(2..60_u32, 1..5),
        which in any::<prop::sample::Index>(),
    ) {
        let r = which.index(windows.len());
        let amp = gain(equal_rtts("amp", &[], &windows), r);
        let eutcp = gain(equal_rtts("eutcp", &[number("gamma", 1.0)], &windows), r);
        prop_assert_eq!(amp.to_bits(), eutcp.to_bits());
        prop_assert_eq!(eutcp, gain(equal_rtts("semicoupled", &[], &windows), r));
        let total: u32 = windows.iter().sum();
        prop_assert!((amp * f64::from(total) - 1.0).abs() < 1e-9);

        // XMP adds the whole packets of what has come together at the end of each round. With the
        // windows held, its sum is that of the others' less a remainder of at most one packet.
        let mut xmp = equal_rtts("xmp", &[], &windows);
        let (mut gained, rounds) = (0.0, 50);
        let window = f64::from(windows[r]);
        for _ in 0..rounds * windows[r] {
            xmp.happen(r, &PACKET);
            gained += xmp.paths[r].window - window;
            xmp.paths[r].window = window;
        }
        let expected = f64::from(rounds) * window * amp;
        prop_assert!((-1e-6..1.0 + 1e-6).contains(&(expected - gained)), "{} {}", gained, expected);
    }

    /// AMP paper, section 4.2: DCM adds w_max / w_total^2 and AMP 1 / w_total, which is at most 1 / w_total, and nearly as
    /// much where one window is nearly all.
    #[test]
    fn dcm_grows_by_at_most_what_amp_grows_by_at_equal_rtts(
        windows in prop::collection::vec(2..2000_u32, 1..5),
        which in any::<prop::sample::Index>(),
    ) {
        let r = which.index(windows.len());
        let dcm = gain(equal_rtts("dcm", &[], &windows), r);
        let amp = gain(equal_rtts("amp", &[], &windows), r);
        let total = f64::from(windows.iter().sum::<u32>());
        let largest = f64::from(*windows.iter().max().unwrap());
        // Gains are differences of windows of up to 2,000 packets.
        prop_assert!((amp - 1.0 / total).abs() < 1e-11);
        prop_assert!((dcm - largest / (total * total)).abs() < 1e-11);
        prop_assert!(dcm < amp + 1e-11);
        prop_assert!((dcm / amp - largest / total).abs() < 1e-6);
    }
}
