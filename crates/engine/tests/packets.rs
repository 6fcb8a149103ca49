//! Packets of different sizes: what links, flows, captures and the fluid run make of them.

use crate::plans::{self, counted, fixed, table, within};
use pathweave_engine::{Allocation, Allocator, Answer, Problem, flow};
use pathweave_fabric::LinkId;
use pathweave_scenario::Plan;
use pathweave_transport::{PacketKey, PacketMix};
use pathweave_units::{Bytes, Rate, Time};

const OVERHEAD: u64 = 52;

/// 40 % of the packets have 100 bytes, the others between that and 1500.
fn mix() -> PacketMix {
    PacketMix::new(|probability| 100.0 + (1400.0 * (probability - 0.4) / 0.6).max(0.0))
}

/// Flows of these sizes, one from each sender to its receiver, all over a 1 Gbps bottleneck.
fn sized(sizes: &[u64], controller: &str) -> Plan {
    let starts = vec![Time::ZERO; sizes.len()];
    let mut group = plans::group(controller, &[], plans::pairs(&starts), fixed(1));
    if let pathweave_traffic::Pattern::Listed(list) = &mut group.pattern {
        for (flow, size) in list.flows.iter_mut().zip(sizes) {
            flow.size = Some(fixed(*size));
        }
    }
    group.transport.packets = Some(mix());
    let fabric = plans::dumbbell(sizes.len() as u32, Time::from_micros(100));
    let mut plan = plans::plan(fabric, plans::queue(10_000, Some(20)), vec![group], None);
    plan.jitter = false;
    plan
}

/// Sizes on the wire of a flow's packets.
fn packets(plan: &Plan, flow: u32, size: u64) -> Vec<u64> {
    let key = PacketKey::new(plan.seed, flow);
    let config = &plan.groups[0].transport;
    let sizes = config.packets_of(key, Bytes::new(size));
    sizes.map(Bytes::get).collect()
}

#[test]
fn links_carry_the_sum_of_the_sizes() {
    for controller in ["dctcp", "xcp"] {
        let sizes = [1, 700_000, 1_300_001];
        let mut plan = sized(&sizes, controller);
        // Long enough for the last acknowledgements.
        plan.stop.at = Some(Time::from_secs(1));
        let output = plans::run(&plan);
        let flows = table(&output, "flows");
        assert!(flows.integers("retransmits").iter().all(|&n| n == 0));
        assert_eq!(counted(&output, "delivered_bytes"), sizes);
        // XCP's header is on top.
        let header = if controller == "xcp" { 16 } else { 0 };
        let (mut bytes, mut count) = (0, 0);
        for (number, &size) in (0..).zip(&sizes) {
            let packets = packets(&plan, number, size);
            let wire: u64 = packets.iter().map(|packet| packet + header).sum();
            // A sender's cable carries its flow, a SYN before it.
            let from = plans::link(&plan.fabric, &format!("S{}", number + 1), "A");
            let links = table(&output, "links");
            assert_eq!(links.integers("bytes")[from.0 as usize], wire + OVERHEAD);
            let packets_sent = links.integers("packets")[from.0 as usize];
            assert_eq!(packets_sent, packets.len() as u64 + 1);
            let sent = table(&output, "subflows").integers("sent_packets")[number as usize];
            assert_eq!(sent, packets.len() as u64);
            bytes += wire + OVERHEAD;
            count += packets.len() as u64 + 1;
        }
        let bottleneck = plans::link(&plan.fabric, "A", "B").0 as usize;
        let links = table(&output, "links");
        assert_eq!(links.integers("bytes")[bottleneck], bytes);
        assert_eq!(links.integers("packets")[bottleneck], count);
    }
}

#[test]
fn a_lone_flow_takes_little_more_than_the_ideal_time() {
    let size = 5_000_000;
    let mut plan = sized(&[size], "reno");
    plan.groups[0].transport.handshake = pathweave_transport::Handshake::None;
    plan.groups[0].transport.initial_window = 1000.0;
    plan.queues.fill(plans::queue(100_000, None));
    let output = plans::run(&plan);
    let wire: u64 = packets(&plan, 0, size).iter().sum();
    let ideal = table(&output, "flows").numbers("fct_ideal_s")[0];
    // The bottleneck sends all packets without a break; they need 100 us and some nanoseconds for its
    // length, and a packet's time on the two quick links.
    let transmission = Rate::from_gbps(1).time_for(Bytes::new(wire)).as_secs_f64();
    assert!(ideal > transmission + 100e-6 && ideal < transmission + 104e-6);
    let fct = table(&output, "flows").numbers("fct_s")[0];
    assert!(fct >= ideal && within(fct, 1e-3, ideal), "{fct}, {ideal}");
}

#[test]
fn a_flow_of_millions_of_packets_has_an_ideal_time_too() {
    let size = 2_000_000_000;
    let mut plan = sized(&[size], "reno");
    plan.stop.at = Some(Time::from_millis(1));
    let output = plans::run(&plan);
    let config = &plan.groups[0].transport;
    let mean = config.mean_packet();
    let wire = size as f64 * mean / (mean - OVERHEAD as f64);
    let ideal = table(&output, "flows").numbers("fct_ideal_s")[0];
    assert!(within(ideal, 0.003, wire * 8.0 / 1e9), "{ideal}");
}

#[test]
fn the_same_seed_gives_the_same_sizes_and_another_others() {
    let plan = sized(&[100_000], "reno");
    let mut other = sized(&[100_000], "reno");
    assert_eq!(packets(&plan, 0, 100_000), packets(&other, 0, 100_000));
    assert_ne!(packets(&plan, 0, 100_000), packets(&plan, 1, 100_000));
    other.seed = 2;
    assert_ne!(packets(&plan, 0, 100_000), packets(&other, 0, 100_000));
}

/// The bottleneck's whole rate for every path.
struct Whole;

impl Allocator for Whole {
    fn allocate(&mut self, problem: &Problem<'_>) -> Result<Answer, String> {
        let bottleneck = |links: &Vec<LinkId>| {
            let rates = links.iter().map(|link| problem.capacities[link.0 as usize]);
            rates.min().unwrap_or_default().as_bps() as f64
        };
        let paths = problem.flows.iter().flat_map(|flow| &flow.paths);
        Ok(Answer::Rates(Allocation {
            rates: paths.map(|path| bottleneck(&path.links)).collect(),
            split_unique: vec![true; problem.flows.len()],
        }))
    }
}

#[test]
fn a_fluid_run_takes_as_long_as_its_packets_would() {
    let size = 20_000_000;
    let plan = sized(&[size], "reno");
    let output = flow(&plan, &mut Whole).expect("a fluid run");
    let flows = table(&output, "flows");
    let wire: u64 = packets(&plan, 0, size).iter().sum();
    // The headers' share is the mean one.
    let expected = wire as f64 * 8.0 / 1e9;
    assert!(within(flows.numbers("fct_s")[0], 0.01, expected));
    assert!(within(flows.numbers("fct_ideal_s")[0], 0.001, expected));
    assert_eq!(flows.integers("delivered_bytes")[0], size);
}
