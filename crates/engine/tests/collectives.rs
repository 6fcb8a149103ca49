//! Collective operations on an idle star, packet by packet and as rates, against their closed forms.

use crate::plans::{self, counted, table, within};
use pathweave_engine::{
    Allocation, Allocator, Answer, Output, Problem, Progress, Table, Verdict, flow, run,
};
use pathweave_scenario::Plan;

/// Bits per second of each cable of the star.
const RATE: f64 = 10e9;

/// One way over a cable, in seconds.
const DELAY: f64 = 1e-6;

/// Bytes of payload of a full packet.
const PAYLOAD: f64 = 1448.0;

/// Bytes of a full packet.
const PACKET: f64 = 1500.0;

/// Bytes of an acknowledgement.
const ACK: f64 = 52.0;

/// How long traffic takes to hear of an end: as long as an acknowledgement on a cable.
const REACTION: f64 = ACK * 8.0 / RATE;

/// `hosts` hosts at one switch, with one group of traffic.
fn star(hosts: u32, traffic: &str, rest: &str) -> Plan {
    let text = format!(
        r#"
        jitter = "none"
        [fabric]
        kind = "graph"
        hosts = ["h0..h{}"]
        switches = ["X"]
        rate = "10 Gbps"
        delay = "1 us"
        cables = [{}]
        queue = {{ limit = "1 GB" }}
        [[traffic]]
        name = "training"
        controller = "reno"
        {traffic}
        {rest}
        "#,
        hosts - 1,
        (0..hosts)
            .map(|host| format!("\"h{host}-X\""))
            .collect::<Vec<_>>()
            .join(", "),
    );
    let scenario = pathweave_scenario::check(&text)
        .unwrap_or_else(|error| panic!("{}", error.render(80, false)));
    scenario.variants()[0].plan(1)
}

/// A transport of which only data is left: no handshake, a window that holds everything, hardly an acknowledgement.
const BARE: &str = r#"
    [transport]
    handshake = "none"
    initial_window = 100000
    ack_every = 100000
    ack_at_first = 0
    ack_timeout = "1 s"
    ack_last = true
    receive_window = "unlimited"
"#;

/// Every path has the smallest of its links' even shares.
struct EvenShares;

impl Allocator for EvenShares {
    fn allocate(&mut self, problem: &Problem<'_>) -> Result<Answer, String> {
        let paths = || problem.flows.iter().flat_map(|flow| &flow.paths);
        let mut crowd = vec![0.0; problem.capacities.len()];
        for link in paths().flat_map(|path| &path.links) {
            crowd[link.0 as usize] += 1.0;
        }
        let share = |link: usize| problem.capacities[link].as_bps() as f64 / crowd[link];
        let rate = |links: &Vec<pathweave_fabric::LinkId>| {
            let shares = links.iter().map(|link| share(link.0 as usize));
            shares.fold(f64::INFINITY, f64::min)
        };
        Ok(Answer::Rates(Allocation {
            rates: paths().map(|path| rate(&path.links)).collect(),
            split_unique: vec![true; problem.flows.len()],
        }))
    }
}

fn as_rates(plan: &Plan) -> Output {
    flow(plan, &mut EvenShares).expect("a fluid run")
}

fn by_packets(plan: &Plan) -> Output {
    run(plan, &Progress::default()).expect("a run")
}

fn collectives(output: &Output) -> &Table {
    table(output, "collectives")
}

fn took(output: &Output) -> f64 {
    assert_eq!(output.verdict, Verdict::Finished);
    collectives(output).numbers("collective_s")[0]
}

/// Seconds that this many bytes of payload take on a cable as rates.
fn fluid(bytes: f64) -> f64 {
    bytes * 8.0 / (RATE * PAYLOAD / PACKET)
}

/// Seconds of one transfer alone, packet by packet, of more than one packet's payload or exactly that: all packets on
/// the first cable, then on the second one the last full packet, which a shorter one behind it waits for.
fn alone(bytes: f64) -> f64 {
    let whole = (bytes / PAYLOAD).floor();
    let rest = bytes - whole * PAYLOAD;
    let last = if rest > 0.0 {
        rest + PACKET - PAYLOAD
    } else {
        0.0
    };
    ((whole + 1.0) * PACKET + last) * 8.0 / RATE + 2.0 * DELAY
}

/// An operation of n ranks on a buffer of S bytes, and how many transfers of which size come one after the other.
struct Case {
    keys: &'static str,
    ranks: u32,
    bytes: f64,
    /// As rates: what all that comes one after the other takes, in bytes at the full rate.
    fluid_bytes: f64,
    /// Times the buffer over the time: what NCCL's tests multiply with.
    factor: f64,
}

const S: f64 = 8e6;

fn cases() -> Vec<Case> {
    let n = 8.0;
    let ring = |keys, steps: f64, factor| Case {
        keys,
        ranks: 8,
        bytes: S,
        fluid_bytes: steps * S / n,
        factor,
    };
    vec![
        ring(r#"operation = "ring-all-reduce""#, 14.0, 2.0 * 7.0 / 8.0),
        ring(r#"operation = "reduce-scatter""#, 7.0, 7.0 / 8.0),
        ring(r#"operation = "all-gather""#, 7.0, 7.0 / 8.0),
        // Chunks keep the cables as busy.
        ring("operation = \"all-gather\"\nchunks = 4", 7.0, 7.0 / 8.0),
        // Seven transfers share each cable, or come one after the other.
        ring(r#"operation = "all-to-all""#, 7.0, 7.0 / 8.0),
        ring(
            "operation = \"all-to-all\"\nschedule = \"shifted\"",
            7.0,
            7.0 / 8.0,
        ),
        // 2^3 ranks: each tree has three levels. On two of them a parent has two children, which share its cable.
        // Up and down makes (2 + 2 + 1) 2 times the half of the buffer.
        Case {
            keys: "operation = \"tree-all-reduce\"\nchunks = 1",
            ranks: 8,
            bytes: S,
            fluid_bytes: 10.0 * S / 2.0,
            factor: 2.0 * 7.0 / 8.0,
        },
        // Both passes: three hops of the first of four micro-batches, and three more that follow.
        Case {
            keys: r#"operation = "pipeline""#,
            ranks: 4,
            bytes: S,
            fluid_bytes: 12.0 * S,
            factor: 8.0,
        },
    ]
}

#[test]
fn as_rates_operations_take_exactly_what_the_closed_forms_say() {
    for case in cases() {
        let keys = format!("pattern = \"collective\"\nbytes = \"8 MB\"\n{}", case.keys);
        let output = as_rates(&star(case.ranks, &keys, ""));
        let expected = fluid(case.fluid_bytes);
        let measured = took(&output);
        assert!(
            within(measured, 1e-8, expected),
            "{}: {measured} {expected}",
            case.keys
        );
        let bus = collectives(&output).numbers("bus_bps")[0];
        assert!(
            within(bus, 1e-8, case.factor * case.bytes * 8.0 / expected),
            "{bus}"
        );
    }
}

/// Packet by packet nothing is added to the transfers but the way of the last packet and the time in which the end of a
/// step is heard of.
#[test]
fn rings_take_to_the_packet_what_their_steps_take() {
    for (operation, steps) in [
        ("ring-all-reduce", 14.0),
        ("all-gather", 7.0),
        ("reduce-scatter", 7.0),
    ] {
        let keys =
            format!("pattern = \"collective\"\nbytes = \"8 MB\"\noperation = \"{operation}\"");
        let output = by_packets(&star(8, &keys, BARE));
        let expected = steps * alone(S / 8.0) + (steps - 1.0) * REACTION;
        let measured = took(&output);
        assert!(
            (measured - expected).abs() < 1e-9,
            "{operation}: {measured} {expected}"
        );
    }
}

#[test]
fn a_pipeline_takes_to_the_packet_what_its_transfers_take() {
    let keys =
        "pattern = \"collective\"\nbytes = \"1448 KB\"\noperation = \"pipeline\"\nchunks = 1";
    let output = by_packets(&star(4, keys, BARE));
    let expected = 6.0 * alone(1_448_000.0) + 5.0 * REACTION;
    let measured = took(&output);
    assert!((measured - expected).abs() < 1e-9, "{measured} {expected}");
}

/// With Linux's transport the overheads can be told beforehand: handshakes once for each connection, rounds of slow
/// start until the window covers a round trip, and acknowledgements on the way of data.
#[test]
fn overheads_of_the_transport_are_within_their_bounds() {
    for (keys, steps, connections) in [
        ("operation = \"ring-all-reduce\"", 14.0, 1.0),
        (
            "operation = \"all-to-all\"\nschedule = \"shifted\"",
            7.0,
            7.0,
        ),
    ] {
        let keys = format!("pattern = \"collective\"\nbytes = \"8 MB\"\n{keys}");
        let output = by_packets(&star(8, &keys, ""));
        assert_eq!(output.counters.dropped, 0);
        let packets = (S / 8.0 / PAYLOAD).ceil();
        let (data, ack) = (PACKET * 8.0 / RATE, ACK * 8.0 / RATE);
        let round_trip = 4.0 * DELAY + 2.0 * data + 2.0 * ack;
        let least = steps * alone(S / 8.0) + (steps - 1.0) * REACTION;
        let handshakes = connections * (4.0 * DELAY + 4.0 * ack);
        // The first window of 10 packets is more than what fits into a round trip.
        assert!(10.0 * data > round_trip);
        // On both cables of a transfer acknowledgements of another one pass: no more than packets, and each holds up a
        // packet by its own time. What one is held up for is made good on no cable at worst.
        let acks = steps * 2.0 * packets * ack;
        let most = least + handshakes + acks + steps * round_trip;
        let measured = took(&output);
        assert!(
            least + handshakes <= measured + 1e-9,
            "{keys}: {measured} below {least}"
        );
        assert!(measured <= most, "{keys}: {measured} above {most}");
    }
}

#[test]
fn iterations_have_rows_with_what_they_computed() {
    let keys = r#"
        pattern = "collective"
        operation = "ring-all-reduce"
        bytes = "800 KB"
        group_size = 4
        iterations = 3
        compute = "1 ms"
        stragglers = { hosts = "h0", factor = 2 }
    "#;
    let output = by_packets(&star(8, keys, BARE));
    let rows = collectives(&output);
    let iterations = rows.integers("iteration");
    let teams = rows.integers("team");
    let took = rows.numbers("iteration_s");
    let step = alone(200e3);
    assert_eq!(iterations.len(), 6);
    for row in 0..6 {
        let slowest = if teams[row] == 0 { 2e-3 } else { 1e-3 };
        // Without stragglers what was computed comes before six steps. With one, all but its first transfer can come
        // earlier, and what it sends first goes once around.
        let expected = slowest + 6.0 * step + 5.0 * REACTION;
        assert!(
            (took[row] - expected).abs() < 1e-9,
            "{} {expected}",
            took[row]
        );
        let began = rows.numbers("began_s")[row];
        let since = iterations[row] as f64 * (expected + REACTION);
        assert!((began - since).abs() < 1e-8, "{began} {since}");
    }
    let jobs = table(&output, "jobs");
    assert_eq!(jobs.integers("flows"), [24; 6]);
}

/// Flows of one connection keep to its path, and only the first one has a handshake.
#[test]
fn connections_keep_their_paths() {
    let text = r#"
        jitter = "none"
        [fabric]
        kind = "fat-tree"
        k = 4
        rate = "10 Gbps"
        delay = "1 us"
        [[traffic]]
        name = "training"
        pattern = "collective"
        operation = "ring-all-reduce"
        placement = "random"
        bytes = "160 KB"
        iterations = 2
        controller = "dctcp"
    "#;
    let scenario = pathweave_scenario::check(text)
        .unwrap_or_else(|error| panic!("{}", error.render(80, false)));
    let output = by_packets(&scenario.variants()[0].plan(1));
    let flows = table(&output, "flows");
    let subflows = table(&output, "subflows");
    let codes = |table: &Table, column: &str| match table.column(column) {
        Some(pathweave_engine::Column::Labels { codes, .. }) => codes.clone(),
        _ => panic!("no labels {column}"),
    };
    let (sources, destinations, paths) = (
        codes(flows, "source"),
        codes(flows, "destination"),
        codes(subflows, "path"),
    );
    let mut of_pair = std::collections::BTreeMap::new();
    for ((source, destination), path) in sources.iter().zip(&destinations).zip(&paths) {
        let kept = of_pair.entry((source, destination)).or_insert(path);
        assert_eq!(kept, &path);
    }
    assert_eq!(of_pair.len(), 16);
    assert_eq!(counted(&output, "id").len(), 2 * 16 * 30);
}

#[test]
fn a_trace_starts_flows_when_it_says() {
    let keys = r#"
        pattern = "trace"
        content = """
        start,source,destination,bytes,id,after
        0,h0,h1,1448000,first,
        20 us,h2,h3,1448000,second,
        1e-5,1,h0,1448,third,first second
        1,h3,h1,1448,last,third
        """
    "#;
    let output = by_packets(&star(4, keys, BARE));
    let starts = plans::of_flows(&output, "start_s");
    let second = 20e-6 + alone(1_448_000.0);
    assert_eq!(starts[..2], [0.0, 20e-6]);
    assert!((starts[2] - (second + REACTION)).abs() < 1e-9);
    assert_eq!(starts[3], 1.0);
    assert_eq!(table(&output, "jobs").integers("flows"), [4]);
}

/// The exchange of a ping and a pong around computing, by hand.
#[test]
fn a_goal_schedule_takes_what_its_tasks_take() {
    let keys = r#"
        pattern = "goal"
        placement = [["h2", "h0"]]
        content = """
        num_ranks 2
        rank 0 {
        a: calc 5000 cpu 0
        b: send 1448000b to 1 tag 7 cpu 0
        b requires a
        c: recv 1448b from 1
        d: calc 3000
        d requires c
        e: calc 2000 cpu 1
        e irequires b
        }
        rank 1 {
        r: recv 1448000b from 0 tag 7
        s: send 1448b to 0
        s requires r
        }
        """
    "#;
    let output = by_packets(&star(4, keys, BARE));
    let expected = alone(1_448_000.0) + REACTION + alone(1448.0);
    let jobs = table(&output, "jobs");
    assert!((jobs.numbers("start_s")[0] - 5e-6).abs() < 1e-12);
    assert!((jobs.numbers("jct_s")[0] - expected).abs() < 1e-9);
    assert_eq!(output.verdict, Verdict::Finished);
}

/// The cables of a DGX-1, where each GPU is linked to four others and reaches no more.
const DGX_1: &str = r#"
    [fabric]
    kind = "graph"
    hosts = ["g0..g7"]
    rate = "200 Gbps"
    delay = "5 us"
    cables = [
        "g0-g1", "g0-g2", "g0-g3", "g0-g4", "g1-g2", "g1-g3", "g1-g5", "g2-g3",
        "g2-g6", "g3-g7", "g4-g5", "g4-g6", "g4-g7", "g5-g6", "g5-g7", "g6-g7",
    ]
    queue = { limit = 500, mark = { kind = "step", k = 100 } }
    [[traffic]]
    name = "training"
    pattern = "collective"
    bytes = "8 MB"
    controller = "dctcp"
    placement = [["g0", "g1", "g2", "g3", "g7", "g6", "g5", "g4"]]
"#;

#[test]
fn a_ring_needs_paths_between_neighbours_only() {
    let text = format!("{DGX_1} operation = \"ring-all-reduce\"").replace("8 MB", "40 MB");
    let plan = plans::read(&text);
    let output = plans::run(&plan);
    let took = collectives(&output).numbers("collective_s")[0];
    // 14 steps of 5 MB at 200 Gbps and headers. In each a flow begins, which takes four or five round trips of 10 us until it
    // fills its link.
    let wire = 14.0 * 5e6 * 8.0 / 200e9 * PACKET / PAYLOAD;
    let above = took - wire;
    assert!(
        above > 14.0 * 10e-6 && above < 14.0 * 5.0 * 10e-6,
        "{took} {wire}"
    );
}

#[test]
fn an_all_to_all_needs_paths_between_all() {
    let text = format!("{DGX_1} operation = \"all-to-all\"");
    let refused = pathweave_scenario::check(&text).expect_err("g0 does not reach g5");
    let message = refused.render(80, false);
    assert!(
        message.contains("no path leads from \"g0\" to"),
        "{message}"
    );
}
