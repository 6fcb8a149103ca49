//! Switches whose ports share memory.

use crate::plans::{self, counted, fixed};
use pathweave_control::Algorithm;
use pathweave_engine::{Output, Progress, Verdict};
use pathweave_fabric::topology::Star;
use pathweave_network::{Limit, SharedBufferConfig};
use pathweave_scenario::Plan;
use pathweave_units::{Bytes, Rate, Time};

/// This many senders send one initial window each to one receiver at once.
fn burst(senders: u32, shared: Option<SharedBufferConfig>) -> Plan {
    let star = Star {
        senders,
        rate: Rate::from_gbps(1),
        receiver_rate: None,
        delay: Time::from_micros(10).into(),
    };
    let fabric = star.build(1).expect("a star");
    let to_receiver = |host| (host, senders, Time::ZERO);
    let list: Vec<(u32, u32, Time)> = (0..senders).map(to_receiver).collect();
    let group = plans::group("reno", &[], plans::flows(&list), fixed(10 * 1448));
    let mut plan = plans::plan(fabric, plans::queue(100, None), vec![group], None);
    plan.shared_buffer = shared;
    if let Some(shared) = shared {
        for (link, queue) in plan.fabric.links.iter().zip(&mut plan.queues) {
            if plan.fabric.node(link.from).host_index().is_none() {
                queue.limit = Limit::Bytes(shared.size);
            }
        }
    }
    plan
}

fn shared(kilobytes: u64, alpha: f64) -> Option<SharedBufferConfig> {
    let size = Bytes::new(kilobytes * 1000);
    Some(SharedBufferConfig { size, alpha })
}

#[test]
fn a_lone_busy_port_gets_its_share_of_the_memory() {
    // 40 senders: 400 packets of 1,500 bytes to one port.
    for (memory, alpha, refuses) in [(2000, 1.0, false), (400, 1.0, true), (400, 8.0, true)] {
        let output = plans::run(&burst(40, shared(memory, alpha)));
        assert_eq!(output.verdict, Verdict::Finished);
        let buffers = plans::table(&output, "buffers");
        let most = buffers.integers("most_bytes")[0] as f64;
        let refused = buffers.integers("refused")[0];
        assert_eq!(refused > 0, refuses);
        assert_eq!(refused, output.counters.dropped);
        if refuses {
            // alpha/(1 + alpha) of it, less than a packet of any kind more.
            let share = alpha / (1.0 + alpha) * memory as f64 * 1000.0;
            assert!((share..share + 1500.0).contains(&most), "{most} {share}");
        }
        let delivered = counted(&output, "delivered_bytes");
        assert!(delivered.iter().all(|&bytes| bytes == 14_480));
    }
}

#[test]
fn memory_that_never_ends_is_no_limit_at_all() {
    let plain = burst(8, None);
    let mut vast = burst(8, shared(1_000_000, 1024.0));
    vast.queues = plain.queues.clone();
    let own = pathweave_engine::run_with_departure_ports(&plain, &Progress::default());
    let own = own.expect("a run");
    let output = plans::run(&vast);
    for table in ["flows", "subflows", "links"] {
        let columns = |output: &Output| format!("{:?}", plans::table(output, table).columns);
        assert_eq!(columns(&own), columns(&output), "{table}");
    }
}

#[test]
fn a_failure_frees_the_memory() {
    // The port to the receiver holds all of the memory when it fails: nothing could be sent after that.
    let mut plan = burst(40, shared(30, 1024.0));
    plan.groups[0].transport.minimum_rto = Time::from_millis(5);
    plan.stop.at = Some(Time::from_secs(20));
    let (from, to) = (Time::from_micros(200), Time::from_millis(2));
    plans::down_between(&mut plan, ["A", "D1"], from, Some(to));
    let output = plans::run(&plan);
    assert!(plans::finished(&output).iter().all(|finished| *finished));
    assert!(output.counters.lost_to_failures >= 15);
}

#[test]
fn ports_with_agents_share_memory_too() {
    let mut plan = burst(40, shared(100, 1.0));
    let entry = pathweave_control::find("rcp").expect("registered");
    plan.groups[0].controller = Algorithm::Registered(entry);
    plan.groups[0].parameters = entry.defaults();
    let output = plans::run(&plan);
    assert_eq!(output.verdict, Verdict::Finished);
    let most = plans::table(&output, "buffers").integers("most_bytes")[0];
    assert!(most > 0 && most <= 51_512, "{most}");
}
