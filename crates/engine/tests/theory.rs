//! What theory says of controllers on one bottleneck, in closed form.
//!
//! Times are in units of s, the 12 us that the bottleneck needs for a full packet, and windows in
//! packets; then a packet leaves the busy bottleneck every unit. B is the round-trip time without
//! queue in these units: the packets that keep the bottleneck just busy.

use crate::plans::{self, counted, mean, of_flows, table, within};
use pathweave_engine::{Column, Output};
use pathweave_network::{Marking, QueueConfig};
use pathweave_scenario::{Plan, Sampling};
use pathweave_traffic::Size;
use pathweave_transport::Recovery;
use pathweave_units::Time;

/// Seconds that the bottleneck needs for a full packet.
const SERVICE: f64 = 12e-6;

/// B for a dumbbell with this one-way delay: twice the delays, and each link's time for 1500 and
/// for 52 bytes.
fn bandwidth_delay(delay: Time) -> f64 {
    let propagation = 2.0 * (delay.as_secs_f64() + 2.0 * 100e-9);
    let transmission = (2.0 * 1.2e-6 + 12e-6) + (2.0 * 41.6e-9 + 416e-9);
    (propagation + transmission) / SERVICE
}

/// One unlimited flow over a dumbbell.
fn lone(controller: &str, parameters: &[(&str, f64)], delay: Time, queue: QueueConfig) -> Plan {
    let group = plans::group(controller, parameters, plans::single(), Size::Unlimited);
    plans::plan(plans::dumbbell(1, delay), queue, vec![group], None)
}

/// A number of the bottleneck from left to right, which is the first link of a dumbbell.
fn bottleneck(output: &Output, column: &str) -> f64 {
    table(output, "links").numbers(column)[0]
}

/// The sawtooth of a window over whole cycles.
struct Sawtooth {
    /// Mean of the windows just before the cuts.
    top: f64,
    /// Mean over time.
    mean: f64,
    /// Mean time from cut to cut, in seconds.
    period: f64,
}

fn sawtooth(output: &Output, from: f64) -> Sawtooth {
    let series = table(output, "windows");
    let (time, window) = (series.numbers("time_s"), series.numbers("window_packets"));
    let is_cut = |&i: &usize| window[i] < 0.7 * window[i - 1] && time[i] > from;
    let cuts: Vec<usize> = (1..window.len()).filter(is_cut).collect();
    let (first, last) = (cuts[0], cuts[cuts.len() - 1]);
    let area: f64 = (first..last)
        .map(|i| window[i] * (time[i + 1] - time[i]))
        .sum();
    let tops: Vec<f64> = cuts.iter().map(|&cut| window[cut - 1]).collect();
    Sawtooth {
        top: mean(&tops),
        mean: area / (time[last] - time[first]),
        period: (time[last] - time[first]) / (cuts.len() - 1) as f64,
    }
}

// Reno on drop-tail.

/// In congestion avoidance w grows by 1/w for each packet acknowledged. While the bottleneck is busy,
/// one is acknowledged a unit: w dw = dt, so from W/2 to W takes (3/8) W^2, and the integral of w
/// is (7/24) W^3. The round-trip time grows with w: a cycle has W/2 rounds, of W/2 to W units.
///
/// The queue overflows when the window passes L + B (limit and what the path holds): one packet
/// too many is dropped. The loss is seen a round later, so that the window is up to one packet
/// larger (two when acknowledgements come for two packets), and recovery takes another L + B, during which
/// the window stays at W/2. Without the queue running empty:
///
/// period = (3/8) W^2 + (L + B), mean window = ((7/24) W^3 + (W/2) (L + B)) / period.
#[test]
fn reno_sawtooth_over_a_large_buffer() {
    let delay = Time::from_micros(100);
    for recovery in [Recovery::Sack, Recovery::NewReno] {
        // With delayed acknowledgements bursts of two and three overflow the queue: several packets
        // are lost together, and recovery takes longer than a round.
        for (every, beyond, tolerance) in [(1, 1.2, 0.005), (2, 2.2, 0.035)] {
            for limit in [100, 40] {
                let mut plan = lone("reno", &[], delay, plans::queue(limit, None));
                let transport = &mut plan.groups[0].transport;
                transport.recovery = recovery;
                transport.ack_every = every;
                plan.stop.at = Some(Time::from_millis(700));
                plan.measure.from = Time::from_millis(300);
                plan.record.windows = Some(Sampling::OnChange);
                let output = plans::run(&plan);
                let seen = sawtooth(&output, 0.25);

                let full = f64::from(limit) + bandwidth_delay(delay);
                let what = format!("{recovery:?}, every {every}, limit {limit}");
                let top = seen.top;
                assert!(
                    top > full && top < full + beyond,
                    "{what}: top {top}, full {full}"
                );
                let period = 0.375 * top * top + full;
                let seen_period = seen.period / SERVICE;
                assert!(
                    within(seen_period, tolerance, period),
                    "{what}: {seen_period} {period}"
                );
                let area = 7.0 / 24.0 * top * top * top + top / 2.0 * full;
                assert!(
                    within(seen.mean, 0.01, area / period),
                    "{what}: mean {}",
                    seen.mean
                );
                // Over rounds instead of time the mean is 3/4; rounds at large windows last longer.
                assert!(
                    (0.75..0.785).contains(&(seen.mean / top)),
                    "{what}: {}",
                    seen.mean / top
                );
                assert!(bottleneck(&output, "utilisation") > 0.9999, "{what}");
                // Only the overshoot of the first slow start may have cost a timeout.
                assert!(counted(&output, "timeouts")[0] <= 1, "{what}");
            }
        }
    }
}

/// With a buffer smaller than B the queue is empty below w = B, and rounds last B whatever w is: (B -
/// W/2) rounds of B units until it fills, then (W^2 - B^2)/2. After the cut the sender is silent for
/// W/2 units, of which the queue bridges L. Packets sent in a cycle over its length:
///
/// utilisation = ((3/8) W^2 + (L + B) - idle) / ((B - W/2) B + (W^2 - B^2)/2 + (L + B)),
/// idle = W/2 - L.
#[test]
fn reno_sawtooth_over_a_small_buffer() {
    let delay = Time::from_micros(500);
    for recovery in [Recovery::Sack, Recovery::NewReno] {
        for limit in [42, 20] {
            let mut plan = lone("reno", &[], delay, plans::queue(limit, None));
            let transport = &mut plan.groups[0].transport;
            transport.recovery = recovery;
            transport.ack_every = 1;
            plan.stop.at = Some(Time::from_millis(1000));
            plan.measure.from = Time::from_millis(300);
            plan.record.windows = Some(Sampling::OnChange);
            let output = plans::run(&plan);
            let seen = sawtooth(&output, 0.25);

            let b = bandwidth_delay(delay);
            let (top, full) = (seen.top, f64::from(limit) + b);
            let idle = top / 2.0 - f64::from(limit);
            let period = (b - top / 2.0) * b + (top * top - b * b) / 2.0 + full;
            let expected = (0.375 * top * top + full - idle) / period;
            let utilisation = bottleneck(&output, "utilisation");
            let what = format!("{recovery:?}, limit {limit}: {utilisation}, not {expected}");
            // Only whole packets of a window are in flight: half a packet of 60 to 85 is missing.
            assert!((utilisation - expected).abs() < 0.012, "{what}");
            assert!(within(seen.period / SERVICE, 0.02, period), "{what}");
        }
    }
}

// BOS and the marking threshold.

fn bos_utilisation(beta: f64, k: u32, every: u32) -> f64 {
    let queue = plans::queue(500, Some(k));
    let mut plan = lone("bos", &[("beta", beta)], Time::from_micros(200), queue);
    plan.groups[0].transport.ack_every = every;
    plan.measure.from = Time::from_millis(100);
    plan.stop.at = Some(Time::from_millis(400));
    bottleneck(&plans::run(&plan), "utilisation")
}

/// The window is B + K when it is cut by 1/beta, and must still be B then: K >= B / (beta - 1).
#[test]
fn bos_fills_the_link_from_the_threshold_that_its_paper_gives() {
    let b = bandwidth_delay(Time::from_micros(200));
    for beta in [2.0, 4.0] {
        for every in [1, 2] {
            let enough = b / (beta - 1.0);
            let above = enough.floor() as u32 + 1;
            let utilisation = bos_utilisation(beta, above, every);
            assert!(
                utilisation >= 0.999,
                "beta {beta}, K {above}: {utilisation}"
            );
            let shares = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
            let mut series: Vec<f64> = shares
                .iter()
                .map(|share| bos_utilisation(beta, (share * enough).round() as u32, every))
                .collect();
            assert!(series[3] < 0.995, "beta {beta}, 0.6 of K: {}", series[3]);
            series.push(utilisation);
            assert!(series.is_sorted(), "beta {beta}, every {every}: {series:?}");
        }
    }
}

// DCTCP's queue.

/// Section 3.3 of the DCTCP paper (SIGCOMM 2010), for N flows in step: the queue swings between K + N
/// and K + N - A with A = sqrt(2 N (C RTT + K)) / 2, once in sqrt(2 (C RTT + K) / N) / 2 rounds.
#[test]
fn dctcp_keeps_the_queue_around_k() {
    for (delay, k) in [(100, 20), (100, 40), (200, 40), (200, 65)] {
        for flows in [1, 2] {
            let delay = Time::from_micros(delay);
            let pattern = plans::pairs(&vec![Time::ZERO; flows]);
            let mut group = plans::group("dctcp", &[], pattern, Size::Unlimited);
            group.transport.ack_every = 1;
            let fabric = plans::dumbbell(flows as u32, delay);
            let link = plans::link(&fabric, "A", "B");
            let mut plan = plans::plan(fabric, plans::queue(500, Some(k)), vec![group], None);
            plan.measure.from = Time::from_millis(150);
            plan.stop.at = Some(Time::from_millis(300));
            plan.record.queues = Some(Time::from_micros(6));
            plan.record.queue_links = vec![link];
            let output = plans::run(&plan);
            let series = table(&output, "queues");
            let settled = series
                .numbers("time_s")
                .iter()
                .zip(series.integers("packets"));
            let queue: Vec<u64> = settled
                .filter(|(time, _)| **time > 0.15)
                .map(|(_, packets)| *packets)
                .collect();
            let highest = *queue.iter().max().expect("samples");
            let swing = highest - queue.iter().min().expect("samples");

            let flows = flows as f64;
            let expected = (2.0 * flows * (bandwidth_delay(delay) + f64::from(k))).sqrt() / 2.0;
            let what = format!("{flows} flows, {delay}, K {k}: swing {swing}, not {expected}");
            assert!((swing as f64 - expected).abs() < 1.0 + flows, "{what}");
            let above = highest as f64 - f64::from(k);
            assert!(above >= flows && above <= flows + 2.0, "{what}: {highest}");
            assert!(bottleneck(&output, "utilisation") > 0.9999, "{what}");
        }
    }
}

// FCC and proportional marking.

/// In equilibrium the share of marked packets, which is the queue's share of its limit L, is alpha =
/// (tau / base RTT) / w. A busy bottleneck has w = B tau / base RTT, so that alpha = 1/B: L/B packets
/// wait. That is 3 to 7 packets here, so that the noise of the marks shows.
#[test]
fn fcc_keeps_one_over_bdp_of_the_queue() {
    for (delay, limit) in [(200, 100), (200, 200), (400, 200)] {
        let delay = Time::from_micros(delay);
        let queue = QueueConfig {
            marking: Marking::Linear {
                from: 0.0,
                to: 0.8 * f64::from(limit),
                probability: 0.8,
            },
            ..plans::queue(limit, None)
        };
        let mut plan = lone("fcc", &[], delay, queue);
        plan.groups[0].transport.ack_every = 1;
        plan.measure.from = Time::from_millis(200);
        plan.stop.at = Some(Time::from_millis(1200));
        let output = plans::run(&plan);
        let occupancy = bottleneck(&output, "queue_mean") / f64::from(limit);
        let expected = 1.0 / bandwidth_delay(delay);
        let utilisation = bottleneck(&output, "utilisation");
        let what = format!("{delay}, {limit}: {occupancy}, not {expected}; {utilisation}");
        assert!(within(occupancy, 0.25, expected), "{what}");
        assert!(utilisation > 0.97, "{what}");
    }
}

/// A window is at least one packet. If more subflows share the bottleneck than B holds packets, each packet waits for
/// one of every other subflow: in units of s, the round-trip time is at least the number of subflows, and no marks can
/// shorten it.
#[test]
fn many_subflows_wait_for_a_packet_of_each_other() {
    let delay = Time::from_micros(100);
    let base = bandwidth_delay(delay);
    for flows in [2, 10, 20] {
        let subflows = 4 * flows;
        let queue = QueueConfig {
            marking: Marking::Linear {
                from: 0.0,
                to: 80.0,
                probability: 0.8,
            },
            ..plans::queue(100, None)
        };
        let starts = vec![Time::ZERO; flows];
        let pattern = plans::pairs(&starts);
        let mut group = plans::group("fcc", &[("alpha_total", 1000.0)], pattern, Size::Unlimited);
        group.subflows = 4;
        group.transport.ack_every = 1;
        group.transport.minimum_window = 1.0;
        let fabric = plans::dumbbell(flows as u32, delay);
        let stop = Some(Time::from_millis(600));
        let mut plan = plans::plan(fabric, queue, vec![group], stop);
        plan.measure.from = Time::from_millis(200);
        let output = plans::run(&plan);
        let rtt = base + bottleneck(&output, "queue_mean");
        let floor = base.max(subflows as f64);
        let what = format!("{subflows} subflows: {rtt}, not {floor}");
        assert!(rtt > 0.99 * floor, "{what}");
        // Far above B, marks hold all subflows at the floor; closer to it, some keep two or three packets.
        assert!(subflows < 80 || rtt < 1.02 * floor, "{what}");
    }
}

// Shares.

#[test]
fn two_flows_come_to_equal_shares() {
    let cases = [
        ("reno", None, plans::queue(40, None)),
        ("dctcp", None, plans::queue(500, Some(20))),
        ("bos", Some(2.0), plans::queue(500, Some(20))),
        ("bos", Some(4.0), plans::queue(500, Some(20))),
    ];
    for (controller, beta, queue) in cases {
        for seed in 1..=3 {
            let parameters: Vec<_> = beta.iter().map(|&beta| ("beta", beta)).collect();
            // The first has had the link for itself when the second begins.
            let pattern = plans::pairs(&[Time::ZERO, Time::from_millis(50)]);
            let group = plans::group(controller, &parameters, pattern, Size::Unlimited);
            let fabric = plans::dumbbell(2, Time::from_micros(100));
            let stop = Some(Time::from_millis(1300));
            let mut plan = plans::plan(fabric, queue, vec![group], stop);
            plan.seed = seed;
            plan.groups[0].transport.minimum_rto = Time::from_millis(10);
            plan.measure.from = Time::from_millis(300);
            let output = plans::run(&plan);
            let rates = of_flows(&output, "goodput_bps");
            let what = format!("{controller} {beta:?}, seed {seed}: {rates:?}");
            assert!(within(rates[0], 0.1, rates[1]), "{what}");
            let full = 1e9 * 1448.0 / 1500.0;
            assert!(within(rates[0] + rates[1], 0.01, full), "{what}");
        }
    }
}

/// A connection of `controller` with this many subflows beside one flow of `single`, all on one
/// bottleneck.
fn beside(controller: &str, subflows: u32, single: &str, delay: Time, queue: QueueConfig) -> Plan {
    let group = |name: &str, subflows, number| {
        let pattern = plans::flows(&[(number, 2 + number, Time::ZERO)]);
        let mut group = plans::group(name, &[], pattern, Size::Unlimited);
        group.subflows = subflows;
        group.transport.minimum_rto = Time::from_millis(10);
        group
    };
    let groups = vec![group(controller, subflows, 0), group(single, 1, 1)];
    let stop = Some(Time::from_millis(1700));
    let mut plan = plans::plan(plans::dumbbell(2, delay), queue, groups, stop);
    plan.measure.from = Time::from_millis(200);
    plan
}

/// The row of the flow with this controller: groups that begin together start in either order.
fn row_of(output: &Output, controller: &str) -> usize {
    let Some(Column::Labels { names, codes }) = table(output, "flows").column("controller") else {
        panic!("no controllers");
    };
    let row = codes
        .iter()
        .position(|&code| &names[code as usize] == controller);
    row.expect("a flow with the controller")
}

/// Goodput of the connection over half of both: 1 is a single flow's share.
fn share(output: &Output, controller: &str) -> f64 {
    let rates = of_flows(output, "goodput_bps");
    rates[row_of(output, controller)] / mean(rates)
}

#[test]
fn xmp_takes_a_single_flow_s_share() {
    for subflows in [2, 4] {
        for (delay, k) in [(100, 20), (300, 20), (300, 40)] {
            let shares: Vec<f64> = (1..=3)
                .map(|seed| {
                    let queue = plans::queue(500, Some(k));
                    let delay = Time::from_micros(delay);
                    let mut plan = beside("xmp", subflows, "bos", delay, queue);
                    plan.seed = seed;
                    share(&plans::run(&plan), "xmp")
                })
                .collect();
            let what = format!("{subflows} subflows, {delay} us, K {k}: {shares:?}");
            assert!(within(mean(&shares), 0.1, 1.0), "{what}");
        }
    }
}

/// LIA under random losses: packets are dropped with a probability that grows with the queue, so that
/// every packet runs the same risk. (On drop-tail the outcome is a matter of phase: the packet that a
/// window's growth adds is the one that is lost, whoever sent it, and LIA's windows grow less often. Two
/// subflows then take 1.18 shares with 500 us of delay and a limit of 100, and 1.10 with 2 ms.)
///
/// With m subflows LIA adds max(w) / W^2 for each packet, W the sum of the windows, and a loss costs
/// half of the subflow's window. In balance W^2 is that of a Reno flow times the mean of m max(w) / W,
/// which is 1 for equal windows and more the more they differ: LIA counts the best subflow's.
#[test]
fn lia_takes_a_single_flow_s_share_of_random_losses() {
    for subflows in [2, 4] {
        for delay in [100, 300] {
            let mut shares = Vec::new();
            let mut imbalance = Vec::new();
            for seed in 1..=4 {
                let queue = QueueConfig {
                    marking: Marking::Linear {
                        from: 5.0,
                        to: 200.0,
                        probability: 0.05,
                    },
                    drop_ecn_blind: true,
                    ..plans::queue(200, None)
                };
                let delay = Time::from_micros(delay);
                let mut plan = beside("lia", subflows, "reno", delay, queue);
                plan.seed = seed;
                plan.record.windows = Some(Sampling::Every(Time::from_micros(500)));
                let output = plans::run(&plan);
                shares.push(share(&output, "lia"));
                imbalance.push(mean_imbalance(
                    &output,
                    row_of(&output, "lia") as u64,
                    subflows,
                ));
            }
            let ratio = mean(&shares) / (2.0 - mean(&shares));
            let expected = mean(&imbalance).sqrt();
            let what = format!("{subflows} subflows, {delay} us: {shares:?}, {ratio} {expected}");
            assert!(within(ratio, 0.1, expected), "{what}");
        }
    }
}

/// Mean over the samples of m max(w) / W of a flow's subflows.
fn mean_imbalance(output: &Output, flow: u64, subflows: u32) -> f64 {
    let series = table(output, "windows");
    let rows = series
        .integers("flow")
        .iter()
        .zip(series.numbers("window_packets"));
    let of_flow = rows
        .zip(series.numbers("time_s"))
        .filter(|((f, _), t)| **f == flow && **t > 0.2);
    let windows: Vec<f64> = of_flow.map(|((_, window), _)| *window).collect();
    let imbalances: Vec<f64> = windows
        .chunks_exact(subflows as usize)
        .map(|sample| {
            let largest = sample.iter().copied().fold(0.0, f64::max);
            f64::from(subflows) * largest / sample.iter().sum::<f64>()
        })
        .collect();
    mean(&imbalances)
}
