//! Patterns that follow their own clock, and the jitter of starts.

use crate::network::{KB, MS, hosts, program, run};
use pathweave_traffic::patterns::{
    Arrivals, Bursts, Incast, Listed, ListedFlow, ManyToMany, Permutation, Poisson, Random,
};
use pathweave_traffic::{Cdf, Event, Pattern, Program, Size};
use pathweave_units::{Bytes, Rate, Time};
use std::collections::BTreeSet;

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

#[test]
fn poisson_arrivals() {
    let pattern = Pattern::Poisson(poisson(Arrivals::PerSecond(20_000.0)));
    let flows = run(
        &mut program(pattern, &hosts(32, 4)),
        Time::from_secs(5),
        |_| MS,
    );
    // 100,000 expected, standard deviation 316.
    assert!(
        (flows.len() as f64 - 1e5).abs() < 1_300.0,
        "{}",
        flows.len()
    );
    let gaps: Vec<f64> = flows
        .windows(2)
        .map(|pair| (pair[1].0.at - pair[0].0.at).as_secs_f64() * 20_000.0)
        .collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let squares: f64 = gaps.iter().map(|gap| (gap - mean) * (gap - mean)).sum();
    let variance = squares / gaps.len() as f64;
    // Exponential with mean 1: standard errors 0.0032 and 0.009.
    assert!((mean - 1.0).abs() < 0.013, "{mean}");
    assert!((variance - 1.0).abs() < 0.036, "{variance}");
    let mut sorted = gaps;
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len() as f64;
    let distance = sorted.iter().enumerate().map(|(index, gap)| {
        let expected = 1.0 - libm::exp(-gap);
        (expected - index as f64 / count).abs()
    });
    assert!(distance.fold(0.0, f64::max) * count.sqrt() < 1.95);
}

#[test]
fn poisson_rates() {
    let hosts = hosts(400, 50);
    let size = Size::Empirical(Cdf::named("cache-follower").unwrap());
    let rate = |arrivals| poisson(arrivals).flows_per_second(&hosts, &size).unwrap();
    assert_eq!(rate(Arrivals::PerSecond(256.0)), 256.0);
    assert_eq!(rate(Arrivals::PerSourcePerSecond(2.0)), 800.0);
    let load = Arrivals::Load {
        load: 0.8,
        capacity: Rate::from_gbps(640),
    };
    let offered = rate(load) * size.mean().unwrap() * 8.0;
    assert!((offered / 512e9 - 1.0).abs() < 1e-12, "{offered}");
    // 350 of the 399 other hosts stand in another rack.
    let share = poisson(load).inter_rack_share(&hosts).unwrap();
    assert!((share - 350.0 / 399.0).abs() < 1e-12, "{share}");
    let different = Poisson {
        different_racks: true,
        ..poisson(load)
    };
    assert_eq!(different.inter_rack_share(&hosts), Ok(1.0));
}

#[test]
fn poisson_counts_and_pairs() {
    let pattern = Pattern::Poisson(Poisson {
        sources: Some(vec![0, 1, 2, 3]),
        destinations: Some(vec![3, 4, 5]),
        different_racks: true,
        count: Some(1_000),
        ..poisson(Arrivals::PerSecond(1e6))
    });
    let flows = run(&mut program(pattern, &hosts(8, 2)), Time::MAX, |_| MS);
    assert_eq!(flows.len(), 1_000);
    for (flow, _) in &flows {
        assert!(flow.source <= 3 && (3..=5).contains(&flow.destination));
        assert_ne!(flow.source / 2, flow.destination / 2);
    }
}

#[test]
fn arrivals_do_not_depend_on_completions() {
    let arrivals = |lasts: Time| -> Vec<(u32, u32, Time, Option<Bytes>)> {
        let pattern = Pattern::Poisson(poisson(Arrivals::PerSecond(1e5)));
        let flows = run(
            &mut program(pattern, &hosts(8, 2)),
            Time::from_millis(50),
            |_| lasts,
        );
        flows
            .into_iter()
            .map(|(flow, _)| (flow.source, flow.destination, flow.at, flow.size))
            .collect()
    };
    assert_eq!(arrivals(Time::from_micros(1)), arrivals(Time::from_secs(1)));
}

#[test]
fn many_to_many() {
    let pattern = Pattern::ManyToMany(ManyToMany {
        sources: Some((0..20).collect()),
        destinations: Some((480..500).collect()),
        count: Some(320),
        gap: MS * 5,
    });
    let flows = run(&mut program(pattern, &hosts(500, 10)), Time::MAX, |_| {
        MS * 400
    });
    assert_eq!(flows.len(), 320);
    for (index, (flow, _)) in flows.iter().enumerate() {
        assert_eq!(flow.at, MS * 5 * index as u64);
        assert!(flow.source < 20 && flow.destination >= 480);
    }
}

#[test]
fn bursts() {
    let pattern = Pattern::Bursts(Bursts {
        destination: 40,
        sources: None,
        flows: 30,
        spacing: Time::from_micros(50),
        period: Time::from_secs(1),
        bursts: Some(20),
    });
    let flows = run(&mut program(pattern, &hosts(41, 41)), Time::MAX, |_| MS);
    assert_eq!(flows.len(), 600);
    for (index, (flow, _)) in flows.iter().enumerate() {
        let (burst, place) = (index as u64 / 30, index as u64 % 30);
        assert_eq!(
            flow.at,
            Time::from_secs(1) * burst + Time::from_micros(50) * place
        );
        assert_eq!((flow.source, flow.destination), (place as u32, 40));
    }
}

#[test]
fn listed_flows() {
    let flow = |source, start, stop| ListedFlow {
        source,
        destination: 3,
        size: None,
        start: Time::from_secs(start),
        stop: Some(Time::from_secs(stop)),
    };
    let mut flows = vec![flow(0, 0, 40), flow(1, 5, 30), flow(2, 10, 20)];
    flows[1].size = Some(Size::Fixed(Bytes::new(7)));
    flows[2].size = Some(Size::Unlimited);
    let pattern = Pattern::Listed(Listed { flows });
    let started = run(&mut program(pattern, &hosts(4, 1)), Time::MAX, |_| MS);
    let seen: Vec<_> = started
        .iter()
        .map(|(flow, _)| (flow.listed, flow.at, flow.stop, flow.size))
        .collect();
    let seconds = Time::from_secs;
    assert_eq!(
        seen,
        [
            (Some(0), seconds(0), Some(seconds(40)), Some(KB)),
            (Some(1), seconds(5), Some(seconds(30)), Some(Bytes::new(7))),
            (Some(2), seconds(10), Some(seconds(20)), None),
        ]
    );
}

#[test]
fn jitter_puts_off_starts_but_not_answers_and_arrivals() {
    let hosts = hosts(64, 4);
    let jitter = Time::from_micros(435);
    let with = |pattern: Pattern| {
        Program::new(pattern, Size::Fixed(KB), &hosts, 1, 0, Some(jitter)).unwrap()
    };
    let mut starts = Vec::new();
    with(Pattern::Permutation(Permutation::default())).on(Event::Begin, MS, &mut starts);
    assert!(
        starts
            .iter()
            .all(|flow| MS <= flow.at && flow.at < MS + jitter)
    );
    let distinct: BTreeSet<Time> = starts.iter().map(|flow| flow.at).collect();
    assert_eq!(distinct.len(), 64);

    // The requests of a job go out together, an answer at once.
    let mut incast = with(Pattern::Incast(Incast {
        jobs: 1,
        ..Incast::default()
    }));
    starts.clear();
    incast.on(Event::Begin, Time::ZERO, &mut starts);
    assert!(starts.iter().all(|flow| flow.at == starts[0].at));
    assert_eq!(incast.jobs()[0].start, starts[0].at);
    assert!(starts[0].at > Time::ZERO);
    incast.on(Event::Finished { tag: 0, at: MS }, MS, &mut starts);
    assert_eq!(starts[8].at, MS);

    // Jitter changes no pair and no size.
    let pairs = |jitter| -> Vec<(u32, u32, Option<Bytes>)> {
        let size = Size::Uniform {
            min: KB,
            max: Bytes::new(1_000_000),
        };
        let pattern = Pattern::Random(Random::default());
        let mut program = Program::new(pattern, size, &hosts, 1, 0, jitter).unwrap();
        let mut starts = Vec::new();
        program.on(Event::Begin, Time::ZERO, &mut starts);
        starts
            .iter()
            .map(|f| (f.source, f.destination, f.size))
            .collect()
    };
    assert_eq!(pairs(None), pairs(Some(jitter)));
}

#[test]
fn incast_jobs_that_arrive_by_themselves() {
    let (rate, servers) = (20_000.0, 4);
    let hosts = hosts(32, 4);
    let incast = |arrivals, request| Incast {
        arrivals: Some(arrivals),
        servers,
        request: Bytes::new(request),
        response: Bytes::new(10_000),
        ..Incast::default()
    };
    let per_second = |arrivals, request| {
        let rate = incast(arrivals, request).jobs_per_second(hosts.count);
        rate.unwrap().expect("jobs arrive")
    };
    let load = Arrivals::Load {
        load: 0.5,
        capacity: Rate::from_gbps(16),
    };
    // 8 Gbps are 1 GB/s, and jobs have 4 x 12 KB, or 4 x 10 KB without requests.
    assert!((per_second(load, 2_000) / (1e9 / 48e3) - 1.0).abs() < 1e-9);
    assert!((per_second(load, 0) / (1e9 / 40e3) - 1.0).abs() < 1e-9);
    // Jobs last for longer than the time between them: they are open loop.
    let mut both = [2_000, 0].map(|request| {
        program(
            Pattern::Incast(incast(Arrivals::PerSecond(rate), request)),
            &hosts,
        )
    });
    let flows = both
        .each_mut()
        .map(|program| run(program, Time::from_secs(1), |_| MS * 3));
    let arrivals: Vec<Time> = both[0].jobs().iter().map(|job| job.start).collect();
    // 20,000 expected, standard deviation 141.
    assert!(
        (arrivals.len() as f64 - rate).abs() < 600.0,
        "{}",
        arrivals.len()
    );
    let without: Vec<Time> = both[1].jobs().iter().map(|job| job.start).collect();
    assert_eq!(arrivals, without, "arrivals do not follow from ends");
    let gaps: Vec<f64> = arrivals
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).as_secs_f64() * rate)
        .collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let squares: f64 = gaps.iter().map(|gap| (gap - mean) * (gap - mean)).sum();
    let variance = squares / gaps.len() as f64;
    // Exponential with mean 1: standard errors 0.007 and 0.02.
    assert!((mean - 1.0).abs() < 0.03, "{mean}");
    assert!((variance - 1.0).abs() < 0.08, "{variance}");
    for (flow, _) in &flows[1] {
        assert_eq!(flow.size, Some(Bytes::new(10_000)), "answers alone");
        assert!(!flow.established, "nobody has opened their connections");
    }
    let answers = flows[0].iter().filter(|(flow, _)| flow.established).count();
    assert!(answers > 70_000, "{answers}");
    let ended = both[1].jobs().iter().filter(|job| job.end.is_some());
    assert!(ended.count() > 19_000);
}

#[test]
fn incast_jobs_that_have_arrived_go_on_while_others_no_longer_come() {
    let incast = Incast {
        arrivals: Some(Arrivals::PerSecond(1e6)),
        servers: 2,
        ..Incast::default()
    };
    let mut program = program(Pattern::Incast(incast), &hosts(8, 4));
    let mut starts = Vec::new();
    program.on(Event::Begin, Time::ZERO, &mut starts);
    assert!(starts.is_empty());
    let wake = program.next_wake().expect("an arrival");
    program.on(Event::Wake, wake, &mut starts);
    assert_eq!(starts.len(), 2);
    program.drain();
    assert_eq!(program.next_wake(), None);
    for tag in 0..2 {
        program.on(Event::Finished { tag, at: MS }, MS, &mut starts);
    }
    assert_eq!(starts.len(), 4, "answers");
    for tag in 2..4 {
        program.on(Event::Finished { tag, at: MS * 2 }, MS * 2, &mut starts);
    }
    assert_eq!(starts.len(), 4);
    assert_eq!(program.jobs()[0].end, Some(MS * 2));
}
