//! Results are the same on any number of threads and in whatever order nodes have their turns.

mod checking;
mod flows;
mod nodes;
mod timeouts;

use crate::plans;
use crate::suspensions::{incast, suspensions};
use checking::{LARGE, check, check_plan, everything, plan};
use pathweave_engine::{Progress, most_threads, run_on_threads};

#[test]
fn with_failures_and_recording() {
    let output = check(
        "",
        &format!(
            r#"{LARGE}
        [record]
        windows = "on-change"
        rtts = "50 us"
        rates = "70 us"
        queues = "30 us"
        map = "100 us"
        packets = ["large/3", "large/9"]
        [[events]]
        at = "300 us"
        link = "agg0.0-core0.0"
        down = true
        [[events]]
        at = "350 us"
        link = "agg1.0-core0.1"
        rate = "3 Gbps"
        [[events]]
        at = "500 us"
        node = "core1.0"
        down = true
        [[events]]
        at = "550 us"
        link = "edge2.0-agg2.1"
        loss = 0.02
        [[events]]
        at = "700 us"
        link = "agg0.0-core0.0"
        up = true
        "#
        ),
    );
    assert!(output.counters.lost_to_failures > 0 && output.counters.marked > 0);
    let packets: Vec<u64> = output
        .captures
        .iter()
        .map(|capture| capture.packets)
        .collect();
    assert!(packets.iter().all(|&packets| packets > 10), "{packets:?}");
}

#[test]
fn with_suspended_subflows() {
    let size = "size = { kind = \"uniform\", min = \"100 KB\", max = \"2 MB\" }";
    let output = check_plan(&incast("{ name = \"amp\", tau = 1 }", size));
    let suspended = suspensions(&output);
    let begun = suspended.iter().filter(|event| event.suspended).count();
    assert!(begun > 20 && begun < suspended.len(), "{suspended:?}");
}

#[test]
fn with_sprayed_packets() {
    let large = LARGE.replace("subflows = 4", "").replace("xmp", "cubic");
    check("", &format!("{large}\n[routing]\nkind = \"spray\""));
}

#[test]
fn with_shared_buffers() {
    let output = check("shared_buffer = { size = \"100 KB\", alpha = 1 }", LARGE);
    let refused = plans::table(&output, "buffers").integers("refused");
    assert!(refused.iter().sum::<u64>() > 0);
}

#[test]
fn with_switches_that_take_part() {
    for controller in ["decn", "xcp"] {
        let large = LARGE.replace("xmp", controller);
        check("", &large.replace("subflows = 4", ""));
    }
}

#[test]
fn with_switches_that_choose_routes() {
    for price in ["occupancy", "averaged-occupancy", "marks", "utilisation"] {
        let routing = format!("[routing]\nkind = \"fmp\"\nprice = \"{price}\"");
        let output = check("", &format!("{LARGE}\n{routing}"));
        let messages = plans::table(&output, "fmp").integers("feedback_packets");
        assert!(messages.iter().sum::<u64>() > 0, "{price}");
    }
}

#[test]
fn with_acknowledgements_that_wait_and_paced_packets() {
    for controller in ["rcp", "reno"] {
        let output = check(
            "",
            &format!(
                r#"
                [[traffic]]
                name = "all"
                pattern = "permutation"
                size = "30 KB"
                controller = "{controller}"
                [traffic.transport]
                ack_every = 3
                ack_timeout = "15 us"
                ack_at_first = 0
                "#
            ),
        );
        assert!(output.counters.flows_finished > 20);
    }
}

#[test]
fn a_fabric_gets_no_more_threads_than_are_worth_it() {
    let large = plan("", LARGE);
    let most = most_threads(&large);
    assert!((1..255).contains(&most));
    let mut slow = plan("", LARGE);
    for link in &mut slow.fabric.links {
        link.rate = pathweave_units::Rate::from_mbps(100);
    }
    assert_eq!(most_threads(&slow), 1);
    let output = run_on_threads(&large, &Progress::default(), 64).expect("a run without defects");
    assert_eq!(everything(&output), everything(&plans::run(&large)));
}
