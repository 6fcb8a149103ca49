//! Patterns that react to completions.

use crate::network::{KB, MS, hosts, program, run};
use pathweave_random::Stream;
use pathweave_traffic::patterns::{
    Incast, ManyToMany, ManyToOne, Permutation, Random, RequestResponse,
};
use pathweave_traffic::{Event, FlowStart, Pattern, Program, Size};
use pathweave_units::{Bytes, Time};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn permutations_are_derangements_in_rounds() {
    let pattern = Pattern::Permutation(Permutation {
        hosts: None,
        rounds: Some(5),
        pairs: None,
    });
    let mut stream = Stream::new(4, "lasts", 0);
    let flows = run(&mut program(pattern, &hosts(128, 4)), Time::MAX, |_| {
        Time::from_micros(stream.between(1, 100))
    });
    assert_eq!(flows.len(), 5 * 128);
    let mut last_end = Time::ZERO;
    let mut orders = BTreeSet::new();
    for round in flows.chunks(128) {
        let sources: BTreeSet<u32> = round.iter().map(|(flow, _)| flow.source).collect();
        let destinations: Vec<u32> = round.iter().map(|(flow, _)| flow.destination).collect();
        assert_eq!(sources.len(), 128);
        assert_eq!(destinations.iter().collect::<BTreeSet<_>>().len(), 128);
        // A round starts when the last flow of the one before ends.
        assert!(round.iter().all(|(flow, _)| flow.at == last_end));
        last_end = round.iter().filter_map(|(_, end)| *end).max().unwrap();
        orders.insert(destinations);
    }
    assert_eq!(orders.len(), 5);
}

#[test]
fn derangements_are_equally_likely() {
    // Nine derangements of four: chi-square with 8 degrees of freedom stays below 26.1 with
    // probability 0.999.
    let pattern = Pattern::Permutation(Permutation {
        hosts: None,
        rounds: Some(9_000),
        pairs: None,
    });
    let flows = run(&mut program(pattern, &hosts(4, 4)), Time::MAX, |_| MS);
    let mut counts: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
    for round in flows.chunks(4) {
        let order = round.iter().map(|(flow, _)| flow.destination).collect();
        *counts.entry(order).or_default() += 1.0;
    }
    assert_eq!(counts.len(), 9);
    let chi_square: f64 = counts.values().map(|n| (n - 1e3) * (n - 1e3) / 1e3).sum();
    assert!(chi_square < 26.1, "{chi_square}");
}

#[test]
fn permutation_of_some_hosts() {
    let some = vec![3, 5, 8];
    let pattern = Pattern::Permutation(Permutation {
        hosts: Some(some.clone()),
        rounds: Some(1),
        pairs: None,
    });
    let flows = run(&mut program(pattern, &hosts(10, 1)), Time::MAX, |_| MS);
    assert_eq!(flows.len(), 3);
    for (flow, _) in &flows {
        assert!(some.contains(&flow.source) && some.contains(&flow.destination));
    }
}

#[test]
fn random_respects_the_receiver_limit_and_racks() {
    let hosts = hosts(64, 4);
    for (limit, different_racks, flows_per_host) in [
        (4, false, 1),
        (4, true, 1),
        (1, false, 1),
        (2, true, 2),
        (1, false, 3),
    ] {
        let pattern = Pattern::Random(Random {
            max_inbound: Some(limit),
            different_racks,
            flows_per_host,
            ..Random::default()
        });
        let mut stream = Stream::new(4, "lasts", 0);
        let flows = run(
            &mut program(pattern, &hosts),
            Time::from_millis(100),
            |_| Time::from_micros(stream.between(500, 5_000)),
        );
        assert!(flows.len() > 1_000);
        let mut changes = Vec::new();
        for (flow, end) in &flows {
            let racks = [flow.source, flow.destination].map(|host| hosts.rack[host as usize]);
            assert!(!different_racks || racks[0] != racks[1]);
            changes.push((flow.at, 1i64, flow));
            // At equal times the end comes first, as it does in the program.
            changes.extend(end.map(|end| (end, -1, flow)));
        }
        changes.sort_by_key(|&(time, change, _)| (time, change));
        let mut inbound = vec![0; 64];
        let mut outbound = vec![0; 64];
        for (_, change, flow) in changes {
            inbound[flow.destination as usize] += change;
            outbound[flow.source as usize] += change;
            assert!(inbound[flow.destination as usize] <= i64::from(limit));
            assert!(outbound[flow.source as usize] <= i64::from(flows_per_host));
        }
    }
}

#[test]
fn random_keeps_every_host_busy_and_picks_evenly() {
    let pattern = Pattern::Random(Random {
        max_inbound: None,
        ..Random::default()
    });
    let flows = run(
        &mut program(pattern, &hosts(16, 4)),
        Time::from_millis(2_000),
        |_| MS,
    );
    // Every host starts a flow each millisecond.
    assert_eq!(flows.len(), 16 * 2_001);
    let mut counts = vec![0.0; 16 * 16];
    for (flow, _) in &flows {
        counts[(flow.source * 16 + flow.destination) as usize] += 1.0;
    }
    let expected = flows.len() as f64 / 240.0;
    let chi_square: f64 = (0..256)
        .filter(|pair| pair / 16 != pair % 16)
        .map(|pair| (counts[pair] - expected) * (counts[pair] - expected) / expected)
        .sum();
    // 239 degrees of freedom: above 313 with probability 0.001.
    assert!(chi_square < 313.0, "{chi_square}");
}

#[test]
fn random_sources_wait_for_a_free_receiver() {
    let pattern = Pattern::Random(Random {
        sources: Some(vec![0, 1, 2]),
        destinations: Some(vec![3]),
        max_inbound: Some(1),
        ..Random::default()
    });
    let flows = run(
        &mut program(pattern, &hosts(4, 1)),
        Time::from_millis(9),
        |_| MS,
    );
    // One at a time, in turn.
    let sources: Vec<u32> = flows.iter().map(|(flow, _)| flow.source).collect();
    assert_eq!(sources, [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]);
}

#[test]
fn incast_jobs() {
    let options = Incast::default();
    let mut program = program(Pattern::Incast(options.clone()), &hosts(64, 4));
    let mut stream = Stream::new(4, "lasts", 0);
    let flows = run(&mut program, Time::from_millis(200), |_| {
        Time::from_micros(stream.between(100, 2_000))
    });
    let jobs = program.jobs();
    assert!(jobs.len() > 100);
    let mut by_job: BTreeMap<u32, Vec<&(FlowStart, Option<Time>)>> = BTreeMap::new();
    for flow in &flows {
        by_job.entry(flow.0.job.unwrap()).or_default().push(flow);
    }
    assert_eq!(by_job.len(), jobs.len());
    let mut finished = 0;
    for (&index, flows) in &by_job {
        let job = &jobs[index as usize];
        assert_eq!((job.flows, job.bytes), (16, Bytes::new(8 * 66_000)));
        let requests: Vec<_> = flows
            .iter()
            .filter(|f| f.0.size == Some(options.request))
            .collect();
        let answers: Vec<_> = flows
            .iter()
            .filter(|f| f.0.size == Some(options.response))
            .collect();
        assert_eq!(requests.len(), 8);
        let client = requests[0].0.source;
        let servers: BTreeSet<u32> = requests.iter().map(|f| f.0.destination).collect();
        assert_eq!(servers.len(), 8);
        assert!(!servers.contains(&client));
        assert!(
            requests
                .iter()
                .all(|f| f.0.source == client && f.0.at == job.start)
        );
        for answer in &answers {
            assert_eq!(answer.0.destination, client);
            let request = requests.iter().find(|f| f.0.destination == answer.0.source);
            // A server answers the moment that it has the request.
            assert_eq!(request.unwrap().1, Some(answer.0.at));
        }
        if let Some(end) = job.end {
            finished += 1;
            assert_eq!(answers.len(), 8);
            assert_eq!(answers.iter().map(|f| f.1.unwrap()).max(), Some(end));
            assert!(
                jobs.iter().any(|next| next.start == end),
                "the next job starts"
            );
        }
    }
    // Eight jobs at all times.
    assert_eq!(jobs.len() - finished, 8);
}

#[test]
fn many_to_one() {
    let pattern = Pattern::ManyToOne(ManyToOne {
        destination: 9,
        sources: None,
        concurrency: 5,
        gap: MS * 5,
        count: Some(45),
    });
    let flows = run(&mut program(pattern, &hosts(10, 1)), Time::MAX, |_| MS);
    assert_eq!(flows.len(), 45);
    assert!(flows.iter().all(|(flow, _)| flow.destination == 9));
    // Five at a time, each 5 ms after one has ended; all sources take their turn.
    for (index, (flow, _)) in flows.iter().enumerate() {
        assert_eq!(flow.at, MS * 6 * (index as u64 / 5));
    }
    for turn in flows.chunks(9) {
        let sources: BTreeSet<u32> = turn.iter().map(|(flow, _)| flow.source).collect();
        assert_eq!(sources.len(), 9);
    }
}

#[test]
fn draining() {
    let hosts = hosts(16, 4);
    let mut incast = program(
        Pattern::Incast(Incast {
            jobs: 1,
            servers: 2,
            ..Incast::default()
        }),
        &hosts,
    );
    let mut starts = Vec::new();
    incast.on(Event::Begin, Time::ZERO, &mut starts);
    incast.drain();
    incast.on(Event::Finished { tag: 0, at: MS }, MS, &mut starts);
    incast.on(Event::Finished { tag: 1, at: MS }, MS, &mut starts);
    assert_eq!(starts.len(), 4, "answers to what was asked still come");
    incast.on(Event::Finished { tag: 2, at: MS * 2 }, MS * 2, &mut starts);
    incast.on(Event::Finished { tag: 3, at: MS * 3 }, MS * 3, &mut starts);
    assert_eq!(starts.len(), 4, "no new job");
    assert_eq!(incast.jobs()[0].end, Some(MS * 3));

    let others = [
        Pattern::Permutation(Permutation::default()),
        Pattern::Random(Random::default()),
        Pattern::ManyToOne(ManyToOne {
            destination: 0,
            sources: None,
            concurrency: 3,
            gap: MS,
            count: None,
        }),
        Pattern::ManyToMany(ManyToMany {
            sources: None,
            destinations: None,
            count: None,
            gap: MS,
        }),
    ];
    for pattern in others {
        let mut program = program(pattern, &hosts);
        let mut starts = Vec::new();
        program.on(Event::Begin, Time::ZERO, &mut starts);
        let begun = starts.len() as u64;
        program.drain();
        assert_eq!(program.next_wake(), None);
        for tag in 0..begun {
            program.on(Event::Finished { tag, at: MS }, MS, &mut starts);
        }
        assert_eq!(starts.len() as u64, begun);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]

    /// Same seed and group: same flows; another seed or group: others.
    #[test]
    fn flows_depend_on_seed_and_group_only(seed: u64, group: u64) {
        let all = |seed, group| {
            let hosts = hosts(32, 4);
            let pattern = Pattern::Random(Random::default());
            let size = Size::Uniform { min: KB, max: Bytes::new(1_000_000) };
            let mut program = Program::new(pattern, size, &hosts, seed, group, Some(MS)).unwrap();
            run(&mut program, MS * 20, |flow| Time::from_nanos(flow.size.unwrap().get()))
        };
        prop_assert_eq!(all(seed, group), all(seed, group));
        prop_assert_ne!(all(seed, group), all(seed.wrapping_add(1), group));
        prop_assert_ne!(all(seed, group), all(seed, group.wrapping_add(1)));
    }

    /// Whatever the order of completions, the limit holds and nobody is left out for ever.
    #[test]
    fn random_never_stalls(seed: u64, count in 3u32..12, limit in 1u32..4, per_host in 1u32..4) {
        let pattern = Pattern::Random(Random {
            max_inbound: Some(limit),
            flows_per_host: per_host,
            ..Random::default()
        });
        let mut stream = Stream::new(seed, "lasts", 0);
        let mut program = Program::new(pattern, Size::Fixed(KB), &hosts(count, 1), seed, 0, None).unwrap();
        let flows = run(&mut program, MS * 400, |_| Time::from_micros(stream.between(100, 2_000)));
        let last = flows.last().unwrap().0.at;
        prop_assert!(last > MS * 390);
        let mut served = vec![false; count as usize];
        for (flow, _) in &flows {
            served[flow.source as usize] = true;
        }
        prop_assert!(served.iter().all(|&served| served));
    }
}

#[test]
fn clients_ask_again_when_they_have_their_answer() {
    let options = RequestResponse {
        clients: Some(vec![0, 1, 2]),
        servers: Some(vec![2, 3, 4]),
        outstanding: 2,
        request: Bytes::new(100),
        response: Bytes::new(9_000),
        service_time: MS..=MS * 3,
        think_time: MS * 2..=MS * 2,
        count: Some(500),
    };
    let pattern = Pattern::RequestResponse(options.clone());
    let mut program = program(pattern, &hosts(8, 4));
    let flows = run(&mut program, Time::from_secs(100), |_| MS);
    let jobs = program.jobs();
    assert_eq!((jobs.len(), flows.len()), (500, 1000));
    let mut by_job: BTreeMap<u32, Vec<&(FlowStart, Option<Time>)>> = BTreeMap::new();
    for flow in &flows {
        by_job.entry(flow.0.job.unwrap()).or_default().push(flow);
    }
    let mut served = BTreeSet::new();
    let mut service = 0.0;
    for (&index, parts) in &by_job {
        let [(request, asked), (answer, answered)] = parts[..] else {
            panic!("a request and an answer");
        };
        let job = &jobs[index as usize];
        assert_eq!((job.flows, job.bytes), (2, Bytes::new(9_100)));
        assert_eq!(
            (request.source, request.destination),
            (answer.destination, answer.source)
        );
        assert!(request.source < 3 && (2..5).contains(&request.destination));
        served.insert((request.source, request.destination));
        assert_eq!(
            (request.size, answer.size),
            (Some(options.request), Some(options.response))
        );
        assert!(!request.established && answer.established);
        let waited = answer.at - asked.unwrap();
        assert!((MS..=MS * 3).contains(&waited), "{waited}");
        service += waited.as_secs_f64();
        assert_eq!((job.start, job.end), (request.at, *answered));
    }
    assert_eq!(served.len(), 8, "all pairs but host 2 with itself");
    // Uniform between 1 and 3 ms: a standard error of 0.026 ms.
    assert!((service / 500.0 - 2e-3).abs() < 0.1e-3, "{service}");
    // A client has two exchanges at most, and thinks for 2 ms between them.
    for client in 0..3 {
        let mut ends: Vec<Time> = Vec::new();
        let mut of_client: Vec<&pathweave_traffic::Job> = by_job
            .iter()
            .filter(|(_, parts)| parts[0].0.source == client)
            .map(|(&job, _)| &jobs[job as usize])
            .collect();
        of_client.sort_by_key(|job| job.start);
        for job in of_client {
            if ends.len() == 2 {
                let earlier = ends.iter().position(|&end| end + MS * 2 == job.start);
                ends.swap_remove(earlier.expect("an exchange that ended 2 ms before"));
            }
            ends.push(job.end.unwrap());
        }
    }
}
