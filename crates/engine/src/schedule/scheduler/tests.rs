//! The schedule against maps in the order of the rule.

use super::*;
use crate::schedule::wheel::Wheel;
use pathweave_network::{Inputs, LinkSetup, Places};
use pathweave_transport::{SendingId, SendingSubflow, Timer, TimerKind};
use pathweave_units::Rate;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Debug)]
enum Step {
    Link(u32, bool, u64),
    Timer(u32, u64),
    Start(u32, u64),
    Cancel(u32, bool),
    Pop(u64),
}

/// Ports of a ring of links, which begin in another order than that of their numbers.
fn ports(count: u32) -> (Places, Arc<Inputs>) {
    let links: Vec<LinkSetup> = (0..count)
        .map(|link| {
            LinkSetup::plain(
                ((7 * link) % count, (7 * link + 1) % count),
                Rate::from_gbps(1),
                Time::ZERO,
            )
        })
        .collect();
    let places = Places::new(&links);
    let inputs = Arc::new(Inputs::new(&links, &places, (1, |_| 0)));
    (places, inputs)
}

/// Otherwise regions that have nothing to do would take many short windows to come to the next event.
#[test]
fn when_nothing_was_due_it_is_known_what_is_next() {
    let micros = Time::from_micros;
    let (places, inputs) = ports(2);
    let ranks = Ranks::new(7, places.links().into(), places.all_links());
    let mut times = ArrivalTimes::new(inputs, micros(10), ranks);
    times.schedule(PortId(0), LinkEvent::Arrival, micros(10));
    times.turn(micros(20));
    assert!(times.pop_before(micros(20)).is_some());
    times.schedule(PortId(0), LinkEvent::Arrival, micros(1000));
    times.turn(micros(30));
    assert_eq!(times.nothing_before(), Some(micros(1000)));
}

/// How much is put in order at a time follows from how much there is.
#[test]
fn many_arrivals_come_in_their_order_and_so_do_few() {
    let (places, inputs) = ports(3000);
    let ranks = Ranks::new(7, places.links().into(), places.all_links());
    let longest = Time::from_picos(1000);
    let mut times = ArrivalTimes::new(inputs, longest, ranks.clone());
    let mut expected = std::collections::BTreeSet::new();
    let mut set = |times: &mut ArrivalTimes, port: u32, at: Time| {
        times.schedule(PortId(port), LinkEvent::Arrival, at);
        let rank = ranks.of(at, PortId(port), LinkEvent::Arrival);
        expected.insert((at, rank, port));
    };
    let mut draws = (0u64..).map(|draw| pathweave_random::mix(draw) >> 32);
    let mut after = |now: Time, most: u64| {
        let draw = draws.next().expect("numbers do not end");
        now + Time::from_picos(1 + draw % most)
    };
    for port in 0..3000 {
        set(&mut times, port, after(Time::ZERO, 1000));
    }
    let mut popped = Vec::new();
    // At first each port has the next arrival soon, then one that is far, and then none.
    for count in 0..20_000 {
        times.turn(Time::MAX);
        let Some(due) = times.pop_before(Time::MAX) else {
            break;
        };
        let port = times.due_link(due).port.0;
        popped.push((due.at, port));
        if count < 10_000 {
            set(&mut times, port, after(due.at, 1000));
        } else if count < 14_000 {
            set(&mut times, port, after(due.at, 1_000_000));
        }
    }
    // All at the same times, again and again.
    let first = popped.last().expect("they came").0;
    for round in 1..30 {
        for port in 0..3000 {
            set(&mut times, port, first + Time::from_micros(round));
        }
        for _ in 0..3000 {
            times.turn(Time::MAX);
            let due = times.pop_before(Time::MAX).expect("each port has one");
            popped.push((due.at, times.due_link(due).port.0));
        }
    }
    let expected: Vec<(Time, u32)> = expected
        .into_iter()
        .map(|(at, _, port)| (at, port))
        .collect();
    assert_eq!(popped.len(), 17_000 + 29 * 3000);
    assert!(popped == expected);
}

fn of_flow(flow: u32, kind: TimerKind) -> Alarm {
    Alarm::Transport(Timer::without_endpoint(flow, kind))
}

fn is_retransmission(event: &Event) -> bool {
    matches!(event, Event::Timer(alarm) if alarm.is_retransmission())
}

fn delay() -> impl Strategy<Value = u64> {
    // Equal times, near ones, and some far beyond the wheel's horizon.
    prop_oneof![Just(0), 0u64..20, 0u64..100_000, 0u64..100_000_000_000]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0u32..20, any::<bool>(), delay()).prop_map(|(l, d, t)| Step::Link(l, d, t)),
        2 => (0u32..20, delay()).prop_map(|(id, t)| Step::Timer(id, t)),
        1 => (0u32..20, delay()).prop_map(|(id, t)| Step::Start(id, t)),
        1 => (0u32..20, any::<bool>()).prop_map(|(l, d)| Step::Cancel(l, d)),
        5 => delay().prop_map(Step::Pop),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    /// Against a map ordered by the rule itself.
    #[test]
    fn events_come_out_in_the_order_of_the_rule(
        steps in prop::collection::vec(step(), 1..400), shift in 6u64..16, is_wheel: bool,
    ) {
        let spacing = Time::from_picos(1 << shift);
        let (places, inputs) = ports(20);
        let ranks = Ranks::new(7, places.links().into(), places.all_links());
        let longest = Time::from_picos(2000);
        let links = if is_wheel {
            LinkSchedule::Wheel(Wheel::new(20, longest, spacing, ranks.clone()))
        } else {
            LinkSchedule::ByInput(ArrivalTimes::new(inputs, spacing, ranks.clone()))
        };
        let mut scheduler = Scheduler::new(20, links);
        let mut oracle: BTreeMap<(Time, (u64, u32), u32), Event> = BTreeMap::new();
        let mut serial = 0;
        let mut last_start = Time::ZERO;
        for step in steps {
            match step {
                Step::Link(_, true, _) | Step::Cancel(_, true) if !is_wheel => {}
                Step::Link(link, departure, delay) => {
                    let event =
                        if departure { LinkEvent::Departure } else { LinkEvent::Arrival };
                    let port = PortId(link);
                    if oracle.values().any(|&other| other == Event::Link(port, event)) {
                        continue;
                    }
                    let at = scheduler.now() + Time::from_picos(delay);
                    scheduler.schedule(port, event, at);
                    let rank = ranks.of(at, port, event);
                    oracle.insert((at, rank, 0), Event::Link(port, event));
                }
                Step::Timer(id, delay) => {
                    let at = scheduler.now() + Time::from_picos(delay);
                    let alarm = match id % 3 {
                        0 => Alarm::Feedback(id),
                        1 => of_flow(id, TimerKind::Retransmission),
                        _ => of_flow(id, TimerKind::Pace),
                    };
                    scheduler.wake(alarm, at);
                    serial += 1;
                    let (kind, number, subflow) = alarm.name();
                    let rank = ranks.of_timer(at, kind, number, subflow);
                    oracle.insert((at, rank, serial), Event::Timer(alarm));
                }
                Step::Start(id, delay) => {
                    let at = last_start.max(scheduler.now() + Time::from_picos(delay));
                    last_start = at;
                    let alarm = Alarm::Start(SendingId(id), SendingSubflow(id));
                    scheduler.start_later(alarm, at);
                    serial += 1;
                    // At one time after all else, and in the order in which they were set.
                    oracle.insert((at, (u64::MAX, u32::MAX), serial), Event::Timer(alarm));
                }
                Step::Cancel(link, departure) => {
                    let event =
                        if departure { LinkEvent::Departure } else { LinkEvent::Arrival };
                    let set = Event::Link(PortId(link), event);
                    let key = oracle.iter().find(|(_, other)| **other == set);
                    let Some((&key, _)) = key else { continue };
                    scheduler.cancel(PortId(link), event, key.0);
                    oracle.remove(&key);
                }
                Step::Pop(delay) => {
                    let limit = scheduler.now() + Time::from_picos(delay);
                    let expected = oracle
                        .first_key_value()
                        .filter(|((at, ..), _)| *at < limit)
                        .map(|((at, ..), event)| (*at, *event));
                    if expected.is_some() {
                        oracle.pop_first();
                    }
                    prop_assert_eq!(scheduler.pop_before(limit), expected);
                }
            }
            let first = oracle.iter().find(|(_, event)| is_retransmission(event));
            let first = first.map_or(Time::MAX, |(&(at, ..), _)| at);
            prop_assert!(scheduler.no_retransmission_before() <= first);
        }
        while let Some(((at, ..), event)) = oracle.pop_first() {
            prop_assert_eq!(scheduler.pop_before(Time::MAX), Some((at, event)));
        }
        prop_assert_eq!(scheduler.pop_before(Time::MAX), None);
        prop_assert_eq!(scheduler.no_retransmission_before(), Time::MAX);
    }
}
