//! Jobs that arrive by themselves.

use crate::plans::{self, table};
use pathweave_engine::{Output, Progress, run_on_threads};

const QUERIES: &str = r#"
    [fabric]
    kind = "leaf-spine"
    leaves = 4
    spines = 4
    hosts_per_leaf = 4
    host_rate = "10 Gbps"
    host_delay = "1 us"
    [[traffic]]
    name = "queries"
    pattern = "incast"
    controller = "dctcp"
    servers = 8
    request = "1 KB"
    response = "20 KB"
    load = 0.4
    layer = "uplink"
    [stop]
    at = "60 ms"
"#;

fn starts(output: &Output) -> Vec<f64> {
    table(output, "jobs").numbers("start_s").to_vec()
}

#[test]
fn queries_offer_the_load_that_is_asked_for() {
    let plan = plans::read(QUERIES);
    let output = plans::run(&plan);
    // 16 up-links of 10 Gbps, both ways: 12 of 15 flows cross one each way. A job has 8 x 21 KB.
    let payload = 0.4 * 160e9 / 8.0 * 15.0 / 12.0;
    let expected = payload * 0.06 / 168e3;
    let jobs = starts(&output).len() as f64;
    // Of 3571 the standard deviation is 60.
    assert!((jobs - expected).abs() < 200.0, "{jobs} of {expected}");
    let links = table(&output, "links");
    let carried: Vec<f64> = plan
        .fabric
        .links
        .iter()
        .zip(links.numbers("utilisation"))
        .filter(|(link, _)| plan.fabric.layers[usize::from(link.layer.0)] == "uplink")
        .map(|(_, &share)| share)
        .collect();
    let mean = carried.iter().sum::<f64>() / carried.len() as f64;
    // Headers, ACKs and handshakes come on top of 0.4.
    assert!((0.41..0.46).contains(&mean), "{mean}");
}

#[test]
fn queries_arrive_at_the_same_times_on_any_number_of_threads() {
    let plan = plans::read(&QUERIES.replace("60 ms", "5 ms"));
    let one = plans::run(&plan);
    assert!(starts(&one).len() > 200);
    for threads in [2, 3] {
        let many = run_on_threads(&plan, &Progress::default(), threads).expect("sound");
        assert_eq!(many.hash, one.hash, "{threads} threads");
    }
    let slower = QUERIES
        .replace("60 ms", "5 ms")
        .replace("dctcp\"", "reno\"\ntransport = { initial_window = 1 }");
    assert_eq!(
        starts(&plans::run(&plans::read(&slower))),
        starts(&one),
        "open loop"
    );
}

/// Reno between two hosts that are alone: an exchange takes what its parts take.
#[test]
fn an_exchange_takes_the_time_of_its_parts() {
    let plan = plans::read(
        r#"
        jitter = "none"
        [fabric]
        kind = "dumbbell"
        left = 1
        bottleneck_rate = "1 Gbps"
        bottleneck_delay = "100 us"
        [transport]
        preset = "textbook"
        [[traffic]]
        name = "rpc"
        pattern = "request-response"
        clients = "S1"
        servers = "D1"
        request = "1 KB"
        response = "10 KB"
        service_time = "5 ms"
        think_time = "20 ms"
        controller = "reno"
        count = 10
        "#,
    );
    let output = plans::run(&plan);
    let jobs = table(&output, "jobs");
    let (starts, jct) = (jobs.numbers("start_s"), jobs.numbers("jct_s"));
    assert_eq!(jct.len(), 10);
    // Three links of 100 us one way. The handshake of the request takes two ways, request and answer one each, all packets some
    // 12 us on each link.
    for (&start, &took) in starts.iter().zip(jct) {
        let expected = 4.0 * 300e-6 + 5e-3;
        assert!(
            (0.0..0.4e-3).contains(&(took - expected)),
            "{start}: {took}"
        );
    }
    for (pair, took) in starts.windows(2).zip(jct) {
        let gap = pair[1] - pair[0] - took;
        assert!((gap - 20e-3).abs() < 1e-6, "{gap}");
    }
    for threads in [2, 3] {
        let many = run_on_threads(&plan, &Progress::default(), threads).expect("sound");
        assert_eq!(many.hash, output.hash, "{threads} threads");
    }
}
