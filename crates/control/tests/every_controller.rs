//! What holds for every controller in the registry, whatever happens to it.

use crate::driver::{Connection, Event, build, event, step_by_step};
use pathweave_control::{
    Ack, Change, Controller, Loss, ParameterKind, Path, Paths, SubflowId, Value, find, registry,
};
use pathweave_units::Time;
use proptest::prelude::*;

/// The controller's defaults, and every choice and every end of a range.
fn settings(name: &str) -> Vec<Vec<(String, Value)>> {
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
            }
            | ParameterKind::ChoiceOrPerSubflow {
                choices,
                minimum,
                maximum,
            } => {
                for &choice in choices {
                    settings.push(vec![(name.clone(), Value::Text(choice.to_string()))]);
                }
                settings.push(vec![(name.clone(), Value::Number(minimum))]);
                settings.push(vec![(name.clone(), Value::Number(maximum))]);
                let list = Value::Numbers(vec![maximum, minimum]);
                if parameter.kind.accepts(&list) {
                    settings.push(vec![(name, list)]);
                }
            }
        }
    }
    settings
}

/// The controller with each of its [`settings`].
fn builds(name: &str) -> Vec<Box<dyn Controller>> {
    let settings = settings(name);
    settings.iter().map(|given| build(name, given)).collect()
}

/// Controllers that treat subflows by their number: all of their settings, or one value of one parameter.
const NUMBERS_MATTER: &[(&str, Option<(&str, &str)>)] = &[
    // Of subflows that look equally good in its integers it takes the last.
    ("lia", Some(("variant", "linux"))),
    // The first subflow stays on when the others are suppressed.
    ("amp", None),
    // The first subflow is the scattered one.
    ("mmptcp", None),
];

fn numbers_matter(name: &str, given: &[(String, Value)]) -> bool {
    // A value for each subflow is one for its number.
    let by_number = |(_, value): &(String, Value)| matches!(value, Value::Numbers(_));
    given.iter().any(by_number)
        || NUMBERS_MATTER.iter().any(|(other, setting)| {
            let is_given = |(parameter, value): &(&str, &str)| {
                let text = Value::Text(value.to_string());
                given.contains(&(parameter.to_string(), text))
            };
            *other == name && setting.as_ref().is_none_or(is_given)
        })
}

/// Linux's Reno as its multipath modules count it for one subflow, written from that description alone.
#[derive(Clone, Debug, Default)]
struct IntegerReno {
    counted: u32,
}

impl Controller for IntegerReno {
    fn on_ack(&mut self, paths: &mut Paths<'_>, r: SubflowId, ack: &Ack) {
        let path = &mut paths[r];
        if ack.packets == 0 || ack.recovery || !ack.window_limited {
            return;
        }
        if path.window < path.ssthresh {
            path.window = (path.window + f64::from(ack.packets)).min(path.ssthresh);
        } else if f64::from(self.counted) < path.window {
            self.counted += 1;
        } else {
            self.counted = 0;
            path.window += 1.0;
        }
    }

    fn on_loss(&mut self, paths: &mut Paths<'_>, r: SubflowId, loss: Loss, _now: Time) {
        let path = &mut paths[r];
        self.counted = 0;
        path.ssthresh = (path.window / 2.0).floor().max(2.0);
        path.window = match loss {
            Loss::FastRetransmit => path.ssthresh,
            Loss::Timeout => 1.0,
            Loss::PersistentCongestion => path.minimum_window.ceil(),
        };
    }

    fn on_subflow(&mut self, _paths: &mut Paths<'_>, _r: SubflowId, _change: Change) {}
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
                    let most = before[r].max(minimum_window);
                    prop_assert!(is <= most || may_grow, "{}", entry.name);
                }
            }
        }
    }

    #[test]
    fn a_packet_for_each_acknowledged_one_is_as_fast_as_windows_grow(
        events in prop::collection::vec((0..3_usize, event()), 1..300),
    ) {
        // OLIA and wVegas shrink windows in congestion avoidance.
        for name in [
            "reno", "cubic", "dctcp", "bos", "lia", "balia", "ewtcp", "semicoupled", "wutcp", "dcm",
        ] {
            for given in settings(name) {
                let as_loss = Value::Text("as-loss".to_string());
                let timeout_costs_less = given.contains(&("timeout".to_string(), as_loss));
                let mut connection = Connection::new(build(name, &given), 3, 2.0);
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
                            Event::Loss(Loss::Timeout) if !timeout_costs_less => {
                                prop_assert_eq!(path.window, 1.0);
                            }
                            Event::Loss(Loss::PersistentCongestion) if !timeout_costs_less => {
                                prop_assert_eq!(path.window, path.minimum_window);
                            }
                            Event::Loss(_) => {
                                prop_assert!(path.window <= was.max(2.0), "{}", name);
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
    fn only_slow_start_has_windows_below_the_minimum(
        events in prop::collection::vec((0..2_usize, event()), 1..300),
    ) {
        // Its ssthresh may be one packet after a timeout.
        let linux_balia = vec![("variant".to_string(), Value::Text("linux".to_string()))];
        for entry in registry() {
            for given in settings(entry.name) {
                if entry.name == "balia" && given == linux_balia {
                    continue;
                }
                let mut connection = Connection::new(build(entry.name, &given), 2, 2.0);
                for path in &mut connection.paths {
                    path.window = 1.0;
                }
                for (r, event) in &events {
                    connection.happen(*r, event);
                    let path = &connection.paths[*r];
                    prop_assert!(
                        path.window >= 2.0 || path.in_slow_start(),
                        "{} {:?}", entry.name, given
                    );
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
    fn renumbering_the_subflows_changes_nothing(
        order in Just([0_usize, 1, 2, 3]).prop_shuffle(),
        events in prop::collection::vec((0..4_usize, event()), 1..200),
    ) {
        for entry in registry().iter().filter(|entry| entry.coupled) {
            for given in settings(entry.name) {
                if numbers_matter(entry.name, &given) {
                    continue;
                }
                let connection = || Connection::new(build(entry.name, &given), 4, 2.0);
                let (mut plain, mut renumbered) = (connection(), connection());
                for (r, event) in &events {
                    plain.happen(*r, event);
                    renumbered.happen(order[*r], event);
                    for (path, &other) in plain.paths.iter().zip(&order) {
                        let (is, other) = (path.window, renumbered.paths[other].window);
                        // Sums differ in the last bits.
                        prop_assert!((is - other).abs() <= 1e-9 * is, "{} {:?}", entry.name, given);
                    }
                }
            }
        }
    }

    #[test]
    fn a_sibling_that_has_failed_is_as_good_as_closed(
        before in prop::collection::vec((0..3_usize, event()), 0..100),
        change in prop_oneof![Just(Change::Failed), Just(Change::StoodBy)],
        after in prop::collection::vec((0..2_usize, event()), 1..100),
    ) {
        // MMPTCP's scattered subflow takes over from siblings that have failed, and not from closed ones.
        let coupled = registry().iter().filter(|entry| entry.coupled && entry.scatter.is_none());
        for entry in coupled {
            for given in settings(entry.name) {
                let connection = || Connection::new(build(entry.name, &given), 3, 2.0);
                let (mut failed, mut closed) = (connection(), connection());
                for (r, event) in &before {
                    failed.happen(*r, event);
                    closed.happen(*r, event);
                }
                failed.happen(2, &Event::Change(change));
                closed.happen(2, &Event::Change(Change::Closed));
                for (r, event) in &after {
                    failed.happen(*r, event);
                    closed.happen(*r, event);
                    prop_assert_eq!(
                        &failed.windows()[..2], &closed.windows()[..2], "{} {:?}", entry.name, given
                    );
                }
            }
        }
    }

    #[test]
    fn coupled_renos_on_one_path_are_reno(events in prop::collection::vec(event(), 1..500)) {
        for name in ["lia", "olia", "balia"] {
            step_by_step(build(name, &[]), build("reno", &[]), &events)?;
        }
    }

    #[test]
    fn linux_variants_on_one_path_are_its_reno(events in prop::collection::vec(event(), 1..500)) {
        let linux = [("variant".to_string(), Value::Text("linux".to_string()))];
        for name in ["lia", "olia", "balia"] {
            step_by_step(build(name, &linux), Box::new(IntegerReno::default()), &events)?;
        }
    }

    #[test]
    fn linux_windows_are_whole_packets(
        events in prop::collection::vec((0..3_usize, event()), 1..300),
    ) {
        let linux = [("variant".to_string(), Value::Text("linux".to_string()))];
        for name in ["lia", "olia", "balia", "wvegas"] {
            let mut connection = Connection::new(build(name, &linux), 3, 1.0);
            for (r, event) in &events {
                connection.happen(*r, event);
                prop_assert_eq!(connection.paths[*r].window.fract(), 0.0, "{}", name);
            }
        }
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
