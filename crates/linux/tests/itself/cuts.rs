//! What a mark costs, and what queue is left.

use crate::played::{Played, play};

/// The relative cuts of a flow's window, and the shortest time between two (s).
fn cuts(played: &Played, flow: &str) -> (Vec<f64>, f64) {
    let windows = played.windows(flow, 0.0, 3.0);
    let falls = || windows.windows(2).filter(|pair| pair[1].1 < pair[0].1);
    let times: Vec<f64> = falls().map(|pair| pair[1].0).collect();
    let shortest = times.windows(2).map(|pair| pair[1] - pair[0]);
    (
        falls().map(|pair| 1.0 - pair[1].1 / pair[0].1).collect(),
        shortest.fold(f64::INFINITY, f64::min),
    )
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Base RTT 40 ms; windows of 50 packets and more, of which the kernel uses the whole ones.
#[test]
fn xmp_cuts_by_one_over_beta_dctcp_by_half_of_alpha_and_fcc_keeps_no_queue() {
    let Some(played) = play("cuts") else { return };
    for (flow, share) in [("xmp 4", 0.25), ("xmp 2", 0.5)] {
        let (cuts, between) = cuts(&played, flow);
        println!(
            "{flow}: {} cuts of {:.3}, {between:.3} s apart",
            cuts.len(),
            mean(&cuts)
        );
        assert!(cuts.len() > 3, "{flow}: {} cuts", cuts.len());
        let all_so = cuts.iter().all(|cut| (cut - share).abs() < 0.05);
        assert!(all_so, "{flow}: {cuts:?}");
        assert!(between > 0.03, "{flow}: two cuts within {between} s");
    }
    let (cuts, between) = cuts(&played, "dctcp");
    // Alpha is the average share of marked packets.
    let half = played.marked("dctcp") / 2.0;
    println!(
        "dctcp: {} cuts of {:.3}, alpha/2 {half:.3}, {between:.3} s apart",
        cuts.len(),
        mean(&cuts)
    );
    assert!(cuts.len() > 20, "{} cuts", cuts.len());
    assert!(
        (mean(&cuts) / half - 1.0).abs() < 0.4,
        "{} against {half}",
        mean(&cuts)
    );
    assert!(between > 0.03, "two cuts within {between} s");

    // FCC's queue is far below that of a step.
    let Some(fcc) = play("queue") else { return };
    let (own, xmp) = (fcc.queue("A1->B1"), played.queue("A1->B1"));
    println!("queues: FCC {own:.1} packets, XMP {xmp:.1}");
    assert!(fcc.goodput("fcc") > 16.0, "{}", fcc.goodput("fcc"));
    assert!(own < 0.5 * xmp, "{own} against {xmp}");
}
