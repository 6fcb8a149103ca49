//! Endpoints in a network: what they deliver, how long it takes, and what they do when paths die.

use crate::plans::{self, counted, fixed, of_flows};
use pathweave_engine::{Column, Output, Verdict};
use pathweave_fabric::routing::RoutingKind;
use pathweave_network::QueueConfig;
use pathweave_scenario::{Change, Plan};
use pathweave_traffic::{Pattern, Size};
use pathweave_transport::{EcnUse, Handshake, Recovery};
use pathweave_units::{Bytes, Rate, Time};

const DATA: u64 = 1500;
const ACK: u64 = 52;
const MSS: u64 = 1448;

/// From the first bit leaving the sender to the last reaching the receiver of [`plans::lone_flow`]: three
/// links are crossed one after another.
fn one_way(bytes: u64) -> Time {
    let on_host_links = Time::from_nanos(100) + Rate::from_gbps(10).time_for(Bytes::new(bytes));
    let bottleneck = Time::from_micros(100) + Rate::from_gbps(1).time_for(Bytes::new(bytes));
    on_host_links * 2 + bottleneck
}

/// SYN there and SYN-ACK back.
fn handshake() -> Time {
    one_way(ACK) * 2
}

/// Completion times, which the tables hold in seconds, in picoseconds.
fn completion_times(output: &Output) -> Vec<Time> {
    let picos = |seconds: &f64| Time::from_picos((seconds * 1e12).round() as u64);
    of_flows(output, "fct_s").iter().map(picos).collect()
}

// Completion times computed by hand.

#[test]
fn a_packet_takes_a_handshake_and_one_way() {
    for size in [1, 500, MSS] {
        let output = plans::run(&plans::lone_flow(fixed(size), plans::queue(100, None)));
        assert_eq!(output.verdict, Verdict::Finished);
        assert_eq!(
            completion_times(&output),
            [handshake() + one_way(size + DATA - MSS)]
        );
    }
}

#[test]
fn without_a_handshake_data_leaves_at_once() {
    let mut plan = plans::lone_flow(fixed(MSS), plans::queue(100, None));
    plan.groups[0].transport.handshake = Handshake::None;
    assert_eq!(completion_times(&plans::run(&plan)), [one_way(DATA)]);
}

#[test]
fn a_window_of_packets_follows_at_the_rate_of_the_bottleneck() {
    let plan = plans::lone_flow(fixed(9 * MSS + 700), plans::queue(100, None));
    let on_bottleneck = |bytes| Rate::from_gbps(1).time_for(Bytes::new(bytes));
    // The last packet is shorter, and is through the last link sooner than a full one.
    let last_link = Rate::from_gbps(10).time_for(Bytes::new(DATA - 752));
    let first = one_way(DATA);
    let expected = handshake() + first + on_bottleneck(DATA) * 8 + on_bottleneck(752) - last_link;
    assert_eq!(completion_times(&plans::run(&plan)), [expected]);
}

#[test]
fn two_rounds_of_slow_start() {
    // Initial window 2, every packet acknowledged: packets 2 to 5 leave when the acknowledgements of
    // packets 0 and 1 come, two each; the bottleneck is idle in between.
    let mut plan = plans::lone_flow(fixed(6 * MSS), plans::queue(100, None));
    let transport = &mut plan.groups[0].transport;
    transport.initial_window = 2.0;
    transport.ack_every = 1;
    transport.ack_at_first = 0;
    let round = one_way(DATA) + one_way(ACK);
    let on_bottleneck = Rate::from_gbps(1).time_for(Bytes::new(DATA));
    let expected = handshake() + round + one_way(DATA) + on_bottleneck * 3;
    assert_eq!(completion_times(&plans::run(&plan)), [expected]);
    // Every second one: nothing leaves before the second packet is through.
    plan.groups[0].transport.ack_every = 2;
    let expected = expected + on_bottleneck;
    assert_eq!(completion_times(&plans::run(&plan)), [expected]);
}

#[test]
fn a_delayed_acknowledgement_waits_for_its_timeout() {
    // An initial window of 1: the first packet's acknowledgement waits; then 2 packets, the last of
    // which is acknowledged at once.
    let mut plan = plans::lone_flow(fixed(3 * MSS), plans::queue(100, None));
    let transport = &mut plan.groups[0].transport;
    transport.initial_window = 1.0;
    transport.ack_timeout = Time::from_millis(7);
    transport.ack_at_first = 0;
    let on_bottleneck = Rate::from_gbps(1).time_for(Bytes::new(DATA));
    let expected = handshake()
        + one_way(DATA)
        + Time::from_millis(7)
        + one_way(ACK)
        + one_way(DATA)
        + on_bottleneck;
    assert_eq!(completion_times(&plans::run(&plan)), [expected]);
}

#[test]
fn a_lone_flow_in_a_large_enough_buffer_takes_the_ideal_time_and_a_handshake() {
    let mut plan = plans::lone_flow(fixed(700 * MSS), plans::queue(2000, None));
    plan.groups[0].transport.initial_window = 30.0; // more than the path holds
    let output = plans::run(&plan);
    let ideal = Time::from_secs_f64(of_flows(&output, "fct_ideal_s")[0]);
    assert_eq!(completion_times(&output), [handshake() + ideal]);
    assert_eq!(output.counters.dropped, 0);
}

#[test]
fn no_flow_is_faster_than_the_ideal() {
    for (controller, subflows) in [("dctcp", 1), ("xmp", 4), ("lia", 2)] {
        let size = Size::Uniform {
            min: Bytes::new(1),
            max: Bytes::new(300_000),
        };
        let mut group = plans::group(controller, &[], plans::permutation(), size);
        group.subflows = subflows;
        group.transport.handshake = Handshake::None;
        group.transport.initial_window = 100.0;
        let output = plans::run(&plans::plan(
            plans::fat_tree(4),
            plans::queue(100, Some(15)),
            vec![group],
            None,
        ));
        assert_eq!(output.verdict, Verdict::Finished);
        let (fct, ideal) = (of_flows(&output, "fct_s"), of_flows(&output, "fct_ideal_s"));
        assert_eq!(fct.len(), 16);
        for (fct, ideal) in fct.iter().zip(ideal) {
            assert!(fct >= ideal, "{controller}: {fct} s, ideally {ideal} s");
        }
        // Some are alone on their way and come close to it.
        assert!(
            fct.iter().zip(ideal).any(|(fct, ideal)| *fct < ideal * 1.2),
            "{controller}"
        );
    }
}

// The retransmission timer.

/// The bottleneck is down while packets are under way, between these times after the first.
fn flow_with_an_outage(size: u64, from: Time, to: Time) -> Plan {
    let mut plan = plans::lone_flow(fixed(size), plans::queue(100, None));
    plans::down_between(&mut plan, ["A", "B"], from, Some(to));
    plan
}

#[test]
fn a_lost_tail_packet_costs_the_smallest_timeout() {
    for recovery in [Recovery::Sack, Recovery::NewReno, Recovery::Reno] {
        for rto in [Time::from_millis(5), Time::from_millis(200)] {
            let sent = handshake();
            let from = sent + Time::from_micros(20);
            let mut plan = flow_with_an_outage(MSS, from, from + Time::from_micros(1));
            plan.groups[0].transport.recovery = recovery;
            plan.groups[0].transport.minimum_rto = rto;
            let output = plans::run(&plan);
            assert_eq!(completion_times(&output), [sent + rto + one_way(DATA)]);
            assert_eq!(counted(&output, "timeouts"), [1]);
            assert_eq!(counted(&output, "retransmits"), [1]);
            assert_eq!(output.counters.lost_to_failures, 1);
        }
    }
}

#[test]
fn every_further_timeout_takes_twice_as_long() {
    let rto = Time::from_millis(5);
    for timeouts in 1..=6 {
        let sent = handshake();
        // Sent again after 1, 3, 7, ... timeouts; the link is back just before the last of them.
        let last = sent + rto * ((1 << timeouts) - 1);
        let from = sent + Time::from_micros(20);
        let mut plan = flow_with_an_outage(MSS, from, last - Time::from_micros(1));
        plan.groups[0].transport.minimum_rto = rto;
        let output = plans::run(&plan);
        assert_eq!(completion_times(&output), [last + one_way(DATA)]);
        assert_eq!(counted(&output, "timeouts"), [timeouts]);
    }
}

#[test]
fn the_largest_timeout_bounds_the_backoff() {
    let sent = handshake();
    let from = sent + Time::from_micros(20);
    // 5, 10, 20, 20, 20 ms.
    let last = sent + Time::from_millis(75);
    let mut plan = flow_with_an_outage(MSS, from, last - Time::from_micros(1));
    plan.groups[0].transport.minimum_rto = Time::from_millis(5);
    plan.groups[0].transport.maximum_rto = Time::from_millis(20);
    assert_eq!(completion_times(&plans::run(&plan)), [last + one_way(DATA)]);
}

#[test]
fn a_lost_syn_costs_the_initial_timeout() {
    for (timeouts, waited) in [(1, 1), (2, 3), (3, 7)] {
        let back = Time::from_secs(waited) - Time::from_micros(1);
        let plan = flow_with_an_outage(10 * MSS, Time::from_micros(20), back);
        let output = plans::run(&plan);
        assert_eq!(output.verdict, Verdict::Finished);
        let on_bottleneck = Rate::from_gbps(1).time_for(Bytes::new(DATA));
        let expected = Time::from_secs(waited) + handshake() + one_way(DATA) + on_bottleneck * 9;
        assert_eq!(completion_times(&output), [expected]);
        assert_eq!(counted(&output, "timeouts"), [timeouts]);
    }
}

#[test]
fn a_packet_lost_among_many_is_sent_again_without_a_timeout() {
    for recovery in [Recovery::Sack, Recovery::NewReno] {
        let mut plan = plans::lone_flow(fixed(900 * MSS), plans::queue(15, None));
        plan.groups[0].transport.recovery = recovery;
        plan.groups[0].transport.initial_ssthresh = 25.0;
        let output = plans::run(&plan);
        assert!(output.counters.dropped > 0);
        assert_eq!(counted(&output, "timeouts"), [0], "{recovery:?}");
        // Each of them once: a dropped packet is the only one that is sent again.
        assert_eq!(counted(&output, "retransmits"), [output.counters.dropped]);
    }
}

#[test]
fn several_packets_lost_from_a_window_cost_reno_a_timeout() {
    for (recovery, timeouts) in [
        (Recovery::Sack, 0),
        (Recovery::NewReno, 0),
        (Recovery::Reno, 1),
    ] {
        // A window of 40 packets is under way, one every 12 us, and four are lost on the last wire.
        let mut plan = plans::lone_flow(fixed(400 * MSS), plans::queue(100, None));
        let from = handshake() + one_way(DATA) + Time::from_micros(100);
        plans::down_between(
            &mut plan,
            ["B", "D1"],
            from,
            Some(from + Time::from_micros(48)),
        );
        let transport = &mut plan.groups[0].transport;
        transport.recovery = recovery;
        transport.initial_window = 40.0;
        transport.initial_ssthresh = 40.0;
        transport.ack_every = 1;
        let output = plans::run(&plan);
        assert_eq!(output.counters.lost_to_failures, 4);
        assert_eq!(counted(&output, "timeouts"), [timeouts], "{recovery:?}");
        // After its timeout Reno sends everything from the first gap on again.
        let again = counted(&output, "retransmits")[0];
        assert!(
            if timeouts == 0 { again == 4 } else { again > 4 },
            "{again}"
        );
    }
}

/// From a data packet's sending to its acknowledgement's arrival, when each is acknowledged at once.
fn round() -> Time {
    one_way(DATA) + one_way(ACK)
}

#[test]
fn the_first_sample_shortens_the_initial_timeout() {
    // Without a handshake the timer starts with the initial timeout, 1 s. Of two packets the second
    // is lost on the bottleneck's wire, when the first has just left it; the acknowledgement of the
    // first passes after the outage.
    let mut plan = flow_with_an_outage(
        2 * MSS,
        one_way(DATA) - Time::from_nanos(1100),
        one_way(DATA) - Time::from_nanos(100),
    );
    let transport = &mut plan.groups[0].transport;
    transport.handshake = Handshake::None;
    transport.initial_window = 2.0;
    transport.ack_every = 1;
    let expected = round() + Time::from_millis(200) + one_way(DATA);
    assert_eq!(completion_times(&plans::run(&plan)), [expected]);
}

#[test]
fn an_acknowledgement_ends_the_backoff() {
    // Two packets are lost; the first arrives at its third attempt, after 5 and 10 ms. The timer is
    // then set for 20.
    let rto = Time::from_millis(5);
    let from = handshake() + Time::from_micros(20);
    let third = handshake() + rto * 3;
    let mut plan = flow_with_an_outage(2 * MSS, from, third - Time::from_micros(1));
    // The second packet leaves when the first is acknowledged, and is lost again.
    let second = third + round();
    plans::down_between(
        &mut plan,
        ["A", "B"],
        second + Time::from_micros(20),
        Some(second + Time::from_micros(21)),
    );
    let transport = &mut plan.groups[0].transport;
    transport.minimum_rto = rto;
    transport.initial_window = 2.0;
    transport.ack_every = 1;
    let output = plans::run(&plan);
    assert_eq!(completion_times(&output), [second + rto + one_way(DATA)]);
    assert_eq!(counted(&output, "timeouts"), [3]);
}

#[test]
fn after_a_timeout_the_window_grows_though_there_is_no_new_data() {
    for recovery in [Recovery::Sack, Recovery::NewReno, Recovery::Reno] {
        let from = handshake() + Time::from_micros(5);
        let mut plan = flow_with_an_outage(64 * MSS, from, from + Time::from_millis(2));
        let transport = &mut plan.groups[0].transport;
        transport.recovery = recovery;
        transport.initial_window = 64.0;
        transport.ack_every = 1;
        let output = plans::run(&plan);
        assert_eq!(counted(&output, "timeouts"), [1]);
        // 1, 2, 4, 8, 16, 32 and the last one.
        let slow_start = completion_times(&output)[0] - handshake() - Time::from_millis(200);
        assert!(
            slow_start > round() * 5 && slow_start < round() * 9,
            "{slow_start}"
        );
    }
}

#[test]
fn starts_are_put_off_where_all_paths_are_given() {
    let fabric = plans::parallel_paths(&[Time::from_micros(100), Time::from_micros(100)]);
    let mut group = plans::group("reno", &[], plans::single(), fixed(MSS));
    group.listed[0].paths = vec![plans::path(&fabric, &["S1", "A1", "B1", "D1"])];
    let mut plan = plans::plan(fabric, plans::queue(100, None), vec![group], None);
    plan.routing = RoutingKind::Pinned;
    let starts: Vec<f64> = (1..=3)
        .map(|seed| {
            plan.seed = seed;
            of_flows(&plans::run(&plan), "start_s")[0]
        })
        .collect();
    // Within a round-trip time, and differently with each seed.
    assert!(
        starts.iter().all(|start| (0.0..250e-6).contains(start)),
        "{starts:?}"
    );
    assert!(
        starts[0] != starts[1] && starts[1] != starts[2],
        "{starts:?}"
    );
}

// Beginnings and ends.

#[test]
fn a_flow_stops_when_it_is_told() {
    let stop = Time::from_millis(3);
    let mut plan = plans::lone_flow(Size::Unlimited, plans::queue(2000, None));
    if let Pattern::Listed(list) = &mut plan.groups[0].pattern {
        list.flows[0].stop = Some(stop);
    }
    let output = plans::run(&plan);
    assert_eq!(output.verdict, Verdict::Finished);
    let end = of_flows(&output, "end_s")[0];
    // What was under way at the stop still arrives.
    assert!((0.003..0.010).contains(&end), "{end}");
    let delivered = counted(&output, "delivered_bytes")[0];
    assert_eq!(delivered % MSS, 0);
    let most = (end * 1e9 / 8.0) * MSS as f64 / DATA as f64;
    assert!(
        (delivered as f64) < most && delivered as f64 > 0.85 * most,
        "{delivered} of {most}"
    );
}

#[test]
fn a_flow_can_be_stopped_at_any_moment() {
    // During the handshake, in its first round, while its acknowledgements wait.
    for stop in (1..400).step_by(7) {
        let mut plan = plans::lone_flow(fixed(30 * MSS), plans::queue(10, None));
        if let Pattern::Listed(list) = &mut plan.groups[0].pattern {
            list.flows[0].stop = Some(Time::from_micros(stop));
        }
        let output = plans::run(&plan);
        assert_eq!(output.verdict, Verdict::Finished, "stopped at {stop} us");
    }
}

#[test]
fn subflows_open_when_they_are_told() {
    let mut plan = plans::two_paths(Size::Unlimited);
    plan.jitter = false;
    let opens = [Time::from_millis(1), Time::from_millis(6)];
    plan.groups[0].listed[0].subflow_starts = opens.to_vec();
    plan.stop.at = Some(Time::from_millis(5));
    let received = |plan: &Plan| {
        let output = plans::run(plan);
        let table = plans::table(&output, "subflows");
        (
            table.integers("received_bytes").to_vec(),
            table.numbers("opened_s").to_vec(),
        )
    };
    let (bytes, opened) = received(&plan);
    assert!(bytes[0] > 100_000 && bytes[1] == 0, "{bytes:?}");
    assert_eq!(opened[0], 0.001);
    plan.stop.at = Some(Time::from_millis(20));
    let (bytes, opened) = received(&plan);
    assert!(bytes[1] > 100_000, "{bytes:?}");
    assert_eq!(opened, [0.001, 0.006]);
    // Without times the second asks to join when the first has its answer.
    plan.groups[0].listed[0].subflow_starts.clear();
    let (_, opened) = received(&plan);
    let on_host_links = Time::from_nanos(100) + Rate::from_gbps(10).time_for(Bytes::new(ACK));
    let bottleneck = Time::from_micros(50) + Rate::from_gbps(1).time_for(Bytes::new(ACK));
    let answer = (on_host_links * 2 + bottleneck) * 2;
    assert_eq!(opened, [0.0, answer.as_secs_f64()]);
}

// ECN.

/// Two flows of two groups over one bottleneck that marks above 5 packets.
fn two_groups(first: EcnUse, second: EcnUse, drop_ecn_blind: bool) -> Output {
    let group = |ecn, number| {
        let pattern = plans::flows(&[(number, 2 + number, Time::ZERO)]);
        let mut group = plans::group("dctcp", &[], pattern, Size::Unlimited);
        group.name = format!("group {number}");
        group.transport.ecn = ecn;
        group.transport.initial_ssthresh = 20.0;
        group.transport.handshake = Handshake::None;
        group.transport.minimum_rto = Time::from_millis(2);
        group.transport.initial_rto = Time::from_millis(2);
        group
    };
    let groups = vec![group(first, 0), group(second, 1)];
    let queue = QueueConfig {
        drop_ecn_blind,
        ..plans::queue(1000, Some(5))
    };
    let fabric = plans::dumbbell(2, Time::from_micros(100));
    plans::run(&plans::plan(
        fabric,
        queue,
        groups,
        Some(Time::from_millis(20)),
    ))
}

/// A count of each of the two groups' flows, which start in either order.
fn by_group(output: &Output, column: &str) -> [u64; 2] {
    let Some(Column::Labels { names, codes }) = plans::table(output, "flows").column("group")
    else {
        panic!("no groups");
    };
    ["group 0", "group 1"].map(|wanted| {
        let row = codes
            .iter()
            .position(|&code| &names[code as usize] == wanted);
        counted(output, column)[row.expect("a flow of the group")]
    })
}

#[test]
fn marks_go_only_to_groups_that_use_ecn() {
    let output = two_groups(EcnUse::On, EcnUse::Off, false);
    let marks = by_group(&output, "marks");
    assert!(marks[0] > 0 && marks[1] == 0, "{marks:?}");
    assert_eq!(output.counters.dropped, 0);
    let output = two_groups(EcnUse::Off, EcnUse::Off, false);
    assert_eq!(output.counters.marked, 0);
    let output = two_groups(EcnUse::ByController, EcnUse::ByController, false);
    assert!(counted(&output, "marks").iter().all(|marks| *marks > 0));
}

#[test]
fn packets_that_cannot_be_marked_are_dropped_only_when_asked() {
    let output = two_groups(EcnUse::On, EcnUse::Off, true);
    let retransmits = by_group(&output, "retransmits");
    assert!(output.counters.dropped > 0);
    assert!(retransmits[0] == 0 && retransmits[1] > 0, "{retransmits:?}");
}

/// Where ECN-blind packets are dropped at K, acknowledgements that meet a queue are lost, unless they are ECN-capable.
#[test]
fn acknowledgements_pass_a_marking_queue_where_all_packets_are_ecn_capable() {
    let run = |ecn_on_all_packets| {
        // The second flow's acknowledgements wait behind the first one's data.
        let pattern = plans::flows(&[(0, 2, Time::ZERO), (3, 1, Time::ZERO)]);
        let mut group = plans::group("dctcp", &[], pattern, Size::Unlimited);
        group.transport.initial_ssthresh = 20.0;
        group.transport.ecn_on_all_packets = ecn_on_all_packets;
        let queue = QueueConfig {
            drop_ecn_blind: true,
            ..plans::queue(1000, Some(5))
        };
        let fabric = plans::dumbbell(2, Time::from_micros(100));
        plans::run(&plans::plan(
            fabric,
            queue,
            vec![group],
            Some(Time::from_millis(50)),
        ))
    };
    assert!(run(false).counters.dropped > 0);
    assert_eq!(run(true).counters.dropped, 0);
}

/// RFC 3168: with ECN a marked round halves Reno's window, so the queue stays near where marks begin and nothing is lost.
#[test]
fn reno_answers_marks_only_where_packets_are_ecn_capable() {
    let run = |ecn| {
        let mut group = plans::group("reno", &[], plans::single(), Size::Unlimited);
        group.transport.ecn = ecn;
        let fabric = plans::dumbbell(1, Time::from_micros(100));
        let queue = plans::queue(1000, Some(5));
        let output = plans::run(&plans::plan(
            fabric,
            queue,
            vec![group],
            Some(Time::from_millis(200)),
        ));
        let counters = output.counters;
        let rtt = plans::of_flows(&output, "rtt_mean_s")[0];
        (counters.marked, counters.dropped, rtt)
    };
    let (marked, dropped, rtt) = run(EcnUse::On);
    assert!(marked > 0 && dropped == 0, "{marked}, {dropped}");
    let (marked, dropped, longer) = run(EcnUse::ByController);
    assert!(marked == 0 && dropped > 0, "{marked}, {dropped}");
    assert!(2.0 * rtt < longer, "{rtt} s, {longer} s without ECN");
}

/// Every mark that a port set is echoed once, however acknowledgements are delayed.
#[test]
fn every_mark_is_echoed_once() {
    // BOS echoes at most three marks at a time.
    for (controller, every) in [
        ("dctcp", 1),
        ("dctcp", 2),
        ("dctcp", 8),
        ("bos", 1),
        ("bos", 3),
    ] {
        // The second flow keeps the run going until the first one's last acknowledgement is back.
        let pattern = plans::flows(&[(0, 1, Time::ZERO), (0, 1, Time::from_secs(1))]);
        let mut group = plans::group(controller, &[], pattern, fixed(1_500_000));
        if let Pattern::Listed(list) = &mut group.pattern {
            list.flows[1].size = Some(fixed(1));
        }
        group.transport.ack_every = every;
        let fabric = plans::dumbbell(1, Time::from_micros(100));
        let bottleneck = plans::link(&fabric, "A", "B");
        let mut plan = plans::plan(fabric, plans::queue(1000, None), vec![group], None);
        // Only here: a packet may be marked at several ports.
        plan.queues[bottleneck.0 as usize] = plans::queue(1000, Some(5));
        let output = plans::run(&plan);
        assert!(output.counters.marked > 10, "{:?}", output.counters);
        assert_eq!(
            counted(&output, "marks"),
            [output.counters.marked, 0],
            "{controller} {every}"
        );
    }
}

#[test]
fn a_stop_before_the_jittered_start_holds() {
    for seed in 1..=20 {
        let mut plan = plans::lone_flow(Size::Unlimited, plans::queue(50, None));
        (plan.jitter, plan.seed) = (true, seed);
        plan.stop.at = Some(Time::from_millis(5));
        if let Pattern::Listed(list) = &mut plan.groups[0].pattern {
            list.flows[0].stop = Some(Time::from_nanos(1));
        }
        let output = plans::run(&plan);
        assert_eq!(plans::endings(&output), ["stopped"], "seed {seed}");
        assert_eq!(counted(&output, "delivered_bytes"), [0], "seed {seed}");
    }
}

#[test]
fn the_ideal_is_exact_for_any_size() {
    let mut plan = plans::lone_flow(fixed(1_000_000), plans::queue(2000, None));
    plan.groups[0].transport.initial_window = 30.0;
    let output = plans::run(&plan);
    let ideal = Time::from_secs_f64(of_flows(&output, "fct_ideal_s")[0]);
    assert_eq!(completion_times(&output), [handshake() + ideal]);
}

#[test]
fn data_under_way_arrives_though_the_way_back_is_down() {
    let mut plan = plans::lone_flow(fixed(MSS), plans::queue(50, None));
    let link = plans::link(&plan.fabric, "B", "A");
    let at = Time::from_micros(250);
    plan.events = vec![pathweave_scenario::LinkChange {
        at,
        link,
        change: Change::Down,
    }];
    assert_eq!(plans::finished(&plans::run(&plan)), [true]);
}
