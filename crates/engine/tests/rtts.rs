//! The recorded round-trip times.

use crate::plans::{self, fixed, mean, table, within};
use pathweave_engine::Output;
use pathweave_scenario::{Plan, Sampling};
use pathweave_traffic::Size;
use pathweave_transport::{Handshake, ReceiveWindow};
use pathweave_units::{Bytes, Rate, Time};

const DATA: u64 = 1500;
const ACK: u64 = 52;
const MSS: u64 = 1448;

/// One flow of this size over a dumbbell with 100 us of delay, every packet acknowledged at once.
fn lone_flow(size: Size) -> Plan {
    let mut group = plans::group("reno", &[], plans::single(), size);
    group.transport.ack_every = 1;
    let fabric = plans::dumbbell(1, Time::from_micros(100));
    let mut plan = plans::plan(fabric, plans::queue(60, None), vec![group], None);
    plan.jitter = false;
    plan.record.rtts = Some(Sampling::OnChange);
    // Long enough for the last acknowledgement, which comes after the flow's end.
    plan.stop.at = Some(Time::from_secs(1));
    plan
}

/// A packet of this size crosses two 10 Gbps host links of 100 ns and a 1 Gbps bottleneck of 100 us.
fn one_way(bytes: u64) -> Time {
    let on_host_links = Time::from_nanos(100) + Rate::from_gbps(10).time_for(Bytes::new(bytes));
    let bottleneck = Time::from_micros(100) + Rate::from_gbps(1).time_for(Bytes::new(bytes));
    on_host_links * 2 + bottleneck
}

/// Times of a column, which holds seconds, in picoseconds.
fn times(output: &Output, column: &str) -> Vec<Time> {
    let picos = |seconds: &f64| Time::from_picos((seconds * 1e12).round() as u64);
    let rows = table(output, "rtts").numbers(column);
    rows.iter().map(picos).collect()
}

#[test]
fn one_packet_at_a_time_sees_the_base_round_trip_time() {
    let mut plan = lone_flow(fixed(20 * MSS));
    plan.groups[0].transport.receive_window = ReceiveWindow::Connection(Bytes::new(MSS));
    let output = plans::run(&plan);
    let base = one_way(DATA) + one_way(ACK);
    // Small packets open the connection.
    let mut expected = vec![one_way(ACK) * 2];
    expected.extend([base; 20]);
    assert_eq!(times(&output, "rtt_s"), expected);
    let arrivals: Vec<Time> = (0..=20)
        .map(|round| one_way(ACK) * 2 + base * round)
        .collect();
    assert_eq!(times(&output, "time_s"), arrivals);
}

#[test]
fn without_a_handshake_the_first_sample_is_that_of_data() {
    let mut plan = lone_flow(fixed(3 * MSS));
    plan.groups[0].transport.handshake = Handshake::None;
    plan.groups[0].transport.initial_window = 1.0;
    let seen = times(&plans::run(&plan), "rtt_s");
    let base = one_way(DATA) + one_way(ACK);
    // The second and third packet leave together: the third waits for the second at the bottleneck.
    let behind = base + Rate::from_gbps(1).time_for(Bytes::new(DATA));
    let behind_at_the_host = behind - Rate::from_gbps(10).time_for(Bytes::new(DATA));
    assert_eq!(seen[..2], [base, base]);
    assert!(
        seen.len() == 3 && seen[2] > behind_at_the_host && seen[2] <= behind,
        "{seen:?}"
    );
}

/// Losses and several subflows: the samples are those that the table of
/// subflows counts, and the smoothed value follows them by RFC 6298.
#[test]
fn the_samples_are_those_that_count() {
    let mut group = plans::group("reno", &[], plans::single(), fixed(3000 * MSS));
    group.subflows = 2;
    group.transport.minimum_rto = Time::from_millis(1);
    // Where an acknowledgement covers one packet, the smoothed value takes the sample that is recorded.
    group.transport.ack_every = 1;
    let fabric = plans::parallel_paths(&[Time::from_micros(50), Time::from_micros(150)]);
    let mut plan = plans::plan(fabric, plans::queue(20, None), vec![group], None);
    plan.record.rtts = Some(Sampling::OnChange);
    let output = plans::run(&plan);
    assert!(output.counters.dropped > 0);
    let (rtt, smoothed) = (times(&output, "rtt_s"), times(&output, "smoothed_rtt_s"));
    let subflows = table(&output, "rtts").integers("subflow");
    for number in 0..2u64 {
        let rows: Vec<usize> = (0..rtt.len())
            .filter(|&row| subflows[row] == number)
            .collect();
        assert!(rows.len() > 300, "{}", rows.len());
        // The first is the handshake's.
        let samples: Vec<f64> = rows[1..]
            .iter()
            .map(|&row| rtt[row].as_secs_f64())
            .collect();
        let expected = table(&output, "subflows").numbers("rtt_mean_s")[number as usize];
        assert!(within(mean(&samples), 1e-8, expected), "subflow {number}");
        let mut follows = rtt[rows[0]].as_secs_f64();
        for &row in &rows {
            follows += (rtt[row].as_secs_f64() - follows) / 8.0;
            assert!(within(smoothed[row].as_secs_f64(), 1e-6, follows));
        }
    }
}

/// At each beat a subflow has the latest of the samples that came before.
#[test]
fn sampled_values_are_the_latest() {
    let mut plan = lone_flow(fixed(2000 * MSS));
    let every_one = plans::run(&plan);
    let interval = Time::from_micros(700);
    plan.record.rtts = Some(Sampling::Every(interval));
    let sampled = plans::run(&plan);
    let came = times(&every_one, "time_s");
    let beats = times(&sampled, "time_s");
    assert!(beats.len() > 20, "{}", beats.len());
    for (row, &beat) in beats.iter().enumerate() {
        assert_eq!(beat, interval * (row as u64 + 1));
        let latest = came.partition_point(|&time| time < beat) - 1;
        for column in ["rtt_s", "smoothed_rtt_s"] {
            let value = times(&sampled, column)[row];
            assert_eq!(value, times(&every_one, column)[latest], "at {beat}");
        }
    }
}
