//! What holds for every controller in the registry, whatever happens to it.

mod driver;

use driver::{Connection, Event, build, event, step_by_step};
use pathweave_control::{
    Change, Controller, Loss, ParameterKind, Path, Paths, SubflowId, Value, find, registry,
};
use pathweave_units::Time;
use proptest::prelude::*;

/// The controller with its defaults, and with every choice and every end of a range.
fn builds(name: &str) -> Vec<Box<dyn Controller>> {
    let entry = find(name).unwrap();
    let mut settings = vec![Vec::new()];
    for parameter in entry.parameters {
        let name = parameter.name.to_string();
        match parameter.kind {
            ParameterKind::Number {
                minimum, maximum, ..
            } => {
                settings.push(vec![(name.clone(), Value::Number(minimum))]);
                settings.push(vec![(name, Value::Number(maximum))]);
            }
            ParameterKind::Choice(choices) => {
                for &choice in choices {
                    settings.push(vec![(name.clone(), Value::Text(choice.to_string()))]);
                }
            }
            ParameterKind::PerSubflow {
                minimum, maximum, ..
            } => {
                settings.push(vec![(name.clone(), Value::Number(minimum))]);
                settings.push(vec![(name, Value::Numbers(vec![maximum, minimum]))]);
            }
            ParameterKind::ChoiceOrNumber {
                choices,
                minimum,
                maximum,
            } => {
                for &choice in choices {
                    settings.push(vec![(name.clone(), Value::Text(choice.to_string()))]);
                }
                settings.push(vec![(name.clone(), Value::Number(minimum))]);
                settings.push(vec![(name, Value::Number(maximum))]);
            }
        }
    }
    let build = |given: Vec<_>| (entry.build)(&entry.parameters(&given).unwrap());
    settings.into_iter().map(build).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn windows_stay_finite_and_at_least_one_packet(
        subflows in 1..5_usize,
        minimum_window in prop_oneof![Just(1.0), Just(2.0)],
        events in prop::collection::vec((0..4_usize, event()), 1..300),
    ) {
        for entry in registry() {
            for controller in builds(entry.name) {
                let mut connection = Connection::new(controller, subflows, minimum_window);
                for (r, event) in &events {
                    let r = r % subflows;
                    let before: Vec<f64> = connection.paths.iter().map(|p| p.window).collect();
                    connection.happen(r, event);
                    for path in &connection.paths {
                        prop_assert!(path.window.is_finite() && path.window >= 1.0, "{}", entry.name);
                        prop_assert!(path.ssthresh >= 1.0, "{}", entry.name);
                    }
                    let is = connection.paths[r].window;
                    let may_grow = !matches!(event, Event::Loss(_) | Event::Ack { recovery: true, .. });
                    prop_assert!(is <= before[r] || may_grow, "{}", entry.name);
                }
            }
        }
    }

    #[test]
    fn a_packet_for_each_acknowledged_one_is_as_fast_as_windows_grow(
        events in prop::collection::vec((0..3_usize, event()), 1..300),
    ) {
        for name in [
            "reno", "cubic", "dctcp", "bos", "lia", "ewtcp", "semicoupled", "wutcp", "dcm",
        ] {
            for controller in builds(name) {
                let mut connection = Connection::new(controller, 3, 2.0);
                for (r, event) in &events {
                    let before: Vec<f64> = connection.paths.iter().map(|p| p.window).collect();
                    connection.happen(*r, event);
                    for (i, (path, was)) in connection.paths.iter().zip(before).enumerate() {
                        match event {
                            _ if i != *r => prop_assert_eq!(path.window, was, "{}", name),
                            Event::Ack { packets, ce, .. } => {
                                let most = was + f64::from((*packets).max(1));
                                prop_assert!(path.window <= most, "{}", name);
                                prop_assert!(path.window >= was || *ce > 0, "{}", name);
                            }
                            Event::Loss(Loss::Timeout) => prop_assert_eq!(path.window, 1.0),
                            Event::Loss(Loss::FastRetransmit) => {
                                prop_assert!(path.window <= was, "{}", name);
                            }
                            Event::Change(_) => prop_assert_eq!(path.window, was, "{}", name),
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn windows_do_not_fall_below_their_minimum_without_a_timeout(
        events in prop::collection::vec((0..2_usize, event()), 1..300),
    ) {
        for entry in registry() {
            for controller in builds(entry.name) {
                let mut connection = Connection::new(controller, 2, 2.0);
                for (r, event) in &events {
                    if !matches!(event, Event::Loss(Loss::Timeout)) {
                        connection.happen(*r, event);
                        prop_assert!(connection.paths[*r].window >= 2.0, "{}", entry.name);
                    }
                }
            }
        }
    }

    #[test]
    fn single_path_controllers_keep_subflows_apart(
        events in prop::collection::vec((0..3_usize, event()), 1..200),
    ) {
        for entry in registry().iter().filter(|entry| !entry.coupled) {
            let mut together = Connection::new(build(entry.name, &[]), 3, 2.0);
            let mut alone: Vec<Connection> =
                (0..3).map(|_| Connection::new(build(entry.name, &[]), 1, 2.0)).collect();
            for (r, event) in &events {
                together.happen(*r, event);
                alone[*r].now = together.now;
                // Time has passed already.
                let event = match event.clone() {
                    Event::Ack { packets, ce, recovery, window_limited, rtt, .. } => {
                        Event::Ack { packets, ce, recovery, window_limited, rtt, after: 0 }
                    }
                    other => other,
                };
                alone[*r].happen(0, &event);
                prop_assert_eq!(together.windows()[*r], alone[*r].windows()[0], "{}", entry.name);
            }
        }
    }

    #[test]
    fn lia_on_one_path_is_reno(events in prop::collection::vec(event(), 1..500)) {
        step_by_step(build("lia", &[]), build("reno", &[]), &events)?;
    }

    #[test]
    fn xmp_on_one_path_is_bos(
        beta in 2..9_u32,
        variant in prop_oneof![Just("paper"), Just("kernel")],
        events in prop::collection::vec(event(), 1..500),
    ) {
        let given = [
            ("beta".to_string(), Value::Number(f64::from(beta))),
            ("variant".to_string(), Value::Text(variant.to_string())),
        ];
        step_by_step(build("xmp", &given), build("bos", &given), &events)?;
    }

    #[test]
    fn uncoupled_is_what_it_names(events in prop::collection::vec(event(), 1..200)) {
        for of in ["reno", "cubic", "dctcp", "bos"] {
            let given = [("of".to_string(), Value::Text(of.to_string()))];
            step_by_step(build("uncoupled", &given), build(of, &[]), &events)?;
        }
    }
}

#[test]
fn losses_before_a_subflow_opens_do_no_harm() {
    for entry in registry() {
        let mut paths = vec![Path::new(10.0, 2.0, f64::INFINITY); 3];
        let mut controller = (entry.build)(&entry.defaults());
        let last = SubflowId(2);
        controller.on_loss(&mut Paths::new(&mut paths), last, Loss::Timeout, Time::ZERO);
        assert_eq!(
            (paths[2].window, paths[2].ssthresh),
            (1.0, paths[2].ssthresh)
        );
        controller.on_subflow(&mut Paths::new(&mut paths), last, Change::Opened);
    }
}
