//! What a mark costs, and what queue is left.

use super::played::{Played, check, holds};

/// The relative cuts of a flow's window, and the shortest time between two (s).
fn cuts(played: &Played, flow: &str) -> (Vec<f64>, f64) {
    let windows = played.windows(flow, 0.0, 3.0);
    let falls = || windows.windows(2).filter(|pair| pair[1].1 < pair[0].1);
    let times: Vec<f64> = falls().map(|pair| pair[1].0).collect();
    let between = times.windows(2).map(|pair| pair[1] - pair[0]);
    (
        falls().map(|pair| 1.0 - pair[1].1 / pair[0].1).collect(),
        between.fold(f64::INFINITY, f64::min),
    )
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Base RTT 40 ms; windows of 50 packets and more, of which the kernel uses the whole ones.
#[test]
fn xmp_cuts_by_one_over_beta_once_a_round_and_dctcp_by_half_of_alpha() {
    holds("cuts", |played| {
        for (flow, share) in [("xmp 4", 0.25), ("xmp 2", 0.5)] {
            let (cuts, between) = cuts(played, flow);
            println!(
                "{flow}: {} cuts of {:.3}, {between:.3} s apart",
                cuts.len(),
                mean(&cuts)
            );
            check(cuts.len() > 3, || format!("{flow}: {} cuts", cuts.len()))?;
            let all_so = cuts.iter().all(|cut| (cut - share).abs() < 0.05);
            check(all_so, || format!("{flow}: {cuts:?}"))?;
            check(between > 0.03, || {
                format!("{flow}: two cuts within {between} s")
            })?;
        }
        let (cuts, between) = cuts(played, "dctcp");
        // Alpha is the average share of marked packets.
        let (cut, half) = (mean(&cuts), played.marked("dctcp") / 2.0);
        println!(
            "dctcp: {} cuts of {cut:.3}, alpha/2 {half:.3}, {between:.3} s apart",
            cuts.len()
        );
        check(cuts.len() > 20, || format!("DCTCP: {} cuts", cuts.len()))?;
        check((cut / half - 1.0).abs() < 0.4, || {
            format!("DCTCP cuts {cut:.3}, not {half:.3}")
        })?;
        check(between > 0.03, || {
            format!("DCTCP: two cuts within {between} s")
        })
    });
}

/// On the same link XMP keeps a queue of about 10 packets: half of its threshold of 20.
#[test]
fn fcc_keeps_a_queue_far_below_that_of_a_step() {
    holds("queue", |played| {
        let (queue, goodput) = (played.queue("A1->B1"), played.goodput("fcc"));
        println!("{queue:.1} packets, {goodput:.1} Mbps");
        check(goodput > 16.0, || format!("FCC delivers {goodput:.1} Mbps"))?;
        check(queue < 4.0, || format!("FCC keeps {queue:.1} packets"))
    });
}
