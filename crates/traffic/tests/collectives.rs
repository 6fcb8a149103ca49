//! Collective operations: what ends up where, and how long it takes in a network where all is known.

use crate::network::{hosts, program, run};
use pathweave_traffic::collectives::{Operation, Schedule, Shape};
use pathweave_traffic::patterns::{Collective, Slow, Stragglers};
use pathweave_traffic::tasks::{Action, Graph};
use pathweave_traffic::{Pattern, Placement};
use pathweave_units::{Bytes, Time};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn shape(operation: Operation, ranks: u32, bytes: u64) -> Shape {
    Shape {
        operation,
        ranks,
        bytes: Bytes::new(bytes),
        chunks: 1,
        schedule: Schedule::AtOnce,
    }
}

fn collective(shape: Shape) -> Collective {
    Collective {
        shape,
        placement: Placement::Packed(None),
        jobs: None,
        iterations: 1,
        compute: (Time::ZERO, Time::ZERO),
        stragglers: None,
    }
}

/// Carries out the tasks one at a time, whichever `pick` chooses of those that can begin: a transfer carries what
/// its rank has when it begins. Gives the tasks in the order of their ends.
fn in_order(graph: &Graph, mut pick: impl FnMut(usize) -> usize, mut carry: impl FnMut(u32)) {
    let tasks = graph.actions().len();
    let mut waits = vec![0usize; tasks];
    for task in 0..tasks as u32 {
        for &after in graph.after_end(task).iter().chain(graph.after_start(task)) {
            waits[after as usize] += 1;
        }
    }
    let mut ready: Vec<u32> = (0..tasks as u32)
        .filter(|&task| waits[task as usize] == 0)
        .collect();
    let mut done = 0;
    while !ready.is_empty() {
        let task = ready.swap_remove(pick(ready.len()));
        carry(task);
        done += 1;
        for &after in graph.after_end(task).iter().chain(graph.after_start(task)) {
            waits[after as usize] -= 1;
            if waits[after as usize] == 0 {
                ready.push(after);
            }
        }
    }
    assert_eq!(done, tasks, "all tasks are carried out");
}

/// Which ranks' contributions each rank has of each piece: how often.
type Held = BTreeMap<(u32, u32), Vec<u32>>;

/// What ranks hold after an operation in which each begins with its own contribution to each of `pieces`.
fn after(
    shape: &Shape,
    pieces: u32,
    begins: impl Fn(u32, u32) -> bool,
    pick: impl FnMut(usize) -> usize,
) -> Held {
    let built = shape.build().unwrap();
    let moved: BTreeMap<u32, _> = built
        .moved
        .iter()
        .map(|moved| (moved.task, *moved))
        .collect();
    let mut held: Held = BTreeMap::new();
    for rank in 0..shape.ranks {
        for piece in 0..pieces {
            let mut own = vec![0; shape.ranks as usize];
            own[rank as usize] = u32::from(begins(rank, piece));
            held.insert((rank, piece), own);
        }
    }
    in_order(&built.graph, pick, |task| {
        let Action::Send { from, to, .. } = built.graph.actions()[task as usize] else {
            return;
        };
        let moved = moved[&task];
        let came = held[&(from, moved.piece)].clone();
        let there = held.get_mut(&(to, moved.piece)).unwrap();
        for (there, came) in there.iter_mut().zip(came) {
            *there = if moved.added { *there + came } else { came };
        }
    });
    held
}

/// Every number of bytes that is moved is that of the closed form: what each rank sends.
fn bytes_sent(graph: &Graph, rank: u32) -> u64 {
    let sent = graph.actions().iter().filter_map(|action| match action {
        Action::Send { from, bytes, .. } if *from == rank => Some(bytes.get()),
        _ => None,
    });
    sent.sum()
}

fn pieces(shape: &Shape) -> u32 {
    match shape.operation {
        Operation::TreeAllReduce => 2 * shape.chunks,
        _ => shape.ranks * shape.chunks,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 48, ..ProptestConfig::default() })]

    /// However the transfers' ends fall, every rank has every contribution to every piece exactly once.
    #[test]
    fn an_all_reduce_adds_every_contribution_once(
        ranks in 2u32..20, chunks in 1u32..5, tree: bool, extra in 0u64..1000,
        picks in prop::collection::vec(any::<usize>(), 64),
    ) {
        let operation = if tree { Operation::TreeAllReduce } else { Operation::RingAllReduce };
        let shape = Shape { chunks, ..shape(operation, ranks, 2 * u64::from(ranks * chunks) + extra) };
        let mut turn = 0;
        let held = after(&shape, pieces(&shape), |_, _| true, |ready| {
            turn += 1;
            picks[turn % picks.len()] % ready
        });
        for ((rank, piece), held) in held {
            prop_assert!(held.iter().all(|&times| times == 1), "rank {rank}, piece {piece}: {held:?}");
        }
    }

    /// Rank i ends up with the sum of its own pieces.
    #[test]
    fn a_reduce_scatter_leaves_each_rank_its_piece(
        ranks in 2u32..20, chunks in 1u32..5, picks in prop::collection::vec(any::<usize>(), 64),
    ) {
        let shape = Shape { chunks, ..shape(Operation::ReduceScatter, ranks, 10_000) };
        let mut turn = 0;
        let held = after(&shape, pieces(&shape), |_, _| true, |ready| {
            turn += 1;
            picks[turn % picks.len()] % ready
        });
        for rank in 0..ranks {
            for chunk in 0..chunks {
                let own = &held[&(rank, rank * chunks + chunk)];
                prop_assert!(own.iter().all(|&times| times == 1), "{own:?}");
            }
        }
    }

    /// Every rank ends up with the piece of each other one.
    #[test]
    fn an_all_gather_spreads_all_pieces(
        ranks in 2u32..20, chunks in 1u32..5, picks in prop::collection::vec(any::<usize>(), 64),
    ) {
        let shape = Shape { chunks, ..shape(Operation::AllGather, ranks, 10_000) };
        let own = |rank: u32, piece: u32| piece / chunks == rank;
        let mut turn = 0;
        let held = after(&shape, pieces(&shape), own, |ready| {
            turn += 1;
            picks[turn % picks.len()] % ready
        });
        for ((_, piece), held) in held {
            let expected: Vec<u32> = (0..ranks).map(|rank| u32::from(own(rank, piece))).collect();
            prop_assert_eq!(held, expected);
        }
    }

    /// Every rank sends and receives what the closed form says, to a byte for each piece, whatever the chunks.
    #[test]
    fn bytes_are_those_of_the_closed_form(
        ranks in 2u32..30, chunks in 1u32..6, bytes in 1_000u64..1_000_000_000, which in 0usize..5, shifted: bool,
    ) {
        let operation = [
            Operation::RingAllReduce, Operation::TreeAllReduce, Operation::ReduceScatter,
            Operation::AllGather, Operation::AllToAll,
        ][which];
        let schedule = if shifted { Schedule::Shifted } else { Schedule::AtOnce };
        let shape = Shape { chunks, schedule, ..shape(operation, ranks, bytes) };
        let graph = shape.graph().unwrap();
        let all: u64 = (0..ranks).map(|rank| bytes_sent(&graph, rank)).sum();
        prop_assert_eq!(graph.bytes(), Bytes::new(all));
        let n = u64::from(ranks);
        match operation {
            // Both trees have n - 1 edges, and each carries half of the buffer up and down.
            Operation::TreeAllReduce | Operation::RingAllReduce => prop_assert_eq!(all, 2 * (n - 1) * bytes),
            _ => prop_assert_eq!(all, (n - 1) * bytes),
        }
        if operation != Operation::TreeAllReduce {
            for rank in 0..ranks {
                let exact = operation.bus_factor(ranks, chunks) * bytes as f64;
                let sent = bytes_sent(&graph, rank) as f64;
                prop_assert!((sent - exact).abs() <= 2.0, "{sent} {exact}");
            }
        }
    }

    /// One after the other on each connection: no two transfers between the same ranks are under way together. Of two
    /// trees each has its own: up in one can be the same way as down in the other.
    #[test]
    fn a_connection_has_one_transfer_at_a_time(
        ranks in 2u32..12, chunks in 1u32..5, which in 0usize..5, shifted: bool,
        picks in prop::collection::vec(any::<usize>(), 64),
    ) {
        let operation = [
            Operation::RingAllReduce, Operation::ReduceScatter, Operation::AllGather,
            Operation::AllToAll, Operation::Pipeline,
        ][which];
        let schedule = if shifted { Schedule::Shifted } else { Schedule::AtOnce };
        let shape = Shape { chunks, schedule, ..shape(operation, ranks, 100_000) };
        let collective = Collective { iterations: 2, ..collective(shape) };
        let mut turn = 0;
        let flows = run(&mut program(Pattern::Collective(collective), &hosts(ranks, 4)), Time::MAX, |_| {
            turn += 1;
            Time::from_nanos(1 + (picks[turn % picks.len()] % 1000) as u64)
        });
        let mut free: BTreeMap<(u32, u32), Time> = BTreeMap::new();
        for (flow, end) in &flows {
            let free = free.entry((flow.source, flow.destination)).or_default();
            prop_assert!(*free <= flow.at, "{flow:?}");
            *free = end.unwrap();
        }
    }
}

/// A network in which a transfer of b bytes takes b ns, whatever else is under way.
fn lasts(flow: &pathweave_traffic::FlowStart) -> Time {
    Time::from_nanos(flow.size.unwrap().get())
}

fn takes(collective: Collective, count: u32) -> Time {
    let mut program = program(Pattern::Collective(collective), &hosts(count, 4));
    let flows = run(&mut program, Time::MAX, lasts);
    assert!(flows.iter().all(|(_, end)| end.is_some()));
    let jobs = program.jobs();
    let end = jobs.iter().map(|job| job.end.expect("an end")).max();
    end.expect("a job") - jobs[0].start
}

#[test]
fn rings_take_as_many_steps_as_the_closed_form_says() {
    for n in [2u32, 3, 4, 8, 16] {
        let bytes = 1000 * u64::from(n);
        let step = Time::from_nanos(1000);
        let of = |operation| takes(collective(shape(operation, n, bytes)), n);
        let steps = u64::from(n - 1);
        assert_eq!(of(Operation::RingAllReduce), step * (2 * steps));
        assert_eq!(of(Operation::ReduceScatter), step * steps);
        assert_eq!(of(Operation::AllGather), step * steps);
        let shifted = Shape {
            schedule: Schedule::Shifted,
            ..shape(Operation::AllToAll, n, bytes)
        };
        assert_eq!(takes(collective(shifted), n), step * steps);
        // All at once: each takes a step here, where transfers do not share.
        assert_eq!(of(Operation::AllToAll), step);
    }
}

#[test]
fn trees_are_as_deep_as_the_closed_form_says() {
    // With 2^k ranks each tree has k levels, which the sum goes up and down.
    for k in 1..6u32 {
        let bytes = 2000;
        let one_chunk = shape(Operation::TreeAllReduce, 1 << k, bytes);
        let took = takes(collective(one_chunk), 1 << k);
        assert_eq!(took, Time::from_nanos(1000) * u64::from(2 * k));
    }
}

#[test]
fn a_pipeline_fills_and_drains_twice() {
    // Each pass: p - 1 hops for the first micro-batch, and one more transfer for each that follows.
    for (p, m) in [(2u32, 1u32), (4, 1), (4, 8), (8, 3)] {
        let shape = Shape {
            chunks: m,
            ..shape(Operation::Pipeline, p, 1000)
        };
        let hops = u64::from(2 * (p - 1 + m - 1));
        assert_eq!(takes(collective(shape), p), Time::from_nanos(1000) * hops);
    }
}

#[test]
fn computing_stands_before_each_operation_and_stragglers_hold_all_up() {
    let ms = Time::from_millis(1);
    let ring = Collective {
        iterations: 3,
        compute: (ms, ms),
        ..collective(shape(Operation::RingAllReduce, 4, 4000))
    };
    let step = Time::from_nanos(1000);
    let mut plain = program(Pattern::Collective(ring.clone()), &hosts(4, 4));
    run(&mut plain, Time::MAX, lasts);
    let each = ms + step * 6;
    for (number, (job, iteration)) in (0u64..).zip(plain.jobs().iter().zip(plain.iterations())) {
        assert_eq!(iteration.began, each * number);
        assert_eq!(iteration.ended, Some(each * (number + 1)));
        assert_eq!(
            (job.start, job.end),
            (each * number + ms, Some(each * (number + 1)))
        );
    }
    assert_eq!(plain.jobs().len(), 3);

    // One rank takes three times as long: its first transfer comes 2 ms after the others'. What it sends first goes
    // once around, so that the operation ends as if all had begun with it.
    let slow = Collective {
        iterations: 1,
        stragglers: Some(Stragglers {
            which: Slow::Hosts(vec![2]),
            factor: 3.0,
        }),
        ..ring
    };
    let mut slow = program(Pattern::Collective(slow), &hosts(4, 4));
    run(&mut slow, Time::MAX, lasts);
    assert_eq!(slow.jobs()[0].start, ms);
    assert_eq!(slow.iterations()[0].ended, Some(ms * 3 + step * 6));
}

#[test]
fn jobs_get_the_hosts_that_their_placement_says() {
    let eight = hosts(8, 4);
    let pairs = |placement: Placement, seed: u64| {
        let four = Collective {
            placement,
            ..collective(shape(Operation::AllGather, 4, 4000))
        };
        four.teams(&eight, seed, 0).unwrap().hosts
    };
    assert_eq!(
        pairs(Placement::Packed(None), 1),
        [[0, 1, 2, 3], [4, 5, 6, 7]]
    );
    let random = pairs(Placement::Random(None), 1);
    let mut all: Vec<u32> = random.concat();
    all.sort_unstable();
    assert_eq!(all, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(pairs(Placement::Random(None), 1), random);
    assert!((2..20).any(|seed| pairs(Placement::Random(None), seed) != random));
    let listed = vec![vec![7, 0, 3, 1], vec![0, 1, 2, 3]];
    assert_eq!(pairs(Placement::Listed(listed.clone()), 1), listed);
}

#[test]
fn connections_open_once() {
    let ring = Collective {
        iterations: 2,
        ..collective(shape(Operation::RingAllReduce, 4, 4000))
    };
    let flows = run(
        &mut program(Pattern::Collective(ring), &hosts(4, 4)),
        Time::MAX,
        lasts,
    );
    let fresh = flows.iter().filter(|(flow, _)| !flow.established).count();
    assert_eq!((flows.len(), fresh), (2 * 4 * 6, 4));
}
