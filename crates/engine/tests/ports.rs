//! The port that needs one event a packet and the one that also acts at departures give the same
//! results, whatever happens to links and whenever.

use crate::plans;
use pathweave_engine::{Progress, run, run_with_departure_ports};
use pathweave_fabric::LinkId;
use pathweave_network::{Limit, Marking, MarkingRule, QueueConfig, Threshold};
use pathweave_scenario::{Change, LinkChange, Plan, Sampling};
use pathweave_transport::Recovery;
use pathweave_units::{Bytes, Rate, Time};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const END: Time = Time::from_millis(5);
const LINKS: u32 = 96; // of a fat-tree with k = 4, both directions

#[derive(Clone, Copy, Debug)]
enum Marks {
    None,
    Step(u32),
    StepInBytes(u64),
    Linear,
    Red,
}

#[derive(Clone, Copy, Debug)]
enum When {
    At(u64),
    /// This many picoseconds before, at or after an event of the undisturbed run, given by its place
    /// in the list of events.
    NearEvent {
        event: usize,
        hops_before: u64,
        offset: i64,
    },
}

#[derive(Clone, Copy, Debug)]
enum What {
    Rate(u64),
    /// Down for this many microseconds; forever if more than the run lasts.
    Down(u64),
}

#[derive(Clone, Debug)]
struct Case {
    seed: u64,
    controller: (&'static str, u32),
    limit_in_bytes: bool,
    limit: u32,
    marks: Marks,
    newreno: bool,
    jitter: bool,
    drop_ecn_blind: bool,
    changes: Vec<(u32, When, What)>,
}

fn when() -> impl Strategy<Value = When> {
    prop_oneof![
        (0..END.as_picos()).prop_map(When::At),
        (0usize..100_000, 0u64..3, -1i64..=1).prop_map(|(event, hops_before, offset)| {
            When::NearEvent {
                event,
                hops_before,
                offset,
            }
        }),
    ]
}

fn what() -> impl Strategy<Value = What> {
    prop_oneof![
        // From a fiftieth to ten times the rate at the start.
        prop::sample::select(vec![20u64, 100, 333, 500, 1000, 2000, 10_000]).prop_map(What::Rate),
        prop_oneof![0u64..3, 1u64..300, Just(10_000)].prop_map(What::Down),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    let controllers = vec![
        ("reno", 1),
        ("cubic", 1),
        ("dctcp", 1),
        ("bos", 1),
        ("xmp", 4),
        ("lia", 2),
    ];
    let marks = prop_oneof![
        Just(Marks::None),
        (0u32..20).prop_map(Marks::Step),
        (0u64..30_000).prop_map(Marks::StepInBytes),
        Just(Marks::Linear),
        Just(Marks::Red),
    ];
    (
        any::<u64>(),
        prop::sample::select(controllers),
        (any::<bool>(), 3u32..60, marks),
        (any::<bool>(), any::<bool>(), any::<bool>()),
        prop::collection::vec((0..LINKS, when(), what()), 1..40),
    )
        .prop_map(
            |(seed, controller, (limit_in_bytes, limit, marks), flags, changes)| Case {
                seed,
                controller,
                limit_in_bytes,
                limit,
                marks,
                newreno: flags.0,
                jitter: flags.1,
                drop_ecn_blind: flags.2,
                changes,
            },
        )
}

fn undisturbed(case: &Case) -> Plan {
    let step = |threshold| Marking::Step {
        threshold,
        rule: MarkingRule::Above,
    };
    let marking = match case.marks {
        Marks::None => Marking::None,
        Marks::Step(k) => step(Threshold::Packets(f64::from(k))),
        Marks::StepInBytes(k) => step(Threshold::Bytes(Bytes::new(k))),
        Marks::Linear => Marking::Linear {
            from: 2.0,
            to: 12.0,
            probability: 0.7,
        },
        Marks::Red => Marking::Red {
            from: 1.0,
            to: 6.0,
            probability: 0.3,
            weight: 0.1,
        },
    };
    let limit = if case.limit_in_bytes {
        Limit::Bytes(Bytes::new(u64::from(case.limit) * 1500))
    } else {
        Limit::Packets(case.limit)
    };
    let queue = QueueConfig {
        limit,
        marking,
        drop_ecn_blind: case.drop_ecn_blind,
    };
    // Sizes that let some flows finish: their places are used again.
    let size = pathweave_traffic::Size::Uniform {
        min: Bytes::new(1),
        max: Bytes::new(500_000),
    };
    let pattern = pathweave_traffic::Pattern::Random(pathweave_traffic::patterns::Random {
        max_inbound: Some(3),
        ..Default::default()
    });
    let (name, subflows) = case.controller;
    let mut group = plans::group(name, &[], pattern, size);
    group.subflows = subflows;
    group.transport.recovery = if case.newreno {
        Recovery::NewReno
    } else {
        Recovery::Sack
    };
    // Links come back within the run: endpoints must notice.
    group.transport.minimum_rto = Time::from_micros(500);
    group.transport.initial_rto = Time::from_millis(1);
    let mut plan = plans::plan(plans::fat_tree(4), queue, vec![group], Some(END));
    plan.seed = case.seed;
    plan.jitter = case.jitter;
    plan
}

/// Times at which packets reach hosts: when windows change.
fn events(plan: &mut Plan) -> Vec<u64> {
    plan.record.windows = Some(Sampling::OnChange);
    let output = plans::run(plan);
    plan.record.windows = None;
    let times = plans::table(&output, "windows").numbers("time_s");
    times
        .iter()
        .map(|seconds| (seconds * 1e12).round() as u64)
        .collect()
}

fn disturbed(case: &Case) -> Plan {
    let mut plan = undisturbed(case);
    let events = events(&mut plan);
    for &(link, when, what) in &case.changes {
        let at = match when {
            When::At(picos) => picos,
            When::NearEvent {
                event,
                hops_before,
                offset,
            } => {
                // An acknowledgement left the port one delay before it arrived, and had joined it
                // one transmission earlier if nothing waited there.
                let event = events[event % events.len()];
                let earlier = hops_before.div_ceil(2) * 10_000_000 + hops_before / 2 * 416_000;
                event.saturating_sub(earlier).saturating_add_signed(offset)
            }
        };
        let at = Time::from_picos(at);
        let link = LinkId(link);
        match what {
            What::Rate(mbps) => {
                let change = Change::Rate(Rate::from_mbps(mbps));
                plan.events.push(LinkChange { at, link, change });
            }
            What::Down(micros) => {
                plan.events.push(LinkChange {
                    at,
                    link,
                    change: Change::Down,
                });
                let back = at + Time::from_micros(micros);
                plan.events.push(LinkChange {
                    at: back,
                    link,
                    change: Change::Up,
                });
            }
        }
    }
    plan.events.sort_by_key(|event| event.at);
    plan
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 50,
        rng_seed: RngSeed::Fixed(2013),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]
    #[test]
    fn both_ports_give_the_same_results_under_random_failures_and_rates(case in case()) {
        let plan = disturbed(&case);
        let fast = run(&plan, &Progress::default()).expect("a run without defects");
        let slow = run_with_departure_ports(&plan, &Progress::default())
            .expect("a run without defects");
        for (ours, theirs) in fast.tables.iter().zip(&slow.tables) {
            for ((name, ours), (_, theirs)) in ours.columns.iter().zip(&theirs.columns) {
                // NaN is not equal to itself, but prints alike.
                prop_assert_eq!(format!("{ours:?}"), format!("{theirs:?}"), "{}", name);
            }
        }
        prop_assert_eq!(&fast.hash, &slow.hash);
        prop_assert_eq!(fast.counters, slow.counters);
        prop_assert!(fast.counters.packet_hops > 1000);
    }
}

/// The schedules above reach what they are meant to: losses of every kind, marks, drops, timeouts.
#[test]
fn the_schedules_disturb_loaded_links() {
    let mut plan = undisturbed(&Case {
        seed: 3,
        controller: ("dctcp", 1),
        limit_in_bytes: false,
        limit: 10,
        marks: Marks::Step(5),
        newreno: false,
        jitter: false,
        drop_ecn_blind: false,
        changes: Vec::new(),
    });
    for (number, event) in events(&mut plan).into_iter().step_by(30).enumerate() {
        let link = LinkId(number as u32 * 7 % LINKS);
        let at = Time::from_picos(event);
        plan.events.push(LinkChange {
            at,
            link,
            change: Change::Down,
        });
        let back = at + Time::from_micros(100);
        plan.events.push(LinkChange {
            at: back,
            link,
            change: Change::Up,
        });
    }
    plan.events.sort_by_key(|event| event.at);
    let fast = plans::run(&plan);
    let slow = run_with_departure_ports(&plan, &Progress::default()).expect("a run");
    assert_eq!(fast.hash, slow.hash);
    assert!(fast.counters.lost_to_failures > 100, "{:?}", fast.counters);
    assert!(
        fast.counters.marked > 100 && fast.counters.dropped > 10,
        "{:?}",
        fast.counters
    );
    assert!(plans::counted(&fast, "timeouts").iter().sum::<u64>() > 5);
}
