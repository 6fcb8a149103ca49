//! What patterns refuse, and how they say it.

use crate::network::{KB, MS, hosts};
use pathweave_traffic::patterns::{
    Arrivals, Bursts, Incast, Listed, ListedFlow, ManyToMany, ManyToOne, Permutation,
    PermutationPart, Poisson, Random,
};
use pathweave_traffic::{Hosts, PATTERNS, Pattern, Program, Size};
use pathweave_units::{Bytes, Rate, Time};

fn poisson(arrivals: Arrivals) -> Poisson {
    Poisson {
        arrivals,
        sources: None,
        destinations: None,
        different_racks: false,
        count: None,
        pairs: None,
    }
}

fn part(hosts: Option<Vec<u32>>, part: std::ops::Range<u32>) -> Pattern {
    Pattern::Permutation(Permutation {
        pairs: Some(PermutationPart { hosts, part }),
        ..Permutation::default()
    })
}

fn refusal(pattern: Pattern, hosts: &Hosts) -> String {
    Program::new(pattern, Size::Fixed(KB), hosts, 1, 0, None)
        .expect_err("should be refused")
        .to_string()
}

#[test]
fn refusals() {
    let four = hosts(4, 2);
    let cases: Vec<(Pattern, &str)> = vec![
        (
            Pattern::Permutation(Permutation {
                hosts: Some(vec![1]),
                rounds: None,
                pairs: None,
            }),
            "at least two hosts",
        ),
        (
            Pattern::Permutation(Permutation {
                hosts: Some(vec![1, 2, 1]),
                rounds: None,
                pairs: None,
            }),
            "lists host 1 twice",
        ),
        (
            Pattern::Permutation(Permutation {
                hosts: Some(vec![1, 4]),
                rounds: None,
                pairs: None,
            }),
            "hosts names host 4, but the fabric has 4 hosts (0 to 3)",
        ),
        (
            Pattern::Permutation(Permutation {
                hosts: None,
                rounds: Some(0),
                pairs: None,
            }),
            "rounds is 0",
        ),
        (
            part(Some(vec![2]), 0..1),
            "pairs.permutation needs at least two hosts",
        ),
        (
            part(None, 2..2),
            "pairs.part is [2, 2]; the permutation has 4 pairs: give the first pair, from 0, and the one after the last, up to 4",
        ),
        (part(None, 0..5), "pairs.part is [0, 5]"),
        (
            part(Some(vec![0, 4]), 0..1),
            "pairs.permutation names host 4",
        ),
        (
            Pattern::Random(Random {
                destinations: Some(vec![]),
                ..Random::default()
            }),
            "destinations lists no host",
        ),
        (
            Pattern::Random(Random {
                destinations: Some(vec![2]),
                ..Random::default()
            }),
            "host 2 has no destination to send to: it is the only destination",
        ),
        (
            Pattern::Random(Random {
                destinations: Some(vec![0, 1]),
                different_racks: true,
                ..Random::default()
            }),
            "host 0 has no destination to send to: all destinations stand in its rack",
        ),
        (
            Pattern::Random(Random {
                flows_per_host: 0,
                ..Random::default()
            }),
            "flows_per_host is 0",
        ),
        (
            Pattern::Random(Random {
                max_inbound: Some(0),
                ..Random::default()
            }),
            "max_inbound is 0",
        ),
        (
            Pattern::Incast(Incast::default()),
            "a job then needs 9 hosts and there are 4",
        ),
        (
            Pattern::Incast(Incast {
                servers: 2,
                response: Bytes::ZERO,
                ..Incast::default()
            }),
            "response is 0",
        ),
        (
            Pattern::Poisson(poisson(Arrivals::PerSecond(0.0))),
            "the arrival rate is 0; it must be a number above zero",
        ),
        (
            Pattern::Poisson(poisson(Arrivals::PerSecond(f64::INFINITY))),
            "the arrival rate is inf",
        ),
        (
            Pattern::Poisson(poisson(Arrivals::Load {
                load: -0.5,
                capacity: Rate::from_gbps(1),
            })),
            "load is -0.5",
        ),
        (
            Pattern::ManyToOne(ManyToOne {
                destination: 1,
                sources: Some(vec![0, 1]),
                concurrency: 1,
                gap: MS,
                count: None,
            }),
            "sources lists host 1, which is the destination",
        ),
        (
            Pattern::ManyToMany(ManyToMany {
                sources: None,
                destinations: None,
                count: None,
                gap: Time::ZERO,
            }),
            "gap is zero",
        ),
        (
            Pattern::Bursts(Bursts {
                destination: 0,
                sources: None,
                flows: 1,
                spacing: MS,
                period: Time::ZERO,
                bursts: Some(2),
            }),
            "period is zero",
        ),
        (Pattern::Listed(Listed::default()), "flows is empty"),
    ];
    for (pattern, text) in cases {
        let error = refusal(pattern, &four);
        assert!(error.contains(text), "{error}");
    }
    let load = Pattern::Poisson(poisson(Arrivals::Load {
        load: 0.5,
        capacity: Rate::from_gbps(1),
    }));
    let error = Program::new(load, Size::Unlimited, &four, 1, 0, None).unwrap_err();
    assert!(error.to_string().contains("unlimited size"), "{error}");
    let uneven = Hosts {
        count: 3,
        ..four.clone()
    };
    assert!(
        Program::new(
            Pattern::Random(Random::default()),
            Size::Fixed(KB),
            &uneven,
            1,
            0,
            None
        )
        .is_err()
    );
}

#[test]
fn patterns_are_listed_by_name() {
    assert_eq!(PATTERNS.len(), 12);
    assert_eq!(Pattern::Random(Random::default()).name(), "random");
    assert_eq!(Pattern::Listed(Listed::default()).name(), "flows");
}

#[test]
fn refusals_of_listed_flows() {
    let flow = ListedFlow {
        source: 1,
        destination: 3,
        size: None,
        start: Time::from_secs(5),
        stop: None,
    };
    let flows = vec![flow.clone(), flow];
    let pattern = Pattern::Listed(Listed { flows });
    let broken = |change: &dyn Fn(&mut ListedFlow)| {
        let Pattern::Listed(mut listed) = pattern.clone() else {
            unreachable!()
        };
        change(&mut listed.flows[1]);
        refusal(Pattern::Listed(listed), &hosts(4, 1))
    };
    assert_eq!(
        broken(&|flow| flow.destination = 1),
        "flows[1] sends from host 1 to itself"
    );
    assert!(broken(&|flow| flow.source = 9).starts_with("flows[1].source names host 9"));
    assert!(broken(&|flow| flow.stop = Some(MS)).contains("before it starts at 5 s"));
    assert!(broken(&|flow| flow.size = Some(Size::Fixed(Bytes::ZERO))).contains("flows[1] has an"));
}
